"""A headless browser to look at reports with."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
TIMEOUT = 60.0


@dataclass
class Page:
    """A page in a headless Chromium, driven over a pipe with the DevTools protocol."""

    sending: int
    receiving: int
    session: str = ""
    count: int = 0
    waiting: bytes = b""
    events: list[dict[str, Any]] = field(default_factory=list)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.count += 1
        message: dict[str, Any] = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.sending, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.count:
                assert "error" not in answer, answer
                return answer["result"]
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.waiting:
            ready, _, _ = select.select([self.receiving], [], [], TIMEOUT)
            assert ready, "the browser does not answer"
            part = os.read(self.receiving, 1 << 20)
            assert part, "the browser has ended"
            self.waiting += part
        message, _, self.waiting = self.waiting.partition(b"\0")
        return json.loads(message)

    def open(self, path: Path, width: int, height: int = 800) -> None:
        """Show a file in a window of that size [CSS pixels]."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        deadline = time.monotonic() + TIMEOUT
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            assert time.monotonic() < deadline
            self.events.append(self._next())

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def problems(self) -> list[Any]:
        """What the page has complained about, and everything it has asked the network for, since it was opened."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Network.requestWillBeSent")
        found = [event for event in self.events if event.get("method") in kinds]
        return [
            event["params"]
            for event in found
            if not event["params"].get("request", {}).get("url", "").startswith(("file:", "data:"))
        ]

    def screenshot(self, path: Path) -> None:
        """The whole page as a picture."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, path: Path) -> None:
        """The page as it is printed."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"]))


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    program = next((found for name in NAMES if (found := shutil.which(name))), None)
    if program is None or os.name != "posix":
        pytest.skip(f"needs one of {', '.join(NAMES)} on the path")
    to_browser, from_browser = os.pipe(), os.pipe()
    folder = tmp_path_factory.mktemp("chromium")
    options = "--headless=new --no-sandbox --disable-gpu --disable-background-networking --no-first-run"
    # The protocol wants the pipe at 3 and 4; the shell puts it there.
    script = f'exec "$0" {options} --remote-debugging-pipe "$@" 3<&{to_browser[0]} 4>&{from_browser[1]}'
    process = subprocess.Popen(
        ["bash", "-c", script, program, f"--user-data-dir={folder}", "about:blank"],
        pass_fds=(to_browser[0], from_browser[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser[0])
    os.close(from_browser[1])
    page = Page(to_browser[1], from_browser[0])
    try:
        target = page.call("Target.createTarget", url="about:blank")["targetId"]
        page.session = page.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        yield page
        page.session = ""
        page.call("Browser.close")
    finally:
        os.close(to_browser[1])
        os.close(from_browser[0])
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
