"""Friction terms and coupled drives that are chosen by what they predict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import iparam
from iparam.estimation.torque.joint_data import JointDataSource
from iparam.estimation.torque.term_choice import ALWAYS, _covered, with_chosen_terms
from iparam.estimation.torque.torque_model import TorqueModel
from iparam.recording import Recording


def with_torque(run: Recording, more: np.ndarray) -> Recording:
    tau = run.signal("tau")
    return run.with_signal("tau", time=tau.time, values=tau.values + more)


def chosen(run: Recording, robot: iparam.Robot, consistent: bool = True) -> TorqueModel:
    source = JointDataSource(run, robot)
    return with_chosen_terms(TorqueModel(robot), [source], np.ones(robot.num_joints), consistent=consistent)


def more_terms(model: TorqueModel) -> list[set[str]]:
    return [set(terms) - set(ALWAYS) for terms in model.joint_terms]


@pytest.fixture(scope="module")
def plain(make_run: Any) -> Recording:
    run: Recording = make_run()
    return run


@pytest.mark.parametrize("consistent", [True, False])
def test_plain_friction_asks_for_nothing_more(plain: Recording, robot: iparam.Robot, consistent: bool) -> None:
    model = chosen(plain, robot, consistent)
    assert model.friction.direction == "smooth"
    assert model.friction.smoothing_speed == 0.02
    assert not any(more_terms(model))
    assert model.couplings == ()


def test_what_a_joint_has_is_found_in_that_joint(plain: Recording, robot: iparam.Robot) -> None:
    q, dq = plain.signal("q").values, plain.signal("dq").values
    more = np.zeros_like(q)
    more[:, 2] += 8.0 * q[:, 2]
    more[:, 4] += 4.0 * np.tanh(dq[:, 4] / 0.5)
    model = chosen(with_torque(plain, more), robot)
    assert more_terms(model)[2] & {"spring", "sine"}
    assert any(term.startswith("saturating") for term in more_terms(model)[4])
    assert not more_terms(model)[0] | more_terms(model)[1]


@pytest.mark.parametrize("sign", [1, -1])
def test_a_drive_that_turns_with_two_joints_is_found(plain: Recording, robot: iparam.Robot, sign: int) -> None:
    dq = plain.signal("dq").values
    speed = dq[:, 4] + sign * dq[:, 5]
    drive = 3.0 * speed + 4.0 * np.tanh(speed / 0.02)
    more = np.zeros_like(dq)
    more[:, 4], more[:, 5] = drive, sign * drive
    model = chosen(with_torque(plain, more), robot)
    assert [coupling.name for coupling in model.couplings] == ["5+6" if sign > 0 else "5-6"]


def test_friction_that_would_drive_a_joint_is_none(plain: Recording, robot: iparam.Robot) -> None:
    dq = plain.signal("dq").values
    more = np.zeros_like(dq)
    more[:, 1] = -4.0 * np.tanh(dq[:, 1] / 0.5)
    found = more_terms(chosen(with_torque(plain, more), robot))[1]
    assert not any(term.startswith(("saturating", "forward", "load")) for term in found)


def test_waves_are_found_where_a_joint_moves_over_one_of_them(plain: Recording, robot: iparam.Robot) -> None:
    """A sixth of a turn is a period of six waves, and a piece of one wave: that tells nothing of the rest."""
    q = plain.signal("q").values
    moved = np.ptp(q, axis=0)
    joint = int(np.argmax(moved))
    assert moved[joint] > 2.0 * np.pi / 4.0
    more = np.zeros_like(q)
    more[:, joint] = 3.0 * np.sin(4.0 * q[:, joint] + 0.5)
    assert {"sine4", "cosine4"} <= more_terms(chosen(with_torque(plain, more), robot))[joint]
    assert _covered(("sine6", "cosine6"), 1.1)
    assert not _covered(("sine6", "cosine6"), 1.0)
    assert _covered(("sine", "cosine"), 0.1)
    assert _covered(("spring",), 0.1)
