"""A bead between people and agents: sent back to agents."""

from typing import Annotated

from typer import Option

from ..wording.text import count, one_line
from .output import Output, plain, said
from .repository import BeadId, actor, known, opened


def retry(
    bead: BeadId,
    note: Annotated[str, Option("--note", "-m", help="What is different now; the next attempt reads it.")] = "",
    all: Annotated[bool, Option("--all", help="Decide everything that stops it so, of whatever sort.")] = False,
) -> Output:
    """Send a bead back to agents with a clean count: what stops it is resolved with --retry, a hold is released, and
    failures and open breakers are forgotten. A done or cancelled bead is opened again with `reopen`.

    Example: nobrakes retry nb-7 --note "The fixture is mended"
    """
    from ..operations import retrying

    with opened() as app:
        known(app.store, bead)
        found = retrying.retry(app.store, bead, actor(), note, all, app.paths)
    did = [f"escalation {number} is resolved" for number in found.resolved]
    did += [f"released (it was held: {one_line(found.released)})"] if found.released is not None else []
    did += [f"{count(found.failures, 'failure')} forgotten"] if found.failures else []
    did += [f"{count(found.breakers, 'breaker')} reset"] if found.breakers else []
    return said(plain(found), "; ".join([f"{bead} is {found.bead.status.value} again", *did]))
