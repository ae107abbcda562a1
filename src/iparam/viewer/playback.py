"""`Playback`: a slider, a button and a speed that move a time. It takes viser's controls and imports nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from iparam.viewer.track import FRAMES_PER_SECOND

SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "4x")
CHARTS_PER_SECOND = 6.0
"""At which the charts follow a motion that is played."""


class Playback:
    """The controls of one motion.

    Attributes:
        time: that is shown [s].
        duration: of the motion [s].
    """

    def __init__(self, gui: Any, duration: float, show: Callable[[float, bool], None]) -> None:
        """Add the controls.

        Args:
            gui: viser's controls.
            duration: of the motion [s].
            show: given a time [s], and whether the charts are to follow.
        """
        self.time, self.duration, self._show = 0.0, duration, show
        self._playing, self._stopped = threading.Event(), threading.Event()
        self._charted = 0.0
        self._slider = gui.add_slider("time [s]", min=0.0, max=duration, step=0.01, initial_value=0.0)
        self._button = gui.add_button("Play")
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1x")
        self._slider.on_update(self._moved)
        self._button.on_click(self._clicked)
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread that plays."""
        self._stopped.set()
        self._playing.set()
        self._thread.join(2.0)

    def remove(self) -> None:
        """Close, and take the controls away."""
        self.close()
        for control in (self._slider, self._button, self._speed):
            control.remove()

    def _to(self, moment: float, charts: bool) -> None:
        self.time = moment
        self._show(moment, charts)

    def _moved(self, event: Any) -> None:
        if event.client is not None:  # moved by hand, not by the player
            self._set_playing(False)
            self._to(float(self._slider.value), True)

    def _clicked(self, event: Any) -> None:
        if self.time >= self.duration - 1e-3 and not self._playing.is_set():
            self._to(0.0, True)
        self._set_playing(not self._playing.is_set())

    def _set_playing(self, wanted: bool) -> None:
        (self._playing.set if wanted else self._playing.clear)()
        self._button.label = "Pause" if wanted else "Play"

    def _play(self) -> None:
        last = time.monotonic()
        while True:
            if not self._playing.is_set():
                self._playing.wait()
                last = time.monotonic()
            if self._stopped.is_set():
                return
            now = time.monotonic()
            moment = self.time + (now - last) * float(self._speed.value.removesuffix("x"))
            last, end = now, self.duration
            if moment >= end:
                moment = end
                self._set_playing(False)
            due = now - self._charted >= 1.0 / CHARTS_PER_SECOND or moment >= end
            if due:
                self._charted = now
            self._slider.value = round(moment, 2)
            self._to(moment, due)
            time.sleep(max(0.0, 1.0 / FRAMES_PER_SECOND - (time.monotonic() - now)))
