"""`LivePage`: a live page in a process of its own, ``python -m iparam.viewer.live.page_process HANDLE``.

Drawing takes a core; in the process that identifies it would take that from the samples. What crosses is a
`LiveSnapshot` 30 times a second, with its long parts only where they are new.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection

import numpy as np

from iparam.arrays import FloatArray
from iparam.child_process import end_child, run_child, start_child
from iparam.errors import IparamError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.cell import WorkCell
from iparam.robot.model import Robot
from iparam.viewer.access import LOOPBACK, free_port
from iparam.viewer.live.page import CHARTS_PER_SECOND, live_view
from iparam.viewer.live.state import LiveSnapshot, LiveState
from iparam.viewer.track import FRAMES_PER_SECOND
from iparam.viewer.viser_backend import LiveServer, require_viser

_NO_HISTORY = np.zeros((0, 9))
_PATIENCE = 60.0  # for the page to be there, on a busy machine [s]


@dataclass(frozen=True, eq=False)
class _Setup:
    robot: Robot
    title: str
    cell: WorkCell | None
    gravity: tuple[float, float, float]
    capsules: bool
    host: str
    port: int
    first: LiveSnapshot | None  # the page is arranged around this pose


@dataclass(frozen=True, eq=False)
class _Update:
    """A snapshot; its history and its estimate only if they are new."""

    snapshot: LiveSnapshot
    history: bool
    estimate: bool


@dataclass
class ReceivedState:
    """What the page knows of the `LiveState` of the other process.

    Attributes:
        num_joints: n.
        changed: set whenever something came.
    """

    num_joints: int
    changed: threading.Event = field(default_factory=threading.Event)
    _snapshot: LiveSnapshot | None = None

    def take(self, update: _Update) -> None:
        """Take in what came, in place of what was known."""
        new, old = update.snapshot, self._snapshot
        if old is not None:
            new = replace(
                new,
                history=new.history if update.history else old.history,
                estimate=new.estimate if update.estimate else old.estimate,
            )
        self._snapshot = new
        self.changed.set()

    def snapshot(self) -> LiveSnapshot | None:
        """See `LiveState.snapshot`."""
        return self._snapshot

    def newest(self) -> tuple[float, FloatArray, FloatArray, float]:
        """See `LiveState.newest`."""
        now = self._snapshot
        if now is None:
            return 0.0, np.zeros(self.num_joints), np.zeros(self.num_joints), 0.0
        return now.time, now.q, now.dq, now.rate


class LivePage:
    """A page that follows a `LiveState`, served by another process until it is closed.

    Attributes:
        link: its address.
        notes: on how the arm is drawn.
        frames: that were sent to it so far.
        process_id: of its process.
    """

    def __init__(
        self,
        robot: Robot,
        state: LiveState,
        title: str,
        *,
        cell: WorkCell | None = None,
        gravity: tuple[float, float, float] = STANDARD_GRAVITY,
        capsules: bool = False,
        host: str = LOOPBACK,
        port: int | None = None,
    ) -> None:
        """Start it; it is there when this returns.

        Raises:
            IparamError: it cannot be served, or its process does not start.
        """
        require_viser()
        setup = _Setup(robot, title, cell, gravity, capsules, host, free_port(host, port), state.snapshot())
        self._state, self.frames = state, 0
        self._process, self._channel = start_child("iparam.viewer.live.page_process")
        self.process_id = self._process.pid
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._send, name="live page", daemon=True)
        try:
            self._channel.send(setup)
            answer = self._channel.recv() if self._channel.poll(_PATIENCE) else None
        except (EOFError, ConnectionError):
            answer = None
        if not isinstance(answer, tuple):
            end_child(self._process, self._channel)
            raise IparamError(answer or f"the process of the page ended too soon, with {self._process.returncode}")
        self.link: str = answer[0]
        self.notes: tuple[str, ...] = answer[1]
        self._thread.start()

    @property
    def exit_code(self) -> int | None:
        """Of its process, if that has ended by itself; else None."""
        return self._process.poll()

    def close(self) -> None:
        """End the page."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(2.0)
        end_child(self._process, self._channel)

    def _send(self) -> None:
        sent: object = None
        charted = -np.inf
        while not self._stopped.is_set():
            begun = time.monotonic()
            now = self._state.snapshot() if self._state.changed.is_set() else None
            if now is not None:
                self._state.changed.clear()
                history = begun - charted >= 1.0 / CHARTS_PER_SECOND
                estimate = now.estimate is not sent
                lean = replace(
                    now,
                    history=now.history if history else _NO_HISTORY,
                    estimate=now.estimate if estimate else None,
                )
                try:
                    self._channel.send(_Update(lean, history, estimate))
                except (OSError, ValueError):  # the page has ended, or is closed just now
                    return
                sent = now.estimate
                self.frames += 1
                charted = begun if history else charted
            self._stopped.wait(max(0.001, 1.0 / FRAMES_PER_SECOND - (time.monotonic() - begun)))


def main(channel: Connection) -> None:
    """Serve the page of the process at the other end of ``channel``."""
    setup: _Setup = channel.recv()
    state = ReceivedState(setup.robot.num_joints)
    if setup.first is not None:
        state.take(_Update(setup.first, history=True, estimate=True))
    try:
        view = live_view(
            setup.robot, state, setup.title, cell=setup.cell, gravity=setup.gravity, capsules=setup.capsules
        )
        server = LiveServer(view, state, setup.host, setup.port)
    except IparamError as error:
        channel.send(str(error))
        return
    try:
        channel.send((server.link, tuple(server.drawing.notes)))
        while True:
            state.take(channel.recv())
    finally:
        server.close()


if __name__ == "__main__":
    run_child(main)
