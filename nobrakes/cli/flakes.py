"""Flaky checks: the ledger, and what a person lets fail for a time."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import age, one_line
from .output import Output, said
from .repository import actor, looked_at, opened
from .screen import Screen, table

if TYPE_CHECKING:
    from ..core.review.quarantine import Quarantined


def flakes(
    check: Annotated[str, Option("--check", metavar="NAME", help="Of this check alone.")] = "",
) -> Output:
    """Checks and tests that failed and passed on the same tree, the most frequent first.

    A test stands there by its name where the check's report names all that failed.
    """
    from ..operations import flakes as operations

    with looked_at() as app:
        found = operations.flakes(app.store, check)
        now = app.store.now()

    def text(screen: Screen) -> str:
        rows = [
            (str(one.times), one.check, one.test, age(now - one.last.at), one.last.bead or "", one.last.tree[:12])
            for one in found
        ]
        return table(("TIMES", "CHECK", "TEST", "LAST", "BEAD", "TREE"), rows, screen) or "no flake was seen"

    return Output(plain(found), text)


def quarantined_line(one: "Quarantined", now: float) -> str:
    """One line about something that may fail."""
    what = f"{one.test} of {one.check}" if one.test else f"the check {one.check}"
    return one_line(f"quarantined for {age(now - one.at)}: {what}, by {one.by}: {one.reason}")


def quarantine(
    check: Annotated[str, Argument(metavar="CHECK", help="The check's name; nothing: show what is quarantined.")] = "",
    test: Annotated[str, Argument(metavar="TEST", help="The test as its report names it; nothing: all of it.")] = "",
    reason: Annotated[str, Option("--reason", "-m", help="Why; everybody is shown it.")] = "",
    lift: Annotated[bool, Option("--lift", help="It has to pass again.")] = False,
) -> Output:
    """Let a flaky test fail for a time: it blocks nobody, and status, reviews and evidence tell of it.

    A single test is let through only where the check's report names every test that failed.

    Example: nobrakes quarantine unit "pkg/net/TestSlow" --reason "times out on CI, nb-12 mends it"
    """
    from ..operations import flakes as operations

    if not check:
        if lift or reason:
            raise UsageError("say what: the name of a check", 'For example: nobrakes quarantine unit --reason "…"')
        return _show()
    if lift and reason:
        raise UsageError("what is lifted needs no reason", "Use --lift alone.")
    with opened() as app:
        if lift:
            left = operations.lift(app.store, check, test, actor(), app.paths)
        else:
            left = operations.quarantine(app.store, app.config, check, test, reason, actor(), app.paths)
    what = one_line(f"{test} of {check}" if test else f"the check {check}")
    told = f"{what} has to pass again" if lift else f"{what} may fail; `nobrakes quarantine {check} … --lift` ends that"
    return said({"quarantined": plain(left)}, told)


def _show() -> Output:
    from ..operations import flakes as operations

    with looked_at() as app:
        found = operations.quarantined(app.store)
        now = app.store.now()
    lines = [quarantined_line(one, now) for one in found]
    return Output({"quarantined": plain(found)}, lambda screen: "\n".join(lines) or "nothing is quarantined")
