from .bag_files import BagContents as BagContents
from .bag_files import open_bag as open_bag
from .reading import read_bag as read_bag
from .settings import ImportSettings as ImportSettings
from .topic_log import Topic as Topic
from .topic_log import TopicLog as TopicLog
from .writing import WrittenTopic as WrittenTopic
from .writing import write_bag as write_bag
