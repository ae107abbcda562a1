"""Identification from motor currents: errors of a simulated arm against the truth, of a real one; time and memory.

The logs of the real UR10e are in the folder ur10e of the data, given as an argument or found by `measured_data.py`.

    python benchmarks/bench_torque.py [FOLDER] [--part simulated|pairs|held-out|calibrated|times ...] [--seeds 50]
"""

from __future__ import annotations

import argparse
import functools
import time
import tracemalloc
from pathlib import Path

import numpy as np
from measured_data import measured_data
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
LOAD = 2.805  # of the real UR10e [kg]
BARE = {
    "02_19": "02_19_14harm50sec",
    "01_31": "01_31-unload",
    "02_10": "02_10-30sec_12harm",
    "points": "01_17-ptp_10_points",
}
LOADED = {"02_19": "02_19_14harm50secLoad", "01_31": "01_31-load"}
PAIRS = (
    ("02_19", "02_19"),
    ("01_31", "01_31"),
    ("02_10", "02_19"),
    ("02_10", "01_31"),
    ("02_19", "01_31"),
    ("01_31", "02_19"),
    ("points", "02_19"),
    ("points", "01_31"),
)


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
    header = ["friction model", "base parameters within 3 sd", "rms error / sd", "mass error: median / worst"]
    header += ["centre of mass: median / worst", "mass in 95 %"]
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


def times_and_growth() -> None:
    bare, loaded, _ = simulate()
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


def log(folder: Path, name: str) -> Recording:
    """One of the real arm."""
    return Recording.load(folder / f"ur-20_{name}.csv", columns=COLUMNS, robot="ur10e")


def weighed(folder: Path, pair: tuple[str, str]) -> list[str]:
    bare, loaded = pair
    runs = log(folder, BARE[bare]), log(folder, LOADED[loaded])
    return [bare, loaded, *mass_row(identify_payload_from_torque(*runs, iparam.load_robot("ur10e")))]


def real_pairs(folder: Path) -> None:
    rows = list(in_workers(functools.partial(weighed, folder), PAIRS))
    print_table(f"Real UR10e, load of {LOAD} kg", ["bare", "loaded", "mass kg", "error", "95 %", "holds"], rows)


def held_out(folder: Path) -> None:
    arm = identify_robot([log(folder, BARE["02_10"])], iparam.load_robot("ur10e"))
    found = arm.validate(log(folder, BARE["points"]))
    rows = [[name, *(f"{value:.4f}" for value in one.relative)] for name, one in found.items()]
    print_table(
        "Real UR10e, held-out point-to-point run: relative residual",
        ["model", *(f"joint {j}" for j in range(1, 7))],
        rows,
    )


def calibrated_by_the_load(folder: Path) -> None:
    """The drives calibrated by the load itself on one day, and its mass on the other."""
    days = (("02_19", "01_31"), ("01_31", "02_19"))
    rows = list(in_workers(functools.partial(calibrated, folder), days))
    header = ["calibrated", "weighed", "mass kg", "error", "95 %", "holds"]
    header += [f"gain {joint}" for joint in range(1, 7)]
    title = f"Real UR10e, drives calibrated by the load of {LOAD} kg on another day; gains over those of the controller"
    print_table(title, header, rows)


def calibrated(folder: Path, days: tuple[str, str]) -> list[str]:
    robot, (day, other) = iparam.load_robot("ur10e"), days
    runs = [(log(folder, BARE[one]), log(folder, LOADED[one])) for one in days]
    guess = identify_payload_from_torque(*runs[0], robot)
    phi = guess.estimate.phi
    load = iparam.InertialParameters.from_phi(phi * LOAD / phi[0])  # only its mass is known
    gains = gains_from_known_load(*runs[0], robot, load)
    found = identify_payload_from_torque(*runs[1], robot, drive_gains=gains)
    beside = gains.values / guess.drive_gains.values
    return [day, other, *mass_row(found), *(f"{ratio:.3f}" for ratio in beside)]


def mass_row(found: TorquePayloadEstimate) -> list[str]:
    low, high = found.mass_interval
    error = f"{100 * (found.estimate.mass / LOAD - 1):+.2f} %"
    return [f"{found.estimate.mass:.3f}", error, f"{low:.3f}..{high:.3f}", "yes" if low < LOAD < high else "no"]


PARTS = ("simulated", "times", "pairs", "held-out", "calibrated")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", help="of measured data")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seeds", type=int, default=50)
    options = parser.parse_args()
    if "simulated" in options.part:
        simulated_arm(options.seeds)
    if "times" in options.part:
        times_and_growth()
    for part, run in (("pairs", real_pairs), ("held-out", held_out), ("calibrated", calibrated_by_the_load)):
        if part in options.part:
            run(measured_data("ur10e", options.folder))


if __name__ == "__main__":
    main()
