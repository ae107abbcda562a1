"""`case`: an arm, a load, a motion and a sensor that are drawn from a number, and what its owner records."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from independent import noise as sensor
from independent.arms import ARMS, Arm
from independent.loads import LOADS
from independent.motions import MOTIONS
from independent.rig import TILT, TOLERANCES, Deviations, Rig

SEED = 4242
CHANNELS = ("fx", "fy", "fz", "tx", "ty", "tz")
FEATURES = {"elastic": 0.15, "tilted": 0.1, "low-pass": 0.1, "jitter": 0.1}
"""What a rig has besides noise, and how often."""


@dataclass(frozen=True, eq=False)
class Log:
    """What is written to a file, by column, and what is said beside it; ``values`` (T,) each."""

    columns: dict[str, np.ndarray]
    robot: Arm | None
    gravity: tuple[float, float, float]

    def save(self, folder: Path, name: str, parquet: bool) -> Path:
        """As a table that any program could have written."""
        path = folder / f"{name}.{'parquet' if parquet else 'csv'}"
        if parquet:
            pq.write_table(pa.table(self.columns), path)
        else:
            table = np.column_stack(list(self.columns.values()))
            np.savetxt(path, table, fmt="%.9g", delimiter=",", header=",".join(self.columns), comments="")
        return path


@dataclass(frozen=True, eq=False)
class Case:
    """One recording with all that is true about it.

    Attributes:
        name: of the case.
        preset: of its tolerances.
        kinds: of its motion, load and noise.
        features: of `FEATURES` that it has.
        rig: the rig, and its clock.
        deviations: of the rig from what is stated.
        phi: (10,) of the load.
        bias: (6,) of the sensor.
        stamps: (T,) the times that are recorded [s].
        angle_error: (T, n) of the encoders [rad].
        noise: of the sensor.
    """

    name: str
    preset: str
    kinds: tuple[str, str, str]
    features: tuple[str, ...]
    rig: Rig
    deviations: Deviations
    phi: np.ndarray
    bias: np.ndarray
    stamps: np.ndarray
    angle_error: np.ndarray
    noise: sensor.Noise

    @property
    def tolerances(self) -> dict[str, float]:
        """Standard deviations of what an oracle is not told of the rig."""
        return TOLERANCES[self.preset] | ({"base": TILT} if "tilted" in self.features else {})

    @property
    def exact(self) -> tuple[np.ndarray, np.ndarray]:
        """(T, n) and (T, 6): what a sensor without noise would have recorded."""
        return self.rig.angles(self.phi), self.rig.wrench_rows(self.deviations) @ self.phi + self.bias

    @property
    def recorded(self) -> tuple[np.ndarray, np.ndarray]:
        """(T, n) and (T, 6): angles and wrench."""
        q, wrench = self.exact
        return q + self.angle_error, wrench + self.noise.values

    def log(self) -> Log:
        return log_of(self, self.stamps, *self.recorded)

    def truth(self) -> dict[str, Any]:
        """What goes to a file of its own, for no estimator's eyes."""
        deviations = {name: values.tolist() for name, values in self.deviations.parts.items()}
        return {
            "case": self.name,
            "preset": self.preset,
            "kinds": self.kinds,
            "features": self.features,
            "phi": self.phi.tolist(),
            "bias": self.bias.tolist(),
            "deviations": deviations,
        }


def log_of(case: Case, time: np.ndarray, q: np.ndarray, wrench: np.ndarray) -> Log:
    columns = {"time": time, **{f"q{i}": column for i, column in enumerate(q.T)}}
    return Log(columns | dict(zip(CHANNELS, wrench.T, strict=True)), case.rig.arm, case.rig.arm.gravity)


def case(number: int, sound: bool = True) -> Case:
    """The case of that number; one that is not ``sound`` is to get a mistake, and has no other fault."""
    random = np.random.default_rng([SEED, number, 0 if sound else 1])
    arm = list(ARMS.values())[(number if sound else number + number // 30) % len(ARMS)]
    if sound:
        preset = str(random.choice(["exact", "calibrated", "lab"], p=[0.4, 0.3, 0.3]))
        motion = str(random.choice(list(MOTIONS), p=[0.4, 0.25, 0.1, 0.25]))
        kind = str(random.choice(sensor.KINDS, p=[0.4, 0.15, 0.15, 0.15, 0.15]))
        features = tuple(name for name, share in FEATURES.items() if random.uniform() < share)
    else:
        preset = str(random.choice(["exact", "calibrated"]))
        motion = str(random.choice([name for name in MOTIONS if name != "static-poses"]))
        kind, features = "white", ()
    load = str(random.choice(list(LOADS)))
    still = motion == "static-poses"
    duration = random.uniform(25.0, 40.0) if still else random.uniform(8.0, 16.0)
    rate = float(random.choice([100.0, 125.0] if still or kind == "1/f" else [100.0, 125.0, 250.0, 500.0]))
    stamps = np.arange(round(duration * rate)) / rate
    rig = Rig(
        arm,
        MOTIONS[motion](arm, duration, random),
        stamps,
        low_pass=random.uniform(15.0, 40.0) if "low-pass" in features else None,
        elastic=random.uniform(0.5, 2.0) if "elastic" in features else 0.0,
    )
    deviations = Deviations.drawn(arm, preset, random)
    if "tilted" in features:
        tilt, azimuth = np.radians(random.uniform(0.5, 2.0)), random.uniform(0.0, 2.0 * np.pi)
        for axis, part in enumerate((tilt * np.cos(azimuth), tilt * np.sin(azimuth))):
            deviations = deviations.with_step("base", axis, part)
    phi = LOADS[load](arm.loads[1], arm.loads[0], random)
    force = np.exp(random.uniform(np.log(0.05), np.log(0.5))) * (0.3 if arm.name == "meca500" else 1.0)
    level = np.array([force] * 3 + [force * random.uniform(0.02, 0.08)] * 3)
    exact = rig.wrench_rows(deviations) @ phi
    encoder, step = random.uniform(1e-5, 6e-5), 2.0 * np.pi / 2.0 ** random.integers(17, 20)
    angles = rig.angles(phi)
    read = step * np.round((angles + random.normal(0.0, encoder, angles.shape)) / step)
    return Case(
        name=f"{'sound' if sound else 'mistake'}-{number:03d}",
        preset=preset,
        kinds=(motion, load, kind),
        features=features,
        rig=rig,
        deviations=deviations,
        phi=phi,
        bias=random.normal(size=6) * [3.0, 3.0, 3.0, 0.2, 0.2, 0.2],
        stamps=_jittered(stamps, random.uniform(0.1, 0.3), random) if "jitter" in features else stamps,
        angle_error=read - angles,
        noise=sensor.noise(kind, exact, stamps, level, random),
    )


def write_files(cases: list[tuple[str, Log, dict[str, Any]]], folder: Path) -> None:
    """Recordings, arms and, in a folder of its own, the truth."""
    (folder / "truth").mkdir(parents=True, exist_ok=True)
    for arm in ARMS.values():
        (folder / f"{arm.name}.urdf").write_text(arm.urdf, encoding="utf-8")
    for index, (name, log, truth) in enumerate(cases):
        log.save(folder, name, parquet=bool(index % 2))
        (folder / "truth" / f"{name}.json").write_text(json.dumps(truth), encoding="utf-8")


def _jittered(stamps: np.ndarray, share: float, random: np.random.Generator) -> np.ndarray:
    """Stamps that are off by a share of the period, in the order in which they are."""
    period = stamps[1] - stamps[0]
    return np.asarray(stamps + period * np.clip(share * random.normal(size=stamps.size), -0.45, 0.45))
