"""Other people's robot descriptions, the references that this project did not write; and one small simulated run."""

from __future__ import annotations

import gc
import importlib.util
import math
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
import yaml
from chromium import chromium as chromium  # fixtures of all tests
from chromium import opened_chromium as opened_chromium
from hypothesis.internal.conjecture import providers

import iparam
from iparam.estimation import Estimate, identify_payload
from iparam.recording import Recording
from iparam.sensing.noise import noise_preset
from iparam.trajectory import TrajectoryFile, WindowedFourierTrajectory

# The same examples in every run, so that a change is what breaks a law; HYPOTHESIS_PROFILE=search looks for new ones.
# Without a deadline, which is one on the wall clock: how long an example takes says how busy the machine is.
hypothesis.settings.register_profile("steady", derandomize=True, deadline=None)
hypothesis.settings.register_profile("search", derandomize=False, deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))
if hypothesis.settings.get_current_profile_name() == "steady":
    # Hypothesis draws constants out of the modules of the project that are loaded, too; which those are depends on the
    # tests that happened to run before in the same process, and so would the examples.
    providers.is_local_module_file = lambda path: False

REPOSITORY = Path(__file__).resolve().parents[1]

# Not the user's: a fresh clone computes all it needs, once for all processes of a run.
os.environ.setdefault("IPARAM_CACHE", str(REPOSITORY / ".pytest_cache" / "iparam"))
MAKER_PARTS = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")
MAKER_JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
EXAMPLE_ROBOTS = {
    "ur3": "ur_description/urdf/ur3_robot.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "panda": "panda_description/urdf/panda.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "tiago": "tiago_description/robots/tiago.urdf",
    "double_pendulum": "double_pendulum_description/urdf/double_pendulum.urdf",
}


REAL_TIME = (
    "bridges",
    "doubles",
    "fleet",
    "viewer",
    "attack",
    "report/test_page_browser.py",
    "test_readme_screen.py",
    "cli/ur",
    "cli/test_fleet.py",
    "test_worker_pool.py",
    "cli/test_view.py",
)
"""Under tests/: where processes, sockets and browsers keep pace with the wall clock of a machine that others use."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="leave out what is marked as thorough (make test)")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What keeps one process busy for long comes first: begun at the end, it would go on alone.

    In real time a second chance, which the summary lists as RERUN: a machine that stands still for a minute is not a
    fault of the code, and what fails twice is.
    """
    items.sort(key=lambda item: _group(_path(item)) is None)
    for item in items:
        if _path(item).removeprefix("tests/").startswith(REAL_TIME):
            item.add_marker(pytest.mark.flaky(reruns=1))
    if config.getoption("--quick"):
        thorough = _thorough(items)
        config.hook.pytest_deselected(items=[item for item in items if item in thorough])
        items[:] = [item for item in items if item not in thorough]


def _path(item: pytest.Item) -> str:
    """Of its file, from the repository."""
    return item.path.relative_to(REPOSITORY).as_posix()


def _group(path: str) -> str | None:
    """The first path of those in `TOGETHER` that it is of."""
    return next((paths[0] for paths in TOGETHER if path.startswith(paths)), None)


def _thorough(items: list[pytest.Item]) -> set[pytest.Item]:
    """What needs a browser, and what is marked: all of it, or all but the first ``keep`` cases."""
    found, kept = set(), Counter[str]()
    for item in items:
        marker = item.get_closest_marker("thorough")
        name = f"{_path(item)}::{getattr(item, 'originalname', item.name)}"
        if marker is not None and kept[name] < marker.kwargs.get("keep", 0):
            kept[name] += 1
        elif marker is not None or {"chromium", "opened_chromium"} & set(getattr(item, "fixturenames", ())):
            found.add(item)
    return found


@pytest.fixture(scope="module")
def tidy_sockets() -> Iterator[None]:
    """At the end, the sockets that Dask leaves to the garbage collector are gone, and with them their warnings."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="module")
def dask_scheduler(tidy_sockets: None) -> Iterator[str]:
    """Address of a Dask scheduler with two workers: all real but that they are threads, which start at once.

    It ends with the tests of a file: its threads draw random numbers, which Hypothesis does not forgive to others.
    """
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        yield cluster.scheduler_address


TOGETHER = (
    ("tests/attack/",),
    ("tests/bridges/ur/",),
    ("tests/bridges/ros2/",),
    ("tests/viewer/", "tests/report/test_page_browser.py", "tests/test_readme_screen.py"),
)
"""Tests that one process runs: the attacks share a program that takes half a minute to load; simulated arms and nodes,
which keep pace with the wall clock and mostly wait, would disturb each other; and so would pages that are drawn without
a graphics card, which take all cores."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Whole files for each process, in their order, so that what a file's tests share is made once."""
    from xdist.scheduler import LoadFileScheduling

    class FolderScheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return _group(file) or file

    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False
    return FolderScheduling(config, log)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of measured data beside the repository, or IPARAM_DATA; skips where there is none."""
    folder = Path(os.environ.get("IPARAM_DATA", REPOSITORY.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"needs the shared data, which is not in {folder}; set IPARAM_DATA")
    return folder


@pytest.fixture(scope="session")
def example_robot_urdf() -> Callable[[str], Path]:
    """A function from a name in EXAMPLE_ROBOTS to its URDF in the package example-robot-data; skips without it."""

    def find(name: str) -> Path:
        for module in ("pinocchio", "cmeel_example_robot_data"):
            spec = importlib.util.find_spec(module)
            for folder in Path(spec.origin).parents if spec is not None and spec.origin else ():
                path = folder / "share" / "example-robot-data" / "robots" / EXAMPLE_ROBOTS[name]
                if path.is_file():
                    return path
        pytest.skip("needs example-robot-data, which is not installed")

    return find


@pytest.fixture(scope="session")
def maker_figures() -> Callable[[str], dict[str, Any]]:
    """A function from a UR model's name to the maker's YAML figures in tests/data, angles in radians.

    The result has "kinematics", "joint_limits" and "inertia_parameters", as in the maker's files.
    """

    class MakerLoader(yaml.SafeLoader):
        pass

    def degrees(loader: Any, node: Any) -> float:
        return math.radians(float(loader.construct_scalar(node)))

    MakerLoader.add_constructor("!degrees", degrees)

    @cache
    def figures(model: str) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        for name in ("default_kinematics", "joint_limits", "physical_parameters"):
            path = REPOSITORY / "tests" / "data" / "ur_description" / model / f"{name}.yaml"
            merged |= yaml.load(path.read_text(encoding="utf-8"), MakerLoader)
        return merged

    return figures


@pytest.fixture(scope="session")
def maker_urdf(
    maker_figures: Callable[[str], dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """A function from a UR model's name to a complete URDF of it, from the maker's figures and not from the catalogue.

    Root ``base_link_inertia`` (the controller's base frame), tip ``tool0``.
    """
    folder = tmp_path_factory.mktemp("maker_urdf")

    @cache
    def write(model: str) -> Path:
        figures = maker_figures(model)
        lines = [f'<robot name="{model}">', '<link name="base_link_inertia"/>']
        parent = "base_link_inertia"
        for part, joint in zip(MAKER_PARTS, MAKER_JOINTS, strict=True):
            lines += _maker_link(figures["inertia_parameters"], part)
            lines += _maker_joint(joint, parent, part, figures["kinematics"][part], figures["joint_limits"][joint])
            parent = f"{part}_link"
        half = math.pi / 2
        for child, rpy in (("flange", (0.0, -half, -half)), ("tool0", (half, 0.0, half))):
            lines.append(f'<link name="{child}"/><joint name="{parent}-{child}" type="fixed"><parent link="{parent}"/>')
            lines.append(f'<child link="{child}"/><origin xyz="0 0 0" rpy="{_text(rpy)}"/></joint>')
            parent = child
        path = folder / f"{model}.urdf"
        path.write_text("\n".join([*lines, "</robot>"]), encoding="utf-8")
        return path

    return write


def _maker_link(inertia: dict[str, Any], part: str) -> list[str]:
    center, rotation, tensor = (
        inertia["center_of_mass"][f"{part}_cog"],
        inertia["rotation"][part],
        inertia["tensor"][part],
    )
    moments = " ".join(f'{key}="{float(tensor[key])!r}"' for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    return [
        f'<link name="{part}_link"><inertial><mass value="{float(inertia[f"{part}_mass"])!r}"/>',
        f'<origin xyz="{_text(center[k] for k in "xyz")}" rpy="{_text(_rpy(rotation))}"/>',
        f"<inertia {moments}/></inertial></link>",
    ]


def _maker_joint(name: str, parent: str, part: str, origin: dict[str, Any], limit: dict[str, Any]) -> list[str]:
    kind = "revolute" if limit["has_position_limits"] else "continuous"
    bounds = f'effort="{limit["max_effort"]!r}" velocity="{limit["max_velocity"]!r}"'
    if kind == "revolute":
        bounds += f' lower="{limit["min_position"]!r}" upper="{limit["max_position"]!r}"'
    return [
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{part}_link"/>',
        f'<origin xyz="{_text(origin[k] for k in "xyz")}" rpy="{_text(_rpy(origin))}"/>',
        f'<axis xyz="0 0 1"/><limit {bounds}/></joint>',
    ]


def _rpy(angles: dict[str, Any]) -> tuple[float, float, float]:
    return float(angles["roll"]), float(angles["pitch"]), float(angles["yaw"])


def _text(numbers: Any) -> str:
    return " ".join(repr(float(number)) for number in numbers)


@dataclass(frozen=True)
class SimulatedRun:
    """A simulated run with what was found in it."""

    robot: iparam.Robot
    recording: Recording
    trajectory: TrajectoryFile
    truth: iparam.InertialParameters
    estimate: Estimate


def simulated(seed: int) -> SimulatedRun:
    """4 s of an arm that swings a box, seen by noisy sensors at 100 Hz, without a simulator."""
    robot = iparam.load_robot("ur5e")
    box = iparam.InertialParameters.box(2.0, (0.1, 0.15, 0.2))
    pose = np.eye(4)
    pose[:3, 3] = 0.01, -0.02, 0.1
    truth = box.transformed(pose)
    a, b = np.random.default_rng(seed).normal(0.0, 0.35, (2, 6, 3))
    q0 = np.radians([90.0, -90.0, 90.0, -90.0, -90.0, 90.0])
    trajectory = WindowedFourierTrajectory(q0, a, b, base_freq=0.25, duration=4.0)
    motion = trajectory.sample(100.0)
    wrench = iparam.wrench_regressor(robot, motion.q, motion.dq, motion.ddq) @ truth.phi
    exact = Recording(robot="ur5e", metadata={"source": "simulation"}).with_signal(
        "q", time=motion.time, values=motion.q
    )
    exact = exact.with_signal("wrench", time=motion.time, values=wrench)
    recording = noise_preset("ur5e").apply(exact, seed)
    planned = TrajectoryFile(trajectory, "ur5e", 100.0, 3.0, None)
    return SimulatedRun(robot, recording, planned, truth, identify_payload(recording, robot))


@pytest.fixture(scope="session")
def run() -> SimulatedRun:
    return simulated(1)


@pytest.fixture(scope="session")
def other_run() -> SimulatedRun:
    """Another motion with the same load and another bias."""
    return simulated(2)
