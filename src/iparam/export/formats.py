"""The formats a load can be exported to, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iparam.errors import InputError, UnknownNameError
from iparam.export.bodies import to_mjcf, to_sdf_inertial, to_urdf_inertial
from iparam.export.controllers import (
    to_abb,
    to_abb_static,
    to_franka,
    to_kuka,
    to_urscript,
    to_urscript_static,
    to_xarm,
)
from iparam.export.draws import draws_to_csv, to_csv
from iparam.export.json_load import to_json, to_json_static
from iparam.export.load import IdentifiedLoad, StaticLoad
from iparam.export.ros2 import to_ros2_yaml, to_ros2_yaml_static
from iparam.export.usd.layers import to_usd
from iparam.files.kind import FileKind


@dataclass(frozen=True)
class ExportFormat:
    """A format.

    Attributes:
        name: by which it is asked for.
        suffix: usual for such files.
        consumer: what it is for.
        kind: how a file of it is known again.
        write: the text of a load.
        write_static: the text of a load whose inertia is not known; None where the consumer must have one.
        write_many: the text of many loads in one file; None where each has its own.
    """

    name: str
    suffix: str
    consumer: str
    kind: FileKind
    write: Callable[[IdentifiedLoad], str]
    write_static: Callable[[StaticLoad], str] | None = None
    write_many: Callable[[Sequence[IdentifiedLoad]], str] | None = None


FORMATS = {
    entry.name: entry
    for entry in (
        ExportFormat(
            "urdf",
            ".urdf",
            "<inertial> of a URDF's link; into a URDF, a whole robot",
            FileKind.EXPORTED_URDF,
            to_urdf_inertial,
        ),
        ExportFormat("mjcf", ".xml", "<body> for a MuJoCo model to include", FileKind.EXPORTED_MJCF, to_mjcf),
        ExportFormat("sdf", ".sdf", "<inertial> of a Gazebo link", FileKind.EXPORTED_SDF, to_sdf_inertial),
        ExportFormat(
            "urscript",
            ".script",
            "set_target_payload of Universal Robots",
            FileKind.EXPORTED_URSCRIPT,
            to_urscript,
            to_urscript_static,
        ),
        ExportFormat(
            "franka", ".json", "setLoad of libfranka, end effector of Franka Desk", FileKind.EXPORTED_FRANKA, to_franka
        ),
        ExportFormat("kuka", ".dat", "LOAD_DATA of KUKA's controllers", FileKind.EXPORTED_KUKA, to_kuka),
        ExportFormat("abb", ".mod", "loaddata of ABB's controllers", FileKind.EXPORTED_ABB, to_abb, to_abb_static),
        ExportFormat("xarm", ".py", "set_tcp_load of xArm's SDK", FileKind.EXPORTED_XARM, to_xarm, to_xarm),
        ExportFormat(
            "ros2",
            ".yaml",
            "gravity compensation of ros2_control",
            FileKind.EXPORTED_ROS2,
            to_ros2_yaml,
            to_ros2_yaml_static,
        ),
        ExportFormat(
            "json",
            ".json",
            "the load alone, in iparam's own terms",
            FileKind.EXPORTED_LOAD,
            to_json,
            to_json_static,
        ),
        ExportFormat("usd", ".usda", "rigid body for Isaac Sim, alone or in a stage", FileKind.EXPORTED_USD, to_usd),
        ExportFormat(
            "csv",
            ".csv",
            "a table of the load, or of draws, one a row",
            FileKind.EXPORTED_TABLE,
            to_csv,
            write_many=draws_to_csv,
        ),
    )
}
"""Every format of `iparam export`, by its name."""


def export_load(load: IdentifiedLoad | StaticLoad, format_name: str, force: bool = False) -> str:
    """The load as text in one of `FORMATS`.

    Args:
        load: what was identified.
        format_name: a key of `FORMATS`.
        force: also export what no real body can be like, else an `InconsistentLoadError`, and what its own data refute,
            else a `RefutedResultError`.
    """
    chosen = FORMATS.get(format_name)
    if chosen is None:
        raise UnknownNameError("format", format_name, FORMATS, argument="format")
    if not force:
        load.require_consistency()
        load.require_credit()
    if isinstance(load, IdentifiedLoad):
        return chosen.write(load)
    if chosen.write_static is None:
        able = ", ".join(entry.name for entry in FORMATS.values() if entry.write_static is not None)
        raise InputError(
            f"format {format_name} needs an inertia, which this result does not have in full. {load.to_see_the_rest} "
            f"Its shape would tell it, too. Formats that do without: {able}"
        )
    return chosen.write_static(load)
