"""A notification on this machine's desktop: notify-send on Linux, osascript on macOS.

Title and text are arguments after the end of all options, or values of a script that holds none of them.
"""

import shutil
import sys
from collections.abc import Mapping
from typing import Any

from ..core.errors import NotAllowed
from .command import become

_SCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"
_URGENCY = {"info": "low", "warning": "normal", "urgent": "critical"}


def program() -> str:
    """What shows notifications on this system; empty: nothing that is known."""
    return {"linux": "notify-send", "darwin": "osascript"}.get(sys.platform, "")


def missing() -> str:
    """Why nothing can be shown here; empty: it can."""
    name = program()
    if not name:
        return "notifications on the desktop are known for Linux and macOS alone"
    if shutil.which(name) is None:
        return f"`{name}` is not installed" + (": install libnotify" if name == "notify-send" else "")
    return ""


def send(channel: Mapping[str, Any], secret: str, message: Mapping[str, Any]) -> None:
    """Show it."""
    trouble = missing()
    if trouble:
        raise NotAllowed(trouble, "Or use another type of channel.")
    title, text = message["title"], message["text"]
    if program() == "osascript":
        become(("osascript", "-e", _SCRIPT, title, text), b"")
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # servers read markup
    urgency = _URGENCY[message["severity"]]
    become(("notify-send", "--app-name=nobrakes", f"--urgency={urgency}", "--", title, escaped), b"")
