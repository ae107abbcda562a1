"""One motion that an arm plays: the two ways to its controller, and when it is over."""
