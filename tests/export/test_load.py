"""`IdentifiedLoad`: what it takes from a file, and what it refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.bridges.ur.record.controller_signals import choose_conversion
from iparam.bridges.ur.record.rows import recording_of_rows
from iparam.bridges.ur.record.sample_times import SampleTimes
from iparam.errors import FileFormatError, InputError
from iparam.estimation import PayloadProblem
from iparam.estimation.errors import RefutedResultError
from iparam.estimation.estimators.consistent import ConsistentLeastSquares
from iparam.estimation.payload.estimate_assembly import precision_remarks
from iparam.export import IdentifiedLoad, InconsistentLoadError, to_json
from iparam.recording.screening import find_faults
from iparam.recording.signal import Signal
from iparam.remarks import Remark, Severity, read_remark, remark

SAID = remark("few-samples", count=12)
ROD = [[0.0306, 0.0004, 0.0006], [0.0004, 0.024, -0.0132], [0.0006, -0.0132, 0.013]]


def test_a_result_of_an_arm_that_is_not_known_is_in_its_tool_frame(write_result: Callable[..., Path]) -> None:
    assert IdentifiedLoad.from_json(write_result(robot="xarm7.urdf")).frame == "tool"
    assert IdentifiedLoad.from_json(write_result(robot="xarm7.urdf", frame="link_eef")).frame == "link_eef"


def test_a_result_is_read(write_result: Callable[..., Path], document: dict[str, Any]) -> None:
    load = IdentifiedLoad.from_json(write_result((SAID,), robot="ur5e"))
    assert load.mass == 2.0
    assert load.center_of_mass.tolist() == [0.07, 0.06, 0.09]
    assert load.inertia_about_com.tolist() == ROD
    assert load.frame == "tool0"  # that of the arm, since the file does not say
    assert load.remarks == (SAID,)
    assert load.violations == ()
    np.testing.assert_allclose(load.inertia_about_origin, document["inertia_about_origin"], atol=1e-15)
    np.testing.assert_allclose(load.phi, document["phi"], atol=1e-15)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": ...}, "mass is missing"),
        ({"center_of_mass": ...}, "center_of_mass is missing"),
        ({"inertia_about_com": ...}, "inertia_about_com is missing"),
        ({"inertia_about_com": None}, "inertia_about_com does not agree"),
        ({"format": ...}, "format is missing"),
        ({"format": "iparam-trajectory/1"}, "is a trajectory; this needs a result"),
        ({"mass": "2 kg"}, "mass must be a finite number"),
        ({"mass": float("nan")}, "NaN"),
        ({"center_of_mass": [0.0, float("inf"), 0.0]}, "Infinity"),
        ({"center_of_mass": [0.0, 0.0]}, r"center_of_mass must have shape \(3,\), got \(2,\)"),
        ({"inertia_about_com": [[1.0, 2.0, 3.0]]}, r"must have shape \(3, 3\), got \(1, 3\)"),
        (
            {"inertia_about_com": [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]},
            "inertia_about_com does not agree",
        ),
        ({"mass": 2.5}, "mass does not agree"),
        ({"phi": ...}, "phi is missing"),
        ({"remarks": "none"}, "remarks must be a list"),
        ({"remarks": ["slow"]}, "must have code, severity"),
        ({"remarks": [{"code": "few-samples", "severity": "fine"}]}, "must have code, severity"),
        ({"physically_consistent": "yes"}, "physically_consistent must be true or false"),
        ({"frame": "  "}, "a printable name on one line"),
        ({"frame": "a\x1b[1m"}, "a printable name on one line"),
        ({"frame": "a\nb"}, "a printable name on one line"),
    ],
)
def test_a_bad_result_is_refused_with_the_reason(
    changes: dict[str, Any], message: str, write_result: Callable[..., Path]
) -> None:
    with pytest.raises(FileFormatError, match=message) as caught:
        IdentifiedLoad.from_json(write_result(**changes))
    assert "result.json" in str(caught.value)


@pytest.mark.parametrize("values", [(2.0, [0.0, 0.0], np.eye(3)), (np.nan, np.zeros(3), np.eye(3))])
def test_bad_values_are_refused(values: tuple[Any, Any, Any]) -> None:
    with pytest.raises(InputError):
        IdentifiedLoad(*values)


def test_inconsistency_is_found_in_the_numbers_whatever_the_file_says(bad_load: IdentifiedLoad) -> None:
    claimed = IdentifiedLoad(bad_load.mass, bad_load.center_of_mass, bad_load.inertia_about_com)
    with pytest.raises(InconsistentLoadError, match=r"triangle inequality .* 0\.01 \+ 0\.01 is not above 0\.1 kg m\^2"):
        claimed.require_consistency()


def test_what_the_identification_called_inconsistent_stays_so(load: IdentifiedLoad) -> None:
    doubted = IdentifiedLoad(load.mass, load.center_of_mass, load.inertia_about_com, physically_consistent=False)
    with pytest.raises(InconsistentLoadError, match="marked it as not physically consistent"):
        doubted.require_consistency()


def test_a_negative_mass_can_be_held_and_is_inconsistent() -> None:
    load = IdentifiedLoad(-1.0, np.array([0.1, 0.0, 0.0]), np.eye(3))
    assert any("mass must be positive" in text for text in load.violations)
    assert load.parameters.mass == -1.0


def test_json_is_read_back_exactly(load: IdentifiedLoad, tmp_path: Path) -> None:
    path = tmp_path / "load.json"
    path.write_text(to_json(load), encoding="utf-8")
    again = IdentifiedLoad.from_json(path)
    assert (again.mass, again.frame) == (load.mass, load.frame)
    assert (again.center_of_mass == load.center_of_mass).all()
    assert (again.inertia_about_com == load.inertia_about_com).all()


def test_an_estimate_is_taken() -> None:
    class Estimate:  # the attributes that are used
        mass, center_of_mass, inertia_about_com = 2.0, np.zeros(3), np.eye(3)
        physically_consistent, remarks, frame, robot, refutation = True, (SAID,), "", "ur5e", None
        covariance_phi = 1e-6 * np.eye(10)

    load = IdentifiedLoad.from_estimate(Estimate())  # type: ignore[arg-type]
    assert (load.mass, load.remarks, load.frame) == (2.0, (SAID,), "tool0")
    np.testing.assert_array_equal(load.covariance_phi, 1e-6 * np.eye(10))
    assert load.deviations is not None
    np.testing.assert_allclose(load.deviations[:5], [1e-3, 5e-4, 5e-4, 5e-4, 1e-3])  # dc = dh / m


# ------------------------------------------------------------------------- which remarks keep a load from a controller
UR5E = iparam.load_robot("ur5e")
LOAD = iparam.InertialParameters(2.0, np.array([0.02, -0.01, 0.11]), np.diag([0.0104, 0.0083, 0.0054]))
TRAJECTORY = iparam.load_trajectory(Path(__file__).parents[1] / "data" / "optimized_ur5e.json").trajectory
FIELDS = {"actual_q": 6, "actual_qd": 6, "actual_TCP_force": 6, "payload": 1}


def recording(lag: float = 0.0, drifting: float = 0.0, sign: float = 1.0) -> iparam.Recording:
    """The optimised motion at 200 Hz, with a wrench that is late [s], that wanders [N] or has the wrong sign."""
    random = np.random.default_rng(3)
    time = np.arange(0.0, TRAJECTORY.duration, 0.005)
    q = TRAJECTORY.evaluate(time).q
    felt = TRAJECTORY.evaluate(np.clip(time - lag, 0.0, None))
    wrench = iparam.wrench_regressor(UR5E, felt.q, felt.dq, felt.ddq) @ LOAD.phi
    noise = random.standard_normal(wrench.shape)
    slow = np.array([np.convolve(column, np.ones(6) / 6.0, "same") for column in random.standard_normal((6, len(q)))])
    wrench = sign * wrench + (0.05 * noise + drifting * slow.T) * [1.0, 1.0, 1.0, 0.1, 0.1, 0.1]
    noisy = q + 1e-5 * random.standard_normal(q.shape)
    return iparam.Recording("ur5e", {"q": Signal(time, noisy), "wrench": Signal(time, wrench)})


def of_controller(force: list[float], payload: float = 0.0, gap: float = 0.0) -> tuple[Remark, ...]:
    """What a recording of a controller says that measures this force at rest, in base axes [N]."""
    columns, first = {}, 0
    for name, width in FIELDS.items():
        columns[name] = slice(first, first + width)
        first += width
    rows = np.zeros((100, first))
    rows[:, columns["actual_TCP_force"]] = [*force, 0.0, 0.0, 0.0]
    rows[:, columns["payload"]] = payload
    times = SampleTimes(0.002)
    stamps = 0.002 * np.arange(100) + gap * (np.arange(100) >= 50)
    placed = np.array([times.place(stamp, stamp) for stamp in stamps])
    conversion, notes = choose_conversion(UR5E, columns, rows)
    return recording_of_rows("ur5e", np.column_stack([placed, rows]), conversion, times, {}, notes).remarks


def lowering(remarks: Iterable[Remark]) -> list[str]:
    """The codes of those that discredit a load."""
    return [one.code for one in remarks if one.lowers]


def test_only_doubts_discredit_a_load(load: IdentifiedLoad) -> None:
    for severity in Severity:
        said = Remark("few-samples", severity, "Few.", {"count": 3})
        blocked = severity in (Severity.DOUBT, Severity.REFUTED)
        assert replace(load, remarks=(said,)).discredited_by == (("Few.",) if blocked else ())
    assert replace(load, refuted="No.").discredited_by == ("No.",)


def test_a_load_that_its_remarks_refute_needs_no_verdict(load: IdentifiedLoad, tmp_path: Path) -> None:
    said = Remark("few-samples", Severity.REFUTED, "None.", {"count": 3})
    (tmp_path / "load.json").write_text(to_json(replace(load, remarks=(said,), refuted="")), encoding="utf-8")
    with pytest.raises(RefutedResultError):
        IdentifiedLoad.from_json(tmp_path / "load.json").require_credit()


@pytest.mark.parametrize(("changes", "code"), [({"lag": 0.004}, "wrench-delayed"), ({"drifting": 2.0}, None)])
def test_what_was_compensated_or_is_counted_takes_nothing_from_a_result(
    changes: dict[str, float], code: str | None
) -> None:
    found = iparam.identify_payload(recording(**changes), delay=None)
    assert IdentifiedLoad.from_estimate(found).discredited_by == ()
    assert code is None or code in [one.code for one in found.remarks]


def test_a_reversed_sensor_discredits_its_result() -> None:
    """Without a word of whoever recorded it: the default method finds a body, but one that the data do not show."""
    found = iparam.identify_payload(recording(sign=-1.0))
    assert found.mass > 0.0
    assert found.physically_consistent
    assert IdentifiedLoad.from_estimate(found).discredited_by != ()


def test_a_force_without_the_configured_payload_discredits_its_result() -> None:
    """The controller has taken out the weight of 1.7 of 2 kg; the 0.3 kg that are left would be a plausible load."""
    whole = recording()
    q = whole.signal("q")
    weight = 1.7 * 9.81 * iparam.forward_kinematics(UR5E, q.values)[:, 2, :3]  # upward, in tool0
    known = np.concatenate([weight, np.cross(LOAD.center_of_mass, weight)], axis=1)
    rest = Signal(q.time, whole.signal("wrench").values - known)
    said = of_controller([0.0, 0.0, -19.62], payload=1.7)
    found = iparam.identify_payload(whole.with_signal("wrench", rest).with_remarks(*said))
    assert 0.2 < found.mass < 2.0
    assert "tcp-force-without-payload" in lowering(found.remarks)


def test_what_a_controllers_recording_says() -> None:
    weight = [0.0, 0.0, -19.62]
    assert lowering(of_controller(weight)) == []
    lost = of_controller(weight, gap=0.02)
    assert [one.code for one in lost] == ["connection-gaps"]
    assert lowering(lost) == []
    assert lowering(of_controller(weight, payload=2.0)) == ["tcp-force-without-payload"]
    assert lowering(of_controller([0.0, 0.0, 19.62])) == ["sign-pushes-down"]


def test_a_sign_that_is_put_right_is_no_longer_doubted() -> None:
    reversed_ = recording(sign=-1.0).with_remarks(*of_controller([0.0, 0.0, 19.62]))
    found = iparam.identify_payload(reversed_, correction=iparam.sensing.Correction(measures="reaction"))
    assert lowering(found.remarks) == []


def test_what_a_bag_says_takes_nothing_from_a_result(tmp_path: Path) -> None:
    """What was left out of it; of efforts, nothing concerns a wrench."""
    whole = recording()
    time, q = whole.signal("q").time, whole.signal("q").values
    iparam.bridges.bag.write_bag(whole.with_signal("tau", time=time, values=q), tmp_path / "bag", "ur5e")
    (tmp_path / "bag" / "metadata.yaml").unlink()
    imported = iparam.bridges.bag.read_bag(tmp_path / "bag", "ur5e")
    assert {"bag-unfinished", "efforts-taken-for-torques"} <= {one.code for one in imported.remarks}
    assert lowering(iparam.identify_payload(imported).remarks) == []


def test_what_files_and_signals_say(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    times = np.delete(np.arange(0.0, 1.0, 0.01), slice(40, 60))
    lines = [f"{t},{t},1,2,3,4,5,{t},7" for t in times]
    path.write_text("time,q0,q1,q2,q3,q4,q5,strange,fx\n" + "\n".join(lines) + "\n9.9,1")
    found = iparam.Recording.load(path, robot="ur5e").remarks
    assert {"gaps", "columns-unknown", "row-cut"} <= {one.code for one in found if not one.lowers}
    time = np.arange(0.0, 3.0, 0.01)
    frozen = find_faults({"wrench": Signal(time, np.ones((300, 6)))})
    assert set(lowering(frozen)) == {"signal-frozen"}


def test_distances_that_noise_explains() -> None:
    """The nearest consistent body, a little away from noisy data about a rod without thickness, and far from others."""
    random = np.random.default_rng(5)
    states = TRAJECTORY.evaluate(np.linspace(0.0, TRAJECTORY.duration, 300))
    A = iparam.wrench_regressor(UR5E, states.q, states.dq, states.ddq)
    deviation = np.array([0.5, 0.5, 0.5, 0.05, 0.05, 0.05])
    pose = np.eye(4)
    pose[2, 3] = 0.1
    rod = iparam.InertialParameters.box(1.0, (1e-3, 1e-3, 0.2)).transformed(pose).phi
    for phi, trusted in ((rod, True), (rod * [1, 1, 1, 1, -1, 1, 1, -1, 1, -1], False)):
        y = A @ phi + deviation * random.standard_normal((300, 6))
        found = ConsistentLeastSquares().fit(PayloadProblem(A, y, states.time, bias=False))
        (moved,) = (one for one in found.remarks if one.code == "nearest-body-taken")
        assert moved.lowers != trusted


def test_what_is_not_known_discredits() -> None:
    unknown = precision_remarks(np.ones(10), np.full(10, 5.0))
    assert unknown
    assert lowering(unknown) == [one.code for one in unknown]
    later = {"code": "of-a-later-version", "severity": "info", "message": "", "values": {}, "fix": None}
    assert read_remark(later, "result.json").severity is Severity.DOUBT


def test_a_result_that_says_nothing_of_remarks_is_not_one_without(write_result: Callable[..., Path]) -> None:
    """Whoever cuts the list out of a file does not make the numbers better."""
    assert IdentifiedLoad.from_json(write_result()).discredited_by == ()
    assessment = {"verdict": "usable", "sentence": "", "causes": []}
    unsaid = IdentifiedLoad.from_json(write_result(remarks=..., warnings=..., assessment=assessment))
    assert lowering(unsaid.remarks) == ["remarks-unstated"]
