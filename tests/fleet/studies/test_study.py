"""Studies: repeatable on any number of workers, figures with intervals that hold, an end when they are precise."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import iparam
from iparam.errors import InputError, UnknownNameError
from iparam.estimation.estimate import DERIVED_NAMES
from iparam.files.kind import FileKind, kind_of
from iparam.fleet import Cluster, Experiment, LocalPool, Plan, Study, run_study, worse_noises
from iparam.fleet.studies import study as study_module
from iparam.fleet.studies.figures import (
    coverage_figures,
    mean_share,
    precision_figures,
    proportion,
    robustness_figures,
    root_mean_square,
)
from iparam.rounding import NORMAL_95
from iparam.trajectory import WindowedFourierTrajectory

DATA = Path(__file__).parents[2] / "data"


def experiment(**options: Any) -> Experiment:
    trajectory = iparam.load_trajectory(DATA / "short_ur5e.json").trajectory
    plan = Plan("short", iparam.load_robot("ur5e"), trajectory)
    return Experiment((plan,), (iparam.noise_preset("ur5e"),), rate=100.0, **options)


@pytest.mark.thorough
def test_the_table_is_the_same_for_any_number_of_workers(dask_scheduler: str) -> None:
    one = run_study("coverage", experiment(seed=3), executor=ThreadPoolExecutor(1), most_runs=6).table()
    with Cluster(dask_scheduler) as two:
        assert two.num_workers == 2
        assert run_study("coverage", experiment(seed=3), executor=two, most_runs=6).table().equals(one)
    with LocalPool(3) as three:
        assert run_study("coverage", experiment(seed=3), executor=three, most_runs=6).table().equals(one)
    other = run_study("coverage", experiment(seed=4), executor=ThreadPoolExecutor(1), most_runs=2).table()
    assert not other.equals(one.slice(0, 2))
    assert len(set(one["mass_true"].to_pylist())) == 6  # a payload of its own for each


def row(run: int, error: float = 0.0, **more: Any) -> dict[str, Any]:
    columns = {f"{name}_error": error for name in DERIVED_NAMES}
    columns |= {f"{name}_{kind}": 1.0 for name in DERIVED_NAMES for kind in ("deviation", "bound")}
    return {"run": run, "noise": "n", "verdict": "good", **columns, **more}


def test_a_study_ends_when_it_is_precise_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_module, "run_experiment", lambda _, run: row(run, np.random.default_rng(run).normal()))
    threads = ThreadPoolExecutor(2)
    coarse = run_study("precision", experiment(), executor=threads, precision=0.2)
    fine = run_study("precision", experiment(), executor=threads, precision=0.03)
    assert coarse.reached
    assert fine.reached
    assert len(coarse.rows) < len(fine.rows) < 10_000
    assert next(figure for figure in fine.figures if figure.name == "all ten").half_width <= 0.03
    assert [found["run"] for found in fine.rows] == list(range(len(fine.rows)))
    short = run_study("precision", experiment(), executor=threads, precision=0.001, most_runs=50)
    assert not short.reached
    assert len(short.rows) == 50


def test_no_more_runs_than_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study_module, "run_experiment", lambda _, run: row(run, noise=f"n{run % 8}"))
    many = Experiment(experiment().plans, worse_noises(iparam.noise_preset("ur5e")))
    for asked in (8, 13, 100):
        found = run_study("robustness", many, executor=ThreadPoolExecutor(1), precision=1e-6, most_runs=asked)
        assert len(found.rows) == asked
        assert len({figure.scenario for figure in found.figures}) == 8
    with pytest.raises(InputError, match=r"most_runs=6 is less than a run of each of the 8 scenarios: .* 8$"):
        run_study("robustness", many, most_runs=6)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_runs_are_written_as_their_suffix_says(suffix: str, tmp_path: Path) -> None:
    rows = [
        row(0, 0.1 + 0.2, causes=["contact", "drift"]),
        row(1, causes=[]),
        row(2, verdict="none", failure='a "b", c'),
    ]
    path = tmp_path / f"runs{suffix}"
    study = Study.of("coverage", rows)
    study.save(path)
    assert kind_of(path) is FileKind.STUDY
    found = pq.read_table(path) if suffix == ".parquet" else pyarrow.csv.read_csv(path)
    assert found.column_names == study.table().column_names
    assert found["mass_error"].to_pylist() == [0.1 + 0.2, 0.0, 0.0]
    assert found["failure"].to_pylist()[2] == 'a "b", c'
    assert found["causes"].to_pylist()[0] == (["contact", "drift"] if suffix == ".parquet" else "contact drift")
    with pytest.raises(InputError, match=r"written as .parquet or .csv, not 'runs.xlsx'"):
        study.save(tmp_path / "runs.xlsx")


def test_intervals_of_figures_hold_as_often_as_they_say() -> None:
    rng, held = np.random.default_rng(0), np.zeros(5)
    for _ in range(2000):
        hits = int(rng.binomial(200, 0.95))
        rare = int(rng.binomial(200, 0.01))
        together = np.sqrt(0.5) * (rng.normal(size=(200, 1)) + rng.normal(size=(200, 10)))
        shares = (np.abs(together) <= NORMAL_95).mean(axis=1)
        figures = [proportion("", "", hits, 200), proportion("", "", rare, 200), mean_share("", "", shares, 10)]
        figures += [root_mean_square("", "", rng.normal(0.0, 2.0, runs)) for runs in (200, 40)]
        for place, (figure, truth) in enumerate(zip(figures, (0.95, 0.01, 0.95, 2.0, 2.0), strict=True)):
            held[place] += figure.low <= truth <= figure.high
    assert (held / 2000 > 0.92).all(), held / 2000
    assert (held / 2000 < 0.985).all(), held / 2000
    assert (proportion("", "", 0, 50).low, proportion("", "", 50, 50).high) == (0.0, 1.0)


def test_intervals_stay_where_their_figure_can_be() -> None:
    rng = np.random.default_rng(1)
    for runs in (1, 2, 4, 8, 40):
        for _ in range(100):
            shares = rng.binomial(10, 0.96, runs) / 10
            figure = mean_share("", "", shares, 10)
            assert 0.0 <= figure.low <= figure.value <= figure.high <= 1.0
            figure = root_mean_square("", "", rng.standard_cauchy(runs))
            assert 0.0 <= figure.low <= figure.value <= figure.high
            assert (figure.low > 0.0) == (runs > 1)
    assert mean_share("", "", np.ones(8), 10).low == proportion("", "", 8, 8).low  # a run is one draw, at least
    assert mean_share("", "", np.array([]), 10).runs == root_mean_square("", "", np.array([])).runs == 0


def test_figures_count_what_they_say() -> None:
    rows = [row(0, 1.0), row(1, 3.0), row(2, 5.0), row(3, 5.0, verdict="refuted"), row(4, verdict="none")]
    covered = {figure.name: figure for figure in coverage_figures(rows)}
    assert (covered["mass"].value, covered["mass"].runs) == (0.25, 4)
    ratio = {figure.name: figure for figure in precision_figures(rows)}
    assert ratio["inertia_zz"].value == pytest.approx(np.sqrt((1 + 9 + 25 + 25) / 4))
    shares = {figure.name: figure.value for figure in robustness_figures(rows)}
    assert shares == {"wrong and trusted": 0.2, "refuted": 0.2, "no result": 0.2}
    partial = [*rows[:3], row(5, mass_error=float("nan"), mass_deviation=float("nan"))]  # has no interval of the mass
    covered = {figure.name: figure for figure in coverage_figures(partial)}
    assert (covered["mass"].value, covered["mass"].runs, covered["inertia_xx"].runs) == (1 / 3, 3, 4)
    assert covered["all ten"].value == pytest.approx(0.5)


def test_scenarios_share_plans_and_payloads() -> None:
    noises = worse_noises(iparam.noise_preset("ur5e"))
    drawn = Experiment(experiment().plans, noises, seed=1)
    first = [drawn.drawn(index) for index in range(2 * len(noises))]
    assert [noise.name for _, noise, _, _ in first[: len(noises)]] == [noise.name for noise in noises]
    masses = [payload.parameters.mass for _, _, payload, _ in first]
    assert len(set(masses[: len(noises)])) == 1
    assert masses[0] != masses[-1]
    assert len({seed for *_, seed in first}) == len(first)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown study 'cover'"):
        run_study("cover", experiment())
    with pytest.raises(InputError, match=r"precision=0.0 must be positive"):
        run_study("coverage", experiment(), precision=0.0)
    with pytest.raises(InputError, match="most_runs=0 must be a whole number from 1"):
        run_study("coverage", experiment(), most_runs=0)
    with pytest.raises(InputError, match=r"must be two positive numbers .* got 2 1"):
        experiment(masses=(2.0, 1.0))
    with pytest.raises(InputError, match="has no noise of the wrench"):
        worse_noises(iparam.noise_preset("ideal"))
    exact = Experiment(experiment().plans, (iparam.noise_preset("ur5e"), iparam.noise_preset("ideal")))
    for kind in ("coverage", "precision"):
        with pytest.raises(InputError, match="the noise 'ideal' has none of the wrench"):
            run_study(kind, exact)


def test_a_motion_without_a_bound_is_refused_before_it_runs() -> None:
    a, b = np.zeros((2, 6, 3))
    still = WindowedFourierTrajectory(np.zeros(6), a, b, base_freq=0.5, duration=2.0)
    plans = (experiment().plans[0], Plan("still", iparam.load_robot("ur5e"), still))
    with pytest.raises(InputError, match="the plan 'still' of ur5e has no Cramer-Rao bound"):
        run_study("precision", Experiment(plans, (iparam.noise_preset("ur5e"),), rate=100.0))
