"""Examinations in another process: what they return comes back, and the program outlives what happens to it."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Iterator

import pytest

from iparam.errors import IparamError
from iparam.estimation.online.examining_process import ExaminingProcess


@pytest.fixture(scope="module")
def process() -> Iterator[ExaminingProcess]:
    made = ExaminingProcess()
    yield made
    made.shutdown(cancel_futures=True)


def test_functions_run_elsewhere_and_their_failures_are_told(process: ExaminingProcess) -> None:
    assert process.submit(os.getpid).result(30.0) != os.getpid()
    with pytest.raises(IparamError, match="ValueError: math domain error"):
        process.submit(math.sqrt, -1.0).result(30.0)
    assert process.submit(math.sqrt, 4.0).result(30.0) == 2.0


def test_a_process_that_was_ended_is_started_anew(process: ExaminingProcess) -> None:
    first = process.submit(os.getpid).result(30.0)
    os.kill(first, signal.SIGKILL)
    assert process.submit(os.getpid).result(30.0) != first


def test_the_end_does_not_wait_for_what_is_examined() -> None:
    process = ExaminingProcess()
    child = process.submit(os.getpid).result(30.0)
    slow = process.submit(time.sleep, 60.0)
    begin = time.monotonic()
    process.shutdown(cancel_futures=True)
    assert time.monotonic() - begin < 30.0
    assert slow.cancelled() or isinstance(slow.exception(1.0), IparamError)
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    with pytest.raises(RuntimeError):
        process.submit(os.getpid)
