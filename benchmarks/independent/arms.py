"""Five arms, from figures that their makers publish: the tables, and the same as a URDF for those who read one.

Nothing here uses iparam. Links count only in how far soft gears give way, so that a sphere of `RADIUS` of gyration
stands for the inertia of each.
"""

from __future__ import annotations

from dataclasses import dataclass

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


def _standard(a: list[float], d: list[float], alpha: list[float], theta: list[float] | None = None) -> np.ndarray:
    """(n, 4, 4) what follows each joint, in standard DH."""
    rows = zip(a, d, np.radians(alpha), np.radians(theta or [0.0] * len(a)), strict=True)
    return np.array([_fixed(*row) for row in rows])


def _of_standard(after: np.ndarray, centers: list[list[float]]) -> dict[str, np.ndarray]:
    """Frames of joints, and centers that the maker gives in DH frames, at the far ends of the links."""
    ends = np.column_stack([centers, np.ones(len(centers))])
    return {
        "origins": np.concatenate([np.eye(4)[None], after[:-1]]),
        "tip": after[-1],
        "centers": np.einsum("nij,nj->ni", after, ends)[:, :3],
    }


UR_TWISTS = [90.0, 0.0, 0.0, 90.0, -90.0, 0.0]
UR_HOME = np.array([0.3, -1.4, 1.7, -1.2, -1.3, 0.4])
UR_SWING = np.array([1.2, 0.7, 0.9, 1.4, 1.4, 1.8])


def _ur5e() -> Arm:
    """Universal Robots, "DH parameters for calculations of kinematics and dynamics", UR5e."""
    after = _standard([0, -0.425, -0.3922, 0, 0, 0], [0.1625, 0, 0, 0.1333, 0.0997, 0.0996], UR_TWISTS)
    wrists = [[0.0, -0.0018, 0.01634], [0.0, 0.0018, 0.01634], [0.0, 0.0, -0.001159]]
    return Arm(
        "ur5e",
        "RRRRRR",
        **_of_standard(after, [[0.0, -0.02561, 0.00193], [0.2125, 0.0, 0.11336], [0.15, 0.0, 0.0265], *wrists]),
        masses=np.array([3.761, 8.058, 2.846, 1.37, 1.3, 0.365]),
        stiffness=np.array([2.5e4, 2.5e4, 1.5e4, 6e3, 6e3, 6e3]),
        home=UR_HOME,
        swing=UR_SWING,
        speed=np.full(6, 2.4),
        loads=(0.3, 4.5),
        catalogue="ur5e",
    )


def _ur10e() -> Arm:
    """The same page, UR10e."""
    after = _standard([0, -0.6127, -0.57155, 0, 0, 0], [0.1807, 0, 0, 0.17415, 0.11985, 0.11655], UR_TWISTS)
    centers = [[0.021, 0.0, 0.027], [0.38, 0.0, 0.158], [0.24, 0.0, 0.068], [0.0, 0.007, 0.018], [0.0, 0.007, 0.018]]
    return Arm(
        "ur10e",
        "RRRRRR",
        **_of_standard(after, [*centers, [0.0, 0.0, -0.026]]),
        masses=np.array([7.369, 13.051, 3.989, 2.1, 1.98, 0.615]),
        stiffness=np.array([5e4, 5e4, 3e4, 1e4, 1e4, 1e4]),
        home=UR_HOME,
        swing=UR_SWING,
        speed=np.array([1.6, 1.6, 2.2, 2.4, 2.4, 2.4]),
        loads=(0.5, 10.0),
        catalogue="ur10e",
    )


def _panda() -> Arm:
    """Franka Emika, "Denavit-Hartenberg parameters" (Craig's convention); links: Gaz et al., RA-L 4(4), 2019."""
    rows = zip(
        [0, 0, 0, 0.0825, -0.0825, 0, 0.088],
        [0.333, 0, 0.316, 0, 0.384, 0, 0],
        np.radians([0, -90, 90, 90, -90, 90, 90]),
        strict=True,
    )
    return Arm(
        "panda7",
        "RRRRRRR",
        origins=np.array([_fixed(a, 0, alpha) @ _fixed(0, d, 0) for a, d, alpha in rows]),
        tip=_fixed(0, 0.107, 0),
        masses=np.array([4.970684, 0.646926, 3.228604, 3.587895, 1.225946, 1.666555, 0.735522]),
        centers=np.array(
            [
                [0.003875, 0.002081, -0.1750],
                [-0.003141, -0.02872, 0.003495],
                [0.027518, 0.039252, -0.066502],
                [-0.05317, 0.104419, 0.027454],
                [-0.011953, 0.041065, -0.038437],
                [0.060149, -0.014117, -0.010517],
                [0.010517, -0.004252, 0.061597],
            ]
        ),
        stiffness=np.array([1.4e4] * 4 + [9e3] * 3),
        home=np.array([0.1, -0.2, 0.1, -1.6, 0.0, 1.8, 0.5]),
        swing=np.array([1.2, 0.9, 1.2, 1.1, 1.4, 1.4, 1.6]),
        speed=np.array([1.7] * 4 + [2.1] * 3),
        loads=(0.2, 2.8),
    )


def _meca() -> Arm:
    """A small arm: Mecademic, Meca500 user manual, DH parameters. Its 4.5 kg are shared out by lengths."""
    after = _standard(
        [0, 0.135, 0.038, 0, 0, 0], [0.135, 0, 0, 0.12, 0, 0.07], [-90, 0, -90, 90, -90, 0], [0, -90, 0, 0, 0, 180]
    )
    centers = [[0.0, 0.05, 0.0], [-0.07, 0.0, 0.0], [-0.02, 0.0, 0.02], [0.0, -0.03, 0.0], [0.0, 0.0, 0.0]]
    return Arm(
        "meca500",
        "RRRRRR",
        **_of_standard(after, [*centers, [0.0, 0.0, -0.02]]),
        masses=np.array([1.3, 1.1, 0.8, 0.6, 0.4, 0.1]),
        stiffness=np.array([3e3, 3e3, 2e3, 1e3, 1e3, 1e3]),
        home=np.array([0.2, 0.1, 0.2, 0.4, 0.9, 0.1]),
        swing=np.array([1.2, 0.7, 0.7, 1.4, 0.8, 1.8]),
        speed=np.array([2.2, 2.2, 2.6, 3.0, 3.0, 3.0]),
        loads=(0.08, 0.5),
    )


def _rail() -> Arm:
    """A UR3e (the same page as the UR5e) on a linear axis along a wall, its base tilted by 35 deg about the rail."""
    after = _standard([0, -0.24355, -0.2132, 0, 0, 0], [0.15185, 0, 0, 0.13105, 0.08535, 0.0921], UR_TWISTS)
    wrists = [[0.0, -0.01, 0.005], [0.0, 0.01, 0.005], [0.0, 0.0, -0.02]]
    arm = _of_standard(after, [[0.0, -0.02, 0.0], [0.13, 0.0, 0.1157], [0.05, 0.0, 0.0238], *wrists])
    along = np.array([[0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0.1], [0, 0, 0, 1.0]])  # z along the base's x
    tilt = np.radians(35.0)
    return Arm(
        "rail-ur3e",
        "PRRRRRR",
        origins=np.concatenate([along[None], np.linalg.inv(along)[None] @ _fixed(0.0, 0.15, 0.0), arm["origins"][1:]]),
        tip=arm["tip"],
        masses=np.array([6.0, 1.98, 3.4445, 1.437, 0.871, 0.805, 0.261]),
        centers=np.concatenate([[[0.0, 0.0, 0.0]], arm["centers"]]),
        stiffness=np.array([2e6, 1e4, 1e4, 6e3, 3e3, 3e3, 3e3]),
        home=np.concatenate([[0.0], UR_HOME]),
        swing=np.concatenate([[0.4], UR_SWING]),
        speed=np.array([0.6] + [2.4] * 6),
        loads=(0.2, 2.5),
        gravity=(0.0, -9.81 * np.sin(tilt), -9.81 * np.cos(tilt)),
    )


ARMS = {arm.name: arm for arm in (_ur5e(), _ur10e(), _panda(), _meca(), _rail())}
