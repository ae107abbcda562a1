"""Commands about the installation itself: compiled kernels, completion in a shell."""
