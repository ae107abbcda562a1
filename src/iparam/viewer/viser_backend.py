"""The one place that imports viser: the server of a page, who may see it, and a scene as one file."""

from __future__ import annotations

import contextlib
import io
import threading
from collections.abc import Iterator
from http import HTTPStatus
from itertools import pairwise
from typing import Any

import numpy as np

from iparam.arrays import FloatArray
from iparam.errors import IparamError, MissingExtraError
from iparam.viewer.access import LOOPBACK, Access, Decision, free_port
from iparam.viewer.drawing import Drawing, upright
from iparam.viewer.link_meshes import MOST_TRIANGLES
from iparam.viewer.panel import PagePanel
from iparam.viewer.source import PageSource
from iparam.viewer.view import View

try:
    import viser
    from websockets.asyncio import server as sockets
except ImportError:  # the extra is not installed; `require_viser` says so
    viser = None  # type: ignore[assignment,unused-ignore]

VIEWPOINT = np.array([1.45, 0.95, 0.65])
"""Where the camera is, forwards, to the left and up, in half sizes of what is to be seen."""

_STARTING = threading.Lock()


def require_viser() -> Any:
    """The module `viser`.

    Raises:
        MissingExtraError: it is not installed.
    """
    if viser is None:
        raise MissingExtraError("viser", "viewer")
    return viser


class ViewServer:
    """A page with a view, served until it is closed.

    Args:
        view: the scene.
        host, port: where it is served; the first free port without one.
        source: that the page follows; the view itself without one.

    Attributes:
        link: its address.
        panel: its controls.
    """

    def __init__(
        self, view: View, host: str = LOOPBACK, port: int | None = None, source: PageSource | None = None
    ) -> None:
        access = Access.to(host)
        self._server = _start(access, free_port(host, port))
        try:
            self._server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
            self._server.gui.set_panel_label(view.title)
            self._server.gui.main_panel.dock_right()
            self.drawing = Drawing(self._server.scene, view, MOST_TRIANGLES)
            # What is followed will move from where it is now.
            _aim(self._server, self.drawing, 0.8 * view.robot.reach if source is not None and view.robot else 0.0)
            self.link = access.link(int(self._server.get_port()))
            self.panel = PagePanel(self._server, self.drawing, view if source is None else source)
        except BaseException:
            _stop(self._server)
            raise
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self.panel.run, args=(self._stopped,), daemon=True)
        self._thread.start()

    def complete(self) -> None:
        """Add what takes seconds to compute: see `View.complete`."""
        self.panel.take(self.drawing.view.complete())

    def close(self) -> None:
        """End the server."""
        self._stopped.set()
        self._thread.join(2.0)
        _stop(self._server)


def scene_page(view: View, times: FloatArray, most_triangles: int) -> tuple[str, tuple[str, ...]]:
    """The scene of a complete view at some times [s], with a slider, as an HTML document that needs nothing else; and
    what there is to say about it.
    """
    server = _start(Access(LOOPBACK), free_port(LOOPBACK, 0))
    try:
        drawing = Drawing(server.scene, view, most_triangles)
        drawing.complete(view)
        _aim(server, drawing)
        drawing.show(view.moment(float(times[0])))
        serializer = server.get_scene_serializer()
        for before, moment in pairwise(times.tolist()):
            serializer.insert_sleep(moment - before)
            drawing.show(view.moment(moment))
        return str(serializer.as_html()), tuple(drawing.notes)
    finally:
        _stop(server)


def _start(access: Access, port: int) -> Any:
    """A server that nobody is told of on standard output, and that asks `access` about every request."""
    require_viser()
    with _guarded(access) as guarded, contextlib.redirect_stdout(io.StringIO()):
        server: Any = viser.ViserServer(host=access.host, port=port, verbose=False)
    if not guarded.is_set():
        _stop(server)
        raise IparamError(f"viser {viser.__version__} serves its page in another way than iparam knows: not started")
    server.request_share_url = _share_nothing
    return server


def _stop(server: Any) -> None:
    """End a server, which would say so on standard output."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def _share_nothing(*_: object, **__: object) -> None:
    """In place of viser's tunnel to a public address, which any page that is connected could ask for."""


@contextlib.contextmanager
def _guarded(access: Access) -> Iterator[threading.Event]:
    """Inside it a viser server that starts is given the rule of access; the event is set once it has taken it.

    viser has no hook for that. Its server is one call of websockets' ``serve``, made before the constructor returns.
    """
    taken = threading.Event()
    serve = sockets.serve

    def guarded_serve(*args: Any, process_request: Any = None, **options: Any) -> Any:
        def decide(connection: Any, request: Any) -> Any:
            headers = {name.lower(): value for name, value in request.headers.raw_items()}
            decision = access.decide(request.path, headers)
            if decision.status == HTTPStatus.OK:
                try:
                    return process_request(connection, request)
                except (OSError, ValueError):  # a path that no file can have
                    decision = Decision(HTTPStatus.BAD_REQUEST, reason="the request is malformed")
            answer = connection.respond(HTTPStatus(decision.status), f"{decision.reason}\n")
            answer.headers["Cache-Control"] = "no-store"
            if decision.cookie:
                answer.headers["Set-Cookie"], answer.headers["Location"] = decision.cookie, "/"
            return answer

        taken.set()
        return serve(*args, process_request=decide, **options)

    with _STARTING:
        sockets.serve = guarded_serve  # type: ignore[assignment,misc,unused-ignore]
        try:
            yield taken
        finally:
            sockets.serve = serve  # type: ignore[misc,unused-ignore]


def _aim(server: Any, drawing: Drawing, least: float = 0.0) -> None:
    """The camera in front of the arm, from the side and above, with room for a reach [m]; of a load alone, near it."""
    middle, reach = drawing.extent
    reach = max(reach, least)
    server.initial_camera.look_at = tuple(float(x) for x in middle)
    axes = upright(drawing.view.gravity)
    server.scene.set_up_direction(axes[2])
    server.initial_camera.position = tuple(float(x) for x in middle + reach * VIEWPOINT @ axes)
    server.initial_camera.up = tuple(float(x) for x in axes[2])
    server.initial_camera.near = 0.01 * reach
