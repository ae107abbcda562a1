"""A simulated arm behind the ports of a UR controller: for the tests, and for practice (`make ur-simulator`)."""
