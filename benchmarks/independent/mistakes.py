"""What goes wrong in laboratories, as changes of a recording: the same change of a noisy log and of an exact one.

No list of iparam's was looked at but for the words (`Mistake.causes`) that would be the right answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import uniform_filter1d
from scipy.signal import butter, sosfilt
from scipy.spatial.transform import Rotation

from independent.cases import CHANNELS, Case, Log, log_of
from independent.rigid_body import Motion, turned

Random = np.random.Generator


@dataclass(frozen=True, eq=False)
class Run:
    """A recording before it is written, and what is true of it: time (T,), q (T, n), wrench (T, 6)."""

    case: Case
    time: np.ndarray
    q: np.ndarray
    wrench: np.ndarray

    @property
    def motion(self) -> Motion:
        return self.case.rig.link_motion(self.case.deviations)

    def plus(self, force: np.ndarray, place: np.ndarray) -> Run:
        """With a force (T, 3) in base axes that the flange also holds, at a point (3,) of the flange."""
        own = turned(np.swapaxes(self.motion.axes, 1, 2), force)
        return replace(self, wrench=self.wrench + np.column_stack([own, np.cross(place, own)]))


Edit = Callable[[Run, Random], Run]


@dataclass(frozen=True)
class Mistake:
    """One kind: its slug, what may be named for it (slugs of causes, codes of remarks), and the change."""

    slug: str
    causes: tuple[str, ...]
    edit: Edit

    def run(self, case: Case, exact: bool = False) -> Run:
        """The recording with it; the exact one has no noise, and the same mistake."""
        random = np.random.default_rng([int(case.name[-3:]), 7])
        return self.edit(Run(case, case.stamps, *(case.exact if exact else case.recorded)), random)

    def log(self, case: Case) -> Log:
        """What is handed in; an orientation in place of angles where that is what the mistake is about."""
        run = self.run(case)
        if self.slug not in ORIENTATIONS:
            return log_of(case, run.time, run.q, run.wrench)
        w, *rest = np.roll(Rotation.from_matrix(run.motion.axes).as_quat(), 1, axis=1).T
        names, columns = ORIENTATIONS[self.slug], (w, *rest)
        values = dict(zip(CHANNELS, run.wrench.T, strict=True)) | {
            name: sign * column for (name, sign), column in zip(names, columns, strict=True)
        }
        return Log({"time": run.time, **values}, None, case.rig.arm.gravity)


ORIENTATIONS = {
    "orientation-inverted": (("qw", 1.0), ("qx", -1.0), ("qy", -1.0), ("qz", -1.0)),
    "orientation-reordered": (("qx", 1.0), ("qy", 1.0), ("qz", 1.0), ("qw", 1.0)),
}
"""Under which name, and with which sign, w, x, y and z of the sensor's orientation in the world are written."""


def _wrench(change: Callable[[np.ndarray, np.ndarray, Random], np.ndarray]) -> Edit:
    """A change of the wrench (T, 6), of which the times (T,) are told."""
    return lambda run, random: replace(run, wrench=change(run.time, run.wrench.copy(), random))


def _angles(change: Callable[[np.ndarray, np.ndarray, Random], np.ndarray]) -> Edit:
    return lambda run, random: replace(run, q=change(run.time, run.q.copy(), random))


def _turning(run: Run, random: Random) -> int:
    """A joint that turns, not the first."""
    return int(random.choice([i for i, kind in enumerate(run.case.rig.arm.kinds) if kind == "R" and i > 0]))


def _counted_on(run: Run, random: Random) -> Run:
    joint, q = _turning(run, random), run.q.copy()
    q[round(random.uniform(0.2, 0.8) * len(q)) :, joint] += 2.0 * np.pi
    return replace(run, q=q)


def _wrapped(run: Run, random: Random) -> Run:
    joint, q = _turning(run, random), run.q.copy()
    q[:, joint] += 2.0 * np.pi * (q[:, joint] < np.median(q[:, joint]))
    return replace(run, q=q)


def _in_degrees(run: Run, random: Random) -> Run:
    q, first = run.q.copy(), _turning(run, random)
    q[:, first:] = np.degrees(q[:, first:])
    return replace(run, q=q)


def _base_axes(parts: tuple[int, ...]) -> Edit:
    def edit(run: Run, random: Random) -> Run:
        wrench = run.wrench.copy()
        for start in parts:
            wrench[:, start : start + 3] = turned(run.motion.axes, wrench[:, start : start + 3])
        return replace(run, wrench=wrench)

    return edit


def _tcp_force(run: Run, random: Random) -> Run:
    """In base axes, what the payload setting weighs is taken out, and zeroed at the start."""
    gravity = np.array(run.case.rig.arm.gravity)
    m, mc = run.case.phi[0], run.case.phi[1:4]
    run = run.plus(np.broadcast_to(m * gravity, (len(run.time), 3)), mc / m)
    run = _base_axes((0, 3))(run, random)
    return replace(run, wrench=run.wrench - run.wrench[0])


def _tcp_reaction(run: Run, random: Random) -> Run:
    """In base axes, what the load exerts on the arm, about a TCP ahead of the flange."""
    wrench = -run.wrench
    wrench[:, 3:] -= np.cross([0.0, 0.0, random.uniform(0.1, 0.2)], wrench[:, :3])
    return _base_axes((0, 3))(replace(run, wrench=wrench), random)


def _mirrored(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    wrench[:, random.integers(6)] *= -1.0
    return wrench


def _exchanged(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    one, other = random.choice(3, 2, replace=False) + random.choice([0, 3])
    wrench[:, [one, other]] = wrench[:, [other, one]]
    return wrench


def _moving_base(run: Run, random: Random) -> Run:
    """The arm stands on a vehicle that rolls to and fro."""
    waves = 2.0 * np.pi * random.uniform(0.2, 0.9, 2)
    push = random.uniform(0.2, 0.6, 2) * np.sin(np.outer(run.time, waves) + random.uniform(0.0, 6.0, 2))
    m = run.case.phi[0]
    return run.plus(m * np.column_stack([push, np.zeros(len(push))]), run.case.phi[1:4] / m)


def _two_clocks(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    fast = 1.0 + random.choice([-1.0, 1.0]) * np.exp(random.uniform(np.log(0.003), np.log(0.03)))
    return np.column_stack([np.interp(time * fast, time, column) for column in wrench.T])


def _late_from_then_on(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    """A buffer fills up: from some moment on, the wrench comes late."""
    late = random.uniform(0.05, 0.2) * (time > random.uniform(0.3, 0.7) * time[-1])
    return np.column_stack([np.interp(time - late, time, column) for column in wrench.T])


def _missing_as_zeros(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    wrench[random.uniform(size=len(wrench)) < random.uniform(0.03, 0.15)] = 0.0
    return wrench


def _angle_as_zero(run: Run, random: Random) -> Run:
    joint, q = _turning(run, random), run.q.copy()
    q[random.uniform(size=len(q)) < random.uniform(0.005, 0.05), joint] = 0.0
    return replace(run, q=q)


def _joints_exchanged(run: Run, random: Random) -> Run:
    joint, q = _turning(run, random), run.q.copy()
    other = joint - 1 if joint > 1 else joint + 1
    q[:, [joint, other]] = q[:, [other, joint]]
    return replace(run, q=q)


def _joint_reversed(run: Run, random: Random) -> Run:
    joint, q = _turning(run, random), run.q.copy()
    q[:, joint] *= -1.0
    return replace(run, q=q)


def _turned_sensor(run: Run, random: Random) -> Run:
    R = Rotation.from_euler("z", random.choice([22.5, 30.0, 45.0, -45.0]), degrees=True).as_matrix()
    return replace(run, wrench=np.column_stack([run.wrench[:, :3] @ R, run.wrench[:, 3:] @ R]))


def _adapter(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    """The sensor sits on an adapter that nobody mentions."""
    wrench[:, 3:] -= np.cross([0.0, 0.0, random.uniform(0.03, 0.06)], wrench[:, :3])
    return wrench


def _without_slow_parts(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    """An amplifier that takes every slow part for drift."""
    sections = butter(1, random.uniform(0.02, 0.15), "highpass", fs=1.0 / (time[1] - time[0]), output="sos")
    return np.asarray(sosfilt(sections, wrench - wrench[0], axis=0))


def _set_points(run: Run, random: Random) -> Run:
    """The angles are the commanded ones, ahead of the arm."""
    ahead = random.uniform(0.02, 0.08)
    q = run.case.rig.path(run.time + ahead)[0]
    return replace(run, q=q)


def _dropped(run: Run, random: Random) -> Run:
    """A part of the load is put down halfway."""
    rest = random.uniform(0.4, 0.8)
    share = np.where(run.time < random.uniform(0.4, 0.6) * run.time[-1], 1.0, rest)[:, None]
    return replace(run, wrench=run.case.bias + share * (run.wrench - run.case.bias))


def _cable(run: Run, random: Random) -> Run:
    """A hose pulls the load towards a place above the base."""
    motion = run.motion
    way = np.array([*random.uniform(-0.3, 0.3, 2), 1.2]) - motion.place
    return run.plus(-random.uniform(2.0, 8.0) * way * run.case.phi[0] / 2.0, np.array([0.0, 0.0, 0.05]))


def _cut_off(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    channel = int(random.choice([0, 1, 3, 4]))
    middle, half = np.median(wrench[:, channel]), 0.5 * np.ptp(wrench[:, channel])
    wrench[:, channel] = np.clip(wrench[:, channel], None, middle + random.uniform(0.3, 0.6) * half)
    return wrench


def _rows_lost(run: Run, random: Random) -> Run:
    """Some rows of the wrench are lost, and it is put beside the angles by row numbers."""
    keep = np.ones(len(run.time), dtype=bool)
    for start in random.integers(0, len(keep), 4):
        keep[start : start + round(random.uniform(0.02, 0.05) * len(keep))] = False
    count = keep.sum()
    return replace(run, time=run.time[:count], q=run.q[:count], wrench=run.wrench[keep])


def _coarse_angles(time: np.ndarray, q: np.ndarray, random: Random) -> np.ndarray:
    step = np.radians(random.choice([0.1, 0.5, 1.0]))
    return np.asarray(step * np.round(q / step))


def _averaged(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    """Over the last tenths of a second, by the sensor's own display."""
    count = max(2, round(random.uniform(0.1, 0.3) / (time[1] - time[0])))
    return np.asarray(uniform_filter1d(wrench, count, axis=0, origin=(count - 1) // 2, mode="nearest"))


def _crosstalk(time: np.ndarray, wrench: np.ndarray, random: Random) -> np.ndarray:
    """The matrix of another sensor of the same kind."""
    mix = random.normal(0.0, 0.06, (6, 6)) * np.where(np.arange(6)[:, None] < 3, 1.0, 0.05)
    mix[:, 3:] *= 20.0
    return wrench @ (np.eye(6) + mix).T


def _not_upright(run: Run, random: Random) -> Run:
    """The arm is said to stand upright (or as its owner says), and is tilted by more than anybody would overlook."""
    turn = Rotation.from_rotvec(np.radians(random.uniform(5.0, 30.0)) * np.array([0.6, 0.8, 0.0])).as_matrix()
    gravity = np.array(run.case.rig.arm.gravity)
    force = np.broadcast_to(run.case.phi[0] * (gravity - turn @ gravity), (len(run.time), 3))
    return run.plus(force, run.case.phi[1:4] / run.case.phi[0])


_MIXED = ("mixed-frames", "base-axes", "wrench-frame")

MISTAKES = [
    Mistake("angle-counted-on", ("angle-jump", "angle-wrap", "turns-taken-out"), _counted_on),
    Mistake("angle-wrapped", ("angle-jump", "angle-wrap", "turns-taken-out"), _wrapped),
    Mistake(
        "degrees-in-some-joints",
        ("degrees", "angles", "angles-from-degrees", "some-angles-from-degrees", "angles-large"),
        _in_degrees,
    ),
    Mistake("forces-in-base-axes", _MIXED, _base_axes((0,))),
    Mistake("torques-in-base-axes", _MIXED, _base_axes((3,))),
    Mistake("tcp-force", ("tcp-force", "weight-compensated", "base-axes"), _tcp_force),
    Mistake("tcp-reaction", ("tcp-force", "base-axes", "wrench-sign"), _tcp_reaction),
    Mistake("channel-mirrored", ("channel-sign", "left-handed", "sensor-gain"), _wrench(_mirrored)),
    Mistake("channels-exchanged", ("channel-order", "axis-order", "left-handed"), _wrench(_exchanged)),
    Mistake("orientation-inverted", ("orientation-inverted", "orientation"), lambda run, random: run),
    Mistake("orientation-reordered", ("orientation-order", "orientation"), lambda run, random: run),
    Mistake("moving-base", ("moving-base",), _moving_base),
    Mistake("two-clocks", ("clock-rate", "two-clocks"), _wrench(_two_clocks)),
    Mistake("late-from-then-on", ("two-clocks", "delay", "delay-changes"), _wrench(_late_from_then_on)),
    Mistake("missing-as-zeros", ("signal-dropped-out", "outliers", "wrench-outliers"), _wrench(_missing_as_zeros)),
    Mistake("angle-as-zero", ("signal-dropped-out", "signal-incomplete", "rows-absurd"), _angle_as_zero),
    Mistake("joints-exchanged", ("joint-order",), _joints_exchanged),
    Mistake("joint-reversed", ("joint-sign", "joint-order"), _joint_reversed),
    Mistake("sensor-turned", ("sensor-rotation",), _turned_sensor),
    Mistake("sensor-on-adapter", ("sensor-offset",), _wrench(_adapter)),
    Mistake("slow-parts-lost", ("high-pass", "weight-compensated"), _wrench(_without_slow_parts)),
    Mistake("set-points", ("delay", "low-pass", "wrench-delayed"), _set_points),
    Mistake("part-put-down", ("load-changed",), _dropped),
    Mistake("cable", ("external-force", "cable"), _cable),
    Mistake("cut-off", ("channel-dead", "wrench-saturated"), _wrench(_cut_off)),
    Mistake("rows-lost", ("clock-rate", "two-clocks", "delay", "delay-changes"), _rows_lost),
    Mistake("coarse-angles", ("coarse-angles", "joints-repeat-angles"), _angles(_coarse_angles)),
    Mistake("averaged", ("low-pass", "delay", "wrench-low-passed", "wrench-delayed"), _wrench(_averaged)),
    Mistake("crosstalk", ("sensor-gain", "crosstalk"), _wrench(_crosstalk)),
    Mistake("not-upright", ("gravity-direction",), _not_upright),
]
