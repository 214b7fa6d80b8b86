"""Undo, doctor, version."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ..core.errors import NobrakesError, NotAllowed
from .opened import actor, opened
from .output import Output, plain, said
from .screen import Screen
from .text import one_line

if TYPE_CHECKING:
    from ..operations.findings import Finding

T = TypeVar("T")
STYLES = {"ok": "green", "warning": "yellow", "error": "red"}


def undo(
    seq: Annotated[int | None, typer.Argument(metavar="SEQ", min=1, help="The step's number in `events`.")] = None,
) -> Output:
    """Take back the last step of a person, or the one with this number. Again: the one before.

    A merge is taken back by a commit on main that reverts it, and only by its number.

    Example: nobrakes undo
    """
    from ..operations import undo as operation

    with opened() as app:
        found = operation.undo(app.store, app.git, actor(), seq, app.places)

    def text(screen: Screen) -> str:
        out = [one_line(found.text)]
        out += [f"  the revert is {found.commit}"] if found.commit else []
        return "\n".join([*out, *(f"  its work is kept at {one_line(ref)}" for ref, _ in found.archived)])

    return Output(plain(found), text)


def doctor(
    repair: Annotated[str | None, typer.Option("--repair", help="Mend what this name stands for.")] = None,
) -> Output:
    """Look for what is broken, and say how to mend it. Looking changes nothing.

    Ends with 0 when nothing is broken, with 1 when something is.

    Example: nobrakes doctor --repair counters
    """
    from ..operations import doctor as operation

    with opened() as app:
        store, git = _or_none(lambda: app.store), _or_none(lambda: app.git)
        if repair is not None:
            if os.environ.get("NOBRAKES_TOKEN"):
                raise NotAllowed("an agent may not repair the repository", "Say it with `nobrakes agent escalate`.")
            done = operation.repair(repair, store, git, app.places)
            return said({"repair": repair, "done": done}, "\n".join(map(one_line, done)) or "there was nothing to mend")
        findings = operation.examine(store, git, app.places, _or_none(lambda: app.config))
    broken = [finding.name for finding in findings if not finding.ok]
    error = NobrakesError(f"broken: {', '.join(broken)}", "Each finding says how it is mended.") if broken else None
    return Output(plain(findings), lambda screen: _findings(findings, screen), error)


def _or_none(open_it: Callable[[], T]) -> T | None:
    """What cannot be opened is what the doctor is there to explain."""
    try:
        return open_it()
    except NobrakesError:
        return None


def _findings(findings: "list[Finding]", screen: Screen) -> str:
    out = []
    for finding in findings:
        state = screen.paint(f"{finding.level:<8}", STYLES.get(finding.level, ""))
        out.append(f"{state} {finding.name:<11} {one_line(finding.text)}")
        if finding.repair:
            out.append(f"         mend it: nobrakes doctor --repair {finding.repair}")
    return "\n".join(out)


def version() -> Output:
    """The versions of nobrakes and of what it stands on."""
    import platform

    from .. import __version__

    found = {"nobrakes": __version__, "python": platform.python_version(), "platform": platform.platform()}
    return said(found, "\n".join(f"{name} {value}" for name, value in found.items()))
