"""A bead between people and agents: sent back to agents, taken by a person, handed in by one."""

import shlex
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..core.public.values import plain
from ..wording.stages import main_of
from ..wording.text import count, cut, one_line
from .output import Output, said
from .repository import BeadId, actor, known, opened

if TYPE_CHECKING:
    from ..operations.taking import Taken


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


def take(
    bead: BeadId,
    to: Annotated[str, Option("--to", metavar="FOLDER", help="Where the worktree shall be.")] = "",
) -> Output:
    """Work on a bead yourself: an agent at it is stopped and its work archived, the bead is held for you, and its
    branch is in a worktree beside the repository. Where it conflicts with main, a rebase stands at the conflict.
    `hand-in` gives your commits to the Reviewer; `retry` gives the bead to agents.

    Example: nobrakes take nb-7
    """
    from ..operations import taking

    with opened() as app:
        known(app.store, bead)
        here = taking.repository(app.store, app.git, app.paths, app.config)
        found = taking.take(here, bead, actor(), to)
    return said(plain(found), "\n".join(_taken(found)))


def _taken(found: "Taken") -> list[str]:
    place, bead = shlex.quote(found.folder), found.bead.id
    lines = [f"{found.stopped} was stopped"] if found.stopped else []
    lines += [f"archived: {one_line(', '.join(found.archived))}"] if found.archived else []
    how = "its branch" if found.made else "it is worked on already; its branch"
    lines.append(f"{bead} is yours: {how} {one_line(found.branch)} is in {one_line(found.folder)}")
    if found.conflicts:
        files = one_line(", ".join(found.conflicts[:10]))
        lines.append(f"It conflicts with {main_of(found.onto)} in {cut(files, 300)}.")
    lines.append(f"  cd {place}")
    if found.rebasing:
        lines.append("  git add FILES && git rebase --continue   # once the conflicts are settled")
    elif found.conflicts:
        lines.append(
            f"  git rebase {shlex.quote(found.base)}   # your branch was there before, so it was left as it is"
        )
    return [*lines, f"  nobrakes hand-in {bead}"]


def hand_in(
    bead: BeadId,
    source: Annotated[
        str, Option("--from", metavar="BRANCH|FOLDER", help="Where your work is; else where you took the bead.")
    ] = "",
) -> Output:
    """Hand your commits on a bead to the Reviewer, which judges them as an agent's; what stops the bead is settled by
    it. Work that does not pass comes back to you, held, with the reason.

    Example: nobrakes hand-in nb-7 --from my-branch
    """
    from ..operations import handing_in, taking

    with opened() as app:
        known(app.store, bead)
        here = taking.repository(app.store, app.git, app.paths, app.config)
        found = handing_in.hand_in(here, bead, actor(), source)
    where = one_line(found.branch or found.folder)
    return said(plain(found), f"{bead}: {found.head[:12]} of {where} is handed in; the Reviewer is next")
