from .nodes.load_service import set_driver_load as set_driver_load
from .start import run_node as run_node
