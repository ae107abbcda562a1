"""Which models the joints are smoothed with, and what beside the angles tells how they moved: judged by the data."""
