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
        ("{arm}/{tool}/{time}", "a7/saw/2026-11-03.parquet", ("a7", "saw", (2026, 11, 3))),
        ("{arm}/{tool}/{time}", "a7/saw/2026-11-03", ("a7", "saw", (2026, 11, 3))),
        ("{arm}/{tool}/{time}.*", "a7/saw/2026-11-03.csv", ("a7", "saw", (2026, 11, 3))),
        ("{arm}/{tool}", "a7/saw.mcap.zstd", ("a7", "saw", None)),
        ("{arm}/{tool}", "a7/saw.v2.CSV", ("a7", "saw.v2", None)),
        ("{arm}/{time}", "a7/20261103-0405.db3", ("a7", "", (2026, 11, 3, 4, 5))),
        ("{arm}.{tool}.csv", "a(1+.saw.csv", ("a(1+", "saw", None)),
    ],
)
def test_names_say_what_they_are_told_to(layout: str, name: str, expected: tuple) -> None:
    arm, tool, moment = expected
    when = None if moment is None else datetime.datetime(*moment, tzinfo=UTC)
    assert Layout(layout).labels(name) == Labels(arm, tool, when)


def test_names_that_do_not_fit_are_told() -> None:
    layout = Layout("{arm}/{tool}/{time}.parquet")
    assert layout.labels("saw.parquet") is None
    assert layout.remarks(["a/b/20261101.parquet"]) == []
    (remark,) = layout.remarks(["a/b/20261101.parquet", "a/b/20261101.csv"])
    assert "does not fit 1 of 2 recordings, a/b/20261101.csv: it has the arm, tool and time of" in remark
    assert remark.endswith("or none; '{arm}/{tool}/{time}', without a suffix, fits all")
    (remark,) = layout.remarks(["a/b/20261101.parquet", *(f"{number}.csv" for number in range(5))])
    assert "5 of 6 recordings, 0.csv, 1.csv, 2.csv and 2 more" in remark
    assert remark.endswith("or none")
    (remark,) = layout.remarks(["a/b/20261101.parquet", "a/b/run7.parquet"])
    assert "is no date in 1 of 2 recordings, a/b/run7.parquet: it has the time of the recording" in remark
    with pytest.raises(InputError, match=r"fits none of the recordings: x.csv$"):
        layout.remarks(["x.csv"])


def test_a_time_zone_is_kept() -> None:
    found = Layout("{time}.csv").labels("2026-11-03T04:05:06+02:00.csv")
    assert found is not None
    assert found.recorded == datetime.datetime(2026, 11, 3, 2, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "runs/*.csv", "{robot}/{tool}", "{arm}/{arm}"])
def test_what_is_no_layout_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"must name some of \{arm\}, \{tool\}, \{time\}, each once"):
        Layout(text)
