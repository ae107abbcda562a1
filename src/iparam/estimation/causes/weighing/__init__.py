"""What is wrong with data that show a weight and no more: the data, fits to them, what else could have made them, and
which of that they speak for.
"""
