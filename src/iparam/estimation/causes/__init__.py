"""What is wrong with the data: hypotheses about how they came about, each fitted like the load itself, and compared."""
