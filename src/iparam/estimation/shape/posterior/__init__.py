"""What data and a shape, or a box, say together of a load."""
