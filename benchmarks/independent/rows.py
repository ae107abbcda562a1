"""What iparam makes of a recording, as a row of a table: estimate, verdict, causes, and what the first fix does."""

from __future__ import annotations

import contextlib
import inspect
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import iparam
from independent.arms import Arm
from independent.cases import Case, Log, case
from independent.free_spectrum import free_spectrum
from independent.loads import shown
from independent.mistakes import MISTAKES, ORIENTATIONS
from independent.references import SEEN, left_over, oracle, textbook
from iparam.errors import IparamError
from iparam.remarks import Severity
from iparam.sensing.correction import Correction

Row = dict[str, Any]
STOPPED = "error"
"""In place of a verdict, where there is no result."""

UNKNOWN = [float("nan")] * 10
EMPTY: Row = {
    **dict.fromkeys(("corpus", "name", "group", "preset", "features", "fix", "fixed_verdict", "problem"), ""),
    **dict.fromkeys(("wrong", "visible"), False),
    "verdict": STOPPED,
    "rank": 0,
    "seconds": 0.0,
    **dict.fromkeys(("error", "mass_error", "fixed_error"), float("nan")),
    "causes": [],
    "codes": [],
    "rules": [],
    **dict.fromkeys(
        ("truth", "value", "sd", "oracle", "oracle_sd", "textbook", "textbook_sd", "model", "model_sd"), UNKNOWN
    ),
}
"""A row of which nothing is known; the last ones are mass, centre of mass and inertia about it."""


def examined(identify: Callable[[dict[str, Any]], Any], phis: Sequence[np.ndarray], causes: Sequence[str]) -> Row:
    """What ``identify`` finds, called with further settings; ``phis`` are what was carried, ``causes`` the right names
    where something is wrong: the first cause's fix is then followed. Seconds are the processor's.
    """
    truths, start = [shown(np.asarray(phi)) for phi in phis], time.process_time()
    try:
        document = identify({}).to_document()
    except IparamError as error:
        named = [name for name in dict.fromkeys((error.argument, *error.fix)) if name]
        return {
            "seconds": time.process_time() - start,
            "truth": (truths or [UNKNOWN])[0],
            "causes": named,
            "fix": str(error.fix or ""),
            "problem": f"{type(error).__name__}: {error}"[:300],
            "rank": _rank([[one] for one in named], causes),
        }
    row = {"seconds": time.process_time() - start, **of_document(document, truths)}
    named = [[one] for one in row["causes"]] or [[]]
    named[0] = [*named[0], *_codes(document, (Severity.CORRECTED, Severity.DOUBT))]
    row["rank"] = _rank(named, causes)
    if found := document["assessment"]["causes"]:
        row["fix"] = str(found[0]["fix"] or "")
        if causes and found[0]["fix"]:
            with contextlib.suppress(IparamError):
                after = of_document(identify(_settings_of(found[0]["fix"])).to_document(), truths)
                row |= {"fixed_verdict": after["verdict"], "fixed_error": after["error"]}
    return row


def _rank(named: Sequence[Sequence[str]], right: Sequence[str]) -> int:
    """Which of what is named is right, from 1; 0 where none is."""
    return next((rank for rank, slugs in enumerate(named, 1) if set(slugs) & set(right)), 0)


def of_document(document: dict[str, Any], truths: Sequence[np.ndarray]) -> Row:
    """The part of a row that a result file has."""
    value, sd = (_shown(part) for part in (document, document["standard_deviation"]))
    z = [np.nanmax(np.abs((value - truth) / sd), initial=0.0) for truth in truths]
    nearest = truths[int(np.argmin(z))] if truths else np.array(UNKNOWN)
    assessment = document["assessment"]
    return {
        "verdict": assessment["verdict"],
        "truth": nearest,
        "value": value,
        "sd": sd,
        "error": float(min(z, default=np.nan)),
        "mass_error": float(abs(value[0] / nearest[0] - 1.0)),
        "causes": [cause["cause"] for cause in assessment["causes"]],
        "codes": _codes(document, tuple(Severity)),
        "rules": [f"{rule['rule']}: {rule['number']} / {rule['bound']}" for rule in assessment.get("rules", ())],
    }


def _codes(document: dict[str, Any], severities: tuple[Severity, ...]) -> list[str]:
    return [one["code"] for one in document.get("remarks", ()) if Severity(one["severity"]) in severities]


def _shown(part: dict[str, Any]) -> np.ndarray:
    """(10,) with NaN for what is null."""
    center, inertia = (
        [np.nan if part[name] is None else part[name]] for name in ("center_of_mass", "inertia_about_com")
    )
    full = np.array(np.broadcast_to(np.array(inertia[0], dtype=float), (3, 3)))[np.triu_indices(3)]
    three = np.broadcast_to(np.array(center[0], dtype=float), 3)
    return np.array([np.nan if part["mass"] is None else part["mass"], *three, *full])


def _settings_of(fix: dict[str, Any]) -> dict[str, Any]:
    """A cause's fix as settings of `identify_payload`: another robot, another treatment of the bias, a correction."""
    rest = dict(fix)
    own = {name: rest.pop(name) for name in ("robot", "bias") if name in rest}
    return {**own, "correction": Correction.from_document(rest)}


@cache
def _robot(arm: Arm) -> Any:
    """As its owner has it: from iparam's catalogue, or from a URDF."""
    if arm.catalogue:
        return iparam.load_robot(arm.catalogue)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{arm.name}.urdf"
        path.write_text(arm.urdf, encoding="utf-8")
        return iparam.load_robot(path)


def _of_file(log: Log, name: str, preset: str) -> Callable[[dict[str, Any]], Any]:
    """Identification from a table on the disk; tolerances are stated where they can be."""
    robot = None if log.robot is None else _robot(log.robot)
    settings: dict[str, Any] = {} if log.gravity == (0.0, 0.0, -9.81) else {"gravity": log.gravity}
    if "tolerances" in inspect.signature(iparam.identify_payload).parameters:
        settings["tolerances"] = preset

    def identify(more: dict[str, Any]) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = log.save(Path(folder), name, parquet=int(name[-1]) % 2 == 1)
            recording = iparam.Recording.load(path, **({} if robot is None else {"robot": robot}))
        arm = more.pop("robot", robot)
        correction = more.get("correction")
        given = settings if correction is None or correction.gravity is None else settings | {"gravity": None}
        return iparam.identify_payload(recording, arm, **given, **more)

    return identify


def sound_row(number: int) -> Row:
    """The row of a sound case."""
    own = case(number)
    return _row(own, own.log(), (), {"corpus": "random", "group": own.kinds[2]}) | _references(own)


def mistaken_row(number: int) -> Row:
    """The row of a case with a mistake."""
    own, mistake = case(number, sound=False), MISTAKES[number % len(MISTAKES)]
    exact, sound = mistake.run(own, exact=True), own.exact
    seen = left_over(own, exact.time, exact.q, exact.wrench) - left_over(own, own.stamps, *sound)
    about = {"corpus": "new-mistakes", "group": mistake.slug, "wrong": True}
    return _row(own, mistake.log(own), mistake.causes, about) | {
        "visible": mistake.slug in ORIENTATIONS or bool(seen > SEEN)
    }


def _references(own: Case) -> Row:
    best, plain = oracle(own), textbook(own)
    model = {}
    if own.kinds[0] != "static-poses":
        found = free_spectrum(own)
        model = {"model": found.values, "model_sd": found.deviations}
    return {
        **model,
        "oracle": best.values,
        "oracle_sd": best.deviations,
        "textbook": plain.values,
        "textbook_sd": plain.deviations,
    }


def _row(own: Case, log: Log, causes: Sequence[str], about: Row) -> Row:
    found = examined(_of_file(log, own.name, own.preset), [own.phi], causes)
    features = " ".join((*own.features, *own.kinds[:2], own.rig.arm.name))
    told = {"name": own.name, "preset": own.preset, "features": features}
    return EMPTY | told | about | found
