"""What an agent may say about its own bead: the help, the errors and the rarer spellings of `nobrakes agent …`.

cli.hot answers the usual spellings faster. Texts are an argument, or stdin for '-'.
"""

from typing import Annotated

import typer

from ..core.errors import UsageError
from . import door
from .opened import text_or_stdin
from .output import Output, said
from .screen import paragraph
from .text import one_line

Text = Annotated[str, typer.Argument(help="The text; '-' reads it from stdin.")]


def _say(verb: str, text: str) -> Output:
    door.say(verb, text_or_stdin(text, "text"))
    return said({"written": True}, "written down")


def log(text: Text) -> Output:
    """Write a line into the bead's log, for whoever works on it later.

    Example: nobrakes agent log "The parser is done; the writer still lacks CRLF"
    """
    return _say("log", text)


def progress(text: Text) -> Output:
    """Say how far you are. The person sees it on the board."""
    return _say("progress", text)


def notify(text: Text) -> Output:
    """Tell the person something, without waiting for an answer."""
    return _say("notify", text)


def ask(
    question: Annotated[str, typer.Argument(help="The question; '-' reads it from stdin.")],
    wait: Annotated[float, typer.Option("--wait", min=0, help="Seconds to wait for the answer.")] = 0,
) -> Output:
    """Ask the person a question. The same question is asked once; its answer comes with the next attempt.

    Example: nobrakes agent ask --wait 120 "Is UTC right for the report?"
    """
    number, answer = door.ask(text_or_stdin(question, "question"), wait)
    text = door.no_answer(number) if answer is None else paragraph(answer, "")
    return said({"escalation": number, "answer": answer}, text)


def escalate(
    suggestion: Annotated[str, typer.Argument(help="What should be done, in one line; '-' reads stdin.")],
    detail: Annotated[str, typer.Option("--detail", help="More about it; '-' reads stdin.")] = "",
) -> Output:
    """Suggest work that is outside your bead. You go on with your own; a person decides about it."""
    detail = text_or_stdin(detail, "detail") if detail else ""
    number = door.escalate(text_or_stdin(suggestion, "suggestion"), detail)
    return said({"escalation": number}, f"filed as escalation {number}; go on with your bead")


def answer(
    number: Annotated[int | None, typer.Argument(metavar="N", help="The question's number; the last one.")] = None,
) -> Output:
    """Read the answer to a question of yours."""
    found, text = door.answer(number)
    shown = door.no_answer(found) if text is None else paragraph(text, "")
    return said({"escalation": found, "answer": text}, shown)


def done(
    ended: Annotated[str | None, typer.Argument(metavar="OUTCOME", help="As --outcome.")] = None,
    outcome: Annotated[
        str | None,
        typer.Option("--outcome", help="completed (unless told), gave_up_context, gave_up_tests, failed or blocked."),
    ] = None,
    summary: Annotated[str, typer.Option("--summary", help="What you did; '-' reads stdin.")] = "",
    blockers: Annotated[str, typer.Option("--blockers", help="What stopped you.")] = "",
    learnings: Annotated[str, typer.Option("--learnings", help="What the next one should know.")] = "",
    discard_branch: Annotated[
        bool, typer.Option("--discard-branch/--keep-branch", help="Whether the next attempt starts without it.")
    ] = False,
) -> Output:
    """Hand in: how it ended, and what the next one should know. Commit first; then end your session.

    A discarded branch is archived, not lost.

    Example: nobrakes agent done completed --summary "The header parser, with its errors"
    """
    if ended is not None and outcome is not None and ended != outcome:
        raise UsageError("two outcomes were given", "Name one.")
    word = (ended or outcome or "completed").lower()
    if word not in door.OUTCOMES:
        raise UsageError(f"'{one_line(word)[:40]}' is not an outcome", f"Use one of: {', '.join(door.OUTCOMES)}.")
    summary = text_or_stdin("-", "summary") if summary == "-" else summary
    door.done(door.OUTCOMES[word], summary, blockers, learnings, not discard_branch)
    return said({"outcome": door.OUTCOMES[word]}, "handed in: now end your session")
