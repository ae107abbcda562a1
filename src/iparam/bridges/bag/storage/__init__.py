"""The formats of a bag's files, each read as far as it goes."""
