"""Serial arms: the model, the catalogue of known arms, DH tables and URDF files."""

from iparam.robot.catalog import catalog_robot as catalog_robot
from iparam.robot.catalog import robot_names as robot_names
from iparam.robot.dh import StandardDH as StandardDH
from iparam.robot.dh import dh_table as dh_table
from iparam.robot.loading import load_robot as load_robot
from iparam.robot.model import Joint as Joint
from iparam.robot.model import JointKind as JointKind
from iparam.robot.model import JointLimits as JointLimits
from iparam.robot.model import Link as Link
from iparam.robot.model import Robot as Robot
from iparam.robot.urdf import robot_from_urdf as robot_from_urdf
