"""What a setup says of the parameters of a node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from iparam.bridges.ros2.nodes.identification import PARAMETERS
from iparam.bridges.ros2.parameters import ROBOT, declare, setup_parameters
from iparam.errors import InputError
from iparam.sensing import Setup


def test_every_entry_is_a_parameter_that_may_have_it(tmp_path: Path) -> None:
    gripper = tmp_path / "gripper.json"
    setup = Setup(
        "ur10e",
        tip="flange",
        mounting="ceiling",
        gravity=(9.8,),
        sensor_rotation=(0.0, 0.0, 90.0),
        sensor_offset=(0.0, 0.0, 0.03),
        measures="reaction",
        zeroed="with load",
        gripper=gripper,
    )
    found = setup_parameters(setup)
    assert found["gravity"] == pytest.approx((0.0, 0.0, 9.8))
    assert (found["bias"], found["measures"], found["known_load"]) == ("zeroed", "reaction", str(gripper))
    known = {parameter.name: parameter for parameter in PARAMETERS}
    for name, value in found.items():
        assert known[name].check(value) == value
    assert setup_parameters(Setup("ur5e")) == {"robot": "ur5e"}


@pytest.mark.parametrize(
    ("entry", "reason"), [({"wrench_frame": "base"}, "'base'"), ({"base": "world"}, "robot.base"), ({}, "")]
)
def test_what_is_given_wins_and_what_no_node_can_do_is_refused(
    peer: Any, tmp_path: Path, entry: dict[str, Any], reason: str
) -> None:
    from rclpy.node import Node

    path = tmp_path / "setup.toml"
    Setup("ur10e", tip="flange", measures="reaction", **entry).save(path)
    words = ["--ros-args", "-p", f"setup:={path}", "-p", "robot:=ur5e"]
    node = Node("with_setup", context=peer.node.context, cli_args=words)
    try:
        if reason:
            with pytest.raises(InputError, match=reason):
                declare(node, PARAMETERS)
            return
        values = declare(node, PARAMETERS)
        assert (values["robot"], values["tip"], values["measures"]) == ("ur5e", "", "reaction")
        assert ROBOT[0].name == "setup"
    finally:
        node.destroy_node()
