"""`TwinController`: the state of a UR controller around the simulated arm, and the fields that RTDE shows of it.

What the fields of a real e-Series controller mean, and the twin's too:

- ``actual_q``, ``actual_qd``: encoders. ``actual_TCP_pose`` (position and rotation vector) and ``actual_TCP_speed``
  [v, omega] follow from them, in base axes, for the TCP: the flange unless `set_tcp` says otherwise.
- ``ft_raw_wrench``: what acts ON the tool from outside, its load included, in the flange's axes about the flange's
  middle: force [N], then torque [N m]. A load at rest pulls by m g downward. iparam's own wrench has the other sign.
  Neither payload nor zeroing changes it.
- ``actual_TCP_force``: the same in BASE axes about the TCP, without the static weight of the load that the controller
  has been told of, and relative to the last zeroing. A load of which it knows nothing shows as -m g along base z.
  Setting a payload zeroes it as well, as the maker says: whatever the load then weighs, the reading is 0 in that pose,
  and stays 0 in others if the payload was right.
- ``actual_tool_accelerometer``: proper acceleration of the flange in its own axes [m/s^2]; at rest 9.81 upward.
- ``target_q``, ``target_qd``, ``target_qdd``: set points. ``target_moment``: torques of the controller's model of the
  arm and the told load along them [N m]. Currents are the motors' torques over a drive constant.
- ``timestamp``: of the controller's clock, 2 ms apart [s].
- ``payload_inertia``: [Ixx, Iyy, Izz, Ixy, Ixz, Iyz] about the centre of gravity, as `set_target_payload` takes them.

Temperatures, voltages and inputs are not modelled and stand still.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np
from doubles.ur_controller.arm import ArmSample, TwinArm
from doubles.ur_controller.kinematics import ToolState, TwinKinematics, cross, pose_matrix
from doubles.ur_controller.load import ForceReading, KnownLoad
from doubles.ur_controller.motion import PERIOD, MoveJ, Program, ProgramError, ServoJ, SetPoint
from doubles.ur_controller.protocol import INPUT_TYPES, OUTPUT_TYPES
from doubles.ur_controller.sensors import LiveSensors

from iparam.arrays import FloatArray
from iparam.bridges.ur.rtde.fields import RtdeType, Value
from iparam.bridges.ur.rtde.packets import ControllerVersion
from iparam.bridges.ur.rtde.simulated_time import RUN_UNTIL, SIMULATED_TIME
from iparam.errors import IparamError
from iparam.robot.catalog import DELIVERED, SafetyLimits, safety_limits
from iparam.sensing.noise import NoiseModel, SensorNoise
from iparam.simulation import Motors

VERSION: Final = ControllerVersion(5, 15, 0, 0)
DRIVE_GAINS: Final = np.array([11.9, 12.0, 9.8, 10.8, 10.7, 10.7])
"""Torque that an ampere makes, of ideal motors [N m/A]; of the order of an e-Series arm's."""

LARGEST_JUMP: Final = np.radians(5.0)
"""Of a servo target beyond what the joints could cover since the target before it [rad]."""

LARGEST_DEVIATION: Final = 0.1
"""Of a joint from its set point [rad]."""

STOP_DECELERATION: Final = 15.0
"""Of a protective stop and of a program that ends in motion [rad/s^2]."""

UNLOCK_DELAY: Final = 5.0
"""After which a protective stop can be unlocked [s]."""

SPEED_SLACK: Final = 1.02

_WIDTHS = {"q": 6, "dq": 6, "tau": 6, "wrench": 6, "accelerometer": 3}
_STILL: dict[str, Value] = {
    "actual_main_voltage": 48.0,
    "actual_robot_voltage": 48.0,
    "actual_joint_voltage": [48.0] * 6,
    "joint_temperatures": [25.0] * 6,
    "tool_temperature": 25.0,
    "speed_scaling": 1.0,
    "target_speed_fraction": 1.0,
    "robot_mode": 7,
    "joint_mode": [253] * 6,
}
_NOT_MODELLED = {
    "elbow_position",
    "elbow_velocity",
    "collision_detection_ratio",
    "joint_position_deviation_ratio",
    "actual_current_window",
    "time_scale_source",
}


class TwinController:
    """A controller with its arm; `tick` lets 2 ms pass.

    Args:
        arm: the arm.
        noise: of its sensors.
        seed: of the noise.
        notice: is told what a user of a real arm would find in the log.
        motors: of the arm, for its currents; None for ideal ones.
        simulated_time: whether it tells clients of its clock; see `iparam.bridges.ur.rtde.simulated_time`.
        safety: limits at which it stops the arm; as delivered if not given.

    Attributes:
        values: RTDE field -> value, inputs included; `tick` and whoever writes inputs change it in place.
        time: of the controller since its start [s].
        clock_error: what is added to ``timestamp`` [s].
        stop_reason: why there is a protective stop; "" if there is none.
        sample: the arm at the last tick, as the physics has it.
    """

    def __init__(
        self,
        arm: TwinArm,
        noise: NoiseModel,
        seed: int,
        notice: Callable[[str], None],
        motors: Motors | None = None,
        simulated_time: bool = True,
        safety: SafetyLimits | None = None,
    ) -> None:
        self.arm, self.notice = arm, notice
        self._safety = safety or safety_limits(arm.robot) or DELIVERED
        self._simulated_time = simulated_time
        self._gains = DRIVE_GAINS
        if motors is not None:
            self._gains = motors.drive_gains
            noisy = SensorNoise(white=tuple((motors.current_noise * motors.drive_gains).tolist()))
            noise = replace(noise, sensors={**noise.sensors, "tau": noisy})
        self.kinematics = TwinKinematics(arm.robot)
        self._sensors = LiveSensors(noise, _WIDTHS, seed, PERIOD)
        self._force = ForceReading()
        self._gravity = np.array(arm.gravity)
        self.tcp_offset, self._tcp = np.zeros(6), np.eye(4)
        self._wanted_for: tuple[object, object] = (None, None)
        self.ticks, self.clock_error = 0, 0.0
        self.stop_reason, self._stopped_at = "", 0.0
        self.program: Program | None = None
        self.written: dict[str, int] = {}
        self._servo_since = 0
        zeros = {name: 0 if kind.numbers == 1 else [0] * kind.numbers for name, kind in OUTPUT_TYPES.items()}
        self.values: dict[str, Value] = {k: v for k, v in zeros.items() if k not in _NOT_MODELLED} | _STILL
        if not simulated_time:
            del self.values[SIMULATED_TIME]
        self.sample = arm.advance()
        self._show(self.sample)

    @property
    def time(self) -> float:
        """Since the start [s]."""
        return self.ticks * PERIOD

    @property
    def load(self) -> KnownLoad:
        """What the controller was told of its load."""
        return self._force.load

    def input_type(self, name: str) -> RtdeType | None:
        """The type of an input that can be written; None if there is none of that name."""
        return INPUT_TYPES.get(name) if name != RUN_UNTIL or self._simulated_time else None

    def write_inputs(self, values: Mapping[str, Value]) -> None:
        """Take the inputs of a data package."""
        for name, value in values.items():
            self.values[name] = value
            self.written[name] = self.ticks

    def tick(self) -> None:
        """Let the program, then the arm, do 2 ms, and show the result."""
        self.ticks += 1
        if self.program is not None:
            try:
                next(self.program.steps)
            except StopIteration:
                self.stop_program("has ended")
            except IparamError as error:
                self.stop_program(f"was stopped: {error}")
        self.sample = self.arm.advance()
        self._watch(self.sample)
        self._show(self.sample)

    def start_program(self, program: Program) -> None:
        """Run a program, in the place of the one that runs."""
        if self.stop_reason:
            self.notice(f"program {program.name} not started: the arm is in a protective stop")
            return
        if self.program is not None:
            self.stop_program(f"makes way for {program.name}")
        self.program = program

    def stop_program(self, why: str) -> None:
        """End the program, if one runs, and bring the arm to rest."""
        if self.program is not None:
            self.notice(f"program {self.program.name} {why}")
            self.program = None
        if self.arm.moving:
            self.arm.brake(STOP_DECELERATION)

    def protective_stop(self, reason: str) -> None:
        """Stop the arm and the program until someone unlocks it."""
        if self.stop_reason:
            return
        self.notice(f"protective stop at {self.time:.3f} s: {reason}")
        self.stop_reason, self._stopped_at = reason, self.time
        self.stop_program("was stopped by the protective stop")

    def unlock(self) -> bool:
        """End a protective stop; False if it is too soon."""
        if self.stop_reason and self.time - self._stopped_at < UNLOCK_DELAY:
            return False
        self.stop_reason = ""
        return True

    def set_load(self, load: KnownLoad) -> None:
        """Tell the controller what it carries; zeroes the force reading, as on a real arm."""
        self._force.load = load
        self.arm.know_payload(load.parameters)
        self._force.zero()
        self.notice(f"payload set to {load.mass:g} kg at {list(load.cog)} m")

    def set_tcp(self, offset: FloatArray) -> None:
        """Where the TCP is: a UR pose (6,) in the flange's frame."""
        self.tcp_offset, self._tcp = offset, pose_matrix(offset)

    def zero_force(self) -> None:
        """Make the present TCP force 0."""
        self._force.zero()

    def servo(self, target: FloatArray, lookahead_time: float, gain: float) -> None:
        """Follow ``target`` (6,) [rad] as servoj does; a jump that no joint could follow is a protective stop."""
        arm, limits = self.arm, self.arm.robot.limits
        motion = arm.motion if isinstance(arm.motion, ServoJ) else None
        before, since = (motion.target, self._servo_since) if motion else (arm.goal.q, self.ticks)
        if motion is not None and (target == before).all():
            return
        reach = LARGEST_JUMP + limits.velocity * (self.ticks - since) * PERIOD
        jump = np.abs(target - before)
        if not (jump <= reach).all():
            joint = int(np.argmax(~(jump <= reach)))
            name = arm.robot.joint_names[joint]
            self.protective_stop(f"the target of {name} jumped by {np.degrees(jump[joint]):.3g} deg")
            return
        self._servo_since = self.ticks
        arm.motion = ServoJ(target, lookahead_time, gain)

    def joint_line(self, goal: FloatArray, speed: float, acceleration: float) -> MoveJ:
        """The straight line in joint space from the set point to joint angles (6,), no joint faster than it can."""
        if speed <= 0.0 or acceleration <= 0.0:
            raise ProgramError(f"movej at {speed:g} rad/s and {acceleration:g} rad/s^2: both must be positive")
        start, limits = self.arm.goal.q, self.arm.robot.limits
        if not ((goal >= limits.lower) & (goal <= limits.upper)).all():
            raise ProgramError(f"the joints cannot reach {np.round(goal, 3).tolist()}")
        way = np.abs(goal - start)
        if way.any():
            speed = min(speed, float((limits.velocity * way.max() / np.maximum(way, 1e-12)).min()))
        return MoveJ(start, goal, speed, acceleration)

    def _watch(self, sample: ArmSample) -> None:
        """What makes a real controller stop on its own."""
        if self.stop_reason:
            return
        names, limits, goal = self.arm.robot.joint_names, self.arm.robot.limits, self.arm.goal
        deviation, speed = np.abs(sample.q - sample.goal.q), np.abs(goal.dq)
        if sample.contact or not (deviation < LARGEST_DEVIATION).all():
            joint = int(np.argmax(~(deviation < LARGEST_DEVIATION)))
            self.arm.goal = SetPoint.at_rest(sample.q)
            self.protective_stop(
                f"collision of {sample.contact}" if sample.contact else f"{names[joint]} is off its path"
            )
        elif (speed > SPEED_SLACK * limits.velocity).any():
            joint = int(np.argmax(speed / limits.velocity))
            self.protective_stop(f"{names[joint]} would have to move at {speed[joint]:.3g} rad/s")
        elif not ((goal.q >= limits.lower) & (goal.q <= limits.upper)).all():
            joint = int(np.argmax((goal.q < limits.lower) | (goal.q > limits.upper)))
            self.protective_stop(f"{names[joint]} would leave its range")
        elif self.arm.moving:
            self._watch_safety(goal)

    def _watch_safety(self, goal: SetPoint) -> None:
        """The limits of the safety configuration."""
        safety = self._safety
        tool = self.kinematics.tool(goal.q, goal.dq, self._tcp)
        flange = tool.speed[:3] - cross(tool.speed[3:], tool.arm)
        for what, vector, limit, unit in (
            ("the TCP", tool.speed[:3], safety.tool_speed, "m/s"),
            ("the flange", flange, safety.tool_speed, "m/s"),
            ("the elbow", self.kinematics.elbow(goal.dq), safety.elbow_speed, "m/s"),
            ("the momentum", self._momentum(goal.dq, tool), safety.momentum, "kg m/s"),
        ):
            size = math.hypot(*vector.tolist())
            if limit is not None and size > limit:
                self.protective_stop(f"{what} would reach {size:.3g} {unit}; the safety limit is {limit:g} {unit}")
                return

    def _momentum(self, dq: FloatArray, tool: ToolState) -> FloatArray:
        """(3,) of the arm and the load that the controller knows of, where ``tool`` was computed [kg m/s]."""
        velocity = tool.speed[:3] + cross(tool.speed[3:], tool.turn @ np.array(self.load.cog) - tool.arm)
        return self.kinematics.momentum(dq) + self.load.mass * velocity

    def _show(self, sample: ArmSample) -> None:
        read, values = self._sensors.read, self.values
        q, dq = read("q", sample.q), read("dq", sample.dq)
        current = read("tau", sample.motor_torque) / self._gains
        if sample.goal is not self._wanted_for[0] or self._tcp is not self._wanted_for[1]:  # not of an arm that stands
            self._wanted = self.kinematics.tool(sample.goal.q, sample.goal.dq, self._tcp)
            self._wanted_for = sample.goal, self._tcp
        wanted = self._wanted
        tool = self.kinematics.tool(q, dq, self._tcp)
        self._force.update(read("wrench", sample.wrench), self._gravity @ tool.turn)
        force, torque = (tool.turn @ part for part in self._force.external.reshape(2, 3))
        wrench = np.concatenate((force, torque - cross(tool.arm, force)))
        load, goal = self.load, sample.goal
        momentum = self._momentum(dq, tool)
        vectors = {
            "target_q": goal.q,
            "target_qd": goal.dq,
            "target_qdd": goal.ddq,
            "target_moment": sample.planned_torque,
            "target_current": sample.planned_torque / self._gains,
            "joint_control_output": sample.motor_torque / self._gains,
            "target_TCP_pose": wanted.pose,
            "target_TCP_speed": wanted.speed,
            "actual_q": q,
            "actual_qd": dq,
            "actual_current": current,
            "actual_TCP_pose": tool.pose,
            "actual_TCP_speed": tool.speed,
            "actual_TCP_force": wrench,
            "ft_raw_wrench": self._force.raw,
            "actual_tool_accelerometer": read("accelerometer", sample.accelerometer),
            "tcp_offset": self.tcp_offset,
        }
        values.update({name: vector.tolist() for name, vector in vectors.items()})
        values["timestamp"] = self.time + self.clock_error
        if self._simulated_time:
            values[SIMULATED_TIME] = self.time
        values["tcp_force_scalar"] = math.hypot(*wrench[:3].tolist())
        values["actual_momentum"] = math.hypot(*momentum.tolist())
        values["actual_robot_current"] = float(np.abs(current).sum())
        values["payload"], values["payload_cog"], values["payload_inertia"] = load.mass, load.cog, load.inertia
        values["runtime_state"] = 1 if self.program is None else 2
        values["robot_status_bits"] = 1 if self.program is None else 3
        stopped = bool(self.stop_reason)
        values["safety_mode"] = values["safety_status"] = 3 if stopped else 1
        values["safety_status_bits"] = 0b100_0000_0100 if stopped else 1
