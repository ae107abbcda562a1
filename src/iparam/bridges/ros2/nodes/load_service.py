"""`set_driver_load`: an identified load is told to an arm's ROS 2 driver, by its own service, in the form that it has.

Releases of the drivers differ in what their service takes, so the request is filled by the fields of the type that is
installed; a definition of another release would send numbers to the wrong places, and is never used here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from iparam.bridges.physical_bounds import Load, check_load_for_maker
from iparam.bridges.ros2.backend import Inertia, Node, SignalHandlerOptions, SingleThreadedExecutor, rclpy
from iparam.bridges.ros2.messages import write_body, write_vector
from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.export.load import DEFAULT_FRAME, IdentifiedLoad
from iparam.spatial.phi import inertia_entries

PATIENCE = 5.0
"""Time for the service to be found, and for its answer [s]."""


@dataclass(frozen=True)
class LoadDriver:
    """A driver that takes a load.

    Attributes:
        package, type: of its service.
        service: its usual name.
        frames: how the names of the frames end that it wants the load in.
    """

    package: str
    type: str
    service: str
    frames: tuple[str, ...]


DRIVERS = {
    "ur": LoadDriver(
        "ur_msgs",
        "SetPayload",
        "/io_and_status_controller/set_payload",
        ("tool0", "flange"),
    ),
    "franka": LoadDriver(
        "franka_msgs",
        "SetLoad",
        "/service_server/set_load",
        ("link8", "flange"),
    ),
}


@dataclass(frozen=True)
class DriverAnswer:
    """What was sent, and what the driver says.

    Attributes:
        service: that was called.
        mass: as the message holds it, which may be rounded [kg].
        center_of_mass: (3,) likewise [m].
        inertia: (6,) Ixx, Ixy, Ixz, Iyy, Iyz, Izz about the centre of mass [kg m^2]; None where it was not sent.
        taken: whether the driver says that the controller took it.
        remark: why the inertia was not sent, or what the driver had to say; "" for nothing.
    """

    service: str
    mass: float
    center_of_mass: tuple[float, ...]
    inertia: tuple[float, ...] | None
    taken: bool
    remark: str


def service_type(driver: LoadDriver) -> Any:
    """The type of a driver's service, from the ROS 2 installation.

    Raises:
        IparamError: it is not installed.
    """
    try:
        return getattr(importlib.import_module(f"{driver.package}.srv"), driver.type)
    except (ImportError, AttributeError):
        raise IparamError(
            f"{driver.package}/srv/{driver.type} is not installed: source the workspace of the driver first. "
            "'iparam export' writes the same numbers for other ways"
        ) from None


def fill_request(request: Any, load: Load) -> tuple[tuple[float, ...] | None, str]:
    """Write a load into a request by the fields that it has; the inertia that was sent, if any, and a remark.

    Raises:
        InputError: the request has no place for the load, or needs an inertia that is not known.
    """
    fields = request.get_fields_and_field_types()
    inertia = inertia_entries(load.inertia_about_com) if isinstance(load, IdentifiedLoad) else None
    for name, kind in fields.items():
        if kind in ("geometry_msgs/Inertia", "geometry_msgs/InertiaStamped"):
            message = getattr(request, name)
            part: Inertia = message.inertia if kind.endswith("Stamped") else message
            six = np.zeros(6) if inertia is None else inertia
            write_body(part, np.array([load.mass, *load.center_of_mass, *six]))
            if inertia is None:
                return None, "the inertia is not known, and zeros were sent for it"
            return tuple(inertia.tolist()), ""
    center = next((name for name in ("center_of_gravity", "center_of_mass", "f_x_center_load") if name in fields), "")
    mass = next((name for name in ("mass", "payload") if name in fields), "")
    if not center or not mass:
        raise InputError(f"the service has no place for a load that is known here: it takes {', '.join(fields)}")
    setattr(request, mass, float(load.mass))
    if fields[center] == "geometry_msgs/Vector3":
        write_vector(getattr(request, center), load.center_of_mass)
    else:
        setattr(request, center, load.center_of_mass.tolist())
    if "load_inertia" not in fields:
        return None, "this release of the driver takes no inertia"
    if not isinstance(load, IdentifiedLoad):
        raise InputError("the driver takes mass, centre of mass and inertia together, and the inertia is not known")
    request.load_inertia = load.inertia_about_com.ravel(order="F").tolist()
    return tuple(inertia_entries(load.inertia_about_com).tolist()), ""


def set_driver_load(
    load: Load, driver: str, service: str = "", *, approve: Callable[[str], None] | None = None, kind: Any = None
) -> DriverAnswer:
    """Tell a driver what the arm carries.

    Args:
        load: in the frame that the driver wants, see `DRIVERS`.
        driver: "ur" or "franka".
        service: its name; "" for the usual one.
        approve: called with the name of the service before anything is sent; raises if it must not be.
        kind: type of the service; None for the installed one.

    Raises:
        ImplausibleLoadError: the arm cannot carry the load.
        InputError: the load is in another frame than the driver wants it in.
        IparamError: the type is not installed, nobody serves it, or no answer comes.
    """
    if driver not in DRIVERS:
        raise UnknownNameError("driver", driver, DRIVERS)
    known = DRIVERS[driver]
    check_load_for_maker(load, driver)
    if load.frame != DEFAULT_FRAME and not load.frame.endswith(known.frames):
        wanted = " or ".join(f"...{name}" for name in known.frames)
        raise InputError(
            f"the load is in frame {load.frame!r}, and this driver wants the flange's, {wanted}: identify it there"
        )
    found = service_type(known) if kind is None else kind
    request = found.Request()
    inertia, remark = fill_request(request, load)
    rclpy.init(args=None, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = Node("iparam_set_payload", start_parameter_services=False)
        client: Any = node.create_client(found, service or known.service)
        if not client.wait_for_service(timeout_sec=PATIENCE):
            raise IparamError(
                f"nobody serves {client.srv_name}: is the driver running, or is the name another", argument="service"
            )
        if approve is not None:
            approve(client.srv_name)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        future = client.call_async(request)
        executor.spin_until_future_complete(future, timeout_sec=PATIENCE)
        if not future.done():
            raise IparamError(f"{client.srv_name} did not answer within {PATIENCE:g} s: look at the driver's log")
        answer: Any = future.result()
        said = getattr(answer, "error", "")
        sent = _sent(request)
        return DriverAnswer(
            client.srv_name,
            sent[0],
            tuple(sent[1:4]),
            inertia,
            bool(answer.success),
            "; ".join(filter(None, (remark, said))),
        )
    finally:
        rclpy.try_shutdown()


def _sent(request: Any) -> list[float]:
    """Mass and centre of mass as the request holds them; single precision rounds."""
    fields = request.get_fields_and_field_types()
    for name, kind in fields.items():
        if kind in ("geometry_msgs/Inertia", "geometry_msgs/InertiaStamped"):
            part = getattr(request, name)
            part = part.inertia if kind.endswith("Stamped") else part
            return [part.m, part.com.x, part.com.y, part.com.z]
    mass = next(name for name in ("mass", "payload") if name in fields)
    center = getattr(
        request, next(n for n in ("center_of_gravity", "center_of_mass", "f_x_center_load") if n in fields)
    )
    value = getattr(request, mass)
    rounded = float(np.float32(value)) if fields[mass] == "float" else float(value)
    values = [center.x, center.y, center.z] if hasattr(center, "x") else list(center)
    return [rounded, *map(float, values)]
