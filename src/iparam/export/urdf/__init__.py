"""URDF: an <inertial> to paste into a link, or a whole robot with the load in it."""
