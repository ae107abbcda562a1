"""`identify_robot` and `identify_payload_from_torque` with joints left out, given friction and coupled drives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.torque import FrictionModel
from iparam.estimation.torque.robot_identification import grouped
from iparam.motion import ButterworthMotion
from iparam.recording import Recording

COUPLED = {"rotor_inertia": 0.4, "viscous": 3.0, "coulomb": 2.0}


def with_torques(run: Recording, torque: np.ndarray) -> Recording:
    return run.with_signal("tau", time=run.signal("tau").time, values=torque)


def with_broken_sensor(run: Recording, joint: int) -> Recording:
    torque = run.signal("tau").values.copy()
    torque[:, joint] = 40.0 + 30.0 * np.random.default_rng(joint).standard_normal(len(torque))
    return with_torques(run, torque)


def with_coupled_drive(run: Recording) -> Recording:
    """The run of an arm whose sixth motor also turns with joint 5."""
    time, dq, torque = run.signal("dq").time, run.signal("dq").values, run.signal("tau").values.copy()
    speed = dq[:, 4] + dq[:, 5]
    drive = COUPLED["rotor_inertia"] * np.gradient(speed, time) + COUPLED["viscous"] * speed
    torque[:, 4:] += (drive + COUPLED["coulomb"] * np.tanh(speed / 0.02))[:, None]
    return with_torques(run, torque)


def test_a_broken_torque_sensor_can_be_left_out(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    sound = make_run()
    settings: dict[str, Any] = {"friction": truth.friction, "couplings": (), "leave_out": [5]}
    broken = iparam.identify_robot([with_broken_sensor(sound, 5)], robot, **settings)
    same = iparam.identify_robot([sound], robot, compare=False, **settings)
    np.testing.assert_allclose(broken.base_values, same.base_values, rtol=1e-9)
    np.testing.assert_allclose(broken.base_deviation, same.base_deviation, rtol=1e-9)
    phi = robot.body_parameters.ravel()
    true = np.concatenate([phi, truth.rotors, truth.viscous, truth.coulomb, truth.offset])
    errors = (broken.base_values - grouped(broken.model) @ true) / broken.base_deviation
    assert np.abs(errors).max() < 4.0
    assert not {name for name in broken.base_names if name.startswith(("rotor6", "viscous6", "coulomb6", "offset6"))}
    document = broken.to_document()
    assert document["left_out"] == [6]
    assert document["friction"]["viscous"][5] is None
    assert document["rotor_inertia"][5] is None
    assert document["friction_terms"][5] == []
    assert document["torque_residual_rms"][5] is None
    assert [one.values["joints"] for one in broken.remarks if one.code == "efforts-left-out"] == ["6"]
    for prediction in broken.validate(make_run(1, motion_seed=1)).values():
        assert np.isnan(prediction.rms).tolist() == [False] * 5 + [True]
        assert np.isnan(prediction.relative).tolist() == [False] * 5 + [True]
    with pytest.raises(InputError, match="at least one"):
        iparam.identify_robot([sound], robot, leave_out=range(6))


@pytest.mark.parametrize("first", [0, 1])
def test_joints_without_a_torque_sensor_are_left_out(
    first: int, make_run: Any, truth: Any, robot: iparam.Robot, tmp_path: Path
) -> None:
    run = make_run().without_signal("dq")
    run.save(tmp_path / "whole.csv")
    header, *rows = (tmp_path / "whole.csv").read_text().splitlines()
    names = header.split(",")
    kept = [i for i, name in enumerate(names) if name not in ("tau0", "tau3", "tau5")]
    head = [names[i] if i == 0 else f"{names[i][:-1]}{int(names[i][-1]) + first}" for i in kept]
    lines = [",".join(row.split(",")[i] for i in kept) for row in rows]
    (tmp_path / "some.csv").write_text("\n".join([",".join(head), *lines]) + "\n")
    some = Recording.load(tmp_path / "some.csv", robot=robot)
    settings: dict[str, Any] = {"friction": truth.friction, "couplings": (), "compare": False}
    asked = iparam.identify_robot([run], robot, leave_out=[0, 3, 5], **settings)
    for suffix in ("csv", "parquet"):
        some.save(tmp_path / f"again.{suffix}")
        again = Recording.load(tmp_path / f"again.{suffix}", robot=robot)
        (unmeasured,) = (one for one in again.remarks if one.code == "effort-unmeasured")
        assert (unmeasured.values["signal"], unmeasured.values["joints"]) == ("tau", "1, 4, 6")
        found = iparam.identify_robot([again], robot, **settings)
        assert found.left_out == (0, 3, 5)
        np.testing.assert_allclose(found.base_values, asked.base_values, rtol=1e-9)
        unlike = np.isnan(asked.validate(again)["identified"].rms)
        assert unlike.tolist() == [True, False, False, True, False, True]
    with pytest.raises(IdentificationError, match="no joint is left"):
        iparam.identify_robot([some], robot, leave_out=[1, 2, 4])


def test_the_load_does_without_a_broken_torque_sensor(
    make_run: Any, robot: iparam.Robot, load: iparam.InertialParameters
) -> None:
    bare = with_broken_sensor(make_run(), 3)
    loaded = with_broken_sensor(make_run(1, load, motion_seed=1), 3)
    found = iparam.identify_payload_from_torque(bare, loaded, robot, leave_out=[3])
    assert found.mass_interval[0] < load.mass < found.mass_interval[1]
    # Alone by what the joints' gains may differ between the runs, 0.6 % as these can tell, it is 0.2 kg wide.
    assert found.mass_interval[1] - found.mass_interval[0] < 0.25
    document = found.to_document()
    assert document["left_out"] == [4]
    assert document["torque_residual_rms"][3] is None
    assert [len(own) >= 3 for own in document["friction_terms"]] == [True, True, True, False, True, True]
    assert all(values[3] is None for values in document["friction"].values())


def test_a_coupled_drive_is_found_forced_or_switched_off(make_run: Any, truth: Any, robot: iparam.Robot) -> None:
    run = with_coupled_drive(make_run(noise=0.3))
    chosen = iparam.identify_robot([run], robot, friction=truth.friction, compare=False)
    assert [drive.coupling.name for drive in chosen.coupled_drives] == ["5+6"]
    forced = iparam.identify_robot([run], robot, friction=truth.friction, couplings=["5+6"], compare=False)
    np.testing.assert_array_equal(forced.parameters, chosen.parameters)
    (drive,) = forced.to_document()["couplings"]
    assert drive["joints"] == [5, 6]
    assert {name: drive[name] for name in COUPLED} == pytest.approx(COUPLED, rel=0.1)
    none = iparam.identify_robot([run], robot, friction=truth.friction, couplings=(), compare=False)
    assert none.coupled_drives == ()
    assert none.fit_rms[4:].min() > 2.0 * forced.fit_rms[4:].max()
    matrix = np.eye(6)
    matrix[5, 4] = 1.0
    from_matrix = iparam.identify_robot([run], robot, friction=truth.friction, couplings=matrix, compare=False)
    np.testing.assert_array_equal(from_matrix.parameters, forced.parameters)


def test_given_friction_and_motion_are_used_in_all_joints(make_run: Any, robot: iparam.Robot) -> None:
    terms = ("viscous", "coulomb", "stribeck:0.05")
    source = ButterworthMotion(5.0)
    found = iparam.identify_robot(
        [make_run()], robot, friction=FrictionModel(terms), couplings=(), motion=source, compare=False
    )
    assert found.friction_terms == (terms,) * 6
    assert set(found.to_document()["friction"]) == set(terms)
    assert found.motion is source
