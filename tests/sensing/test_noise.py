"""Each part of the noise has the statistics that it claims, and a seed gives it again bit for bit."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from iparam.errors import InputError, UnknownNameError
from iparam.recording import Recording, Signal
from iparam.sensing.force_torque import ForceTorqueSensor, wrist_range_remarks
from iparam.sensing.noise import NoiseModel, SensorNoise, noise_preset, noise_presets

RATE, COUNT = 500.0, 20_000
TIME = np.arange(COUNT) / RATE


def recording(wrench: np.ndarray | None = None) -> Recording:
    values = np.zeros((COUNT, 6)) if wrench is None else wrench
    q = np.column_stack([np.sin(TIME + i) for i in range(6)])
    signals = {
        "q": Signal(TIME, q, "rad", "joint"),
        "dq": Signal(TIME, np.gradient(q, TIME, axis=0), "rad/s", "joint"),
        "target_q": Signal(TIME, q, "rad", "joint"),
        "wrench": Signal(TIME, values, "N, N m", "tool0"),
        "accelerometer": Signal(TIME, np.zeros((COUNT, 3)), "m/s^2", "tool0"),
        "gyro": Signal(TIME, np.zeros((COUNT, 3)), "rad/s", "tool0"),
    }
    return Recording(robot="ur5e", signals=signals, metadata={"source": "test"})


def distorted(noise: SensorNoise, values: np.ndarray | None = None, seed: int = 7) -> Signal:
    return NoiseModel("mine", {"wrench": noise}).apply(recording(values), seed).signals["wrench"]


def assert_std(samples: np.ndarray, std: float) -> None:
    """The sample variance lies within the chi-squared bounds of one draw in 100,000."""
    low, high = stats.chi2.ppf([5e-6, 1.0 - 5e-6], samples.size - 1)
    assert low < (samples.size - 1) * samples.var(ddof=1) / std**2 < high


class TestParts:
    def test_white(self) -> None:
        levels = (0.5, 0.5, 0.5, 0.05, 0.05, 0.05)
        values = distorted(SensorNoise(white=levels)).values
        for column, std in zip(values.T, levels, strict=True):
            assert_std(column, std)
            assert abs(column.mean()) < 5.0 * std / math.sqrt(COUNT)
            assert abs(np.corrcoef(column[1:], column[:-1])[0, 1]) < 5.0 / math.sqrt(COUNT)
            assert stats.kstest(column / std, "norm").pvalue > 1e-5
        assert np.abs(np.corrcoef(values.T) - np.eye(6)).max() < 5.0 / math.sqrt(COUNT)

    def test_bias_is_the_same_in_every_run(self) -> None:
        for seed in (1, 2):
            values = distorted(SensorNoise(bias=(1.0, -2.0, 0.0, 0.0, 0.5, 0.0)), seed=seed).values
            np.testing.assert_array_equal(values, np.tile([1.0, -2.0, 0.0, 0.0, 0.5, 0.0], (COUNT, 1)))

    def test_bias_range_is_drawn_for_every_run(self) -> None:
        noise, drawn = SensorNoise(bias_range=2.0), []
        for seed in range(200):
            signal = Signal(TIME[:2], np.zeros((2, 6)), "N, N m", "tool0")
            values = noise.distort("wrench", signal, seed).values
            np.testing.assert_array_equal(values[0], values[1])
            drawn.append(values[0])
        assert stats.kstest(np.ravel(drawn), stats.uniform(-2.0, 4.0).cdf).pvalue > 1e-3

    def test_drift_is_a_random_walk(self) -> None:
        values = distorted(SensorNoise(drift=0.3)).values
        np.testing.assert_array_equal(values[0], 0.0)
        steps = np.diff(values, axis=0).ravel()
        assert_std(steps, 0.3 / math.sqrt(RATE))
        ends = [distorted(SensorNoise(drift=0.3), seed=seed).values[-1] for seed in range(10)]
        assert_std(np.ravel(ends), 0.3 * math.sqrt(TIME[-1]))

    def test_quantum(self) -> None:
        true = np.random.default_rng(0).normal(0.0, 5.0, (COUNT, 6))
        values = distorted(SensorNoise(quantum=0.25), true).values
        np.testing.assert_array_equal(values, np.round(values / 0.25) * 0.25)
        assert np.abs(values - true).max() <= 0.125
        assert np.std(values - true) == pytest.approx(0.25 / math.sqrt(12.0), rel=0.02)

    def test_limit(self) -> None:
        true = np.random.default_rng(0).normal(0.0, 40.0, (COUNT, 6))
        values = distorted(SensorNoise(limit=(50.0,) * 3 + (10.0,) * 3, quantum=0.3), true).values
        assert np.abs(values[:, :3]).max() == 50.0
        assert np.abs(values[:, 3:]).max() == 10.0

    def test_delay_is_stamped_honestly(self) -> None:
        true = np.column_stack([TIME] * 6)
        signal = distorted(SensorNoise(delay=0.004), true)
        np.testing.assert_array_equal(signal.values, true)
        np.testing.assert_array_equal(signal.time, TIME + 0.004)

    def test_dropouts_remove_samples(self) -> None:
        true = np.column_stack([TIME] * 6)
        signal = distorted(SensorNoise(dropout=0.1), true)
        np.testing.assert_array_equal(signal.values[:, 0], signal.time)
        assert abs(COUNT - signal.time.size - 0.1 * COUNT) < 5.0 * math.sqrt(COUNT * 0.09)

    def test_a_sensor_that_loses_nearly_all_keeps_a_sample(self) -> None:
        assert distorted(SensorNoise(dropout=1.0 - 1e-12)).time.size == 1

    def test_parts_do_not_disturb_each_other(self) -> None:
        white = distorted(SensorNoise(white=0.5)).values
        both = distorted(SensorNoise(white=0.5, bias_range=1.0, dropout=0.0, delay=0.1)).values
        np.testing.assert_allclose(np.ptp(both - white, axis=0), 0.0, atol=1e-12)


class TestModels:
    @pytest.mark.parametrize("name", noise_presets())
    def test_a_seed_gives_the_same_again_in_any_order(self, name: str) -> None:
        whole = recording()
        turned = dataclasses.replace(whole, signals=dict(reversed(whole.signals.items())))
        alone = dataclasses.replace(whole, signals={"wrench": whole.signals["wrench"]})
        first, second, third = (noise_preset(name).apply(one, 3) for one in (whole, turned, alone))
        for signal, values in first.signals.items():
            np.testing.assert_array_equal(values.values, second.signals[signal].values)
            np.testing.assert_array_equal(values.time, second.signals[signal].time)
        np.testing.assert_array_equal(first.signals["wrench"].values, third.signals["wrench"].values)

    def test_other_seeds_and_other_signals_get_other_noise(self) -> None:
        model = NoiseModel("mine", {"gyro": SensorNoise(white=1.0), "accelerometer": SensorNoise(white=1.0)})
        first, second = model.apply(recording(), 1).signals, model.apply(recording(), 2).signals
        for a, b in ((first["gyro"], second["gyro"]), (first["gyro"], first["accelerometer"])):
            assert abs(np.corrcoef(a.values[:, 0], b.values[:, 0])[0, 1]) < 5.0 / math.sqrt(COUNT)

    @pytest.mark.parametrize("name", noise_presets())
    def test_set_points_and_the_given_recording_are_untouched(self, name: str) -> None:
        whole = recording()
        before = {signal: np.array(values.values) for signal, values in whole.signals.items()}
        noisy = noise_preset(name).apply(whole, 1)
        np.testing.assert_array_equal(noisy.signals["target_q"].values, before["target_q"])
        for signal, values in before.items():
            np.testing.assert_array_equal(whole.signals[signal].values, values)

    def test_the_recording_says_how_it_was_made(self) -> None:
        noisy = noise_preset("harsh").apply(recording(), 12)
        assert noisy.metadata["noise"] == "harsh"
        assert noisy.metadata["noise_seed"] == 12
        assert noisy.metadata["source"] == "test"

    def test_ideal_changes_nothing(self) -> None:
        whole = recording()
        for name, signal in noise_preset("ideal").apply(whole, 1).signals.items():
            np.testing.assert_array_equal(signal.values, whole.signals[name].values)

    def test_ur5e_has_the_stated_figures(self) -> None:
        whole, noisy = recording(), noise_preset("ur5e").apply(recording(), 5)
        error = {name: noisy.signals[name].values - whole.signals[name].values for name in whole.signals}
        for columns, std, bias in ((slice(0, 3), 0.5, 2.0), (slice(3, 6), 0.05, 0.1)):
            for column in error["wrench"][:, columns].T:
                assert_std(column - column.mean(), std)
                assert abs(column.mean()) < bias + 5.0 * std / math.sqrt(COUNT)
        assert_std(error["q"].ravel(), 5e-5)
        assert_std(error["accelerometer"].ravel(), 0.05)

    def test_harsh_is_worse_in_everything(self) -> None:
        mild, harsh = noise_preset("ur5e").sensors, noise_preset("harsh").sensors
        assert set(harsh) == set(mild)
        for name, noise in mild.items():
            for part in ("white", "bias_range"):
                assert np.all(np.array(getattr(harsh[name], part)) >= np.array(getattr(noise, part)))
            assert np.all(np.array(harsh[name].white) > np.array(noise.white))
        wrench = harsh["wrench"]
        assert all(
            np.all(np.array(level) > 0.0) for level in (wrench.drift, wrench.quantum, wrench.delay, wrench.dropout)
        )


class TestRefusals:
    def test_an_unknown_preset(self) -> None:
        with pytest.raises(UnknownNameError, match="did you mean 'ur5e'"):
            noise_preset("ur5")

    @pytest.mark.parametrize(
        "level",
        [
            {"white": -1.0},
            {"white": math.nan},
            {"drift": math.inf},
            {"limit": -1.0},
            {"delay": -0.1},
            {"delay": math.inf},
            {"dropout": 1.0},
            {"quantum": ((1.0,), (2.0,))},
        ],
    )
    def test_impossible_levels(self, level: dict[str, float]) -> None:
        with pytest.raises(InputError, match=next(iter(level))):
            SensorNoise(**level)  # type: ignore[arg-type]

    def test_levels_for_another_number_of_columns(self) -> None:
        with pytest.raises(InputError, match="white for 2 columns, the signal has 6"):
            distorted(SensorNoise(white=(1.0, 2.0)))

    def test_noise_on_a_set_point(self) -> None:
        with pytest.raises(InputError, match="set point"):
            NoiseModel("mine", {"target_q": SensorNoise(white=1.0)})

    @pytest.mark.parametrize("seed", [-1, 1.5, "one"])
    def test_seeds(self, seed: object) -> None:
        with pytest.raises(InputError, match="seed"):
            noise_preset("ur5e").apply(recording(), seed)  # type: ignore[arg-type]


class TestForceTorqueSensor:
    def test_a_recording_near_the_range_is_reported(self) -> None:
        values = np.zeros((COUNT, 6))
        values[:200, 1], values[:, 4] = -49.0, 2.0
        (said,) = wrist_range_remarks("ur5e", recording(values))
        assert (said.code, said.values["kind"], said.values["largest"]) == ("sensor-near-range", "force", 49.0)
        assert said.values["share"] == "1 %"

    def test_a_recording_within_the_range_is_not(self) -> None:
        assert wrist_range_remarks("ur5e", recording()) == ()
        assert wrist_range_remarks("ur6", recording()) == ()

    def test_refusals(self) -> None:
        with pytest.raises(InputError, match="torque_range"):
            ForceTorqueSensor("mine", 1.0, 0.0, 1.0, 1.0, 1.0)
