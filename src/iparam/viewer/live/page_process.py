"""`LivePage`: a live page in a process of its own, ``python -m iparam.viewer.live.page_process HANDLE``.

Drawing takes a core; in the process that identifies it would take that from the samples. What crosses is what is new
of a `LiveSnapshot`, 30 times a second.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection

import numpy as np

from iparam.child_process import end_child, run_child, start_child
from iparam.errors import IparamError
from iparam.robot.batching import STANDARD_GRAVITY
from iparam.robot.cell import WorkCell
from iparam.robot.model import Robot
from iparam.viewer.access import LOOPBACK, free_port
from iparam.viewer.live.page import LiveView, live_scene
from iparam.viewer.live.state import LiveSnapshot, LiveState
from iparam.viewer.panel import CHARTS_PER_SECOND
from iparam.viewer.track import FRAMES_PER_SECOND
from iparam.viewer.viser_backend import ViewServer, require_viser

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
        sent: dict[str, object] = {}
        charted = -np.inf
        while not self._stopped.is_set():
            begun = time.monotonic()
            now = self._state.snapshot() if self._state.changed.is_set() else None
            if now is not None:
                self._state.changed.clear()
                told = {name: value for name, value in vars(now).items() if name not in sent or value is not sent[name]}
                if begun - charted < 1.0 / CHARTS_PER_SECOND:
                    told.pop("history", None)
                else:
                    charted = begun
                try:
                    self._channel.send(told)
                except (OSError, ValueError):  # the page has ended, or is closed just now
                    return
                sent, self.frames = vars(now), self.frames + 1
            self._stopped.wait(max(0.001, 1.0 / FRAMES_PER_SECOND - (time.monotonic() - begun)))


def main(channel: Connection) -> None:
    """Serve the page of the process at the other end of ``channel``."""
    setup: _Setup = channel.recv()
    view = LiveView(setup.robot)
    if setup.first is not None:
        view.take(vars(setup.first))
    pose = None if setup.first is None else setup.first.q
    try:
        scene = live_scene(
            setup.robot, setup.title, pose, cell=setup.cell, gravity=setup.gravity, capsules=setup.capsules
        )
        server = ViewServer(scene, setup.host, setup.port, view)
    except IparamError as error:
        channel.send(str(error))
        return
    try:
        channel.send((server.link, tuple(server.drawing.notes)))
        while True:
            view.take(channel.recv())
    finally:
        server.close()


if __name__ == "__main__":
    run_child(main)
