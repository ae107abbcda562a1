"""Which topic is read where a bag has several of a type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from iparam.bridges.bag import read_bag
from iparam.errors import InputError

START = 1_700_000_000_000_000_000
UR = ("/joint_states", "/force_torque_sensor_broadcaster/wrench"), ("/servo/joint_states", "/ft_filtered/wrench")
PREFIXED = ("/left/joint_states", "/left/force_torque_sensor_broadcaster/wrench"), ("/commands", "/left/filtered")
FRANKA = (
    ("/joint_states", "/franka_robot_state_broadcaster/external_wrench_in_stiffness_frame"),
    ("/franka/joint_states", "/franka_robot_state_broadcaster/external_wrench_in_base_frame"),
)
XARM = ("/xarm/joint_states", "/xarm/uf_ftsensor_raw_states"), ("/planned", "/xarm/uf_ftsensor_ext_states")
KUKA = (
    ("/joint_states", "/force_torque_sensor_broadcaster/wrench"),
    ("/joint_trajectory/joint_states_filtered", "/estimate"),
)


@pytest.mark.parametrize(("wanted", "others"), [UR, PREFIXED, FRANKA, XARM, KUKA])
def test_the_topics_of_common_drivers_are_taken(maker: Any, wanted: tuple[str, str], others: tuple[str, str]) -> None:
    from tests.bridges.bag.conftest import UR_JOINTS

    for i in range(50):
        stamp = START + 2_000_000 * i
        for scale, (joints, wrench) in ((1.0, wanted), (0.5, others)):
            maker.joints(stamp, UR_JOINTS, [scale * (0.1 + 0.001 * i)] * 6, topic=joints)
            maker.wrench(stamp, [0.0, 0.0, 20.0 * scale, 0.1, 0.2, 0.0], topic=wrench)
    recording = read_bag(maker.write(), "ur5e")
    assert recording.signal("q").values[0, 0] == 0.1
    assert abs(recording.signal("wrench").values[0, 2]) == 20.0
    taken = [one for one in recording.remarks if one.code == "topic-chosen"]
    assert {one.values["topic"] for one in taken} == set(wanted)
    assert all(str(one.values["others"]) in others for one in taken)


def test_two_of_the_same_kind_are_not_guessed(maker: Any, fill: Callable[..., None]) -> None:
    fill(maker, 20)
    for i in range(20):
        for side in ("left", "right"):
            maker.wrench(START + i * 2_000_000, [0.0] * 6, topic=f"/{side}/uf_ftsensor_raw_states")
    maker.messages = [message for message in maker.messages if message[0] != "/wrench"]
    with pytest.raises(InputError, match=r"2 topics of type .*wrench_topic="):
        read_bag(maker.write(), "ur5e")
