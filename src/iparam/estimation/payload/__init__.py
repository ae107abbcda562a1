"""From a recording to the ten parameters of a load: problem, weights, covariance, estimate."""
