"""The options that put a recording right: what they mean, and what is said about those that mean nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.cli.main import main
from iparam.sensing.correction import wrench_transform

TURN, PLACE = (2.0, -3.0, 95.0), (0.01, -0.02, 0.04)


@pytest.fixture
def here(run: Any, other_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of a sensor that is turned and elsewhere, and one of which the load is known."""
    monkeypatch.chdir(tmp_path)
    back = np.linalg.inv(wrench_transform(np.array(TURN), np.array(PLACE)))
    for name, one in (("turned", run), ("other", other_run)):
        wrench = one.recording.signal("wrench")
        one.recording.with_signal("wrench", time=wrench.time, values=wrench.values @ back.T).save(f"{name}.parquet")
    run.recording.save("good.parquet")
    iparam.simulation.GroundTruth(run.truth, "tool0").save("known.json")
    return tmp_path


def found(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == code
    return dict(json.loads(capsys.readouterr().out))


@pytest.mark.thorough
def test_a_turned_sensor_given_and_estimated(here: Path, run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert found(capsys, "identify", "payload", "turned.parquet", code=1)["assessment"]["verdict"] == "refuted"
    turn, place = ["--sensor-rotation", *map(str, TURN)], ["--sensor-offset", *map(str, PLACE)]
    given = found(capsys, "identify", "payload", "turned.parquet", *turn, *place)
    assert given["mass"] == pytest.approx(run.truth.mass, rel=0.02)
    assert given["correction"]["sensor_rotation"] == {"value": list(TURN), "standard_deviation": None}
    unknown = ["--sensor-rotation", "estimate", "--sensor-offset", "estimate", "--output", "result.json"]
    estimated = found(capsys, "identify", "payload", "turned.parquet", *unknown)
    assert estimated["correction"]["sensor_rotation"]["value"] == pytest.approx(TURN, abs=2.0)
    assert estimated["standard_deviation"]["mass"] >= given["standard_deviation"]["mass"]
    # What was found there holds for the next run.
    assert found(capsys, "verify", "result.json", "other.parquet")["passed"] is True
    assert main(["compensate", "other.parquet", "--result", "result.json", "--output", "clean.parquet"]) == 0
    assert "corrected as in the identification: --sensor-rotation" in capsys.readouterr().err


def test_a_calibrated_sensor(here: Path, run: Any, capsys: pytest.CaptureFixture[str]) -> None:
    calibration = ("calibrate", "sensor", "turned.parquet", "--known-load", "known.json")
    assert main([*calibration, "--output", "sensor.json"]) == 0
    assert "gain fx" in capsys.readouterr().out
    again = found(capsys, "identify", "payload", "turned.parquet", "--sensor", "sensor.json")
    assert again["mass"] == pytest.approx(run.truth.mass, rel=0.02)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--sensor-rotation 1 2", "--sensor-rotation needs 3 numbers or 'estimate', got 2"),
        ("--sensor-rotation a b c", "--sensor-rotation takes numbers or 'estimate', got 'a'"),
        ("--wrench-axes x,x,z", "--wrench-axes must name x, y and z once each"),
        ("--wrench-scale 1 1 1 1 1 0", "--wrench-scale is 0: leave a dead channel out with --without"),
        ("--rezeroed estimate", "--rezeroed takes no 'estimate': it is right or wrong"),
        ("--wrench-axes estimate", "the result names it, with the --wrench-axes to give"),
        ("--joint-order 0 1 b", "--joint-order takes whole numbers, got '0 1 b'"),
        ("--exclude 8 9", "--exclude 8 9 leaves nothing out"),
        ("--exclude 1", "--exclude needs 2 numbers or 'estimate', got 1"),
        ("--exclude", "--exclude needs 2 numbers or 'estimate', got none"),
        ("--exclude 2 1", "--exclude must be from an earlier time to a later one"),
        ("--without force", "fx"),
        ("--joint-order 0 1 2 3 4 4", "--joint-order must be each of 0 to 5 once"),
        ("--joint-sign 1 -1", "--joint-sign must have one number for each of the 6 joints"),
        ("--clock 0", "--clock must be above 0"),
        ("--gravity estimate --mounting wall", "leave out --mounting"),
        ("--rezeroed 99", "--rezeroed must be within the run"),
        ("--delay soon", "--delay takes numbers or 'estimate', got 'soon'"),
        ("--static --clock estimate", "--static averages rests"),
        ("--sensor known.json", "this needs a calibrated sensor"),
    ],
)
def test_what_means_nothing_is_refused(
    here: Path, capsys: pytest.CaptureFixture[str], options: str, message: str
) -> None:
    assert main(["identify", "payload", "good.parquet", *options.split()]) in (1, 2)
    assert message in capsys.readouterr().err


def test_axes_with_signs_and_several_intervals(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--exclude", "1", "1.2", "--exclude", "2", "2.2", "--wrench-axes=x,y,z", "--without", "tz"]
    given = found(capsys, "identify", "payload", "good.parquet", *options)["correction"]
    assert given["exclude"]["value"] == [[1.0, 1.2], [2.0, 2.2]]
    assert given["wrench_axes"]["value"] == ["x", "y", "z"]
    assert "correction" not in found(capsys, "identify", "payload", "good.parquet", "--exclude", "estimate")


def test_a_refuted_result_is_used_only_if_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["identify", "payload", "turned.parquet", "--output", "bad.json"]) == 1
    take = ["compensate", "turned.parquet", "--result", "bad.json", "--output", "clean.parquet"]
    assert main(take) == 1
    assert "which --accept-refuted allows" in capsys.readouterr().err
    assert main([*take, "--accept-refuted"]) == 0
    assert main(["identify", "payload", "other.parquet", "--method", "logchol", "--prior", "bad.json"]) == 2
    assert "bad.json is refuted by its own data" in capsys.readouterr().err
