"""Recordings with a mistake in them: is a wrong result ever trusted, is the cause named, and does its correction help?

The corpus is that of tests/mistakes: every cause at three sizes, on two arms with three loads each, sensors with the
noise of the preset ur5e. Then mistakes that no hypothesis was written for, and two at once; pairs of mistakes that are
drawn at random; a wrench that is held; small mistakes where somebody has another one estimated along; sound recordings
of loads that are drawn, which must be accused of nothing; the price in time; and spikes.

    PYTHONPATH=tests python benchmarks/bench_mistakes.py
        [--part mistakes|unlisted|pairs|held|estimates|clean|time|spikes ...] [--jobs 2] [--seeds 100] [--pairs 100]
        [--arms ur5e] [--payloads compact] [--slugs sensor-offset ...] [--once] [--details] [--summary]

The summary has a row for every claim, with its goal; with --summary it is all that is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from mistakes import log_edits as edit
from mistakes.corpus import MISTAKES, Case, Log, Mistake, case, cases
from mistakes.judgement import FAR, NUM_SHOWN, REFUSED, TOGETHER, TRUSTED, Outcome, judge, largest_error
from mistakes.pairs import pair_cases
from mistakes.unlisted import UNLISTED, unlisted_cases
from mistakes.workbench import ARMS, DRAWN, PAYLOADS, Workbench
from side_by_side import best_times, in_workers, print_table

from iparam.errors import IparamError
from iparam.estimation import identify_payload
from iparam.estimation.estimators.estimator import DEFAULT_METHOD, make_estimator
from iparam.estimation.payload.problem_from_recording import problem_from_recording
from iparam.remarks import fix_text
from iparam.sensing.correction import ESTIMABLE, Correction
from iparam.worker_pool import WorkerPool

OF_HARSH = {"delay", "low-pass", "re-zeroed", "outliers", "held-samples"}
"""What the preset harsh has of its own, delay, rounding and lost samples, by the names that they may get."""

ASIDE = np.block([[np.eye(3), np.array([[0.005], [0.004], [0.005]])], [np.zeros((1, 3)), np.ones((1, 1))]])
"""(4, 4) a sensor that is 8 mm away from the tool's origin."""

PARTS = ["mistakes", "unlisted", "pairs", "held", "estimates", "clean", "time", "spikes"]

ESTIMATED = tuple(name for name in ESTIMABLE if name not in ("delay", "low_pass"))
"""Corrections that nobody estimates unasked."""

SLOWEST = "sensor-rotation/middling@ur5e-compact"


WRONG = f"off by more than {FAR:g} standard deviations, and good or usable"

HeldJob = tuple[str, str, int, float, bool]

Claim = list[str]
"""A row of the summary: what, of how many, measured, goal."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--part", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=100, help="of sound logs, for each arm and preset; of spikes")
    parser.add_argument("--pairs", type=int, default=100, help="of mistakes that are drawn")
    parser.add_argument("--arms", nargs="*", default=list(ARMS))
    parser.add_argument("--payloads", nargs="*", default=list(PAYLOADS))
    parser.add_argument("--slugs", nargs="*", default=[])
    parser.add_argument("--once", action="store_true", help="each mistake on one arm with one load, in turn")
    parser.add_argument("--details", action="store_true", help="a line for every case")
    parser.add_argument("--summary", action="store_true", help="the summary alone")
    given = parser.parse_args()
    parts: dict[str, Callable[[], list[Claim]]] = {
        "mistakes": lambda: mistakes(given.arms, given.payloads, given.slugs, given.jobs, given.details, given.once),
        "unlisted": lambda: unlisted(given.arms, given.payloads, given.slugs, given.jobs, given.details),
        "pairs": lambda: pairs(given.arms, given.payloads, given.pairs, given.jobs, given.details),
        "held": lambda: held(given.arms, given.payloads, given.jobs, given.details),
        "estimates": lambda: estimates(given.arms, given.payloads, given.slugs, given.jobs, given.details),
        "clean": lambda: clean(given.arms, given.seeds, given.jobs),
        "time": times,
        "spikes": lambda: spikes(given.arms, min(given.seeds, 20), given.jobs),
    }
    claims = []
    for part in (part for part in PARTS if part in given.part):
        with contextlib.redirect_stdout(sys.stderr) if given.summary else contextlib.nullcontext():
            claims += [[*claim[:1], f"`{part}`", *claim[1:]] for claim in parts[part]()]
    if claims:
        print_table("Summary", ["", "part", "of", "measured", "goal"], claims)


def mistakes(
    arms: Sequence[str], payloads: Sequence[str], slugs: Sequence[str], jobs: int, details: bool, once: bool
) -> list[Claim]:
    everything = cases(arms, payloads, slugs)
    names = [each.name for each in (in_turn(everything) if once else everything)]
    outcomes = printed(spread(judged, names, jobs), details)
    rows = []
    for mistake in MISTAKES:
        if own := [one for one in outcomes if (one.slug, one.size) == (mistake.slug, mistake.size)]:
            rows.append([mistake.slug, mistake.size, mistake.what, *summary(own)])
    header = ["cause", "size", "what", "error [sd]", "verdicts", "right", "1st 2nd later not", "restored"]
    print_table(f"{len(outcomes)} logs with a mistake", header, rows)
    return conclude(outcomes)


def in_turn(everything: Sequence[Case]) -> list[Case]:
    """Each mistake on one of the workbenches in turn."""
    benches = list(dict.fromkeys(each.workbench.name for each in everything))
    turn = {
        mistake.name: benches[(index // 3 + 2 * (index % 3)) % len(benches)] for index, mistake in enumerate(MISTAKES)
    }
    return [each for each in everything if turn[each.mistake.name] == each.workbench.name]


def estimates(
    arms: Sequence[str], payloads: Sequence[str], slugs: Sequence[str], jobs: int, details: bool
) -> list[Claim]:
    """Small mistakes, on one workbench each, with each correction estimated along in turn, mostly the wrong one."""
    small = [each.name for each in in_turn(cases(arms, payloads, slugs)) if each.mistake.size == "small"]
    jobs_of = [(name, field) for name in small for field in ESTIMATED]
    outcomes = []
    for (name, field), (verdict, off) in zip(jobs_of, spread(with_estimate, jobs_of, jobs), strict=True):
        outcomes.append((field, verdict, off))
        if details or (verdict in TRUSTED and off > FAR):
            print(f"{name:46s} {field:16s} {verdict:8s} {off:9.1f} sd", flush=True)
    rows = []
    for field in ESTIMATED:
        own = [(verdict, off) for one, verdict, off in outcomes if one == field]
        verdicts = Counter(verdict for verdict, _ in own).most_common()
        largest = max((off for verdict, off in own if verdict in TRUSTED), default=0.0)
        rows.append([field, ", ".join(f"{count} {verdict}" for verdict, count in verdicts), f"{largest:.1f}"])
    print_table(
        "Small mistakes, with something estimated along", ["estimated", "verdicts", "largest trusted [sd]"], rows
    )
    wrong = sum(verdict in TRUSTED and off > FAR for _, verdict, off in outcomes)
    print(f"\noff by more than {FAR:g} sd and good or usable: {wrong} of {len(outcomes)} (must be 0)")
    largest = max((off for _, verdict, off in outcomes if verdict in TRUSTED), default=0.0)
    what = f"small mistakes, with each of {len(ESTIMATED)} corrections estimated along in turn, mostly the wrong one"
    return [[f"{what}: {WRONG}", str(len(outcomes)), f"{wrong} (largest trusted {largest:.1f})", "0"]]


def with_estimate(job: tuple[str, str]) -> tuple[str, float]:
    """Verdict and largest error, in standard deviations."""
    name, field = job
    log, correction = case(name).log(), Correction.from_document({field: "estimate"})
    try:
        found = identify_payload(log.recording, log.robot, correction=correction, tolerances="exact")
    except IparamError:
        return REFUSED, float("nan")
    return str(found.assessment["verdict"]), largest_error(found, log.loads)


def unlisted(
    arms: Sequence[str], payloads: Sequence[str], slugs: Sequence[str], jobs: int, details: bool
) -> list[Claim]:
    """Mistakes that nobody thought of: is any wrong result trusted?"""
    names = [each.name for each in unlisted_cases(arms, payloads) if not slugs or each.mistake.slug in slugs]
    outcomes = printed(spread(judged_unlisted, names, jobs), details)
    rows = []
    for mistake in UNLISTED:
        if own := [one for one in outcomes if one.slug == mistake.slug]:
            first = Counter(one.causes[0] for one in own if one.causes).most_common(2)
            rows.append([mistake.what, *summary(own)[:3], ", ".join(slug for slug, _ in first)])
    header = ["what", "error [sd]", "verdicts", "right", "named first"]
    print_table(f"{len(outcomes)} logs with a mistake that is on no list", header, rows)
    return [tell_wrong_and_trusted(outcomes, "mistakes that are on no list")]


def pairs(arms: Sequence[str], payloads: Sequence[str], count: int, jobs: int, details: bool) -> list[Claim]:
    """Two mistakes at once, drawn at random: is any wrong result trusted?"""
    numbers = [(number, tuple(arms), tuple(payloads)) for number in range(count)]
    outcomes = printed(spread(judged_pair, numbers, jobs), details)
    rows = [[verdict, str(number)] for verdict, number in Counter(one.verdict for one in outcomes).most_common()]
    print_table(f"{len(outcomes)} logs with two mistakes", ["verdict", "logs"], rows)
    return [tell_wrong_and_trusted(outcomes, "two mistakes at once, drawn at random")]


def judged_pair(job: tuple[int, tuple[str, ...], tuple[str, ...]]) -> Outcome:
    number, arms, payloads = job
    return judge(pair_cases(1, arms, payloads, first=number)[0])


def held(arms: Sequence[str], payloads: Sequence[str], jobs: int, details: bool) -> list[Claim]:
    """A wrench that is held, sound or with a sensor 8 mm aside, in whole logs and in short ones."""
    jobs_of = held_jobs(arms, payloads)
    outcomes = printed(spread(judged_held, jobs_of, jobs), details)
    claims = []
    for text, own in (("sound", outcomes[::2]), ("8 mm aside", outcomes[1::2])):
        print(f"\nheld, {text}: {dict(Counter(one.verdict for one in own))}")
        claims.append(tell_wrong_and_trusted(own, f"a wrench that is held, in logs of 1.5, 3 and 10 s, sensor {text}"))
    return claims


def held_jobs(arms: Sequence[str] = ARMS, payloads: Sequence[str] = PAYLOADS) -> list[HeldJob]:
    """Arm, load, new every so many samples, length [s], and whether the sensor is aside."""
    return [
        (arm, payload, every, seconds, aside)
        for arm in arms
        for payload in payloads
        for every in (10, 25, 50, 100)
        for seconds in (1.5, 3.0, 10.0)
        for aside in (False, True)
    ]


def judged_held(job: HeldJob) -> Outcome:
    return judge(held_case(job))


def held_case(job: HeldJob) -> Case:
    """Part of a recording whose wrench is held."""
    arm, payload, every, seconds, aside = job
    random = np.random.default_rng([every, round(10 * seconds)])
    start = random.uniform(0.0, 10.0 - seconds)

    def make(bench: Workbench) -> Log:
        recording = edit.held(bench.measured(**({"sensor_pose": ASIDE} if aside else {})), every)
        for name in ("q", "wrench"):
            signal = recording.signal(name)
            kept = (signal.time >= start) & (signal.time <= start + seconds)
            recording = recording.with_signal(name, time=signal.time[kept], values=signal.values[kept])
        return Log(recording, bench.robot, (bench.load,))

    what = f"new every {every} samples, {seconds:g} s{', 8 mm aside' if aside else ''}"
    slug = f"held-{every}-{seconds:g}{'-aside' if aside else ''}"
    return Case(Mistake(slug, "middling", what, make), Workbench(arm, payload, seed=50_000 + every))


def printed(outcomes: Iterable[Outcome], details: bool) -> list[Outcome]:
    """All of them, each with a line as it comes if asked for."""
    kept = []
    for outcome in outcomes:
        kept.append(outcome)
        if details:
            print(line(outcome), flush=True)
    return kept


def tell_wrong_and_trusted(outcomes: Sequence[Outcome], what: str) -> Claim:
    """Print those that break the law, and return the row of the summary."""
    wrong = [one for one in outcomes if one.breaks_the_law]
    print(f"\noff by more than {FAR:g} sd and good or usable: {len(wrong)} of {len(outcomes)} (must be 0)")
    for one in wrong:
        print(f"    {line(one)}")
    verdicts = ", ".join(f"{count} {word}" for word, count in Counter(one.verdict for one in outcomes).most_common())
    return [f"{what}: {WRONG}", str(len(outcomes)), f"{len(wrong)} ({verdicts})", "0"]


def judged_unlisted(name: str) -> Outcome:
    return judge(next(each for each in unlisted_cases() if each.name == name))


def conclude(outcomes: Sequence[Outcome]) -> list[Claim]:
    """The sentences of the proof."""
    claim = tell_wrong_and_trusted(outcomes, "every cause at three sizes")
    told = [one for one in outcomes if not one.harmless]
    named = [one for one in outcomes if 1 <= one.rank <= 2]
    print(
        f"cause among the first two: {share([one for one in named if not one.harmless], told)} of the logs whose "
        f"result is not both trusted and right (goal 85 %); {share(named, outcomes)} of all logs"
    )
    offered = [one for one in named if one.fix]
    print(
        f"correction brings it back into its interval: {share([one for one in offered if one.is_restored], offered)} "
        f"of those with the cause named and a correction (goal 90 %); good or usable then: "
        f"{share([one for one in offered if one.believed], offered)}; restored, and trusted: "
        f"{share([one for one in offered if one.believed and one.is_restored], offered)}"
    )
    seconds = [one.seconds for one in outcomes]
    print(f"seconds of an identification with its causes: median {np.median(seconds):.2f}, largest {max(seconds):.2f}")
    first_two = percent([one for one in named if not one.harmless], told)
    restored = percent([one for one in offered if one.is_restored], offered)
    back = f"its correction brings all ten numbers back to within {TOGETHER:g} standard deviations"
    return [
        claim,
        [
            "cause among the first two, where the result is not both right and trusted",
            str(len(told)),
            first_two,
            "85 %",
        ],
        [back, str(len(offered)), restored, "90 %"],
    ]


def judged(name: str) -> Outcome:
    return judge(case(name))


def summary(outcomes: Sequence[Outcome]) -> list[str]:
    verdicts = Counter(one.verdict for one in outcomes)
    ranks = Counter(min(one.rank, 3) for one in outcomes)
    offered = [one for one in outcomes if one.fix]
    largest = np.nanmax([one.error for one in outcomes] + [0.0])
    return [
        f"{largest:.3g}",
        ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()),
        str(sum(one.harmless for one in outcomes)),
        " ".join(str(ranks[place]) for place in (1, 2, 3, 0)),
        f"{sum(one.is_restored for one in offered)} of {len(offered)}" if offered else "",
    ]


def line(one: Outcome) -> str:
    after = f" -> {one.restored:.1f} sd with {fix_text(one.fix)}" if one.fix else ""
    mark = " WRONG AND TRUSTED" if one.breaks_the_law else ""
    return f"{one.name:46s} {one.verdict:8s} {one.error:9.1f} sd  {', '.join(one.causes[:4]) or '-'}{after}{mark}"


def percent(some: Sequence[Any], of: Sequence[Any]) -> str:
    return f"{100.0 * len(some) / max(len(of), 1):.1f} %"


def share(some: Sequence[Any], of: Sequence[Any]) -> str:
    return f"{100.0 * len(some) / max(len(of), 1):.1f} % ({len(some)} of {len(of)})"


def clean(arms: Sequence[str], seeds: int, jobs: int) -> list[Claim]:
    """Sound logs: how many are accused of something."""
    rows = []
    accusations: dict[str, list[bool]] = {}
    kept: dict[str, list[bool]] = {}
    for arm in arms:
        for noise in ("ideal", "ur5e", "harsh"):
            jobs_of = [(arm, noise, seed) for seed in range(seeds)]
            found, within = zip(*spread(accused, jobs_of, jobs), strict=True)
            others = [named for named in found if set(named) - (OF_HARSH if noise == "harsh" else set())]
            counts = Counter(slug for named in found for slug in named)
            named = ", ".join(f"{slug} {count}" for slug, count in counts.most_common())
            held = share([one for one in within if one], within)
            accusations.setdefault(noise, []).extend(named in others for named in found)
            kept.setdefault(noise, []).extend(within)
            rows.append([arm, noise, str(seeds), share(others, found), named, held])
            print(f"{arm} {noise}: falsely accused {rows[-1][3]}", flush=True)
    header = ["arm", "noise", "logs", "falsely accused", "named", "all ten in their intervals"]
    print_table("Sound logs (goal: at most 1 %; harsh: of its own faults only)", header, rows)
    usual, harsh = [*accusations["ideal"], *accusations["ur5e"]], accusations["harsh"]
    drawn = "a load drawn for each, on " + " and ".join(arms)
    sound = f"sound recordings accused of something, `ideal` and `ur5e`, {drawn}"
    return [
        [sound, str(len(usual)), str(sum(usual)), "1 %"],
        [
            "the same, `harsh`, of other than its delay (or low-pass) and rounding",
            str(len(harsh)),
            str(sum(harsh)),
            "1 %",
        ],
        [
            f"all ten numbers of these within {TOGETHER:g} standard deviations: {'; '.join(f'`{n}`' for n in kept)}",
            f"{len(harsh)} each",
            "; ".join(f"{100.0 * np.mean(own):.1f} %" for own in kept.values()),
            "95 %",
        ],
    ]


def accused(job: tuple[str, str, int]) -> tuple[tuple[str, ...], bool]:
    """What a sound log is accused of, causes or a refuted result; and whether its intervals hold the load."""
    arm, noise, seed = job
    bench = Workbench(arm, DRAWN, seed=10_000 + seed, noise=noise)  # without noise, seeds would all be one log
    found = identify_payload(bench.sound, bench.robot, tolerances="exact")
    assessment, within = found.assessment, largest_error(found, (bench.load,), NUM_SHOWN) <= TOGETHER
    named = tuple(cause["cause"] for cause in assessment["causes"])
    return (*named, "refuted") if assessment["verdict"] == "refuted" else named, within


def times() -> list[Claim]:
    """What verdict and causes cost, beside the same estimate without them."""
    bench, wrong = Workbench("ur5e", "compact"), case(SLOWEST).log()
    estimator = make_estimator(DEFAULT_METHOD)
    rivals: dict[str, Callable[[], object]] = {
        "estimate alone, good log": lambda: estimator.fit(problem_from_recording(bench.sound, bench.robot)),
        "with its verdict, good log": lambda: identify_payload(bench.sound, bench.robot, tolerances="exact"),
        "estimate alone, wrong log": lambda: estimator.fit(problem_from_recording(wrong.recording, wrong.robot)),
        "with verdict and causes, wrong log": lambda: identify_payload(
            wrong.recording, wrong.robot, tolerances="exact"
        ),
    }
    best = best_times(rivals, rounds=7)
    rows = [[name, f"{1e3 * seconds:.0f}"] for name, seconds in best.items()]
    print_table("10 s at 500 Hz", ["", "ms"], rows)
    alone, judged_too, wrong_alone, explained = best.values()
    print(f"\na good log pays {1e3 * (judged_too - alone):.0f} ms, {judged_too / alone:.2f} times (goal 50 ms)")
    print(f"causes take {explained - wrong_alone:.2f} s, {explained / wrong_alone:.1f} times (goal 3 s)")
    costs = f"what the verdict costs a good recording, 10 s at 500 Hz, beside {1e3 * alone:.0f} ms"
    return [
        [costs, "", f"{1e3 * (judged_too - alone):.0f} ms", "50 ms"],
        ["the causes of a wrong one", "", f"{explained - wrong_alone:.2f} s", "3 s"],
    ]


def spikes(arms: Sequence[str], seeds: int, jobs: int) -> list[Claim]:
    """Errors with spikes, in those without: root mean squares over the seeds, of each of the ten parameters."""
    rows = []
    for percentage, size in ((0.1, 50.0), (1.0, 50.0), (1.0, 5.0), (5.0, 200.0)):
        cells = []
        for arm in arms:
            jobs_of = [(arm, percentage, size, seed) for seed in range(seeds)]
            clean_rms, rms = np.sqrt(np.mean(np.square(list(spread(errors_of_spikes, jobs_of, jobs))), axis=0))
            ratio = rms / clean_rms
            cells.append(f"{np.median(ratio):.2f}, {ratio.max():.2f}")
        rows.append([f"{percentage:g} % of {size:g} N", *cells])
    title = f"Errors with spikes, in those without: median and worst of the parameters, {seeds} seeds (goal 1.1)"
    print_table(title, ["spikes", *arms], rows)
    return []


def errors_of_spikes(job: tuple[str, float, float, int]) -> np.ndarray:
    """(2, 10) errors without spikes and with them."""
    arm, percent, size, seed = job
    bench = Workbench(arm, "compact", seed=20_000 + seed)
    spiked = edit.spikes(bench.sound, percent / 100.0, size, bench.random)
    return np.array(
        [identify_payload(one, bench.robot, tolerances="exact").phi - bench.load.phi for one in (bench.sound, spiked)]
    )


def spread(work: Callable[[Any], Any], jobs_of: Iterable[Any], jobs: int) -> Iterator[Any]:
    """The results in order, by ``jobs`` processes."""
    if jobs == 1:
        yield from map(work, jobs_of)
        return
    with WorkerPool(jobs) as pool:
        yield from in_workers(work, jobs_of, pool)


if __name__ == "__main__":
    main()
