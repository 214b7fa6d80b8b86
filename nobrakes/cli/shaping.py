"""The Forge's conversations: shaping, reshaping, approving, and the prompts that agents get."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ..core.errors import UsageError
from .opened import BeadId, actor, known, opened
from .output import Output, plain, said, write
from .screen import Screen, screen_of
from .text import count, cut, lines, one_line

if TYPE_CHECKING:
    from ..operations.shaping import Strategy

PrintOnly = Annotated[bool, typer.Option("--print", help="Only print the Shaper's prompt; start nothing.")]


def shape(
    reshape: Annotated[bool, typer.Option("--reshape", help="Plan the next increment from escalations.")] = False,
    print_only: PrintOnly = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the prompt as JSON; start nothing.")] = False,
) -> Output:
    """Plan together with the Shaper: an agent that asks until the beads are clear, and files them as drafts.

    It runs in this terminal. What it proposes goes live only by `nobrakes commit-strategy`.
    """
    from ..host.terminal import run_interactive
    from ..operations import shaping

    with opened() as app:
        overrides = os.path.join(app.places.folder, "roles")
        prompt = shaping.shaper_prompt(app.store, app.config, "reshape" if reshape else "initial", overrides)
        if print_only or as_json:
            return Output({"prompt": prompt}, lambda screen: "\n".join(lines(prompt)))
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError(
                "the Shaper talks with a person, and there is no terminal here",
                "Use a terminal, or give your own agent the text of `nobrakes shape --print`.",
            )
        talk = shaping.conversation(app.places, app.config, prompt)
        shaping.install_skills(app.places, app.config.agents.shaper)
    code = run_interactive(talk.argv, os.environ, talk.cwd)
    with opened() as app:
        drafts = shaping.difference(app.store).drafts

    def text(screen: Screen) -> str:
        return f"{count(len(drafts), 'draft')} to approve: nobrakes commit-strategy" if drafts else "there is no draft"

    return Output({"exit": code, "drafts": plain(drafts)}, text)


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

    Shows what would change first, and asks. The graph is then committed on main as .nobrakes/beads.jsonl, also when
    there is no draft and only other things changed.
    """
    from ..operations import shaping

    with opened() as app:
        difference = shaping.difference(app.store)
        if not difference.drafts:
            done = shaping.commit_strategy(app.store, app.git, app.places, actor())
            kept = f"; the snapshot is on main as {done.commit[:12]}" if done.commit else ""
            return said({"approved": [], "commit": done.commit}, f"there is no draft to approve{kept}")
        if not yes:
            if as_json or not sys.stdin.isatty():
                raise UsageError(
                    f"{count(len(difference.drafts), 'draft')} would go live, and nobody is here to be asked",
                    "Look with `nobrakes list --status draft`, then run `nobrakes commit-strategy --yes`.",
                )
            write(_difference(difference, screen_of(sys.stdout)))
            if not typer.confirm("Let them go live?"):
                return said({"approved": [], "commit": None}, "nothing was changed")
        done = shaping.commit_strategy(app.store, app.git, app.places, actor())
    on_main = f"; the snapshot is on main as {done.commit[:12]}" if done.commit else ""
    data = {"approved": list(done.beads), "commit": done.commit}
    return said(data, f"{count(len(done.beads), 'bead')} went live{on_main}")


def _difference(found: "Strategy", screen: Screen) -> str:
    out = [
        cut(f"  {screen.paint('+', 'green')} {draft.id}  P{draft.priority}  {one_line(draft.title)}", screen.width)
        for draft in found.drafts
    ]
    for word, ids in (("changed since the last time", found.changed), ("cancelled since", found.removed)):
        out += [f"{word}: {', '.join(ids)}"] if ids else []
    out += [screen.paint(f"never start: {', '.join(circle.stuck)}", "red") for circle in found.deadlocks]
    out += [f"ready at once: {', '.join(found.becomes_ready)}"] if found.becomes_ready else []
    out += [f"longest chain: {' -> '.join(found.critical_path)}"] if found.critical_path else []
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
        text = shaping.bead_prompt(app.store, app.config, bead, allowed[role] if role else None)
    return Output({"bead": bead, "prompt": text}, lambda screen: "\n".join(lines(text)))
