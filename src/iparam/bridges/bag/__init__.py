"""ROS 2 bags: their topics as recordings, and recordings as bags."""

from iparam.bridges.bag.bag_files import BagContents, open_bag
from iparam.bridges.bag.reading import read_bag
from iparam.bridges.bag.settings import ImportSettings
from iparam.bridges.bag.topic_log import Topic, TopicLog
from iparam.bridges.bag.writing import WrittenTopic, write_bag

__all__ = ["BagContents", "ImportSettings", "Topic", "TopicLog", "WrittenTopic", "open_bag", "read_bag", "write_bag"]
