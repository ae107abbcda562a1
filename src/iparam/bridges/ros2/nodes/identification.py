"""The identification node: the load from joint states and wrenches, while the arm moves."""

from __future__ import annotations

import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

from iparam.bridges.ros2.backend import (
    LATCHED_QOS,
    QUIET,
    DiagnosticStatus,
    LifecycleNode,
    Node,
    TransitionCallbackReturn,
    Trigger,
)
from iparam.bridges.ros2.diagnostics import StreamDiagnostics, withheld
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.input_watch import SAID_AGAIN, InputWatch, waiting_text
from iparam.bridges.ros2.messages import (
    status_message,
)
from iparam.bridges.ros2.nodes.live_identification import (
    LiveIdentification,
    LiveSettings,
    LoadChange,
    Processed,
)
from iparam.bridges.ros2.nodes.load_publisher import LoadPublisher
from iparam.bridges.ros2.nodes.refuted_load import refuted_sentence
from iparam.bridges.ros2.parameters import GRAVITY, MATCHING, ROBOT, NodeParameter, changeable, declare, on_change
from iparam.bridges.ros2.readers import JointReader, WrenchReader
from iparam.bridges.ros2.robot_source import RobotSource
from iparam.bridges.ros2.sample_input import SampleInput
from iparam.errors import InputError, IparamError
from iparam.estimation.assessment.verdict import verdict_on
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import Estimate, Refutation, grouped_names
from iparam.estimation.online.examination import RecentSamples
from iparam.estimation.online.identifier import OnlineSettings
from iparam.files.kind import FileKind, check_target
from iparam.motion.joint_process import JointProcess
from iparam.printable import printable
from iparam.remarks import messages, remark
from iparam.robot.model import Robot
from iparam.worker_pool import WorkerPool

ANEW = (
    *("tolerance", "hold", "wrench_frame", "measures", "rate", "bandwidth", "angle_deviation", "gravity", "method"),
    *("bias", "wrench_deviation", "lag", "restart", "accelerometer_deviation", "known_load"),
    *("sensor_rotation", "sensor_offset", "wrench_delay"),
)
"""Parameters that can be set while it runs; the load is then estimated anew."""

EXAMINER_NICE = 5
"""By how much the process that examines samples gives way to others, such as this one, that samples come to."""

_PARAMETERS = (
    *ROBOT,
    *MATCHING,
    GRAVITY,
    NodeParameter("method", "rtls", "The recursion.", choices=("rtls", "rls")),
    NodeParameter(
        "bias",
        "estimate",
        "The sensor's bias: estimated, none, or zeroed with the load on it, at rest in the pose of the first sample.",
        choices=("estimate", "none", "zeroed"),
    ),
    NodeParameter(
        "wrench_deviation",
        (0.5, 0.5, 0.5, 0.05, 0.05, 0.05),
        "Standard deviations of the noise of force and torque [N, N m].",
        1e-9,
        1e3,
        length=6,
    ),
    NodeParameter(
        "wrench_delay",
        0.0,
        "Time by which wrenches are stamped later than the joint states that they belong to; what is found beyond it "
        "is taken out [s].",
        -0.5,
        0.5,
    ),
    NodeParameter("lag", 25, "Samples by which the estimate runs behind, for better accelerations.", 0, 500),
    NodeParameter("restart", True, "Start anew when the load changes: grasp or release."),
    NodeParameter("use_imu", False, "Take the acceleration from an accelerometer at the tool, on the topic imu."),
    NodeParameter("accelerometer_deviation", 0.05, "Standard deviation of its noise [m/s^2].", 1e-6, 100.0),
    NodeParameter(
        "known_load", "", "A load that is always there, as the gripper: .json. What is published is without it."
    ),
    NodeParameter("autostart", True, "Identify from the start, without a call of ~/start."),
    NodeParameter(
        "publish_rate", 50.0, "Estimates a second, at most; 0 publishes every one [Hz].", 0.0, 1e5, read_only=False
    ),
    NodeParameter("output", "", "File for the result: .json. Written by ~/save, and at the end.", read_only=False),
)
PARAMETERS = changeable(_PARAMETERS, ANEW)

QUALITY_RATE = 5.0
"""Judgements of the estimate a second: they take longer than a sample [Hz]."""


class Identification:
    """What the identification node does, for a plain node and for one that is managed.

    See the page "ROS 2" of the documentation.

    Args:
        node: that does it.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._values = declare(node, PARAMETERS)
        self.inputs = InputNode(node, reliable=self._values["reliable"])
        self._output = _checked_output(self._values["output"])
        on_change(node, PARAMETERS, self._change)
        self._running = False
        self._robot: Robot | None = None
        self._wrenches: WrenchReader | None = None
        self._live: LiveIdentification | None = None
        self._source: RobotSource | None = None
        self._samples: SampleInput | None = None
        self._examiner: WorkerPool | None = None
        self._started: Future[RecentSamples] | None = None
        self._forget()
        self._load = LoadPublisher(node)
        self._events = node.create_publisher(DiagnosticStatus, "load_event", LATCHED_QOS, event_callbacks=QUIET)
        self._diagnostics = StreamDiagnostics(node)
        self._watch = InputWatch(node, self.inputs)
        node.create_timer(1.0, self._report)
        for name, action in (
            ("start", self._start),
            ("stop", self._stop),
            ("reset", self._reset),
            ("save", self._save),
        ):
            node.create_service(Trigger, f"~/{name}", action)

    def configure(self) -> None:
        """Find the robot, and set up what it takes to identify; that waits for its description, if need be.

        Raises:
            IparamError: if a parameter cannot be.
        """
        self._watch = InputWatch(self._node, self.inputs)
        values = self._values
        self._source = RobotSource(self._node, self.inputs, values["robot"], values["tip"], self._prepare)

    def activate(self) -> None:
        """Identify from now on."""
        self._running = True
        if self._live is not None:
            self._live.start()

    def deactivate(self) -> None:
        """Use no further samples; what is known stays."""
        self._running = False
        if self._live is not None:
            self._live.stop()

    def cleanup(self) -> None:
        """Forget the robot and the load, and listen to nothing; what is new is written first."""
        self.close()
        self.inputs.clear()
        self._robot = self._live = self._source = self._samples = None
        self._forget()

    def _forget(self) -> None:
        self._saved_samples = 0
        self._looked: int | None = None
        self._judged: int | None = None
        self._published = False
        self._said_cause = ""

    def _prepare(self, robot: Robot) -> None:
        """Set up for an arm, or anew for the same one."""
        values = self._values
        prefix: str = values["joint_prefix"]
        online = OnlineSettings(
            method=values["method"],
            bias=values["bias"],
            wrench_deviation=values["wrench_deviation"],
            accelerometer_deviation=values["accelerometer_deviation"],
            process=JointProcess(4, values["bandwidth"], values["angle_deviation"]),
            lag=values["lag"],
            restart=values["restart"],
            gravity=values["gravity"],
        )
        gripper = values["known_load"]
        known = Estimate.load(os.path.expanduser(gripper)) if gripper else None
        settings = LiveSettings(
            online,
            values["rate"],
            values["tolerance"],
            values["hold"],
            values["use_imu"],
            known,
            wrench_delay=values["wrench_delay"],
        )
        if self._examiner is None:
            self._examiner = WorkerPool(1, nice=EXAMINER_NICE)
            self._started = self._examiner.submit(RecentSamples, online.period, robot.num_joints)
        live = LiveIdentification(robot, settings, self._examiner)
        wrenches = WrenchReader.from_parameters(robot, values)
        if not self._running:
            live.stop()
        self._robot, self._live, self._wrenches = robot, live, wrenches
        self._load.frame = prefix + robot.tool_frame
        self._forget()
        self.inputs.clear()
        self._diagnostics.follow(live.matcher)
        self._samples = SampleInput(
            self._node,
            self.inputs,
            live.matcher,
            JointReader(robot, prefix),
            wrenches,
            tool=self._load.frame,
            process=self._process,
            accelerometer=values["use_imu"],
        )
        self._node.get_logger().info(printable(f"{robot.name}: identifying what {self._load.frame} carries"))

    def close(self) -> None:
        """Write the result, if there is a file for it and something new to write."""
        try:
            result = None if self._live is None or not self._output else self._live.result()
            if result is not None and result.samples != self._saved_samples:
                self._node.get_logger().info(printable(self._write()[1]))
        except IdentificationError as error:  # nothing but the known load
            self._node.get_logger().info(printable(f"{error}; nothing was written"))
        if self._examiner is not None:
            self._examiner.shutdown(cancel_futures=True)
            self._examiner = None

    def _change(self, name: str, value: Any) -> None:
        if name == "output":
            self._output = _checked_output(value)
        before = self._values
        self._values = {**before, name: value}
        if name in ANEW and self._robot is not None:
            try:
                self._prepare(self._robot)
            except IparamError:
                self._values = before
                raise

    def _process(self, received: int) -> None:
        live = self._live
        if live is None:
            return
        for done in live.process():
            if done.change is not None:
                self._announce(done.change)
            if done.estimate is not None:
                self._publish(live, done)
            self._diagnostics.processed(received)

    def _publish(self, live: LiveIdentification, done: Processed) -> None:
        if done.estimate is None or not _due(done.stamp, self._looked, self._values["publish_rate"]):
            return
        self._looked = done.stamp
        estimate = live.publishable(done)
        if estimate is not None:
            self._published = True
            self._load.estimate(done.stamp, estimate)
        elif self._published and (self._refutation is not None or live.empty or live.impossible is not None):
            self._published = False
            self._load.withdraw(done.stamp)
        if _due(done.stamp, self._judged, QUALITY_RATE):
            self._judged = done.stamp
            quality = live.quality()
            if quality is not None:
                self._load.quality(quality)

    def _announce(self, change: LoadChange) -> None:
        values = {
            "stamp_ns": change.stamp,
            "count": change.count,
            "mass_before_kg": change.mass_before,
            "mass_after_kg": change.mass_after,
        }
        self._events.publish(status_message("load", DiagnosticStatus.OK, change.kind, values))
        self._node.get_logger().info(f"load: {change.kind}")

    def _report(self) -> None:
        live = self._live
        if live is None:
            self._report_waiting()
            return
        estimate = live.estimate
        missing = self._watch.missing(live.matcher, self._samples)
        self._watch.log(missing)
        values: dict[str, object] = {
            "waiting_for": waiting_text(missing),
            "running": live.running,
            "examiner": "ready" if self._started is not None and self._started.done() else "starting",
            "used": live.used,
            "idle": live.idle,
            "gaps": live.gaps,
            "crowded": live.crowded,
            "restarts": live.restarts,
            "wrench_rate_hz": live.rate,
        }
        if estimate is not None:
            carried = live.without_known(estimate)
            values |= {"mass_kg": carried.mass, "mass_deviation_kg": float(np.sqrt(carried.covariance_phi[0, 0]))}
            values["known"] = ", ".join(grouped_names(np.isfinite(carried.derived[0]))) or "nothing"
        rivals = self._load.rivals()
        if rivals:
            values["rivals"] = printable(" ".join(messages(rivals)))
            self._node.get_logger().warning(str(values["rivals"]), throttle_duration_sec=SAID_AGAIN)
        delay = live.delay
        values["wrench_delay_s"] = self._values["wrench_delay"] + (0.0 if delay is None else delay.seconds)
        values["tested"] = live.setup is not None and live.setup.passed
        refuted, verdict = self._refutation, live.verdict
        if verdict is not None:
            values |= {"refuted": refuted is not None, "residual_by_noise": verdict.residual}
        if refuted is not None:
            values["cause"] = ", ".join(cause.cause for cause in refuted.causes) or "unknown"
            why = remark("load-refuted", reason=refuted_sentence(refuted, self._wrench_in_tool), causes=values["cause"])
            said = f"REFUTED: {why.message}"
            if values["cause"] != self._said_cause:  # another one at once, the same one now and then
                self._said_cause = str(values["cause"])
                self._node.get_logger().error(printable(said))
            else:
                self._node.get_logger().error(printable(said), throttle_duration_sec=10.0, skip_first=True)
            self._diagnostics.publish(values, [why])
            return
        if live.impossible is not None:
            why = withheld("load-withheld", live.impossible)
            self._node.get_logger().error(printable(why.message), throttle_duration_sec=10.0)
            self._diagnostics.publish(values, [why])
            return
        late = live.late
        if late is not None:
            self._node.get_logger().warning(late.message, throttle_duration_sec=SAID_AGAIN)
        if missing:
            self._diagnostics.publish(values, [*missing, *rivals])
            return
        progress = None if live.setup is None else live.setup.progress
        found = (None if verdict is None else verdict.remark, late, progress)
        self._diagnostics.publish(values, [*rivals, *(one for one in found if one is not None)])

    def _report_waiting(self) -> None:
        """Before the robot is known."""
        if self._source is None:
            self._diagnostics.publish({"running": False, "waiting_for": ""}, [remark("node-not-configured")])
            return
        problem = self._source.problem
        missing = self._watch.missing() if problem is None else (problem,)
        if problem is None:  # else the source has logged it
            self._watch.log(missing)
        values: dict[str, object] = {"running": False, "waiting_for": waiting_text(missing)}
        self._diagnostics.publish(values, missing or [remark("description-awaited")])

    @property
    def _refutation(self) -> Refutation | None:
        verdict = None if self._live is None else self._live.verdict
        return None if verdict is None else verdict.refutation

    def _start(self, request: Any, response: Any) -> Any:
        self.activate()
        response.success, response.message = True, "identifying"
        return response

    def _stop(self, request: Any, response: Any) -> Any:
        self.deactivate()
        response.success, response.message = True, "stopped; what is known stays"
        return response

    def _reset(self, request: Any, response: Any) -> Any:
        if self._live is not None:
            self._live.reset()
        self._forget()
        response.success, response.message = True, "forgotten"
        return response

    def _save(self, request: Any, response: Any) -> Any:
        try:
            response.success, response.message = self._write()
        except IparamError as error:
            response.success, response.message = False, str(error)
        return response

    def _write(self) -> tuple[bool, str]:
        """Write the result; whether its data leave it standing, and what is to be said."""
        if not self._output:
            raise InputError("there is no file to write to: set the parameter output")
        result = None if self._live is None else self._live.result()
        if result is None:
            raise IparamError("nothing is known of the load yet: move the arm, and turn the tool")
        result.save(self._output)
        self._saved_samples = result.samples
        verdict, sentence = verdict_on(result), ""
        if result.refutation is not None:
            sentence = refuted_sentence(result.refutation, self._wrench_in_tool)
        return result.refutation is None, (
            f"{result.mass:.4f} kg from {result.samples} samples written to {self._output}; {verdict.word}: "
            f"{sentence or verdict.sentence}"
        )

    @property
    def _wrench_in_tool(self) -> bool:
        """Whether the wrench is said to be in the tool's own frame: then a correction there is one of the sensor."""
        return self._wrenches is not None and self._wrenches.in_tool


class IdentificationNode(Node):
    """Identifies from its start on."""

    def __init__(self) -> None:
        super().__init__("iparam_identification")
        self._identification = Identification(self)
        if self.get_parameter("autostart").value:
            self._identification.activate()
        self._identification.configure()

    @property
    def inputs(self) -> InputNode:
        """Where its messages come in."""
        return self._identification.inputs

    def close(self) -> None:
        """Write what is new."""
        self._identification.close()


class ManagedIdentificationNode(LifecycleNode):
    """Identifies when a lifecycle manager has configured and activated it."""

    def __init__(self) -> None:
        super().__init__("iparam_identification")
        self._identification = Identification(self)

    @property
    def inputs(self) -> InputNode:
        """Where its messages come in."""
        return self._identification.inputs

    def on_configure(self, state: Any) -> Any:
        """Find the robot; parameters that cannot be make it fail, and the reason is logged."""
        try:
            self._identification.configure()
        except IparamError as error:
            self.get_logger().error(printable(str(error)))
            return TransitionCallbackReturn.FAILURE
        return super().on_configure(state)

    def on_activate(self, state: Any) -> Any:
        """Identify from now on."""
        self._identification.activate()
        return super().on_activate(state)

    def on_deactivate(self, state: Any) -> Any:
        """Use no further samples; what is known stays."""
        self._identification.deactivate()
        return super().on_deactivate(state)

    def on_cleanup(self, state: Any) -> Any:
        """Forget the robot and the load."""
        self._identification.deactivate()
        self._identification.cleanup()
        return super().on_cleanup(state)

    def on_shutdown(self, state: Any) -> Any:
        """Write what is new, and listen to nothing."""
        self._identification.deactivate()
        self._identification.cleanup()
        return super().on_shutdown(state)

    def close(self) -> None:
        """Write what is new."""
        self._identification.close()


def _checked_output(given: str) -> str:
    """The file that the result goes to, "" for none; refuses one that must not be replaced by it."""
    path = os.path.expanduser(given)
    if path:
        way_out = "choose another file, or remove it first"
        check_target(Path(path), FileKind.RESULT, "parameter output:", way_out=way_out)
    return path


def _due(stamp: int, before: int | None, rate: float) -> bool:
    """Whether something that is published ``rate`` times a second [Hz], 0 for always, is due at a stamp [ns]."""
    return before is None or rate <= 0.0 or not 0 <= stamp - before < 0.999e9 / rate
