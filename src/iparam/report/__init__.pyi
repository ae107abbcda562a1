from .input import ReportInput as ReportInput
from .page import report_page as report_page
from .page import write_report as write_report
