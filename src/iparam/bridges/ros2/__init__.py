"""ROS 2: nodes over the library. What they compute is in plain classes; the nodes only translate messages."""
