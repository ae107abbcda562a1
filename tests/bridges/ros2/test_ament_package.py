"""The ament package: built by colcon, its executables started.

The launch files are compiled and read, not run, because no wheel brings the launch system: that every node they start
exists with the parameters they give.
"""

from __future__ import annotations

import ast
import importlib
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import setuptools

PACKAGE = Path(__file__).resolve().parents[3] / "ros2" / "iparam_ros"
LAUNCH = sorted((PACKAGE / "launch").glob("*.py"))
NODES = {
    "kinematics": ("iparam.bridges.ros2.nodes.kinematics", "iparam_kinematics"),
    "identify": ("iparam.bridges.ros2.nodes.identification", "iparam_identification"),
    "identify_lifecycle": ("iparam.bridges.ros2.nodes.identification", "iparam_identification"),
    "play": ("iparam.bridges.ros2.nodes.playback", "iparam_playback"),
    "compensate": ("iparam.bridges.ros2.nodes.compensation", "iparam_compensation"),
}


@pytest.fixture
def setup_arguments(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What setup.py passes to setuptools."""
    found: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: found.update(arguments))
    monkeypatch.chdir(PACKAGE)
    code = compile((PACKAGE / "setup.py").read_text(encoding="utf-8"), "setup.py", "exec")
    exec(code, {"__name__": "__main__"})  # noqa: S102  our own file
    return found


def parameters_of(executable: str) -> dict[str, Any]:
    module = importlib.import_module(NODES[executable][0])
    return {parameter.name: parameter for parameter in module.PARAMETERS}


def test_package_xml_names_everything_that_is_imported() -> None:
    root = ElementTree.parse(PACKAGE / "package.xml").getroot()
    assert root.get("format") == "3"
    assert root.findtext("name") == "iparam_ros"
    assert root.findtext("export/build_type") == "ament_python"
    named = {entry.text for entry in root.iter("exec_depend")}
    backend = importlib.import_module("iparam.bridges.ros2.backend")
    sources = [Path(backend.__file__ or ""), *LAUNCH]
    imported = {
        (node.module or "").partition(".")[0] if isinstance(node, ast.ImportFrom) else node.names[0].name
        for source in sources
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert {name for name in imported if name not in sys.stdlib_module_names and name != "iparam"} <= named


def test_versions_agree(setup_arguments: dict[str, Any]) -> None:
    import iparam

    root = ElementTree.parse(PACKAGE / "package.xml").getroot()
    assert root.findtext("version") == setup_arguments["version"] == iparam.__version__


def test_entry_points_are_the_nodes(setup_arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from iparam.bridges.ros2 import start

    monkeypatch.syspath_prepend(str(PACKAGE))
    called: list[str] = []
    monkeypatch.setattr(start, "main", lambda name: called.append(name) or 0)
    scripts = dict(line.split(" = ") for line in setup_arguments["entry_points"]["console_scripts"])
    assert set(scripts) == set(start.NODES) == set(NODES)
    for name, target in scripts.items():
        module, _, function = target.partition(":")
        assert getattr(importlib.import_module(module), function)() == 0
        assert called[-1] == name


def test_installed_files_exist(setup_arguments: dict[str, Any]) -> None:
    listed = [name for _, names in setup_arguments["data_files"] for name in names]
    assert all((PACKAGE / name).is_file() for name in listed)
    assert {path.name for path in LAUNCH} <= {Path(name).name for name in listed}


@pytest.mark.parametrize("path", LAUNCH, ids=lambda path: path.name)
def test_launch_files_start_nodes_that_exist(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    compile(tree, path.name, "exec")
    assert "generate_launch_description" in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    declared = {
        call.args[0].value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "DeclareLaunchArgument"
    }
    used = set(re.findall(r'LaunchConfiguration\("(\w+)"\)', path.read_text(encoding="utf-8")))
    assert used == declared
    started = [call for call in ast.walk(tree) if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Node"]
    assert started
    dictionaries = {
        key.value for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys if key is not None
    }
    for call in started:
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        executable = ast.literal_eval(given["executable"])
        assert ast.literal_eval(given["package"]) == "iparam_ros"
        assert ast.literal_eval(given["name"]) == NODES[executable][1]
    known = set().union(
        *(parameters_of(ast.literal_eval(k.value)) for c in started for k in c.keywords if k.arg == "executable")
    )
    assert dictionaries <= known


@pytest.mark.parametrize("path", sorted((PACKAGE / "config").glob("*.yaml")), ids=lambda path: path.name)
def test_parameter_files_hold_parameters_that_exist(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    names = {name: executable for executable, (_, name) in NODES.items()}
    for node, section in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        known = parameters_of(names[node])
        for key, value in section["ros__parameters"].items():
            known[key].check(value)


@pytest.mark.parametrize("executable", NODES)
def test_every_parameter_is_described_and_its_default_is_allowed(executable: str) -> None:
    for parameter in parameters_of(executable).values():
        assert parameter.description.endswith((".", "]", "_")), parameter.name
        parameter.check(parameter.default)
        number = isinstance(parameter.default, int | float) and not isinstance(parameter.default, bool)
        assert not number or abs(parameter.minimum + parameter.maximum) < float("inf"), parameter.name


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which colcon has built the package."""
    folder = tmp_path_factory.mktemp("workspace")
    shutil.copytree(PACKAGE, folder / "src" / PACKAGE.name)
    colcon = Path(sys.executable).with_name("colcon")
    run = subprocess.run([colcon, "build"], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def start(workspace: Path, environment: dict[str, str], executable: str, *arguments: str) -> subprocess.Popen[str]:
    """What ``ros2 run iparam_ros EXECUTABLE`` does after the workspace has been sourced."""
    script = '. install/setup.sh && exec "$@"'
    path = workspace / "install" / "iparam_ros" / "lib" / "iparam_ros" / executable
    return subprocess.Popen(
        ["sh", "-c", script, "sh", path, *arguments], cwd=workspace, env=environment, stderr=subprocess.PIPE, text=True
    )


def test_colcon_installs_what_ros_looks_for(workspace: Path) -> None:
    share = workspace / "install" / "iparam_ros" / "share"
    assert (share / "ament_index" / "resource_index" / "packages" / "iparam_ros").is_file()
    assert (share / "iparam_ros" / "package.xml").is_file()
    assert {path.name for path in (share / "iparam_ros" / "launch").iterdir()} == {path.name for path in LAUNCH}
    installed = (workspace / "install" / "iparam_ros" / "lib" / "iparam_ros").iterdir()
    assert {path.name for path in installed} == set(NODES)


def test_an_installed_executable_is_a_node(workspace: Path, ros_environment: dict[str, str], peer: Any) -> None:
    from sensor_msgs.msg import JointState

    arguments = ("--ros-args", "-p", "robot:=ur5e", "-p", "frame:=base", "-r", "__node:=from_colcon")
    process = start(workspace, ros_environment, "kinematics", *arguments)
    try:
        publisher = peer.publisher(JointState, "joint_states")
        peer.connected(publisher)
        assert "from_colcon" in peer.node.get_node_names()
    finally:
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert process.returncode == 0, error


@pytest.mark.thorough(keep=1)
@pytest.mark.parametrize("executable", [name for name in NODES if name != "identify_lifecycle"])  # that is asked later
def test_an_installed_executable_refuses_bad_parameters(
    workspace: Path, ros_environment: dict[str, str], executable: str
) -> None:
    process = start(workspace, ros_environment, executable, "--ros-args", "-p", "robot:=nobody")
    _, error = process.communicate(timeout=60)
    assert process.returncode == 2, error
    assert "iparam: error: " in error
    assert "Traceback" not in error
