from .chart import Chart as Chart
from .chart import Line as Line
from .chart import chart_document as chart_document
from .chart import chart_script as chart_script
from .chart import chart_style as chart_style
