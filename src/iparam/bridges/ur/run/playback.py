"""`play`: to the start of a motion and through it, under guard. Whatever ends it, the arm is stopped first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.arm_sight import ArmSight
from iparam.bridges.ur.record.recorder import ArmRecorder
from iparam.bridges.ur.rtde.simulated_time import LOST
from iparam.bridges.ur.run.command_client import ArmMotion
from iparam.bridges.ur.run.dead_mans_switch import DeadMansSwitch, now
from iparam.bridges.ur.run.run_guard import Expected, GuardLimits, OnLine, OnTable, RunGuard, RunStoppedError
from iparam.robot.catalog import DELIVERED
from iparam.robot.model import Robot
from iparam.trajectory import QuinticSpline, Trajectory

AT_START = 1e-3
"""Distance of a joint from the start pose up to which there is no way to go [rad]."""

ACCELERATION = 0.5
"""Of the fastest joint [rad/s^2]."""

# Of a quintic from rest to rest over a distance d in a time T: top speed by d / T, top acceleration by d / T^2.
_TOP_SPEED, _TOP_ACCELERATION = 1.875, 10.0 / 3.0**0.5


def approach_path(present: FloatArray, start: FloatArray, speed: float) -> QuinticSpline | None:
    """The way, or None if the arm is there already.

    It stands for moveJ in the checks: the same line, with the same top speed and acceleration, only with softer ends.

    Args:
        present: (6,) where the arm stands [rad].
        start: (6,) where it is to go [rad].
        speed: of the fastest joint [rad/s].
    """
    distance = float(np.abs(start - present).max())
    if distance <= AT_START:
        return None
    duration = max(_TOP_SPEED * distance / speed, float(np.sqrt(_TOP_ACCELERATION * distance / ACCELERATION)))
    return QuinticSpline(np.array([0.0, duration]), np.stack([present, start]))


APPROACH = "moving to the start"
"""The first stage of a run, before anything that counts is recorded."""

REST = 0.5
"""Time at rest before and after the motion [s]."""

HOLD = 0.4
"""Time for which the last set point is repeated, so that the arm catches up with it [s]."""

_ARRIVED_SPEED = 2e-3  # rad/s
_ARRIVED = 5 * AT_START
BRAKING = 1.5
"""Time for an arm to come to rest from 3 rad/s, at 2 rad/s^2, the least that a controller brakes with [s]."""

_LOOK = 0.004  # s between two looks
_LATE = 0.3  # s that samples may trail behind commands
_SIGNALS = 0.02  # s for the signals to arrive that waited while this program was stopped
_START_TIME = 5.0  # s for the first set point to be sent


class InterruptedRunError(RunStoppedError):
    """The user stopped the run."""


@dataclass(frozen=True, eq=False)
class RunPlan:
    """What an arm is to do.

    Attributes:
        robot: the arm.
        trajectory: from rest to rest.
        present: (6,) where the arm stood when the way to the start was checked [rad].
        approach_speed: of the fastest joint on the way to the start [rad/s].
        rate: cycles of the controller a second, with a set point each [Hz].
        limits: when to stop.
        fastest: top speed of the tool and of what it carries, on the way to the start and in the motion [m/s].
    """

    robot: Robot
    trajectory: Trajectory
    present: FloatArray
    approach_speed: float = 0.25
    rate: float = 500.0
    limits: GuardLimits = field(default_factory=GuardLimits)
    fastest: float = DELIVERED.tool_speed

    def set_points(self) -> FloatArray:
        """(T, 6) one a period [rad]; the last one is held for a while."""
        moving = self.trajectory.sample(self.rate).q
        end = self.trajectory.evaluate(self.trajectory.duration).q
        return np.concatenate([moving, np.repeat(end, round(HOLD * self.rate), axis=0)])


class Report(Protocol):
    """Tells the user what happens."""

    def __call__(self, stage: str, done: float) -> None:
        """A stage of the run, and how much of it is done, 0 to 1."""


def play(
    plan: RunPlan,
    recorder: ArmRecorder,
    motion: ArmMotion,
    interrupted: threading.Event,
    report: Report,
    enough: Callable[[], bool] = lambda: False,
) -> float:
    """Move the arm to the start, rest, play the motion, rest.

    Args:
        plan: what to do.
        recorder: running; the guard looks at its samples.
        motion: connected, with the plan's set points loaded.
        interrupted: set when the user wants to stop.
        report: is told what happens.
        enough: whether what has been recorded will do; the motion then ends where it is, and the caller has to close
            ``motion`` at once, which stops the arm.

    Returns:
        When the first rest began, on the recording's axis [s].

    Raises:
        RunStoppedError: the run was ended early; the caller has to close ``motion`` at once, which stops the arm.
    """
    table = plan.set_points()
    start, end = table[0], table[-1]
    motion.watch(plan.limits.silence)
    guard = RunGuard(plan.limits, plan.robot.joint_names)
    watch = _Watch(recorder, motion, guard, interrupted, DeadMansSwitch(plan.limits.silence, _time(recorder)))
    _approach(plan, watch, start, report)
    begun = watch.recorder.duration
    report("at rest at the start", 0.0)
    watch.rest(REST, OnLine(start, start))
    if _play_table(plan, watch, table, report, enough):
        report("at rest at the end", 1.0)
        watch.rest(REST, OnLine(end, end))
    return begun


def comes_to_rest(recorder: ArmRecorder, timeout: float) -> bool:
    """Whether the arm is seen to stand still within a time [s]: what was told to stop may go on."""
    arm, end = ArmSight(), time.monotonic() + timeout
    while not arm.at_rest(time.monotonic()):
        if time.monotonic() > end:
            return False
        sample = recorder.latest()
        if sample is not None:
            arm.see(sample.received, round(1e9 * sample.time), sample.q, sample.field("actual_qd"))
        time.sleep(_LOOK)
    return True


@dataclass(frozen=True)
class _Watch:
    """The guard with what it looks at."""

    recorder: ArmRecorder
    motion: ArmMotion
    guard: RunGuard
    interrupted: threading.Event
    looks: DeadMansSwitch

    @property
    def now(self) -> float:
        """The time that silences and rests count in [s]: this computer's, or simulated time where there is that."""
        return _time(self.recorder)

    def look(self, expected: Expected) -> None:
        """Check everything once, after a short wait, and prove to whoever commands the arm that it was done."""
        time.sleep(_LOOK)
        at, limit = self.now, self.guard.limits.silence
        held_up = self.looks.tripped(at)
        if self.interrupted.wait(_SIGNALS if held_up else 0.0):
            raise InterruptedRunError("stopped by the user")
        if held_up:
            raise RunStoppedError(
                f"nobody watched the arm for {self.looks.silence(at):.3g} s, as this program was held up: by a stop "
                f"(kill -STOP, a debugger), a computer that slept or one that is too busy. The limit is {limit:g} s, "
                "after which the controller ends the motion",
                argument="max_silence",
            )
        if self.recorder.failure is not None:
            raise RunStoppedError(str(self.recorder.failure))
        if self.recorder.spill_fault is not None:
            raise RunStoppedError(f"the recording can no longer be kept: {self.recorder.spill_fault}")
        self._check(expected)
        if self.motion.fault is not None:
            # Its process has stopped the arm. A protective stop may be the cause, and the samples that show it late.
            until = time.monotonic() + _LATE
            while time.monotonic() < until:
                time.sleep(_LOOK)
                self._check(expected)
            raise RunStoppedError(self.motion.fault)
        heard = at if self.motion.heard is None else self.motion.heard
        if at - heard > limit:
            raise RunStoppedError(
                f"the process that commands the arm has not reported for {1e3 * (at - heard):.0f} ms; the limit is "
                f"{1e3 * limit:.0f} ms",
                argument="max_silence",
            )
        self.looks.sign(at)
        # Simulated time waits until its reports have been heard, too.
        self.motion.beat(at if self.recorder.simulated_time is None else min(at, heard))

    def _check(self, expected: Expected) -> None:
        sample, silence = self.recorder.latest(), self.recorder.silence
        if self.recorder.simulated_time is not None and silence < LOST:
            silence = 0.0  # it waits for whoever is late
        if sample is not None:
            self.guard.check(sample, expected, silence, self.recorder.connected)

    def rest(self, seconds: float, expected: Expected) -> None:
        """Look for so long."""
        until = self.now + seconds
        while self.now < until:
            self.look(expected)


def _approach(plan: RunPlan, watch: _Watch, start: FloatArray, report: Report) -> None:
    present = plan.present
    line = OnLine(present, start)
    watch.look(line)  # it has not been moved since
    way = approach_path(present, start, plan.approach_speed)
    if way is None:
        return
    distance = float(np.abs(start - present).max())
    watch.motion.move(start, plan.approach_speed, ACCELERATION)
    latest = watch.now + 2.0 * way.duration + 10.0
    while True:
        watch.look(line)
        sample = watch.recorder.first_sample()
        distance_left = float(np.abs(sample.q - start).max())
        report(APPROACH, 1.0 - distance_left / distance)
        set_speed, speed = sample.field("target_qd"), sample.field("actual_qd")
        slowest = speed if set_speed is None else set_speed  # set points have no noise
        if distance_left < _ARRIVED and slowest is not None and float(np.abs(slowest).max()) < _ARRIVED_SPEED:
            return
        if watch.now > latest:
            raise RunStoppedError(f"the arm did not reach the start: {distance_left:.3g} rad are left")


def _play_table(plan: RunPlan, watch: _Watch, table: FloatArray, report: Report, enough: Callable[[], bool]) -> bool:
    """Whether it was played to its end."""
    motion, lag = watch.motion, round(plan.limits.lag * plan.rate)
    motion.servo()
    latest = watch.now + _START_TIME
    while not motion.played:
        if motion.progress is None:
            watch.look(OnLine(table[0], table[0]))
            if watch.now > latest:
                raise RunStoppedError("the controller did not take the first set point")
            continue
        index, reported = motion.progress
        # Since the report at most this many more have been sent; the arm may trail behind by the lag.
        ahead = max(round((watch.now - reported) * plan.rate), 0) + 1
        watch.look(OnTable(table, index - lag, index + ahead))
        report("playing the motion", min(1.0, index / len(table)))
        if enough():
            return False
    return True


def _time(recorder: ArmRecorder) -> float:
    simulated = recorder.simulated_time
    return now() if simulated is None else simulated
