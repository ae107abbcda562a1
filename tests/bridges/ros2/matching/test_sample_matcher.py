"""What the nodes do with messages, without ROS: order, counts, matching, latency, parameters."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import iparam
from iparam.bridges.ros2.diagnostics import LatencyWindow
from iparam.bridges.ros2.joint_motion_filter import JointMotionFilter
from iparam.bridges.ros2.matching.sample_matcher import SampleMatcher
from iparam.bridges.ros2.matching.stamped_buffer import CLOCK_JUMP, StampedBuffer
from iparam.bridges.ros2.nodes.live_identification import LiveIdentification, LiveSettings
from iparam.bridges.ros2.nodes.playback_plan import stopping_pose
from iparam.bridges.ros2.parameters import NodeParameter
from iparam.bridges.ros2.readers import JointReader, WrenchReader
from iparam.errors import InputError, UnknownNameError
from iparam.estimation import OnlineIdentifier, OnlineSettings
from iparam.sensing import noise_preset

PERIOD = 2_000_000


def numbers(*values: float) -> np.ndarray:
    return np.array(values)


messages = st.lists(st.tuples(st.integers(-3_000, 3_000), st.sampled_from([0.0, 1.0, np.nan, np.inf])), max_size=60)


@given(messages, st.integers(1, 20))
def test_a_buffer_is_sorted_and_counts_everything_once(sent: list[tuple[int, float]], depth: int) -> None:
    buffer, accepted = StampedBuffer(depth, PERIOD), 0
    for milliseconds, value in sent:
        accepted += buffer.add(milliseconds * 1_000_000, numbers(value))
        if len(buffer) > 3:
            buffer.discard(buffer.first[0])  # type: ignore[index]
        stamps = buffer._stamps
        assert stamps == sorted(set(stamps))
        assert len(stamps) <= depth
    counts = buffer.counts
    assert counts.received == len(sent)
    assert counts.not_finite == sum(not np.isfinite(value) for _, value in sent)
    assert accepted + counts.late + counts.duplicated + counts.not_finite == counts.received
    assert min(dataclasses.astuple(counts)) >= 0


@given(st.data())
def test_lost_late_reordered_and_duplicated_are_told_apart(data: st.DataObject) -> None:
    """Messages are dropped, doubled and moved back by up to three places; nothing has been used yet."""
    count = data.draw(st.integers(5, 40))
    lost = data.draw(st.sets(st.integers(1, count - 2)))
    kept = [k for k in range(count) if k not in lost]
    doubled = data.draw(st.sets(st.sampled_from(kept)))
    delays = {k: data.draw(st.integers(0, 3)) for k in kept}
    arrivals = sorted((k + delays[k], k) for k in kept) + [(count + 5, k) for k in sorted(doubled)]
    buffer, newest, overtaken = StampedBuffer(1000, PERIOD), -1, 0
    for _, k in arrivals:
        overtaken += k < newest and k in kept
        newest = max(newest, k)
        buffer.add(k * PERIOD, numbers(float(k)))
    counts = buffer.counts
    first = arrivals[0][1]
    assert counts.duplicated == len(doubled)
    assert counts.reordered == overtaken - len({k for k in doubled if k < newest})
    assert counts.late == 0
    assert counts.lost == sum(first < k for k in lost)  # before the first one that came, nothing is missed
    assert [values[0][0] for values in buffer._values] == [float(k) for k in kept]


def test_what_has_been_used_makes_messages_late() -> None:
    buffer = StampedBuffer(10, PERIOD)
    for k in (0, 1, 3):
        buffer.add(k * PERIOD, numbers(0.0))
    assert buffer.counts.lost == 1
    buffer.discard(3 * PERIOD)
    assert not buffer.add(2 * PERIOD, numbers(0.0))
    assert (buffer.counts.late, buffer.counts.lost) == (1, 0)


def test_a_clock_that_jumps_is_followed() -> None:
    buffer = StampedBuffer(10, PERIOD)
    buffer.add(10 * CLOCK_JUMP, numbers(0.0))
    buffer.discard(10 * CLOCK_JUMP)
    assert buffer.add(0, numbers(1.0))
    assert buffer.add(PERIOD, numbers(1.0))
    assert (buffer.counts.jumps, buffer.counts.late, buffer.counts.lost) == (1, 0, 0)


@given(
    st.floats(0.0, 1.0),
    st.integers(1, 7),
    st.integers(0, 3_999_999),
    st.booleans(),
    st.sampled_from([3_000_000, 2_000_000, 1_250_000]),
)
@settings(max_examples=60)
def test_angles_at_the_instants_of_the_wrench(phase: float, speed: int, offset: int, velocity: bool, step: int) -> None:
    """Joints and wrench of different rates and stamps: the angle of a sine is met as its interpolation promises."""
    matcher = SampleMatcher(tolerance=0.02)

    def angle(stamp: int) -> float:
        return float(np.sin(speed * stamp * 1e-9 + phase))

    found = []
    for k in range(60):
        joint, wrench = 4_000_000 * k, step * k + offset
        rate = numbers(speed * np.cos(speed * joint * 1e-9 + phase)) if velocity else None
        matcher.joints.add(joint, numbers(angle(joint)), rate)
        matcher.wrenches.add(wrench, np.full(6, float(k)))
        found += matcher.take()
    assert [sample.stamp for sample in found] == [step * k + offset for k in range(len(found))]
    assert len(found) >= 55
    bound = (speed * 0.004) ** 4 / 384 if velocity else (speed * 0.004) ** 2 / 8
    for sample in found:
        assert abs(sample.q[0] - angle(sample.stamp)) <= 1.01 * bound + 1e-6 * speed  # a microsecond counts as none
        assert sample.wrench[0] == round((sample.stamp - offset) / step)  # never blended


@given(st.permutations(range(24)), st.permutations(range(24)))
@settings(max_examples=60)
def test_any_order_of_arrival_gives_each_sample_once_and_in_order(first: list[int], second: list[int]) -> None:
    matcher = SampleMatcher(hold=0.5)
    for j, w in zip(first, second, strict=True):
        matcher.joints.add(j * PERIOD, numbers(float(j)), None)
        matcher.wrenches.add(w * PERIOD, np.full(6, float(w)))
        assert matcher.take() == []
    matcher.joints.add(900_000_000, numbers(0.0), None)
    matcher.wrenches.add(900_000_000, np.zeros(6))
    found = matcher.take()
    assert [sample.stamp for sample in found] == [k * PERIOD for k in range(24)]
    assert [sample.q[0] for sample in found] == [sample.wrench[0] for sample in found]


def test_no_joint_state_near_means_no_sample() -> None:
    matcher = SampleMatcher(tolerance=0.005)
    matcher.joints.add(0, numbers(0.0), None)
    matcher.wrenches.add(10_000_000, np.zeros(6))
    assert matcher.take() == []  # it may still come
    matcher.joints.add(20_000_000, numbers(0.0), None)
    assert matcher.take() == []
    assert matcher.given_up == 1


def test_a_broken_joint_state_is_waited_over() -> None:
    matcher = SampleMatcher()
    matcher.joints.add(0, numbers(1.0), None)
    matcher.wrenches.add(PERIOD, np.zeros(6))
    matcher.joints.add(PERIOD, numbers(np.nan), None)
    assert matcher.take() == []
    matcher.joints.add(2 * PERIOD, numbers(3.0), None)
    assert [sample.q[0] for sample in matcher.take()] == [2.0]


def test_an_accelerometer_that_falls_silent_is_not_waited_for() -> None:
    matcher = SampleMatcher(tolerance=0.01, accelerometer=True)
    given_up = []
    for k in range(20):
        matcher.joints.add(k * PERIOD, numbers(0.0), None)
        matcher.wrenches.add(k * PERIOD, np.zeros(6))
        if k < 5:
            matcher.accelerations.add(k * PERIOD, numbers(0.0, 0.0, 9.81))
        given_up += matcher.take()
    assert [sample.accelerometer is not None for sample in given_up] == [True] * 5 + [False] * 9


@given(st.lists(st.floats(-1.0, 10.0), min_size=1, max_size=50), st.integers(1, 10))
def test_latencies_are_those_of_the_latest(values: list[float], size: int) -> None:
    window = LatencyWindow(size)
    for value in values:
        window.add(value)
    latest = np.maximum(values[-size:], 0.0)
    summary = window.summary
    assert summary.samples == latest.size
    assert summary.largest == latest.max()
    assert summary.median == pytest.approx(np.percentile(latest, 50))


@given(st.permutations(range(8)))
def test_joints_are_found_by_name(order: list[int]) -> None:
    robot = iparam.load_robot("ur5e")
    names = [*(f"left_{name}" for name in robot.joint_names), "gripper", "rail"]
    shuffled, values = [names[i] for i in order], [float(i) for i in order]
    reader = JointReader(robot, "left_")
    q, dq = reader.positions_and_velocities(shuffled, values, [])  # type: ignore[misc]
    assert q.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert dq is None
    assert reader.positions_and_velocities(shuffled[:3], values[:3], []) is None
    assert reader.positions_and_velocities([], values[:6], values[:6]) is not None
    assert reader.positions_and_velocities(shuffled, values[:7], []) is None


def test_wrench_frames() -> None:
    robot = iparam.load_robot("ur5e")
    wrench = numbers(1.0, 2.0, 3.0, 0.1, 0.2, 0.3)
    reader = WrenchReader(robot, measures="reaction")
    np.testing.assert_allclose(reader.to_tool("", wrench), -wrench)
    with pytest.raises(InputError, match="changes its frame"):
        reader.to_tool("flange", wrench)
    with pytest.raises(InputError, match="wrench_frame"):
        WrenchReader(robot).to_tool("base", wrench)
    with pytest.raises(UnknownNameError):
        WrenchReader(robot, "forearm_link")
    turned = WrenchReader(robot, "flange")
    np.testing.assert_allclose(turned.from_tool(turned.to_tool("base", wrench)), wrench, atol=1e-12)


def test_accelerations_of_a_moving_arm_are_found() -> None:
    filtered, errors = JointMotionFilter(2), []
    for k in range(1500):
        t = 0.002 * k
        found = filtered.step(10**18 + k * PERIOD, np.sin(numbers(2.0, 3.0) * t + 1.0))
        if k < 50:
            assert found is None
        if found is not None and k > 300:
            errors.append(found.ddq + numbers(4.0, 9.0) * np.sin(numbers(2.0, 3.0) * t + 1.0))
    assert filtered.step(5, np.zeros(2)) is None  # the clock was set: it starts anew
    assert np.sqrt(np.mean(np.square(errors))) < 0.15 * np.sqrt(0.5 * np.mean([16.0, 81.0]))


def test_parameters_say_what_they_may_be() -> None:
    number = NodeParameter("rate", 0.0, "", 0.0, 10.0)
    assert number.check(5.0) == 5.0
    for bad in (-1.0, 11.0, float("nan")):
        with pytest.raises(InputError, match="parameter rate must be from 0 to 10"):
            number.check(bad)
    with pytest.raises(InputError, match="one of a, b, got 'c'"):
        NodeParameter("kind", "a", "", choices=("a", "b")).check("c")
    array = NodeParameter("size", (0.0, 0.0, 0.0), "", length=3)
    assert array.check([1.0, 2.0, 3.0]) == (1.0, 2.0, 3.0)
    for wrong in ([1.0], [1.0, 2.0, float("inf")]):
        with pytest.raises(InputError, match="parameter size"):
            array.check(wrong)


def test_a_stop_stays_within_the_limits() -> None:
    robot = iparam.load_robot("ur5e")
    near = robot.limits.upper - 0.01
    pose = stopping_pose(robot, near, np.full(6, 2.0), 0.5)
    assert (pose <= robot.limits.upper).all()
    np.testing.assert_allclose(stopping_pose(robot, np.zeros(6), np.full(6, 2.0), 0.5), 0.5)


def feed(live: LiveIdentification, rows: range, q: np.ndarray, wrench: np.ndarray) -> None:
    for k in rows:
        live.matcher.joints.add(k * PERIOD, q[k], None)
        live.matcher.wrenches.add(k * PERIOD, wrench[k])
        live.process()


def test_a_gap_costs_the_motion_and_not_the_load(simulated: object, ur5e: iparam.Robot) -> None:
    """0.4 s are missing while the arm moves fast: what is known before stays, and what follows is not spoilt."""
    recording = noise_preset("ur5e").apply(simulated.recording, 2)  # type: ignore[attr-defined]
    q, wrench = recording.signal("q").values, recording.signal("wrench").values
    live = LiveIdentification(ur5e, LiveSettings(rate=500.0))
    feed(live, range(1000, 2500), q, wrench)  # begins in the middle of the motion, too
    before = live.estimate
    feed(live, range(2700, 4000), q, wrench)
    after, truth = live.estimate, simulated.truth.payload  # type: ignore[attr-defined]
    assert before is not None
    assert after is not None
    assert live.gaps == 1
    assert live.restarts == 0
    assert after.samples > before.samples
    for estimate in (before, after):
        assert abs(estimate.mass - truth.mass) < 4.0 * estimate.derived_deviation[0]
    constant = [found.covariance_phi[0, 0] - found.undetected[0, 0] for found in (before, after)]
    assert constant[1] < constant[0]
    # The same without a word about the gap: the motion filter extrapolates over it, and the load seems to change.
    silent = OnlineIdentifier(ur5e, OnlineSettings())
    for k in [*range(1000, 2500), *range(2700, 4000)]:
        found = silent.step(0.002 * k, q[k], wrench[k])
    assert silent.restarts > 0 or abs(found.mass - truth.mass) > 4.0 * found.derived_deviation[0]


def test_on_line_result_agrees_with_its_own_samples(simulated: object, ur5e: iparam.Robot) -> None:
    """Residuals and condition number are those of the samples, which are not kept."""
    recording = noise_preset("ur5e").apply(simulated.recording, 3)  # type: ignore[attr-defined]
    q, wrench = recording.signal("q").values[:1500], recording.signal("wrench").values[:1500]
    identifier = OnlineIdentifier(ur5e, OnlineSettings(method="rls"))
    for k in range(1500):
        identifier.step(0.002 * k, q[k], wrench[k])
    result = identifier.result()
    assert result is not None
    motion = simulated.true_motion  # type: ignore[attr-defined]
    A = iparam.wrench_regressor(ur5e, motion.q, motion.dq, motion.ddq)[:1475]
    bias = np.concatenate([result.sensor_bias.force, result.sensor_bias.torque])  # type: ignore[union-attr]
    residual = wrench[:1475] - A @ result.phi - bias
    assert result.samples == 1475
    assert result.condition_number == pytest.approx(np.linalg.cond(A.reshape(-1, 10)), rel=0.05)
    rms = np.concatenate([result.residual_rms.force, result.residual_rms.torque])
    np.testing.assert_allclose(rms, np.sqrt(np.mean(residual**2, axis=0)), rtol=0.02)
