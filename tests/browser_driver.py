"""
A real Chromium for tests, driven by its DevTools protocol over a websocket.

aiohttp, which Kohort needs anyway, has the websocket; a driver of its own or a library for it would
be a further dependency that must match the browser. Debian's and Ubuntu's package is used, or any
Chromium or Chrome on PATH. axe-core comes from one pinned wheel.
"""

import asyncio
import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import aiohttp

from client_tools import cache_root, download_wheel

LOCK = Path(__file__).with_name("browser.lock")
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS_MAX = 60.0
_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
)
_CODES = {
    "/": ("Slash", 191),
    "?": ("Slash", 191),
    "Enter": ("Enter", 13),
    "Escape": ("Escape", 27),
    "ArrowLeft": ("ArrowLeft", 37),
    "ArrowRight": ("ArrowRight", 39),
    "Home": ("Home", 36),
    "End": ("End", 35),
    ",": ("Comma", 188),
    ".": ("Period", 190),
}


def find_browser() -> str | None:
    """The program of a Chromium, if there is one."""
    names = (os.environ.get("KOHORT_BROWSER", ""), *PROGRAMS)
    return next((found for name in names if name and (found := shutil.which(name))), None)


def read_axe() -> str:
    """The text of axe-core, fetched once into the cache."""
    path = cache_root() / f"axe-{sha256(LOCK.read_bytes()).hexdigest()[:12]}.js"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            with zipfile.ZipFile(download_wheel(LOCK, Path(scratch))) as wheel:
                (Path(scratch) / "axe.js").write_bytes(
                    wheel.read("axe_playwright_python/axe.min.js")
                )
            (Path(scratch) / "axe.js").rename(path)
    return path.read_text()


@contextmanager
def started_browser(folder: Path) -> Iterator[str]:
    """A Chromium; the address of its DevTools."""
    program = find_browser()
    assert program, f"none of {', '.join(PROGRAMS)} is on PATH: install Debian's package chromium"
    command = [program, *_FLAGS, f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            lines = iter(process.stderr.readline, "")
            address = next(line.split()[-1] for line in lines if "DevTools listening on" in line)
            # What it says later must not fill the pipe.
            with subprocess.Popen(["cat"], stdin=process.stderr, stdout=subprocess.DEVNULL):
                try:
                    yield address
                finally:
                    process.terminate()
        finally:
            process.kill()


class Tab:
    """One page with cookies of its own."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.errors: list[str] = []  # what the console was told as an error
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._session = ""
        self._context = ""
        self._reading = asyncio.create_task(self._read())

    async def open(
        self, width: int = 1200, height: int = 900, *, beside: "Tab | None" = None
    ) -> None:
        """Make the page; beside another, it has the cookies of that one and ends with it."""
        if beside is not None:
            self._context = beside._context
        else:
            made = await self._call("Target.createBrowserContext")
            self._context = made["browserContextId"]
        target = await self._call(
            "Target.createTarget", url="about:blank", browserContextId=self._context
        )
        attached = await self._call(
            "Target.attachToTarget", targetId=target["targetId"], flatten=True
        )
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self._call(f"{domain}.enable")
        await self.resize(width, height)

    async def close(self) -> None:
        """Forget the page and its cookies."""
        self._session = ""
        await self._call("Target.disposeBrowserContext", browserContextId=self._context)
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def resize(self, width: int, height: int) -> None:
        """Give the window another size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        await self._call("Emulation.setDeviceMetricsOverride", **size)

    async def prefer(self, scheme: str) -> None:
        """Choose light or dark."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await self._call("Emulation.setEmulatedMedia", features=features)

    async def go(self, url: str) -> None:
        """Open an address."""
        await self._call("Page.navigate", url=url)
        await self.wait_for("document.readyState === 'complete' && !!document.body")

    async def run(self, expression: str) -> Any:
        """The value of an expression in the page; a promise is awaited."""
        told = await self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    async def wait_for(self, expression: str, seconds: float = SECONDS_MAX) -> Any:
        """The value of an expression, as soon as it is true."""
        async with asyncio.timeout(seconds):
            while not (found := await self.run(expression)):
                await asyncio.sleep(0.05)
        return found

    async def see(self, text: str, seconds: float = SECONDS_MAX) -> None:
        """Return when the page shows a text."""
        try:
            await self.wait_for(f"document.body.innerText.includes({json.dumps(text)})", seconds)
        except TimeoutError:
            shown = await self.run("document.body.innerText")
            raise AssertionError(f"{text!r} is not shown; this is:\n{shown}") from None

    async def press(self, key: str) -> None:
        """Press a key."""
        code, number = _CODES.get(key, (f"Key{key.upper()}", ord(key[0].upper())))
        texts = {"Enter": "\r"} if len(key) > 1 else {key: key}
        text = {"text": texts[key]} if key in texts else {}
        event = {"key": key, "code": code, "windowsVirtualKeyCode": number}
        await self._call("Input.dispatchKeyEvent", type="keyDown", **event, **text)
        await self._call("Input.dispatchKeyEvent", type="keyUp", **event)

    async def type(self, text: str) -> None:
        """Type a text into what has the focus."""
        await self._call("Input.insertText", text=text)

    async def click(self, selector: str) -> None:
        """Click the first element that a selector names."""
        await self.wait_for(f"!!document.querySelector({json.dumps(selector)})")
        await self.run(f"document.querySelector({json.dumps(selector)}).click()")

    async def read_metrics(self) -> dict[str, float]:
        """What the browser has counted for the page: seconds of work, bytes of the heap, nodes."""
        await self._call("Performance.enable")
        told = await self._call("Performance.getMetrics")
        return {each["name"]: each["value"] for each in told["metrics"]}

    async def come_forward(self) -> None:
        """Let the page be the one that is painted."""
        await self._call("Page.bringToFront")

    async def collect_garbage(self) -> None:
        """Let the page forget what nothing refers to."""
        await self._call("HeapProfiler.collectGarbage")

    async def take_screenshot(self, path: Path) -> None:
        """Write what is shown as PNG."""
        made = await self._call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(made["data"]))

    async def _call(self, method: str, **parameters: Any) -> Any:
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        await self._socket.send_json(message)
        async with asyncio.timeout(SECONDS_MAX):
            told = await answer
        assert "error" not in told, f"{method}: {told['error']}"
        return told["result"]

    async def _read(self) -> None:
        async for message in self._socket:
            told = json.loads(message.data)
            if "id" in told:
                self._waiting.pop(told["id"]).set_result(told)
            else:
                self._note(told["method"], told["params"])

    def _note(self, method: str, parameters: dict[str, Any]) -> None:
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"])[:2000])
        if method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(f"{parameters['entry']['text']} {parameters['entry'].get('url')}")
        if method == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            self.errors.append(json.dumps(parameters["args"])[:2000])
