"""What may be published of a load on-line: possible bodies that the samples do not refute."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np
import pytest

import iparam
from iparam.bridges.ros2.nodes.live_identification import LiveIdentification, LiveSettings, Processed
from iparam.bridges.ros2.nodes.refuted_load import refuted_sentence
from iparam.estimation.combination import in_frame
from iparam.estimation.online.estimate import OnlineEstimate
from iparam.estimation.online.identifier import OnlineSettings
from iparam.estimation.payload.estimate_assembly import estimate_of
from iparam.sensing import noise_preset
from iparam.sensing.correction import wrench_transform
from iparam.spatial import is_physically_consistent

PERIOD = 2_000_000
EVERY = 10
PLACE = iparam.spatial.transform_from(np.eye(3), np.array([0.0, 0.0, 0.1]))


def run(
    simulated: Any,
    robot: iparam.Robot,
    change: np.ndarray,
    known: iparam.Estimate | None = None,
    late: int = 0,
    samples: int = 1500,
    noise: float = 1.0,
) -> tuple[LiveIdentification, list[OnlineEstimate | None]]:
    """The live identification of a run whose wrench is multiplied by a matrix (6, 6), and comes so many samples late;
    and what it would publish. It tells of no change of load.
    """
    recording = noise_preset("ur5e").apply(simulated.recording, 4)
    live = LiveIdentification(robot, LiveSettings(OnlineSettings(), rate=500.0, known_load=known))
    q, wrench = recording.signal("q").values, recording.signal("wrench").values @ change.T
    more = np.sqrt(noise**2 - 1.0) * np.repeat([0.5, 0.05], 3)
    wrench = wrench + more * np.random.default_rng(0).standard_normal(wrench.shape)
    published = []
    for k in range(50, samples + 50):
        live.matcher.joints.add(k * PERIOD, q[k], None)
        live.matcher.wrenches.add(k * PERIOD, wrench[k - late])
        for done in live.process():
            assert done.change is None
            if done.estimate is not None and k % EVERY == 0:
                published.append(live.publishable(done))
    return live, published


def test_a_good_run_is_published_and_always_possible(simulated: Any, ur5e: iparam.Robot) -> None:
    live, published = run(simulated, ur5e, np.eye(6))
    found = [estimate for estimate in published if estimate is not None]
    assert all(estimate is not None for estimate in published[-30:])  # from the examination after 2 s of motion on
    assert all(estimate.mass > 0.0 for estimate in found)
    whole = [estimate for estimate in found if estimate.complete]
    assert len(whole) > 0.5 * len(found)
    assert all(is_physically_consistent(estimate.phi) for estimate in whole)
    assert found[-1].mass == pytest.approx(2.0, rel=0.01)
    assert live.verdict is not None
    assert live.verdict.refutation is None
    assert live.verdict.residual < 1.2
    assert live.verdict.remark is None


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (-np.eye(6), "wrench-sign"),
        (np.eye(6)[[1, 0, 2, 4, 3, 5]], ""),
        (np.diag([-1.0, 1.0, 1.0, -1.0, 1.0, 1.0]), ""),
        (wrench_transform(np.array([0.0, 90.0, 0.0]), np.zeros(3)), ""),
    ],
)
def test_what_the_samples_refute_is_not_published(
    simulated: Any, ur5e: iparam.Robot, change: np.ndarray, cause: str
) -> None:
    live, published = run(simulated, ur5e, change)
    assert published
    assert not any(published[len(published) // 2 :])
    assert all(estimate.mass > 0.0 for estimate in published if estimate is not None)
    assert live.verdict is not None
    assert live.verdict.refutation is not None
    assert cause in [*(found.cause for found in live.verdict.refutation.causes), ""]
    live.reset()
    assert live.verdict is None
    assert live.publishable(Processed(0, None, None)) is None


def test_a_turned_sensor_is_refuted_when_saved(simulated: Any, ur5e: iparam.Robot) -> None:
    live, published = run(simulated, ur5e, wrench_transform(np.array([0.0, 0.0, 45.0]), np.zeros(3)), samples=1100)
    assert not any(published)
    saved = live.result()
    assert saved is not None
    assert saved.refutation is not None
    assert saved.refutation.causes[0].cause == "sensor-rotation"
    assert saved.refutation.causes[0].fix["sensor_rotation"] == pytest.approx((0.0, 0.0, -45.0), abs=2.0)
    assert "sensor_rotation to [" in refuted_sentence(saved.refutation, in_tool=True)
    assert "in the tool's axes" in refuted_sentence(saved.refutation, in_tool=False)


@pytest.mark.parametrize("late", [15, -15])
def test_a_late_wrench_is_taken_back_and_is_no_change_of_load(simulated: Any, ur5e: iparam.Robot, late: int) -> None:
    live, published = run(simulated, ur5e, np.eye(6), late=late, samples=2000)
    assert live.delay is not None
    assert live.delay.seconds == pytest.approx(0.002 * late, abs=0.001)
    assert live.matcher.delay == round(1e9 * live.delay.seconds)
    assert live.late is not None
    assert live.late.code == "wrench-delay-removed"
    assert live.late.fix is not None
    assert np.sign(live.late.values["milliseconds"]) == np.sign(late)
    assert live.late.fix["wrench_delay"] == pytest.approx(0.002 * late, abs=0.001)
    assert not any(published)  # until it was examined once more
    saved = live.result()
    assert saved is not None
    assert saved.refutation is None
    assert abs(saved.mass - 2.0) < 4.0 * saved.standard_deviation.mass
    assert 4.0 * np.sqrt(saved.covariance_terms["noise"][0, 0]) < 0.05, "without the tolerances of a laboratory"


def test_noise_above_the_stated_one_is_named(simulated: Any, ur5e: iparam.Robot) -> None:
    live, published = run(simulated, ur5e, np.eye(6), noise=5.0, samples=1300)
    assert live.verdict is not None
    assert live.verdict.refutation is None
    assert live.verdict.noise is not None
    np.testing.assert_allclose(live.verdict.noise, np.repeat([2.5, 0.25], 3), rtol=0.2)
    said = live.verdict.remark
    assert said is not None
    assert said.code == "noisier-than-stated"
    assert said.fix is not None
    assert 2.0 <= said.fix["wrench_deviation"][0] < 3.0
    assert any(published)


def _gripper(share: float, frame: str = "tool0") -> iparam.Estimate:
    """A result of another run: a part of the box that the arm carries."""
    phi = share * iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2)).transformed(PLACE).phi
    found = estimate_of("wls", phi, 1e-8 * np.eye(10), condition_number=1.0, residual_norm=0.0, samples=100)
    return dataclasses.replace(found, robot="ur5e", frame=frame, measurements=("another run",))


class Awaited(Future[Any]):
    """Is done once somebody waits for it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__()
        self._work = work

    def exception(self, timeout: float | None = None) -> BaseException | None:
        if not self.done():
            self.set_result(self._work())
        return super().exception(timeout)


class WhenAwaited(Executor):
    """As slow as an executor can be. ``lengths`` are those of the recordings that it was given [s]."""

    def __init__(self) -> None:
        self.lengths: list[float] = []

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        self.lengths.append(given[0].duration)
        return Awaited(lambda: work(*given, **named))


def test_what_is_saved_rests_on_all_samples_however_slow_the_examiner(simulated: Any, ur5e: iparam.Robot) -> None:
    recording, executor = noise_preset("ur5e").apply(simulated.recording, 4), WhenAwaited()
    live = LiveIdentification(ur5e, LiveSettings(OnlineSettings(), rate=500.0), executor)
    q, wrench = recording.signal("q").values, recording.signal("wrench").values
    for k in range(2500):
        live.matcher.joints.add(k * PERIOD, q[k], None)
        live.matcher.wrenches.add(k * PERIOD, wrench[k])
        live.process()
    assert live.setup is not None
    assert live.setup.busy  # with the samples of the first 2 s in motion
    result = live.result()
    assert result is not None
    assert executor.lengths[1] > executor.lengths[0] + 1.0
    assert (live.setup.busy, live.setup.stale, live.setup.of_load) == (False, False, True)


def test_a_known_load_is_taken_away(simulated: Any, ur5e: iparam.Robot) -> None:
    live, published = run(simulated, ur5e, np.eye(6), _gripper(0.25))
    found = [estimate for estimate in published if estimate is not None]
    assert found[-1].mass == pytest.approx(1.5, rel=0.02)
    assert all(is_physically_consistent(estimate.phi) for estimate in found if estimate.complete)
    saved, whole = live.result(), live.estimate
    assert saved is not None
    assert whole is not None
    assert saved.method == "difference"
    assert saved.mass == pytest.approx(1.5, rel=0.02)
    assert whole.undetected is not None
    assert saved.standard_deviation.mass > np.sqrt(whole.covariance_phi[0, 0] - whole.undetected[0, 0])
    assert not live.empty


def test_nothing_is_published_where_only_the_known_load_is_there(simulated: Any, ur5e: iparam.Robot) -> None:
    live, published = run(simulated, ur5e, np.eye(6), _gripper(1.0))
    assert not any(published[len(published) // 2 :])
    assert live.empty
    with pytest.raises(iparam.estimation.IdentificationError, match="not above zero"):
        live.result()


def test_a_known_load_of_another_frame_is_moved_or_refused(ur5e: iparam.Robot) -> None:
    load = _gripper(1.0, "flange")
    moved = in_frame(load, ur5e)
    assert moved.frame == ur5e.tool_frame
    np.testing.assert_allclose(moved.mass, load.mass)
    np.testing.assert_allclose(
        np.linalg.eigvalsh(moved.inertia_about_com), np.linalg.eigvalsh(load.inertia_about_com), rtol=1e-9
    )
    with pytest.raises(iparam.IparamError, match="different frames"):
        in_frame(_gripper(1.0, "elsewhere"), ur5e)


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("grasp", [150, 400])
def test_a_grasp_before_anything_is_known_leaves_no_mixture(simulated: Any, ur5e: iparam.Robot, grasp: int) -> None:
    recording = noise_preset("ur5e").apply(simulated.recording, 4)
    q, wrench = recording.signal("q").values, recording.signal("wrench").values.copy()
    wrench[: grasp + 50] *= 0.2
    live = LiveIdentification(ur5e, LiveSettings(OnlineSettings(), rate=500.0))
    truth, published = simulated.truth.payload.mass, []
    for k in range(50, len(q)):
        live.matcher.joints.add(k * PERIOD, q[k], None)
        live.matcher.wrenches.add(k * PERIOD, wrench[k])
        for done in live.process():
            if done.estimate is not None and k % EVERY == 0:
                published.append((live.publishable(done), k))
    last = next(estimate for estimate, _ in reversed(published) if estimate is not None)
    assert last.mass == pytest.approx(truth, rel=0.01)
    result = live.result()
    assert result is not None
    assert result.refutation is None
    assert result.mass == pytest.approx(truth, rel=0.005)
    for estimate, _ in published:
        if estimate is not None:
            assert abs(estimate.mass - truth) < 4.0 * np.sqrt(estimate.covariance_phi[0, 0])
    first = next(k for estimate, k in published if estimate is not None)
    assert first - 50 - grasp < 5.0 * 500


def test_floods_and_stamps_out_of_line_are_no_change_of_load(ur5e: iparam.Robot) -> None:
    """A sample that comes 300 times, with stamps a microsecond apart, counts once."""
    random, load = np.random.default_rng(0), iparam.InertialParameters.box(2.0, (0.1, 0.1, 0.2)).phi
    live = LiveIdentification(ur5e, LiveSettings(OnlineSettings(), rate=500.0))
    speed, noise = 2.0 * np.pi / 20.0 * np.array([2, 3, 3, 5, 7, 8]), np.repeat([0.5, 0.05], 3)
    time = 1e-9 * PERIOD * np.arange(4_500)[:, None]
    q, dq, ddq = 0.4 * np.sin(speed * time), 0.4 * speed * np.cos(speed * time), -0.4 * speed**2 * np.sin(speed * time)
    wrench = iparam.wrench_regressor(ur5e, q, dq, ddq) @ load + noise * random.standard_normal((len(q), 6))
    q = q + 5e-5 * random.standard_normal(q.shape)
    first = 10**18

    def send(k: int, stamp: int) -> None:
        live.matcher.joints.add(stamp, q[k], dq[k])
        live.matcher.wrenches.add(stamp, wrench[k])
        for done in live.process():
            assert done.change is None
            if done.estimate is not None and k % EVERY == 0:
                published = live.publishable(done)
                assert published is None or abs(published.mass - 2.0) < 7.0 * published.covariance_phi[0, 0] ** 0.5

    for k in range(len(q)):
        stamp = first + k * PERIOD
        send(k, stamp)
        if k in (2_000, 4_000):
            for step in range(1, 300):
                send(k, stamp + 1_000 * step)
        if k == 3_000:
            send(k, stamp - 10**10)
            send(k, 2**31 * 10**9)
    assert live.crowded == 2 * 299
    assert live.restarts == 0


def test_a_load_that_the_arm_cannot_hold_is_withheld(ur5e: iparam.Robot) -> None:
    pose = np.array([0.0, -0.3, 0.2, -1.0, -1.5, 0.3])
    weight = iparam.wrench_regressor(ur5e, pose, 0.0 * pose, 0.0 * pose)[:, 0]  # of 1 kg
    for mass, quantity in ((2.0, None), (200.0, "torque")):
        live = LiveIdentification(ur5e, LiveSettings(OnlineSettings(bias="none"), rate=500.0))
        for k in range(600):
            live.matcher.joints.add(k * PERIOD, pose, None)
            live.matcher.wrenches.add(k * PERIOD, mass * weight)
            done = live.process()
        found = live.publishable(done[-1])
        assert (found is None) == (quantity is not None)
        assert (live.impossible and live.impossible.quantity) == quantity
