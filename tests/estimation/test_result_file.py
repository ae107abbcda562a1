"""A result file is believed as a whole or not at all: every field that is changed alone is found, and named."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.errors import FileFormatError
from iparam.estimation import Estimate
from iparam.sensing import Correction

DATA = Path(__file__).resolve().parents[1] / "data"
Document = dict[str, Any]


def recorded() -> iparam.Recording:
    robot = iparam.load_robot("ur5e")
    motion = iparam.load_trajectory(DATA / "optimized_ur5e.json").trajectory.sample(fps=125.0)
    load = iparam.Payload.box(size=(0.10, 0.16, 0.12), mass=0.95, offset=(0.01, 0.0, 0.061)).parameters
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ load.phi
    clean = iparam.Recording("ur5e").with_signal("q", time=motion.time, values=motion.q)
    return iparam.noise_preset("ur5e").apply(clean.with_signal("wrench", time=motion.time, values=wrench), seed=1)


def identified() -> Estimate:
    """With a correction that was estimated, so that the file has that, too."""
    return iparam.identify_payload(recorded(), correction=Correction(sensor_offset="estimate"))


@pytest.fixture(scope="module")
def whole() -> Document:
    return json.loads(json.dumps(identified().to_document()))


def numbers(part: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], float]]:
    """All numbers of a document with the way to them."""
    if isinstance(part, dict | list):
        for key, value in part.items() if isinstance(part, dict) else enumerate(part):
            yield from numbers(value, (*at, key))
    elif isinstance(part, int | float) and not isinstance(part, bool):
        yield at, float(part)


def changed(document: Document, at: tuple[Any, ...], value: Any) -> Document:
    """A copy with another value at one place; ... leaves it out."""
    found = copy.deepcopy(document)
    part = found
    for key in at[:-1]:
        part = part[key]
    if value is ...:
        del part[at[-1]]
    else:
        part[at[-1]] = value
    return found


def refused(document: Document, folder: Path, field: str) -> bool:
    """Whether it is, with a sentence that names the field."""
    path = folder / "result.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    try:
        Estimate.load(path)
    except FileFormatError as error:
        return field in str(error)
    return False


FREE = (
    "covariance_terms",
    "condition_number",
    "residual_norm",
    "residual_rms",
    "sensor_bias",
    "samples",
    "path",
    "correction",
    "remarks",
    "assessment",
)
"""Numbers that nothing else in the file follows from: they are checked by what they can be."""


def test_it_is_read_as_it_was_written(whole: Document, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(json.dumps(whole))
    assert json.loads(json.dumps(Estimate.load(tmp_path / "result.json").to_document())) == whole


def test_every_number_that_follows_from_others_must(whole: Document, tmp_path: Path) -> None:
    """By a millionth, its sign, a factor of ten, null; phi and covariance, too, since all others follow from them."""
    count = 0
    for at, value in numbers(whole):
        if at[0] in FREE:
            continue
        key = at[0] if at[0] != "standard_deviation" else at[1]
        key = {"phi": "agree", "covariance_phi": "covariance_phi"}.get(str(key), str(key))
        for other in (value * (1.0 + 1e-6) + 1e-12, -value, 10.0 * value, None):
            assert refused(changed(whole, at, other), tmp_path, key if other is not None else ""), (at, other)
            count += 1
    assert count > 500


CANNOT_BE: dict[str, tuple[tuple[Any, ...], Any]] = {
    "format": (("format",), "iparam-result/9"),
    "method": (("method",), 3),
    "status": (("status",), ["fine"]),
    "physically_consistent": (("physically_consistent",), False),
    "physically_consistent of another kind": (("physically_consistent",), "yes"),
    "condition_number": (("condition_number",), 0.5),
    "covariance_terms": (("covariance_terms", "noise", 0, 0), 1.0),
    "covariance_terms of another size": (("covariance_terms", "noise"), [1.0]),
    "residual_norm": (("residual_norm",), -1.0),
    "residual_rms.force": (("residual_rms", "force", 0), -1.0),
    "residual_rms.torque": (("residual_rms", "torque"), [1.0]),
    "sensor_bias": (("sensor_bias", "force"), None),
    "samples": (("samples",), 0),
    "samples of a fraction": (("samples",), 10.5),
    "samples of a million years": (("samples",), 10**30),
    "data_share": (("data_share",), [2.0] * 10),
    "determined": (("determined",), ["mass"]),
    "remarks": (("remarks",), "none"),
    "remarks of another kind": (("remarks",), [{"code": "gaps"}]),
    "robot": (("robot",), 5),
    "frame": (("frame",), "a\nb"),
    "measurements": (("measurements",), [1]),
    "path": (("path",), []),
    "path of one pose": (("path",), [[0.0] * 6] * 100),
    "path of two poses": (("path",), [[0.0] * 6, [1.0] * 6]),
    "correction": (("correction", "sensor_offset", "value"), "left"),
    "correction.sensor_offset": (("correction", "sensor_offset", "standard_deviation"), [-1.0] * 3),
    "assessment": (("assessment", "verdict"), "refuted?"),
    "assessment of another word": (("assessment", "verdict"), "refuted"),
    "assessment of another result": (("assessment", "verdict"), "good"),
    "assessment.causes": (("assessment", "causes"), [{"cause": "units"}]),
}


@pytest.mark.parametrize("name", CANNOT_BE)
def test_what_cannot_be_is_refused(name: str, whole: Document, tmp_path: Path) -> None:
    at, value = CANNOT_BE[name]
    if name == "assessment of another word":
        whole = changed(whole, ("assessment", "sentence"), ...)
    assert refused(changed(whole, at, value), tmp_path, name.split(" of ")[0].split(".")[0])


@pytest.mark.parametrize(
    "key",
    ["format", "method", "mass", "phi", "standard_deviation", "covariance_phi", "physically_consistent", "assessment"],
)
def test_what_is_cut_out_is_missed(key: str, whole: Document, tmp_path: Path) -> None:
    """A verdict most of all: without it, a refuted result would look like another."""
    assert refused(changed(whole, (key,), ...), tmp_path, key)


def test_a_covariance_that_is_none_is_refused(whole: Document, tmp_path: Path) -> None:
    """Symmetric, with the standard deviations that it should have, and with a combination of negative variance."""
    covariance = np.array(whole["covariance_phi"])
    unit = np.sqrt(np.diag(covariance))
    signs = np.full((10, 10), -0.5) + 1.5 * np.eye(10)
    assert refused(
        changed(whole, ("covariance_phi",), (signs * np.outer(unit, unit)).tolist()), tmp_path, "semidefinite"
    )


@pytest.mark.parametrize("mass", [1e-300, 1e-160, 5e-324])
@pytest.mark.parametrize("centred", [False, True])
def test_a_mass_whose_centre_no_number_can_hold_is_refused(
    mass: float, centred: bool, whole: Document, tmp_path: Path
) -> None:
    document = changed(changed(whole, ("phi", 0), mass), ("mass",), mass)
    if centred:
        for key in (1, 2, 3):
            document = changed(changed(document, ("phi", key), 0.0), ("center_of_mass", key - 1), 0.0)
    assert refused(document, tmp_path, "result.json")


def test_what_is_changed_throughout_but_for_phi_is_refused(whole: Document, tmp_path: Path) -> None:
    heavy = changed(changed(whole, ("mass",), 20.0), ("standard_deviation", "mass"), 1e-3)
    assert refused(heavy, tmp_path, "mass does not agree with phi")


DOORS: dict[str, Callable[[str, str], list[str]]] = {
    "report": lambda file, other: ["report", file, "--output", "page.html"],
    "export": lambda file, other: ["export", file, "--format", "urscript"],
    "export known": lambda file, other: ["export", other, "--known-load", file, "--format", "urscript"],
    "combine": lambda file, other: ["combine", file, other],
    "combine second": lambda file, other: ["combine", other, file],
    "fuse": lambda file, other: ["identify", "fuse", other, file],
    "prior": lambda file, other: ["identify", "payload", "run.parquet", "--method", "logchol", "--prior", file],
    "gripper": lambda file, other: ["identify", "payload", "run.parquet", "--gripper", file],
    "verify": lambda file, other: ["verify", file, "run.parquet"],
    "compensate": lambda file, other: ["compensate", "run.parquet", "--result", file, "--output", "out.parquet"],
    "view": lambda file, other: ["view", file, "--output", "page.html"],
    "ur set-payload": lambda file, other: ["ur", "set-payload", file, "--host", "127.0.0.1"],
    "calibrate": lambda file, other: ["calibrate", "sensor", "run.parquet", "--known-load", file, "--output", "s.json"],
}
"""The commands that read a result."""


@pytest.fixture(scope="module")
def edited(whole: Document, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a good result, with the same of which the mass was edited, and with a run."""
    folder = tmp_path_factory.mktemp("results")
    estimate = identified()
    dataclasses.replace(estimate, measurements=("another",)).save(folder / "good.json")
    (folder / "edited.json").write_text(json.dumps(changed(whole, ("mass",), 20.0)))
    recorded().save(folder / "run.parquet")
    return folder


@pytest.mark.parametrize("door", DOORS)
def test_every_command_refuses_an_edited_mass(
    door: str, edited: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(edited)
    assert main(DOORS[door]("edited.json", "good.json")) == 1
    assert "mass does not agree with phi" in capsys.readouterr().err.replace("\n", " ")
