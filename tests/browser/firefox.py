"""A real Firefox, driven by WebDriver BiDi: Debian brings the browser and no driver, and this is as much as tests need.

Where there is no Firefox (NOBRAKES_FIREFOX names another one) its tests are skipped and say so.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

from tests.support.scripted import until

FIREFOX = os.environ.get("NOBRAKES_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox") or ""
QUIET = {
    "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.normandy.enabled": False,
}
"""It asks no server of its maker for anything."""


class Firefox:
    """One window. What its console said as an error is in `errors`."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket, self._asked = socket, 0
        self.errors: list[str] = []
        self._call("session.new", capabilities={"alwaysMatch": {}})
        self._call("session.subscribe", events=["log.entryAdded"])
        self.window = self._call("browsingContext.getTree")["contexts"][0]["context"]

    def _call(self, method: str, **parameters: Any) -> Any:
        self._asked += 1
        self._socket.send(json.dumps({"id": self._asked, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv(timeout=60))).get("id") != self._asked:
            said = answer.get("params", {})
            # what a page asked for when it was left comes to no end
            if said.get("level") == "error" and "AbortError" not in str(said["text"]):
                self.errors.append(str(said["text"]))
        assert answer["type"] == "success", answer
        return answer["result"]

    def resize(self, size: dict[str, int]) -> None:
        self._call("browsingContext.setViewport", context=self.window, viewport=size)

    def goes(self, url: str) -> None:
        self._call("browsingContext.navigate", context=self.window, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        """Its value as JSON; a promise is waited for."""
        words = f"Promise.resolve({expression}).then((found) => JSON.stringify(found ?? null))"
        target = {"context": self.window}
        found = self._call("script.evaluate", expression=words, target=target, awaitPromise=True)
        assert found["type"] == "success", found
        return json.loads(found["result"]["value"])

    def runs(self, script: str) -> None:
        target = {"context": self.window}
        self._call("script.evaluate", expression=f"{script}; 0", target=target, awaitPromise=False)

    def sees(self, wanted: str, where: str = "#main") -> None:
        """The page shows this pattern, now or soon."""
        text = f"document.querySelector({json.dumps(where)})?.innerText ?? ''"
        until(lambda: re.search(wanted, self.evaluate(text), re.DOTALL), what=lambda: self.evaluate(text))

    def clicks(self, path: str) -> None:
        """With the mouse, in the middle of the first visible element at this XPath."""
        places = {"type": "xpath", "value": f"{path}[not(ancestor-or-self::*[@hidden])]"}

        def located() -> Any:
            return self._call("browsingContext.locateNodes", context=self.window, locator=places)["nodes"]

        found = until(located, what=lambda: (path, self.evaluate("document.body.innerText")))
        target, node = {"context": self.window}, {"sharedId": found[0]["sharedId"]}
        into = "(one) => one.scrollIntoView({block: 'center'})"
        self._call("script.callFunction", functionDeclaration=into, arguments=[node], target=target, awaitPromise=False)
        move = {"type": "pointerMove", "x": 0, "y": 0, "origin": {"type": "element", "element": node}}
        press = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._do({"type": "pointer", "id": "mouse", "actions": [move, *press]})

    def types(self, text: str) -> None:
        """Key by key, into what has the focus."""
        keys = [{"type": kind, "value": one} for one in text for kind in ("keyDown", "keyUp")]
        self._do({"type": "key", "id": "keys", "actions": keys})

    def _do(self, action: dict[str, Any]) -> None:
        self._call("input.performActions", context=self.window, actions=[action])


@contextmanager
def firefox(*, is_dark: bool = False) -> Iterator[Firefox]:
    """One of its own, with an empty profile, until the end of the block."""
    if not FIREFOX:
        pytest.skip("there is no Firefox: apt-get install firefox-esr, or name one with NOBRAKES_FIREFOX")
    with tempfile.TemporaryDirectory(prefix="nb-fx-") as profile:
        with open(os.path.join(profile, "user.js"), "w", encoding="utf-8") as file:
            for name, value in {**QUIET, "ui.systemUsesDarkTheme": int(is_dark)}.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        argv = [FIREFOX, "--headless", "--no-remote", "--remote-debugging-port", "0", "--profile", profile]
        process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            listens = (re.search(r"BiDi listening on (ws://\S+)", line) for line in process.stderr)
            address = next(found[1] for found in listens if found)
            with connect(f"{address}/session", max_size=None) as socket:
                yield Firefox(socket)
        finally:
            process.terminate()
            process.communicate()
