"""`pair_cases`: two mistakes at once, both drawn at random, of sizes that are drawn, too. Nothing need be named; but no
wrong load may be trusted, see `judgement.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from iparam.recording import Recording
from iparam.spatial.transforms import exp_so3, transform_from
from mistakes import log_edits as edit
from mistakes.corpus import Case, Log, Mistake
from mistakes.disturbances import bump, constant_force
from mistakes.workbench import ARMS, PAYLOADS, Workbench

Edit = Callable[[Recording, Workbench], Recording]
Drawn = tuple[str, dict[str, Any], Edit | None]
"""What it is, the changes of the scene, and the edit of its recording."""


def pair_cases(
    count: int, arms: Sequence[str] = ARMS, payloads: Sequence[str] = PAYLOADS, first: int = 0
) -> list[Case]:
    """So many pairs, from the seed ``first`` on, each on one of the workbenches."""
    return [_pair(seed, arms, payloads) for seed in range(first, first + count)]


def _pair(seed: int, arms: Sequence[str], payloads: Sequence[str]) -> Case:
    random = np.random.default_rng([seed, 23])
    bench = Workbench(str(random.choice(arms)), str(random.choice(payloads)), seed=40_000 + seed)
    kinds = [list(_KINDS)[k] for k in random.choice(len(_KINDS), 2, replace=False)]
    drawn = [_KINDS[kind](random) for kind in kinds]

    def make(of: Workbench) -> Log:
        changes: dict[str, Any] = {}
        for _, own, _ in drawn:
            for name, value in own.items():
                changes[name] = changes[name] @ value if name == "sensor_pose" and name in changes else value
        recording = of.measured(**changes)
        for _, _, change in drawn:
            recording = recording if change is None else change(recording, of)
        return Log(recording, of.robot, (of.load,))

    what = ", ".join(text for text, _, _ in drawn)
    return Case(Mistake(f"{seed}:{'+'.join(kinds)}", "middling", what, make), bench)


def _direction(random: np.random.Generator) -> np.ndarray:
    vector = random.normal(size=3)
    return np.asarray(vector / np.linalg.norm(vector))


def _between(random: np.random.Generator, low: float, high: float) -> float:
    """As many small as large ones: even in the logarithm."""
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def _turned(random: np.random.Generator) -> Drawn:
    degrees = _between(random, 2.0, 30.0)
    pose = transform_from(exp_so3(np.radians(degrees) * _direction(random)), np.zeros(3))
    return f"turned by {degrees:.1f} deg", {"sensor_pose": pose}, None


def _elsewhere(random: np.random.Generator) -> Drawn:
    place = _between(random, 0.008, 0.08)
    pose = transform_from(np.eye(3), place * _direction(random))
    return f"{1e3 * place:.0f} mm away", {"sensor_pose": pose}, None


def _tilted(random: np.random.Generator) -> Drawn:
    degrees, azimuth = _between(random, 2.0, 20.0), random.uniform(0.0, 2.0 * np.pi)
    turn = exp_so3(np.radians(degrees) * np.array([np.cos(azimuth), np.sin(azimuth), 0.0]))
    return f"tilted by {degrees:.1f} deg", {"gravity": tuple(turn @ [0.0, 0.0, -9.81])}, None


def _pulled(random: np.random.Generator) -> Drawn:
    force = _between(random, 1.0, 10.0)
    return f"pulled by {force:.1f} N", {"pull": constant_force(tuple(force * _direction(random)))}, None


def _touched(random: np.random.Generator) -> Drawn:
    force, start, lasts = _between(random, 5.0, 50.0), random.uniform(1.0, 8.0), random.uniform(0.2, 1.0)
    return f"{force:.0f} N for {lasts:.1f} s", {"pull": bump(start, lasts, tuple(force * _direction(random)))}, None


def _scaled(random: np.random.Generator) -> Drawn:
    channel, gain = int(random.integers(6)), 1.0 + _between(random, 0.03, 0.3) * random.choice([-1.0, 1.0])
    factors = np.where(np.arange(6) == channel, gain, 1.0)
    return f"channel {channel} times {gain:.2f}", {}, lambda recording, bench: edit.scaled(recording, factors)


def _mixed(random: np.random.Generator) -> Drawn:
    row, column = random.choice(6, 2, replace=False)
    share = _between(random, 0.03, 0.2) * (1.0 if (row < 3) == (column < 3) else 20.0 if row < 3 else 0.05)
    matrix = np.eye(6)
    matrix[row, column] = share
    return f"{share:.2g} of channel {column} in {row}", {}, lambda recording, bench: edit.scaled(recording, matrix)


def _late(random: np.random.Generator) -> Drawn:
    delay = _between(random, 0.003, 0.1)
    return f"{1e3 * delay:.0f} ms late", {}, lambda recording, bench: edit.delayed(recording, delay)


def _filtered(random: np.random.Generator) -> Drawn:
    cutoff, order = _between(random, 2.0, 20.0), int(random.integers(1, 3))
    return f"{cutoff:.1f} Hz low-pass", {}, lambda recording, bench: edit.low_passed(recording, cutoff, order)


def _held(random: np.random.Generator) -> Drawn:
    every = round(_between(random, 4.0, 100.0))
    return f"held for {every}", {}, lambda recording, bench: edit.held(recording, every)


def _offset(random: np.random.Generator) -> Drawn:
    degrees, back = _between(random, 1.0, 10.0), int(random.integers(1, 5))
    return (
        f"zero of joint -{back} off by {degrees:.1f} deg",
        {},
        lambda recording, bench: edit.offset_joint(recording, bench.robot.num_joints - back, degrees),
    )


def _fast(random: np.random.Generator) -> Drawn:
    factor = 1.0 + _between(random, 0.02, 0.2) * random.choice([-1.0, 1.0])
    return f"clock times {factor:.2f}", {}, lambda recording, bench: edit.other_clock(recording, factor)


def _drifting(random: np.random.Generator) -> Drawn:
    ends = _between(random, 0.7, 15.0) * random.uniform(-1.0, 1.0, 6) * np.array([1.0] * 3 + [0.05] * 3)

    def change(recording: Recording, bench: Workbench) -> Recording:
        time = recording.signal("wrench").time
        return edit.added(recording, (time / time[-1])[:, None] * ends)

    return f"drift of {np.abs(ends).max():.1f} N", {}, change


def _zeroed(random: np.random.Generator) -> Drawn:
    jump, at = (
        _between(random, 0.5, 20.0) * random.uniform(-1.0, 1.0, 6) * [1, 1, 1, 0.05, 0.05, 0.05],
        random.uniform(),
    )

    def change(recording: Recording, bench: Workbench) -> Recording:
        time = recording.signal("wrench").time
        return edit.added(recording, (time > (0.2 + 0.6 * at) * time[-1])[:, None] * jump)

    return f"zeroed again by {np.abs(jump).max():.1f} N", {}, change


def _cut(random: np.random.Generator) -> Drawn:
    share = random.uniform(0.4, 0.9)
    return f"cut at {share:.2f} of the largest", {}, lambda recording, bench: edit.saturated(recording, share)


def _spiked(random: np.random.Generator) -> Drawn:
    share, size = _between(random, 0.001, 0.03), _between(random, 5.0, 100.0)
    text = f"{100 * share:.1f} % of {size:.0f} N"
    return text, {}, lambda recording, bench: edit.spikes(recording, share, size, bench.random)


_KINDS: dict[str, Callable[[np.random.Generator], Drawn]] = {
    "turn": _turned,
    "place": _elsewhere,
    "tilt": _tilted,
    "pull": _pulled,
    "contact": _touched,
    "gain": _scaled,
    "crosstalk": _mixed,
    "delay": _late,
    "low-pass": _filtered,
    "held": _held,
    "zero": _offset,
    "clock": _fast,
    "drift": _drifting,
    "re-zeroed": _zeroed,
    "limit": _cut,
    "spikes": _spiked,
}
