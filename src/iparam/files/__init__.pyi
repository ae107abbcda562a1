from .atomic import write_atomically as write_atomically
from .json import read_json as read_json
