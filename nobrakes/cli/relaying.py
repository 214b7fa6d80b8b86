"""Relay sessions from the command line: `nobrakes relay`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core.errors import NotARepository, UsageError
from ..wording.text import count, lasted, lines, one_line
from .output import Output, plain, said
from .repository import STARTING_SECONDS, actor, opened_or_home, text_or_stdin
from .screen import Screen

if TYPE_CHECKING:
    from ..app import App
    from ..operations.relay import Summary


def relay(
    words: Annotated[
        list[str] | None,
        Argument(metavar="[REPO] PROMPT", help="What is to be done ('-': stdin), and where."),
    ] = None,
    agent: Annotated[str, Option("--agent", help="Which agent; else the first of agents.doer.")] = "",
    model: Annotated[str, Option("--model", help="Its model; else that of the settings.")] = "",
    session: Annotated[
        int | None, Option("--session", min=1, help="Go on in this one; without a prompt: what it came to.")
    ] = None,
) -> Output:
    """Let an agent work in a private clone of a repository while you are away. You get a branch; no checkout changes.

    When it stops, the Desk asks "what next?": your answer, or `nobrakes relay --session N PROMPT`, goes on in the same
    session. Where nobrakes is not set up, the session is your own (`nobrakes sessions --user`).

    Example: nobrakes relay ~/code/shop "Mend the failing test of the basket"
    """
    if session is not None:
        return _go_on(session, words or [])
    where, prompt = _asked(words or [])
    with _place(where) as (app, repository):
        from ..operations import relay as operations

        wanted = operations.Wanted(text_or_stdin(prompt, "prompt"), agent, model, repository)
        made = operations.start(app.store, app.paths, app.config, wanted, actor())
        started = _daemon(app)
    user = " --user" if repository else ""
    text = (
        f"session {made.id} works with {made.agent} in a clone of its own{started}\n"
        f"  `nobrakes watch session~{made.id}{user}` follows it, `nobrakes session stop {made.id}{user}` stops it\n"
        f"  `nobrakes relay --session {made.id}` says what it came to"
    )
    return said({"session": plain(made)}, text)


def _asked(words: list[str]) -> tuple[str, str]:
    """(the folder, the prompt)."""
    if len(words) == 1:
        return ".", words[0]
    if len(words) == 2:
        return words[0], words[1]
    example = 'For example: nobrakes relay ~/code/shop "Mend the failing test of the basket"'
    raise UsageError("relay takes a prompt, and perhaps a folder before it", example)


@contextmanager
def _place(where: str) -> "Iterator[tuple[App, str]]":
    """(who keeps the session, the repository where that is another one). NotARepository."""
    from .. import paths
    from ..app import open_app

    folder = os.path.realpath(os.path.expanduser(where))
    root = paths.repository_root(folder) if os.path.isdir(folder) else None
    if root is None:
        raise NotARepository(f"{one_line(where)} is in no git repository", "Name the folder of a repository.")
    if paths.find(folder) is not None:
        with open_app(folder) as app:
            yield app, ""
        return
    with opened_or_home(True) as app:
        yield app, root


def _daemon(app: "App") -> str:
    """See to a daemon that runs the session; what to say of it. None is started where that would start beads, too."""
    from ..operations import daemons

    if daemons.running(app.paths) is not None:
        return ""
    ready = len(app.store.ready(100))
    if ready:
        return f"\n  no daemon works there: `nobrakes daemon start` runs it, and {count(ready, 'bead')} that is ready"
    return f"; a daemon was started (process {daemons.start(app.paths, STARTING_SECONDS)})"


def _go_on(number: int, words: list[str]) -> Output:
    from ..operations import relay as operations

    if len(words) > 1:
        raise UsageError("with --session there is one prompt", "Put it into quotes.")
    with _keeper(number) as app:
        if not words:
            found = operations.summary(app.store, app.paths, number)
            return Output(plain(found), lambda screen: "\n".join(_page(found, screen)))
        operations.go_on(app.store, app.paths, number, text_or_stdin(words[0], "prompt"), actor())
        started = _daemon(app)
    return said({"session": number}, f"session {number} goes on{started}")


@contextmanager
def _keeper(number: int) -> "Iterator[App]":
    """Who has the session: the repository around the current folder, or else the person's own place."""
    from .. import paths

    with opened_or_home(paths.find() is None) as app:
        yield app


def _page(found: "Summary", screen: Screen) -> list[str]:
    one = found.session
    out = [screen.paint(f"session {one.id}: {one_line(one.title)}", "bold")]
    spent = f", {one.cost_usd:.2f} $, {one.tokens} tokens" if one.tokens or one.cost_usd else ""
    out.append(f"{one.state.value}, {count(found.turns, 'turn')}, {lasted(found.seconds)} at work{spent}")
    out.append(f"of {one_line(found.repository)}")
    out.append(f"branch {one_line(found.branch)}" if found.branch else "nothing is committed yet")
    out += [f"  {commit[:12]} {one_line(subject)}" for commit, subject in found.commits]
    out += [f"  {what} {one_line(path)}" for what, path in found.files]
    out += [f"tests: {one_line(command)}" for command in found.tests]
    out += ["its last words:", *(f"  {line}" for line in lines(found.last_words))] if found.last_words else []
    return out
