from .start import run_node as run_node
