"""What the identification node publishes and saves of a setup that is wrong: a sensor's frame, sign or clock, gravity,
joints, noise and drift that are not as stated; and of one that is right.

An arm rests for a second and then moves for 11 s with a load of 0.3 to 3 kg, 500 Hz (or as the row says), noise and
bias of the preset ``ur5e``; another load, motion and arm for every seed. Everything that the node would publish, 50
times a second, is compared with the truth, and so is what ``~/save`` would write at the end.

    python benchmarks/bench_online_mistakes.py [--seeds 6]
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import Any

import numpy as np
from side_by_side import in_workers, print_table

import iparam
from iparam.bridges.ros2.nodes.live_identification import LiveIdentification, LiveSettings
from iparam.estimation import OnlineSettings
from iparam.estimation.assessment.verdict import verdict_on
from iparam.sensing import noise_preset
from iparam.spatial import InertialParameters
from iparam.spatial.transforms import exp_so3

SENSORS = noise_preset("ur5e").sensors
ARMS = ("ur5e", "ur10e", "ur3e")
FIRST_SEED = 1000
FAR = 4.0
MISTAKES: dict[str, dict[str, Any]] = {
    "none": {},
    "none, 125 Hz": {"rate": 125.0},
    "none, sensor zeroed": {"bias": "none"},
    "none, another load from 6 s on": {"grasp": 6.0},
    "turned by 5 deg about any axis": {"turn": 5.0},
    "turned by 20 deg": {"turn": 20.0},
    "turned by 45 deg": {"turn": 45.0},
    "turned by 90 deg": {"turn": 90.0},
    "turned by 180 deg": {"turn": 180.0},
    "turned by 45 deg, sensor zeroed": {"turn": 45.0, "bias": "none"},
    "wrong sign": {"sign": -1.0},
    "gravity tilted by 30 deg": {"tilt": 30.0},
    "gravity upside down": {"tilt": 180.0},
    "two joints exchanged": {"swap": True},
    "a joint counted the other way": {"reversed": True},
    "wrench 10 ms late": {"delay": 0.010},
    "wrench 30 ms late": {"delay": 0.030},
    "wrench 60 ms late": {"delay": 0.060},
    "wrench 100 ms late": {"delay": 0.100},
    "wrench 30 ms early": {"delay": -0.030},
    "wrench 30 ms late, another load from 6 s on": {"delay": 0.030, "grasp": 6.0},
    "noise 6 times as stated": {"noise": 6.0},
    "bias drifts by 0.05 N/s": {"drift": 0.05},
}


def motion_of(random: np.random.Generator, joints: int, time: np.ndarray) -> tuple[np.ndarray, ...]:
    """At rest for a second, then all joints along three sines that fade in over half a second."""
    since = np.clip(time - 1.0, 0.0, None)[:, None]
    q = np.tile(random.uniform(-1.0, 1.0, joints), (len(time), 1))
    fade = np.clip(since / 0.5, 0.0, 1.0)
    fade = fade**3 * (10.0 - 15.0 * fade + 6.0 * fade**2)
    base = 2.0 * np.pi * random.uniform(0.1, 0.3)
    for k in (1, 2, 3):
        size, phase = random.uniform(-0.5, 0.5, joints) / k, random.uniform(0.0, 2.0 * np.pi, joints)
        q = q + fade * size * (np.sin(k * base * since + phase) - np.sin(phase))
    step = time[1] - time[0]
    dq = np.gradient(q, step, axis=0)
    return q, dq, np.gradient(dq, step, axis=0)


def load_of(random: np.random.Generator, mass: float) -> InertialParameters:
    body = InertialParameters.box(mass, tuple(random.uniform(0.05, 0.25, 3)))
    return InertialParameters(mass, random.uniform([-0.05, -0.05, 0.02], [0.05, 0.05, 0.15]), body.inertia_about_com)


def derived(phi: np.ndarray) -> np.ndarray:
    body = InertialParameters.from_phi(phi)
    return np.array([body.mass, *body.center_of_mass, *body.inertia_about_com[np.triu_indices(3)]])


def run(name: str, seed: int) -> dict[str, float]:
    wrong, random = MISTAKES[name], np.random.default_rng(seed)
    robot = iparam.load_robot(ARMS[seed % len(ARMS)])
    time = np.arange(0.0, 12.0, 1.0 / wrong.get("rate", 500.0))
    q, dq, ddq = motion_of(random, robot.num_joints, time)
    first = load_of(random, random.uniform(0.3, 3.0)).phi
    second = first + load_of(random, random.uniform(0.3, 2.0)).phi
    axis = random.standard_normal(3)
    held = np.where(time[:, None] < wrong.get("grasp", np.inf), first, second)
    wrench = np.einsum("nij,nj->ni", iparam.wrench_regressor(robot, q, dq, ddq), held)
    delay = wrong.get("delay", 0.0)
    wrench = np.column_stack([np.interp(time - delay, time, column) for column in wrench.T])
    turn = exp_so3(np.radians(wrong.get("turn", 0.0)) * axis / np.linalg.norm(axis))
    wrench = wrong.get("sign", 1.0) * np.concatenate([wrench[:, :3] @ turn.T, wrench[:, 3:] @ turn.T], axis=1)
    bias = wrong.get("bias", "estimate")
    if bias == "estimate":
        wrench = wrench + random.uniform(-1.0, 1.0, 6) * np.asarray(SENSORS["wrench"].bias_range)
    wrench = wrench + np.outer(time, wrong.get("drift", 0.0) * random.uniform(-1.0, 1.0, 6) * np.repeat([1.0, 0.1], 3))
    wrench += wrong.get("noise", 1.0) * np.asarray(SENSORS["wrench"].white) * random.standard_normal(wrench.shape)
    angles = q + SENSORS["q"].white * random.standard_normal(q.shape)
    if wrong.get("swap"):
        angles = angles[:, [0, 1, 2, 4, 3, 5]]
    if wrong.get("reversed"):
        angles[:, 3] *= -1.0
    tilt = np.radians(wrong.get("tilt", 0.0))
    gravity = (0.0, 9.81 * np.sin(tilt), -9.81 * np.cos(tilt))
    live = LiveIdentification(robot, LiveSettings(OnlineSettings(bias=bias, gravity=gravity)))
    due, published, far, events = 0.0, 0, 0, 0
    for k, at in enumerate(time):
        stamp = 1_000_000_000 + round(1e9 * at)
        live.matcher.joints.add(stamp, angles[k], None)
        live.matcher.wrenches.add(stamp, wrench[k])
        for done in live.process():
            events += done.change is not None and done.change.kind == "changed"
            if at < due:
                continue
            due = at + 0.02
            found = live.publishable(done)
            if found is None:
                continue
            # Of the load that was there while the filter and the delay pass, either may be meant.
            truths = [derived(held[max(k - back, 0)]) for back in (0, round((0.06 + max(delay, 0.0)) / time[1]))]
            values, deviations = found.derived
            off = min(np.nanmax(np.abs(values - truth) / deviations) for truth in truths)
            published, far = published + 1, far + (off > FAR)
    saved = live.result()
    word, wrongly, mass = "-", 0.0, np.nan
    if saved is not None:
        word = verdict_on(saved).word
        spread = saved.standard_deviation
        deviations = np.array([spread.mass, *spread.center_of_mass, *spread.inertia_about_com[np.triu_indices(3)]])
        values = np.array([saved.mass, *saved.center_of_mass, *saved.inertia_about_com[np.triu_indices(3)]])
        off = np.nanmax(np.abs(values - derived(held[-1])) / deviations)
        wrongly, mass = float(word != "refuted" and off > FAR), 100.0 * abs(saved.mass / held[-1, 0] - 1.0)
    return {
        "published": published / (50.0 * 12.0),
        "far": far,
        "events": events,
        "refuted": float(word == "refuted"),
        "wrongly": wrongly,
        "mass": mass if word != "refuted" else np.nan,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    rows = []
    for name in MISTAKES:
        if arguments.only not in name:
            continue
        runs = list(in_workers(partial(run, name), range(FIRST_SEED, FIRST_SEED + arguments.seeds)))
        found = {key: np.array([one[key] for one in runs]) for key in runs[0]}
        off = found["mass"][np.isfinite(found["mass"])]
        rows.append(
            [
                name,
                f"{100.0 * found['published'].mean():.0f} %",
                f"{int(found['far'].sum())}",
                f"{int(found['events'].sum())}",
                f"{int(found['refuted'].sum())} of {arguments.seeds}",
                f"{int(found['wrongly'].sum())}",
                f"{off.max():.2f}" if off.size else "-",
            ]
        )
        print(*rows[-1], sep="  ", file=sys.stderr, flush=True)
    header = [
        "mistake",
        "time with a load published",
        "of these beyond 4 sd in any of ten",
        "changes of load announced",
        "saved result refuted",
        "saved beyond 4 sd and not refuted",
        "mass of those not refuted off by, %, worst",
    ]
    print_table(f"A setup that is wrong, {arguments.seeds} seeds on {', '.join(ARMS)}", header, rows)


if __name__ == "__main__":
    main()
