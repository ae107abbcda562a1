"""`WorkerPool`: what other processes return comes back, and the program outlives what happens to them."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iparam.errors import InputError, IparamError, UnknownNameError
from iparam.recording import Recording
from iparam.robot.loading import load_robot
from iparam.worker_pool import ONE_THREAD, WorkerEndedError, WorkerPool


@pytest.fixture(scope="module")
def pool() -> Iterator[WorkerPool]:
    with WorkerPool(1, nice=1) as made:
        yield made


def test_functions_run_elsewhere_and_their_failures_come_back(pool: WorkerPool) -> None:
    assert pool.submit(os.getpid).result(60.0) != os.getpid()
    with pytest.raises(ValueError, match="math domain error") as failed:
        pool.submit(math.sqrt, -1.0).result(60.0)
    assert "Traceback" in failed.value.__notes__[0]
    with pytest.raises(UnknownNameError, match="unknown robot 'ur55e'; did you mean") as refused:
        pool.submit(load_robot, "ur55e").result(60.0)
    assert isinstance(refused.value, LookupError)
    assert pool.submit(math.sqrt, 4.0).result(60.0) == 2.0
    assert pool.submit(Recording, robot="ur5e").result(60.0).robot == "ur5e"


def test_one_numerical_thread_a_process(pool: WorkerPool) -> None:
    for name, value in ONE_THREAD.items():
        assert pool.submit(os.getenv, name).result(60.0) == value


def test_what_cannot_be_sent_is_said(pool: WorkerPool) -> None:
    with pytest.raises(InputError, match="cannot be sent to worker processes"):
        pool.submit(lambda: 1)
    with pytest.raises(TypeError, match="cannot pickle"):
        pool.submit(open, os.devnull).result(60.0)
    assert pool.submit(math.sqrt, 4.0).result(60.0) == 2.0


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_process_that_was_killed_is_replaced_and_its_job_done_again(pool: WorkerPool) -> None:
    first = pool.submit(os.getpid).result(60.0)
    slow = pool.submit(time.sleep, 1.0)
    time.sleep(0.3)
    os.kill(first, signal.SIGKILL)
    assert slow.result(60.0) is None
    assert pool.submit(os.getpid).result(60.0) != first


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_job_that_kills_its_process_takes_no_other_with_it() -> None:
    with WorkerPool(2) as pool:
        jobs = [pool.submit(abs, -number) for number in range(3)]
        killing = pool.submit(os._exit, 1)
        jobs += [pool.submit(abs, -number) for number in range(3, 6)]
        with pytest.raises(WorkerEndedError, match="killed, or out of memory"):
            killing.result(120.0)
        assert [job.result(60.0) for job in jobs] == list(range(6))


def test_the_end_does_not_wait_for_what_is_under_way() -> None:
    pool = WorkerPool(1)
    child = pool.submit(os.getpid).result(60.0)
    slow, waiting = pool.submit(time.sleep, 60.0), pool.submit(abs, 1)
    while not slow.running():
        time.sleep(0.01)
    begin = time.monotonic()
    pool.shutdown(cancel_futures=True)
    assert time.monotonic() - begin < 30.0
    assert isinstance(slow.exception(1.0), IparamError)
    assert waiting.cancelled()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    with pytest.raises(RuntimeError):
        pool.submit(os.getpid)


@pytest.mark.parametrize("count", [0, -1, True, 1.5])
def test_no_number_of_processes(count: int) -> None:
    with pytest.raises(InputError, match="workers must be a whole number from 1"):
        WorkerPool(count)


SCRIPT = """
import os, time
from iparam.fleet import run_jobs
from iparam.worker_pool import WorkerPool
with WorkerPool(2) as pool:
    for _ in range(2):
        print(*[job.result() for job in [pool.submit(os.getpid) for _ in range(20)]], flush=True)
    for outcome in run_jobs(time.sleep, [0.2] * 10000, pool):
        pass
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_script_without_a_guard_and_its_end_leave_no_process_behind(how: signal.Signals, tmp_path: Path) -> None:
    """Ctrl-C, which a terminal sends to all of them, says nothing but the caller's."""
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    workers = {int(word) for _ in range(2) for word in process.stdout.readline().split()}
    assert 1 <= len(workers) <= 2
    if how == signal.SIGINT:
        os.killpg(process.pid, how)
    else:
        process.kill()
    _, err = process.communicate(timeout=300)
    assert err.count("Traceback") <= 1
    end = time.monotonic() + 120.0
    while any(_runs(worker) for worker in workers):
        assert time.monotonic() < end, "a worker goes on"
        time.sleep(0.1)


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
