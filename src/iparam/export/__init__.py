"""An identified load in the form, frame and order that other programs and robot controllers expect."""

from iparam.export.errors import InconsistentLoadError
from iparam.export.formats import FORMATS, ExportFormat, export_load
from iparam.export.franka import to_franka
from iparam.export.json_load import to_json
from iparam.export.kuka import to_kuka
from iparam.export.mjcf import to_mjcf
from iparam.export.principal_axes import principal_axes
from iparam.export.result import IdentifiedLoad
from iparam.export.ros2 import to_ros2_yaml
from iparam.export.sdf import to_sdf_inertial
from iparam.export.static_load import StaticLoad, is_static_result
from iparam.export.urdf import to_urdf_inertial
from iparam.export.urdf_merge import merge_into_urdf
from iparam.export.urscript import to_urscript

__all__ = [
    "FORMATS",
    "ExportFormat",
    "IdentifiedLoad",
    "InconsistentLoadError",
    "StaticLoad",
    "export_load",
    "is_static_result",
    "merge_into_urdf",
    "principal_axes",
    "to_franka",
    "to_json",
    "to_kuka",
    "to_mjcf",
    "to_ros2_yaml",
    "to_sdf_inertial",
    "to_urdf_inertial",
    "to_urscript",
]
