"""`iparam kinematics`: where the tool is and how it moves."""
