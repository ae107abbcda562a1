"""Where the wrench of a run in Isaac comes from: what a joint transmits, or what contacts exert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from iparam.arrays import FloatArray
from iparam.bridges.isaac.articulation import as_numpy, require_initialized
from iparam.bridges.isaac.frames import (
    StageUnits,
    contact_wrench_in_tool,
    in_axes_before_step,
    joint_wrench_in_tool,
    rigid,
)
from iparam.errors import InputError, UnknownNameError


class WrenchReading(Protocol):
    """Reads something after each physics step, and makes a wrench of all that was read."""

    def read(self, environment: int) -> tuple[FloatArray, ...]:
        """What there is to read now, in one environment, as it comes."""
        ...

    def in_tool(self, readings: Sequence[tuple[FloatArray, ...]], tool: FloatArray, units: StageUnits) -> FloatArray:
        """(T, 6) [force, torque] on the payload in the tool frame [N, N m], or (T, 3) where there is no torque.

        Args:
            readings: what `read` gave, T times.
            tool: (T + 1, 4, 4) pose of the tool in the world before each step, and after the last [m].
            units: of the stage.
        """
        ...


@dataclass(frozen=True, eq=False)
class JointWrench:
    """What a joint transmits to the link behind it: the reading of a six-axis sensor that is mounted there.

    Weld the payload (or a small sensor link that carries it) to the flange by a fixed joint, and name the link behind
    that joint. What a joint of the arm itself transmits holds the last link, too.

    Attributes:
        source: a ``JointWrenchSensor`` of Isaac Lab 3 (``body_names``, ``data.force``, ``data.torque``); an
            articulation of Isaac Sim 6 (``link_names``, ``get_link_incoming_joint_force()``); or one of Isaac Sim
            before (``body_names``, ``get_measured_joint_forces()``).
        body: the link behind the joint.
        pose: (4, 4) of the child-side joint frame in the tool frame [m]; the same, if the joint was made at the tool.
        axes_after_step: whether the source turns a wrench of the state before a step by the pose after it, see
            `in_axes_before_step`; None for what it is known to do: a sensor of Isaac Lab on Newton does, others do not.
    """

    source: Any
    body: str
    pose: FloatArray = field(default_factory=lambda: np.eye(4))
    axes_after_step: bool | None = None

    def __post_init__(self) -> None:
        rigid(self.pose, "pose")
        require_initialized(self.source)
        if not (self._is_sensor or self._is_current or hasattr(self.source, "get_measured_joint_forces")):
            raise InputError(
                f"a {type(self.source).__name__} tells no joint wrench: give a JointWrenchSensor of Isaac Lab 3, or an "
                "articulation with get_link_incoming_joint_force (Isaac Sim 6) or get_measured_joint_forces (before)"
            )
        names = list(self.source.link_names if self._is_current else self.source.body_names)
        if self.body not in names:
            raise UnknownNameError("link with a joint wrench", self.body, names)
        object.__setattr__(self, "_row", names.index(self.body))

    @property
    def _is_sensor(self) -> bool:
        return hasattr(self.source, "data") and hasattr(self.source.data, "torque")

    @property
    def _is_current(self) -> bool:
        return hasattr(self.source, "get_link_incoming_joint_force")

    def read(self, environment: int) -> tuple[FloatArray, ...]:
        """Force and torque (3,) in the child-side joint frame, in units of the stage."""
        row = self._row  # type: ignore[attr-defined]
        if self._is_sensor:
            pair = (self.source.data.force, self.source.data.torque)
        elif self._is_current:
            pair = self.source.get_link_incoming_joint_force()
        else:  # a row a link, the root's first: that of a joint is its index + 1
            both = as_numpy(self.source.get_measured_joint_forces(), "get_measured_joint_forces()")
            six = (both if both.ndim == 3 else both[None])[environment, row]
            return six[:3], six[3:]
        force, torque = (as_numpy(part, "the joint wrench")[environment, row] for part in pair)
        return force, torque

    def in_tool(self, readings: Sequence[tuple[FloatArray, ...]], tool: FloatArray, units: StageUnits) -> FloatArray:
        """See `WrenchReading.in_tool`."""
        force, torque = (np.array(part) for part in zip(*readings, strict=True))
        found = joint_wrench_in_tool(force, torque, self.pose, units)
        after = self.axes_after_step
        if after is None:
            after = self._is_sensor and getattr(self.source, "__backend_name__", None) == "newton"
        return in_axes_before_step(found, tool) if after else found


@dataclass(frozen=True, eq=False)
class ContactWrench:
    """What contacts exert on a payload that is held, or on the arm's link that holds it.

    A contact sensor reports forces in world axes: they are turned into the tool's. A net force has no torque, and so no
    wrench comes of it; with the points of contact, one does, as exact as these are (Isaac Lab gives the mean of the
    points with each partner). On PhysX up to Isaac Sim 6.1 ``net_forces_w`` holds normal forces only, which say nothing
    of a load that friction holds: the friction is added where the sensor reports it.

    Attributes:
        sensor: a ``ContactSensor`` of Isaac Lab: ``sensor_names`` (before 3.0 ``body_names``), ``data.net_forces_w``
            (environments, bodies, 3), and where they are tracked ``data.force_matrix_w`` and ``data.contact_pos_w``
            (environments, bodies, k, 3).
        body: that it is on.
        on: "payload" if that is the payload, "arm" if it is the link that holds it, whose contact forces are the
            opposite ones.
    """

    sensor: Any
    body: str
    on: Literal["payload", "arm"] = "payload"

    def __post_init__(self) -> None:
        if self.on not in ("payload", "arm"):
            raise InputError(argument="on", value=self.on, expected="'payload' or 'arm'")
        require_initialized(self.sensor)
        names = getattr(self.sensor, "sensor_names", None) or getattr(self.sensor, "body_names", None)
        if names is None or not hasattr(self.sensor.data, "net_forces_w"):
            raise InputError(
                f"a {type(self.sensor).__name__} is no contact sensor that is known: give a ContactSensor of Isaac Lab"
            )
        if self.body not in names:
            raise UnknownNameError("body with a contact sensor", self.body, names)
        object.__setattr__(self, "_row", list(names).index(self.body))

    def read(self, environment: int) -> tuple[FloatArray, ...]:
        """The net force (3,), or forces and points (k, 3), in the world, in units of the stage."""
        data, row = self.sensor.data, self._row  # type: ignore[attr-defined]
        points = getattr(data, "contact_pos_w", None)
        forces = getattr(data, "force_matrix_w", None)
        if points is not None and forces is not None:
            return (
                as_numpy(forces, "force_matrix_w")[environment, row],
                as_numpy(points, "contact_pos_w")[environment, row],
            )
        normal, friction = (getattr(data, f"net_{part}_forces_w", None) for part in ("normal", "friction"))
        if normal is not None and friction is not None:
            parts = (as_numpy(part, "the contact force")[environment, row] for part in (normal, friction))
            return (sum(parts, np.zeros(3)),)
        return (as_numpy(data.net_forces_w, "net_forces_w")[environment, row],)

    def in_tool(self, readings: Sequence[tuple[FloatArray, ...]], tool: FloatArray, units: StageUnits) -> FloatArray:
        """See `WrenchReading.in_tool`."""
        force, *points = (np.array(part) for part in zip(*readings, strict=True))
        sign = 1.0 if self.on == "payload" else -1.0
        return sign * contact_wrench_in_tool(force, points[0] if points else None, tool[:-1], units)
