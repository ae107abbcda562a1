"""Simulated runs of an arm with a payload, whose force/torque sensor is physics. MuJoCo is imported when it is used."""

from iparam.simulation.computed_torque import ComputedTorque
from iparam.simulation.errors import CollisionError, SimulationError
from iparam.simulation.ground_truth import GroundTruth
from iparam.simulation.joint_friction import JointFriction
from iparam.simulation.motor_currents import with_motor_currents
from iparam.simulation.motors import Motors, motors
from iparam.simulation.mujoco_simulator import MujocoScene, MujocoSimulator
from iparam.simulation.payload import Payload
from iparam.simulation.sensor_rates import SensorRates
from iparam.simulation.shapes import Solid, SolidKind, TriangleMesh
from iparam.simulation.simulator import Scene, SimulationResult, Simulator

__all__ = [
    "CollisionError",
    "ComputedTorque",
    "GroundTruth",
    "JointFriction",
    "Motors",
    "MujocoScene",
    "MujocoSimulator",
    "Payload",
    "Scene",
    "SensorRates",
    "SimulationError",
    "SimulationResult",
    "Simulator",
    "Solid",
    "SolidKind",
    "TriangleMesh",
    "motors",
    "with_motor_currents",
]
