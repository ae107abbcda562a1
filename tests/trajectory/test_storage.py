"""Trajectory files: bit for bit there and back, old tools' files, and a sentence for everything that is wrong."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from iparam.errors import FileFormatError, FileWriteError, InputError
from iparam.trajectory import (
    JerkLimitedTrajectory,
    Trajectory,
    WindowedFourierTrajectory,
    load_trajectory,
    save_trajectory,
)

GOOD: dict[str, Any] = {
    "format": "iparam-trajectory/1",
    "robot": "ur5e",
    "config": {"num_harmonics": 2, "base_freq": 0.1, "duration": 10.0, "fps": 100.0, "q0": [0.5, -1]},
    "coefficients": {"a": [[0.1, 0.2], [0.3, 0.4]], "b": [[0.0, 0.0], [1, -0.25]]},
    "condition_number": 1.87,
    "validation": {"all_constraints_satisfied": True, "velocity": 0.01},
}


def same(first: Any, second: Any) -> bool:
    """Bit for bit, zeros' signs included."""
    if isinstance(first, Trajectory):
        names = [field.name for field in dataclasses.fields(first) if field.init]  # type: ignore[arg-type]
        return type(first) is type(second) and all(same(getattr(first, n), getattr(second, n)) for n in names)
    return np.asarray(first).tobytes() == np.asarray(second).tobytes()


def written(tmp_path: Path, document: Any) -> Path:
    path = tmp_path / "motion.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def changed(keys: str, value: Any) -> dict[str, Any]:
    """GOOD with one value changed, or without it where the value is ``...``."""
    document: dict[str, Any] = json.loads(json.dumps(GOOD))
    inner = document
    *path, last = keys.split(".")
    for key in path:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return document


def test_there_and_back_bit_for_bit(any_trajectory: Trajectory, tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    validation = {
        "all_constraints_satisfied": np.bool_(True),
        "margins": {"velocity": np.float64(0.1) * 3},
        "n": [1, None],
    }
    save_trajectory(
        path, any_trajectory, robot="ur5e", fps=1e3 / 3, condition_number=np.float64(1.87), validation=validation
    )
    back = load_trajectory(path)
    assert same(any_trajectory, back.trajectory)
    assert back.robot == "ur5e"
    assert back.fps == 1e3 / 3
    assert back.condition_number == 1.87
    assert back.validation == {"all_constraints_satisfied": True, "margins": {"velocity": 0.1 * 3}, "n": [1, None]}
    times = np.linspace(0.0, any_trajectory.duration, 50)
    assert_array_equal(back.trajectory.evaluate(times).jerk, any_trajectory.evaluate(times).jerk)
    first = path.read_bytes()
    save_trajectory(
        path, back.trajectory, robot="ur5e", fps=back.fps, condition_number=1.87, validation=back.validation
    )
    assert path.read_bytes() == first


def test_awkward_numbers_survive(tmp_path: Path) -> None:
    values = np.array([[0.1, -0.0, 5e-324, np.nextafter(1.0, 2.0), 1e9, np.pi]])
    trajectory = WindowedFourierTrajectory([1 / 3], values, -values, 0.1, 7.7)
    save_trajectory(tmp_path / "m.json", trajectory, robot=None, fps=125)
    back = load_trajectory(tmp_path / "m.json")
    assert same(trajectory, back.trajectory)
    assert (back.robot, back.condition_number, back.validation) == (None, None, None)


def test_the_document_is_as_designed(tmp_path: Path) -> None:
    trajectory = WindowedFourierTrajectory([0.5, -1.0], [[0.1, 0.2], [0.3, 0.4]], [[0.0, 0.0], [1.0, -0.25]], 0.1, 10.0)
    save_trajectory(
        tmp_path / "m.json",
        trajectory,
        robot="ur5e",
        fps=100,
        condition_number=1.87,
        validation={"all_constraints_satisfied": True, "velocity": 0.01},
    )
    document = json.loads((tmp_path / "m.json").read_text(encoding="utf-8"))
    assert document["config"].pop("family") == "windowed_fourier"
    assert document == GOOD
    assert list(document) == list(GOOD)


def test_without_a_family_it_is_a_windowed_fourier_series(tmp_path: Path) -> None:
    back = load_trajectory(written(tmp_path, GOOD))
    assert isinstance(back.trajectory, WindowedFourierTrajectory)
    assert back.trajectory.b.tolist() == [[0.0, 0.0], [1.0, -0.25]]


def test_files_of_the_first_tools_are_read(tmp_path: Path) -> None:
    document = {key: GOOD[key] for key in ("config", "coefficients", "condition_number", "validation")}
    back = load_trajectory(written(tmp_path, document))
    assert isinstance(back.trajectory, WindowedFourierTrajectory)
    assert back.robot is None
    assert back.fps == 100.0
    del document["config"]["fps"]
    assert load_trajectory(written(tmp_path, document)).fps == 100.0
    document["config"]["fps"] = 100.0


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        ("format", "iparam-trajectory/2", "format is 'iparam-trajectory/2'; this version of iparam reads"),
        ("format", 1, "format must be a string, got 1"),
        ("robot", 5, "robot must be a string, got 5"),
        ("config", ..., "config is missing: expected an object; there is format, robot"),
        ("config", [], "config must be an object, got a list of 0"),
        (
            "config.family",
            "fourrier",
            "config.family cannot be read: unknown family 'fourrier'; did you mean 'fourier'",
        ),
        ("config.family", 3, "config.family must be a string"),
        ("config.family", "quintic_spline", "config.times is missing"),
        ("config.family", "jerk_limited", "inner is missing"),
        ("config.family", "integrated_fourier", None),
        ("config.num_harmonics", ..., "config.num_harmonics is missing"),
        ("config.num_harmonics", 3, "coefficients.a must be 2 lists.*of 3 numbers.*got shape"),
        ("config.num_harmonics", "2", "config.num_harmonics must be a finite number, got '2'"),
        ("config.base_freq", ..., "config.base_freq is missing"),
        ("config.base_freq", 0, "base_freq must be between"),
        ("config.base_freq", True, "config.base_freq must be a finite number, got true"),
        ("config.duration", ..., "config.duration is missing"),
        ("config.duration", -1.0, "duration must be between"),
        ("config.duration", None, "config.duration must be a finite number, got null"),
        ("config.fps", ..., "config.fps is missing"),
        ("config.fps", 0.0, "config.fps cannot be used: it must be between"),
        ("config.fps", "100", "config.fps must be a finite number"),
        ("config.q0", ..., "config.q0 is missing: expected a list of numbers"),
        ("config.q0", [0.5], "coefficients.a must be 1 lists"),
        ("config.q0", [], "coefficients.a must be 0 lists"),
        ("config.q0", [[0.5, 1.0]], "config.q0 must be a list of numbers"),
        ("config.q0", 0.5, "config.q0 must be a list of numbers, got 0.5"),
        ("config.q0", [0.5, "1"], "config.q0 must be a list of numbers, and all finite; it holds '1'"),
        ("config.q0", [0.5, None], "it holds null"),
        ("config.q0", [0.5, 10**400], "a number that is too large"),
        ("config.q0", [0.5, 1e300], "q0 must stay within"),
        ("coefficients", ..., "coefficients is missing"),
        ("coefficients.a", ..., "coefficients.a is missing"),
        ("coefficients.a", [[0.1, 0.2]], "coefficients.a must be 2 lists"),
        ("coefficients.a", [[0.1, 0.2], [0.3]], "coefficients.a must be a list of lists of numbers, all as long"),
        ("coefficients.b", [0.1, 0.2], "coefficients.b must be a list of lists"),
        ("coefficients.b", [[0.1, True], [0.3, 0.4]], "it holds true"),
        ("coefficients.b", {"0": [1]}, "coefficients.b must be a list of lists.*got an object of 1"),
        ("coefficients.b", [[[1], [2]], [[3], [4]]], "it holds a list of 1"),
        ("coefficients.b", [], "coefficients.b must be 2 lists"),
        ("condition_number", "small", "condition_number must be a finite number"),
        ("condition_number", 1e51, "condition_number must stay within"),
        ("condition_number", 10**60, "condition_number must stay within"),
        ("validation", [], "validation must be an object"),
    ],
)
def test_wrong_documents(tmp_path: Path, keys: str, value: Any, message: str | None) -> None:
    path = written(tmp_path, changed(keys, value))
    if message is None:
        load_trajectory(path)
        return
    with pytest.raises(FileFormatError, match=message) as caught:
        load_trajectory(path)
    assert "motion.json" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON that can be read"),
        ("{", "not JSON that can be read"),
        ("null", "must hold a JSON object, got null"),
        ("[1]", "must hold a JSON object, got a list of 1"),
        (json.dumps(GOOD).replace("0.25", "NaN"), "it holds -?NaN, which is no number in JSON|not JSON"),
        (json.dumps(GOOD).replace("1.87", "Infinity"), "it holds Infinity"),
        (json.dumps(GOOD).replace("1.87", "NaN"), "it holds NaN"),
        (json.dumps(GOOD).replace("0.01", "1e999"), "the number 1e999 is too large"),
        (json.dumps(GOOD).replace("1.87", "9" * 5000), "not JSON that can be read"),
        (json.dumps(GOOD).replace('"robot"', '"format"'), "the key 'format' is there more than once"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        (
            '{"config": {"family": "blended", "blend_time": 1, "duration": 1}, "inner": ' * 800 + "{}" + "}" * 800,
            "motion.json",
        ),
    ],
)
def test_wrong_texts(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(FileFormatError, match=message):
        load_trajectory(written(tmp_path, text))


def test_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="does not exist"):
        load_trajectory(tmp_path / "none.json")
    with pytest.raises(FileFormatError, match="is a directory"):
        load_trajectory(tmp_path)
    with pytest.raises(FileFormatError, match=r"does not exist|cannot read"):
        load_trajectory("a\0b")
    with pytest.raises(InputError, match="as a path, got int"):
        load_trajectory(3)  # type: ignore[arg-type]
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00{")
    with pytest.raises(FileFormatError, match="not UTF-8"):
        load_trajectory(tmp_path / "binary.json")


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    path.write_text(json.dumps(GOOD), encoding="utf-8-sig")
    assert load_trajectory(path).robot == "ur5e"


def test_contradictions_are_found(make_trajectory: Callable[[str], Trajectory], tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    for family, key, message in (
        ("quintic_spline", "duration", "config.duration is 99 s|config.duration is 99.0 s"),
        ("jerk_limited", "duration", "config.duration is 99"),
        ("integrated_fourier", "base_freq", "config.base_freq must be 1 / duration"),
    ):
        save_trajectory(path, make_trajectory(family), robot="ur5e", fps=100.0)
        document = json.loads(path.read_text(encoding="utf-8"))
        document["config"][key] = 99
        with pytest.raises(FileFormatError, match=message):
            load_trajectory(written(tmp_path, document))


def test_errors_inside_a_blend_say_where(make_trajectory: Callable[[str], Trajectory], tmp_path: Path) -> None:
    path = tmp_path / "motion.json"
    save_trajectory(path, make_trajectory("jerk_limited"), robot="ur5e", fps=100.0)
    document = json.loads(path.read_text(encoding="utf-8"))
    document["inner"]["config"]["q0"] = None
    with pytest.raises(FileFormatError, match=r"inner\.config\.q0 must be a list of numbers, got null"):
        load_trajectory(written(tmp_path, document))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fps": 0.0}, "fps must be between"),
        ({"fps": np.nan}, "fps must be finite"),
        ({"robot": 5}, "robot must be the arm's name"),
        ({"condition_number": np.nan}, "condition_number is nan, which JSON cannot hold"),
        ({"condition_number": np.inf}, "condition_number is inf"),
        ({"condition_number": "small"}, "condition_number must be a number"),
        ({"condition_number": [1.0]}, "condition_number must be a number"),
        ({"condition_number": True}, "condition_number must be a number"),
        ({"validation": [1]}, "validation must be a mapping"),
        ({"validation": {"margins": {"velocity": np.nan}}}, "validation.margins.velocity is nan"),
        ({"validation": {"margins": [0.0, np.inf]}}, r"validation.margins\[1\] is inf"),
        ({"validation": {1: 2}}, "keys of validation must be strings, got 1"),
        ({"validation": {"when": object()}}, "validation.when must hold numbers"),
        ({"validation": {"z": 1j}}, "validation.z must hold numbers"),
    ],
)
def test_refused_on_writing_and_nothing_written(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    trajectory = WindowedFourierTrajectory([0.0], [[1.0]], [[0.0]], 0.1, 10.0)
    with pytest.raises(InputError, match=message):
        save_trajectory(tmp_path / "m.json", trajectory, **({"robot": "ur5e", "fps": 100.0} | arguments))
    assert os.listdir(tmp_path) == []


def test_endless_validation_is_refused(tmp_path: Path) -> None:
    endless: dict[str, Any] = {}
    endless["self"] = endless
    trajectory = WindowedFourierTrajectory([0.0], [[1.0]], [[0.0]], 0.1, 10.0)
    with pytest.raises(InputError, match="nested more than 20 deep"):
        save_trajectory(tmp_path / "m.json", trajectory, robot="ur5e", fps=100.0, validation=endless)


def test_only_known_families_are_stored(make_trajectory: Callable[[str], Trajectory], tmp_path: Path) -> None:
    class Still(Trajectory):
        duration = 1.0

        @property
        def num_joints(self) -> int:
            return 1

        def time_scaled(self, factor: float) -> Trajectory:
            return self

        def _derivatives(self, times: Any) -> Any:
            return np.zeros((4, times.size, 1))

    for trajectory in (Still(), JerkLimitedTrajectory(Still(), 0.5)):
        with pytest.raises(InputError, match="cannot store a Still; trajectories that can be stored: WindowedFourier"):
            save_trajectory(tmp_path / "m.json", trajectory, robot="ur5e", fps=100.0)
    with pytest.raises(InputError, match="trajectory must be a Trajectory, got list"):
        save_trajectory(tmp_path / "m.json", [1, 2], robot="ur5e", fps=100.0)  # type: ignore[arg-type]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, GOOD)
    before = path.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    trajectory = WindowedFourierTrajectory([0.0], [[1.0]], [[0.0]], 0.1, 10.0)
    with pytest.raises(FileWriteError, match="No space left"):
        save_trajectory(path, trajectory, robot="ur5e", fps=100.0)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["motion.json"]
