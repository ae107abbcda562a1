"""Monte Carlo studies: how far estimates and their intervals can be trusted, with how far the study itself can be."""
