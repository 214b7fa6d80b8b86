"""Undo, doctor, version."""

import os
from typing import Annotated, Any

import typer

from ..core.errors import NotAllowed
from .opened import actor, opened
from .output import Output, plain, said
from .screen import Screen, table
from .text import one_line


def undo(
    seq: Annotated[int | None, typer.Argument(metavar="SEQ", min=1, help="The step's number in `events`.")] = None,
) -> Output:
    """Take the last step of a person back, or the one with this number. Undoing it again brings it back."""
    from ..operations import undo as operation

    with opened() as app:
        found = operation.undo(app, seq, actor=actor())
    return said(plain(found), one_line(str(found)))


def doctor(
    repair: Annotated[str | None, typer.Option("--repair", help="Mend what this name stands for.")] = None,
) -> Output:
    """Look for what is broken, and say how to mend it. Looking changes nothing.

    Ends with 0 when everything is well, with 1 when something is not.
    """
    from ..operations import doctor as operation

    if repair is not None and os.environ.get("NOBRAKES_TOKEN"):
        raise NotAllowed("an agent may not repair the repository", "Say it with `nobrakes agent escalate`.")
    with opened() as app:
        findings = operation.repair(app, repair) if repair is not None else operation.examine(app)

    def text(screen: Screen) -> str:
        rows = [(_state(f), f.name, f.message) for f in findings]
        out = [table(("", "WHAT", "FOUND"), rows, screen)]
        out += [f"  mend it: nobrakes doctor --repair {f.name}" for f in findings if not f.ok and f.repairable]
        return "\n".join(out)

    return Output(plain(findings), text, 0 if all(f.ok for f in findings) else 1)


def _state(finding: Any) -> str:
    return "ok" if finding.ok else "BAD"


def version() -> Output:
    """The versions of nobrakes and of what it stands on."""
    import platform

    from .. import __version__

    found = {"nobrakes": __version__, "python": platform.python_version(), "platform": platform.platform()}
    return said(found, "\n".join(f"{name} {value}" for name, value in found.items()))
