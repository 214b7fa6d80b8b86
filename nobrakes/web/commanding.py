"""`POST /r/<repo>/do/<command>`: a command of the table done once under its key, and where the person goes on.

1. Every form has a key (`request`). The same form sent again, by a second click, a retry or a phone in a tunnel, does
   nothing again and is answered the same (operations.public.requests).
2. What is dangerous is confirmed by typing its word. Where agents are in no sandbox they run as the same account, so
   it also takes a fresh code from the terminal.
3. Events are signed with the person and the way: `ada (web)`.
"""

import os
import secrets
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from ..core.errors import NobrakesError, UsageError
from ..core.public.actor import MOST, Actor, Surface, usual
from ..core.public.values import plain
from . import fields
from .commands import NOT_HERE, Command, named
from .login import local, site_of
from .opening import repository
from .site import LOG, Site

if TYPE_CHECKING:
    from ..app import App

MARK = " (web)"
Given = list[tuple[str, str]]


def actor() -> Actor:
    """The person whose server this is, by way of a page."""
    name = usual(
        os.environ.get("NOBRAKES_ACTOR") or os.environ.get("USER") or os.environ.get("LOGNAME") or "", Surface.WEB
    )
    return Actor(name.name[: MOST - len(MARK)] + MARK, Surface.WEB)


async def do(request: Request) -> Response:
    """Do it, then lead on: a script gets JSON, a form the page that it named."""
    address = request.path_params["command"]
    command = named(address)
    if command is None:
        why = NOT_HERE.get(address) or NOT_HERE.get(address.replace("-", " "), "")
        raise UsageError(f"no page can ask for '{address[:40]}'", why)
    form = await request.form(max_files=0, max_fields=200, max_part_size=fields.MOST_TEXT)
    given = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    session = str(request.scope["nobrakes.session"])
    result, said, again = await run_in_threadpool(
        perform, site_of(request), request.path_params["repo"], command, given, session
    )
    then = str(dict(given).get("then", ""))
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse({"ok": True, "command": command.words, "said": said, "again": again, "data": result})
    return _lead_on(request, local(then) if then else f"/r/{request.path_params['repo']}/", said)


def _lead_on(request: Request, then: str, said: str) -> Response:
    """To the page, which says what was done: in a cookie of its own, since an address could be made by anybody."""
    import base64

    answer = RedirectResponse(then, 303)
    words = base64.urlsafe_b64encode(said[:300].encode()).decode()
    site = site_of(request)
    answer.set_cookie(
        f"{site.cookie}_said", words, max_age=30, path="/", secure=site.is_secure, httponly=True, samesite="strict"
    )
    return answer


def perform(site: Site, word: str, command: Command, given: Given, session: str) -> tuple[Any, str, bool]:
    """(what it came to as JSON values, one line for people, whether it had been done before)."""
    import json

    from ..operations.public import requests
    from ..operations.waking import wake

    values = fields.values(command.fields, given)
    beside = dict(given)
    key = beside.get("request") or f"web-{secrets.token_hex(12)}"
    who = actor()
    with repository(word) as app:
        app.is_reading = False  # a command does not work with settings that are wrong
        wanted = requests.Once(key, requests.named(command.words, values), who, command.together)
        if command.danger and app.store.request(key) is None and command.is_dangerous(app, values):
            confirm(site, word, command, beside)

        def run() -> requests.Answer:
            data, said = command.do(app, values, who.name)
            return requests.Answer(0, json.dumps(plain(data)), said)

        answer, again = requests.once(app.store, app.paths, wanted, run)
        if not again:
            wake(app.paths)  # a daemon that was woken before the end of the transaction saw nothing yet
    LOG.info("command: %s by %s in session %s%s", command.words, who.name, session, ", done before" if again else "")
    if answer.error is not None:
        name, message, hint = answer.error
        raise _again(name, message, hint)
    return json.loads(answer.data), answer.text, again


def _again(name: str, message: str, hint: str) -> NobrakesError:
    from ..core import errors

    kind = getattr(errors, name, NobrakesError)
    return kind(message, hint) if isinstance(kind, type) and issubclass(kind, NobrakesError) else NobrakesError(message)


def confirm(site: Site, word: str, command: Command, beside: dict[str, str]) -> None:
    """UsageError unless it was confirmed."""
    typed = " ".join(beside.get("typed", "").split()).lower()
    if typed != command.danger:
        raise UsageError(f"'{command.words}' is confirmed by typing: {command.danger}", "Nothing was done.")
    with repository(word) as app:  # its settings may be wrong, and stopping still works
        if not takes_code(app):
            return
    hint = "Agents here run without a sandbox, as you do. `nobrakes web --code` in a terminal prints a code."
    if not site.state.use_code(beside.get("code", ""), confirms=True):
        site.is_flooded(f"a code to confirm '{command.words}' was wrong")
        raise UsageError(f"'{command.words}' takes a fresh code from the terminal", hint)


def takes_code(app: "App") -> bool:
    """Whether agents of this repository are in no sandbox, and so could be logged in as the person is."""
    mode = app.config.sandbox.mode
    return mode == "none" or bool(app.misconfigured) or bool(app.sandbox_trouble())
