"""The Forge's conversations: shaping, reshaping, approving, and the prompts that agents get."""

import os
import sys
from typing import TYPE_CHECKING, Annotated

from typer import Option, confirm

from ..core.beads.bead import Status
from ..core.errors import AgentFailed, UsageError
from ..wording.text import count, cut, lines, one_line, pad, width
from .output import Output, plain, said, write
from .repository import BeadId, actor, known, opened
from .screen import Screen, screen_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..operations.forge.approving import Strategy

SHOWN = 30
PrintOnly = Annotated[bool, Option("--print", help="Only print the Shaper's prompt; start nothing.")]
GoOn = Annotated[bool, Option("--continue", help="Go on with the last session instead of a new one.")]
JsonPrompt = Annotated[bool, Option("--json", help="Print the prompt as JSON; start nothing.")]
BEGINS = """\
The Shaper begins, in Claude Code. If that asks whether you trust the folder
.nobrakes/shaper: it belongs to nobrakes, and the session runs there.
What is proposed are drafts: /commit-strategy approves, /exit leaves and keeps them.
"""


def shape(
    reshape: Annotated[bool, Option("--reshape", help="Begin with what was escalated; as `reshape`.")] = False,
    go_on: GoOn = False,
    print_only: PrintOnly = False,
    as_json: JsonPrompt = False,
) -> Output:
    """Plan together with the Shaper: an agent that asks until the work is clear, and files beads as drafts.

    Claude Code runs in this terminal, as you. The Shaper reads the repository and changes nothing in it; whatever it
    may not do by itself, you are asked. Nothing is worked on before you approve the drafts: /commit-strategy in the
    session, or `nobrakes commit-strategy` after it.

    To plan without it: `nobrakes plan example`, or an agent of your own with the text of `nobrakes shape --print`.
    """
    from ..host import command
    from ..host.terminal import run_interactive
    from ..operations.forge import approving, conversation, shaper

    with opened() as app:
        overrides = os.path.join(app.paths.folder, "roles")
        prompt = shaper.shaper_prompt(app.store, app.config, "reshape" if reshape else "initial", overrides)
        if print_only or as_json:
            return Output({"prompt": prompt}, lambda screen: "\n".join(lines(prompt)))
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError(
                "the Shaper talks with a person, and there is no terminal here",
                "Use a terminal, or give your own agent the text of `nobrakes shape --print`.",
            )
        talk = conversation.conversation(app.paths, app.config, prompt, os.environ, go_on)
        conversation.install_skills(app.paths, app.config.agents.shaper)
        command.install(app.paths)
        before = approving.approved(app.store)
    write(BEGINS)
    code = run_interactive(talk.argv, talk.env, talk.cwd)
    with opened() as app:
        live = sorted(approving.approved(app.store) - before)
        found = approving.difference(app.store)
    failed = AgentFailed(f"the Shaper's session ended with exit code {code}") if code else None

    def text(screen: Screen) -> str:
        out = [screen.paint("error: ", "red") + f"{failed}\n  {failed.hint}"] if failed else []
        if live:
            out.append(f"{count(len(live), 'bead')} went live. Let the work begin: nobrakes run")
        if found.drafts:
            waits = "waits" if len(found.drafts) == 1 else "wait"
            out += [f"{count(len(found.drafts), 'draft')} {waits} for your approval:", *_drafts(found, screen)]
            out.append("See what would change, and approve: nobrakes commit-strategy")
        if not (live or found.drafts or failed):
            out.append("Nothing was proposed. Go on where you were: nobrakes shape --continue")
        return "\n".join(out)

    return Output({"exit": code, "live": live, "drafts": plain(found.drafts)}, text, failed)


def reshape(go_on: GoOn = False, print_only: PrintOnly = False, as_json: JsonPrompt = False) -> Output:
    """Plan the next increment: the Shaper begins with what was escalated, suggested and learnt.

    Otherwise as `nobrakes shape`.
    """
    return shape(reshape=True, go_on=go_on, print_only=print_only, as_json=as_json)


def commit_strategy(
    yes: Annotated[bool, Option("--yes", "-y", help="Approve without being asked.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    as_json: Annotated[bool, Option("--json", help="Print JSON; needs --yes or --dry-run.")] = False,
) -> Output:
    """Approve the drafts: they go live and may be worked on. All of them, or none.

    Shows first what would change: the new beads, what was edited or cancelled since the last time, what becomes ready
    and the longest chain. Then it asks. The graph is committed on main as .nobrakes/beads.jsonl, also when there is no
    draft and only other things changed.
    """
    from ..host.locks import holder
    from ..operations.forge import approving
    from ..operations.forge.approving import Approved

    with opened() as app:
        if dry_run:
            difference = approving.difference(app.store)
            return Output(plain(difference), lambda screen: _difference(difference, screen))
        if not app.store.by_priority([Status.DRAFT]):
            done = approving.commit_strategy(app.store, app.git, app.paths, actor())
            kept = f"; the snapshot is on main as {done.commit[:12]}" if done.commit else ""
            return said(plain(Approved((), done.commit)), f"there is no draft to approve{kept}")
        if not yes:
            difference = approving.difference(app.store)
            if as_json or not sys.stdin.isatty():
                raise UsageError(
                    f"{count(len(difference.drafts), 'draft')} would go live, and nobody is here to be asked",
                    "Look with `nobrakes commit-strategy --dry-run`, then run `nobrakes commit-strategy --yes`.",
                )
            write(_difference(difference, screen_of(sys.stdout)))
            if not confirm("Let them go live?"):
                return said(plain(Approved((), None)), "nothing was changed")
        done = approving.commit_strategy(app.store, app.git, app.paths, actor())
        begun = holder(app.paths.lock) is not None
    on_main = f"; the snapshot is on main as {done.commit[:12]}" if done.commit else ""
    data = plain(Approved(done.beads, done.commit))
    then = "" if begun else "\nlet the work begin: nobrakes run"
    return said(data, f"{count(len(done.beads), 'bead')} went live{on_main}{then}")


def _drafts(found: "Strategy", screen: Screen) -> list[str]:
    """A line for each of the first drafts."""
    drafts, needs = found.drafts, found.needs
    wide = max(width(draft.id) for draft in drafts[:SHOWN])
    out = []
    for draft in drafts[:SHOWN]:
        after = f"  (after {', '.join(needs[draft.id])})" if needs.get(draft.id) else ""
        line = f"{pad(draft.id, wide)}  P{draft.priority}  {one_line(draft.title)}{after}"
        out.append(f"  {screen.paint('+', 'green')} {cut(line, screen.width - 4)}")
    return out + ([f"  … {len(drafts) - SHOWN} more: nobrakes list --status draft"] if len(drafts) > SHOWN else [])


def _difference(found: "Strategy", screen: Screen) -> str:
    out = [f"{count(len(found.drafts), 'draft')} would go live" + (":" if found.drafts else "")]
    out += _drafts(found, screen) if found.drafts else []
    out += _named("edited since the last commit-strategy", found.changed, ", ")
    out += _named("cancelled since then", found.removed, ", ")
    out += [screen.paint(f"never start: {', '.join(circle.stuck)}", "red") for circle in found.deadlocks]
    out += _named("ready at once", found.becomes_ready, ", ")
    out += _named("longest chain", found.critical_path, " -> ")
    return "\n".join(out)


def _named(word: str, ids: "Sequence[str]", between: str) -> list[str]:
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return [f"{word}: {between.join(ids[:SHOWN])}{more}"] if ids else []


def prompt(
    bead: BeadId,
    role: Annotated[str | None, Option("--role", help="test_writer or doer; what comes next unless told.")] = None,
) -> Output:
    """What the next agent on this bead would be given: its persona, then its prompt. Starts nothing.

    The real prompt differs in one word: the nonce that fences off what earlier agents wrote.
    """
    from ..core.beads.bead import Role
    from ..operations.forge import approving

    allowed = {found.value: found for found in (Role.TEST_WRITER, Role.DOER)}
    if role is not None and role not in allowed:
        raise UsageError(f"'{one_line(role)[:40]}' is not a role with a bead", "Use test_writer or doer.")
    with opened() as app:
        known(app.store, bead)
        found = approving.bead_prompt(app.store, app.paths, app.config, bead, allowed[role] if role else None, app.git)
    data = {"bead": bead, "system": found.system, "prompt": found.prompt}
    return Output(data, lambda screen: "\n".join([*lines(found.system), "", *lines(found.prompt)]))
