"""Problems made of arrays and of buffers, which every estimator takes."""

from __future__ import annotations

import numpy as np
import pytest

import iparam
from iparam.errors import InputError
from iparam.estimation import METHODS, PayloadProblem, least_squares, make_estimator
from iparam.recording import DataBuffer, SensorData


@pytest.fixture(scope="module")
def filled(ur5e: iparam.Robot, load: np.ndarray, excitation: iparam.TrajectorySamples) -> DataBuffer:
    """The samples of a motion with a load, with noise."""
    A = iparam.wrench_regressor(ur5e, excitation.q, excitation.dq, excitation.ddq)
    y = A @ load + 0.02 * np.random.default_rng(0).standard_normal((len(A), 6))
    buffer = DataBuffer(len(A))
    for sample in zip(excitation.time, excitation.q, excitation.dq, excitation.ddq, y[:, :3], y[:, 3:], strict=True):
        buffer.add_sample(SensorData(*sample))
    return buffer


@pytest.mark.parametrize("method", METHODS)
def test_a_buffer_feeds_every_estimator(method: str, filled: DataBuffer, load: np.ndarray) -> None:
    problem = PayloadProblem(*filled.get_estimation_data("ur5e"), bias=False)
    found = make_estimator(method).fit(problem)
    assert found.samples == len(filled)
    assert (np.abs(found.phi - load) < 5.0 * found.standard_deviation.phi).all()


def test_a_buffer_is_identified_directly(filled: DataBuffer, load: np.ndarray) -> None:
    found = iparam.identify_payload(filled, robot="ur5e")
    whole = iparam.identify_payload(filled.to_recording(), robot="ur5e")
    np.testing.assert_array_equal(found.phi, whole.phi)
    assert (np.abs(found.phi - load) < 5.0 * found.standard_deviation.phi).all()


def test_stacked_arrays_are_the_same_problem(filled: DataBuffer) -> None:
    A, y = filled.get_estimation_data("ur5e")
    problem = PayloadProblem(A, y, bias=False)
    assert problem.A.shape == (len(filled), 6, 10)
    np.testing.assert_array_equal(problem.A, A.reshape(-1, 6, 10))
    np.testing.assert_array_equal(problem.y, y.reshape(-1, 6))
    np.testing.assert_allclose(make_estimator("ls").fit(problem).phi, least_squares(A, y), rtol=0, atol=1e-10)


def test_wrong_shapes_are_named() -> None:
    with pytest.raises(InputError, match=r"\(5, 6, 10\) and \(5, 5\)"):
        PayloadProblem(np.ones((5, 6, 10)), np.ones((5, 5)))
    with pytest.raises(InputError, match=r"time must have shape \(5,\)"):
        PayloadProblem(np.ones((5, 6, 10)), np.ones((5, 6)), np.arange(4.0))
