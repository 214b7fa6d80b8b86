"""`nobrakes` alone: what this is, where things are, and the sensible next step in this repository."""

from typing import Any

from ..wording.text import one_line
from .output import Output
from .screen import Screen
from .table import COMMANDS, JOURNEYS

_SHOWN = {
    "Forge": ("init", "plan apply", "shape", "add", "commit-strategy"),
    "Board": ("status", "list", "ready", "graph", "watch"),
    "Decision Desk": ("escalations", "answer", "resolve", "undo"),
    "Breaker Box": ("run", "daemon start", "pause", "stop", "doctor"),
}


def next_step() -> tuple[str, str]:
    """(command, why) for the repository around the current folder."""
    import os

    from .. import paths

    if paths.find() is None:
        if paths.repository_root(os.getcwd()) is None:
            return "git init", "nobrakes lives in a git repository, and there is none here"
        return "nobrakes init", "this repository does not use nobrakes yet"
    from ..operations.hindrances.look import hindrances
    from ..operations.views import next_step as views
    from .repository import looked_at

    with looked_at() as app:
        found = views.next_step(app.store, hindrances(app.store, app.paths, app.config))
    return one_line(found.command), one_line(found.why)


def overview() -> Output:
    """Short orientation, grouped by journey."""
    command, why = next_step()
    help_of = {entry.words: entry.help for entry in COMMANDS}
    data: dict[str, Any] = {
        "next": {"command": command, "why": why},
        "journeys": {name: {words: help_of[words] for words in shown} for name, shown in _SHOWN.items()},
    }

    def text(screen: Screen) -> str:
        out = ["nobrakes: coding agents build software in your repository, and cannot break it.", ""]
        for journey in JOURNEYS:
            name, _, rest = journey.partition(":")
            if name in _SHOWN:
                out.append(screen.paint(name, "bold") + f": {rest.strip()}")
                out += [f"  nobrakes {words:<16} {help_of[words]}" for words in _SHOWN[name]]
                out.append("")
        out.append(f"Next: {screen.paint(command, 'green')}   ({why})")
        out.append("All commands: nobrakes --help")
        return "\n".join(out)

    return Output(data, text)
