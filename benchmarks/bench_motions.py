"""Does an optimised motion pay? Random and optimised motions, with the same load, noise, duration and limits.

A UR5e carries a 2 kg box of 10 x 15 x 20 cm for 10 s in MuJoCo. Every motion keeps the same limits: those of the arm,
its cell and its payload. The sensors have the noise of the preset ``ur5e``, drawn again for each run. The random
motions are those of the documents that iparam comes from: windowed Fourier series with coefficients up to 0.3 / k rad
(000), and integrated ones with coefficients up to 0.2 rad/s (003), both made smaller until they keep every limit.

    python benchmarks/bench_motions.py [--motions 6] [--noises 5]
"""

from __future__ import annotations

import argparse
import itertools
from functools import cache

import numpy as np
from side_by_side import in_workers, print_table

import iparam
from iparam.estimation.assessment.derived_values import derived_of, derived_values
from iparam.excitation import condition_number, optimize_excitation, random_search
from iparam.excitation.search.problem import ExcitationProblem
from iparam.excitation.search.start import random_coefficients
from iparam.sensing import noise_preset
from iparam.simulation import MujocoSimulator, Payload
from iparam.trajectory import Trajectory

SIZE, MASS = (0.1, 0.15, 0.2), 2.0
SHRINK = 0.9
"""By which a random motion is made smaller until it keeps every limit."""

KINDS = ("random as in 000", "random as in 003", "optimised, 1 start", "optimised, 8 starts")
QUANTITIES = (
    "mass [g]",
    *(f"centre of mass {axis} [mm]" for axis in "xyz"),
    *(f"inertia {axes} [kg cm^2]" for axes in ("xx", "xy", "xz", "yy", "yz", "zz")),
)
UNITS = np.array([1e3, *[1e3] * 3, *[1e4] * 6])


def payload() -> Payload:
    return Payload.box(mass=MASS, size=SIZE)


@cache
def problem() -> ExcitationProblem:
    load = payload()
    box = iparam.PayloadBox.from_size(SIZE, load.parameters.center_of_mass)
    return iparam.planning_problem(iparam.load_robot("ur5e"), payload=box, payload_parameters=load.parameters)


def motion(kind: str, seed: int) -> Trajectory:
    sought = problem()
    if kind == KINDS[0]:
        x = random_coefficients(sought, np.random.default_rng(seed))
        while min(margin.margin for margin in sought.margins(x)) < 0.0:
            x = SHRINK * x
        return sought.trajectory(x)
    if kind == KINDS[1]:
        return random_search(sought.q0, sought.duration, sought.constraints, seed=seed).trajectory
    return optimize_excitation(sought, seed=seed, starts=1 if kind == KINDS[2] else 8, workers=1).trajectory


def identified(job: tuple[str, int, int]) -> tuple[float, np.ndarray, np.ndarray]:
    """Condition number of A, and of each draw of the noise errors (10,) and half widths (10,) of the 95 % intervals."""
    kind, seed, noises = job
    planned, robot = motion(kind, seed), problem().robot
    run, truth = MujocoSimulator().load(robot, payload()).run(planned), derived_of(payload().parameters)
    estimates = [
        derived_values(iparam.identify_payload(noise_preset("ur5e").apply(run.recording, 1000 * seed + noise), robot))
        for noise in range(noises)
    ]
    errors = np.array([found.values - truth for found in estimates])
    return condition_number(robot, planned).regressor, errors, np.array([found.half_widths for found in estimates])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--motions", type=int, default=6, help="of each kind")
    parser.add_argument("--noises", type=int, default=5, help="draws of the noise for each motion")
    options = parser.parse_args()
    jobs = list(itertools.product(KINDS, range(options.motions), [options.noises]))
    found = list(in_workers(identified, jobs))
    columns = []
    for kind in KINDS:
        of_kind = [one for (name, _, _), one in zip(jobs, found, strict=True) if name == kind]
        kappas, errors, widths = (np.array(column) for column in zip(*of_kind, strict=True))
        error, width = np.sqrt(np.mean(errors**2, axis=(0, 1))) * UNITS, np.median(widths, axis=(0, 1)) * UNITS
        columns.append(
            [
                f"{np.median(kappas):.2f} ({kappas.min():.2f} to {kappas.max():.2f})",
                *(f"{one:.3g} / {other:.3g}" for one, other in zip(error, width, strict=True)),
                f"{100 * np.mean(np.abs(errors) <= widths):.0f}",
            ]
        )
    names = ["condition number of A", *QUANTITIES, "errors inside the interval [%]"]
    title = (
        f"{options.motions} motions of each kind, {options.noises} runs each: rms error / half width of the interval"
    )
    print_table(title, ["", *KINDS], [list(row) for row in zip(names, *columns, strict=True)])


if __name__ == "__main__":
    main()
