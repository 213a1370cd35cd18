"""A real browser for tests: Chromium without a window, spoken to over a pipe in the words of its DevTools."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools import PATIENCE, until

_LOADED = "document.readyState === 'complete'"
_MIDDLE = """(async () => {
  const element = document.querySelector(%s);
  element.scrollIntoView({ block: "center", inline: "center" });
  for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
  const box = element.getBoundingClientRect();
  return [box.left + box.width / 2, box.top + box.height / 2];
})()"""


class Page:
    """One page. `problems` are what its console complained of, `requests` the addresses it asked for, `opened` those
    that it was told to open."""

    def __init__(self, browser: _Browser, session: str) -> None:
        self.opened: list[str] = []
        self._browser, self._session = browser, session
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._tell(f"{domain}.enable")

    @property
    def problems(self) -> list[str]:
        """Errors and warnings of the console, and exceptions of scripts."""
        found = []
        for event in self._events():
            parameters = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            elif event["method"] == "Log.entryAdded" and parameters["entry"]["level"] in ("warning", "error"):
                found.append(parameters["entry"]["text"])
            elif event["method"] == "Runtime.consoleAPICalled" and parameters["type"] in ("warning", "error"):
                found.append(str(parameters["args"]))
        return found

    @property
    def requests(self) -> list[str]:
        """The addresses that were asked for, those of the pages themselves among them."""
        return [
            event["params"]["request"]["url"]
            for event in self._events()
            if event["method"] == "Network.requestWillBeSent"
        ]

    def open(
        self, page: Path | str, width: int = 1280, height: int = 900, *, is_dark: bool = False, media: str = ""
    ) -> None:
        """Show a file, or an address, in a window of this size."""
        self.show(width, height, is_dark=is_dark, media=media)
        self.opened.append(page if isinstance(page, str) else page.resolve().as_uri())
        before = self._loads()
        if "loaderId" in self._tell("Page.navigate", url=self.opened[-1]):  # else it is another place of the same page
            while self._loads() == before:  # what is asked of a page that is being left may never be answered
                self._browser.listen()
        self.wait(_LOADED)

    def show(self, width: int, height: int = 900, *, is_dark: bool = False, media: str = "") -> None:
        """Let the window have this size, the page in it stay."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self._tell("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._tell(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript."""
        answer = self._tell("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str) -> None:
        """Until an expression is true."""
        until(lambda: self.evaluate(condition), lambda: f"never true: {condition}")

    def texts(self, selector: str) -> list[str]:
        """What is to be read in the elements of a selector that are to be seen."""
        shown = f"[...document.querySelectorAll({json.dumps(selector)})].filter((e) => e.checkVisibility())"
        return [" ".join(text.split()) for text in self.evaluate(f"{shown}.map((e) => e.textContent)")]

    def click(self, selector: str) -> None:
        """Click on the middle of the first element of a selector."""
        x, y = self._middle(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self._tell("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def point_at(self, selector: str) -> None:
        """Move the pointer to the middle of the first element of a selector."""
        x, y = self._middle(selector)
        self._tell("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def type(self, selector: str, text: str) -> None:
        """Type into a field."""
        self.click(selector)
        self.insert(text)

    def insert(self, text: str) -> None:
        """Let a text come from the keyboard, in place of what is selected."""
        self._tell("Input.insertText", text=text)

    def select_all(self) -> None:
        """Select all that is in the field one is in."""
        key = {"key": "a", "code": "KeyA", "windowsVirtualKeyCode": 65, "modifiers": 2}
        self._tell("Input.dispatchKeyEvent", type="keyDown", commands=["selectAll"], **key)
        self._tell("Input.dispatchKeyEvent", type="keyUp", **key)

    def choose(self, selector: str, value: str) -> None:
        """Choose an entry of a list by its value."""
        self.evaluate(
            f"(() => {{ const list = document.querySelector({json.dumps(selector)}); list.value = {json.dumps(value)};"
            "list.dispatchEvent(new Event('change', { bubbles: true })); })()"
        )

    def screenshot(self, path: Path, *, is_whole: bool = False) -> None:
        """Save what is to be seen as PNG; or the whole page."""
        answer = self._tell("Page.captureScreenshot", captureBeyondViewport=is_whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def print(self, path: Path) -> None:
        """Save the page as PDF."""
        answer = self._tell("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _middle(self, selector: str) -> tuple[float, float]:
        """Where the middle of an element is, once it has been brought to view and the page has come to rest."""
        before, now = None, self.evaluate(_MIDDLE % json.dumps(selector))
        while before != now:
            before, now = now, self.evaluate(_MIDDLE % json.dumps(selector))
        return now[0], now[1]

    def _loads(self) -> int:
        return sum(event["method"] == "Page.loadEventFired" for event in self._events())

    def _tell(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._browser.tell(method, parameters, self._session)

    def _events(self) -> list[dict[str, Any]]:
        return [event for event in self._browser.events if event.get("sessionId") == self._session]


class _Browser:
    """Messages to and from Chromium, each ended by a zero byte."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self.events: list[dict[str, Any]] = []
        self._to, self._from = to_browser, from_browser
        self._last = 0
        self._rest = b""

    def tell(self, method: str, parameters: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def listen(self) -> None:
        """Wait for the next event."""
        said = self._receive()
        if "method" in said:
            self.events.append(said)

    def page(self) -> Page:
        """A new page."""
        target = self.tell("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.tell("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        return Page(self, session)

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], PATIENCE)[0], "the browser says nothing"
            more = os.read(self._from, 1 << 16)
            assert more, "the browser ended"
            self._rest += more
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)


@contextmanager
def browser(profile: Path) -> Iterator[_Browser]:
    """Chromium with a profile of its own."""
    our_read, its_write = os.pipe()
    its_read, our_write = os.pipe()
    command = [
        str(shutil.which("chromium")),
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-back-forward-cache",
        "--hide-scrollbars",
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
        "about:blank",
    ]
    process = subprocess.Popen(
        ["bash", "-c", f'exec "$@" 3<&{its_read} 4>&{its_write}', "bash", *command],
        pass_fds=(its_read, its_write),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(its_read)
    os.close(its_write)
    try:
        found = _Browser(our_write, our_read)
        yield found
        found.tell("Browser.close", {})
        process.wait(PATIENCE)
    finally:
        os.close(our_write)
        os.close(our_read)
        if process.poll() is None:
            process.kill()
            process.wait()
