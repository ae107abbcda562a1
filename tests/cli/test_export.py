"""`iparam export`: files, streams, exit codes and refusals."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import made_result

import iparam
from iparam.cli.main import main
from iparam.estimation import Estimate
from iparam.estimation.payload.estimate_assembly import widened
from iparam.export import FORMATS, IdentifiedLoad, to_json
from iparam.remarks import Remark, Severity, remark

INERTIA = [[0.03, 0.001, 0.0], [0.001, 0.024, -0.002], [0.0, -0.002, 0.02]]


def result(inertia: list[list[float]] = INERTIA, **changes: Any) -> dict[str, Any]:
    return made_result(2.0, [0.07, 0.06, 0.09], inertia, frame="tool0", **changes)


REMARKS = [remark("gains-estimated", source="As stated.", share="1 %"), remark("few-samples", count=12)]
STAGE = """#usda 1.0
(
    metersPerUnit = 1
)
def Xform "tool0" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{
    float physics:mass = 1
}
"""
ARM = (
    '<robot name="a"><link name="base"/><link name="tool0"/><joint name="j" type="continuous">'
    '<parent link="base"/><child link="tool0"/></joint></robot>'
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a good result, an inconsistent one and a small robot in it."""
    flat = [[0.1, 0.0, 0.0], [0.0, 0.01, 0.0], [0.0, 0.0, 0.01]]
    (tmp_path / "result.json").write_text(json.dumps(result(remarks=REMARKS)), encoding="utf-8")
    (tmp_path / "flat.json").write_text(json.dumps(result(flat)), encoding="utf-8")
    (tmp_path / "arm.urdf").write_text(ARM, encoding="utf-8")
    (tmp_path / "arm.usda").write_text(STAGE, encoding="utf-8")
    (tmp_path / "known.json").write_text(json.dumps(result()), encoding="utf-8")
    exact = IdentifiedLoad(2.0, np.array([0.07, 0.06, 0.09]), np.array(INERTIA), "tool0")
    (tmp_path / "exact.json").write_text(to_json(exact), encoding="utf-8")
    (tmp_path / "in_2.json").write_text("{}", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_printed_or_written(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "usd":
        pytest.importorskip("pxr")
    before = {path.name for path in folder.iterdir()}
    assert main(["export", "result.json", "--format", name]) == 0
    printed, err = capsys.readouterr()
    assert [line.split()[1] for line in err.splitlines()] == ["note:", "warning:"]
    assert main(["export", "result.json", "--format", name, "--output", "out"]) == 0
    assert (folder / "out").read_text(encoding="utf-8") == printed
    assert capsys.readouterr().out == f"{name} for frame tool0 written to out\n"
    assert {path.name for path in folder.iterdir()} - before == {"out"}


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--list"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert [line.split()[0] for line in out.splitlines()] == list(FORMATS)
    assert max(len(line) for line in out.splitlines()) <= 80


def test_merging(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--urdf", "arm.urdf", "--link", "tool0", "--as-link", "payload", "--output", "full.urdf"]
    assert main(["export", "result.json", *options]) == 0
    assert '<link name="payload">' in (folder / "full.urdf").read_text(encoding="utf-8")
    assert main(["export", "result.json", "--urdf", "arm.urdf", "--format", "urdf"]) == 0
    assert '<mass value="2.0"/>' in capsys.readouterr().out
    assert (folder / "arm.urdf").read_text(encoding="utf-8") == ARM


def test_a_stage(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pxr")
    options = ["--stage", "arm.usda", "--own-mass", "replace", "--pose", "0", "0", "0.1", "0", "0", "90"]
    assert main(["export", "known.json", *options, "--output", "loaded.usda"]) == 0
    out, err = capsys.readouterr()
    assert out == "usd for frame tool0 written to loaded.usda\n"
    assert err == "iparam: note: The load takes the place of what /tool0 weighed, 1 kg.\n"
    text = (folder / "loaded.usda").read_text(encoding="utf-8")
    assert "@./arm.usda@" in text
    assert "physics:centerOfMass = (-0.06, 0.07, 0.19)" in text
    assert main(["export", "known.json", *options, "--samples", "3", "--output", "loaded.usda"]) == 0
    assert capsys.readouterr().err.count("note") == 1
    assert len(list(folder.glob("loaded_?.usda"))) == 3
    assert (folder / "arm.usda").read_text(encoding="utf-8") == STAGE


def test_draws_as_files_and_as_a_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "known.json", "--format", "mjcf", "--samples", "12", "--output", "payload.xml"]) == 0
    out, err = capsys.readouterr()
    assert out == "12 draws as mjcf for frame tool0 written to payload_01.xml to payload_12.xml\n"
    assert err == ""
    files = sorted(folder.glob("payload*"))
    assert [path.name for path in files] == [f"payload_{number:02}.xml" for number in range(1, 13)]
    assert len({path.read_text(encoding="utf-8").split("<inertial")[1] for path in files}) == 12
    assert "Draw 12 of 12 from the posterior" in files[-1].read_text(encoding="utf-8")
    assert main(["export", "known.json", "--format", "csv", "--samples", "12", "--output", "draws.csv"]) == 0
    assert capsys.readouterr().out == "12 draws as csv for frame tool0 written to draws.csv\n"
    table = np.genfromtxt(folder / "draws.csv", delimiter=",", names=True, skip_header=_comment(folder / "draws.csv"))
    inertial = files[4].read_text(encoding="utf-8").split('mass="')[1].split('"')[0]
    assert table["mass"][4] == float(inertial)  # the same seed, the same draws
    options = ["--urdf", "arm.urdf", "--link", "tool0", "--samples", "2", "--seed", "5", "--output", "full.urdf"]
    assert main(["export", "known.json", *options]) == 0
    assert len(list(folder.glob("full_?.urdf"))) == 2


def _comment(path: Path) -> int:
    return sum(line.startswith("#") for line in path.read_text(encoding="utf-8").splitlines())


def test_draws_at_the_boundary_are_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wide = widened(Estimate.load("known.json"), 1e-4 * np.eye(10), "doubt")
    wide.save("wide.json")
    assert main(["export", "wide.json", "--format", "csv", "--samples", "20"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) - out.count("#") == 21
    assert "% of the Gaussian around the estimate are bodies that can exist" in err


def test_inconsistent_results_need_force(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "flat.json", "--format", "mjcf", "--output", "out.xml"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "flat.json: the load is not physically consistent:" in err
    assert "triangle inequality" in err
    assert "--force" in err
    assert not (folder / "out.xml").exists()
    assert main(["export", "flat.json", "--urdf", "arm.urdf"]) == 1
    assert "--force" in capsys.readouterr().err
    assert main(["export", "flat.json", "--format", "mjcf", "--force"]) == 0
    out, err = capsys.readouterr()
    assert "NOT PHYSICALLY CONSISTENT" in out
    assert "triangle inequality" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["result.json"],
            2,
            "choose a --format: urdf, mjcf, sdf, urscript, franka, kuka, abb, xarm, ros2, json, usd, csv",
        ),
        (["result.json", "--format", "urfd"], 2, "did you mean 'urdf'? Known: urdf, mjcf, sdf, urscript"),
        (["--format", "urdf"], 2, "give the result to export"),
        (["nothing.json", "--format", "urdf"], 1, "nothing.json does not exist"),
        (["arm.urdf", "--format", "urdf"], 1, "arm.urdf is not JSON"),
        (["result.json", "--format", "urdf", "--link", "tool0"], 2, "--link says where in a robot"),
        (["result.json", "--format", "urdf", "--as-link", "p"], 2, "--as-link says where in a robot"),
        (["result.json", "--format", "mjcf", "--urdf", "arm.urdf"], 2, "--urdf writes a URDF, not mjcf"),
        (["result.json", "--urdf", "arm.urdf", "--link", "tol0"], 2, "did you mean 'tool0'?"),
        (["result.json", "--urdf", "nothing.urdf"], 1, "does not exist"),
        (["result.json", "--format", "json", "--output", "result.json"], 2, "is read, too (result: result.json)"),
        (["result.json", "--urdf", "arm.urdf", "--output", "./arm.urdf"], 2, "is read, too (urdf: arm.urdf)"),
        (["result.json", "--format", "json", "--output", "no/where.json"], 2, "does not exist; create it first"),
        (["exact.json", "--format", "csv", "--samples", "3"], 2, "states no covariance"),
        (
            ["result.json", "--format", "usd", "--prim", "/a"],
            2,
            "--prim says where in a robot the load goes: add --stage",
        ),
        (["result.json", "--urdf", "arm.urdf", "--copy"], 2, "--copy says where in a robot the load goes: add --stage"),
        (["result.json", "--urdf", "arm.urdf", "--stage", "arm.usda"], 2, "are two robots' files: give one of them"),
        (["result.json", "--format", "mjcf", "--stage", "arm.usda"], 2, "--stage writes a USD, not mjcf"),
        (["result.json", "--stage", "arm.usda", "--output", "a.usdz"], 2, "are written as text: choose .usda or .usd"),
        (["result.json", "--stage", "arm.usda", "--output", "arm.usda"], 2, "is read, too (stage: arm.usda)"),
        (["result.json", "--stage", "arm.usda", "--prim", "/tol0"], 2, "did you mean '/tool0'?"),
        (["result.json", "--stage", "arm.usda", "--pose", "1", "2"], 2, "--pose"),
        (
            ["result.json", "--stage", "arm.usda"],
            2,
            "(--own-mass)",
        ),
        (["result.json", "--stage", "arm.urdf"], 2, "--stage must be a USD file"),
        (["result.json", "--stage", "nothing.usd"], 1, "nothing.usd does not exist"),
        (["known.json", "--format", "mjcf", "--samples", "3"], 2, "give --output, or --format csv for one table"),
        (["known.json", "--format", "csv", "--samples", "0"], 2, "--samples must be from 1 to 100000, got 0"),
        (["known.json", "--format", "mjcf", "--samples", "2000", "--output", "p.xml"], 2, "from 1 to 1000 files"),
        (["known.json", "--format", "csv", "--seed", "-1", "--samples", "2"], 2, "--seed must be from 0"),
        (["known.json", "--format", "json", "--samples", "2", "--output", "in.json"], 2, "in_2.json exists and is no"),
        (["in_2.json", "--format", "json", "--samples", "2", "--output", "in.json"], 2, "is read, too (result: in_2.j"),
    ],
)
def test_refusals(
    arguments: list[str], code: int, message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if "--stage" in arguments:
        pytest.importorskip("pxr")
    assert main(["export", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    assert message in err.replace("\n", " ")


def test_what_a_remark_does_to_a_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    red = Remark("few-samples", Severity.DOUBT, "red\x1b[31m\nalert")
    (folder / "result.json").write_text(json.dumps(result(remarks=[red])), encoding="utf-8")
    assert main(["export", "result.json", "--format", "urscript"]) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert err == "iparam: warning: red\\x1b[31m\\nalert\n"


@pytest.mark.parametrize(
    ("name", "mass", "robot"), [("urscript", 100.0, ""), ("urscript", 100.0, "ur5e"), ("franka", 8.0, "")]
)
def test_a_controller_is_told_no_load_that_its_arms_do_not_carry(
    name: str, mass: float, robot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phi = iparam.InertialParameters.box(mass, (0.1, 0.1, 0.1)).phi
    estimate = dataclasses.replace(iparam.Estimate.from_phi(phi), robot=robot)
    estimate.save(tmp_path / "heavy.json")
    command = ["export", str(tmp_path / "heavy.json"), "--format", name]
    assert main(command) == 1
    said = capsys.readouterr()
    assert (said.out, f"{mass:g} kg" in said.err, "--force" in said.err) == ("", True, True)
    assert main([*command, "--force"]) == 0
    assert main(["export", str(tmp_path / "heavy.json"), "--format", "urdf"]) == 0


def test_a_load_above_the_rating_of_its_arm_is_exported_and_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phi = iparam.InertialParameters.box(8.0, (0.1, 0.1, 0.1)).phi
    dataclasses.replace(iparam.Estimate.from_phi(phi), robot="ur5e").save(tmp_path / "heavy.json")
    assert main(["export", str(tmp_path / "heavy.json"), "--format", "urscript"]) == 0
    said = capsys.readouterr()
    assert "set_target_payload(8.0" in said.out
    assert "carries up to 5 kg" in said.err
