"""Sessions from the command line: `nobrakes session …` and `nobrakes sessions`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core.public.values import plain
from ..wording.text import count, cut, lines, one_line, pad
from .output import Output, said
from .repository import UserPlace, actor, opened_or_home, see_to_a_daemon, text_or_stdin
from .screen import Screen

if TYPE_CHECKING:
    from ..core.sessions.session import Session
    from ..operations.conversations import SessionView

Number = Annotated[int, Argument(metavar="N", min=1, help="The session's number.")]


def start(
    text: Annotated[str, Argument(help="What is said first; '-' reads it from stdin.")],
    kind: Annotated[str, Option("--kind", help="planning or chat.")] = "planning",
    agent: Annotated[str, Option("--agent", help="Which agent; else agents.shaper of the settings.")] = "",
    title: Annotated[str, Option("--title", help="What it is about; else its first line.")] = "",
    user: UserPlace = False,
) -> Output:
    """Begin a session: a conversation with an agent that reads the repository and changes nothing.

    The daemon runs it turn by turn, beside the beads. Its answer is in `nobrakes session show N`, its questions are
    among the escalations.

    Example: nobrakes session start "What would it take to support Windows?"
    """
    from ..operations import conversations

    with opened_or_home(user) as app:
        text = text_or_stdin(text, "text")
        made = conversations.start(
            app.store, app.paths, app.config, text, kind=kind, agent=agent, title=title, actor=actor()
        )
        started = see_to_a_daemon(app, user)
    show = f"nobrakes session show {made.id}{' --user' if user else ''}"
    words = f"session {made.id} began with {made.agent}: `{show}` has its answer{started}"
    return said({"session": plain(made)}, words)


def say(
    number: Number,
    text: Annotated[str, Argument(help="What to say; '-' reads it from stdin.")],
    user: UserPlace = False,
) -> Output:
    """Say something to a session. An agent at work gets it with its next turn."""
    from ..operations import conversations

    with opened_or_home(user) as app:
        message = conversations.say(app.store, app.paths, number, text_or_stdin(text, "text"), actor())
        started = see_to_a_daemon(app, user)
    return said({"message": plain(message)}, f"said to session {number}{started}")


def stop(number: Number, user: UserPlace = False) -> Output:
    """Stop what a session does now. It keeps what it knows, and goes on with what is said to it next."""
    from ..operations import conversations

    with opened_or_home(user) as app:
        found = conversations.stop(app.store, app.paths, number, actor())
    words = "is asked to stop" if found.stop_asked else f"does nothing now: it is {found.state.value}"
    return said({"session": plain(found)}, f"session {number} {words}")


def end(number: Number, user: UserPlace = False) -> Output:
    """End a session. What was said in it stays readable."""
    from ..operations import conversations

    with opened_or_home(user) as app:
        found = conversations.end(app.store, app.paths, number, actor())
    return said({"session": plain(found)}, f"session {number} is ended")


def show(number: Number, user: UserPlace = False) -> Output:
    """One session with all that was said in it."""
    from ..operations import conversations

    with opened_or_home(user, is_reading=True) as app:
        found = conversations.view(app.store, number)
    return Output(plain(found), lambda screen: "\n".join(_page(found, screen)))


def _page(found: "SessionView", screen: Screen) -> list[str]:
    session = found.session
    page = [screen.paint(f"session {session.id}: {one_line(session.title)}", "bold")]
    spent = f", {session.cost_usd:.2f} $, {session.tokens} tokens" if session.tokens or session.cost_usd else ""
    turns = count(len(found.turns), "turn")
    page.append(f"{session.kind.value} with {session.agent}, {session.state.value}, {turns}{spent}")
    if session.detail and session.state.value in ("ready", "stuck"):
        page.append(f"the last turn: {cut(one_line(session.detail), 300)}")
    for one in found.messages:
        waits = "" if one.turn is not None else "  (waits for the next turn)"
        page += ["", screen.paint(f"{one.author or session.agent}:{waits}", "bold")]
        page += [f"  {line}" for line in lines(one.text)]
    for question in found.questions:
        page += ["", f"it asks, escalation {question.id}: {one_line(question.title)}"]
        page.append(f"  `nobrakes answer {question.id} TEXT`")
    return page


def sessions(
    everything: Annotated[bool, Option("--all", help="Those that were ended too, and those of attempts.")] = False,
    user: UserPlace = False,
) -> Output:
    """The sessions with agents that go on, newest first."""
    from ..operations import conversations

    with opened_or_home(user, is_reading=True) as app:
        found = conversations.listed(app.store, everything=everything)
        held = conversations.memory(app.store)
    return Output(plain(found), lambda screen: "\n".join(_rows(found, held)) or "no session goes on")


def _rows(found: "list[Session]", held: Mapping[int, int]) -> list[str]:
    return [
        f"{one.id:>5}  {pad(one.state.value, 8)} {pad(one.kind.value, 9)} {pad(one.agent, 8)} "
        f"{cut(one_line(one.title or one.owner), 60)}{f'  {held[one.id]} MB' if one.id in held else ''}"
        for one in found
    ]
