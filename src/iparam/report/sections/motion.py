"""The part of the page about the motion: the arm in pictures, the tool's path, the joints and their limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from iparam.motion.motion import MotionEstimate
from iparam.plotting.matplotlib_backend import BLUE, GREEN, GREY, VERMILLION, new_figure, side_label, stacked_axes
from iparam.report.content import Block, Card, Cards, Heading, Missing, Paragraph, Scene, Section, Table, figure_card
from iparam.report.context import ReportContext
from iparam.report.figures import arm_figure, path_figure
from iparam.report.rendering import plain
from iparam.robot.kinematics import forward_kinematics
from iparam.robot.model import JointKind, Robot
from iparam.rounding import fixed, significant

POINTS = 400


def motion_section(context: ReportContext) -> Section | Missing:
    """How the arm moved."""
    robot, motion = context.given.robot, context.motion
    if robot is None or motion is None:
        return Missing("The motion", "add the recording or the trajectory, and the robot if neither names the arm")
    duration = motion.time[-1] - motion.time[0]
    blocks: list[Block] = [
        Paragraph(f"{plain(robot.name)}, {fixed(duration, 1)} s, {context.motion_origin}."),
        *([Scene(context.given.scene, "The arm in motion, to turn and to play")] if context.given.scene else []),
        Cards(_pictures(context, robot, motion)),
        Heading("Joints and their limits"),
        Cards([_joint_card(robot, motion, joint) for joint in range(robot.num_joints)]),
        *_planned_margins(context),
    ]
    return Section("motion", "The motion", blocks)


def _pictures(context: ReportContext, robot: Robot, motion: MotionEstimate) -> list[Card]:
    path = forward_kinematics(robot, motion.q)[:, :3, 3]
    shown = "The first pose is solid, others of the motion are faint; the line is the path of the tool."
    shown += " The box has the load's mass and inertia." if context.body is not None else ""
    arm = arm_figure(robot, motion.time, motion.q, context.body)
    words = f"It spans {' × '.join(fixed(v, 2) for v in np.ptp(path, axis=0))} m."
    tool = path_figure(motion.time, path, plain(robot.tool_frame, 20))
    return [
        figure_card(arm, "arm", "The arm in motion.", shown),
        figure_card(tool, "tool-path", "Path of the tool.", words),
    ]


def _joint_card(robot: Robot, motion: MotionEstimate, joint: int) -> Card:
    limits, revolute = robot.limits, robot.moving_joints[joint].kind is JointKind.REVOLUTE
    unit, rate = ("°", "°/s") if revolute else ("m", "m/s")
    scale = np.degrees(1.0) if revolute else 1.0
    figure = new_figure(2.9)
    upper, lower = stacked_axes(figure, (1.0, 1.0), top=0.1)
    thin = slice(None, None, max(1, len(motion.time) // POINTS))
    time = motion.time[thin] - motion.time[0]
    for axes, values, bounds, color, label in (
        (upper, motion.q, (limits.lower[joint], limits.upper[joint]), BLUE, f"position [{unit}]"),
        (lower, motion.dq, (-limits.velocity[joint], limits.velocity[joint]), GREEN, f"velocity [{rate}]"),
    ):
        axes.plot(time, scale * values[thin, joint], color=color)
        _limit_lines(axes, [scale * bound for bound in bounds if np.isfinite(bound)])
        side_label(axes, label)
        if revolute:
            _degree_ticks(axes)
    lower.set_xlabel("time [s]")
    lower.set_xlim(time[0], time[-1])
    used = float(np.abs(motion.dq[:, joint]).max() / limits.velocity[joint])
    share = f"{100 * used:.0f} % of its speed limit" if np.isfinite(limits.velocity[joint]) else "no speed limit known"
    name = plain(robot.joint_names[joint], 30)
    return figure_card(figure, f"joint-{joint}", f"Joint {joint + 1}, {name}.", f"It uses {share}; dashed: limits.")


def _limit_lines(axes: Any, bounds: list[float]) -> None:
    for bound in bounds:
        axes.axhline(bound, color=VERMILLION, linestyle="--", linewidth=1.1)
    if bounds:
        low, high = axes.get_ylim()
        low, high = min(low, *bounds), max(high, *bounds)
        axes.set_ylim(low - 0.06 * (high - low), high + 0.06 * (high - low))
    axes.axhline(0.0, color=GREY, linewidth=0.6, zorder=1)


def _degree_ticks(axes: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 1.8, 3.6, 4.5, 9, 10]))


def _planned_margins(context: ReportContext) -> list[Block]:
    planned = context.given.trajectory
    if planned is None or planned.validation is None:
        return []
    kept = planned.validation.get("all_constraints_satisfied")
    verdict = "The plan kept every limit." if kept is True else "The plan did NOT keep every limit."
    rows = []
    margins = planned.validation.get("margins")
    for name, entry in margins.items() if isinstance(margins, dict) else ():
        if isinstance(entry, dict) and isinstance(entry.get("margin"), float):
            margin = f"{significant(entry['margin'])} {plain(entry.get('unit', ''), 20)}"
            rows.append([plain(name, 60), margin, plain(entry.get("label", ""), 80)])
    blocks: list[Block] = [Heading("As planned"), Paragraph(verdict)]
    if rows:
        blocks.append(Table(["limit", "least margin", "where"], rows, "Margins of the planned motion", "words"))
    return blocks
