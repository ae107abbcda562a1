"""A simulated arm behind the ports of a UR controller."""
