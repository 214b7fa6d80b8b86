"""The Breaker Box: gates of providers and breakers of beads."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from ..core.errors import UsageError
from ..wording.text import age, cut, one_line
from .machine import machine_lines
from .output import Output, plain, said
from .repository import actor, looked_at, opened
from .screen import Screen

if TYPE_CHECKING:
    from ..core.limits.cooldowns import Cooldown
    from ..operations.cooldowns import CapView


def gate_line(gate: "Cooldown", now: float) -> str:
    """One gate, with the time until it opens."""
    reason = gate.reason.value.replace("_", " ")
    if gate.is_closed(now):
        told = "" if gate.told else ", then it is tried"
        return f"{one_line(gate.provider)}: {reason}, closed for {age(gate.until - now)}{told}"
    return f"{one_line(gate.provider)}: {reason} until now, being tried"


def hindrances(gates: "Iterable[Cooldown]", caps: "Iterable[CapView]", now: float, screen: Screen) -> list[str]:
    """Lines about gates that are not open, and about caps that are set."""
    out = [screen.paint(cut(gate_line(gate, now), screen.width), "yellow") for gate in gates]
    for cap in caps:
        line = f"caps.{cap.name}: {cap.spent:.6g} of {cap.limit:.6g}"
        out.append(screen.paint(f"{line}, nothing new is started", "red") if cap.spent >= cap.limit else line)
    return out


def gates(
    words: Annotated[
        list[str] | None,
        Argument(metavar="WORDS", help="`open PROVIDER`, or `reset BEAD`; nothing: show them."),
    ] = None,
) -> Output:
    """Which providers refuse and until when, and what was spent under the caps.

    `open PROVIDER` starts agents there again before its time; should it refuse again, the gate closes again.
    `reset BEAD` lets agents try a bead once more on which they failed again and again.

    Example: nobrakes gates open anthropic
    """
    match words or []:
        case []:
            return _show()
        case ["open", provider]:
            return _open(provider)
        case ["reset", bead]:
            return _reset(bead)
        case other:
            given = one_line(" ".join(other))[:40]
            raise UsageError(f"'{given}' is nothing that gates can do", "For example: nobrakes gates open anthropic")


def _show() -> Output:
    from ..operations import cooldowns as operations

    with looked_at() as app:
        found = operations.view(app.store, app.config)

    def text(screen: Screen) -> str:
        return (
            "\n".join((*hindrances(found.gates, found.caps, found.now, screen), *machine_lines(found.machine, screen)))
            or "every gate is open"
        )

    return Output(plain(found), text)


def _open(provider: str) -> Output:
    from ..operations import cooldowns as operations

    with opened() as app:
        was_closed = operations.end_cooldown(app.store, app.paths, provider, actor=actor())
    told = f"the gate of {one_line(provider)} is open; should it refuse again, the gate closes again"
    return said({"provider": provider, "was_closed": was_closed}, told if was_closed else "the gate was open already")


def _reset(bead: str) -> Output:
    from ..operations import cooldowns as operations

    with opened() as app:
        found = operations.reset(app.store, app.paths, bead, actor=actor())
    return said({"bead": bead, "reset": found}, "agents may try again" if found else "no breaker of it was open")
