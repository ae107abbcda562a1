from .atomic import write_atomically as write_atomically
from .json import numbers_or_null as numbers_or_null
from .json import read_json as read_json
from .json import write_json as write_json
