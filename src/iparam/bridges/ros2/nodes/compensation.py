"""The compensation node: a wrench without the load that the tool carries and without the sensor's bias."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from iparam.bridges.ros2.backend import (
    OUTPUT_QOS,
    QUIET,
    InertiaStamped,
    Node,
    WrenchStamped,
)
from iparam.bridges.ros2.diagnostics import StreamDiagnostics, withheld
from iparam.bridges.ros2.input_node import InputNode
from iparam.bridges.ros2.input_watch import InputWatch, waiting_text
from iparam.bridges.ros2.joint_motion_filter import JointMotionFilter
from iparam.bridges.ros2.matching.sample_matcher import SampleMatcher
from iparam.bridges.ros2.messages import body_values, wrench_of, write_wrench
from iparam.bridges.ros2.nodes.live_compensation import LiveCompensation
from iparam.bridges.ros2.parameters import GRAVITY, MATCHING, ROBOT, NodeParameter, declare
from iparam.bridges.ros2.readers import JointReader, WrenchReader
from iparam.bridges.ros2.robot_source import RobotSource
from iparam.bridges.ros2.sample_input import SampleInput
from iparam.errors import InputError, IparamError
from iparam.estimation.assessment.applicability import check_frame, compare_arm
from iparam.estimation.estimate import Estimate, grouped_names
from iparam.printable import printable
from iparam.remarks import remark
from iparam.robot.model import Robot
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.phi import inertia_matrix

PARAMETERS = (
    *ROBOT,
    *MATCHING,
    GRAVITY,
    NodeParameter(
        "result", "", "The load: .json from 'iparam identify payload'; empty to take it from the topic inertia."
    ),
    NodeParameter("updates", False, "With a result: take what the topic inertia says from then on, as without one."),
    NodeParameter("accept_refuted", False, "Use a result even if its own data refute it."),
    NodeParameter(
        "mode",
        "full",
        "What to take out: the weight (static), or also what the load's acceleration takes (full).",
        choices=("static", "full"),
    ),
    NodeParameter("subtract_bias", True, "Take the sensor's bias out, too, where it was identified."),
    NodeParameter("zero_pose", (), "Joint angles at which the sensor was zeroed with the load on it [rad]."),
)


class CompensationNode(Node):
    """Subscribes joint states and wrenches, publishes what touches the tool.

    See the page "ROS 2" of the documentation.
    """

    def __init__(self) -> None:
        super().__init__("iparam_compensation")
        values = declare(self, PARAMETERS)
        self.inputs = InputNode(self, reliable=values["reliable"])
        self._values, self._tool = values, ""
        self._withdrawn = False
        self._updates = self._withheld = self._reported = 0
        self._missing: tuple[str, ...] = ()
        self._subtract_bias: bool = values["subtract_bias"]
        self._accept_refuted: bool = values["accept_refuted"]
        self._estimate = self._read(values["result"]) if values["result"] else None
        self._live: LiveCompensation | None = None
        self._input: SampleInput | None = None
        self._publisher = self.create_publisher(WrenchStamped, "wrench_compensated", OUTPUT_QOS, event_callbacks=QUIET)
        self._message = WrenchStamped()
        self._diagnostics = StreamDiagnostics(self)
        self._watch = InputWatch(self, self.inputs)
        self.create_timer(1.0, self._report)
        self._source = RobotSource(self, self.inputs, values["robot"], values["tip"], self._prepare)

    def _prepare(self, robot: Robot) -> None:
        values = self._values
        prefix: str = values["joint_prefix"]
        self._tool = prefix + robot.tool_frame
        self._wrench_reader = WrenchReader.from_parameters(robot, values)
        motion = JointMotionFilter(robot.num_joints, values["bandwidth"], values["angle_deviation"], values["rate"])
        pose = values["zero_pose"]
        if pose and len(pose) != robot.num_joints:
            raise InputError(f"parameter zero_pose needs {robot.num_joints} angles, got {len(pose)}")
        live = LiveCompensation(
            robot,
            values["mode"],
            matcher=SampleMatcher(values["tolerance"], values["hold"]),
            motion=motion,
            gravity=values["gravity"],
            zero_pose=pose or None,
        )
        if self._estimate is not None:
            self._use(self._estimate, live, robot)
        self._live, self._withheld, self._reported = live, 0, 0
        self.inputs.clear()
        self._diagnostics.follow(live.matcher)
        if values["updates"] or self._estimate is None:
            self.inputs.subscribe(InertiaStamped, "inertia", self._inertia, OUTPUT_QOS)
            if self._subtract_bias:
                self.inputs.subscribe(WrenchStamped, "sensor_bias", self._bias, OUTPUT_QOS)
        self._input = SampleInput(
            self,
            self.inputs,
            live.matcher,
            JointReader(robot, prefix),
            self._wrench_reader,
            tool=self._tool,
            process=self._process,
        )

    def close(self) -> None:
        """Nothing is left to do."""

    def _read(self, path: str) -> Estimate:
        """The load of a file, if it may be taken out of a wrench."""
        estimate = Estimate.load(os.path.expanduser(path))
        estimate.require_weight("what a load weighs and how it hangs takes its mass and centre of mass")
        if not self._accept_refuted:
            estimate.require_credit(
                "the load is taken out of the wrench as if it were true, which accept_refuted:=true allows"
            )
        return estimate

    def _use(self, estimate: Estimate, live: LiveCompensation, robot: Robot) -> None:
        check_frame(estimate.frame, robot)
        if (arm := compare_arm(estimate, robot).remark) is not None:
            self.get_logger().warning(printable(arm.message))
        live.set_load(estimate.known_phi)
        if not estimate.complete:
            self.get_logger().warning(printable(f"the inertia stays in the torque. {estimate.to_see_the_rest}"))
        if self._subtract_bias and estimate.sensor_bias is not None:
            live.set_bias(np.concatenate([estimate.sensor_bias.force, estimate.sensor_bias.torque]))
        path = self._values["result"]
        self.get_logger().info(printable(f"{path}: {estimate.mass:.4f} kg are taken out of the wrench"))

    def _inertia(self, message: InertiaStamped, info: Any) -> None:
        live = self._live
        if live is None:
            return
        try:
            if message.header.frame_id not in ("", self._tool):
                raise InputError(
                    argument="inertia",
                    problem=f"is in the frame {message.header.frame_id!r}, not in {self._tool}: left out",
                )
            if message.inertia.m == 0.0:
                live.forget_load()
                self._withdrawn = True
                return
            values = body_values(message)
            if not values[0] > 0.0:
                raise InputError(f"no body has a mass of {values[0]:.4g} kg: the inertia that came is left out")
            self._missing = grouped_names(np.isnan(values))
            usable = np.nan_to_num(values, nan=0.0)
            self._updates += 1
            live.set_load(InertialParameters(usable[0], usable[1:4], inertia_matrix(usable[4:])).phi)
            self._withdrawn = False
        except IparamError as error:
            self.get_logger().error(printable(str(error)), throttle_duration_sec=5.0)

    def _bias(self, message: WrenchStamped, info: Any) -> None:
        live = self._live
        if live is None:
            return
        try:
            live.set_bias(wrench_of(message))
        except IparamError as error:
            self.get_logger().error(printable(f"sensor_bias: {error}"), throttle_duration_sec=5.0)

    def _process(self, received: int) -> None:
        live = self._live
        if live is None or self._input is None:
            return
        for done in live.process():
            contact = self._wrench_reader.from_tool(done.wrench)
            write_wrench(self._message, done.stamp, self._input.wrench_frame, contact)
            self._publisher.publish(self._message)
            self._diagnostics.processed(received)
        if live.withheld > self._withheld and live.impossible is not None:
            self._withheld = live.withheld
            text = printable(f"a wrench is withheld: {live.impossible.sentence}")
            self.get_logger().error(text, throttle_duration_sec=5.0)

    def _report(self) -> None:
        live = self._live
        if live is None:
            problem = self._source.problem
            missing = self._watch.missing() if problem is None else (problem,)
            self._watch.log(missing if problem is None else ())
            self._diagnostics.publish({"waiting_for": waiting_text(missing)}, missing)
            return
        missing = self._watch.missing(live.matcher, self._input)
        self._watch.log(missing)
        remarks = list(missing)
        if self._withdrawn:
            remarks.append(remark("load-withdrawn"))
        elif not live.loaded:
            remarks.append(remark("load-awaited"))
        elif self._missing:
            remarks.append(remark("load-known-in-part", parameters=", ".join(self._missing)))
        values: dict[str, object] = {
            "waiting_for": waiting_text(missing),
            "updates": self._updates,
            "without_load": live.without_load,
            "settling": live.settling,
            "withheld": live.withheld,
        }
        if live.withheld > self._reported and live.impossible is not None:
            remarks.insert(0, withheld("wrenches-withheld", live.impossible, live.withheld - self._reported))
        self._reported = live.withheld
        self._diagnostics.publish(values, remarks)
