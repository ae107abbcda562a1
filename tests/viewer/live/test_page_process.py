"""A live page in a process of its own: what it is told is what is known, and it ends with whoever started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pytest

import iparam
from iparam.viewer.live.page_process import LivePage
from iparam.viewer.live.state import LiveEvent, LiveState

pytest.importorskip("viser", reason="the extra viewer is not installed")

Q0 = np.array([0.3, -1.4, 1.3, -1.2, -1.5, 0.2])


def filled(count: int) -> LiveState:
    state = LiveState(6)
    for k in range(count):
        state.put(0.1 * k, Q0 + 0.01 * k, np.full(6, float(k)), None)
    state.put_event(LiveEvent(0.2, "grasp", "grasped"))
    return state


@pytest.mark.thorough
def test_it_is_served_and_its_end_is_noticed_and_holds_nobody_up(estimate: iparam.Estimate) -> None:
    robot, state = iparam.load_robot("ur5e"), filled(5)
    page = LivePage(robot, state, "test")
    state.put_result(estimate)
    state.put(0.6, Q0, np.zeros(6), None)
    try:
        assert "no meshes" in page.notes[0]
        with urllib.request.urlopen(page.link) as answer:
            assert answer.status == 200
        until(lambda: page.frames > 0)
        for k in range(4):
            state.put(1.0 + k, Q0, np.zeros(6), None)
            until(lambda sent=page.frames: page.frames > sent)  # the load does not stop it
        assert page.exit_code is None
        os.kill(page.process_id, signal.SIGKILL)
        until(lambda: page.exit_code is not None)
        state.put(9.0, Q0, np.zeros(6), None)
    finally:
        page.close()
    with pytest.raises(iparam.IparamError, match="evil"):
        LivePage(robot, state, "test", host="evil.example.invalid")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_it_ends_with_the_program_that_is_killed() -> None:
    program = (
        "import iparam, sys, time, numpy as np; from iparam.viewer.live.state import LiveState; "
        "from iparam.viewer.live.page_process import LivePage; state = LiveState(6); "
        "page = LivePage(iparam.load_robot('ur5e'), state, 'test'); print(page.process_id, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.kill()
    until(lambda: not alive(child))


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as file:  # ended, and nobody has asked how
        return file.read().rpartition(")")[2].split()[0] != "Z"


def until(condition: object) -> None:
    end = time.monotonic() + 30.0
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not come to this"
        time.sleep(0.02)
