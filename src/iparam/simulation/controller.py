"""`ComputedTorque`: what drives the simulated arm along its set points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from iparam.arrays import FloatArray
from iparam.robot.dynamics import inverse_dynamics, mass_matrix
from iparam.robot.model import Robot
from iparam.trajectory.checks import positive_number
from iparam.trajectory.trajectory import TrajectorySamples

HIGHEST_GAIN = 0.4
"""Upper bound of omega h, the bandwidth times the time step; beyond it the sampled loop would ring [rad]."""


@dataclass(frozen=True)
class ComputedTorque:
    """Torques of the arm's model along the set points, plus feedback of the tracking error.

    tau = ID(q_d, dq_d, ddq_d) + M(q_d) (omega^2 (q_d - q) + 2 zeta omega (dq_d - dq))

    ID, the feed-forward, is that of the arm alone unless ``payload_known``: as on a real arm whose payload has not been
    set, the payload then pulls the arm off its set points by a small, real tracking error. M, the weight of the
    feedback, is that of the loaded arm: the drives are tuned so that every joint answers alike, whatever it carries.

    Attributes:
        bandwidth: omega / (2 pi) [Hz]; lowered to HIGHEST_GAIN where the physics is too slow for it.
        damping_ratio: zeta.
        payload_known: whether the feed-forward knows the payload.
    """

    bandwidth: float = 50.0
    damping_ratio: float = 1.0
    payload_known: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "bandwidth", positive_number(self.bandwidth, "bandwidth", "Hz"))
        object.__setattr__(self, "damping_ratio", positive_number(self.damping_ratio, "damping_ratio"))

    def gains(self, timestep: float) -> tuple[float, float]:
        """omega^2 [1/s^2] and 2 zeta omega [1/s] for a time step [s]."""
        omega = min(2.0 * np.pi * self.bandwidth, HIGHEST_GAIN / (timestep * max(self.damping_ratio, 1.0)))
        return omega**2, 2.0 * self.damping_ratio * omega

    def plan(
        self,
        arm: Robot,
        loaded: Robot,
        goal: TrajectorySamples,
        gravity: tuple[float, float, float],
    ) -> tuple[FloatArray, FloatArray]:
        """Feed-forward torques (T, n) [N m] and feedback weights M (T, n, n) [kg m^2] along the set points.

        Args:
            arm: the arm alone.
            loaded: the arm with what it carries.
            goal: the set points (T, n).
            gravity: (3,) in base axes [m/s^2].
        """
        model = loaded if self.payload_known else arm
        return inverse_dynamics(model, goal.q, goal.dq, goal.ddq, gravity), mass_matrix(loaded, goal.q)
