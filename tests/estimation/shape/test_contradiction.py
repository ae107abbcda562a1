"""What would explain data that contradict a shape."""

from __future__ import annotations

import numpy as np

from iparam.estimation import Shape
from iparam.estimation.shape.contradiction import likelier_shape
from iparam.estimation.shape.posterior import DataRows


def test_a_file_in_another_frame_is_said_to_be_elsewhere(hammer: Shape) -> None:
    """From rests: nothing of it is mirrored or scaled, which would explain such a centre of mass as well by chance."""
    phi = hammer.body(1.5, densities=[1.0, 3.0]).phi
    rows = np.diag([1e3, *[1e4] * 3, *[0.0] * 6])[:4]
    data = DataRows(rows, rows @ phi)
    shift = np.eye(4)
    shift[:3, 3] = 0.0, 0.2, -0.1
    said = likelier_shape(hammer.deformed(shift), data, 1.5, wrong=True)
    assert "--shape-pose" in said
    told = np.array([float(word) for word in said.split("About ")[1].split(" mm")[0].split()])
    np.testing.assert_allclose(told, [0.0, -200.0, 100.0], atol=50.0)  # up to where the densities have the centre
