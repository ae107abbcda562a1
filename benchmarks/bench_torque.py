"""Identification from motor currents: errors of a simulated arm against the truth, time, growth and memory.

With the folder of UR10e logs as an argument, or in IPARAM_DATA, the real arm too.
"""

from __future__ import annotations

import functools
import os
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
from side_by_side import in_workers, print_table

import iparam
from iparam.arrays import FloatArray
from iparam.estimation.torque import (
    DriveGains,
    FrictionModel,
    TorqueModel,
    TorquePayloadEstimate,
    gains_from_known_load,
    identify_payload_from_torque,
    identify_robot,
)
from iparam.estimation.torque.drives.drive_gains import torque_gains
from iparam.estimation.torque.joint_data import JointDataSource
from iparam.estimation.torque.robot_identification import grouped
from iparam.estimation.torque.torque_fit import fit_torques
from iparam.recording import Recording
from iparam.simulation import MujocoSimulator, Payload, SensorRates, motors, with_motor_currents
from iparam.trajectory import load_trajectory

TRAJECTORY = Path(__file__).parents[1] / "tests" / "data" / "whole_arm_ur10e.json"
COLUMNS = "time,q,dq,current,target_current,target_torque"
MOTORS = motors("ur10e")
GAINS, CURRENT_NOISE, ROTORS = MOTORS.drive_gains, MOTORS.current_noise, MOTORS.rotor_inertia
VISCOUS, COULOMB = MOTORS.viscous, MOTORS.coulomb
SEEDS = 50
LOAD = 2.805  # of the real UR10e [kg]


def measured(recording: Recording, seed: int) -> Recording:
    noisy = with_motor_currents(recording, GAINS, CURRENT_NOISE, seed)
    q = noisy.signal("q")
    error = 2e-5 * np.random.default_rng(seed + 10_000).standard_normal(q.values.shape)
    return noisy.with_signal("q", time=q.time, values=q.values + error)


@functools.cache
def simulate() -> tuple[Recording, Recording, Payload]:
    robot = iparam.load_robot("ur10e").with_armature(ROTORS)
    simulator = MujocoSimulator(rates=SensorRates.all_at(500.0), friction=MOTORS.friction)
    payload = Payload.box(mass=2.0, size=(0.1, 0.15, 0.2), offset=(0.02, 0.03, 0.1))
    path = load_trajectory(TRAJECTORY).trajectory
    runs = [simulator.load(robot, carried).run(path).recording for carried in (None, payload)]
    return runs[0], runs[1], payload


def fitted(friction: FrictionModel | None, seed: int) -> tuple[list[float], float, float, bool]:
    """Errors in deviations, relative error of the mass, that of the centre [m], and whether the interval holds."""
    robot, (bare, loaded, payload) = iparam.load_robot("ur10e"), simulate()
    gains, run = DriveGains(GAINS, np.zeros(6), 0.0, "Known."), measured(bare, seed)
    arm = identify_robot([run], robot, drive_gains=gains, friction=friction, compare=False)
    error = arm.base_values - grouped(arm.model) @ true_parameters(arm.model)
    found = identify_payload_from_torque(
        run, measured(loaded, 1000 + seed), robot, drive_gains=gains, friction=friction
    )
    return (
        (error / arm.base_deviation)[arm.model.independent < 66].tolist(),
        abs(found.estimate.mass / 2.0 - 1.0),
        float(np.abs(found.estimate.center_of_mass - payload.parameters.center_of_mass).max()),
        found.mass_interval[0] < 2.0 < found.mass_interval[1],
    )


def simulated_arm(seeds: int) -> None:
    matched = FrictionModel(("viscous", "coulomb", "offset"), "smooth", smoothing_speed=0.02)
    rows = []
    for name, friction in (("as simulated", matched), ("chosen", None)):
        found = list(in_workers(functools.partial(fitted, friction), range(seeds)))
        parts, mass, center, inside = zip(*found, strict=True)
        scores = np.concatenate(parts)
        rows.append(
            [
                name,
                f"{100 * np.mean(np.abs(scores) < 3.0):.2f} %",
                f"{np.sqrt(np.mean(np.square(scores))):.2f}",
                f"{100 * np.median(mass):.2f} / {100 * max(mass):.2f} %",
                f"{1e3 * np.median(center):.2f} / {1e3 * max(center):.2f} mm",
                f"{100 * np.mean(inside):.0f} %",
            ]
        )
    header = ["friction model", "within 3 sd", "rms error / sd", "mass error, worst", "CoM error, worst", "in 95 %"]
    print_table(
        f"Simulated UR10e, 20 s at 500 Hz, {seeds} seeds of noise: base parameters and a load of 2 kg", header, rows
    )


def true_parameters(model: TorqueModel) -> FloatArray:
    """(p,) of the simulated arm; 0 for terms of friction that it does not have."""
    expected = np.zeros(model.size)
    expected[:60], expected[60:66] = iparam.load_robot("ur10e").body_parameters.ravel(), ROTORS
    expected[model.friction_columns("viscous")] = VISCOUS
    expected[model.friction_columns("coulomb")] = COULOMB
    return expected


def times_and_growth(bare: Recording, loaded: Recording) -> None:
    robot = iparam.load_robot("ur10e")
    gains = torque_gains(6)
    rows = []
    for repeats in (1, 4, 16):
        run = repeated(bare, repeats)
        source_time = time.perf_counter()
        identify_robot([run], robot, compare=False)
        robot_time = time.perf_counter() - source_time
        start = time.perf_counter()
        identify_payload_from_torque(run, repeated(loaded, repeats), robot)
        payload_time = time.perf_counter() - start
        source = JointDataSource(run, robot)
        tracemalloc.start()
        fit_torques(TorqueModel(robot), [source], gains)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        samples = run.signal("q").num_samples
        rows.append(
            [
                str(samples),
                f"{robot_time:.2f}",
                f"{payload_time:.2f}",
                f"{1e6 * robot_time / samples:.0f}",
                f"{peak / 1e6:.0f}",
            ]
        )
    header = ["samples", "robot s", "torque-payload s", "robot us a sample", "peak of the fit MB"]
    print_table("Time and memory, 500 Hz; runs laid end to end", header, rows)


def repeated(recording: Recording, count: int) -> Recording:
    """The run, forwards and backwards, ``count`` times."""
    result = Recording("ur10e")
    for name in ("q", "tau"):
        signal = recording.signal(name)
        period = signal.time[-1] + 1.0 / signal.rate
        time_stamps = np.concatenate([signal.time + k * period for k in range(count)])
        result = result.with_signal(name, time=time_stamps, values=np.tile(signal.values, (count, 1)))
    return result


def real_arm(folder: Path) -> None:
    robot = iparam.load_robot("ur10e")

    def log(name: str) -> Recording:
        return Recording.load(folder / f"ur-20_{name}.csv", columns=COLUMNS, robot="ur10e")

    bare = {
        "02_19": log("02_19_14harm50sec"),
        "01_31": log("01_31-unload"),
        "02_10": log("02_10-30sec_12harm"),
        "points": log("01_17-ptp_10_points"),
    }
    loaded = {"02_19": log("02_19_14harm50secLoad"), "01_31": log("01_31-load")}
    rows = []
    for without, with_load in (
        ("02_19", "02_19"),
        ("01_31", "01_31"),
        ("02_10", "02_19"),
        ("02_10", "01_31"),
        ("02_19", "01_31"),
        ("01_31", "02_19"),
        ("points", "02_19"),
        ("points", "01_31"),
    ):
        found = identify_payload_from_torque(bare[without], loaded[with_load], robot)
        rows.append([without, with_load, *mass_row(found)])
    print_table(f"Real UR10e, load of {LOAD} kg", ["bare", "loaded", "mass kg", "error", "95 %", "holds"], rows)
    calibrated_by_the_load(bare, loaded)
    arm = identify_robot([bare["02_10"]], robot)
    rows = [[name, *(f"{value:.4f}" for value in one.relative)] for name, one in arm.validate(bare["points"]).items()]
    print_table(
        "Real UR10e, held-out point-to-point run: relative residual",
        ["model", *(f"joint {j}" for j in range(1, 7))],
        rows,
    )


def calibrated_by_the_load(bare: dict[str, Recording], loaded: dict[str, Recording]) -> None:
    """The drives calibrated by the load itself on one day, and its mass on the other."""
    robot = iparam.load_robot("ur10e")
    rows = []
    for day, other in (("02_19", "01_31"), ("01_31", "02_19")):
        phi = identify_payload_from_torque(bare[day], loaded[day], robot).estimate.phi
        load = iparam.InertialParameters.from_phi(phi * LOAD / phi[0])  # only its mass is known
        gains = gains_from_known_load(bare[day], loaded[day], robot, load)
        found = identify_payload_from_torque(bare[other], loaded[other], robot, drive_gains=gains)
        rows.append([day, other, *mass_row(found)])
    header = ["calibrated", "weighed", "mass kg", "error", "95 %", "holds"]
    print_table(f"Real UR10e, drives calibrated by the load of {LOAD} kg on another day", header, rows)


def mass_row(found: TorquePayloadEstimate) -> list[str]:
    low, high = found.mass_interval
    error = f"{100 * (found.estimate.mass / LOAD - 1):+.2f} %"
    return [f"{found.estimate.mass:.3f}", error, f"{low:.3f}..{high:.3f}", "yes" if low < LOAD < high else "no"]


def main() -> None:
    simulated_arm(SEEDS)
    times_and_growth(*simulate()[:2])
    given = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("IPARAM_DATA", "")
    folder = Path(given) / "ur10e" if given else Path(__file__).parents[2] / "shared" / "data" / "ur10e"
    if folder.is_dir():
        real_arm(folder)
    else:
        print(f"\nno logs of a real UR10e in {folder}")


if __name__ == "__main__":
    main()
