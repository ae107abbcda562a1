"""A load is told to a driver's service, in the form that each release of it has."""

from __future__ import annotations

import dataclasses
import importlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from doubles.message_types.generation import generated_package
from doubles.message_types.loading import load_package

import iparam
from iparam.bridges.physical_bounds import ImplausibleLoadError
from iparam.errors import InputError
from iparam.export.load import IdentifiedLoad, StaticLoad

PACKAGE = "driver_services"
SERVICES = {
    "UrFirst": "float32 mass\ngeometry_msgs/Vector3 center_of_gravity\n---\nbool success\n",
    "UrInertia": "geometry_msgs/Inertia payload\nfloat64 transition_time\n---\nbool success\n",
    "FrankaArrays": (
        "float64 mass\nfloat64[3] center_of_mass\nfloat64[9] load_inertia\n---\nbool success\nstring error\n"
    ),
    "FrankaMessage": "geometry_msgs/InertiaStamped load_inertia\n---\nbool success\nstring error\n",
    "Another": "float64 weight\n---\nbool success\n",
}
INERTIA = np.array([[0.02, 0.001, 0.0], [0.001, 0.03, -0.002], [0.0, -0.002, 0.025]])
LOAD = IdentifiedLoad(2.123456789, np.array([0.01, -0.02, 0.08]), INERTIA, frame="tool0", physically_consistent=True)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory, ros_environment: dict[str, str]) -> Any:
    folder = tmp_path_factory.mktemp("definitions")
    (folder / PACKAGE / "srv").mkdir(parents=True)
    for name, text in SERVICES.items():
        (folder / PACKAGE / "srv" / f"{name}.srv").write_text(text, encoding="utf-8")
    made = generated_package(PACKAGE, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        load_package(PACKAGE, made)
        yield importlib.import_module(f"{PACKAGE}.srv")


@pytest.fixture
def driver(peer: Any) -> Iterator[Any]:
    """A function that serves a type, and gives the requests that came."""
    done = threading.Event()
    thread: list[threading.Thread] = []

    def serve(kind: Any, name: str, taken: bool = True, error: str = "") -> list[Any]:
        requests: list[Any] = []

        def answer(request: Any, response: Any) -> Any:
            requests.append(request)
            response.success = taken
            if error:
                response.error = error
            return response

        peer.node.create_service(kind, name, answer)

        def spin() -> None:
            while not done.is_set():
                peer.spin(0.05)

        if not thread:
            thread.append(threading.Thread(target=spin))
            thread[0].start()
        return requests

    yield serve
    done.set()
    for each in thread:
        each.join()


@pytest.mark.thorough
def test_each_form_gets_the_load_in_its_fields(services: Any) -> None:
    from iparam.bridges.ros2.nodes.load_service import fill_request

    first = services.UrFirst.Request()
    assert fill_request(first, LOAD) == (None, "this release of the driver takes no inertia")
    assert (first.mass, first.center_of_gravity.y) == (LOAD.mass, -0.02)
    second = services.UrInertia.Request()
    sent, remark = fill_request(second, LOAD)
    assert (second.payload.m, second.payload.com.z, second.payload.iyz, remark) == (LOAD.mass, 0.08, -0.002, "")
    np.testing.assert_allclose(sent, INERTIA[np.triu_indices(3)])
    third = services.FrankaArrays.Request()
    fill_request(third, LOAD)
    np.testing.assert_allclose(np.reshape(third.load_inertia, (3, 3)), INERTIA)
    np.testing.assert_allclose(third.center_of_mass, LOAD.center_of_mass)
    fourth = services.FrankaMessage.Request()
    fill_request(fourth, LOAD)
    assert fourth.load_inertia.inertia.ixx == 0.02
    with pytest.raises(iparam.IparamError, match="it takes weight"):
        fill_request(services.Another.Request(), LOAD)
    weighed = StaticLoad(2.0, np.array([0.0, 0.0, 0.1]))
    with pytest.raises(iparam.IparamError, match="the inertia is not known"):
        fill_request(services.FrankaArrays.Request(), weighed)
    assert "zeros were sent" in fill_request(services.UrInertia.Request(), weighed)[1]


@pytest.mark.thorough
def test_a_driver_takes_it_or_says_why_not(services: Any, driver: Any) -> None:
    asked: list[str] = []
    requests = driver(services.UrFirst, "/io_and_status_controller/set_payload")
    answer = iparam.bridges.ros2.set_driver_load(LOAD, "ur", approve=asked.append, kind=services.UrFirst)
    assert asked == ["/io_and_status_controller/set_payload"]
    assert answer.taken
    assert answer.mass == float(np.float32(LOAD.mass)) != LOAD.mass  # as the controller got it
    assert requests[0].mass == pytest.approx(answer.mass, rel=1e-9)
    assert answer.inertia is None
    refused = driver(services.FrankaMessage, "/service_server/set_load", taken=False, error="the robot is moving")
    answer = iparam.bridges.ros2.set_driver_load(
        dataclasses.replace(LOAD, frame="fr3_link8"), "franka", kind=services.FrankaMessage
    )
    assert not answer.taken
    assert answer.remark == "the robot is moving"
    assert refused[0].load_inertia.inertia.m == LOAD.mass


def test_without_the_type_it_says_what_to_do(ros_environment: dict[str, str]) -> None:
    with pytest.raises(iparam.IparamError, match="ur_msgs/srv/SetPayload is not installed: source the workspace"):
        iparam.bridges.ros2.set_driver_load(LOAD, "ur")


@pytest.mark.parametrize("driver", ["ur", "franka"])
def test_a_load_in_another_frame_is_not_sent(driver: str) -> None:
    load = dataclasses.replace(LOAD, frame="gripper_tcp")
    with pytest.raises(InputError, match="is in frame 'gripper_tcp', and this driver wants the flange's"):
        iparam.bridges.ros2.set_driver_load(load, driver)


@pytest.mark.parametrize(
    ("driver", "change"),
    [
        ("ur", {"mass": 36.0, "inertia_about_com": np.eye(3)}),
        ("franka", {"mass": 3.1}),
        ("ur", {"mass": 5.1, "robot": "ur5e"}),
    ],
)
def test_no_driver_is_told_what_its_arms_cannot_carry(driver: str, change: dict[str, Any]) -> None:
    with pytest.raises(ImplausibleLoadError):
        iparam.bridges.ros2.set_driver_load(dataclasses.replace(LOAD, **change), driver, kind=object)


@pytest.mark.parametrize(
    ("driver", "center"),
    [("ur", (0.0, 0.0, 50.0)), ("ur", (0.0, 4.0, 0.0)), ("franka", (0.0, 0.0, 50.0)), ("franka", (0.0, 0.5, 0.0))],
)
def test_a_load_without_inertia_hangs_where_an_arm_can_hold_it(driver: str, center: tuple[float, ...]) -> None:
    load = StaticLoad(2.9, np.array(center), "flange")
    with pytest.raises(ImplausibleLoadError):
        iparam.bridges.ros2.set_driver_load(load, driver, kind=object)
