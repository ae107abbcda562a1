from __future__ import annotations

import json
import re
import runpy
import string
from pathlib import Path

import numpy as np
import pytest

import iparam
from iparam.errors import FileFormatError, UnknownNameError
from iparam.remarks import CODES, Severity, read_remark, remark

DOCS = Path(__file__).resolve().parents[1] / "docs"
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


def test_the_page_lists_every_code_as_it_is() -> None:
    made = runpy.run_path(str(DOCS / "remarks_page.py"))
    assert (DOCS / "reference" / "remarks.md").read_text("utf-8") == made["page"](), "run docs/remarks_page.py"
    assert all(f"| `{code}` |" in made["page"]() for code in CODES)


OPTION_OR_ARGUMENT = re.compile(r"(?<![\w-])--[a-z]|\b\w+=(?!=)")


@pytest.mark.parametrize("code", CODES)
def test_a_message_is_a_sentence_without_options(code: str) -> None:
    """What to set is the fix, which each interface spells in its own way."""
    template = CODES[code].template
    assert template[0].isupper() or template[0] in "{0123456789"
    assert template[-1] in ".?}"
    assert not OPTION_OR_ARGUMENT.search(template)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)


@pytest.mark.parametrize("severity", Severity)
def test_only_doubts_lower_a_result(severity: Severity) -> None:
    assert remark("row-cut", severity, line=3).lowers is (severity in (Severity.DOUBT, Severity.REFUTED))


def test_a_remark_of_a_file_is_the_one_that_was_written() -> None:
    made = remark("angles-large", fix={"angles": "degrees"}, largest=np.float64(90.0))
    back = read_remark(json.loads(json.dumps(made.to_document())), "a.json")
    assert back == made
    listed = remark("gravity-unusual", gravity=np.array([0.0, 0.0, -1.62]))
    assert read_remark(json.loads(json.dumps(listed.to_document())), "a.json") == listed


def test_a_code_of_another_version_is_at_least_a_doubt() -> None:
    document = remark("row-cut", line=3).to_document() | {"code": "of-a-later-version"}
    assert read_remark(document, "a.json").severity is Severity.DOUBT
    assert read_remark(document | {"severity": "refuted"}, "a.json").severity is Severity.REFUTED


@pytest.mark.parametrize(
    "wrong", [None, "a text", {}, {"code": "row-cut", "severity": "grave", "message": "", "values": {}, "fix": None}]
)
def test_what_is_no_remark_is_refused_with_the_file(wrong: object) -> None:
    with pytest.raises(FileFormatError, match=r"a\.json"):
        read_remark(wrong, "a.json")


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
