from .interval_plots import IntervalGroup as IntervalGroup
from .interval_plots import interval_figure as interval_figure
from .time_plots import Panel as Panel
from .time_plots import thinned as thinned
from .time_plots import time_figure as time_figure
