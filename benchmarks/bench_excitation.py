"""The planner against the reference's method, from the same starts: time until a feasible kappa of at most 2.0.

The reference's method: scipy's SLSQP with finite differences over the 60 coefficients, five aggregated
constraints (the least margin of each kind), Pinocchio for the regressor, constraints on subsampled grids; restarted
where it stopped when its 300 iterations were not enough. A motion counts as feasible when every margin is >= 0 at
1 kHz; the reference itself accepted violations up to 1e-2, so its time to a motion that it would have accepted is shown
as well.

Also: what a time budget brings, and what clearance and limits in reserve cost.

    python benchmarks/bench_excitation.py [--part reference|budgets|limits|reserves ...] [--starts 3] [--minutes 5]
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time

import numpy as np
import pinocchio as pin
from scipy.optimize import minimize
from side_by_side import print_table

import iparam
from iparam.excitation.constraints.constraint import JointLimitConstraint
from iparam.excitation.search.barrier import BarrierFunction
from iparam.excitation.search.newton import minimize_along_path
from iparam.excitation.search.optimizer import optimize_excitation
from iparam.excitation.search.start import SEARCH_PATH, SEARCH_RATES, random_start, shrink_to_valid
from iparam.excitation.setup import reference_problem

GOAL = 2.0
PHI_ORDER = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


class Done(Exception):
    """The goal is reached, or the time is over."""


class Watch:
    """Notes when a run first reaches the goal, without the time spent on looking."""

    def __init__(self, problem, budget: float) -> None:
        self.problem, self.budget = problem, budget
        self.began, self.paused = time.perf_counter(), 0.0
        self.strict, self.lenient, self.best = np.inf, np.inf, np.inf

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self.began - self.paused

    def look(self, x: np.ndarray) -> bool:
        now, looked = self.elapsed, time.perf_counter()
        kappa = self.problem.value(x)
        if kappa <= GOAL:
            worst = min(margin.margin for margin in self.problem.margins(x))
            if worst >= 0:
                self.strict, self.best = min(self.strict, now), min(self.best, kappa)
            if worst >= -1e-2:
                self.lenient = min(self.lenient, now)
        self.paused += time.perf_counter() - looked
        return self.strict < np.inf or now > self.budget


def pinocchio_model(robot: iparam.Robot):
    """The UR5e as a Pinocchio model, joint by joint; its masses do not matter for the payload's regressor."""
    model, parent = pin.Model(), 0
    for joint in robot.moving_joints:
        placement = pin.SE3(np.array(joint.origin[:3, :3]), np.array(joint.origin[:3, 3]))
        parent = model.addJoint(parent, pin.JointModelRZ(), placement, joint.name)
    model.addFrame(pin.Frame("tool0", parent, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    return model


def reference_run(problem, x0: np.ndarray, budget: float) -> tuple[Watch, int]:
    """Finite-difference SLSQP as in the document."""
    model = pinocchio_model(problem.robot)
    data, tool = model.createData(), model.getFrameId("tool0")
    basis = problem.basis(problem.criterion_times)
    grids = {rate: problem.basis(problem.grid(rate)) for rate in (2.0, 20.0, 100.0)}
    evaluations = 0

    def kappa(x: np.ndarray) -> float:
        nonlocal evaluations
        evaluations += 1
        motion = problem.motion(x, basis)
        blocks = []
        for q, dq, ddq in zip(motion.q, motion.dq, motion.ddq, strict=True):
            pin.rnea(model, data, q, dq, ddq)  # the accelerations with gravity, which the regressor needs
            blocks.append(pin.frameBodyRegressor(model, data, tool)[:, PHI_ORDER])
        return float(np.linalg.cond(np.vstack(blocks)))

    def least(constraints, rate: float, safety: float = 0.0):
        return lambda x: min(c.margins(problem.motion(x, grids[rate])).min() for c in constraints) - safety

    limits = [c for c in problem.constraints if isinstance(c, JointLimitConstraint)]
    tool_ball = [c for c in problem.constraints if c.name == "tool displacement"]
    collisions = [c for c in problem.constraints if "collision" in c.name]
    constraints = [{"type": "ineq", "fun": least([limit], 100.0)} for limit in limits]
    constraints.append({"type": "ineq", "fun": least(tool_ball, 2.0)})
    constraints.append({"type": "ineq", "fun": least(collisions, 20.0, 0.005)})
    watch = Watch(problem, budget)

    def callback(x: np.ndarray) -> None:
        if watch.look(x):
            raise Done

    x = x0
    with contextlib.suppress(Done):
        while True:  # it stops after 300 iterations; if that was not enough, it goes on from there
            found = minimize(
                kappa, x, method="SLSQP", constraints=constraints, callback=callback, options={"maxiter": 300}
            )
            callback(found.x)
            stuck = np.linalg.norm(found.x - x) < 1e-6
            x = x + 1e-3 * np.random.default_rng(0).normal(size=x.size) if stuck else found.x
    return watch, evaluations


def our_run(problem, x0: np.ndarray, budget: float) -> Watch:
    """One start of the planner, stopped at the goal; a motion is shrunk to validity before it counts."""
    watch = Watch(problem, budget)
    function = BarrierFunction(problem, *SEARCH_RATES, reserves={})

    def stop(x: np.ndarray) -> bool:
        if problem.value(x) > GOAL:
            return watch.elapsed > budget
        return watch.look(shrink_to_valid(problem, x))

    minimize_along_path(function, x0, SEARCH_PATH, stop)
    return watch


def beside_reference(starts: int, budget: float) -> None:
    """The time of both methods from the same starts, each with so many seconds."""
    iparam.set_num_threads(1)
    problem = reference_problem()
    function = BarrierFunction(problem, *SEARCH_RATES, reserves={})
    rows, ratios = [], []
    our_run(problem, random_start(problem, function, np.random.default_rng(99)), 5.0)  # loads all modules
    for index in range(starts):
        x0 = random_start(problem, function, np.random.default_rng([0, index]))
        ours = our_run(problem, x0, budget)
        theirs, evaluations = reference_run(problem, x0, budget)
        spent = min(theirs.strict, theirs.elapsed)
        ratios.append(spent / ours.strict)
        rows.append(
            [
                str(index),
                f"{problem.value(x0):.1f}",
                f"{ours.strict:.2f}",
                f"{theirs.strict:.0f}" if theirs.strict < np.inf else f"not in {theirs.elapsed:.0f}",
                f"{theirs.lenient:.0f}" if theirs.lenient < np.inf else f"not in {theirs.elapsed:.0f}",
                str(evaluations),
                f"{'' if theirs.strict < np.inf else 'more than '}{ratios[-1]:.0f}x",
            ]
        )
    header = [
        "start",
        "initial kappa",
        "iparam s",
        "SLSQP s",
        "SLSQP s (violations to 1e-2)",
        "its evaluations",
        "ratio",
    ]
    print_table(f"Time until a feasible kappa <= {GOAL:g}, one core each, same starts (goal 100x)", header, rows)


def reserves(starts: int = 6) -> None:
    """What it costs to stay away from obstacles and limits: the same starts, arm and load, other reserves."""
    rows, box = [], iparam.PayloadBox.from_size([0.1, 0.15, 0.2])
    load = iparam.InertialParameters.box(2.0, [0.1, 0.15, 0.2])
    for name in ("ur5e", "ur10e", "panda"):
        found = []
        for clearance, fraction in ((0.01, 1.0), (0.02, 1.0), (0.01, 0.95), (0.02, 0.95), (0.03, 0.8)):
            limits = iparam.excitation.PlanningLimits(clearance=clearance, fraction=fraction)
            problem = iparam.planning_problem(
                iparam.load_robot(name), payload=box, payload_parameters=load, limits=limits
            )
            found.append(optimize_excitation(problem, seed=0, starts=starts).condition_number)
            print(name, clearance, fraction, f"{found[-1]:.4f}", file=sys.stderr, flush=True)
        rows.append([name, *(f"{kappa:.3f}" for kappa in found), f"{found[3] / found[0] - 1.0:+.1%}"])
    header = ["arm", "10 mm, 100 %", "20 mm, 100 %", "10 mm, 95 %", "20 mm, 95 % (default)", "30 mm, 80 %", "cost"]
    print_table(
        f"Condition number with a load of 2 kg, by clearance and share of the limits, {starts} starts", header, rows
    )


def budgets(seeds: int = 3) -> None:
    """What a time budget brings on all cores, from other random starts each."""
    iparam.set_num_threads(None)
    rows = []
    for seconds in (10.0, 30.0, 60.0):
        found = [optimize_excitation(reference_problem(), seed=seed, time_budget=seconds) for seed in range(seeds)]
        worst = min(margin.margin for result in found for margin in result.margins)
        starts = " ".join(str(len(result.starts)) for result in found)
        kappas = " ".join(f"{result.condition_number:.4f}" for result in found)
        rows.append([f"{seconds:g}", starts, kappas, f"{worst:.1e}"])
    header = ["time budget s", "starts", "kappa, each seed", "least margin at 1 kHz"]
    print_table("The reference problem, all cores (where it comes from: 1.87 with violations, 4459 s)", header, rows)


def limits(starts: int = 3) -> None:
    """What the wrist's real speed limit costs: the reference problem as it is, and with that of the arm."""
    rows = []
    for name, problem in (
        ("as it is: wrist joints 2 pi rad/s", reference_problem()),
        ("every joint pi rad/s, the UR5e's own", reference_problem(velocity=np.pi)),
    ):
        found = optimize_excitation(problem, seed=0, starts=starts)
        speed = np.abs(found.trajectory.sample(1000.0).dq[:, 3:]).max()
        rows.append([name, f"{found.condition_number:.4f}", f"{found.condition_number**2:.4f}", f"{speed:.2f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    header = ["reference problem", "condition number of A", "of A^T A", "fastest wrist joint rad/s"]
    print_table(f"The reference problem and the wrist's real limit, {starts} starts", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("reference", "budgets", "limits", "reserves")
    parser.add_argument("--part", nargs="+", choices=parts, default=parts)
    parser.add_argument("--starts", type=int, default=3, help="of the reference's method, limits and reserves; seeds")
    parser.add_argument("--minutes", type=float, default=5.0, help="that the reference's method has for each start")
    options = parser.parse_args()
    if "reference" in options.part:
        beside_reference(options.starts, 60.0 * options.minutes)
    if "budgets" in options.part:
        budgets(options.starts)
    if "limits" in options.part:
        limits(options.starts)
    if "reserves" in options.part:
        reserves(options.starts)


if __name__ == "__main__":
    main()
