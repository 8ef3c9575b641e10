"""A headless Chromium that tests drive by its DevTools protocol, over a pair of pipes."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
_SECONDS = 120  # for an answer


def executable() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Chromium:
    """A context manager: one browser with one page.

    Attributes:
        profile: an empty folder for the browser's profile.
        errors: uncaught errors of the page, and errors in its console.
    """

    def __init__(self, profile: Path):
        self.errors: list[str] = []
        self._next, self._rest, self._session = 0, b"", None
        read, self._write = os.pipe()
        self._read, write = os.pipe()
        # The protocol's file descriptors are 3 and 4: those that are passed on must be others.
        own = read, write
        read, write = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in own)
        command = [executable(), *_OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        redirected = f'exec "$@" 3<&{read} 4>&{write}'
        self._process = subprocess.Popen(
            ["bash", "-c", redirected, "chromium", *command],
            pass_fds=(read, write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in (*own, read, write):
            os.close(fd)

    def __enter__(self) -> Chromium:
        targets = self.ask("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.ask("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_) -> None:
        try:
            self._session = None
            self.ask("Browser.close")
            self._process.wait(20)
        except (OSError, AssertionError, subprocess.TimeoutExpired):
            self._process.kill()
        self._process.wait()
        os.close(self._read)
        os.close(self._write)

    def ask(self, method: str, **params) -> dict:
        """Call a method of the protocol and return its result; fail if it fails."""
        self._next += 1
        message = {"id": self._next, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + _SECONDS
        while True:
            answer = self._message(deadline, method)
            if answer.get("id") == message["id"]:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._note(answer)

    def _message(self, deadline, method):
        while b"\0" not in self._rest:
            left = max(0, deadline - time.monotonic())
            assert select.select([self._read], [], [], left)[0], f"{method}: no answer"
            data = os.read(self._read, 1 << 16)
            assert data, f"{method}: Chromium has ended"
            self._rest += data
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event):
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])

    def open(self, url: str) -> None:
        self.ask("Page.navigate", url=url)
        self.wait(
            f"location.href.startsWith({json.dumps(url)}) && document.readyState == 'complete'"
        )

    def size(self, width: int, height: int, scheme: str = "light") -> None:
        """Set the window's size and colour scheme."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.ask("Emulation.setDeviceMetricsOverride", **metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", features=features)

    def value(self, expression: str):
        """Return the value of a JavaScript expression, awaited if it is a promise."""
        answer = self.ask(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        deadline = time.monotonic() + _SECONDS
        while not self.value(expression):
            assert time.monotonic() < deadline, (expression, self.value("document.body.innerText"))
            time.sleep(0.05)

    def drop(self, *paths: Path) -> None:
        """Drop files in the middle of the window."""
        x, y = self.value("[innerWidth / 2, innerHeight / 2]")
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.ask("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)

    def screenshot(self, path: Path) -> None:
        """Save the window's contents as a PNG."""
        answer = self.ask("Page.captureScreenshot")
        path.write_bytes(base64.b64decode(answer["data"]))
