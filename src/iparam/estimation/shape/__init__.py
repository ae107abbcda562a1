"""What is known of the shape of a load, and what it tells of its inertia where the motion does not."""
