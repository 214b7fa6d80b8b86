"""The programs, addresses and libraries that a message is sent by, and the process that sends one.

What that process is given on stdin is small enough for a pipe that nobody reads yet: writing it never waits.
"""

import http.client
import json
import logging
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import IO, Any, NoReturn
from urllib.parse import urlsplit

from .. import extras
from ..config.sections import ChannelSettings, NotifySettings
from ..config.user import secret as secret_of
from ..errors import ChannelFailed, NobrakesError, NotAllowed, UsageError
from ..host.port import Notice, Notifier
from ..paths import is_in_repository, which
from ..text.cleaning import clean, shorten
from .model import Message, is_loopback, mistake

MAX_BYTES = 60_000


def packed(settings: Mapping[str, Any], secret: str, message: Message) -> bytes:
    """Cuts the text further to fit."""
    for most in (len(message.text), 4000, 1000, 100):
        said = asdict(message) | {"text": shorten(message.text, most)}
        whole = json.dumps({"channel": dict(settings), "secret": secret, "message": said}).encode()
        if len(whole) <= MAX_BYTES:
            break
    return whole


def pack(settings: NotifySettings, root: str, name: str, said: Message) -> tuple[bytes, str]:
    """The input of a sending process, and the secret in it."""
    channel = channel_of(settings, name)
    program = os.path.expanduser(channel.command[0]) if channel.command else ""
    if os.path.isabs(program) and is_in_repository(program, root):
        raise NotAllowed(
            f"the program of the channel '{name}' is inside the repository, where agents could change it",
            "Move the program elsewhere, and set its absolute path.",
        )
    kept = secret_of(channel.secret) if channel.secret else ""
    return packed(asdict(channel), kept, said), kept


def channel_of(settings: "NotifySettings", name: str) -> "ChannelSettings":
    """Raises UsageError."""
    found = settings.channels.get(name)
    if found is None:
        known = ", ".join(sorted(settings.channels)) or "none"
        raise UsageError(f"unknown channel '{name[:40]}'", f"Channels in config.toml: {known}.")
    return found


# Every other way (e-mail, ntfy, Slack, Matrix, …) is the library apprise, an extra of the package. The address of the
# service, which holds its password or token, is the channel's `secret`, or else its `url`.
_TYPES = {"info": "info", "warning": "warning", "urgent": "failure"}


def missing_apprise() -> str:
    return extras.missing("notify")


def send_by_apprise(channel: Mapping[str, Any], secret: str, message: Mapping[str, Any]) -> None:
    """Send it through the address' service."""
    extras.need("notify", "a channel of type apprise")
    import apprise

    service = apprise.Apprise()
    if not service.add(secret or channel["url"]):
        raise NotAllowed("apprise does not understand the address of this channel", "See its documentation.")
    with apprise.LogCapture(level=logging.WARNING) as captured:  # type: ignore[no-untyped-call]
        took = service.notify(
            body=message["text"],
            title=message["title"],
            notify_type=_TYPES[message["severity"]],
            body_format="text",
            interpret_escapes=False,
        )
        said = " ".join(captured.getvalue().split())
    if not took:
        raise ChannelFailed("the service rejected a notice" + (f": {said[-400:]}" if said else ""))


# The program is found by its whole path or on PATH, never in the repository, where an agent's work could put one.
def send_to_command(channel: Mapping[str, Any], secret: str, message: Mapping[str, Any]) -> None:
    """Replace this process by the program, which reads the message, and the channel's secret."""
    said = dict(message) | ({"secret": secret} if secret else {})
    become(channel["command"], json.dumps(said).encode())


def found(command: Sequence[str]) -> str | None:
    program = os.path.expanduser(command[0])
    if "/" in program and not os.path.isabs(program):
        return None
    return which(program)


def become(command: Sequence[str], stdin: bytes) -> NoReturn:
    """Run the program in this process, with these bytes on stdin; they fit into a pipe."""
    program = found(command)
    if program is None:
        raise NotAllowed(f"the program `{command[0]}` was not found", "Give its absolute path, or add it to PATH.")
    reading, writing = os.pipe()
    os.write(writing, stdin)
    os.close(writing)
    os.dup2(reading, 0)
    sys.stderr.flush()
    os.execv(program, [program, *command[1:]])


# Title and text are arguments after the end of all options, or values of a script that holds none of them.
_SCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
_URGENCY = {"info": "low", "warning": "normal", "urgent": "critical"}


def program() -> str:
    """The system's notification program; empty: unknown."""
    return {"linux": "notify-send", "darwin": "osascript"}.get(sys.platform, "")


def missing_desktop() -> str:
    """Why nothing can be shown; empty: it can."""
    name = program()
    if not name:
        return "desktop notifications work only on Linux and macOS"
    if which(name) is None:
        return f"`{name}` is not installed" + (": install libnotify" if name == "notify-send" else "")
    return ""


def send_to_desktop(channel: Mapping[str, Any], secret: str, message: Mapping[str, Any]) -> None:
    """Show it."""
    trouble = missing_desktop()
    if trouble:
        raise NotAllowed(trouble, "You can also use another type of channel.")
    title, text = message["title"], message["text"]
    if program() == "osascript":
        become(("osascript", "-e", _SCRIPT, title, text), b"")
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # servers read markup
    urgency = _URGENCY[message["severity"]]
    become(("notify-send", "--app-name=nobrakes", f"--urgency={urgency}", "--", title, escaped), b"")


# https, or http on this machine, unless the channel says `insecure`. A redirect is followed nowhere. A secret beside a
# `url` is sent as a bearer token; a secret alone is the address. Neither is in an error.
SECONDS = 15.0
"""For each network answer; the caller limits the total."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> None:
        return None


def send_to_webhook(channel: Mapping[str, Any], secret: str, message: Mapping[str, Any]) -> None:
    """Post it; any 2xx is success."""
    url = channel["url"] or secret
    wrong = mistake(url, channel["insecure"])
    if wrong:
        raise NotAllowed(f"the address of the webhook: {wrong}")
    headers = {"Content-Type": "application/json", "User-Agent": "nobrakes"}
    if channel["url"] and secret:
        headers["Authorization"] = f"Bearer {secret}"
    handlers: list[urllib.request.BaseHandler] = [_NoRedirect()]
    if is_loopback(urlsplit(url).hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(url, json.dumps(dict(message)).encode(), headers, method="POST")
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=SECONDS):
            return
    except urllib.error.HTTPError as error:
        redirect = " (a redirect, which is not followed: set the final address)" if 300 <= error.code < 400 else ""
        raise ChannelFailed(f"the webhook answered {error.code}{redirect}") from None
    except urllib.error.URLError as error:
        raise ChannelFailed(f"the webhook cannot be reached: {_reason(error.reason)}") from None
    except (http.client.HTTPException, OSError) as error:
        raise ChannelFailed(f"the webhook closed the connection: {_reason(error)}") from None


def _reason(error: object) -> str:
    """Without the address."""
    return str(getattr(error, "strerror", None) or type(error).__name__)


# A notice may quote an agent, and an agent could speak to the terminal: control characters, escape sequences and marks
# that reorder text are removed.
def plain(text: str) -> str:
    return " ".join(clean(text).split())


class StdoutNotifier:
    """Prints each notice as a line and flushes it."""

    def tell(self, notice: Notice) -> None:
        line = ("! " if notice.urgent else "") + (f"{plain(notice.bead)}: " if notice.bead else "") + plain(notice.text)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        try:
            print(line.encode(encoding, "replace").decode(encoding), flush=True)
        except (OSError, ValueError):
            return  # a closed reader does not stop the work: the store's events contain the notice as well


# `App.notifier` chooses.
NOTIFIERS: dict[str, Callable[[], Notifier]] = {
    "stdout": StdoutNotifier,
}

WAYS: dict[str, Callable[[Mapping[str, Any], str, Mapping[str, Any]], None]] = {
    "command": send_to_command,
    "desktop": send_to_desktop,
    "webhook": send_to_webhook,
    "apprise": send_by_apprise,
}
"""Senders by type; each may raise."""


def trouble(type_: str, program: tuple[str, ...]) -> str:
    """Why such a channel cannot work here; empty: no known reason."""
    if type_ == "command" and found(program) is None:
        return f"the program `{program[0]}` was not found"
    if type_ == "desktop":
        return missing_desktop()
    return missing_apprise() if type_ == "apprise" else ""


# `python -m nobrakes.notices.senders` sends what comes as JSON on stdin: nothing of it is in the arguments or the
# environment. Whoever started it ends it when it takes too long; should that one be gone, an alarm of the system does.
# A way that is another program takes this process's place, so its exit code is the answer: 0 means the channel took it.
MAX_SECONDS = 330


def main() -> int:
    """Send what stdin says."""
    if hasattr(signal, "alarm"):
        signal.alarm(MAX_SECONDS)
    asked = json.loads(sys.stdin.buffer.read())
    channel = asked["channel"]
    try:
        WAYS[channel["type"]](channel, asked["secret"], asked["message"])
    except NobrakesError as error:
        sys.stderr.write(error.whole)
        return 1
    except OSError as error:
        sys.stderr.write(f"{error.strerror or type(error).__name__}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
