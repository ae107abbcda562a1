"""Corrections: what was spoilt on purpose comes back, each text is what a user types, and nonsense is refused."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.errors import InputError, UnknownNameError
from iparam.recording import Recording
from iparam.sensing import Correction
from iparam.spatial import rotation_from_rpy

ROBOT = iparam.load_robot("ur5e")
TIME = np.arange(200) / 100.0


def recorded() -> Recording:
    random = np.random.default_rng(3)
    q = np.cumsum(random.normal(size=(200, 6)), axis=0) / 100.0
    made = Recording("ur5e").with_signal("q", time=TIME, values=q)
    made = made.with_signal("dq", time=TIME, values=np.gradient(q, TIME, axis=0))
    return made.with_signal("wrench", time=TIME, values=random.normal(size=(200, 6)))


def with_wrench(values: np.ndarray) -> Recording:
    return recorded().with_signal("wrench", time=TIME, values=values)


def corrected_wrench(spoilt: np.ndarray, correction: Correction) -> np.ndarray:
    return correction.applied(with_wrench(spoilt), ROBOT).signal("wrench").values


def test_nothing_to_correct_is_the_recording_itself() -> None:
    made = recorded()
    assert not Correction()
    assert Correction().applied(made, ROBOT) is made
    assert Correction().fix == {}


def test_a_turned_and_moved_sensor() -> None:
    """The sensor's wrench is that of the tool, turned back and about the sensor's origin."""
    R, p = rotation_from_rpy(np.radians([10.0, -20.0, 90.0])), np.array([0.01, -0.02, 0.04])
    tool = recorded().signal("wrench").values
    force, torque = tool[:, :3] @ R, (tool[:, 3:] - np.cross(p, tool[:, :3])) @ R
    correction = Correction(sensor_rotation=(10.0, -20.0, 90.0), sensor_offset=(0.01, -0.02, 0.04))
    np.testing.assert_allclose(corrected_wrench(np.hstack([force, torque]), correction), tool, atol=1e-12)
    assert correction.fix == {"sensor_rotation": (10.0, -20.0, 90.0), "sensor_offset": (0.01, -0.02, 0.04)}


def test_axes_signs_and_gains() -> None:
    tool = recorded().signal("wrench").values
    swapped = tool[:, [1, 0, 2, 4, 3, 5]]
    np.testing.assert_allclose(corrected_wrench(swapped, Correction(wrench_axes=("y", "x", "z"))), tool)
    mirrored = tool * [-1, 1, 1, -1, 1, 1]
    np.testing.assert_allclose(corrected_wrench(mirrored, Correction(wrench_axes=("-x", "y", "z"))), tool)
    np.testing.assert_allclose(corrected_wrench(-tool, Correction(measures="reaction")), tool)
    alone = tool[:, [0, 1, 2, 4, 3, 5]] * [1, 1, -1, 1, 1, 1]
    each = Correction(wrench_axes=("x", "y", "-z", "y", "x", "z"))
    np.testing.assert_allclose(corrected_wrench(alone, each), tool)
    gains = np.array([1.1, 0.9, 1.0, 2.0, -1.0, 1e3])
    np.testing.assert_allclose(corrected_wrench(tool / gains, Correction(wrench_scale=tuple(gains))), tool)
    matrix = np.eye(6) + 0.01 * np.arange(36).reshape(6, 6)
    crosstalk = tool @ np.linalg.inv(matrix).T
    np.testing.assert_allclose(corrected_wrench(crosstalk, Correction(wrench_scale=matrix)), tool)  # type: ignore[arg-type]


def test_a_wrench_in_base_axes_and_a_pull_from_outside() -> None:
    tool = recorded().signal("wrench").values
    turns = iparam.forward_kinematics(ROBOT, recorded().signal("q").values)[:, :3, :3]
    base = np.hstack([np.einsum("tij,tj->ti", turns, tool[:, part]) for part in (slice(3), slice(3, 6))])
    for frame, mixed in (
        ("base", base),
        ("tcp", base),
        ("forces-base", np.hstack([base[:, :3], tool[:, 3:]])),
        ("torques-base", np.hstack([tool[:, :3], base[:, 3:]])),
    ):
        given = Correction(wrench_frame=frame)  # type: ignore[arg-type]
        np.testing.assert_allclose(corrected_wrench(mixed, given), tool, atol=1e-12)
    pulled = tool.copy()
    pulled[:, :3] -= np.einsum("tji,j->ti", turns, [0.0, 0.0, 5.0])  # a balancer carries 5 N, so the arm exerts less
    np.testing.assert_allclose(corrected_wrench(pulled, Correction(external_force=(0, 0, 5))), tool, atol=1e-12)
    point = np.array([0.03, 0.0, 0.1])
    pulled[:, 3:] -= np.cross(point, tool[:, :3] - pulled[:, :3])
    aside = Correction(external_force=(0.0, 0.0, 5.0, *point))
    np.testing.assert_allclose(corrected_wrench(pulled, aside), tool, atol=1e-12)
    assert aside.fix == {"external_force": (0.0, 0.0, 5.0, 0.03, 0.0, 0.1)}
    with pytest.raises(InputError, match="6 with the point"):
        Correction(external_force=(0.0, 0.0, 5.0, 1.0))


def test_the_order_of_a_filter_goes_with_its_corner() -> None:
    assert Correction(low_pass=10.0, low_pass_order=2).fix == {"low_pass": 10.0, "low_pass_order": 2}
    assert Correction(low_pass=10.0, low_pass_order=2).lag == pytest.approx(
        np.sqrt(2.0) * Correction(low_pass=10.0).lag
    )
    for wrong in ({"low_pass_order": 2}, {"low_pass": 10.0, "low_pass_order": 3}):
        with pytest.raises(InputError, match="low_pass_order"):
            Correction(**wrong)  # type: ignore[arg-type]


def test_joints_in_another_order_with_other_signs_and_zeros() -> None:
    made = recorded()
    q, dq = made.signal("q").values, made.signal("dq").values
    order, sign, zero = (5, 4, 3, 2, 1, 0), (1, -1, 1, 1, -1, 1), (0.0, 90.0, 0.0, 1.5, 0.0, -3.0)
    spoilt = made.with_signal("q", time=TIME, values=((q - np.radians(zero)) * sign)[:, ::-1])
    spoilt = spoilt.with_signal("dq", time=TIME, values=(dq * sign)[:, ::-1])
    back = Correction(joint_order=order, joint_sign=sign, joint_offset=zero).applied(spoilt, ROBOT)
    np.testing.assert_allclose(back.signal("q").values, q, atol=1e-12)
    np.testing.assert_allclose(back.signal("dq").values, dq, atol=1e-12)


def test_times() -> None:
    """Intervals are those of the file; the motion stays whole; the clock scales all stamps."""
    correction = Correction(exclude=((0.5, 0.695), (1.0, 1.1)), clock=0.9, rezeroed=(1.0,))
    back = correction.applied(recorded(), ROBOT)
    assert back.signal("wrench").num_samples == 200 - 20 - 11
    assert back.signal("q").num_samples == 200
    np.testing.assert_allclose(back.signal("q").time, 0.9 * TIME)
    assert correction.bias_starts() == (0.9,)
    assert correction.fix == {"clock": 0.9, "exclude": ((0.5, 0.695), (1.0, 1.1)), "rezeroed": (1.0,)}
    assert Correction(wrench_axes=("-x", "y", "z")).fix == {"wrench_axes": ("-x", "y", "z")}


def test_gravity_counts_whatever_the_recording_states() -> None:
    stated = recorded().with_metadata(gravity=[0.0, 0.0, -9.81])
    assert Correction(gravity=(0.0, 1.0, -9.7)).applied(stated, ROBOT).metadata["gravity"] == [0.0, 1.0, -9.7]


def test_what_is_to_be_estimated_leaves_the_recording_as_it_is() -> None:
    correction = Correction(sensor_rotation="estimate", clock="estimate", joint_offset="estimate")
    back = correction.applied(recorded(), ROBOT)
    np.testing.assert_array_equal(back.signal("wrench").values, recorded().signal("wrench").values)
    assert correction.estimated == ("sensor_rotation", "clock", "joint_offset")
    assert correction.fix == dict.fromkeys(("sensor_rotation", "clock", "joint_offset"), "estimate")


def test_merged_takes_the_other_one_where_both_say_something() -> None:
    both = Correction(clock=0.9, without=("fx",)).merged(Correction(clock=0.8, delay=0.01))
    assert both == Correction(clock=0.8, delay=0.01, without=("fx",))


@pytest.mark.parametrize(
    "wrong",
    [
        {"sensor_rotation": (1.0, 2.0)},
        {"sensor_rotation": "guess"},
        {"wrench_scale": (1.0, 1.0, 1.0, 0.0, 1.0, 1.0)},
        {"wrench_scale": np.ones((6, 6))},
        {"wrench_axes": ("x", "x", "z")},
        {"wrench_axes": ("x", "y", "z", "x", "y", "y")},
        {"high_pass": "estimate"},
        {"delays": ((1.0, 0.1), (1.0, 0.2))},
        {"clock": 0.0},
        {"low_pass": -1.0},
        {"delay": float("nan")},
        {"joint_order": (0, 2)},
        {"joint_sign": (1, 2)},
        {"exclude": ((2.0, 1.0),)},
        {"rezeroed": (float("inf"),)},
        {"joint_offset": ((1.0, 2.0),)},
    ],
)
def test_nonsense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Correction(**wrong)  # type: ignore[arg-type]


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    for wrong in ({"without": ("force",)}, {"wrench_axes": ("x", "y", "w")}, {"wrench_frame": "world"}):
        with pytest.raises(UnknownNameError, match=r"fx|-x|base"):
            Correction(**wrong)  # type: ignore[arg-type]


def test_counts_that_do_not_fit_the_recording() -> None:
    with pytest.raises(InputError, match="6 joints"):
        Correction(joint_sign=(1, -1)).applied(recorded(), ROBOT)
    with pytest.raises(InputError, match="leaves nothing out"):
        Correction(exclude=((7.0, 8.0),)).applied(recorded(), ROBOT)
    with pytest.raises(InputError, match="leaves none"):
        Correction(exclude=((-1.0, 8.0),)).applied(recorded(), ROBOT)


@pytest.mark.parametrize(
    ("given", "further"),
    [
        (Correction(sensor_rotation=(10.0, -20.0, 30.0)), Correction(sensor_rotation=(0.0, 40.0, -90.0))),
        (Correction(sensor_offset=(0.1, 0.0, 0.2)), Correction(sensor_rotation=(0.0, 40.0, -90.0))),
        (Correction(sensor_rotation=(10.0, -20.0, 30.0)), Correction(sensor_offset=(0.1, 0.0, 0.2))),
        (Correction(wrench_axes=("y", "-x", "z")), Correction(wrench_axes=("z", "x", "y"))),
        (Correction(wrench_axes=("y", "-x", "z"), measures="reaction"), Correction(wrench_axes=("-z", "x", "y"))),
        (
            Correction(wrench_scale=(2.0, 1.0, 1.0, 1.0, 1.0, 3.0)),
            Correction(wrench_scale=(1.0, -1.0, 5.0, 1.0, 1.0, 2.0)),
        ),
    ],
    ids=str,
)
def test_one_after_the_other_is_one(given: Correction, further: Correction) -> None:
    """What is typed in place of a correction does the same as it and then what was found besides."""

    def whole(one: Correction) -> np.ndarray:
        return one.frame_matrix() @ one.wrench_matrix()

    both = given.followed_by(further)
    assert both is not None
    assert np.allclose(whole(given.merged(both)), whole(further) @ whole(given), rtol=0.0, atol=1e-5)


def test_a_wrench_that_is_late_by_another_time_here_than_there() -> None:
    """From 1 s on a buffer repeats what it said before; the repetition is left out."""
    tool = recorded().signal("wrench").values
    late = np.where(np.arange(200) < 100, np.arange(200), np.arange(200) - 20)
    found = Correction(delays=((0.99, 0.0), (1.0, 0.2))).applied(with_wrench(tool[late]), ROBOT).signal("wrench")
    np.testing.assert_allclose(found.time, TIME[:180], atol=1e-12)
    np.testing.assert_allclose(found.values, tool[:180])
    both = Correction(delays=((0.0, 0.0), (2.0, 0.2))).followed_by(Correction(delays=((0.0, 0.1), (1.0, 0.1))))
    assert both == Correction(delays=((0.0, 0.1), (1.0, 0.2), (2.0, 0.3)))


def test_a_high_pass_is_undone() -> None:
    time, corner = np.arange(2000) * 0.001, 0.2
    wave = np.sin(2.0 * np.pi * time)[:, None] * np.arange(1.0, 7.0)
    behind = np.empty_like(wave)
    behind[0] = 0.0
    for k in range(1, len(time)):  # what it is less than the wave rises with it
        behind[k] = behind[k - 1] + wave[k] - wave[k - 1] - 0.001 * 2.0 * np.pi * corner * behind[k - 1]
    made = recorded().with_signal("wrench", time=time, values=behind)
    found = Correction(high_pass=corner).applied(made, ROBOT).signal("wrench").values
    np.testing.assert_allclose(found, wave, atol=0.02)


def test_what_no_correction_says_is_none() -> None:
    axes, scale = Correction(wrench_axes=("y", "x", "z")), Correction(wrench_scale=(2.0,) * 6)
    assert Correction(sensor_rotation=(0.0, 0.0, 90.0)).followed_by(axes) is None
    assert axes.followed_by(scale) is None
    assert Correction(wrench_frame="base").followed_by(axes) is None
    turned = Correction(joint_offset=(1.0, 2.0)).followed_by(Correction(joint_offset=(0.5, -2.0)))
    assert turned == Correction(joint_offset=(1.5, 0.0))
    assert Correction(measures="reaction").followed_by(Correction(measures="action")) == Correction(measures="action")
