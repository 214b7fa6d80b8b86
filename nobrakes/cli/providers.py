"""The Breaker Box: cooldowns of providers and breakers of beads."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

from typer import Argument

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import one_line
from .hindered import lines
from .machine import machine_lines
from .output import Output, said
from .repository import actor, looked_at, opened
from .screen import Screen

if TYPE_CHECKING:
    from ..operations.cooldowns import CapView


def cap_lines(caps: "Iterable[CapView]") -> list[str]:
    """What was spent under the caps that are set, a line each."""
    lifted = "  (lifted until its period ends)"
    return [f"caps.{cap.name}: {cap.spent:.6g} of {cap.limit:.6g}{lifted if cap.lifted else ''}" for cap in caps]


def providers(
    words: Annotated[
        list[str] | None,
        Argument(metavar="WORDS", help="`open PROVIDER`, `reset BEAD`, `lift CAP`, `keep CAP`; nothing: show them."),
    ] = None,
) -> Output:
    """Which providers refuse and until when; and, where a cap is set, what was spent under it.

    `open PROVIDER` starts agents there again before its time; when it refuses again, it is left alone again.
    `reset BEAD` lets agents try a bead once more on which they failed again and again.
    `lift CAP` (calls_per_hour, day.usd, run.tokens …) lets agents start beyond a cap until its hour, day or run ends:
    they may then cost more than you allowed. `keep CAP` lets it hold again.

    Example: nobrakes providers open anthropic
    """
    match words or []:
        case []:
            return _show()
        case ["open", provider]:
            return _open(provider)
        case ["reset", bead]:
            return _reset(bead)
        case ["lift" | "keep" as what, cap]:
            return _lift(cap.removeprefix("caps."), what == "lift")
        case other:
            given = one_line(" ".join(other))[:40]
            raise UsageError(
                f"'{given}' is nothing that providers can do",
                "For example: nobrakes providers open anthropic",
            )


def gates(
    words: Annotated[
        list[str] | None,
        Argument(metavar="WORDS", help="`open PROVIDER`, or `reset BEAD`; nothing: show them."),
    ] = None,
) -> Output:
    """Which providers refuse: now `nobrakes providers`."""
    return providers(words)


def _show() -> Output:
    from ..core.hindrances import Kind
    from ..operations import cooldowns as operations
    from ..operations.hindrances.look import hindrances

    with looked_at() as app:
        found = operations.view(app.store, app.config)
        stands = hindrances(app.store, app.paths, app.config)

    def text(screen: Screen) -> str:
        out = lines(stands, found.now, screen, (Kind.COOLDOWN, Kind.CAP, Kind.NO_PLACE, Kind.MACHINE).__contains__)
        out += [*cap_lines(found.caps), *machine_lines(found.machine, screen)]
        return "\n".join(out) or "no provider refuses"

    return Output(plain(found), text)


def _open(provider: str) -> Output:
    from ..operations import cooldowns as operations

    with opened() as app:
        was_closed = operations.end_cooldown(app.store, app.paths, provider, actor=actor())
    words = f"agents start at {one_line(provider)} again; when it refuses again, a new cooldown begins"
    return said(
        {"provider": provider, "was_closed": was_closed},
        words if was_closed else f"{one_line(provider)} had no cooldown",
    )


def _reset(bead: str) -> Output:
    from ..operations import cooldowns as operations

    with opened() as app:
        found = operations.reset(app.store, app.paths, bead, actor=actor())
    return said({"bead": bead, "reset": found}, "agents may try again" if found else "no breaker of it was open")


def _lift(cap: str, is_lifted: bool) -> Output:
    from ..operations import cooldowns as operations
    from ..wording.times import spoken

    with opened() as app:
        found = operations.lift(app.store, app.paths, app.config, cap, is_lifted, actor=actor())
    name = one_line(found.name)
    if not is_lifted:
        return said(plain(found), f"caps.{name} holds again: {found.limit:.6g}")
    until = "this run ends" if found.until is None else spoken(found.until)
    warning = f"agents may cost more than the {found.limit:.6g} that you allowed ({found.spent:.6g} so far)"
    if name == "calls_per_hour":
        warning = (
            f"more agents may start than the {found.limit:.6g} an hour that you allowed ({found.spent:.6g} so far)"
        )
    back = f"`nobrakes providers keep {name}` lets it hold again"
    return said(plain(found), f"caps.{name} is lifted until {until}\nwarning: {warning}; {back}")
