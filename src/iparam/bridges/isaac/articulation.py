"""`ArticulationPort`: the joints of somebody's articulation, whichever of the three APIs it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import InputError, UnknownNameError

LAB, SIM, LEGACY = "Isaac Lab", "Isaac Sim", "Isaac Sim before 6"


def as_numpy(values: Any, what: str) -> FloatArray:
    """An array of Isaac (a ProxyArray of Isaac Lab 3, of torch, of warp, of numpy) as numbers.

    Raises:
        InputError: it is None, as before the simulation plays.
    """
    if values is None:
        raise InputError(
            argument=what, problem="is None: start the simulation first (sim.reset() or timeline.play(), then a step)"
        )
    values = values.torch if hasattr(values, "torch") else values
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.array(values.numpy() if hasattr(values, "numpy") else values, dtype=np.float64)


def require_initialized(thing: Any) -> None:
    """Refuse an articulation or sensor of Isaac Lab that was not initialised: it has neither names nor data yet."""
    if getattr(thing, "is_initialized", True) is False:
        raise InputError(f"the {type(thing).__name__} is not initialised: call sim.reset() first")


class ArticulationPort:
    """Reads and commands some joints of an articulation, in all its environments at once.

    It has the attributes of one of these, and is told by them:

    - Isaac Lab, ``isaaclab.assets.Articulation``: ``joint_names``, ``data.joint_pos``, ``data.joint_vel``,
      ``set_joint_position_target_index`` (3.0) or ``set_joint_position_target`` (before), the same for velocities, and
      ``write_data_to_sim``;
    - Isaac Sim 6, ``isaacsim.core.experimental.prims.Articulation``: ``dof_names``, ``get_dof_positions``,
      ``get_dof_velocities``, ``set_dof_position_targets``, ``set_dof_velocity_targets``;
    - Isaac Sim before, ``isaacsim.core.prims.Articulation`` (``ArticulationView``): ``dof_names``,
      ``get_joint_positions``, ``get_joint_velocities``, ``set_joint_position_targets``, ``set_joint_velocity_targets``.

    Args:
        articulation: it, initialised.
        names: of the joints that move, in the order of the arm.
    """

    def __init__(self, articulation: Any, names: Sequence[str]) -> None:
        self.articulation = articulation
        self.kind = _kind_of(articulation)
        require_initialized(articulation)
        known = list(articulation.joint_names if self.kind == LAB else articulation.dof_names)
        missing = [name for name in names if name not in known]
        if missing:
            raise UnknownNameError(
                "joint of the articulation", missing[0], known, hint="Name them in the arm's order with joints=."
            )
        twice = [name for place, name in enumerate(names) if name in names[:place]]
        if twice:
            raise InputError(argument="joints", problem=f"names {twice[0]!r} twice")
        self.indices = [known.index(name) for name in names]

    def positions(self) -> FloatArray:
        """(environments, n) of the joints [rad, or units of the stage]."""
        return np.atleast_2d(as_numpy(self._state(), "the articulation's joint positions"))[:, self.indices]

    def velocities(self) -> FloatArray:
        """(environments, n) of the joints [rad/s, or units of the stage]."""
        of = self.articulation
        if self.kind == LAB:
            values = of.data.joint_vel
        else:
            values = of.get_dof_velocities() if self.kind == SIM else of.get_joint_velocities()
        return np.atleast_2d(as_numpy(values, "the articulation's joint velocities"))[:, self.indices]

    def command(self, q: FloatArray, dq: FloatArray) -> None:
        """Set points (n,) of position and velocity for the next physics step, in every environment."""
        state = self._state()
        like = state.torch if hasattr(state, "torch") else state
        rows = np.atleast_2d(as_numpy(state, "the articulation's joint positions")).shape[0]
        targets = [np.tile(values.astype(np.float32), (rows, 1)) for values in (q, dq)]
        given = [like.new_tensor(values) for values in targets] if hasattr(like, "new_tensor") else targets
        of = self.articulation
        if self.kind == LAB and hasattr(of, "set_joint_position_target_index"):
            of.set_joint_position_target_index(target=given[0], joint_ids=self.indices)
            of.set_joint_velocity_target_index(target=given[1], joint_ids=self.indices)
        elif self.kind == LAB:
            of.set_joint_position_target(given[0], joint_ids=self.indices)
            of.set_joint_velocity_target(given[1], joint_ids=self.indices)
        elif self.kind == SIM:
            of.set_dof_position_targets(given[0], dof_indices=self.indices)
            of.set_dof_velocity_targets(given[1], dof_indices=self.indices)
        else:
            places = np.array(self.indices)
            of.set_joint_position_targets(given[0], joint_indices=places)
            of.set_joint_velocity_targets(given[1], joint_indices=places)
        if self.kind == LAB:
            of.write_data_to_sim()

    def _state(self) -> Any:
        if self.kind == LAB:
            return self.articulation.data.joint_pos
        return self.articulation.get_dof_positions() if self.kind == SIM else self.articulation.get_joint_positions()


def _kind_of(articulation: Any) -> str:
    if hasattr(articulation, "write_data_to_sim") and hasattr(articulation, "data"):
        return LAB
    if hasattr(articulation, "set_dof_position_targets"):
        return SIM
    if hasattr(articulation, "set_joint_position_targets"):
        return LEGACY
    raise InputError(
        f"a {type(articulation).__name__} is no articulation that is known: give that of isaaclab.assets, of "
        "isaacsim.core.experimental.prims, or of isaacsim.core.prims (the view, not SingleArticulation, which takes no "
        "joint targets)"
    )
