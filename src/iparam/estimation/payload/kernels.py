"""A compiled loop over a sensor channel whose bias walks: it predicts each sample from those before it.

The bias is a random walk under white noise of variance 1; ``ratio`` is the variance that it gains in a second. Nothing
is known of its first value, so the first sample only starts the prediction. Dividing what a sample adds to its
prediction by its standard deviation whitens a series, and does the same to every column of a design: ordinary least
squares of the whitened rows is generalised least squares, with the bias gone from the unknowns.
"""

from __future__ import annotations

import numpy as np

from iparam.robot.kernels.compilation import allocating


@allocating
def whiten_channel(series, steps, ratio, out):
    """Write out (N, m), the whitened columns of series (N, m); the first row, of which nothing is left, becomes 0.

    Returns:
        The sum of the logarithms of the variances that the rows were divided by.
    """
    count, columns = series.shape
    level = np.empty(columns)
    for j in range(columns):
        level[j] = series[0, j]
        out[0, j] = 0.0
    variance, logarithms = 1.0, 0.0
    for k in range(1, count):
        variance += ratio * steps[k - 1]
        total = variance + 1.0
        gain, scale = variance / total, 1.0 / np.sqrt(total)
        for j in range(columns):
            new = series[k, j] - level[j]
            out[k, j] = scale * new
            level[j] += gain * new
        variance /= total
        logarithms += np.log(total)
    return logarithms
