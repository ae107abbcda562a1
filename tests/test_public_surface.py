"""What iparam exports exists, and what tools rely on is exported."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from types import ModuleType

import pytest

import iparam

RELIED_ON = [
    "load_robot",
    "forward_kinematics",
    "jacobian",
    "tool_motion",
    "inverse_dynamics",
    "mass_matrix",
    "gravity_torques",
    "coriolis_centrifugal",
    "forward_dynamics",
    "wrench_regressor",
    "joint_torque_regressor",
    "identify_payload",
    "identify_static",
    "identify_payload_from_torque",
    "identify_robot",
    "fuse_estimates",
]
PACKAGES = ["iparam"] + [found.name for found in pkgutil.walk_packages(iparam.__path__, "iparam.") if found.ispkg]


def exported(module: ModuleType) -> list[str]:
    return list(getattr(module, "__all__", []))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_exported_name_resolves(package: str) -> None:
    module = importlib.import_module(package)
    names = exported(module)
    assert len(names) == len(set(names)), f"{package}.__all__ repeats a name"
    assert [name for name in names if not hasattr(module, name)] == []


def test_iparam_states_what_it_exports() -> None:
    assert exported(iparam)
    assert "__version__" in dir(iparam)
    assert set(dir(iparam)) == set(exported(iparam))


@pytest.mark.parametrize("name", RELIED_ON)
def test_relied_on_name_is_exported(name: str) -> None:
    assert name in exported(iparam)
    assert callable(getattr(iparam, name))


@pytest.mark.parametrize("name", [name for name in iparam.__all__ if inspect.isfunction(getattr(iparam, name))])
def test_a_function_says_what_its_arguments_are(name: str) -> None:
    """Shapes, units and frames, not only what it is for."""
    function = getattr(iparam, name)
    parameters = [each for each in inspect.signature(function).parameters if each != "cls"]
    text = inspect.getdoc(function) or ""
    if len(parameters) > 2:
        listed = text.partition("Args:\n")[2].partition("Raises:")[0]
        assert not [each for each in parameters if not re.search(rf"\b{each}\b[^\n]*:", listed)]


def test_the_simulator_says_what_its_settings_are() -> None:
    text = inspect.getdoc(iparam.MujocoSimulator) or ""
    assert all(f"    {field.name}: " in text for field in dataclasses.fields(iparam.MujocoSimulator))
