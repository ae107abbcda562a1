"""Planning motions that tell most about inertial parameters, within the limits of arm and cell."""
