"""Reports for people: one self-contained page about an identification, and the check against a run that was not used.

matplotlib is imported when a page is drawn (extra ``plot``); everything else here does without it.
"""

from iparam.report.method_comparison import MethodComparison, compare_methods
from iparam.report.page import report_page, write_report
from iparam.report.report_input import ReportInput
from iparam.report.verification import Verification, verify_estimate

__all__ = [
    "MethodComparison",
    "ReportInput",
    "Verification",
    "compare_methods",
    "report_page",
    "verify_estimate",
    "write_report",
]
