"""What the comparisons with Pinocchio share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import iparam


@pytest.fixture(scope="session")
def pinocchio_model() -> Callable[[Path, iparam.Robot], Any]:
    """A URDF file as Pinocchio's own reader has it, with the joints off the chain of ``robot`` locked."""
    pin = pytest.importorskip("pinocchio")

    def build(path: Path, robot: iparam.Robot) -> Any:
        model = pin.buildModelFromUrdf(str(path))
        off_chain = [model.getJointId(joint) for joint in model.names[1:] if joint not in robot.joint_names]
        if off_chain:
            model = pin.buildReducedModel(model, off_chain, pin.neutral(model))
        assert tuple(model.names[1:]) == robot.joint_names
        return model

    return build
