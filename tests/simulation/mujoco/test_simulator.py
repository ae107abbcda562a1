"""The simulated sensors are physics: they agree with Newton and Euler on the simulator's own accelerations."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError
from iparam.robot.cell import Box, WorkCell
from iparam.robot.description.mujoco_backend import require_mujoco
from iparam.simulation import (
    ComputedTorque,
    MujocoSimulator,
    Payload,
    SensorRates,
    SimulationError,
    SimulationResult,
)
from iparam.simulation.motors import assumed_rotors
from iparam.trajectory import FourierTrajectory, WindowedFourierTrajectory

PANDA_HOME = (0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785)


def true_wrench(robot: iparam.Robot, payload: Payload, result: SimulationResult) -> np.ndarray:
    motion = result.true_motion
    return iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ payload.parameters.phi


class TestSensorsArePhysics:
    def test_linear_velocity_and_angular_acceleration(self, ur5e, box, excited) -> None:
        mujoco = pytest.importorskip("mujoco")
        model = MujocoSimulator().load(ur5e, box).model
        data, six, site = mujoco.MjData(model), np.zeros(6), model.site("iparam_tool").id
        motion = excited.true_motion
        tool = iparam.tool_motion(ur5e, motion.q, motion.dq, motion.ddq)
        for k in range(0, motion.num_samples, 10):
            data.qpos, data.qvel, data.qacc = motion.q[k], motion.dq[k], motion.ddq[k]
            mujoco.mj_inverse(model, data)
            mujoco.mj_rnePostConstraint(model, data)
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_SITE, site, six, 1)
            np.testing.assert_allclose(tool.linear_velocity[k], six[3:], rtol=0, atol=1e-8)
            mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_SITE, site, six, 1)
            np.testing.assert_allclose(tool.angular_acceleration[k], six[:3], rtol=0, atol=1e-8)


class TestAtRest:
    @pytest.mark.parametrize("name", iparam.robot_names())
    def test_every_arm_of_the_catalogue_holds_still(self, name: str, at_rest) -> None:
        robot, payload = iparam.load_robot(name), Payload.box(mass=1.0, size=(0.05, 0.05, 0.05))
        result = MujocoSimulator().load(robot, payload).run(at_rest())
        self.check_still(robot, payload, result)

    @pytest.mark.reference
    def test_a_panda_from_its_urdf_holds_still(self, example_robot_urdf: Callable[[str], Path], at_rest) -> None:
        robot, payload = (
            iparam.load_robot(example_robot_urdf("panda"), tip="panda_hand_tcp"),
            Payload.sphere(mass=1.0, radius=0.05),
        )
        q0 = np.clip(np.array(PANDA_HOME), robot.limits.lower, robot.limits.upper)
        self.check_still(robot, payload, MujocoSimulator().load(robot, payload).run(at_rest(q0)))

    @pytest.mark.reference
    def test_a_panda_from_its_urdf_moves(self, example_robot_urdf: Callable[[str], Path], excitation) -> None:
        robot = iparam.load_robot(example_robot_urdf("panda"), tip="panda_hand_tcp")
        payload = Payload.sphere(mass=1.0, radius=0.05)
        result = MujocoSimulator().load(robot, payload).run(excitation(2.0, PANDA_HOME, 0.02))
        expected = true_wrench(robot, payload, result)
        np.testing.assert_allclose(result.recording.signals["wrench"].values, expected, rtol=0, atol=1e-8)

    def check_still(self, robot: iparam.Robot, payload: Payload, result: SimulationResult) -> None:
        assert np.abs(result.true_motion.dq).max() < 1e-9
        assert np.abs(result.true_motion.ddq).max() < 1e-6
        expected = true_wrench(robot, payload, result)
        np.testing.assert_allclose(result.recording.signals["wrench"].values, expected, rtol=0, atol=1e-8)


class TestFollowing:
    def test_tracking_error_is_small_and_real(self, excited) -> None:
        signals = excited.recording.signals
        error = np.abs(signals["q"].values - signals["target_q"].values).max()
        assert 1e-5 < error < 2e-3
        assert excited.recording.remarks == ()

    def test_a_known_payload_is_followed_more_closely(self, ur5e, box, excitation, excited) -> None:
        trajectory = excitation(2.0, scale=0.03)
        errors = []
        for known in (False, True):
            controller = ComputedTorque(payload_known=known)
            signals = MujocoSimulator(controller=controller).load(ur5e, box).run(trajectory).recording.signals
            errors.append(np.abs(signals["q"].values - signals["target_q"].values).max())
        assert errors[1] < 0.5 * errors[0]

    def test_set_points_are_the_trajectory_at_the_recorded_times(self, excited, excitation) -> None:
        signals = excited.recording.signals
        goal = excitation().evaluate(signals["target_q"].time)
        np.testing.assert_allclose(signals["target_q"].values, goal.q, atol=1e-12)
        np.testing.assert_allclose(signals["target_dq"].values, goal.dq, atol=1e-12)
        np.testing.assert_allclose(signals["target_ddq"].values, goal.ddq, atol=1e-12)

    def test_rates_that_do_not_divide(self, ur5e, box, excitation) -> None:
        simulator = MujocoSimulator(physics_rate=240.0, rates=SensorRates.all_at(100.0))
        result = simulator.load(ur5e, box).run(excitation(5.0, scale=0.05))
        wrench = result.recording.signals["wrench"]
        np.testing.assert_allclose(wrench.time * 240.0, np.round(wrench.time * 240.0), atol=1e-9)
        assert np.abs(wrench.time - np.arange(wrench.time.size) / 100.0).max() <= 0.5 / 240.0 + 1e-12
        assert wrench.time.size == 501
        np.testing.assert_allclose(wrench.values, true_wrench(ur5e, box, result), rtol=0, atol=1e-8)

    def test_sensors_with_rates_of_their_own(self, ur5e, box, excitation) -> None:
        rates = SensorRates(joints=500.0, wrench=125.0, imu=1000.0)
        result = MujocoSimulator(rates=rates).load(ur5e, box).run(excitation(1.0, scale=0.02))
        sizes = {name: signal.time.size for name, signal in result.recording.signals.items()}
        assert (sizes["q"], sizes["wrench"], sizes["gyro"]) == (501, 126, 1001)
        time, truth = result.true_motion.time, true_wrench(ur5e, box, result)
        wrench = result.recording.signals["wrench"]
        np.testing.assert_allclose(wrench.values, truth[np.searchsorted(time, wrench.time)], rtol=0, atol=1e-8)

    def test_torque_limits_hold_and_are_reported(self, ur5e, box, excitation, excited) -> None:
        needed = np.abs(excited.recording.signals["tau"].values).max(axis=0)
        limits = dataclasses.replace(ur5e.limits, torque=np.where(np.arange(6) == 0, 0.97 * needed, 10.0 * needed))
        weak = dataclasses.replace(ur5e, limits=limits)
        recording = MujocoSimulator().load(weak, box).run(excitation()).recording
        assert np.abs(recording.signals["tau"].values).max(axis=0)[0] <= limits.torque[0]
        said = [one.values for one in recording.remarks if one.code == "torque-limit-reached"]
        assert [one["joint"] for one in said] == ["shoulder_pan_joint"]
        assert said[0]["limit"] == pytest.approx(limits.torque[0])

    def test_an_arm_too_weak_loses_the_trajectory(self, ur5e, box, excitation) -> None:
        weak = dataclasses.replace(ur5e, limits=dataclasses.replace(ur5e.limits, torque=np.full(6, 5.0)))
        with pytest.raises(SimulationError, match=r"lost its trajectory at .* torque limit of 5 N m"):
            MujocoSimulator().load(weak, box).run(excitation())

    def test_a_start_in_motion_is_reported(self, ur5e, box) -> None:
        q0, a = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0]), np.full((6, 1), 0.01)
        trajectory = FourierTrajectory(q0, a, 0.0 * a, base_freq=1.0, duration=0.5)
        recording = MujocoSimulator().load(ur5e, box).run(trajectory).recording
        (said,) = [one for one in recording.remarks if one.code == "starts-in-motion"]
        assert said.values["speed"] == pytest.approx(np.abs(trajectory.evaluate(np.zeros(1)).dq).max())

    def test_progress_is_told(self, ur5e, box, excitation) -> None:
        told: list[float] = []
        MujocoSimulator().load(ur5e, box).run(excitation(2.0, scale=0.01), told.append)
        assert told == sorted(told)
        assert len(told) > 2
        assert told[-1] == 1.0


class TestRefusals:
    def test_beyond_the_range_of_a_joint(self, ur5e, there_and_back) -> None:
        start = np.array([0.0, -1.57, 1.57, -1.57, -1.57, 0.0])
        with pytest.raises(iparam.InputError, match=r"elbow_joint .* range is -3\.142\.\.3\.142"):
            MujocoSimulator().load(ur5e).run(there_and_back(start, start + np.eye(6)[2] * 2.0))

    def test_a_start_in_degrees(self, ur5e, at_rest) -> None:
        with pytest.raises(ContradictionError, match=r"shoulder_lift_joint at -90 rad.*are its angles in degrees"):
            MujocoSimulator().load(ur5e).run(at_rest(np.array([0.0, -90.0, 90.0, 0.0, 0.0, 0.0])))

    @pytest.mark.parametrize(
        "payload",
        [
            Payload.box(size=(100.0, 150.0, 200.0), mass=2.0),
            Payload.sphere(radius=0.05, mass=2.0, offset=(0.0, 0.0, 80.0)),
            Payload.cylinder(radius=0.05, length=90.0, mass=2.0, rotation_rpy=(1.0, 0.5, 0.0)),
            Payload.from_parameters(iparam.InertialParameters(1.0, np.array([0.0, 0.0, 30.0]), np.eye(3))),
        ],
    )
    def test_a_payload_in_millimetres(self, ur5e, payload: Payload) -> None:
        with pytest.raises(
            ContradictionError, match=r"the payload extends to .* m from tool0, and ur5e reaches 1\.2 m"
        ):
            MujocoSimulator().load(ur5e, payload)

    def test_a_cell_in_millimetres(self, ur5e) -> None:
        cell = WorkCell((Box([500.0, 0.0, -425.0], [600.0, 400.0, 25.0], name="table"),))
        with pytest.raises(ContradictionError, match="'table' of the work cell is 1200 m long"):
            MujocoSimulator().load(ur5e, cell=cell)

    def test_sensors_faster_than_the_physics(self) -> None:
        with pytest.raises(iparam.InputError, match="more than the physics rate, 240 Hz"):
            MujocoSimulator(physics_rate=240.0)

    @pytest.mark.parametrize(
        "settings", [{"physics_rate": 0.0}, {"settle_time": -1.0}, {"gravity": (0.0, 1.0)}, {"physics_rate": np.nan}]
    )
    def test_settings(self, settings: dict[str, object]) -> None:
        with pytest.raises(iparam.InputError):
            MujocoSimulator(**settings)  # type: ignore[arg-type]

    def test_a_base_called_world_is_no_problem(self, ur5e, box, at_rest) -> None:
        joints = tuple(dataclasses.replace(j, parent="world") if j.parent == "base" else j for j in ur5e.joints)
        robot = dataclasses.replace(ur5e, joints=joints, links=(iparam.Link("world"), *ur5e.links[1:]))
        result = MujocoSimulator().load(robot, box).run(at_rest())
        np.testing.assert_allclose(
            result.recording.signals["wrench"].values, true_wrench(robot, box, result), rtol=0, atol=1e-8
        )

    def test_massless_links_inside_the_arm_are_no_problem(self, ur5e, box, at_rest) -> None:
        robot = without_inertia(ur5e, ["wrist_1_link"], keep_mass=False)
        result = MujocoSimulator().load(robot, box).run(at_rest())
        np.testing.assert_allclose(
            result.recording.signals["wrench"].values, true_wrench(robot, box, result), rtol=0, atol=1e-8
        )


def without_inertia(robot: iparam.Robot, links: Sequence[str], keep_mass: bool) -> iparam.Robot:
    """The arm with links that are massless, or points on their joints' axes."""
    changed = []
    for link in robot.links:
        if link.name in links:
            body = iparam.InertialParameters(1.0, np.zeros(3), np.zeros((3, 3))) if keep_mass else None
            link = dataclasses.replace(link, inertial=body)
        changed.append(link)
    return dataclasses.replace(robot, links=tuple(changed))


@pytest.mark.parametrize("keep_mass", [False, True])
@pytest.mark.parametrize("number", [2, 6])
@pytest.mark.parametrize("loaded", [True, False])
def test_an_arm_whose_links_have_no_inertia_is_simulated_with_rotors(
    number: int, keep_mass: bool, loaded: bool, ur5e, box
) -> None:
    """Descriptions without inertia are common, and a plan for them passes `excite check`: the wrench needs none."""
    joints = ur5e.moving_joints[-number:]
    robot = without_inertia(ur5e, [*(joint.child for joint in joints), "tool0"], keep_mass)
    bent = np.radians([90.0, -90.0, 90.0, -90.0, 0.0, 90.0])  # two axes of the wrist are parallel
    coefficients = np.full((6, 1), 0.05)
    motion = WindowedFourierTrajectory(bent, coefficients, coefficients, base_freq=1.0, duration=1.0)
    payload = box if loaded else None
    result = MujocoSimulator().load(robot, payload, WorkCell(ground_height=None)).run(motion)
    (told,) = [str(one.values["links"]) for one in result.recording.remarks if one.code == "rotors-assumed"]
    lacking = joints if not loaded else joints[:-1]  # the last joint turns the payload
    assert all(joint.name in told and joint.child in told for joint in lacking)
    assert ("wrist_3_joint" in told) is not loaded
    assert np.abs(result.true_motion.q - motion.evaluate(result.true_motion.time).q).max() < 2e-3
    if loaded:
        np.testing.assert_allclose(
            result.recording.signals["wrench"].values, true_wrench(robot, box, result), rtol=0, atol=1e-8
        )


def test_an_arm_with_inertia_gets_no_rotors(ur5e) -> None:
    assert not assumed_rotors(ur5e).any()
    assert assumed_rotors(without_inertia(ur5e, ["wrist_3_link", "tool0"], False))[-1] > 0.0


def test_mujoco_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, iparam.simulation; sys.exit('mujoco' in sys.modules or 'trimesh' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_mujoco_leaves_no_log_in_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    mujoco = require_mujoco()
    body = '<body><joint name="j" type="hinge"/><geom size="0.1"/></body>'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody>{body}</worldbody><actuator><motor joint="j"/></actuator></mujoco>'
    )
    data = mujoco.MjData(model)
    data.ctrl[0] = np.nan
    mujoco.mj_step(model, data)
    assert data.warning[mujoco.mjtWarning.mjWARN_BADCTRL].number == 1
    assert list(tmp_path.iterdir()) == []


def test_without_mujoco_the_message_names_the_extra(ur5e, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(iparam.MissingExtraError, match=r"iparam\[mujoco\]"):
        MujocoSimulator().load(ur5e)


def test_a_motion_of_weeks_is_refused_before_memory_is_asked_for(ur5e, at_rest) -> None:
    scene = MujocoSimulator().load(ur5e)
    with pytest.raises(iparam.InputError, match=r"1e\+06 s are 2000000001 steps of the physics .*more than 50000000"):
        scene.run(at_rest(duration=1e6))


@pytest.mark.parametrize("inertia", ["0", "1e-8"])
def test_links_next_to_without_mass_that_line_up_are_named(inertia: str, tmp_path: Path) -> None:
    """A shoulder of three joints in one point, two of its links massless: with the middle joint at 90 deg, the outer
    two turn about one axis, and nothing has inertia against the one turning back as the other turns. Without any, they
    get rotors; what the file says is kept, however little it is.
    """
    light = (
        f'<inertial><mass value="{inertia}"/><inertia ixx="{inertia}" ixy="0" ixz="0" iyy="{inertia}" iyz="0" '
        f'izz="{inertia}"/></inertial>'
    )
    axes = {"yaw": "0 0 1", "roll": "1 0 0", "pitch": "0 1 0"}
    links = "".join(f'<link name="{name}">{light}</link>' for name in ("base", "l_yaw", "l_roll"))
    body = (
        '<link name="l_pitch"><inertial><origin xyz="0.02 0.01 -0.2"/><mass value="2"/>'
        '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.002"/></inertial></link>'
    )
    joints = "".join(
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="l_{name}"/><axis xyz="{axis}"/>'
        '<limit lower="-3" upper="3" velocity="9" effort="60"/></joint>'
        for (name, axis), parent in zip(axes.items(), ("base", "l_yaw", "l_roll"), strict=True)
    )
    path = tmp_path / "shoulder.urdf"
    path.write_text(f'<robot name="shoulder">{links}{body}{joints}</robot>')
    robot = iparam.load_robot(path)
    a = np.zeros((3, 2))
    a[1, 0] = 0.2  # about the pose in which yaw and pitch are one axis
    a[0, 1] = 0.5
    through = WindowedFourierTrajectory(np.array([0.0, 1.57, 0.2]), a, 0 * a, base_freq=0.5, duration=2.0)
    payload = Payload.box(mass=1.0, size=(0.05, 0.05, 0.05), offset=(0.05, 0.0, -0.4))
    scene = MujocoSimulator().load(robot, payload, WorkCell(ground_height=None))
    if inertia == "0":
        result = scene.run(through)
        assert result.recording.remarks[0].values["links"] == "yaw (l_yaw), roll (l_roll)"
        np.testing.assert_allclose(
            result.recording.signals["wrench"].values, true_wrench(robot, payload, result), rtol=0, atol=1e-8
        )
        return
    with pytest.raises(SimulationError, match=r"yaw and pitch|pitch and yaw") as caught:
        scene.run(through)
    assert "links between them have no mass" in str(caught.value)
    assert "torque limit" not in str(caught.value)
