"""What every page has around its own content: the bar, the ways to the other pages, and what its scripts begin with."""

import base64
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

if TYPE_CHECKING:
    from ..operations.views.bar import BarView

BOOT = secrets.token_hex(6)
"""Of this process: a page of an earlier one begins anew."""


@dataclass(frozen=True, slots=True)
class Way:
    """An entry of the navigation; `path` goes on after `/r/<repo>/`. `is_first`: in the bar of a phone too."""

    name: str
    path: str
    icon: str
    is_first: bool = False


WAYS = (
    Way("Now", "", "now", True),
    Way("Desk", "desk", "desk", True),
    Way("Board", "board", "board", True),
    Way("Graph", "graph", "graph", True),
    Way("Live", "live", "live", True),
    Way("Plan", "plan", "plan"),
    Way("Features", "features", "plan"),
    Way("Merges", "merges", "merges"),
    Way("Requests", "requests", "merges"),
    Way("Breaker box", "breaker", "breaker"),
    Way("Health", "health", "health"),
    Way("Set-up", "set-up", "setup"),
    Way("Sessions", "sessions", "sessions"),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """`repo` is the word of the repository in addresses, empty on pages above them; `way` the page that is shown.

    `here` is the address of this page, `said` what was just done.
    """

    repo: str = ""
    bar: "BarView | None" = None
    ways: tuple[Way, ...] = ()
    way: str | None = None
    topics: str = ""
    boot: str = BOOT
    is_in: bool = False
    here: str = "/"
    said: str = ""

    def to(self, path: str = "") -> str:
        """The address of a page of this repository."""
        return f"/r/{self.repo}/{path}"


def bare() -> Frame:
    """A page that belongs to no repository."""
    return Frame()


def frame(request: Request, topics: Sequence[str] = ()) -> Frame:
    """The frame of what answers this request."""
    is_in = bool(request.scope.get("nobrakes.session"))
    app = getattr(request.state, "app", None)
    here, said = _here(request), said_in(request) if is_in else ""
    if app is None:
        return Frame(is_in=is_in, topics=" ".join(topics), here=here, said=said)
    from ..operations.views.bar import bar

    rest = request.url.path.removeprefix(f"/r/{request.state.word}/")
    ways = available(request, app.config.review.by_request)
    there = [way.path for way in ways if rest == way.path or (way.path and rest.startswith(way.path + "/"))]
    return Frame(
        request.state.word,
        bar(app.store, app.paths, app.config),
        ways,
        there[0] if there else None,
        " ".join(topics),
        is_in=is_in,
        here=here,
        said=said,
    )


def _here(request: Request) -> str:
    query = request.url.query
    return request.url.path + (f"?{query}" if query else "")


def said_in(request: Request) -> str:
    """What the command before this page said; it comes with the browser, so it is shown as any text is."""
    word = request.cookies.get(f"{request.app.state.site.cookie}_said", "")
    try:
        return base64.urlsafe_b64decode(word.encode("ascii"))[:400].decode()
    except ValueError:
        return ""


def forget_said(request: Request, answer: Response) -> None:
    """It is shown once."""
    site = request.app.state.site
    answer.delete_cookie(f"{site.cookie}_said", path="/", secure=site.is_secure, httponly=True, samesite="strict")


def available(request: Request, has_requests: bool) -> tuple[Way, ...]:
    """The ways to pages that there are; to the requests where work lands by them."""
    paths = request.app.state.paths
    found = (way for way in WAYS if f"/r/{{repo}}/{way.path}" in paths)
    return tuple(way for way in found if has_requests or way.path != "requests")
