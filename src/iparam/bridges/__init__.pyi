from . import bag as bag
from . import isaac as isaac
from . import live as live
from . import ros2 as ros2
from . import ur as ur
