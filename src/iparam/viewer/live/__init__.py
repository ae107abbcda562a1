"""A page that follows an arm: what is known at the moment, in memory that does not grow, and how it is shown."""
