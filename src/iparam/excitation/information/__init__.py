"""How much a motion tells about inertial parameters."""
