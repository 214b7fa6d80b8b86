"""The Forge's conversations: shaping, reshaping, and the prompts that agents get."""

import os
import sys
from typing import Annotated

from typer import Option

from ..core.errors import AgentFailed, UsageError
from ..core.public.values import plain
from ..environ import process_environment
from ..wording.text import count, lines, one_line
from .output import Output, write
from .repository import BeadId, known, opened
from .screen import Screen
from .strategy import difference_lines, waiting

PrintOnly = Annotated[bool, Option("--print", help="Only print the Shaper's prompt; start nothing.")]
GoOn = Annotated[bool, Option("--continue", help="Go on with the last session instead of a new one.")]
JsonPrompt = Annotated[bool, Option("--json", help="Print the prompt as JSON; start nothing.")]
BEGINS = """\
The Shaper begins, in Claude Code. If that asks whether you trust the folder
.nobrakes/shaper: it belongs to nobrakes, and the session runs there.
What is proposed waits for you: /commit-strategy approves, /exit leaves and keeps it.
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
    from ..operations.forge import approving, conversation, shaper, strategy

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
        talk = conversation.conversation(app.paths, app.config, prompt, process_environment(), go_on)
        conversation.install_skills(app.paths, app.config.agents.shaper)
        command.install(app.paths)
        before = approving.approved(app.store)
    write(BEGINS)
    code = run_interactive(talk.argv, talk.env, talk.cwd)
    with opened() as app:
        live = sorted(approving.approved(app.store) - before)
        found = strategy.strategy(app.store)
    failed = AgentFailed(f"the Shaper's session ended with exit code {code}") if code else None

    def text(screen: Screen) -> str:
        out = [screen.paint("error: ", "red") + f"{failed}\n  {failed.hint}"] if failed else []
        if live:
            out.append(f"{count(len(live), 'bead')} went live. Let the work begin: nobrakes run")
        if not found.is_empty:
            out += [f"{waiting(found)} for your approval:", *difference_lines(found, screen)]
            out.append("see it again, and approve: nobrakes commit-strategy")
        if not (live or not found.is_empty or failed):
            out.append("Nothing was proposed. Go on where you were: nobrakes shape --continue")
        return "\n".join(out)

    data = {"exit": code, "live": live, "drafts": plain(found.drafts), "proposed": plain(found.proposed)}
    return Output(data, text, failed)


def reshape(go_on: GoOn = False, print_only: PrintOnly = False, as_json: JsonPrompt = False) -> Output:
    """Plan the next increment: the Shaper begins with what was escalated, suggested and learnt.

    Otherwise as `nobrakes shape`.
    """
    return shape(reshape=True, go_on=go_on, print_only=print_only, as_json=as_json)


def prompt(
    bead: BeadId,
    role: Annotated[
        str | None,
        Option(
            "--role",
            help="test_writer or doer; of a feature discovery, planning, replanning or plan_reviewer. "
            "What comes next if not given.",
        ),
    ] = None,
) -> Output:
    """What the next agent on this bead, or this feature, would be given: its persona, then its prompt. Starts nothing.

    The real prompt differs in one word: the nonce that fences off what agents wrote.
    """
    from ..core.beads.bead import Role
    from ..operations.forge import approving
    from ..operations.shapers import prompting

    with opened() as app:
        known(app.store, bead)
        if any(one.id == bead for one in app.store.features(going=False)):
            _one_of(role, prompting.ROLES, "a role with a feature")
            found = prompting.feature_prompt(app.store, app.paths, app.config, app.git, bead, role)
        else:
            _one_of(role, (Role.TEST_WRITER.value, Role.DOER.value), "a role with a bead")
            wanted = None if role is None else Role(role)
            found = approving.bead_prompt(app.store, app.paths, app.config, bead, wanted, app.git)
    data = {"bead": bead, "system": found.system, "prompt": found.prompt}
    return Output(data, lambda screen: "\n".join([*lines(found.system), "", *lines(found.prompt)]))


def _one_of(role: str | None, allowed: tuple[str, ...], what: str) -> None:
    if role is not None and role not in allowed:
        raise UsageError(f"'{one_line(role)[:40]}' is not {what}", f"Use one of: {', '.join(allowed)}.")
