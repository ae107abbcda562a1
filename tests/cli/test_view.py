"""`iparam view`: files of every kind, refusals, a page that ends at Ctrl-C, and the extra that it needs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from doubles.ur_controller.twin import UrTwin

import iparam
from iparam.cli.main import main
from iparam.files.kind import FileKind, kind_of

viser = pytest.importorskip("viser", reason="the extra viewer is not installed")

Q0 = [0.3, -1.4, 1.3, -1.2, -1.5, 0.2]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two plans of a second, a run of the first, its result, a cell and the truth."""
    folder = tmp_path_factory.mktemp("files")
    robot = iparam.load_robot("ur5e")
    truth = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2))
    for name, size in (("plan", 0.5), ("other", 0.3)):
        a = np.full((6, 1), size)
        motion = iparam.WindowedFourierTrajectory(q0=Q0, a=a, b=0.0 * a, base_freq=1.0, duration=1.0)
        iparam.save_trajectory(folder / f"{name}.json", motion, robot="ur5e", fps=100.0)
    samples = iparam.load_trajectory(folder / "plan.json").trajectory.sample(200.0)
    wrench = iparam.wrench_regressor(robot, samples.q, samples.dq, samples.ddq) @ truth.phi
    run = iparam.Recording("ur5e").with_signal("q", time=samples.time, values=samples.q)
    run = run.with_signal(
        "wrench", time=samples.time, values=wrench + np.random.default_rng(0).normal(0, 0.01, wrench.shape)
    )
    run.save(folder / "run.parquet")
    iparam.identify_payload(run, robot=robot).save(folder / "result.json")
    iparam.simulation.GroundTruth(truth, "tool0").save(folder / "truth.json")
    (folder / "cell.json").write_text(
        '{"format": "iparam-cell/1", "boxes": [{"center": [0.8, 0, 0.2], "size": [0.2, 0.2, 0.2]}]}'
    )
    return folder


@pytest.fixture
def folder(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(files)
    return files


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("plan.json", "no meshes"),
        ("plan.json other.json cell.json", ""),
        ("run.parquet plan.json result.json truth.json", "nearest"),
        ("result.json", "CoM x [mm]"),
        ("result.json truth.json --robot ur3 --capsules", None),
    ],
)
def test_files_of_any_kind_in_one_page(
    folder: Path, capsys: pytest.CaptureFixture[str], given: str, told: str | None
) -> None:
    code = main(["view", *given.split(), "--output", "view.html", "--overwrite"])
    out, err = capsys.readouterr()
    if told is None:  # the result is of another arm
        assert code != 0
        assert "ur5e" in err
        return
    assert code == 0, err
    assert out == "view      view.html\n"
    page = (folder / "view.html").read_text(encoding="utf-8")
    assert told in page
    assert kind_of("view.html") is FileKind.VIEW


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("", "there is nothing to show: give a plan, a recording or a result"),
        ("plan.json other.json plan.json", "at most 2 motions and 2 results"),
        ("truth.json truth.json", "truth.json and truth.json are both a simulation's truth: give one"),
        ("plan.json --port 0", "--port must be 1 to 65535, got 0"),
        ("plan.json --host 203.0.113.9", "cannot listen on 203.0.113.9"),
        ("nothing.json", "nothing.json"),
        ("plan.json --output view.pdf", "a path that ends in .html"),
        ("run.parquet --live --output view.html", "a live page is served and not written"),
        ("plan.json --live", "--live replays one recording"),
        ("run.parquet run.parquet --live", "--live replays one recording"),
        ("run.parquet --ur 127.0.0.1", "--ur follows an arm"),
        ("--ur 127.0.0.1 --ur-port 0", "--ur-port must be 1 to 65535, got 0"),
        ("--ur 127.0.0.1 --ur-port 9", "127.0.0.1 refuses connections to port 9"),
        ("--ros", "--ros needs to know the arm: add --robot"),
        ("--ros --robot ur5e run.parquet", "--ros follows an arm"),
        ("--ros --robot ur5e --ur 127.0.0.1", "--ros follows an arm"),
    ],
)
def test_refusals(folder: Path, capsys: pytest.CaptureFixture[str], given: str, sentence: str) -> None:
    assert main(["view", *given.split()]) in (1, 2)
    assert sentence in capsys.readouterr().err


def served_until_ctrl_c(folder: Path, *given: str) -> None:
    command = [sys.executable, "-m", "iparam", "view", *given]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"page      (http://127\.0\.0\.1:\d+/)\n", line)
        assert found, line
        with urllib.request.urlopen(found[1]) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stdout.read() == ""  # nothing of viser's own


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("given", ["plan.json result.json", "run.parquet cell.json --live"])
def test_a_page_is_served_until_ctrl_c(folder: Path, given: str) -> None:
    served_until_ctrl_c(folder, *given.split())


@pytest.mark.thorough
def test_a_ur_arm_is_followed_until_ctrl_c(folder: Path) -> None:
    address = f"127.{os.getpid() // 250 % 250 + 1}.{os.getpid() % 250 + 1}.199"
    load = iparam.simulation.Payload.box(mass=2.0, size=(0.1, 0.15, 0.2))
    with UrTwin(iparam.load_robot("ur5e"), load, host=address):
        served_until_ctrl_c(folder, "--ur", address)


def test_without_viser_the_extra_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iparam.viewer.viser_backend.viser", None)
    assert main(["view", "plan.json"]) == 1
    assert "this needs viser, which is not installed: pip install 'iparam[viewer]'" in capsys.readouterr().err
