"""Five arms, from figures that their makers publish: the tables, and the same as a URDF for those who read one.

Nothing here uses iparam. Links count only in how far soft gears give way, so that a sphere of `RADIUS` of gyration
stands for the inertia of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

RADIUS = 0.06
"""Of gyration of every link [m]."""


@dataclass(frozen=True, eq=False)
class Arm:
    """A chain of joints that turn about, or slide along, the z axis of their frames.

    Attributes:
        name: of the arm.
        kinds: a letter for each joint, R or P.
        origins: (n, 4, 4) frame of each joint in the one before, at zero.
        tip: (4, 4) of the flange in the last joint's frame.
        masses, centers: (n,) and (n, 3) of the links, in their joints' frames [kg, m].
        stiffness: (n,) of the gears [N m/rad, N/m].
        home, swing, speed: (n,) middle of the motions, largest distance from it, and largest velocity.
        loads: lightest and heaviest load [kg].
        gravity: (3,) in base axes [m/s^2].
        catalogue: the name by which iparam knows it; "" where it gets a URDF.
    """

    name: str
    kinds: str
    origins: np.ndarray
    tip: np.ndarray
    masses: np.ndarray
    centers: np.ndarray
    stiffness: np.ndarray
    home: np.ndarray
    swing: np.ndarray
    speed: np.ndarray
    loads: tuple[float, float]
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    catalogue: str = ""

    @property
    def urdf(self) -> str:
        """The same as a URDF."""
        parts = [f'<robot name="{self.name}">', '<link name="base"/>']
        for index, (kind, origin) in enumerate(zip(self.kinds, self.origins, strict=True)):
            parent = f"link{index}" if index else "base"
            inertia = self.masses[index] * RADIUS**2
            tensor = " ".join(f'i{axes}="{inertia if axes[0] == axes[1] else 0.0:.9g}"' for axes in _ENTRIES)
            limit = self.swing[index] + 0.2
            parts.append(
                f'<link name="link{index + 1}"><inertial><origin xyz="{_text(self.centers[index])}"/>'
                f'<mass value="{self.masses[index]}"/><inertia {tensor}/></inertial></link>'
                f'<joint name="joint{index + 1}" type="{"prismatic" if kind == "P" else "revolute"}">{_pose(origin)}'
                f'<parent link="{parent}"/><child link="link{index + 1}"/><axis xyz="0 0 1"/>'
                f'<limit lower="{self.home[index] - limit:.9g}" upper="{self.home[index] + limit:.9g}" '
                f'velocity="{self.speed[index]}" effort="300"/></joint>'
            )
        last = f"link{len(self.kinds)}"
        parts.append(
            f'<link name="flange"/><joint name="mount" type="fixed">{_pose(self.tip)}'
            f'<parent link="{last}"/><child link="flange"/></joint></robot>'
        )
        return "\n".join(parts)


_ENTRIES = ("xx", "xy", "xz", "yy", "yz", "zz")


def _text(values: np.ndarray) -> str:
    return " ".join(f"{value:.12g}" for value in values)


def _pose(pose: np.ndarray) -> str:
    R = pose[:3, :3]
    rpy = np.array([np.arctan2(R[2, 1], R[2, 2]), -np.arcsin(np.clip(R[2, 0], -1, 1)), np.arctan2(R[1, 0], R[0, 0])])
    return f'<origin xyz="{_text(pose[:3, 3])}" rpy="{_text(rpy)}"/>'


def _fixed(a: float, d: float, alpha: float, theta: float = 0.0) -> np.ndarray:
    """Rz(theta) Tz(d) Tx(a) Rx(alpha) of standard (distal) DH."""
    (ct, st), (ca, sa) = (np.array([np.cos(x), np.sin(x)]) for x in (theta, alpha))
    return np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1.0]])


# Columns: kind, a, d [m], alpha, theta [deg], mass [kg], its center in the frame at the far end of the link [m],
# stiffness of the gear [N m/rad], and of the motions the middle, the largest distance from it and the largest velocity
# [rad, rad/s].
UR5E = """
R  0       0.1625   90  0   3.761   0       -0.02561   0.00193   2.5e4   0.3  1.2  2.4
R -0.425   0         0  0   8.058   0.2125   0         0.11336   2.5e4  -1.4  0.7  2.4
R -0.3922  0         0  0   2.846   0.15     0         0.0265    1.5e4   1.7  0.9  2.4
R  0       0.1333   90  0   1.37    0       -0.0018    0.01634   6e3    -1.2  1.4  2.4
R  0       0.0997  -90  0   1.3     0        0.0018    0.01634   6e3    -1.3  1.4  2.4
R  0       0.0996    0  0   0.365   0        0        -0.001159  6e3     0.4  1.8  2.4
"""
"""Universal Robots, "DH parameters for calculations of kinematics and dynamics"; so are the UR10e and the UR3e."""

UR10E = """
R  0        0.1807   90  0   7.369   0.021   0       0.027   5e4   0.3  1.2  1.6
R -0.6127   0         0  0  13.051   0.38    0       0.158   5e4  -1.4  0.7  1.6
R -0.57155  0         0  0   3.989   0.24    0       0.068   3e4   1.7  0.9  2.2
R  0        0.17415  90  0   2.1     0       0.007   0.018   1e4  -1.2  1.4  2.4
R  0        0.11985 -90  0   1.98    0       0.007   0.018   1e4  -1.3  1.4  2.4
R  0        0.11655   0  0   0.615   0       0      -0.026   1e4   0.4  1.8  2.4
"""

PANDA = """
R  0       0.333    0  0  4.970684   0.003875   0.002081  -0.1750    1.4e4   0.1  1.2  1.7
R  0       0      -90  0  0.646926  -0.003141  -0.02872    0.003495  1.4e4  -0.2  0.9  1.7
R  0       0.316   90  0  3.228604   0.027518   0.039252  -0.066502  1.4e4   0.1  1.2  1.7
R  0.0825  0       90  0  3.587895  -0.05317    0.104419   0.027454  1.4e4  -1.6  1.1  1.7
R -0.0825  0.384  -90  0  1.225946  -0.011953   0.041065  -0.038437  9e3     0.0  1.4  2.1
R  0       0       90  0  1.666555   0.060149  -0.014117  -0.010517  9e3     1.8  1.4  2.1
R  0.088   0       90  0  0.735522   0.010517  -0.004252   0.061597  9e3     0.5  1.6  2.1
"""
"""Franka Emika, "Denavit-Hartenberg parameters", in Craig's convention; links: Gaz et al., RA-L 4(4), 2019."""

MECA500 = """
R  0      0.135  -90    0  1.3   0      0.05  0     3e3  0.2  1.2  2.2
R  0.135  0        0  -90  1.1  -0.07   0     0     3e3  0.1  0.7  2.2
R  0.038  0      -90    0  0.8  -0.02   0     0.02  2e3  0.2  0.7  2.6
R  0      0.12    90    0  0.6   0     -0.03  0     1e3  0.4  1.4  3.0
R  0      0      -90    0  0.4   0      0     0     1e3  0.9  0.8  3.0
R  0      0.07     0  180  0.1   0      0    -0.02  1e3  0.1  1.8  3.0
"""
"""A small arm: Mecademic, "Meca500 user manual"; its 4.5 kg are shared out by lengths."""

RAIL_UR3E = """
P  0        0.25      0   0  6.0     0      0     0       2e6   0.0  0.4  0.6
R  0        0.15185  90   0  1.98    0     -0.02  0       1e4   0.3  1.2  2.4
R -0.24355  0         0   0  3.4445  0.13   0     0.1157  1e4  -1.4  0.7  2.4
R -0.2132   0         0   0  1.437   0.05   0     0.0238  6e3   1.7  0.9  2.4
R  0        0.13105  90   0  0.871   0     -0.01  0.005   3e3  -1.2  1.4  2.4
R  0        0.08535 -90   0  0.805   0      0.01  0.005   3e3  -1.3  1.4  2.4
R  0        0.0921    0   0  0.261   0      0    -0.02    3e3   0.4  1.8  2.4
"""
"""On a linear axis, whose base is tilted by 35 deg about the rail [m, N/m in the first row]."""


def _arm(name: str, table: str, craig: bool = False, **more: Any) -> Arm:
    """By a table in standard DH, Rz(theta) Tz(d) Tx(a) Rx(alpha), or in Craig's: Rx(alpha) Tx(a) Rz(theta) Tz(d)."""
    kinds, *cells = zip(*(line.split() for line in table.split("\n") if line), strict=True)
    a, d, alpha, theta, masses, x, y, z, *own = np.array(cells, dtype=float)
    turns = zip(a, d, np.radians(alpha), np.radians(theta), strict=True)
    centers = np.column_stack([x, y, z])
    if craig:
        origins = np.array([_fixed(a, 0, alpha) @ _fixed(0, d, 0) for a, d, alpha, _ in turns])
        tip = _fixed(0, 0.107, 0)
    else:
        after = np.array([_fixed(*turn) for turn in turns])
        origins, tip = np.concatenate([np.eye(4)[None], after[:-1]]), after[-1]
        centers = np.einsum("nij,nj->ni", after[:, :3, :3], centers) + after[:, :3, 3]
    if kinds[0] == "P":  # it slides along the base's x axis, and carries the rest upright
        origins[0, :3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
        origins[1, :3, :3] = origins[0, :3, :3].T @ origins[1, :3, :3]
        origins[1, :3, 3], centers[0] = origins[0, :3, :3].T @ origins[1, :3, 3], 0.0
    stiffness, home, swing, speed = own
    return Arm(name, "".join(kinds), origins, tip, masses, centers, stiffness, home, swing, speed, **more)


TILTED = (0.0, -9.81 * np.sin(np.radians(35.0)), -9.81 * np.cos(np.radians(35.0)))
ARMS = {
    arm.name: arm
    for arm in (
        _arm("ur5e", UR5E, loads=(0.3, 4.5), catalogue="ur5e"),
        _arm("ur10e", UR10E, loads=(0.5, 10.0), catalogue="ur10e"),
        _arm("panda7", PANDA, craig=True, loads=(0.2, 2.8)),
        _arm("meca500", MECA500, loads=(0.08, 0.5)),
        _arm("rail-ur3e", RAIL_UR3E, loads=(0.2, 2.5), gravity=TILTED),
    )
}
