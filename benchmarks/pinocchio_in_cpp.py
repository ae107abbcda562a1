"""Pinocchio called from C++: `pinocchio_loops.cpp`, compiled with the headers that the wheels of `pin` bring.

They lack Eigen's, which are in the wheel `cmeel-eigen` or a package of the system.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

HEADERS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix/include"
EIGEN = [HEADERS / "eigen3", Path("/usr/include/eigen3"), Path("/usr/local/include/eigen3")]
SOURCE = Path(__file__).with_name("pinocchio_loops.cpp")
# -O3 alone is a little faster than with -march=native. The others are what Pinocchio's own build sets for Boost.
OPTIONS = [
    "-std=c++17",
    "-O3",
    "-DNDEBUG",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
    "-fPIC",
    "-shared",
    "-w",
]
AXES = {"JointModelRX": 0, "JointModelRY": 1, "JointModelRZ": 2}

Loop = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


class MissingError(Exception):
    """It cannot be compiled here; the message says what is missing."""


def loops(model: Any, tool: str) -> dict[str, Loop]:
    """Each algorithm over states q, dq, ddq (N, n), by the name of iparam's function.

    Raises:
        MissingError: there are no headers or no compiler.
    """
    library = ctypes.CDLL(str(_compiled()))
    library.make_arm.restype = ctypes.c_void_p
    bodies, joints = list(model.inertias)[1:], list(model.joints)[1:]
    frame = model.frames[model.getFrameId(tool)]
    arrays = [
        np.array([AXES[joint.shortname()] for joint in joints], dtype=np.int64),
        np.array([pose.homogeneous for pose in list(model.jointPlacements)[1:]]),
        np.array(frame.placement.homogeneous),
        np.array([body.mass for body in bodies]),
        np.array([body.lever for body in bodies]),
        np.array([body.inertia for body in bodies]),
    ]
    arm = ctypes.c_void_p(library.make_arm(ctypes.c_int64(model.nv), *map(_address, map(np.ascontiguousarray, arrays))))
    state, tau = [np.linspace(start, 1.0, model.nv) for start in (-1.0, 0.0, 0.5)], np.empty(model.nv)
    library.torques(arm, *map(_address, state), _address(tau))
    np.testing.assert_allclose(tau, pin.rnea(model, model.createData(), *state), rtol=1e-9, atol=1e-9)

    def loop(name: str) -> Loop:
        function = getattr(library, name)

        def run(q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> None:
            function(arm, ctypes.c_int64(len(q)), _address(q), _address(dq), _address(ddq))

        return run

    names = ("tool_motion", "wrench_regressor", "inverse_dynamics", "mass_matrix", "joint_torque_regressor")
    return {name: loop(name) for name in names}


def _address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _compiled() -> Path:
    """The library in build/, compiled the first time: a minute or two."""
    eigen = next((folder for folder in EIGEN if (folder / "Eigen" / "Core").exists()), None)
    if not (HEADERS / "pinocchio").exists() or eigen is None:
        raise MissingError("without headers: pip install pin cmeel-eigen")
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None:
        raise MissingError("without a C++ compiler")
    content = hashlib.sha256(f"{SOURCE.read_text()}{OPTIONS}{pin.__version__}".encode()).hexdigest()[:16]
    library = Path(__file__).resolve().parents[1] / "build" / "benchmarks" / f"pinocchio-{content}.so"
    if not library.exists():
        print("Compiling Pinocchio's loops: a minute or two.", file=sys.stderr, flush=True)
        library.parent.mkdir(parents=True, exist_ok=True)
        folders = [f"-I{HEADERS}", "-isystem", str(eigen)]
        unfinished = library.with_suffix(".unfinished")
        subprocess.run([compiler, *OPTIONS, *folders, str(SOURCE), "-o", str(unfinished)], check=True)
        unfinished.replace(library)
    return library
