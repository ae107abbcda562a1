"""Which models the joints are smoothed with: judged by the angles, and by what else was recorded beside them."""
