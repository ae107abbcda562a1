"""MuJoCo is a simulator."""

from __future__ import annotations

from simulation.conformance import Conformance

from iparam.simulation import MujocoSimulator


class TestMujoco(Conformance):
    simulator = MujocoSimulator()
    exact = 1e-8
    exact_torque = 1e-8
    exact_state = 1e-13
