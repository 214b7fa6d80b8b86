"""Every notifier, by its name; `App.notifier` chooses. And every way to send a message, by the type of its channel."""

from collections.abc import Callable, Mapping
from typing import Any

from ..ports.people import Notifier
from . import by_apprise, command, desktop, webhook
from .stdout import StdoutNotifier

NOTIFIERS: dict[str, Callable[[], Notifier]] = {
    "stdout": StdoutNotifier,
}

WAYS: dict[str, Callable[[Mapping[str, Any], str, Mapping[str, Any]], None]] = {
    "command": command.send,
    "desktop": desktop.send,
    "webhook": webhook.send,
    "apprise": by_apprise.send,
}
"""Each sends a message through a channel with these settings and this secret, or raises."""


def trouble(type_: str, program: tuple[str, ...]) -> str:
    """Why a channel of this type cannot work on this machine; empty: nothing is known to be missing."""
    if type_ == "command" and command.found(program) is None:
        return f"the program `{program[0]}` is not there"
    if type_ == "desktop":
        return desktop.missing()
    return by_apprise.missing() if type_ == "apprise" else ""
