from .joint_torque import joint_torque_regressor as joint_torque_regressor
from .wrench import WrenchRegressorDerivatives as WrenchRegressorDerivatives
from .wrench import body_regressor as body_regressor
from .wrench import wrench_regressor as wrench_regressor
from .wrench import wrench_regressor_derivatives as wrench_regressor_derivatives
