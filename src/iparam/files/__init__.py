"""Files that are replaced whole, what stands at a path, JSON documents, and how much of a file is taken into memory."""
