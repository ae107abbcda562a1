from .feed import LiveFeed as LiveFeed
from .replay import ReplaySource as ReplaySource
from .ros_source import RosSource as RosSource
from .source import LiveSamples as LiveSamples
from .source import LiveSource as LiveSource
from .ur_source import UrSource as UrSource
