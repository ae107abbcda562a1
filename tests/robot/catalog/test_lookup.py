"""The catalogue by name: a file an arm, and a new arm is a new file and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import iparam
from iparam.errors import UnknownNameError
from iparam.robot.catalog import CatalogArm, catalog_arm, catalog_robot, dh_table, lookup, robot_names
from iparam.robot.collision.capsules import link_capsules
from iparam.simulation.motors import motors

FOLDER = Path(lookup.__file__).parent


def test_the_nine_arms_are_there_and_each_is_a_file() -> None:
    assert robot_names() == ("ur3", "ur5", "ur10", "ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30")
    assert sorted(robot_names()) == sorted(path.stem for path in FOLDER.rglob("*.toml"))
    assert catalog_robot("UR5e") is catalog_robot("ur5e")


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match=r"did you mean 'ur5e'.*ur16e"):
        catalog_robot("ur5ee")


@pytest.mark.parametrize("name", robot_names())
def test_every_row_is_complete(name: str) -> None:
    arm = catalog_arm(name)
    assert arm.name == arm.robot.name == name
    assert arm.robot.num_joints == arm.dh.num_joints == 6
    assert 3.0 <= arm.rated_load <= 35.0
    assert len(arm.link_radii) == 7
    assert (arm.wrist_sensor is not None) == (name == "ur5e")
    assert (arm.drives is not None) == (name == "ur10e")


@pytest.fixture
def larger_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The catalogue with one more file: an arm like the ur10e with the sensor of the ur5e."""
    rows = {path.stem: path for path in FOLDER.rglob("*.toml")}
    for path in rows.values():
        (tmp_path / path.parent.name).mkdir(exist_ok=True)
        (tmp_path / path.parent.name / path.name).write_bytes(path.read_bytes())
    sensor = rows["ur5e"].read_text(encoding="utf-8").partition("[wrist_sensor]")[2].partition("[shoulder]")[0]
    text = rows["ur10e"].read_text(encoding="utf-8") + f"\n[wrist_sensor]{sensor}"
    (tmp_path / "e_series" / "ur12e.toml").write_text(text, encoding="utf-8")
    monkeypatch.setattr(lookup, "FOLDER", tmp_path)
    lookup._files.cache_clear()
    yield
    lookup._files.cache_clear()
    lookup._read.cache_clear()


@pytest.mark.usefixtures("larger_catalogue")
def test_a_new_arm_is_a_new_file_and_nothing_else() -> None:
    assert iparam.robot_names() == ("ur3", "ur5", "ur10", "ur3e", "ur5e", "ur10e", "ur12e", "ur16e", "ur20", "ur30")
    robot = iparam.load_robot("UR12e")
    assert robot.name == "ur12e"
    assert next(capsule.radius for capsule in link_capsules(robot)) == 0.095
    assert dh_table("ur12e").d[0] == 0.1807
    assert catalog_arm("ur12e").rated_load == 12.5
    assert catalog_arm("ur12e").wrist_sensor["force_range"] == 50.0
    assert motors("ur12e").drive_gains.tolist() == motors("ur10e").drive_gains.tolist()
    assert isinstance(catalog_arm("ur12e"), CatalogArm)
