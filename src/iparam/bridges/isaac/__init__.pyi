from .articulation import ArticulationPort as ArticulationPort
from .frames import StageUnits as StageUnits
from .frames import contact_wrench_in_tool as contact_wrench_in_tool
from .frames import joint_wrench_in_tool as joint_wrench_in_tool
from .record import record as record
from .wrenches import ContactWrench as ContactWrench
from .wrenches import JointWrench as JointWrench
