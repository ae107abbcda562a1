"""What belongs together: messages of several topics, by their stamps, or by when they were sent."""
