from .arm import CatalogArm as CatalogArm
from .lookup import catalog_arm as catalog_arm
from .lookup import catalog_robot as catalog_robot
from .lookup import dh_table as dh_table
from .lookup import robot_names as robot_names
from .ur_robot import ACCELERATION_LIMIT as ACCELERATION_LIMIT
