"""`iparam dynamics compute`: the joint torques of a motion and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from tyro.conf import arg

import iparam
from iparam.arrays import FloatArray
from iparam.cli.console.printing import note, print_json, print_table
from iparam.cli.options.joint_state import JointState, JointStateOptions, exact_count
from iparam.cli.options.mounting import MountingOptions
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.model import JointKind, Robot
from iparam.rounding import number
from iparam.spatial.consistency import check_consistency
from iparam.spatial.parameters import InertialParameters

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, eq=False)
class TorqueShares:
    """Joint torques (n,) [N m, N for prismatic joints] and what brings them about; the parts add up to the total."""

    total: FloatArray
    inertial: FloatArray
    coriolis: FloatArray
    gravity: FloatArray
    tip: FloatArray


@dataclass(frozen=True, kw_only=True)
class Compute(MountingOptions, JointStateOptions):
    r"""Joint torques that bring about a motion: inertia, Coriolis, gravity, tool.

    Example:
      iparam dynamics compute --robot ur5e --q 0 -1.57 1.57 0 0 0 \
          --ddq 1 0 0 0 0 0 --payload-phi 2 0 0 0.2 0.03 0 0 0.03 0 0.01
    """

    payload_phi: Annotated[tuple[float, ...], arg(metavar="M .. IZZ", help_behavior_hint="(default: none)")] = ()
    """A payload on the tool, 10 numbers in its frame: m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz (SI units)."""
    tip_wrench: Annotated[
        tuple[float, ...], arg(metavar="MX MY MZ FX FY FZ", help_behavior_hint="(default: none)")
    ] = ()
    """What the tool exerts on its environment, at its origin and in its axes: moment [N m], force [N]."""

    def run(self) -> None:
        """Compute and print."""
        robot = self._loaded(self.load_robot())
        state = self.joint_state(robot)
        given = self.given_gravity()
        gravity = np.array(STANDARD_GRAVITY) if given is None else given
        meaning = "moment x y z [N m] and force x y z [N]"
        wrench = exact_count(self.tip_wrench, "--tip-wrench", meaning, 6) if self.tip_wrench else np.zeros(6)
        shares = torque_shares(robot, state, gravity, wrench)
        if not self.json:
            print_torques(robot, shares, with_tip=bool(self.tip_wrench))
            return

        print_json(
            {
                "robot": robot.name,
                "joints": list(robot.joint_names),
                "q": state.q,
                "dq": state.dq,
                "ddq": state.ddq,
                "gravity": gravity,
                "payload_phi": list(self.payload_phi) or None,
                "tip_wrench": {"moment": wrench[:3], "force": wrench[3:]} if self.tip_wrench else None,
                "torque": shares.total,
                "inertial_torque": shares.inertial,
                "coriolis_torque": shares.coriolis,
                "gravity_torque": shares.gravity,
                "tip_torque": shares.tip,
                "torque_limit": robot.limits.torque,
                "limit_share": np.abs(shares.total) / robot.limits.torque,
                "mass_matrix": iparam.mass_matrix(robot, state.q),
            }
        )

    def _loaded(self, robot: Robot) -> Robot:
        if not self.payload_phi:
            return robot
        meaning = "m, m cx, m cy, m cz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz"
        phi = exact_count(self.payload_phi, "--payload-phi", meaning, 10)
        report = check_consistency(phi)
        if not report:
            note(f"no rigid body has this --payload-phi. {report.violations[0]}")
        return robot.with_payload(InertialParameters.from_phi(phi))


def torque_shares(robot: Robot, state: JointState, gravity: FloatArray, tip_wrench: FloatArray) -> TorqueShares:
    """The torques of a motion, split into their causes.

    Args:
        robot: the arm, its payload included.
        state: of its joints.
        gravity: (3,) in base axes [m/s^2].
        tip_wrench: (6,) [moment, force] that the tool exerts on its environment, in tool axes [N m, N].
    """
    coriolis = iparam.coriolis_centrifugal(robot, state.q, state.dq)
    return TorqueShares(
        total=iparam.inverse_dynamics(robot, state.q, state.dq, state.ddq, gravity, tip_wrench),
        inertial=iparam.inverse_dynamics(robot, state.q, np.zeros_like(state.dq), state.ddq, (0.0, 0.0, 0.0)),
        coriolis=coriolis,
        gravity=iparam.gravity_torques(robot, state.q, gravity),
        tip=iparam.jacobian(robot, state.q, "tool").T @ tip_wrench,
    )


def print_torques(robot: Robot, shares: TorqueShares, with_tip: bool = False) -> None:
    """Print a row a joint."""
    columns = {
        "total": shares.total,
        "inertia": shares.inertial,
        "Coriolis": shares.coriolis,
        "gravity": shares.gravity,
        **({"tool": shares.tip} if with_tip else {}),
    }
    decimals = 3 if max(np.abs(column).max() for column in columns.values()) < 100.0 else 2  # to fit 80 columns
    rows: list[Sequence[str]] = []
    for i, joint in enumerate(robot.joint_names):
        limit = float(robot.limits.torque[i])
        used = f"{100.0 * abs(shares.total[i]) / limit:.1f}%" if np.isfinite(limit) else "-"
        rows.append(
            [joint, *(number(float(column[i]), decimals) for column in columns.values()), number(limit, 0), used]
        )
    sliding = any(joint.kind is JointKind.PRISMATIC for joint in robot.moving_joints)
    unit = "[N m, prismatic joints N]" if sliding else "[N m]"
    print_table(f"{robot.name}: joint torques {unit}, |total| / limit", ["joint", *columns, "limit", "used"], rows)
