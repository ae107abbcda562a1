"""What every simulator must do before anything else is built on it. A new backend subclasses `Conformance`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import iparam
from iparam.errors import ContradictionError
from iparam.motion import MotionEstimate
from iparam.robot.cell import WorkCell
from iparam.simulation import CollisionError, Payload, SensorRates, SimulationResult
from iparam.simulation.arm_simulator import ArmSimulator
from iparam.simulation.run_log import RunLog
from iparam.trajectory.trajectory import TrajectorySamples

DOWN = (0.0, -0.2, 0.9, -1.57, -1.57, 0.0)
HOME = (0.0, -1.57, 1.57, -1.57, -1.57, 0.0)
GRAVITY = 9.81
TETRAHEDRON = """
v 0 0 0
v 0.12 0 0
v 0 0.1 0
v 0.02 0.01 0.15
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""
PAYLOADS = {
    "cylinder": Payload.cylinder(radius=0.04, length=0.1, density=7850.0, rotation_rpy=(0.0, 1.0, 0.0)),
    "two stages": Payload.two_stage_cylinder(radius1=0.05, length1=0.04, radius2=0.02, length2=0.1, density=2700.0),
    "sphere": Payload.sphere(radius=0.05, mass=1.0, offset=(0.1, 0.0, 0.1)),
    "mesh": None,  # made from a file
    "nothing": None,
}


def by_hand(robot: iparam.Robot, payload: Payload, result: SimulationResult) -> np.ndarray:
    """(T, 6) what Newton and Euler say of the payload, from the simulator's own motion."""
    motion, body = result.true_motion, payload.parameters
    tool = iparam.tool_motion(robot, motion.q, motion.dq, motion.ddq)
    up = np.swapaxes(tool.pose[:, :3, :3], 1, 2) @ (0.0, 0.0, GRAVITY)
    w, alpha, c, inertia = tool.angular_velocity, tool.angular_acceleration, body.center_of_mass, body.inertia_about_com
    force = body.mass * (tool.linear_acceleration + up + np.cross(alpha, c) + np.cross(w, np.cross(w, c)))
    return np.hstack([force, alpha @ inertia + np.cross(w, w @ inertia) + np.cross(c, force)])


class Conformance:
    """Attributes that a subclass sets.

    Attributes:
        simulator: with its default settings.
        exact: what its sensors may be off by rounding, of wrenches of some 30 N and 10 N m, speeds and poses.
        exact_torque: the same of joint torques of some 50 N m.
        exact_state: the same of angles and speeds after a step.
    """

    simulator: ClassVar[ArmSimulator]
    exact: ClassVar[float]
    exact_torque: ClassVar[float]
    exact_state: ClassVar[float]

    @pytest.fixture(scope="class")
    @classmethod
    def moved(cls, ur5e, box, excitation) -> SimulationResult:
        """A second of motion, all sensors read at every step."""
        settings = replace(cls.simulator, rates=SensorRates.all_at(cls.simulator.physics_rate))
        return settings.load(ur5e, box).run(excitation(1.0, scale=0.05))

    def driven(self, motion: RunLog | MotionEstimate) -> np.ndarray:
        """(T, n) the velocities that the physics of the steps had: half a step behind those that are logged."""
        return motion.dq - 0.5 / self.simulator.physics_rate * motion.ddq

    def close(self, found: object, expected: object, exact: float | None = None) -> None:
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=self.exact if exact is None else exact)

    def test_the_sensor_carries_the_weight(self, ur5e, box, at_rest) -> None:
        for gravity in ((0.0, 0.0, -GRAVITY), (-GRAVITY, 0.0, 0.0)):
            result = replace(self.simulator, gravity=gravity).load(ur5e, box).run(at_rest())
            in_base = result.true_tool_pose[-1, :3, :3] @ result.recording.signals["wrench"].values[-1, :3]
            self.close(in_base, -box.parameters.mass * np.array(gravity))

    def test_a_free_swing_obeys_newton_and_euler(self, ur5e, box) -> None:
        """Without motors: no torque is left over, and a fine integration of our own ends at the same place."""
        scene = replace(self.simulator, settle_time=0.0).load(ur5e, box)
        step, steps, still = 1.0 / self.simulator.physics_rate, round(0.12 * self.simulator.physics_rate), np.zeros(6)
        physics = scene.physics(steps)
        physics.place(np.array(HOME))
        fixed = np.tile(HOME, (steps, 1))
        goal = TrajectorySamples(step * np.arange(steps), fixed, 0.0 * fixed, 0.0 * fixed, 0.0 * fixed)
        physics.follow(goal, np.zeros((1, steps, 6)), np.zeros((1, steps, 6, 6)), np.ones(steps, dtype=bool))
        log, loaded = physics.logs[0], ur5e.with_payload(box.parameters)
        self.close(iparam.inverse_dynamics(loaded, log.q, self.driven(log), log.ddq), 0.0, self.exact_torque)

        def falls(q: np.ndarray, dq: np.ndarray) -> np.ndarray:
            return np.linalg.solve(iparam.mass_matrix(loaded, q), -iparam.inverse_dynamics(loaded, q, dq, still))

        q, dq, h = np.array(HOME), still, step * (steps - 1) / 200
        for _ in range(200):  # the midpoint rule
            a = falls(q, dq)
            half_q, half_dq = q + 0.5 * h * dq, dq + 0.5 * h * a
            q, dq = q + h * half_dq, dq + h * falls(half_q, half_dq)
        assert np.abs(q - HOME).max() > 0.1
        np.testing.assert_allclose(log.q[-1], q, rtol=0.0, atol=step * np.abs(dq).max())  # Euler: of the first order

    def test_impulse_is_the_change_of_momentum(self, ur5e, box, moved) -> None:
        """From poses and speeds alone, without the simulator's accelerations."""
        motion, body, pose = moved.true_motion, box.parameters, moved.true_tool_pose
        tool = iparam.tool_motion(ur5e, motion.q, motion.dq, motion.ddq)
        turn, w = pose[:, :3, :3], tool.angular_velocity
        speed = np.einsum("tij,tj->ti", turn, tool.linear_velocity + np.cross(w, body.center_of_mass))
        spin = np.einsum("tij,tj->ti", turn, w @ body.inertia_about_com)
        center = pose[:, :3, 3] + turn @ body.center_of_mass
        wrench = moved.recording.signals["wrench"].values
        force, torque = (np.einsum("tij,tj->ti", turn, part) for part in (wrench[:, :3], wrench[:, 3:]))
        torque = torque + np.cross(pose[:, :3, 3] - center, force)  # about the centre of mass
        step = 1.0 / self.simulator.physics_rate
        weight = np.array([0.0, 0.0, -GRAVITY * body.mass])
        for rate, momentum in ((force + weight, body.mass * speed), (torque, spin)):
            impulse = step * np.cumsum(rate, axis=0)
            change = momentum[1:] - momentum[0]
            scale = np.abs(change).max()
            # A force of a step lasts until the next one: an error of the first order in the step.
            np.testing.assert_allclose(impulse[:-1], change, rtol=0.0, atol=10.0 * step * scale)

    def test_the_wrench_is_that_of_the_regressor_and_of_newton_and_euler_by_hand(self, ur5e, box, moved) -> None:
        motion, measured = moved.true_motion, moved.recording.signals["wrench"].values
        regressor = iparam.wrench_regressor(ur5e, motion.q, motion.dq, motion.ddq)
        self.close(measured, regressor @ box.parameters.phi)
        self.close(measured, by_hand(ur5e, box, moved))

    def test_pose_accelerometer_and_gyro(self, ur5e, moved) -> None:
        motion, signals = moved.true_motion, moved.recording.signals
        tool = iparam.tool_motion(ur5e, motion.q, motion.dq, motion.ddq)
        up = np.swapaxes(tool.pose[:, :3, :3], 1, 2) @ (0.0, 0.0, GRAVITY)
        self.close(moved.true_tool_pose, tool.pose)
        self.close(signals["gyro"].values, tool.angular_velocity)
        self.close(signals["accelerometer"].values, tool.linear_acceleration + up)

    def test_the_kinematics_of_the_document(self, ur5e, moved) -> None:
        """Position within 1e-4 m, orientation within 1e-4 rad."""
        pose = iparam.forward_kinematics(ur5e, moved.recording.signals["q"].values)
        off = np.swapaxes(moved.true_tool_pose[:, :3, :3], 1, 2) @ pose[:, :3, :3]
        angle = 0.5 * np.linalg.norm(off - np.swapaxes(off, 1, 2), axis=(1, 2)) / np.sqrt(2.0)
        assert np.abs(moved.true_tool_pose[:, :3, 3] - pose[:, :3, 3]).max() < 1e-4
        assert angle.max() < 1e-4

    def test_motor_torques_are_those_of_the_loaded_arm(self, ur5e, box, moved) -> None:
        motion = moved.true_motion
        torques = iparam.inverse_dynamics(ur5e.with_payload(box.parameters), motion.q, self.driven(motion), motion.ddq)
        self.close(moved.recording.signals["tau"].values, torques, self.exact_torque)

    def test_everything_belongs_to_one_instant(self, ur5e, box, moved) -> None:
        """Sensors of the step before or after would be off by more than rounding; and a step is semi-implicit Euler,
        which moves the arm by the velocity of half a step later.
        """
        motion, step = moved.true_motion, 1.0 / self.simulator.physics_rate
        np.testing.assert_allclose(np.diff(motion.time), step, rtol=1e-9)
        later = self.driven(motion) + step * motion.ddq
        self.close(later[1:], later[:-1] + step * motion.ddq[1:], self.exact_state)
        self.close(motion.q[1:], motion.q[:-1] + step * later[:-1], self.exact_state)
        expected, measured = by_hand(ur5e, box, moved), moved.recording.signals["wrench"].values
        now = np.abs(measured[1:-1] - expected[1:-1]).max()
        for other in (expected[2:], expected[:-2]):
            assert np.abs(measured[1:-1] - other).max() > 20.0 * now

    @pytest.mark.parametrize("name", PAYLOADS)
    def test_payloads(self, ur5e, excitation, tmp_path: Path, name: str) -> None:
        payload = PAYLOADS[name]
        if name == "mesh":
            (tmp_path / "part.obj").write_text(TETRAHEDRON, encoding="utf-8")
            payload = Payload.mesh(tmp_path / "part.obj", density=2700.0, offset=(0.01, 0.02, 0.0))
        result = self.simulator.load(ur5e, payload).run(excitation(0.1, scale=0.005))
        expected = by_hand(ur5e, payload, result) if payload is not None else 0.0
        self.close(result.recording.signals["wrench"].values, expected)

    def test_a_sensor_elsewhere_reads_the_same_wrench_about_another_point(self, ur5e, box, at_rest) -> None:
        offset = np.eye(4)
        offset[:3, :3] = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
        offset[:3, 3] = 0.03, -0.02, 0.05
        there = Payload.from_parameters(box.parameters.transformed(np.linalg.inv(offset)))
        (here, moved) = (
            self.simulator.load(robot, payload).run(at_rest()).recording.signals["wrench"].values[-1]
            for robot, payload in ((ur5e, box), (ur5e.with_tool(offset), there))
        )
        force = offset[:3, :3] @ moved[:3]
        self.close(force, here[:3])
        self.close(offset[:3, :3] @ moved[3:] + np.cross(offset[:3, 3], force), here[3:])

    def test_the_ground_is_not_hit(self, ur5e, box, there_and_back, at_rest) -> None:
        with pytest.raises(CollisionError, match="ground"):
            self.simulator.load(ur5e, box).run(there_and_back(HOME, DOWN))
        with pytest.raises(CollisionError, match="in the start pose"):
            self.simulator.load(ur5e, box).run(at_rest(DOWN))
        self.simulator.load(ur5e, box, WorkCell(ground_height=None)).run(at_rest(DOWN))

    def test_runs_repeat_bit_for_bit(self, ur5e, box, excitation) -> None:
        scene = self.simulator.load(ur5e, box)
        first, second = (scene.run(excitation(0.1, scale=0.005)).recording for _ in range(2))
        for name, signal in first.signals.items():
            np.testing.assert_array_equal(signal.values, second.signals[name].values)

    def test_what_is_measured_says_nothing_of_the_payload(self, ur5e, box, at_rest) -> None:
        one, other = (self.simulator.load(ur5e, load).run(at_rest()).recording for load in (box, PAYLOADS["sphere"]))
        assert dict(one.metadata) == dict(other.metadata)

    def test_what_cannot_be_loaded_or_followed(self, ur5e, box, at_rest) -> None:
        with pytest.raises(iparam.InputError, match="planned for another arm"):
            self.simulator.load(ur5e).run(at_rest(np.zeros(7)))
        with pytest.raises(iparam.InputError, match="clearance"):
            self.simulator.load(ur5e, box, clearance=-0.1)
        with pytest.raises(ContradictionError):
            self.simulator.load(ur5e, Payload.box(mass=1.0, size=(100.0, 100.0, 100.0)))
