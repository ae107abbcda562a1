"""What the running system says of the arm: its description, and where its frames are."""
