"""Mass and centre of mass from turning alone: what the sensor's unknown acceleration does is known, fitted or noise."""

from __future__ import annotations

import numpy as np
import pytest

from iparam.estimation import identify_payload
from iparam.estimation.errors import NotIdentifiableError
from iparam.recording import Recording
from iparam.regressor.wrench import body_regressor
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.transforms import exp_so3

LOAD = InertialParameters(1.2, np.array([0.01, -0.02, 0.05]), np.diag([3e-3, 2e-3, 1e-3]))
LEVER = np.array([0.1, -0.4, 0.3])
BIAS = np.array([5.0, -3.0, 2.0, 0.1, 0.2, -0.3])


def slow(seed: int, axis: int | None = None, shaking: float = 0.0) -> Recording:
    """10 s of a sensor at the end of a lever that turns about the point at its other end.

    Args:
        seed: of the noise of the wrench, 0.1 N and 2 mN m.
        axis: that it turns about; None for all three.
        shaking: of the sensor at 40 Hz [m/s^2].
    """
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, 10.0, 0.004)
    angle = np.pi * 0.5 * (1.0 - np.cos(np.pi * time / 10.0))
    rate, change = np.gradient(angle, time), np.gradient(np.gradient(angle, time), time)
    direction = np.array([0.6, 0.64, 0.48]) if axis is None else np.eye(3)[axis]
    turned = exp_so3(angle[:, None] * direction)
    omega, alpha = rate[:, None] * direction, change[:, None] * direction
    a = np.cross(alpha, LEVER) + np.cross(omega, np.cross(omega, LEVER))
    a = a + shaking * np.sin(2.0 * np.pi * 40.0 * time)[:, None] * [1.0, 0.5, -0.5]
    up = turned.transpose(0, 2, 1) @ [0.0, 0.0, 9.81]
    wrench = body_regressor(omega, alpha, a + up) @ LOAD.phi + BIAS
    wrench = wrench + rng.normal(size=wrench.shape) * ([0.1] * 3 + [2e-3] * 3)
    made = Recording(metadata={"source": "simulation"}).with_signal("rotation", time=time, values=turned.reshape(-1, 9))
    return made.with_signal("wrench", time=time, values=wrench)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("shaking", [0.0, 2.0])
def test_intervals_hold_the_truth(shaking: float) -> None:
    """The lever makes accelerations of 0.1 m/s^2 that turn with the sensor, which a fit without it takes for mass."""
    inside = []
    for seed in range(12):
        found = identify_payload(slow(seed, shaking=shaking))
        assert found.determined == ("mass", "center_of_mass")
        errors = [(found.mass - LOAD.mass) / found.standard_deviation.mass]
        errors += list((found.center_of_mass - LOAD.center_of_mass) / found.standard_deviation.center_of_mass)
        inside += list(np.abs(errors) < 1.96)
    assert 0.85 < np.mean(inside) <= 1.0


@pytest.mark.thorough
def test_intervals_hold_the_truth_beside_accelerations_that_last() -> None:
    """0.1 m/s^2 that nobody measured, of periods between 3 and 20 s: the residuals show less than the half of it."""
    scores = []
    for seed in range(24):
        made, rng = slow(seed), np.random.default_rng(100 + seed)
        time, wrench = made.signal("wrench").time, made.signal("wrench").values.copy()
        phases = rng.uniform(0.0, 2.0 * np.pi, size=6)
        waves = [np.sin(0.1 * np.pi * k * time + phases[k - 1]) for k in range(1, 7)]
        a = 0.06 * np.transpose(waves) @ rng.normal(size=(6, 3))
        wrench[:, :3] += LOAD.mass * a
        wrench[:, 3:] += LOAD.mass * np.cross(LOAD.center_of_mass, a)
        found = identify_payload(made.with_signal("wrench", time=time, values=wrench))
        scores.append((found.mass - LOAD.mass) / found.standard_deviation.mass)
    assert 0.6 < np.sqrt(np.mean(np.square(scores))) < 1.35


def test_the_bias_of_the_sensor_is_found_along() -> None:
    found = identify_payload(slow(0))
    assert found.sensor_bias is not None
    np.testing.assert_allclose(found.sensor_bias.force, BIAS[:3], atol=0.1)
    np.testing.assert_allclose(found.sensor_bias.torque, BIAS[3:], atol=0.02)


def test_what_the_weight_never_pulls_across_is_left_open() -> None:
    """Turned about a level axis, gravity stays in a plane, and the whole centre is seen; about the vertical not."""
    level = identify_payload(slow(0, axis=0))
    assert level.determined == ("mass", "center_of_mass")
    assert level.mass == pytest.approx(LOAD.mass, rel=0.01)
    with pytest.raises(NotIdentifiableError):
        identify_payload(slow(0, axis=2), partial=False)
    assert identify_payload(slow(0, axis=2)).determined == ()


def test_without_a_motion_nothing_is_told() -> None:
    log = slow(0)
    first = log.signal("rotation").values[:1]
    still = log.with_signal("rotation", time=log.signal("wrench").time, values=np.repeat(first, 2500, axis=0))
    found = identify_payload(still)
    assert found.determined == ()
    assert found.assessment["verdict"] == "refuted"
    assert found.causes[0].cause == "too-little-motion"
