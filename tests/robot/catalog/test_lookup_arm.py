"""A row of the catalogue says all that it must, and nothing that nobody reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from iparam.errors import FileFormatError
from iparam.robot.catalog import CatalogArm, lookup

ROW = (Path(lookup.__file__).parent / "e_series" / "ur10e.toml").read_text(encoding="utf-8")


def test_a_row_is_read() -> None:
    arm = CatalogArm.from_toml(ROW, "mine")
    assert (arm.name, arm.robot.name, arm.rated_load) == ("mine", "mine", 12.5)
    assert arm.drives is not None
    assert arm.drives["viscous"] == (20.0, 19.0, 10.0, 3.6, 2.5, 2.6)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "rated_load = 12.5",
            "rated_load = 12.5\nrated_laod = 3",
            "row of mine: unknown key 'rated_laod'; known: rated",
        ),
        ("rated_load = 12.5", "", "row of mine: the key 'rated_load' is missing"),
        ("rated_load = 12.5", 'rated_load = "12.5"', "rated_load must be a number, got '12.5'"),
        ("rated_load = 12.5", "rated_load = true", "rated_load must be a number, got True"),
        ("rated_load = 12.5", "rated_load = 12.5 kg", "row of mine is not TOML that can be read"),
        ("0.045, 0.045]", "0.045]", "link_radii must be a list of 7 numbers, got"),
        ("viscous = [20.0", "viscuous = [20.0", "row of mine: drives: unknown key 'viscuous'; known: drive_gains"),
        (
            "[wrist_2]\norigin = {",
            "[wrist_2]\norigin = { z = 0, ",
            "mine: wrist_2: origin: unknown key 'z'; known: xyz",
        ),
        ("[wrist_2]\n", "[wrist_2]\nlength = 1\n", "row of mine: wrist_2: unknown key 'length'"),
        ("[wrist_2]", "[wrist2]", "row of mine: unknown key 'wrist2'"),
        ("[dh]", "[dh]\ntheta_offset = [0, 0, 0, 0, 0, 0]", "row of mine: dh: unknown key 'theta_offset'"),
        (
            "rated_load = 12.5",
            "rated_load = 12.5\nwrist_sensor = 3",
            "wrist_sensor must be a table with the keys force",
        ),
        ("rated_load = 12.5", "rated_load = 12.5\nwrist_sensor = {}", "wrist_sensor: the key 'force_range' is missing"),
    ],
)
def test_what_is_missing_wrong_or_unknown_is_named(old: str, new: str, message: str) -> None:
    assert old in ROW
    with pytest.raises(FileFormatError, match=message):
        CatalogArm.from_toml(ROW.replace(old, new, 1), "mine")
