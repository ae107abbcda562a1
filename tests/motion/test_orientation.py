"""The motion of a sensor without an arm: whatever columns tell its orientation, and what of them cannot be believed."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from iparam.arrays import FloatArray
from iparam.errors import ContradictionError, InputError
from iparam.motion.orientation import OrientationMotion, sensor_turns, world_gravity
from iparam.recording import Recording
from iparam.spatial.transforms import exp_so3, log_so3

TIME = np.arange(0.0, 4.0, 0.005)
DOWN = np.array([0.0, 0.0, -9.81])


def tumbling(time: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Orientation, angular velocity and acceleration of a sensor that turns more than once about a turning axis.

    R = Rz(a) Rx(b): omega in the sensor's axes is (b', a' sin b, a' cos b).
    """
    a, da, dda = 2.5 * time + np.sin(time), 2.5 + np.cos(time), -np.sin(time)
    b, db, ddb = 1.5 * np.sin(1.3 * time), 1.95 * np.cos(1.3 * time), -2.535 * np.sin(1.3 * time)
    nothing = np.zeros_like(time)
    turned = exp_so3(np.column_stack([nothing, nothing, a])) @ exp_so3(np.column_stack([b, nothing, nothing]))
    omega = np.column_stack([db, da * np.sin(b), da * np.cos(b)])
    alpha = np.column_stack([ddb, dda * np.sin(b) + da * db * np.cos(b), dda * np.cos(b) - da * db * np.sin(b)])
    return turned, omega, alpha


def quaternions(turned: FloatArray) -> FloatArray:
    half = 0.5 * log_so3(turned)
    angle = np.linalg.norm(half, axis=1)
    return np.column_stack([np.cos(angle), half * np.sinc(angle / np.pi)[:, None]])


def recorded(turned: FloatArray, time: FloatArray = TIME) -> Recording:
    return Recording().with_signal("orientation", time=time, values=quaternions(turned))


def test_velocity_and_acceleration_are_those_of_the_sensor_in_its_own_axes() -> None:
    turned, omega, alpha = tumbling(TIME)
    found = OrientationMotion().motion(recorded(turned))
    inner = slice(50, -50)
    np.testing.assert_allclose(found.dq[inner], omega[inner], atol=1e-4)
    np.testing.assert_allclose(found.ddq[inner], alpha[inner], atol=5e-3)
    assert found.orientation is not None
    np.testing.assert_allclose(found.orientation, turned, atol=1e-6)
    assert found.quasi_static
    assert found.remarks[0].code == "acceleration-unknown"


def test_quaternions_may_be_integers() -> None:
    turned, _, _ = tumbling(TIME)
    values = np.round(16384 * quaternions(turned))
    found = sensor_turns(Recording().with_signal("orientation", time=TIME, values=values))
    np.testing.assert_allclose(found.orientation, turned, atol=2e-4)


def test_a_gyro_is_held_against_the_orientation() -> None:
    turned, omega, _ = tumbling(TIME)
    plain = OrientationMotion().motion(recorded(turned).with_signal("gyro", time=TIME, values=omega + 0.02))
    assert plain.remarks[0].code == "gyro-without-accelerometer"
    degrees = recorded(turned).with_signal("gyro", time=TIME, values=np.degrees(omega + 0.02))
    found = OrientationMotion().motion(degrees)
    np.testing.assert_allclose(found.dq, plain.dq, atol=1e-9)
    assert found.remarks[0].code == "gyro-from-degrees"
    assert found.remarks[0].values["scale"] == pytest.approx(np.degrees(1.0), rel=1e-2)
    for values, what in (
        (np.einsum("tij,tj->ti", turned, omega), "in the world's axes"),
        (-omega, "of another motion"),
    ):
        with pytest.raises(ContradictionError, match=f"it seems to be {what}"):
            OrientationMotion().motion(recorded(turned).with_signal("gyro", time=TIME, values=values))
    part = recorded(turned).with_signal("gyro", time=TIME, values=omega * [0.0, 1.0, 0.0])
    assert OrientationMotion().motion(part).remarks[0].code == "gyro-unlike-orientation"


def test_a_gyro_at_rest_is_not_asked() -> None:
    still = np.broadcast_to(np.eye(3), (TIME.size, 3, 3))
    noise = np.random.default_rng(0).normal(0.0, 0.01, (TIME.size, 3))
    found = OrientationMotion().motion(recorded(still).with_signal("gyro", time=TIME, values=noise))
    assert "gyro-from-degrees" not in [one.code for one in found.remarks]


def test_it_is_known_between_the_samples_too() -> None:
    found = OrientationMotion().motion(recorded(tumbling(TIME)[0]))
    times = TIME[100:-100] + 0.002
    turned, omega, _ = tumbling(times)
    between = found.at(times)
    assert between.orientation is not None
    np.testing.assert_allclose(between.orientation, turned, atol=1e-6)
    np.testing.assert_allclose(between.dq, omega, atol=1e-4)


def test_all_columns_tell_the_same() -> None:
    """A quaternion of either sign, and a matrix that was rounded; gravity alone does not show turns about it."""
    turned, _, _ = tumbling(TIME)
    signs = np.where(np.arange(TIME.size) % 2, -1.0, 1.0)[:, None]
    flipped = Recording().with_signal("orientation", time=TIME, values=signs * quaternions(turned))
    matrices = Recording().with_signal("rotation", time=TIME, values=np.round(turned, 6).reshape(-1, 9))
    down = Recording().with_signal("gravity_in_sensor", time=TIME, values=turned.transpose(0, 2, 1) @ DOWN)
    for recording in (flipped, matrices):
        np.testing.assert_allclose(sensor_turns(recording).orientation, turned, atol=2e-6)
        np.testing.assert_allclose(world_gravity(recording), DOWN)
    found = sensor_turns(down).orientation
    np.testing.assert_allclose(found.transpose(0, 2, 1) @ DOWN, turned.transpose(0, 2, 1) @ DOWN, atol=1e-9)
    np.testing.assert_allclose(world_gravity(down), DOWN, atol=1e-9)


def test_a_gyro_and_an_accelerometer_alone_are_enough() -> None:
    turned, omega, alpha = tumbling(TIME)
    up = -(turned.transpose(0, 2, 1) @ DOWN)
    recording = Recording().with_signal("gyro", time=TIME, values=omega)
    found = OrientationMotion().motion(recording.with_signal("accelerometer", time=TIME, values=up))
    inner = slice(50, -50)
    np.testing.assert_allclose(found.dq[inner], omega[inner], atol=1e-6)
    np.testing.assert_allclose(found.ddq[inner], alpha[inner], atol=1e-3)
    assert found.linear_acceleration_minus_gravity is not None
    np.testing.assert_allclose(found.linear_acceleration_minus_gravity, up)
    assert not found.quasi_static


def test_a_gyro_shows_the_turns_that_gravity_does_not() -> None:
    turned, omega, _ = tumbling(TIME)
    recording = Recording().with_signal("gravity_in_sensor", time=TIME, values=turned.transpose(0, 2, 1) @ DOWN)
    assert "yaw-unseen" in [one.code for one in OrientationMotion().motion(recording).remarks]
    found = OrientationMotion().motion(recording.with_signal("gyro", time=TIME, values=omega))
    np.testing.assert_allclose(found.dq[50:-50], omega[50:-50], atol=1e-6)
    assert "yaw-unseen" not in [one.code for one in found.remarks]


def test_a_gyro_with_a_bias_sharpens_the_orientation() -> None:
    """Noise of 1 mrad in the orientation; the gyro has 2 mrad/s and is off by 0.05 rad/s."""
    turned, omega, alpha = tumbling(TIME)
    rng = np.random.default_rng(0)
    noisy = recorded(turned @ exp_so3(rng.normal(0.0, 1e-3, (TIME.size, 3))))
    gyro = omega + rng.normal(0.0, 2e-3, omega.shape) + [0.05, -0.02, 0.01]
    inner = slice(50, -50)

    def error(recording: Recording) -> float:
        found = OrientationMotion().motion(recording)
        return float(np.sqrt(np.mean((found.ddq[inner] - alpha[inner]) ** 2)))

    alone, together = error(noisy), error(noisy.with_signal("gyro", time=TIME, values=gyro))
    assert together < 0.5 * alone
    measured = alpha + rng.normal(0.0, 0.01, alpha.shape)
    assert error(noisy.with_signal("angular_acceleration", time=TIME, values=measured)) < 0.02


def test_the_stated_deviations_are_those_of_the_noise() -> None:
    turned, omega, alpha = tumbling(TIME)
    ratios = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        found = OrientationMotion().motion(recorded(turned @ exp_so3(rng.normal(0.0, 1e-3, (TIME.size, 3)))))
        covariance = np.asarray(found.covariance_at(found.time))
        for order, errors in ((1, found.dq - omega), (2, found.ddq - alpha)):
            ratios.append(np.mean(errors[50:-50] ** 2 / covariance[50:-50, :, order, order]))
    assert 0.5 < np.mean(ratios) < 2.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"orientation": lambda values: values * np.linspace(1.0, 1.1, len(values))[:, None]}, "is usual here"),
        ({"orientation": lambda values: values[::400]}, "needs at least 16 samples"),
        ({"rotation": lambda values: values * 1.05}, "no rotation matrix"),
        ({"rotation": lambda values: -values}, "left-handed"),
        ({"gravity_in_sensor": lambda values: 0.3 * values}, "not that of gravity. Rename them if they are a gyro's"),
        ({"accelerometer": lambda values: values / 9.81}, "in units of g: multiply its columns by 9.81"),
        ({"accelerometer": lambda values: -values}, r"gravity=\.\.\."),
    ],
)
def test_what_cannot_be_meant_is_refused(change: dict[str, object], message: str) -> None:
    turned, _, _ = tumbling(TIME)
    up = -(turned.transpose(0, 2, 1) @ DOWN)
    values = {
        "orientation": quaternions(turned),
        "rotation": turned.reshape(-1, 9),
        "gravity_in_sensor": -up,
        "accelerometer": up,
    }
    ((name, changed),) = change.items()
    altered = changed(values[name])  # type: ignore[operator]
    recording = Recording().with_signal(name, time=TIME[:: len(TIME) // len(altered)], values=altered)
    if name == "accelerometer":
        recording = recording.with_signal("orientation", time=TIME, values=values["orientation"])
    with pytest.raises((ContradictionError, InputError), match=message):
        OrientationMotion().motion(recording)


def test_orientations_of_the_world_in_the_sensor_are_told_from_gravity() -> None:
    turned, _, _ = tumbling(TIME)
    recording = recorded(turned.transpose(0, 2, 1)).with_signal(
        "gravity_in_sensor", time=TIME, values=turned.transpose(0, 2, 1) @ DOWN
    )
    with pytest.raises(ContradictionError, match="transpose the matrix, or negate qx, qy, qz"):
        world_gravity(recording)


def test_turns_too_large_to_follow_are_refused_unless_they_are_poses() -> None:
    turned, _, _ = tumbling(TIME)
    few = recorded(turned[::100], TIME[::100])
    with pytest.raises(ContradictionError, match="one sample to the next: record it faster"):
        sensor_turns(few)
    poses = dataclasses.replace(few, metadata={"rows": "poses"})
    found = OrientationMotion().motion(poses)
    assert not found.dq.any()
    assert found.covariance is None
