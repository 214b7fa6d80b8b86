"""Logging in with a code from the terminal, and out again.

1. The code stands in the fragment of a link, which no log and no other site sees; a script posts it. Without scripts
   it is typed.
2. A code is good once. A right one is always taken: any program of this machine may send wrong ones, and must not keep
   the person from "Stop everything". Guessing is hopeless without a lock: a code is one of 2**50 and good for two
   minutes, so a million tries a second find one with a chance of one in ten million. After ten wrong ones within a
   minute the answer is 429, and no more lines of the log are written for them.
"""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ..operations.machine_wide.web_state import SESSION_SECONDS
from .rendering import render
from .site import LOG, Site

WRONG = "This code is wrong, was used before, or is older than two minutes."


def site_of(request: Request) -> Site:
    """The server's own facts."""
    found = request.app.state.site
    assert isinstance(found, Site)
    return found


def local(path: str) -> str:
    """`path` where it is one of our own pages; else the first page."""
    is_ours = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable() and "\\" not in path
    return path if is_ours and not path.startswith("/login") else "/"


def login(request: Request) -> Response:
    """The form to log in."""
    if request.scope.get("nobrakes.session"):
        return RedirectResponse(local(request.query_params.get("next", "/")), 303)
    return _form(request, local(request.query_params.get("next", "/")))


def _form(request: Request, then: str, wrong: str = "", status: int = 200) -> Response:
    name = (request.url.hostname or "").lower()
    is_shared = name in ("127.0.0.1", "localhost", "nobrakes.localhost")
    return render(request, "login.html", status=status, then=then, wrong=wrong, is_shared=is_shared)


async def exchange(request: Request) -> Response:
    """A session for a code."""
    site = site_of(request)
    form = await request.form(max_files=0, max_fields=4, max_part_size=4096)
    then, code = local(str(form.get("next", "/"))), str(form.get("code", ""))
    if not site.state.use_code(code):
        if site.is_flooded("login refused: the code is wrong, used or too old"):
            return _form(request, then, f"{WRONG} Many wrong codes arrive; a right one works all the same.", 429)
        return _form(request, then, WRONG, 401)
    answer = RedirectResponse(then, 303)
    secret = site.state.new_session()
    # Lax: a link in a notice leads to its page. No domain: no other host is sent it.
    answer.set_cookie(
        site.cookie, secret, max_age=int(SESSION_SECONDS), path="/", secure=site.is_secure, httponly=True,
        samesite="lax",
    )  # fmt: skip
    LOG.info("login: session %s began", site.state.session(secret))
    return answer


def logout(request: Request) -> Response:
    """End this session."""
    site = site_of(request)
    secret = request.scope.get("nobrakes.secret")
    if secret:
        site.state.end_session(secret)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(site.cookie, path="/", secure=site.is_secure, httponly=True, samesite="lax")
    return answer
