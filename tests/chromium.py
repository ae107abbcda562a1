"""A real browser without a screen, for the tests of pages."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--use-angle=swiftshader",  # WebGL without a graphics card
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--disable-background-networking",
    "--no-first-run",
    "--remote-debugging-port=0",
)
WIDTH, HEIGHT = 900, 300
UNCOVERED = """
const sheet = new CSSStyleSheet();
sheet.replaceSync('.mantine-Notifications-root { display: none !important }');
document.adoptedStyleSheets = [sheet];
"""
"""In every page: viser's remark that there is no graphics card does not stand in front of what is looked at."""

PATIENCE = 120.0
"""What a page may take on a busy machine that draws without a graphics card [s]."""


class Browser:
    """Chromium, driven by its own protocol."""

    def __init__(self, folder: Path) -> None:
        from websockets.sync.client import connect

        size = f"--window-size={WIDTH},{HEIGHT}"
        self._process = subprocess.Popen(
            [str(CHROMIUM), *FLAGS, f"--user-data-dir={folder}", size, "about:blank"], stderr=subprocess.DEVNULL
        )
        port_file = folder / "DevToolsActivePort"
        self.until(lambda: port_file.exists() and "\n" in port_file.read_text())
        port = int(port_file.read_text().split()[0])
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            page = next(target for target in json.load(answer) if target["type"] == "page")
        self._socket = connect(page["webSocketDebuggerUrl"], max_size=None, ping_interval=None)
        self._number = 0
        self.events: list[dict[str, Any]] = []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.addScriptToEvaluateOnNewDocument", source=UNCOVERED)
        self.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)

    def call(self, method: str, **parameters: Any) -> Any:
        """The answer to one call of the protocol."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def until(self, condition: Any) -> Any:
        """What a condition gives, once that is true."""
        end = time.monotonic() + PATIENCE
        while not (found := condition()):
            assert time.monotonic() < end, "the page did not come to this in time"
            time.sleep(0.2)
        return found

    def open(self, address: str) -> None:
        """Another page; what the last one said is forgotten."""
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.until(lambda: self.call("Log.enable") is not None and self._loaded)

    @property
    def _loaded(self) -> bool:
        return any(event["method"] == "Page.loadEventFired" for event in self.events)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def press(self, text: str, kind: str) -> None:
        """Click with the mouse on what a selector finds and has this text, once it is there."""
        there = (
            f"[...document.querySelectorAll({json.dumps(kind)})].find(e => e.innerText.trim() == {json.dumps(text)} "
            "&& e.getBoundingClientRect().height > 0)"
        )
        self.until(lambda: self.run(f"!!{there} && ({there}.scrollIntoView({{block: 'center'}}), true)"))
        box = json.loads(self.run(f"JSON.stringify({there}.getBoundingClientRect())"))
        place = {"x": box["x"] + 0.5 * box["width"], "y": box["y"] + 0.5 * box["height"]}
        for step in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=step, button="left", clickCount=1, **place)

    def picture(self, path: Path | None = None) -> np.ndarray:
        """(H, W, 3) what is to be seen, 0 to 255."""
        from PIL import Image

        content = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            path.write_bytes(content)
        return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"), dtype=np.float64)

    @property
    def complaints(self) -> list[str]:
        """Errors that the page or its scripts reported."""
        found = []
        for event in self.events:
            given = event.get("params", {})
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(given["exceptionDetails"])[:500])
            if event["method"] == "Runtime.consoleAPICalled" and given["type"] == "error":
                found.append(str(given["args"])[:500])
            if event["method"] == "Log.entryAdded" and given["entry"]["level"] == "error":
                found.append(str(given["entry"])[:500])
        return found

    def foreign_requests(self, own: str) -> list[str]:
        """Addresses that the page asked for that are neither in it nor begin with ``own``."""
        asked = [
            event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in asked if not url.startswith((own, "data:", "blob:", "about:"))]

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._socket.close()
        self._process.terminate()
        self._process.wait(20)


@pytest.fixture(scope="session")
def opened_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    pytest.importorskip("viser", reason="the extra viewer is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: pages are looked at with a real browser")
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()


@pytest.fixture
def chromium(opened_chromium: Browser) -> Iterator[Browser]:
    """The browser, which shows nothing once the test is over: a scene left open is drawn for as long as it is."""
    yield opened_chromium
    opened_chromium.call("Page.navigate", url="about:blank")
