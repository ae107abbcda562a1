"""Messages without stamps: no set ever mixes two samples, whatever is lost, sent twice or sent late, and by whom."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from iparam.bridges.ros2.matching.array_sets import ArraySet, ArraySets

NAMES = ("positions", "velocities", "accelerations")
PERIOD = 2_000_000
START = 1_700_000_000_000_000_000
COUNT = 400
Event = tuple[int, int, str, int]
"""When a message arrives and was sent [ns], of which topic, and of which sample."""


def stream(random: np.random.Generator, jitter: float = 0.1, count: int = COUNT) -> list[Event]:
    """Three messages a period within some 0.1 ms, in any order, the period uneven."""
    found = []
    for k in range(count):
        at = START + round(PERIOD * (k + jitter * random.uniform(-1.0, 1.0)))
        for name, delay in zip(NAMES, random.uniform(0.0, 100_000, 3), strict=True):
            found.append((at + round(delay), at + round(delay), name, k))
    return found


def values(name: str, sample: int) -> np.ndarray:
    return np.array([NAMES.index(name), sample], dtype=float)


def play(events: list[Event]) -> tuple[ArraySets, list[ArraySet]]:
    sets, found = ArraySets(NAMES), []
    for _, sent, name, sample in sorted(events):
        sets.add(name, sent, values(name, sample))
        found += sets.take()
    return sets, found + sets.take(silence=1.0)


def samples(found: list[ArraySet]) -> list[int]:
    """Of the sets, each of which has to be one sample's."""
    for each in found:
        assert [row[0] for row in each.values] == [0, 1, 2]
        assert len({row[1] for row in each.values}) == 1, each.values
    return [int(each.values[0][1]) for each in found]


def test_nothing_is_wrong() -> None:
    sets, found = play(stream(np.random.default_rng(0)))
    assert samples(found) == list(range(COUNT))
    assert all(vars(counts) == {"received": COUNT, "refused": 0, "duplicated": 0, "dropped": 0} for counts in
               sets.counts.values())  # fmt: skip


@pytest.mark.parametrize("broken", NAMES)
def test_lost_messages(broken: str) -> None:
    """The first of all, single ones, two in a row, a dozen in a row."""
    lost = {0, 30, 31, 60, 90, *range(120, 132), 200, 202, COUNT - 1}
    events = [event for event in stream(np.random.default_rng(1)) if event[2] != broken or event[3] not in lost]
    sets, found = play(events)
    assert samples(found) == [k for k in range(COUNT) if k not in lost]
    sets.add(broken, START + 10 * COUNT * PERIOD, values(broken, 0))  # so late that all before it is forgotten
    sets.take(silence=1.0)
    dropped = {name: counts.dropped for name, counts in sets.counts.items()}
    assert dropped == {name: 0 if name == broken else len(lost) for name in NAMES}


@pytest.mark.parametrize("broken", NAMES)
def test_doubled_messages(broken: str) -> None:
    random = np.random.default_rng(2)
    events = stream(random)
    again = [(at + 30_000, sent + 30_000, name, k) for at, sent, name, k in events if name == broken and k % 7 == 0]
    sets, found = play(events + again)
    assert samples(found) == list(range(COUNT))
    assert sets.counts[broken].duplicated == len(again)


def test_all_messages_doubled() -> None:
    events = stream(np.random.default_rng(3))
    _, found = play(events + [(at + 30_000, sent + 30_000, name, k) for at, sent, name, k in events])
    assert samples(found)[3:] == list(range(COUNT))[-len(found) :][3:]
    assert len(found) > COUNT - 5  # while the period is not known yet, some are dropped


@pytest.mark.parametrize("broken", NAMES)
def test_messages_that_come_in_another_order(broken: str) -> None:
    """They were sent in time, and every ninth is overtaken by the next two; or all come later than other topics'."""
    events = stream(np.random.default_rng(4))
    overtaken = set(range(10, COUNT - 10, 9))
    _, found = play([(at + 5 * PERIOD // 2 * (name == broken and k in overtaken), sent, name, k)
                     for at, sent, name, k in events])  # fmt: skip
    assert set(samples(found)) >= set(range(COUNT)) - overtaken
    _, found = play([(at + 20 * PERIOD * (name == broken), sent, name, k) for at, sent, name, k in events])
    assert samples(found) == list(range(COUNT))


@pytest.mark.parametrize("periods", [1, 2, 7])
@pytest.mark.parametrize("broken", NAMES)
def test_messages_that_are_sent_late(broken: str, periods: int) -> None:
    """Together with those of a later sample, before or after them: nothing tells which is which, so neither is used."""
    late = set(range(20, COUNT - 20, 17))
    random = np.random.default_rng(5)
    events = []
    for at, sent, name, k in stream(random):
        delay = periods * PERIOD + round(random.uniform(-100_000, 100_000)) if name == broken and k in late else 0
        events.append((at + delay, sent + delay, name, k))
    _, found = play(events)
    unusable = late | {k + periods for k in late}
    assert samples(found) == [k for k in range(COUNT) if k not in unusable]


@pytest.mark.parametrize("seed", range(20))
def test_everything_at_once(seed: int) -> None:
    """Of each topic 3 % lost, 3 % doubled, 3 % under way for longer; the period uneven by a fifth."""
    random = np.random.default_rng(seed)
    events: list[Event] = []
    for at, sent, name, k in stream(random, jitter=0.2):
        fate = random.uniform()
        if fate >= 0.03:
            events.append((at + (3 * PERIOD if fate > 0.97 else 0), sent, name, k))
        if 0.03 <= fate < 0.06:
            events.append((at + 50_000, sent + 50_000, name, k))
    _, found = play(events)
    assert len(found) > 0.75 * COUNT
    assert samples(found) == sorted(set(samples(found)))


def test_as_fast_as_possible_nothing_tells_samples_apart() -> None:
    """Messages at even distances, one of them lost: from there on any set would be a guess."""
    events = [(START + 30_000 * i, START + 30_000 * i, NAMES[i % 3], i // 3) for i in range(300) if i != 60]
    _, found = play(events)
    assert found == []


@pytest.mark.parametrize("second", [lambda k: 0, lambda k: k])
def test_publishers_that_know_nothing_of_each_other(second: Callable[[int], int]) -> None:
    """A state that stands still may come by three commands, at any time; one that changes may not."""
    sets, found = ArraySets(NAMES), []
    for k in range(30):
        for i, phase in enumerate((0.0, 0.4, 0.7)):
            sets.add(NAMES[i], START + round(1e9 * (k + phase)), np.array([i, second(k) if i == 1 else 0.0]))
            found += sets.take()
    constant = second(1) == 0
    assert len(found) >= 27 if constant else not found


def test_one_state_alone_and_a_clock_that_is_set_back() -> None:
    sets = ArraySets(NAMES)
    for start, sample in ((START, 1), (START - 10**12, 2)):
        for i, name in enumerate(NAMES):
            sets.add(name, start + 200_000 * i, values(name, sample))
            assert sets.take() == []
        assert samples(sets.take(silence=0.3)) == [sample]
