"""iparam beside mujoco.sysid on the same noisy recordings: accuracy and time. Needs the extra ``mujoco[sysid]``.

mujoco.sysid gets its own optimiser and MuJoCo's inverse dynamics as the model; ten log-Cholesky parameters and six
sensor biases, residuals weighted by the known noise, starting from a 1 kg cube. Both get the motion of the same
Kalman smoother, whose time is given apart.

    python benchmarks/bench_estimation_sysid.py [--seeds 3]
"""

from __future__ import annotations

import argparse
import time

import mujoco
import numpy as np
from bench_estimation import PAYLOAD, UR5E, noisy
from mujoco import sysid
from side_by_side import print_table

import iparam
from iparam.estimation import accuracy, identify_payload
from iparam.motion.motion import MotionEstimate
from iparam.motion.sources import KalmanMotion
from iparam.simulation import Payload
from iparam.simulation.mujoco.model import build_model
from iparam.spatial import InertialParameters, log_cholesky_from_phi, phi_from_log_cholesky

DEVIATION = np.asarray(UR5E.sensors["wrench"].white)
START = InertialParameters.box(1.0, (0.1, 0.1, 0.1)).phi


def predicted(robot: iparam.Robot, motion: MotionEstimate, phi: np.ndarray) -> np.ndarray:
    model = build_model(robot, Payload.from_parameters(InertialParameters.from_phi(phi)))
    data = mujoco.MjData(model)
    wrench = np.empty((motion.num_samples, 6))
    for k in range(motion.num_samples):
        data.qpos[:], data.qvel[:], data.qacc[:] = motion.q[k], motion.dq[k], motion.ddq[k]
        mujoco.mj_inverse(model, data)
        wrench[k] = data.sensordata[:6]
    return wrench


def peer(robot: iparam.Robot, motion: MotionEstimate, wrench: np.ndarray) -> np.ndarray:
    theta = log_cholesky_from_phi(START)
    parameters = sysid.ParameterDict(
        {
            "load": sysid.Parameter("load", theta, theta - 3.0, theta + 3.0),
            "bias": sysid.Parameter("bias", np.zeros(6), -10.0 * np.ones(6), 10.0 * np.ones(6)),
        }
    )

    def residual(x: np.ndarray, *_: object, **__: object) -> tuple[list[np.ndarray], None, None]:
        columns = x.reshape(16, -1)
        values = [
            ((predicted(robot, motion, phi_from_log_cholesky(column[:10])) + column[10:] - wrench) / DEVIATION).ravel()
            for column in columns.T
        ]
        found = np.array(values).T
        return [found[:, 0] if x.ndim == 1 else found], None, None

    found, _ = sysid.optimize(parameters, residual, verbose=False)
    return phi_from_log_cholesky(found.as_vector()[:10])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    robot, truth = iparam.load_robot("ur5e"), PAYLOAD.parameters.phi
    rows = []
    for seed in range(options.seeds):
        recording = noisy(UR5E, seed)
        start = time.perf_counter()
        motion = KalmanMotion().motion(recording, robot)
        smoothing = time.perf_counter() - start
        identify_payload(recording, robot, motion=motion)
        start = time.perf_counter()
        own = identify_payload(recording, robot, motion=motion).phi
        took = time.perf_counter() - start
        start = time.perf_counter()
        other = peer(robot, motion, recording.signal("wrench").values)
        peer_took = time.perf_counter() - start
        for name, phi, seconds in (("iparam", own, took), ("mujoco.sysid", other, peer_took)):
            report = accuracy(phi, truth)
            rows.append(
                [
                    str(seed),
                    name,
                    f"{report.mass_percent:.3f}",
                    f"{1e3 * report.center_of_mass_distance:.3f}",
                    f"{report.inertia_percent.max():.2f}",
                    f"{seconds:.2f}",
                    f"{seconds / took:.0f}",
                    f"{smoothing:.2f}",
                ]
            )
    header = ["seed", "method", "mass %", "CoM mm", "inertia %", "s", "ratio", "smoother s"]
    print_table("iparam and mujoco.sysid, 10 s at 500 Hz, noise ur5e", header, rows)


if __name__ == "__main__":
    if not hasattr(sysid, "ParameterDict"):  # the module is there without what it needs
        raise SystemExit("this comparison needs the extra of MuJoCo: pip install 'mujoco[sysid]'")
    main()
