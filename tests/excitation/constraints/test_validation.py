"""`validate`: dense, without tolerance, for any trajectory."""

from __future__ import annotations

import json

import numpy as np
import pytest

from iparam.errors import InputError
from iparam.excitation.constraints.constraint import JointLimitConstraint
from iparam.excitation.constraints.validation import validate
from iparam.trajectory import FourierTrajectory, QuinticSpline, WindowedFourierTrajectory, load_trajectory
from iparam.trajectory.storage import save_trajectory

NAMES = ("first", "second")


def motion(seed: int = 0, duration: float = 4.0) -> WindowedFourierTrajectory:
    a, b = np.random.default_rng(seed).normal(0.0, 0.3, (2, 2, 3))
    return WindowedFourierTrajectory(np.zeros(2), a, b, base_freq=0.5, duration=duration)


def peak(trajectory: WindowedFourierTrajectory, order: int) -> float:
    samples = trajectory.evaluate(np.linspace(0.0, trajectory.duration, 4001))
    return float(np.abs((samples.q, samples.dq, samples.ddq, samples.jerk)[order]).max())


@pytest.mark.parametrize("order", range(4))
def test_margins_are_those_of_the_limits(order: int) -> None:
    trajectory = motion()
    bound = peak(trajectory, order)
    for factor, expected in ((1.001, True), (0.999, False)):
        result = validate(trajectory, [JointLimitConstraint.symmetric(order, factor * bound, NAMES)])
        assert result.satisfied is expected
        assert result.margins[0].margin == pytest.approx((factor - 1.0) * bound, rel=1e-6)
        assert len(result.violations) == (0 if expected else 1)


def test_there_is_no_tolerance() -> None:
    trajectory = motion()
    worst = validate(trajectory, [JointLimitConstraint.symmetric(1, 10.0, NAMES)]).margins[0]
    exact = JointLimitConstraint.symmetric(1, 10.0 - worst.margin, NAMES)
    below = JointLimitConstraint.symmetric(1, np.nextafter(10.0 - worst.margin, 0.0), NAMES)
    assert not validate(trajectory, [below]).satisfied
    assert validate(trajectory, [exact]).margins[0].margin == pytest.approx(0.0, abs=1e-15)


def test_a_limit_touched_only_between_the_samples_is_caught() -> None:
    # A sine of 10 Hz, played at 10 samples a second: every sample is at the middle.
    amplitude = np.array([[0.5]])
    trajectory = FourierTrajectory(np.zeros(1), amplitude, 0.0 * amplitude, base_freq=10.0, duration=2.0)
    limit = JointLimitConstraint.symmetric(0, 0.4, ("only",))
    assert np.abs(trajectory.sample(10.0).q).max() < 1e-9
    assert validate(trajectory, [limit], rate=10.0, require_rest=False).satisfied
    result = validate(trajectory, [limit], require_rest=False)
    assert not result.satisfied
    assert result.margins[0].margin == pytest.approx(-0.1, abs=1e-6)


def test_both_ends_belong_to_the_grid() -> None:
    spline = QuinticSpline(np.array([0.0, 1.0003]), np.array([[0.0, 0.0], [1.0, 0.5]]))
    result = validate(spline, [JointLimitConstraint.symmetric(0, 0.99, NAMES)])
    assert not result.satisfied
    assert result.margins[0].time == pytest.approx(spline.duration, abs=2e-3)
    assert result.margins[0].label == "first upper"


def test_ends_in_motion() -> None:
    trajectory = FourierTrajectory(np.zeros(2), np.ones((2, 1)), np.zeros((2, 1)), base_freq=0.5, duration=2.0)
    strict = validate(trajectory, [])
    assert not strict.satisfied
    assert strict.start.velocity == pytest.approx(np.pi)
    assert "not at rest at the start" in strict.violations[0]
    assert validate(trajectory, [], require_rest=False).satisfied
    assert validate(motion(), []).satisfied


def test_a_limit_that_is_none_has_no_margin() -> None:
    result = validate(motion(), [JointLimitConstraint.symmetric(2, np.inf, NAMES)])
    assert result.margins == ()
    assert result.satisfied


def test_many_samples_are_checked_in_parts() -> None:
    trajectory = motion(duration=33.3)
    whole = validate(trajectory, [JointLimitConstraint.symmetric(1, 100.0, NAMES)]).margins[0]
    samples = trajectory.evaluate(np.linspace(0.0, 33.3, 33301))
    assert whole.margin == pytest.approx(100.0 - np.abs(samples.dq).max(), rel=1e-12)


def test_the_file_keeps_the_validation(tmp_path) -> None:
    limits = [JointLimitConstraint.symmetric(order, bound, NAMES) for order, bound in ((0, np.inf), (1, 0.1), (2, 9e9))]
    result = validate(motion(), limits)
    save_trajectory(tmp_path / "t.json", motion(), robot=None, fps=100.0, validation=result.as_json())
    stored = load_trajectory(tmp_path / "t.json").validation
    assert stored == json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert stored["all_constraints_satisfied"] is False
    assert stored["rate"] == 1000.0
    assert set(stored["margins"]) == {"joint velocity", "joint acceleration"}
    assert set(stored["margins"]["joint velocity"]) == {"margin", "unit", "time", "label"}
    assert stored["ends"]["start"]["at_rest"] is True


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan, 1e8])
def test_rates_that_cannot_be(rate: float) -> None:
    with pytest.raises(InputError, match="rate"):
        validate(motion(), [], rate)
