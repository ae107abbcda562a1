"""`identify_payload`: one call from a recording to an `Estimate`."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from dataclasses import dataclass
from numbers import Real
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike

from iparam.arrays import FloatArray, as_float_array
from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.estimation.assessment.motion_path import motion_path
from iparam.estimation.causes.ambiguity import CORRECTIONS, rivals, with_rivals, with_uncorrected
from iparam.estimation.causes.examined_run import examine
from iparam.estimation.causes.fit import linear_fit
from iparam.estimation.causes.hypothesis import Explanation
from iparam.estimation.causes.judgement import judged
from iparam.estimation.causes.plausible_load import load_remarks
from iparam.estimation.causes.screening import screened
from iparam.estimation.causes.search import find_causes
from iparam.estimation.corrections.joint_fit import fit_corrections
from iparam.estimation.corrections.sensor_calibration import calibration_covariance
from iparam.estimation.corrections.tolerance_fit import fit_tolerances, most_helpful
from iparam.estimation.errors import NotIdentifiableError
from iparam.estimation.estimate import SENSOR_FRAME, Cause, Estimate
from iparam.estimation.estimators.estimator import DEFAULT_METHOD, Estimator, make_estimator
from iparam.estimation.payload.estimate_assembly import summed_terms, widened
from iparam.estimation.payload.partial_estimate import no_estimate, partial_estimate
from iparam.estimation.payload.problem import NUM_PARAMETERS, PayloadProblem
from iparam.estimation.payload.problem_from_recording import Bias, PreparedRun, prepare_run
from iparam.estimation.static.slow_motion import slow_motion_estimate
from iparam.motion.motion import MotionEstimate
from iparam.motion.sources import MotionSource
from iparam.recording.buffer import DataBuffer
from iparam.recording.followers import with_followers
from iparam.recording.recording import Recording
from iparam.remarks import Remark, remark
from iparam.robot.model import Robot
from iparam.sensing.applied_setup import applied_setup
from iparam.sensing.correction import ESTIMATE, Correction
from iparam.sensing.run_check import moves_without_arm, recorded_robot
from iparam.sensing.tolerances import PRESETS, STATED_BY, Tolerances
from iparam.sensing.wrench_source import WrenchSource
from iparam.spatial.parameters import InertialParameters

MOST_PUT_RIGHT = 2
"""Causes that are put right without asking, at most."""

GIVE_THE_VALUE = (
    "Nothing is estimated along with a load of which the data tell only a part: give the value instead of 'estimate'. "
    "The result without it names one where the weight shows it"
)

SURE = 3.0
"""Standard deviations from which a number of the estimate is believed to be there."""


def identify_payload(
    recording: Recording | DataBuffer,
    robot: Robot | str | None = None,
    method: str | Estimator = DEFAULT_METHOD,
    *,
    motion: MotionSource | MotionEstimate | None = None,
    wrench: WrenchSource | None = None,
    bias: Bias = "estimate",
    delay: float | None = None,
    wrench_covariance: ArrayLike | None = None,
    zero_pose: ArrayLike | None = None,
    prior: InertialParameters | None = None,
    gravity: ArrayLike | None = None,
    partial: bool = True,
    correction: Correction | None = None,
    tolerances: Tolerances | str | None = None,
) -> Estimate:
    """Identify what the arm carried.

    Args:
        recording: of a motion that excites the load, or a buffer of its samples. The motion is that of its angles,
            filtered, whatever dq and ddq it has (``motion=`` gives another).
        robot: the arm, its name or its URDF's path; None takes the recording's. It must be the arm of the recording. A
            recording of the sensor's own orientation, without joint angles, needs none.
        method: one of `METHODS`, or an estimator.
        motion, wrench, wrench_covariance, zero_pose, gravity: see `problem_from_recording`.
        bias: of the sensor, in the mean over the run; its drift counts as noise.
        delay: by how much the wrench lags behind the joint angles [s]; None compensates what the wrench shows
            clearly, a delay or a low-pass of the angles, and says so in a warning; without an arm, nothing.
        prior: a guess of the load, for method "logchol".
        partial: where the data determine only some of the parameters, give those, with NaN for the rest, by weighted
            least squares whatever the method, and refute a result that would have none; False raises
            `NotIdentifiableError`.
        correction: what is to be put right in the recording, with "estimate" for what is to be found along with the
            load: that is then counted in its standard deviations, and the estimate says what it is.
        tolerances: how far arm and sensor may be from what is stated of them: a value, or "exact", "calibrated" or
            "lab". What the data show of that is corrected, the rest is in the intervals. None for "exact" where the
            recording says that it was simulated and "lab" elsewhere, with what is stated (a correction, gravity, a
            delay) as well known as after a calibration.

    Returns:
        The estimate; one that the data themselves refute says so in its `refutation`, with what would explain them.
    """
    estimator = check_settings(
        method,
        motion=motion,
        wrench=wrench,
        bias=bias,
        delay=delay,
        wrench_covariance=wrench_covariance,
        zero_pose=zero_pose,
        prior=prior,
        gravity=gravity,
        partial=partial,
        correction=correction,
        tolerances=tolerances,
    )
    if isinstance(recording, DataBuffer):
        recording = recording.to_recording()
    if not isinstance(recording, Recording):
        raise InputError(
            argument="recording",
            problem=f"must be a Recording, got {recording!r:.80}: Recording.load reads a file, and "
            "iparam.estimation.least_squares(A, y) takes arrays",
        )
    arm = robot if isinstance(robot, Robot) else _arm(recording, robot)
    recording = with_followers(recording, arm)
    job = _Job(
        recording=recording,
        arm=arm,
        estimator=estimator,
        bias=bias,
        partial=partial,
        tolerances=tolerances,
        settings={"motion": motion, "wrench": wrench, "gravity": gravity},
        problem={"wrench_covariance": wrench_covariance, "zero_pose": zero_pose},
    )
    given = Correction() if correction is None else correction
    found = job.put_right(job.done(given, delay), given, delay)
    estimate = found.estimate
    signal = getattr(wrench, "signal", "wrench")
    return dataclasses.replace(
        estimate,
        remarks=(
            *estimate.remarks,
            *(() if arm is None else _size_remarks(estimate, arm)),
            *load_remarks(arm, estimate.mass, estimate.standard_deviation.mass, recording),
        ),
        robot=robot if isinstance(robot, str) else recording.robot or ("" if arm is None else arm.name),
        frame=SENSOR_FRAME if arm is None else arm.tool_frame,
        measurements=(recording.signal(signal).fingerprint,) if recording.has(signal) else (),
        path=None if arm is None else motion_path(found.correction.applied(recording, arm)),
        correction=found.correction,
        correction_deviations=found.deviations,
    )


def check_settings(
    method: str | Estimator = DEFAULT_METHOD,
    *,
    motion: MotionSource | MotionEstimate | None = None,
    wrench: WrenchSource | None = None,
    bias: Bias = "estimate",
    delay: float | None = None,
    wrench_covariance: ArrayLike | None = None,
    zero_pose: ArrayLike | None = None,
    prior: InertialParameters | None = None,
    gravity: ArrayLike | None = None,
    partial: bool = True,
    correction: Correction | None = None,
    tolerances: Tolerances | str | None = None,
) -> Estimator:
    """Refuse settings of `identify_payload` that suit no recording, before any is looked at; give the estimator meant.

    Raises:
        InputError, UnknownNameError: a setting is of another kind, or has a value that cannot be.
    """
    if bias not in get_args(Bias):
        raise UnknownNameError("treatment of the bias", bias, get_args(Bias), argument="bias")
    for name, value, kinds, what in (
        ("method", method, (str, Estimator), "the name of a method or an Estimator"),
        ("motion", motion, (MotionSource, MotionEstimate), "a source of motion such as iparam.motion.KalmanMotion()"),
        ("wrench", wrench, WrenchSource, "a source of the wrench such as iparam.sensing.SensorWrench()"),
        ("delay", delay, Real, "a time in s"),
        ("prior", prior, InertialParameters, "an InertialParameters"),
        ("partial", partial, bool, "True or False"),
        ("correction", correction, Correction, "a Correction"),
        ("tolerances", tolerances, (Tolerances, str), f"a Tolerances, or one of {', '.join(PRESETS)}"),
    ):
        if not isinstance(value, kinds) and not (value is None and name not in ("method", "partial")):
            raise InputError(argument=name, problem=f"must be {what}, got {value!r:.80}")
    for name, array, shape in (
        ("wrench_covariance", wrench_covariance, (6, 6)),
        ("zero_pose", zero_pose, ()),
        ("gravity", gravity, (3,)),
    ):
        if array is not None:
            as_float_array(array, name, shape)
    if not isinstance(method, str):
        if prior is not None:
            raise InputError("a prior goes with the name of a method; give an estimator its prior when it is made")
        return method
    return make_estimator(method, prior)


@dataclass(frozen=True, eq=False)
class _Done:
    """An estimate that was judged.

    Attributes:
        estimate: of the load.
        best: what would explain its data best; None where they need nothing.
        correction: with the values found in place of "estimate".
        deviations: of these, by name.
    """

    estimate: Estimate
    best: Explanation | None
    correction: Correction
    deviations: dict[str, tuple[float, ...]]


@dataclass(frozen=True, eq=False)
class _Job:
    """All that stays the same while a recording is put right.

    Attributes:
        recording, arm, estimator, bias, partial, tolerances: see `identify_payload`.
        settings: of the motion, of the wrench and of gravity, by name.
        problem: further settings of `prepare_run`.
    """

    recording: Recording
    arm: Robot | None
    estimator: Estimator
    bias: Bias
    partial: bool
    tolerances: Tolerances | str | None
    settings: dict[str, Any]
    problem: dict[str, Any]

    def put_right(self, found: _Done, given: Correction, delay: float | None) -> _Done:
        """The estimate with the causes put right about which nobody need be asked, if nothing is left then."""
        tried, before = found, []
        for _ in range(MOST_PUT_RIGHT):
            remedy = _remedy(tried, given, delay)
            if remedy is None or (self.arm is None and tried.best is not None and tried.best.relative_deviation > 0.0):
                break  # a lag behind joint angles that there are none of
            before.append(tried)
            given, delay = remedy
            try:
                tried = self.done(given, delay)
            except IparamError:  # what would have explained some of the data leaves too little of them
                break
            if tried.estimate.refutation is None and not _open(tried.estimate):
                return dataclasses.replace(tried, estimate=_having_put_right(before, tried.estimate))
        return found

    def done(self, given: Correction, delay: float | None) -> _Done:
        """The estimate with a correction and a delay, judged."""
        fit, settings, sought = None, dict(self.settings), given.estimated
        if set(given.estimated) - {"delay"}:
            fit = fit_corrections(self.recording, self.arm, given, bias=self.bias != "none", delay=delay, **settings)
            if "gravity" in given.estimated:
                settings["gravity"] = None
            given, delay = fit.correction, None
        run = prepare_run(
            self.recording,
            self.arm,
            bias=self.bias,
            delay=delay,
            instruments=self.estimator.needs_instruments,
            correction=given,
            **settings,
            **self.problem,
        )
        problem, terms = run.problem, dict[str, FloatArray]()
        calibrated = calibration_covariance(problem, given)
        if calibrated is not None:
            terms["calibration"] = calibrated
        if fit is not None:
            problem = dataclasses.replace(problem, remarks=(*problem.remarks, *fit.remarks))
            terms["correction"] = fit.phi_covariance
        elif given.has_gains:
            problem = dataclasses.replace(problem, remarks=(*problem.remarks, remark("gains-of-this-run")))
            terms["correction"] = self._gain_errors(given, delay, settings)
        run = dataclasses.replace(run, problem=dataclasses.replace(problem, covariance_terms=terms))
        tolerances = self._tolerances(run, sought, delay)
        applied = applied_setup(self.recording)
        sensor = given.frame_matrix() @ given.wrench_matrix() @ applied.frame_matrix() @ applied.wrench_matrix()
        estimate = self._fitted(run, fit is not None)
        if estimate.determined:
            found = fit_tolerances(run, estimate, tolerances, sensor)
            if found is not None:
                problem = dataclasses.replace(
                    run.problem,
                    y=run.problem.y - found.shift,
                    covariance_terms=summed_terms(terms, found.terms),
                )
                run = dataclasses.replace(run, problem=problem)
                estimate = self._fitted(run, fit is not None)
                estimate = dataclasses.replace(
                    estimate, remarks=(*estimate.remarks, *most_helpful(estimate, tolerances))
                )
        judgement = judged(run, estimate)
        estimate = self._counting_rivals(judgement.estimate, run, given, sought, delay, settings)
        return _Done(estimate, judgement.best, given, {} if fit is None else dict(fit.deviations))

    def _fitted(self, run: PreparedRun, with_corrections: bool) -> Estimate:
        """The estimate of a run's problem, or of the part that its data tell."""
        problem = run.problem
        try:
            return self.estimator.fit(problem)
        except NotIdentifiableError as reason:
            if with_corrections:
                raise NotIdentifiableError(f"{reason}. {GIVE_THE_VALUE}", reason.undetermined) from None
            if not self.partial:
                raise
            return _part(run, problem, reason)

    def _tolerances(self, run: PreparedRun, sought: Collection[str], delay: float | None) -> Tolerances:
        """How far the rig may be from what is stated, without what was estimated along, or calibrated."""
        given = run.given
        also = {"gravity": self.settings["gravity"], "delay": delay}
        found = Tolerances.of(
            self.tolerances, self.recording, given, [name for name, value in also.items() if value is not None]
        )
        counted = {name for name, field in STATED_BY.items() if field in sought}
        if run.problem.delay_deviation or "low_pass" in sought:
            counted.add("delay")
        if given.wrench_scale_covariance is not None:
            counted |= {"gain", "channel_gain"}
        if given.has_gains or "wrench_scale" in sought:
            counted.add("channel_gain")
        return found.without(counted)

    def _gain_errors(self, given: Correction, delay: float | None, settings: dict[str, Any]) -> FloatArray:
        """(10, 10) of the load, of somebody who had the channels' gains from this recording; zeros if it has none."""
        unknown = dataclasses.replace(given, wrench_scale=ESTIMATE)
        try:
            fit = fit_corrections(self.recording, self.arm, unknown, bias=self.bias != "none", delay=delay, **settings)
        except IparamError:
            return np.zeros((NUM_PARAMETERS, NUM_PARAMETERS))
        return fit.phi_covariance

    def _counting_rivals(
        self,
        estimate: Estimate,
        corrected: PreparedRun,
        given: Correction,
        sought: Collection[str],
        delay: float | None,
        settings: dict[str, Any],
    ) -> Estimate:
        """The estimate with what the recording does not tell from what was estimated along, or from typed gains of
        single channels. Whatever else is stated is known from elsewhere, and needs no proof by the recording.

        Args:
            estimate: with all corrections.
            corrected: the run that it is of.
            given: the corrections.
            sought: those of them that were estimated along.
            delay, settings: of the run.
        """
        if estimate.refutation is not None or not estimate.complete:
            return estimate
        gains = ("wrench_scale",) if given.has_gains and given.wrench_scale_covariance is None else ()
        for name in (name for name in CORRECTIONS if name in (*sought, *gains)):
            without = given.without_field(name)
            try:
                run = prepare_run(self.recording, self.arm, delay=delay, correction=without, **settings)
            except IparamError:  # then it cannot be without the correction
                continue
            examined, with_it = examine(run), examine(corrected)
            if examined is None or with_it is None:
                continue
            shown = screened(examined)
            fit = linear_fit(with_it)
            if shown.alarms:
                squares = float(np.mean((fit.residual / with_it.noise) ** 2)) * examined.y.size
                if found := rivals(find_causes(examined), estimate, squares):
                    estimate = with_rivals(estimate, found, given.text_of(name))
            elif name in sought:
                plain = linear_fit(examined).phi - fit.phi
                estimate = with_uncorrected(estimate, plain[None], given.text_of(name))
        return estimate


def _part(run: PreparedRun, problem: PayloadProblem, reason: NotIdentifiableError) -> Estimate:
    """What the data tell where that is not everything; where it is nothing, an estimate that says so."""
    try:
        if problem.hidden:
            return slow_motion_estimate(problem, reason)
        return partial_estimate(problem, reason, run.robot, run.gravity)
    except NotIdentifiableError as nothing:
        return no_estimate(problem, nothing)


def _remedy(found: _Done, given: Correction, delay: float | None) -> tuple[Correction, float | None] | None:
    """What is done about the best cause without asking: a contact is left out, a delay or a low-pass compensated. None
    where there is nothing to do, or where somebody said otherwise.
    """
    best = found.best
    if best is None:
        return None
    if best.cause == "contact" and best.correction is not None:
        factor = given.clock if isinstance(given.clock, float) else 1.0
        exclude = tuple((start / factor, stop / factor) for start, stop in best.correction.exclude)
        return dataclasses.replace(given, exclude=(*given.exclude, *exclude)), delay
    if best.correction is None or (delay, given.delay, given.low_pass) != (None, None, None):
        return None
    if isinstance(best.correction.delay, float):
        return given, best.correction.delay
    if best.correction.low_pass is not None:
        filtered = best.correction
        return dataclasses.replace(given, low_pass=filtered.low_pass, low_pass_order=filtered.low_pass_order), delay
    return None


def _open(estimate: Estimate) -> list[Cause]:
    """Causes of which nothing has been done."""
    return [one for one in estimate.causes if one.residual_after < one.residual_before]


def _having_put_right(before: list[_Done], estimate: Estimate) -> Estimate:
    """An estimate that says what was put right for it, in the estimates before, and counts how well a lag is known."""
    rms, causes, remarks = float(np.sqrt(np.sum(estimate.residual_rms.force**2))), [], []
    for number, done in enumerate(before):
        best = done.best
        if best is None or best.cause in [one.cause for one in estimate.causes]:
            continue
        said = remark("cause-corrected", cause=best.cause, finding=best.finding, fix=best.fix)
        causes.append(Cause(best.cause, said.message, rms, rms))
        remarks.append(said)
        if best.relative_deviation > 0.0 and estimate.complete:
            later = before[number + 1].estimate if number + 1 < len(before) else estimate
            move = best.relative_deviation * (later.phi - done.estimate.phi)
            estimate = widened(estimate, np.outer(move, move), "lag")
    return dataclasses.replace(estimate, causes=(*causes, *estimate.causes), remarks=(*estimate.remarks, *remarks))


def _arm(recording: Recording, robot: str | None) -> Robot | None:
    """The arm of a recording; None for one that tells the sensor's own motion and names no arm."""
    return None if robot is None and moves_without_arm(recording) else recorded_robot(recording, robot)


def _size_remarks(estimate: Estimate, robot: Robot) -> tuple[Remark, ...]:
    """A remark if the load would be larger than the arm, by its inertia or the place of its centre of mass."""
    moments = np.nan_to_num(np.abs(np.diag(estimate.inertia_about_com)))
    sure = moments > SURE * np.diag(estimate.standard_deviation.inertia_about_com)
    radius = float(np.sqrt(np.max(moments * sure) / max(abs(np.nan_to_num(estimate.mass, nan=np.inf)), 1e-12)))
    place = np.nan_to_num(np.abs(estimate.center_of_mass))
    distance = float(np.linalg.norm(place * (place > SURE * estimate.standard_deviation.center_of_mass)))
    if max(radius, distance) <= robot.reach or robot.reach == 0.0:
        return ()
    return (
        remark(
            "load-larger-than-arm",
            radius=radius,
            distance=distance,
            frame=robot.tool_frame,
            robot=robot.name,
            reach=robot.reach,
        ),
    )
