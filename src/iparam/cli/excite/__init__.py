"""`iparam excite`: motions that tell most about a load."""
