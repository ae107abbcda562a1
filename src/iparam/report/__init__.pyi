from .input import ReportInput as ReportInput
from .page import report_page as report_page
from .page import require_plot_extra as require_plot_extra
from .page import write_report as write_report
