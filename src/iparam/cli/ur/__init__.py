"""`iparam ur`: Universal Robots arms, real or simulated."""
