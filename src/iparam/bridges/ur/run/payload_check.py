"""`check_payload`: whether the load that a controller reckons with is the one that hangs there, by a short motion.

The motion turns the wrist where the arm stands (`wrist_motions`). Three witnesses:

- the wrench of the sensor, predicted from the controller's payload as `iparam verify` does with a result;
- the TCP force, from which the controller has taken its payload: what a right one leaves does not change with the pose;
- the motor currents beside the controller's targets, which are those of its own model with that payload. Friction is in
  them, so they are told, not judged.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError
from iparam.estimation import Estimate, Verification, verify_estimate
from iparam.estimation.assessment.run_analysis import RunAnalysis, analyze_run
from iparam.estimation.payload.covariance import Scores, estimate_covariance
from iparam.estimation.payload.estimate_assembly import estimate_of
from iparam.motion.sources import KalmanMotion
from iparam.recording.alignment import align
from iparam.recording.channels import CHANNELS
from iparam.recording.recording import Recording
from iparam.recording.signal import Signal
from iparam.recording.statements import recorded_gravity
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import Robot
from iparam.rounding import NORMAL_95
from iparam.spatial.parameters import InertialParameters
from iparam.trajectory import QuinticSpline

AMPLITUDES = tuple(np.radians([45.0, 30.0, 20.0, 10.0]).tolist())
"""By which the wrist's joints may turn, the largest that is free [rad]."""

CENTER_TOLERANCE = 0.005
"""By which the centre of mass may be elsewhere than the controller has it, besides three standard deviations [m]: what
the fingers of a gripper and a hose change. The wrench's residual alone would let pass twice as much."""

_PATH = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=np.float64)
"""Of the three joints of the wrist: gravity then has three directions in the tool that do not lie in a plane."""

_KNOTS = np.array([0.0, 1.0, 2.0, 3.0, 4.0])


def wrist_motions(present: FloatArray, speed: float, largest: float = AMPLITUDES[0]) -> Iterator[QuinticSpline]:
    """Short motions of the wrist from rest to rest where the arm stands, the most telling first.

    Args:
        present: (6,) where it stands [rad].
        speed: of the fastest joint [rad/s].
        largest: angle by which a joint may turn [rad].
    """
    for amplitude in (largest, *(angle for angle in AMPLITUDES if angle < largest)):
        for signs in product((1.0, -1.0), repeat=3):
            points = np.repeat(present[None, :], len(_PATH), axis=0)
            points[:, 3:] += amplitude * np.array(signs) * _PATH
            motion = QuinticSpline(_KNOTS, points)
            fastest = float(np.abs(motion.sample(100.0).dq).max())
            yield motion.time_scaled(fastest / speed)


@dataclass(frozen=True, eq=False)
class CurrentDifference:
    """Motor currents beside the controller's targets, of the joint with the largest share.

    Attributes:
        joint: its name.
        difference: root mean square of actual - target [A].
        target: root mean square of the target [A].
    """

    joint: str
    difference: float
    target: float


@dataclass(frozen=True, eq=False)
class ShownWeight:
    """What a motion shows of the load by itself.

    Attributes:
        mass, mass_deviation: [kg], and its standard deviation.
        center_of_mass, center_deviation: (3,) in the flange's frame [m], and theirs.
    """

    mass: float
    mass_deviation: float
    center_of_mass: FloatArray
    center_deviation: FloatArray

    def __str__(self) -> str:
        center = " ".join(f"{1e3 * value:.1f}" for value in self.center_of_mass)
        within = NORMAL_95 * 1e3 * float(self.center_deviation.max())
        return f"{self.mass:.3f} +- {NORMAL_95 * self.mass_deviation:.2g} kg at {center} +- {within:.2g} mm (95 %)"


@dataclass(frozen=True, eq=False)
class PayloadCheck:
    """What a short motion says of the payload that a controller is set to.

    Attributes:
        payload: "mass" [kg], "center_of_gravity" (3,) [m] and, if the controller shows it, "inertia" (6,) [kg m^2].
        wrench: how well it predicts the sensor's wrench; None where the controller sends none.
        tcp_force: how well it predicts the TCP force, with what the controller took out put back; None where the TCP is
            not at the flange, or there is none.
        shown: mass and centre of mass by this motion.
        currents: None where the controller sends none.
    """

    payload: Mapping[str, Any]
    wrench: Verification | None
    tcp_force: Verification | None
    shown: ShownWeight
    currents: CurrentDifference | None

    @property
    def witnesses(self) -> dict[str, Verification]:
        """Those that judge, by name."""
        both = {"wrench": self.wrench, "TCP force": self.tcp_force}
        return {name: found for name, found in both.items() if found is not None}

    @property
    def against(self) -> list[str]:
        """What contradicts the payload, in a word each."""
        found = [name for name, each in self.witnesses.items() if not each.passed]
        return found if self.center_right else [*found, "the centre of mass"]

    @property
    def passed(self) -> bool:
        """Whether the load that hangs there is the one that the controller reckons with."""
        return not self.against

    @property
    def center_right(self) -> bool:
        """Whether the centre of mass is where the controller has it, as far as this motion tells."""
        off = np.abs(self.shown.center_of_mass - np.array(self.payload.get("center_of_gravity", np.zeros(3))))
        return bool((off <= CENTER_TOLERANCE + 3.0 * self.shown.center_deviation).all())

    @property
    def sentence(self) -> str:
        """The outcome, for people."""
        mass = f"{self.payload['mass']:.4g} kg"
        if self.passed:
            return f"The controller's payload of {mass} is what hangs on the flange, as far as this motion tells."
        verb = "contradict it" if len(self.against) > 1 else "contradicts it"
        said = (
            f"The controller's payload of {mass} is not what hangs on the flange: {' and '.join(self.against)} {verb}"
        )
        return f"{said}. This motion shows {self.shown}."

    def as_json(self) -> dict[str, Any]:
        """The same for machines."""
        shown = self.shown
        return {
            "passed": self.passed,
            "sentence": self.sentence,
            "payload": dict(self.payload),
            "witnesses": {name.lower().replace(" ", "_"): each.as_json() for name, each in self.witnesses.items()},
            "shown": {
                "mass": shown.mass,
                "center_of_mass": shown.center_of_mass.tolist(),
                "standard_deviation": {
                    "mass": shown.mass_deviation,
                    "center_of_mass": shown.center_deviation.tolist(),
                },
            },
            "currents": None if self.currents is None else dataclasses.asdict(self.currents),
        }


def check_payload(recording: Recording, robot: Robot, *, tcp_at_flange: bool = True) -> PayloadCheck:
    """Hold the payload that a controller was set to against a recording of `wrist_motions` with it.

    Args:
        recording: of an `ArmRecorder`, which says what the payload was.
        robot: the arm, with the flange as its tool.
        tcp_at_flange: whether the controller's TCP is there, so that its TCP force counts about it.

    Raises:
        IdentificationError: the motion cannot tell whether the payload is right; the message says why.
        InputError: nothing is there to compare.
    """
    payload = recording.metadata.get("configured_payload")
    if not isinstance(payload, dict) or "mass" not in payload:
        raise InputError("the controller does not show its payload, so there is nothing to compare the motion with")
    require_payload(payload)
    claimed = _estimate(payload, robot)
    signals = {"wrench": _wrench(recording), "TCP force": _tcp_force(recording, robot, payload, tcp_at_flange)}
    given = {name: run for name, run in signals.items() if run is not None}
    if not given:
        raise InputError(
            "nothing shows the load: the controller sends no raw wrench, and its TCP force counts about a TCP that is "
            "not at the flange. Set the TCP to the flange (all zeros) for the check"
        )
    motion = KalmanMotion().motion(recording, robot)
    judged = {name: verify_estimate(claimed, run, robot, motion=motion) for name, run in given.items()}
    run = analyze_run(next(iter(given.values())), robot, claimed, motion=motion, fit_offset=True)
    return PayloadCheck(
        payload,
        judged.get("wrench"),
        judged.get("TCP force"),
        _shown_weight(run),
        _currents(recording, robot),
    )


def _shown_weight(run: RunAnalysis) -> ShownWeight:
    """Mass and centre of mass that fit a run best, with the inertia that was predicted, and offsets of the sensor."""
    weights = 1.0 / np.maximum(run.noise_in_band, 1e-6 * max(float(run.signal.max()), 1e-300))
    design = run.problem.A[:, :, :4]
    design = weights[:, None] * (design - design.mean(axis=0))
    residual = weights * (run.residual - run.residual.mean(axis=0))
    bread = np.einsum("nci,ncj->ij", design, design)
    change = np.linalg.lstsq(bread, np.einsum("nci,nc->i", design, residual), rcond=None)[0]
    scores = Scores(np.ascontiguousarray(design), residual - design @ change, np.zeros(4))
    covariance, _ = estimate_covariance(bread, scores)
    mass, first_moment = run.phi[0] + change[0], run.phi[1:4] + change[1:]
    center = first_moment / mass
    slope = np.column_stack([-center, np.eye(3)]) / mass
    deviation = np.sqrt(np.diag(slope @ covariance @ slope.T))
    return ShownWeight(float(mass), float(np.sqrt(covariance[0, 0])), center, deviation)


def require_payload(payload: Mapping[str, Any]) -> None:
    """Refuse a controller that is set to no payload: what is not there predicts nothing."""
    if not payload["mass"] > 0.0:
        raise InputError(
            "the controller is set to a payload of 0 kg: there is nothing to check. Set one ('iparam ur set-payload')"
        )


def _estimate(payload: Mapping[str, Any], robot: Robot) -> Estimate:
    """The payload as if it had been identified exactly; an inertia that the controller does not show is open."""
    mass, center = float(payload["mass"]), np.array(payload.get("center_of_gravity", (0.0, 0.0, 0.0)))
    inertia = payload.get("inertia")
    xx, yy, zz, xy, xz, yz = (0.0,) * 6 if inertia is None else inertia
    body = InertialParameters(mass, center, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    phi, covariance = body.phi.copy(), np.zeros((10, 10))
    if inertia is None:
        phi[4:], covariance[4:], covariance[:, 4:] = np.nan, np.nan, np.nan
    found = estimate_of("controller", phi, covariance, condition_number=1.0, residual_norm=0.0, samples=0)
    return dataclasses.replace(found, robot=robot.name, frame=robot.tool_frame)


def _wrench(recording: Recording) -> Recording | None:
    """The recording, if its wrench is the sensor's own."""
    return recording if recording.metadata.get("wrench_field") == "raw" else None


def _tcp_force(recording: Recording, robot: Robot, payload: Mapping[str, Any], tcp_at_flange: bool) -> Recording | None:
    """The recording with a wrench that is the TCP force and the payload's weight, which the controller took out."""
    if "tcp_force" not in recording.signals or not tcp_at_flange:
        return None
    samples = align(recording, ["tcp_force", "q"])
    turn = forward_kinematics(robot, samples["q"])[:, :3, :3]
    parts = [np.einsum("tji,tj->ti", turn, samples["tcp_force"][:, part]) for part in (slice(3), slice(3, 6))]
    sign = 1.0 if recording.metadata.get("wrench_measures") == "action" else -1.0
    force = -float(payload["mass"]) * np.einsum("tji,j->ti", turn, recorded_gravity(recording))  # holds the payload
    center = np.array(payload.get("center_of_gravity", (0.0, 0.0, 0.0)))
    values = sign * np.concatenate(parts, axis=1) + np.concatenate([force, np.cross(center, force)], axis=1)
    return recording.with_signal("wrench", Signal(samples.time, values, CHANNELS["wrench"].unit, robot.tool_frame))


def _currents(recording: Recording, robot: Robot) -> CurrentDifference | None:
    if not {"current", "target_current"} <= set(recording.signals):
        return None
    actual, target = (recording.signal(name).values for name in ("current", "target_current"))
    if actual.shape != target.shape:
        return None
    off, wanted = (np.sqrt(np.mean(values**2, axis=0)) for values in (actual - target, target))
    joint = int(np.argmax(off))
    return CurrentDifference(robot.joint_names[joint], float(off[joint]), float(wanted[joint]))
