from __future__ import annotations

import json
import string
from pathlib import Path

import pytest

import iparam
from iparam.errors import UnknownNameError
from iparam.remarks import CODES, Severity, remark

PLAN = Path(__file__).parent / "data" / "optimized_ur5e.json"


@pytest.mark.parametrize("code", CODES)
def test_a_message_names_exactly_the_values_of_its_remark(code: str) -> None:
    names = {name for _, name, _, _ in string.Formatter().parse(CODES[code][1]) if name}
    made = remark(code, **dict.fromkeys(names, 1.5))
    assert set(made.values) == names
    assert made.severity is CODES[code][0]
    assert "{" not in made.message


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        remark("no-such-code")


def test_a_severity_of_the_occurrence_counts() -> None:
    made = remark("above-rated-load", Severity.INFO, mass=8.1, robot="ur5e", rated=5.0)
    assert made.to_document()["severity"] == "info"
    assert made.to_document()["values"] == {"mass": 8.1, "robot": "ur5e", "rated": 5.0}


@pytest.mark.parametrize(("removed", "codes"), [((), []), (("format",), ["assumed-window"])])
def test_a_plan_of_the_earlier_system_says_which_window_was_assumed(
    removed: tuple[str, ...], codes: list[str], tmp_path: Path
) -> None:
    document = json.loads(PLAN.read_text("utf-8"))
    document["config"].pop("family", None)
    for key in removed:
        del document[key]
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document), "utf-8")
    planned = iparam.load_trajectory(path)
    assert [one.code for one in planned.remarks] == codes
    assert planned.trajectory.duration == iparam.load_trajectory(PLAN).trajectory.duration
