from .figures.matplotlib_backend import require_matplotlib as require_matplotlib
from .input import ReportInput as ReportInput
from .page import report_page as report_page
from .page import write_report as write_report
