"""What of an arm can touch what: one geometry for the planner, for `excite check` and for the simulator."""
