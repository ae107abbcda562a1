"""Identification from joint torques and motor currents: the arm itself, and a load without a force sensor."""

from iparam.estimation.torque.drive_gains import DriveGains, gains_from_model, gains_from_targets, given_gains
from iparam.estimation.torque.friction import FrictionModel
from iparam.estimation.torque.fusion import fuse_estimates
from iparam.estimation.torque.incremental_qr import IncrementalQR
from iparam.estimation.torque.payload_from_torque import TorquePayloadEstimate, identify_payload_from_torque
from iparam.estimation.torque.robot_identification import RobotEstimate, identify_robot
from iparam.estimation.torque.torque_model import TorqueModel
from iparam.estimation.torque.validation import TorquePrediction

__all__ = [
    "DriveGains",
    "FrictionModel",
    "IncrementalQR",
    "RobotEstimate",
    "TorqueModel",
    "TorquePayloadEstimate",
    "TorquePrediction",
    "fuse_estimates",
    "gains_from_model",
    "gains_from_targets",
    "given_gains",
    "identify_payload_from_torque",
    "identify_robot",
]
