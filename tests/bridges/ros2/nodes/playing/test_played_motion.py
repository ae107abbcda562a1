"""When a motion is over: never while an arm plays it, whenever it is asked to stop; always when the arm stands."""

from __future__ import annotations

import dataclasses
from pathlib import Path as FilePath

import numpy as np
import pytest

import iparam
from iparam.bridges.arm_sight import FRESH, ArmSight
from iparam.bridges.ros2.nodes.playing.played_motion import CONFIRM_TIME, Path, Phase, PlayedMotion

GOOD = FilePath(__file__).resolve().parents[4] / "data" / "optimized_ur5e.json"
LEAD, STOP_TIME, TOLERANCE = 0.5, 0.25, 0.02
SPEEDS = (1.0, 0.2, 0.05)


@dataclasses.dataclass
class Controller:
    """What a controller says."""

    name: str = "a controller"
    reports: bool = True
    begun: float | None = 0.0
    ended: str | None = None
    refused: bool = False
    alive: bool = True
    refuses: bool = False

    def stop(self) -> None:
        self.refused = self.refuses


def path(scale: float) -> Path:
    points = iparam.load_trajectory(GOOD).trajectory.sample(100.0)
    q = points.q[0] + scale * (points.q - points.q[0])
    time = np.concatenate([[0.0], LEAD + points.time])
    return Path(time, np.concatenate([q[:1], q]), np.concatenate([points.dq[:1], scale * points.dq]))


class Run:
    """A motion that is looked at 10 times a second, with joint states 100 times a second."""

    def __init__(self, motion: Path, controller: Controller, velocities: bool = True) -> None:
        self.motion, self.controller, self.velocities = motion, controller, velocities
        self.played = PlayedMotion("playing", controller, motion, TOLERANCE, STOP_TIME, 0.0)
        self.arm = ArmSight()
        times = np.arange(0.0, 20.0, 0.01) - 0.05  # a little late, and beside the motion
        self.q = np.stack([np.interp(times, motion.time, joint) for joint in motion.q.T], axis=1) + TOLERANCE / 2
        self.dq = np.gradient(self.q, 0.01, axis=0)

    def hold(self, time: float) -> None:
        """From now on the arm stands."""
        self.q[round(100 * time) :] = self.q[round(100 * time)]
        self.dq[round(100 * time) :] = 0.0

    def until(self, begin: float, end: float) -> float:
        """Look on until the motion is over: when that was."""
        for tick in range(round(100 * begin), round(100 * end)):
            time = 0.01 * tick
            self.arm.see(time, tick + 1, self.q[tick], self.dq[tick] if self.velocities else None)
            if tick % 10 == 0:
                self.played.look(time, self.arm)
            if self.played.over:
                return time
        return end


@pytest.mark.parametrize("scale", SPEEDS)
@pytest.mark.parametrize("velocities", [True, False])
@pytest.mark.parametrize("kind", ["deaf", "refusing", "topic"])
def test_no_stop_is_confirmed_while_the_arm_goes_on(scale: float, velocities: bool, kind: str) -> None:
    """Of whatever speed, whenever it is asked: at the start and the end, where it hardly moves, and where it turns."""
    motion = path(scale)
    for asked in np.arange(0.0, 10.0, 0.7):
        run = Run(motion, Controller(reports=kind != "topic", refuses=kind == "refusing"), velocities)
        run.until(0.0, asked)
        run.played.stop(asked)
        end = run.until(asked, asked + 4.0)
        assert run.played.phase is (Phase.UNKNOWN if end < motion.time[-1] else Phase.STOPPED)


@pytest.mark.parametrize("scale", SPEEDS)
@pytest.mark.parametrize("reports", [True, False])
def test_an_arm_that_stands_still_is_stopped_in_time(scale: float, reports: bool) -> None:
    """Also if the controller says nothing."""
    motion = path(scale)
    for asked in np.arange(0.0, 10.0, 0.7):
        run = Run(motion, Controller(reports=reports))
        run.until(0.0, asked)
        run.played.stop(asked)
        run.hold(asked + 0.1)
        run.until(asked, asked + STOP_TIME + CONFIRM_TIME)
        assert run.played.phase is Phase.STOPPED


def test_a_controller_is_believed_only_where_the_arm_is_not_seen_to_move() -> None:
    run = Run(path(1.0), Controller())
    run.until(0.0, 4.0)
    run.played.stop(4.0)
    run.controller.ended = "cancelled"
    run.until(4.0, 8.0)
    assert run.played.phase is Phase.UNKNOWN
    run.played.look(8.0 + FRESH, run.arm)  # joint states have ceased
    assert run.played.phase is Phase.STOPPED


def test_a_goal_that_nobody_has_taken_may_begin_at_any_moment() -> None:
    run = Run(path(1.0), Controller(begun=None))
    run.hold(0.0)
    run.until(0.0, 1.0)
    run.played.stop(1.0)
    run.until(1.0, 9.0)
    assert run.played.phase is Phase.UNKNOWN
    run.until(9.0, 11.0)
    assert run.played.phase is Phase.STOPPED


def test_a_controller_that_is_gone() -> None:
    run = Run(path(1.0), Controller())
    run.until(0.0, 4.0)
    run.controller.alive = False
    run.until(4.0, 5.0)
    assert run.played.phase is Phase.UNKNOWN
    run.hold(5.0)
    run.until(5.0, 6.0)
    assert run.played.phase is Phase.ABORTED


@pytest.mark.parametrize(("ended", "phase"), [("", Phase.FINISHED), ("a joint left the path", Phase.ABORTED)])
def test_the_end_of_a_motion_is_believed_when_the_arm_stands_still(ended: str, phase: Phase) -> None:
    run = Run(path(1.0), Controller())
    run.until(0.0, 4.0)
    run.controller.ended = ended
    run.until(4.0, 5.0)
    assert run.played.phase is Phase.MOVING
    run.until(5.0, 8.0)
    assert run.played.phase is Phase.UNKNOWN
    run.hold(8.0)
    run.until(8.0, 9.0)
    assert run.played.phase is phase


def test_a_controller_that_is_back_with_the_arm_at_rest() -> None:
    run = Run(path(1.0), Controller())
    run.until(0.0, 4.0)
    run.controller.alive = False
    run.until(4.0, 5.0)
    run.controller.alive = True
    run.until(5.0, 6.0)
    assert run.played.phase is Phase.UNKNOWN
    run.hold(6.0)
    run.until(6.0, 7.0)
    assert run.played.phase is Phase.ABORTED


def test_asking_again_does_not_put_the_answer_off() -> None:
    run = Run(path(1.0), Controller())
    run.until(0.0, 3.0)
    for asked in np.arange(3.0, 7.0, 0.5):
        if run.played.phase is Phase.UNKNOWN:
            return
        run.played.stop(asked)
        run.until(asked, asked + 0.5)
    pytest.fail("no answer")


def test_an_arm_that_is_paused_is_not_at_the_end_of_its_motion() -> None:
    run = Run(path(1.0), Controller(reports=False))
    run.hold(4.0)
    run.until(0.0, 9.0)
    assert run.played.phase is Phase.MOVING
