"""The Newton model of an arm with its payload, generated from a `Robot`: the same masses, joints and frames.

Each moving body of the robot becomes a link whose z axis is its joint's axis. The payload is a link of its own, fixed
to the last one, with its frame on the tool frame: what its joint transmits is what the sensor reads. The model has no
shapes: a run ends where two things touch, and `CollisionScene` says where that is, for the planner and here alike.
Joints have no end stops, as no trajectory goes beyond their range. Newton computes in single precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.robot.model import Robot
from iparam.simulation.newton.backend import require_newton
from iparam.simulation.payload import Payload, payload_name
from iparam.spatial.parameters import InertialParameters

LEAST_MASS, LEAST_INERTIA = 1e-6, 1e-9
"""Of a link that its description gives none [kg], [kg m^2]: the solver takes no massless links."""
_ROUND = 1e-5
"""By how much the smaller two principal moments must exceed the largest, of it, for the solver's compiler."""


def build_model(
    robots: Sequence[Robot], payloads: Sequence[Payload | None], gravity: tuple[float, float, float]
) -> Any:
    """The ``newton.Model`` of W worlds on the processor, with an arm of n joints in each.

    Args:
        robots: W times the arm, alike but for rotor inertia.
        payloads: what each carries; None for nothing, then in all worlds.
        gravity: (3,) in base axes [m/s^2].
    """
    newton, _ = require_newton()
    builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=gravity)
    for robot, payload in zip(robots, payloads, strict=True):
        builder.add_world(_arm(newton, robot, payload, gravity))
    return builder.finalize(device="cpu")


def bodies_of(robot: Robot, payload: Payload | None) -> int:
    """Number of links in a world."""
    return robot.num_joints + (payload is not None)


def _arm(newton: Any, robot: Robot, payload: Payload | None, gravity: tuple[float, float, float]) -> Any:
    builder, chain = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=gravity), robot.chain
    parent, joints = -1, []
    for i, joint in enumerate(robot.moving_joints):
        link = _link(builder, InertialParameters.from_phi(chain.phi[i]), joint.child)
        add = builder.add_joint_prismatic if chain.prismatic[i] else builder.add_joint_revolute
        joints.append(
            add(
                parent,
                link,
                parent_xform=_transform(chain.origins[i]),
                axis=(0.0, 0.0, 1.0),
                armature=float(chain.armature[i]),
                label=joint.name,
                target_ke=0.0,
                target_kd=0.0,
                friction=0.0,
                limit_lower=-np.inf,
                limit_upper=np.inf,
                effort_limit=1e9,  # the run keeps the arm's limits itself
            )
        )
        parent = link
    if payload is not None:
        link = _link(builder, payload.parameters, payload_name(robot))
        joints.append(builder.add_joint_fixed(parent, link, parent_xform=_transform(chain.tool[0])))
    builder.add_articulation(joints, label=robot.name)
    return builder


def state_exact_inertias(solver: Any, model: Any, robots: Sequence[Robot], payloads: Sequence[Payload | None]) -> None:
    """Give links the inertia that their description has where the solver's compiler would refuse it.

    Real descriptions have links that no rigid body is like (one moment larger than the sum of the others, or none at
    all), which the compiler refuses and the solver computes with.
    """
    newton, _ = require_newton()
    exact, changed = model.body_inertia.numpy(), False
    for world, (robot, payload) in enumerate(zip(robots, payloads, strict=True)):
        first = world * bodies_of(robot, payload)
        inertials = [InertialParameters.from_phi(phi) if phi[0] > 0.0 else None for phi in robot.chain.phi]
        for i, inertial in enumerate([*inertials, payload.parameters if payload is not None else None]):
            if inertial is not None and not _compiles(inertial.inertia_about_com):
                exact[first + i], changed = inertial.inertia_about_com, True
    if changed:
        solver.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)


def _link(builder: Any, inertial: InertialParameters, label: str) -> int:
    weighs = inertial.mass > 0.0
    inertia = inertial.inertia_about_com if weighs else LEAST_INERTIA * np.eye(3)
    if not _compiles(inertia):  # a placeholder, see `state_exact_inertias`
        inertia = max(LEAST_INERTIA, np.abs(inertia).max()) * np.eye(3)
    center = inertial.center_of_mass if weighs else np.zeros(3)
    link: int = builder.add_link(
        mass=inertial.mass if weighs else LEAST_MASS,
        com=center.tolist(),
        inertia=inertia.ravel().tolist(),
        label=label,
        lock_inertia=True,
    )
    return link


def _compiles(inertia: FloatArray) -> bool:
    """Whether the solver's compiler takes an inertia (3, 3) about the centre of mass."""
    least, middle, largest = np.linalg.eigvalsh(inertia)
    return bool(least > 1e-14 and least + middle >= (1.0 + _ROUND) * largest)


def _transform(row: FloatArray) -> Any:
    """Of Warp, from a row of `Chain`: nine numbers of the rotation, then the place [m]."""
    _, warp = require_newton()
    turn = warp.quat_from_matrix(warp.mat33(*row[:9].tolist()))
    return warp.transform(warp.vec3(*row[9:].tolist()), turn)
