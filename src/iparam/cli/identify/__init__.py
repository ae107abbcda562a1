"""`iparam identify`: the load, and the arm itself, from recordings."""
