"""What can go wrong in a simulated run."""

from __future__ import annotations

from iparam.errors import IparamError


class SimulationError(IparamError):
    """A simulated run had to be stopped; the message says when and why."""


class CollisionError(SimulationError):
    """Two bodies touched that must not.

    Attributes:
        bodies: the names of the two.
        time: when, from the start of the trajectory; negative while the arm settles before it [s].
    """

    def __init__(self, bodies: tuple[str, str], time: float, depth: float) -> None:
        self.bodies = bodies
        self.time = time
        when = f"at {time:.3f} s" if time >= 0.0 else "in the start pose"
        super().__init__(f"collision {when}: {bodies[0]} hits {bodies[1]} ({1e3 * depth:.2g} mm deep)")
