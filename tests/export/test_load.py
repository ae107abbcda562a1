"""`IdentifiedLoad`: what it takes from a file, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iparam.errors import FileFormatError, InputError
from iparam.export import IdentifiedLoad, InconsistentLoadError, to_json

ROD = [[0.0306, 0.0004, 0.0006], [0.0004, 0.024, -0.0132], [0.0006, -0.0132, 0.013]]


def test_a_result_of_an_arm_that_is_not_known_is_in_its_tool_frame(write_result: Callable[..., Path]) -> None:
    assert IdentifiedLoad.from_json(write_result(robot="xarm7.urdf")).frame == "tool"
    assert IdentifiedLoad.from_json(write_result(robot="xarm7.urdf", frame="link_eef")).frame == "link_eef"


def test_a_result_is_read(write_result: Callable[..., Path], document: dict[str, Any]) -> None:
    load = IdentifiedLoad.from_json(write_result(warnings=["too slow"], robot="ur5e"))
    assert load.mass == 2.0
    assert load.center_of_mass.tolist() == [0.07, 0.06, 0.09]
    assert load.inertia_about_com.tolist() == ROD
    assert load.frame == "tool0"  # that of the arm, since the file does not say
    assert load.warnings == ("too slow",)
    assert load.violations == ()
    np.testing.assert_allclose(load.inertia_about_origin, document["inertia_about_origin"], atol=1e-15)
    np.testing.assert_allclose(load.phi, document["phi"], atol=1e-15)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": ...}, "mass is missing"),
        ({"center_of_mass": ...}, "center_of_mass is missing"),
        ({"inertia_about_com": ...}, "inertia_about_com is missing"),
        ({"inertia_about_com": None}, "inertia_about_com does not agree"),
        ({"format": ...}, "format is missing"),
        ({"format": "iparam-trajectory/1"}, "is a trajectory; this needs a result"),
        ({"mass": "2 kg"}, "mass must be a finite number"),
        ({"mass": float("nan")}, "NaN"),
        ({"center_of_mass": [0.0, float("inf"), 0.0]}, "Infinity"),
        ({"center_of_mass": [0.0, 0.0]}, r"center_of_mass must have shape \(3,\), got \(2,\)"),
        ({"inertia_about_com": [[1.0, 2.0, 3.0]]}, r"must have shape \(3, 3\), got \(1, 3\)"),
        (
            {"inertia_about_com": [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
            "inertia_about_com does not agree",
        ),
        ({"mass": 2.5}, "mass does not agree"),
        ({"phi": ...}, "phi is missing"),
        ({"warnings": "none"}, "warnings must be a list of texts"),
        ({"physically_consistent": "yes"}, "physically_consistent must be true or false"),
        ({"frame": "  "}, "a printable name on one line"),
        ({"frame": "a\x1b[1m"}, "a printable name on one line"),
        ({"frame": "a\nb"}, "a printable name on one line"),
    ],
)
def test_a_bad_result_is_refused_with_the_reason(
    changes: dict[str, Any], message: str, write_result: Callable[..., Path]
) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        IdentifiedLoad.from_json(write_result(**changes))
    assert "result.json" in str(caught.value)


@pytest.mark.parametrize("values", [(2.0, [0.0, 0.0], np.eye(3)), (np.nan, np.zeros(3), np.eye(3))])
def test_bad_values_are_refused(values: tuple[Any, Any, Any]) -> None:
    with pytest.raises(InputError):
        IdentifiedLoad(*values)


def test_inconsistency_is_found_in_the_numbers_whatever_the_file_says(bad_load: IdentifiedLoad) -> None:
    claimed = IdentifiedLoad(bad_load.mass, bad_load.center_of_mass, bad_load.inertia_about_com)
    with pytest.raises(InconsistentLoadError, match=r"triangle inequality .* 0\.01 \+ 0\.01 is not above 0\.1 kg m\^2"):
        claimed.require_consistency()


def test_what_the_identification_called_inconsistent_stays_so(load: IdentifiedLoad) -> None:
    doubted = IdentifiedLoad(load.mass, load.center_of_mass, load.inertia_about_com, physically_consistent=False)
    with pytest.raises(InconsistentLoadError, match="marked it as not physically consistent"):
        doubted.require_consistency()


def test_a_negative_mass_can_be_held_and_is_inconsistent() -> None:
    load = IdentifiedLoad(-1.0, np.array([0.1, 0.0, 0.0]), np.eye(3))
    assert any("mass must be positive" in text for text in load.violations)
    assert load.parameters.mass == -1.0


def test_json_is_read_back_exactly(load: IdentifiedLoad, tmp_path: Path) -> None:
    path = tmp_path / "load.json"
    path.write_text(to_json(load), encoding="utf-8")
    again = IdentifiedLoad.from_json(path)
    assert (again.mass, again.frame) == (load.mass, load.frame)
    assert (again.center_of_mass == load.center_of_mass).all()
    assert (again.inertia_about_com == load.inertia_about_com).all()


def test_an_estimate_is_taken() -> None:
    class Estimate:  # the attributes that are used
        mass, center_of_mass, inertia_about_com = 2.0, np.zeros(3), np.eye(3)
        physically_consistent, warnings, frame, robot, refutation = True, ("slow",), "", "ur5e", None
        covariance_phi = 1e-6 * np.eye(10)

    load = IdentifiedLoad.from_estimate(Estimate())  # type: ignore[arg-type]
    assert (load.mass, load.warnings, load.frame) == (2.0, ("slow",), "tool0")
    np.testing.assert_array_equal(load.covariance_phi, 1e-6 * np.eye(10))
    assert load.deviations is not None
    np.testing.assert_allclose(load.deviations[:5], [1e-3, 5e-4, 5e-4, 5e-4, 1e-3])  # dc = dh / m
