"""The Forge's conversations: shaping, reshaping, approving, and the prompts that agents get."""

import sys
from typing import Annotated

import typer

from ..core.errors import UsageError
from .opened import BeadId, actor, known, opened
from .output import Output, plain, said, write
from .screen import Screen, screen_of
from .text import count, lines, one_line

PrintOnly = Annotated[bool, typer.Option("--print", help="Only print the Shaper's prompt; start nothing.")]


def shape(
    reshape: Annotated[
        bool, typer.Option("--reshape", help="Plan the next increment from what was escalated.")
    ] = False,
    print_only: PrintOnly = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the prompt as JSON; start nothing.")] = False,
) -> Output:
    """Plan together with the Shaper: an agent that asks until the beads are clear, and files them as drafts.

    It runs in this terminal. What it proposes goes live only by `nobrakes commit-strategy`.
    """
    from ..operations import shaping

    with opened() as app:
        prompt = shaping.shaper_prompt(app, reshape=reshape)
        if print_only or as_json or not sys.stdin.isatty():
            return Output({"prompt": prompt}, lambda screen: "\n".join(lines(prompt)))
        shaping.install_skills(app)
        code = shaping.converse(app, prompt)
        difference = shaping.difference(app.store)
    data = {"exit": code, "drafts": plain(difference)}
    return Output(data, lambda screen: f"{count(len(difference.drafts), 'draft')} to approve: nobrakes commit-strategy")


def reshape(
    print_only: PrintOnly = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the prompt as JSON; start nothing.")] = False,
) -> Output:
    """Plan the next increment: the Shaper reads what was escalated, suggested and learnt."""
    return shape(reshape=True, print_only=print_only, as_json=as_json)


def commit_strategy(
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve without being asked.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON; needs --yes.")] = False,
) -> Output:
    """Approve the drafts: they go live and may be worked on. All of them, or none.

    Shows what would change first, and asks.
    """
    from ..operations import shaping

    with opened() as app:
        difference = shaping.difference(app.store)
        if not difference.drafts:
            return said({"approved": []}, "there is no draft to approve")
        if not yes:
            if as_json or not sys.stdin.isatty():
                raise UsageError(
                    f"{count(len(difference.drafts), 'draft')} would go live, and nobody is here to be asked",
                    "Look with `nobrakes list --status draft`, then run `nobrakes commit-strategy --yes`.",
                )
            write(_difference(difference, screen_of(sys.stdout)))
            if not typer.confirm("Let them go live?"):
                return said({"approved": []}, "nothing was changed")
        approved = shaping.commit_strategy(app.store, actor=actor())
    return said({"approved": plain(approved)}, f"{count(len(approved), 'bead')} went live")


def _difference(difference: object, screen: Screen) -> str:
    out = []
    for draft in difference.drafts:  # type: ignore[attr-defined]
        out.append(f"  {screen.paint('+', 'green')} {draft.id}  P{draft.priority}  {one_line(draft.title)}")
    return "\n".join(out)


def prompt(
    bead: BeadId,
    role: Annotated[
        str | None, typer.Option("--role", help="test_writer or doer; what comes next unless told.")
    ] = None,
) -> Output:
    """The prompt that an agent on this bead would get now. Starts nothing."""
    from ..core.bead import Role
    from ..operations import shaping

    allowed = {found.value: found for found in (Role.TEST_WRITER, Role.DOER)}
    if role is not None and role not in allowed:
        raise UsageError(f"'{one_line(role)[:40]}' is not a role with a bead", "Use test_writer or doer.")
    with opened() as app:
        known(app.store, bead)
        text = shaping.bead_prompt(app, bead, allowed[role] if role else None)
    return Output({"bead": bead, "prompt": text}, lambda screen: "\n".join(lines(text)))
