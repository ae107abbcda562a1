"""What is computed once for the same arrays, and what can be copied; checked input is tested with those who take it."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

from iparam.arrays import FloatArray, remembered
from iparam.recording.recording import Recording
from iparam.sensing.noise import noise_preset


@dataclass(frozen=True, eq=False)
class Settings:
    name: str
    values: FloatArray


BASE = (np.arange(6.0).reshape(2, 3), Settings("a", np.ones(2)), (1, None))


def test_the_same_content_is_computed_once() -> None:
    calls = []
    function = remembered(lambda *given, **named: calls.append(given) or len(calls))
    assert function(*BASE) == 1
    copies = (BASE[0].T.copy().T, replace(BASE[1], values=np.ones(2)), (1, None))
    assert function(*copies) == 1  # other objects, and another order in memory
    assert len(calls) == 1


@pytest.mark.parametrize(
    "other",
    [
        (np.nextafter(BASE[0], 9.0), *BASE[1:]),
        (BASE[0].reshape(3, 2), *BASE[1:]),
        (BASE[0].astype(np.float32), *BASE[1:]),
        (BASE[0], replace(BASE[1], name="b"), BASE[2]),
        (BASE[0], replace(BASE[1], values=np.ones(3)), BASE[2]),
        (BASE[0], BASE[1], (1, 0)),
        (BASE[0], BASE[1], (True, None)),
        (BASE[0], BASE[1], (1,), None),
    ],
)
def test_other_content_is_computed_anew(other: tuple[object, ...]) -> None:
    calls = []
    function = remembered(lambda *given: calls.append(given) or len(calls))
    function(*BASE)
    assert function(*other) == 2


def test_the_last_results_are_kept_and_failures_are_not() -> None:
    calls = []

    def function(value: float) -> float:
        calls.append(value)
        return 1.0 / value

    kept = remembered(function, most=2)
    for value in (1.0, 2.0, 1.0, 4.0, 2.0, 1.0):
        assert kept(value) == 1.0 / value
    assert calls == [1.0, 2.0, 4.0, 1.0]
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            kept(0.0)
    assert calls[-2:] == [0.0, 0.0]


def test_what_cannot_be_read_is_refused() -> None:
    with pytest.raises(TypeError, match="cannot tell the content of a object"):
        remembered(lambda value: value)(object())


def test_recordings_results_and_noise_models_can_be_copied_and_sent_to_another_process() -> None:
    recording = Recording("ur5e").with_signal("q", time=[0.0, 1.0], values=np.zeros((2, 6)))
    for copied in (copy.deepcopy(recording), pickle.loads(pickle.dumps(recording))):  # noqa: S301
        assert copied.robot == "ur5e"
        np.testing.assert_array_equal(copied.signal("q").values, recording.signal("q").values)
        with pytest.raises(TypeError):
            copied.signals["q"] = None
    noise = noise_preset("ur5e")
    assert copy.deepcopy(noise).sensors.keys() == noise.sensors.keys()
