"""The pieces of pages that come again when something changed, by topic: rendered by the macros that made them first."""

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from .frame import Frame
from .rendering import environment, part

if TYPE_CHECKING:
    from ..app import App

Parts = Callable[["App", Frame], dict[str, str]]
_KEY = re.compile(r'name="request" value="[^"]*"')


def without_keys(html: str) -> str:
    """The piece without what is drawn anew each time: equal pieces are not sent again."""
    return _KEY.sub("", html)


def frame_of(app: "App", word: str) -> Frame:
    """The frame of a piece, which belongs to no request."""
    from ..operations.views.bar import bar

    return Frame(word, bar(app.store, app.paths, app.config), is_in=True, here=f"/r/{word}/")


def _bar(app: "App", frame: Frame) -> dict[str, str]:
    pieces = {"bar-state": "bar.html", "desk-badge": "badge.html"}
    return {id: environment().get_template(name).render(frame=frame).strip() for id, name in pieces.items()}


def _now(app: "App", frame: Frame) -> dict[str, str]:
    from ..operations.views import now as views

    view = views.now(app.store, app.paths, app.config, app.misconfigured)
    macros = ("counts", "needs", "broken", "working", "merged", "news")
    return {f"now-{name}": part("now_parts.html", name, frame, view).strip() for name in macros}


def _board(app: "App", frame: Frame) -> dict[str, str]:
    from ..operations.views import columns

    view = columns.columns(app.store, "")
    there = {f"column-{it.name}": part("board_parts.html", "column", frame, view, it).strip() for it in view.columns}
    absent = {f"column-{name}": part("board_parts.html", "absent", name).strip() for name in columns.HEADINGS}
    return absent | there


PARTS: Mapping[str, Parts] = {"bar": _bar, "now": _now, "board": _board}
"""A topic that is not here tells its page only that something happened; the page then asks for itself again."""
