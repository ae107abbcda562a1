"""Peers that mean harm: controllers, clients of the simulated one, strangers at the planner's door, ROS 2 messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from attack.connections import connection_case
from attack.warm_pool import Case, WarmPool

Attack = Callable[[Iterable[Callable[[Path], Case]]], None]


@pytest.mark.parametrize(
    ("target", "runs"),
    [
        ("ur_record", 40),
        ("ur_set_payload", 3),
        ("twin_clients", 3),
        ("page_requests", 2),
        ("planner", 1),
        ("ros_messages", 3),
    ],
)
def test_a_hostile_peer(target: str, runs: int, pool: WarmPool, attack: Attack) -> None:
    attack(partial(connection_case, target, f"{target}:{run}", pool.samples) for run in range(runs))
