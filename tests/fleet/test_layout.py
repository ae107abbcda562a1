"""`Layout`: arm, tool and time from names."""

from __future__ import annotations

import datetime

import pytest

from iparam.errors import InputError
from iparam.fleet import Labels, Layout

UTC = datetime.UTC


@pytest.mark.parametrize(
    ("layout", "name", "expected"),
    [
        ("{arm}/{tool}/{time}.parquet", "a7/gripper/2026-11-03T0405.parquet", ("a7", "gripper", (2026, 11, 3, 4, 5))),
        ("{arm}/*_{tool}.csv", "hall/a7/run3_saw.csv", ("a7", "saw", None)),
        ("{time}_{arm}.mcap", "20261103-040506_a7.mcap", ("a7", "", (2026, 11, 3, 4, 5, 6))),
        ("{arm}/**/{tool}.bag", "a7/x/y/saw.bag", ("a7", "saw", None)),
        ("{arm}/{tool}.csv", "saw.csv", ("", "", None)),
        ("{arm}.{tool}.csv", "a(1+.saw.csv", ("a(1+", "saw", None)),
    ],
)
def test_names_say_what_they_are_told_to(layout: str, name: str, expected: tuple) -> None:
    arm, tool, moment = expected
    when = None if moment is None else datetime.datetime(*moment, tzinfo=UTC)
    assert Layout(layout).labels(name) == Labels(arm, tool, when)


def test_a_time_zone_is_kept() -> None:
    found = Layout("{time}.csv").labels("2026-11-03T04:05:06+02:00.csv").recorded
    assert found == datetime.datetime(2026, 11, 3, 2, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "runs/*.csv", "{robot}/{tool}", "{arm}/{arm}"])
def test_what_is_no_layout_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"must name some of \{arm\}, \{tool\}, \{time\}, each once"):
        Layout(text)
