"""The identification node: the load from joint states and wrenches, while the arm moves."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from iparam.bridges.ros2.backend import (
    LATCHED_QOS,
    OUTPUT_QOS,
    QUIET,
    DiagnosticStatus,
    Float64MultiArray,
    InertiaStamped,
    Node,
    Trigger,
    WrenchStamped,
)
from iparam.bridges.ros2.diagnostics import StreamDiagnostics
from iparam.bridges.ros2.input_node import InputNode, SampleInput
from iparam.bridges.ros2.messages import (
    array_message,
    status_message,
    write_body,
    write_stamp,
    write_values,
    write_wrench,
)
from iparam.bridges.ros2.nodes.live_identification import (
    LiveIdentification,
    LiveSettings,
    LoadChange,
    Processed,
    warm_up_identifier,
)
from iparam.bridges.ros2.parameters import GRAVITY, MATCHING, ROBOT, NodeParameter, declare, on_change
from iparam.bridges.ros2.readers import JointReader, WrenchReader
from iparam.errors import InputError, IparamError
from iparam.estimation.errors import IdentificationError
from iparam.estimation.estimate import DERIVED_NAMES, Estimate, Refutation, grouped_names
from iparam.estimation.online.estimate import OnlineEstimate
from iparam.estimation.online.identifier import OnlineSettings
from iparam.estimation.online.result import OnlineQuality
from iparam.files.kind import FileKind, check_target
from iparam.motion.joint_process import JointProcess
from iparam.printable import printable
from iparam.regressor.identifiability import PARAMETER_NAMES
from iparam.robot.loading import load_robot


class LoadPublisher:
    """Publishes estimates and their quality. The messages are made once and filled again and again: it is quicker.

    Args:
        node: that publishes.
        frame: name of the tool's frame in messages.
    """

    def __init__(self, node: Node, frame: str) -> None:
        phi, size = ",".join(PARAMETER_NAMES), len(PARAMETER_NAMES)
        self._frame = frame
        self._inertia, self._bias = InertiaStamped(), WrenchStamped()
        self._deviation = array_message(np.zeros(size), [",".join(DERIVED_NAMES)])
        self._covariance = array_message(np.zeros((size, size)), [phi, phi])
        self._quality = array_message(np.zeros(len(OnlineQuality._fields)), [",".join(OnlineQuality._fields)])

        def publisher(kind: type, topic: str) -> Any:
            return node.create_publisher(kind, topic, OUTPUT_QOS, event_callbacks=QUIET)

        self._to_inertia = publisher(InertiaStamped, "inertia")
        self._to_deviation = publisher(Float64MultiArray, "inertia_deviation")
        self._to_covariance = publisher(Float64MultiArray, "inertia_covariance")
        self._to_quality = publisher(Float64MultiArray, "inertia_quality")
        self._to_bias = publisher(WrenchStamped, "sensor_bias")

    def estimate(self, stamp: int, estimate: OnlineEstimate) -> None:
        """Publish an estimate at a stamp [ns]."""
        write_stamp(self._inertia.header, stamp, self._frame)
        values, deviations = estimate.derived
        write_body(self._inertia.inertia, values)
        self._to_inertia.publish(self._inertia)
        write_values(self._deviation, deviations)
        self._to_deviation.publish(self._deviation)
        write_values(self._covariance, estimate.covariance_phi)
        self._to_covariance.publish(self._covariance)
        if estimate.sensor_bias is not None:
            write_wrench(self._bias, stamp, self._frame, estimate.sensor_bias)
            self._to_bias.publish(self._bias)

    def withdraw(self, stamp: int) -> None:
        """Say at a stamp [ns] that the load published before is not to be believed: an inertia with nothing in it."""
        empty = InertiaStamped()
        write_stamp(empty.header, stamp, self._frame)
        self._to_inertia.publish(empty)

    def quality(self, quality: OnlineQuality) -> None:
        """Publish how good the estimate is."""
        write_values(self._quality, np.array(quality, dtype=np.float64))
        self._to_quality.publish(self._quality)


PARAMETERS = (
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
QUALITY_RATE = 5.0
"""Judgements of the estimate a second: they take longer than a sample [Hz]."""


class IdentificationNode(Node):
    """Subscribes joint states and wrenches, publishes the load. See docs/ros2.md."""

    def __init__(self) -> None:
        super().__init__("iparam_identification")
        values = declare(self, PARAMETERS)
        self.inputs = InputNode(self, reliable=values["reliable"])
        self._publish_rate, self._output = values["publish_rate"], _checked_output(values["output"])
        on_change(self, PARAMETERS, self._change)
        robot = load_robot(values["robot"], tip=values["tip"] or None)
        prefix: str = values["joint_prefix"]
        self._tool = prefix + robot.tool_frame
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
        settings = LiveSettings(online, values["rate"], values["tolerance"], values["hold"], values["use_imu"], known)
        self._live = LiveIdentification(robot, settings)
        if not values["autostart"]:
            self._live.stop()
        warm_up_identifier(robot, online)
        self._saved_samples = 0
        self._looked: int | None = None
        self._published = False
        self._judged: int | None = None
        self._load = LoadPublisher(self, self._tool)
        self._events = self.create_publisher(DiagnosticStatus, "load_event", LATCHED_QOS, event_callbacks=QUIET)
        self._diagnostics = StreamDiagnostics(self, self._live.matcher)
        self.create_timer(1.0, self._report)
        for name, action in (
            ("start", self._start),
            ("stop", self._stop),
            ("reset", self._reset),
            ("save", self._save),
        ):
            self.create_service(Trigger, f"~/{name}", action)
        SampleInput(
            self,
            self.inputs,
            self._live.matcher,
            JointReader(robot, prefix),
            WrenchReader(robot, values["wrench_frame"], values["measures"], prefix),
            tool=self._tool,
            process=self._process,
            accelerometer=values["use_imu"],
        )
        self.get_logger().info(printable(f"{robot.name}: identifying what {self._tool} carries"))

    def close(self) -> None:
        """Write the result, if there is a file for it and something new to write."""
        try:
            result = self._live.result()
            if self._output and result is not None and result.samples != self._saved_samples:
                self.get_logger().info(printable(self._write()))
        except IdentificationError as error:  # nothing but the known load
            self.get_logger().info(printable(f"{error}; nothing was written"))

    def _change(self, name: str, value: Any) -> None:
        if name == "publish_rate":
            self._publish_rate = value
        elif name == "output":
            self._output = _checked_output(value)

    def _process(self, received: int) -> None:
        for done in self._live.process():
            if done.change is not None:
                self._announce(done.change)
            if done.estimate is not None:
                self._publish(done)
            self._diagnostics.processed(received)

    def _publish(self, done: Processed) -> None:
        if done.estimate is None or not _due(done.stamp, self._looked, self._publish_rate):
            return
        self._looked = done.stamp
        estimate = self._live.publishable(done)
        if estimate is not None:
            self._published = True
            self._load.estimate(done.stamp, estimate)
        elif self._published and (self._refutation is not None or self._live.empty):
            self._published = False
            self._load.withdraw(done.stamp)
        if _due(done.stamp, self._judged, QUALITY_RATE):
            self._judged = done.stamp
            quality = self._live.quality()
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
        self.get_logger().info(f"load: {change.kind}")

    def _report(self) -> None:
        live, estimate = self._live, self._live.estimate
        values: dict[str, object] = {
            "running": live.running,
            "used": live.used,
            "idle": live.idle,
            "gaps": live.gaps,
            "restarts": live.restarts,
            "wrench_rate_hz": live.rate,
        }
        if estimate is not None:
            left = live.without_known(estimate)
            values |= {"mass_kg": left.mass, "mass_deviation_kg": float(np.sqrt(left.covariance_phi[0, 0]))}
            values["known"] = ", ".join(grouped_names(np.isfinite(left.derived[0]))) or "nothing"
        refuted, verdict = self._refutation, live.verdict
        if verdict is not None:
            values |= {"refuted": refuted is not None, "residual_by_noise": verdict.residual}
        if refuted is not None:
            values["cause"] = ", ".join(cause.cause for cause in refuted.causes) or "unknown"
            self.get_logger().error(printable(f"REFUTED: {refuted.sentence}"), throttle_duration_sec=10.0)
            self._diagnostics.publish(values, error=f"REFUTED: {refuted.sentence}")
            return
        self._diagnostics.publish(values, "" if verdict is None else verdict.remark)

    @property
    def _refutation(self) -> Refutation | None:
        return None if self._live.verdict is None else self._live.verdict.refutation

    def _start(self, request: Any, response: Any) -> Any:
        self._live.start()
        response.success, response.message = True, "identifying"
        return response

    def _stop(self, request: Any, response: Any) -> Any:
        self._live.stop()
        response.success, response.message = True, "stopped; what is known stays"
        return response

    def _reset(self, request: Any, response: Any) -> Any:
        self._live.reset()
        self._published, self._looked, self._judged, self._saved_samples = False, None, None, 0
        response.success, response.message = True, "forgotten"
        return response

    def _save(self, request: Any, response: Any) -> Any:
        try:
            response.message = self._write()
            response.success = True
        except IparamError as error:
            response.success, response.message = False, str(error)
        return response

    def _write(self) -> str:
        if not self._output:
            raise InputError("there is no file to write to: set the parameter output")
        result = self._live.result()
        if result is None:
            raise IparamError("nothing is known of the load yet: move the arm, and turn the tool")
        result.save(self._output)
        self._saved_samples = result.samples
        return f"{result.mass:.4f} kg from {result.samples} samples written to {self._output}"


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
