"""The load from the sensor's own motion is that from the arm's joint angles; without an acceleration, less of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.arrays import FloatArray
from iparam.estimation import Estimate, identify_payload
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset
from iparam.spatial.transforms import log_so3
from iparam.trajectory import WindowedFourierTrajectory

UR5E = iparam.load_robot("ur5e")
START = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
DOWN = np.array([0.0, 0.0, -9.81])


def quaternions(turned: FloatArray) -> FloatArray:
    half = 0.5 * log_so3(turned)
    angle = np.linalg.norm(half, axis=1)
    return np.column_stack([np.cos(angle), half * np.sinc(angle / np.pi)[:, None]])


def as_log_of_the_sensor(recording: Recording, *names: str) -> Recording:
    """The run without its arm: orientation from the measured joint angles, wrench, and other signals."""
    q = recording.signal("q")
    turned = iparam.forward_kinematics(UR5E, q.values)[:, :3, :3]
    made = Recording(metadata={"source": "simulation"}).with_signal(
        "orientation", time=q.time, values=quaternions(turned)
    )
    for name in ("wrench", *names):
        made = made.with_signal(name, recording.signal(name))
    return made


@pytest.fixture(scope="module")
def simulated() -> Recording:
    """3 s of a box of 2 kg, swung by an arm in MuJoCo, as noisy sensors see it."""
    a, b = np.random.default_rng(0).normal(0.0, 0.3, (2, 6, 3))
    motion = WindowedFourierTrajectory(START, a, b, base_freq=1.0 / 3.0, duration=3.0)
    box = iparam.Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
    scene = iparam.MujocoSimulator().load(UR5E, box)
    return noise_preset("ur5e").apply(scene.run(motion).recording, 1)


def in_deviations(one: Estimate, other: Estimate) -> float:
    return float(np.max(np.abs(one.phi - other.phi) / other.standard_deviation.phi))


@pytest.mark.parametrize("names", [("accelerometer",), ("accelerometer", "gyro")])
def test_the_answer_is_that_of_the_joint_angles(simulated: Recording, names: tuple[str, ...]) -> None:
    """It is the same run: what differs is how the motion was smoothed, a fraction of what the noise does."""
    joints = identify_payload(simulated, UR5E, motion=iparam.motion.AccelerometerMotion())
    found = identify_payload(as_log_of_the_sensor(simulated, *names))
    assert in_deviations(found, joints) < 0.3
    np.testing.assert_allclose(found.standard_deviation.phi, joints.standard_deviation.phi, rtol=0.1)
    truth = iparam.Payload.box(mass=2.0, size=(0.1, 0.15, 0.2)).parameters.phi
    assert np.max(np.abs(found.phi - truth) / found.standard_deviation.phi) < 3.5
    assert (found.robot, found.frame) == ("", "sensor")
    assert found.complete


def test_an_imu_without_orientation_is_enough(simulated: Recording) -> None:
    log = as_log_of_the_sensor(simulated, "accelerometer", "gyro")
    assert in_deviations(identify_payload(log.without_signal("orientation")), identify_payload(log)) < 0.3


def test_either_sign_of_the_wrench_is_the_same_load(simulated: Recording) -> None:
    """Without an arm nobody said whose wrench it is, and no load has a negative mass."""
    log = as_log_of_the_sensor(simulated, "accelerometer")
    wrench = log.signal("wrench")
    turned = log.with_signal("wrench", time=wrench.time, values=-wrench.values)
    one, other = identify_payload(log), identify_payload(turned)
    np.testing.assert_allclose(one.phi, other.phi)
    (said,) = (each for each in other.remarks if each.code == "sign-reversed")
    assert str(said.severity) == "corrected"
    assert "sign-reversed" not in [each.code for each in one.remarks]


def test_without_joint_angles_the_stamps_stay_as_they_are(simulated: Recording) -> None:
    """Neither a clock nor a delay is told from the wrench, even where it is late; a delay that is given counts."""
    log = as_log_of_the_sensor(simulated, "accelerometer")
    late = log.with_signal("wrench", time=log.signal("wrench").time + 0.02, values=log.signal("wrench").values)
    found, told = identify_payload(late), identify_payload(late, delay=0.02)
    np.testing.assert_array_equal(found.phi, identify_payload(late, delay=0.0).phi)
    assert in_deviations(told, identify_payload(log)) < 0.3
    assert in_deviations(found, told) > 3.0


def test_the_worlds_gravity_may_point_anywhere(simulated: Recording) -> None:
    """The orientation in another world, which is turned by 90 deg about x and says so, or the caller does."""
    log = as_log_of_the_sensor(simulated, "accelerometer")
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    q = simulated.signal("q")
    turned = turn @ iparam.forward_kinematics(UR5E, q.values)[:, :3, :3]
    other = log.with_signal("orientation", time=q.time, values=quaternions(turned))
    found = identify_payload(other.with_metadata(gravity=(turn @ DOWN).tolist()))
    np.testing.assert_allclose(found.phi, identify_payload(log).phi, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(identify_payload(other, gravity=turn @ DOWN).phi, found.phi)


def test_orientation_alone_hardly_tells_the_mass_of_a_load_that_is_swung(simulated: Recording) -> None:
    """What the acceleration adds is most of the wrench here, and the interval is as wide."""
    found = identify_payload(as_log_of_the_sensor(simulated))
    assert found.determined == ("mass", "center_of_mass")
    assert abs(found.mass - 2.0) < 3.0 * found.standard_deviation.mass
    assert found.standard_deviation.mass > 0.1 * found.mass
    assert found.assessment["verdict"] != "good"


@pytest.mark.parametrize("tool", ["Clamp", "Machinist_Hammer", "Vise_Clamp"])
def test_somebody_elses_simulated_tools(shared_data: Path, tool: str) -> None:
    """The UTIAS workshop tools: another simulator, a world whose z points down, stop-and-go motion, no noise."""
    given = np.load(shared_data / "workshop_tools" / f"{tool}.npz")
    time, turned = given["time"], given["sensor_pose"][:, :3, :3]
    into = turned.transpose(0, 2, 1)

    def own(vectors: FloatArray) -> FloatArray:
        return np.asarray(np.einsum("tij,tj->ti", into, vectors))

    force, torque = own(given["wrench"][:, :3]), own(given["wrench"][:, 3:])
    log = Recording(metadata={"gravity": [0.0, 0.0, 9.81]})
    for name, values in {
        "rotation": turned.reshape(-1, 9),
        "wrench": np.hstack([force, torque]),
        "gyro": own(given["velocity"][:, 3:]),
        "accelerometer": own(given["acceleration"][:, :3] - [0.0, 0.0, 9.81]),
        "angular_acceleration": own(given["acceleration"][:, 3:]),
    }.items():
        log = log.with_signal(name, time=time, values=values)
    found = identify_payload(log, bias="none")
    placed = given["object_in_sensor"]
    center = placed[:3, :3] @ given["com_in_mesh"].ravel() + placed[:3, 3]
    inertia = placed[:3, :3] @ given["inertia_about_com_in_mesh"] @ placed[:3, :3].T
    assert found.mass == pytest.approx(given["mass"].item(), rel=1e-3)
    np.testing.assert_allclose(found.center_of_mass, center, atol=5e-4)
    np.testing.assert_allclose(found.inertia_about_com, inertia, atol=0.05 * np.abs(inertia).max())
