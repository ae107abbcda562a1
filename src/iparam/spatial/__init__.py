"""Rotations, transforms, spatial inertia and the ten inertial parameters, in numpy, for any leading batch shape."""

from iparam.spatial.consistency import ConsistencyReport, check_consistency, is_physically_consistent
from iparam.spatial.inertia import (
    is_positive_definite,
    is_symmetric,
    spatial_inertia_at_com,
    spatial_inertia_at_frame,
    transform_spatial_inertia,
)
from iparam.spatial.log_cholesky import log_cholesky_from_phi, log_cholesky_jacobian, phi_from_log_cholesky
from iparam.spatial.parameters import InertialParameters
from iparam.spatial.phi import inertia_entries, inertia_matrix, phi_from_pseudo_inertia, pseudo_inertia_from_phi
from iparam.spatial.transforms import (
    ad,
    adjoint,
    exp_se3,
    exp_so3,
    inverse_transform,
    is_rotation,
    is_transform,
    log_se3,
    log_so3,
    rotation_from_rpy,
    rpy_from_rotation,
    skew,
    transform_from,
    unskew,
)

__all__ = [
    "ConsistencyReport",
    "InertialParameters",
    "ad",
    "adjoint",
    "check_consistency",
    "exp_se3",
    "exp_so3",
    "inertia_entries",
    "inertia_matrix",
    "inverse_transform",
    "is_physically_consistent",
    "is_positive_definite",
    "is_rotation",
    "is_symmetric",
    "is_transform",
    "log_cholesky_from_phi",
    "log_cholesky_jacobian",
    "log_se3",
    "log_so3",
    "phi_from_log_cholesky",
    "phi_from_pseudo_inertia",
    "pseudo_inertia_from_phi",
    "rotation_from_rpy",
    "rpy_from_rotation",
    "skew",
    "spatial_inertia_at_com",
    "spatial_inertia_at_frame",
    "transform_from",
    "transform_spatial_inertia",
    "unskew",
]
