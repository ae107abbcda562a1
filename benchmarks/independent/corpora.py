"""The corpora that the tests and the other benchmarks have, in the same rows: mistakes, unlisted ones, pairs, held
wrenches, sound logs, lengths, and real logs. They need ``tests`` on the path, as bench_mistakes.py does.
"""

from __future__ import annotations

import contextlib
import io
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bench_lengths
import bench_mistakes
import numpy as np
from measured_data import data_folder
from mistakes.corpus import Case, Log, case, cases
from mistakes.pairs import pair_cases
from mistakes.unlisted import unlisted_cases
from mistakes.workbench import ARMS, DRAWN, Workbench

import iparam
from independent.rows import EMPTY, Row, examined, of_document
from iparam.cli.main import main as iparam_command

SEEDS, PAIRS, LENGTH_SEEDS, LONGEST = 67, 100, 4, 610.0
"""Sound logs of each arm and preset; pairs of mistakes; draws of each length, of up to so many seconds."""


def mistake_row(name: str) -> Row:
    return _row("mistakes", case(name))


def unlisted_row(name: str) -> Row:
    return _row("unlisted", next(each for each in unlisted_cases() if each.name == name))


def pair_row(number: int) -> Row:
    return _row("pairs", pair_cases(1, first=number)[0])


def held_row(number: int) -> Row:
    job = bench_mistakes.held_jobs(ARMS)[number]
    return _row("held", bench_mistakes.held_case(job)) | {"wrong": job[-1]}


def sound_seed_row(job: tuple[str, str, int]) -> Row:
    arm, noise, seed = job
    bench = Workbench(arm, DRAWN, seed=10_000 + seed, noise=noise)
    about = {"corpus": "sound-seeds", "name": f"{arm}-{noise}-{seed:03d}", "group": noise}
    return EMPTY | about | _found(Log(bench.sound, bench.robot, (bench.load,)), ())


def length_row(job: tuple[int, int]) -> Row:
    number, seed = job
    length, robot = bench_lengths.CASES[number], iparam.load_robot("ur5e")
    log = Log(bench_lengths.recorded(length, seed), robot, (bench_lengths.simulated().truth.payload,))
    return EMPTY | {"corpus": "lengths", "name": f"{length.name}-{seed}", "group": length.name} | _found(log, ())


def real_row(number: int) -> Row:
    """By the command, as whoever has these files would; of the truth, the mass is known."""
    (name, options, mass), start = _real_logs()[number], time.process_time()
    out, row = io.StringIO(), EMPTY | {"corpus": "real", "name": name, "group": "real", "wrong": "exchanged" in name}
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as said:
        code = iparam_command(["identify", *options.split(), "--json"])
    row["seconds"] = time.process_time() - start
    if code:
        return row | {"problem": said.getvalue()[:300]}
    return row | of_document(json.loads(out.getvalue()), [np.array([mass, *[np.nan] * 9])])


def _real_logs() -> list[tuple[str, str, float]]:
    """Name, options of ``iparam identify``, and the mass [kg]: weighed, or by plain least squares of the forces."""
    root = data_folder()
    sensor, arm = root / "real_arms" / "ft_sensor", root / "ur10e"
    turned = f"--orientation {sensor}/1-baseline_orientations.csv --gravity 9.82"
    torque = "torque-payload --robot ur10e --columns time,q,dq,current,target_current,target_torque"
    pairs = {
        "first": ("20_02_19_14harm50sec", "20_02_19_14harm50secLoad"),
        "second": ("20_01_31-unload", "20_01_31-load"),
        "exchanged": ("20_02_19_14harm50secLoad", "20_02_19_14harm50sec"),
    }
    logs = [
        ("ati-24-poses", f"payload {sensor}/0-calibration_fts-accel.csv", 0.932),
        ("ati-in-motion", f"payload {sensor}/1-baseline_wrench.csv {turned}", 0.932),
        *((path.stem, f"payload {path}", 1.158) for path in sorted((root / "wrist_ft_panda").glob("*.csv"))),
        *(
            (f"ur10e-{name}", f"{torque} --bare {arm}/ur-{bare}.csv --loaded {arm}/ur-{loaded}.csv", 2.805)
            for name, (bare, loaded) in pairs.items()
        ),
    ]
    return logs if Path(arm).is_dir() else []


def corpora() -> dict[str, tuple[Callable[[Any], Row], Sequence[Any]]]:
    """By name: what makes a row, and of what."""
    lengths = [number for number, one in enumerate(bench_lengths.CASES) if one.duration <= LONGEST]
    return {
        "mistakes": (mistake_row, [each.name for each in cases()]),
        "unlisted": (unlisted_row, [each.name for each in unlisted_cases()]),
        "pairs": (pair_row, range(PAIRS)),
        "held": (held_row, range(len(bench_mistakes.held_jobs(ARMS)))),
        "sound-seeds": (
            sound_seed_row,
            [(arm, noise, seed) for seed in range(SEEDS) for arm in ARMS for noise in ("ideal", "ur5e", "harsh")],
        ),
        "lengths": (length_row, [(number, seed) for number in lengths for seed in range(LENGTH_SEEDS)]),
        "real": (real_row, range(len(_real_logs()))),
    }


def _row(corpus: str, made: Case) -> Row:
    mistake = made.mistake
    about = {"corpus": corpus, "name": made.name, "group": mistake.slug, "preset": mistake.size, "wrong": True}
    return EMPTY | about | _found(made.log(), (mistake.slug, *mistake.same))


def _found(log: Log, causes: Sequence[str]) -> Row:
    def identify(more: dict[str, Any]) -> Any:
        return iparam.identify_payload(log.recording, **({"robot": log.robot, "tolerances": "exact"} | more))

    return examined(identify, [load.phi for load in log.loads], causes)
