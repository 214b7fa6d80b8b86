"""Pages from templates: everything in them is escaped, and every page has the same frame.

1. Text from agents is a value in a template and nothing else; nothing is marked as safe.
2. What people read is cleaned as on a terminal (wording.text): no control character, nothing that hides or turns text.
3. `part` renders one piece of a page alone, by the macro that made it first: what comes through the socket later is
   the same markup.
"""

import hashlib
import os
import secrets
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ..wording import hindrances, text, times

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = os.path.dirname(os.path.abspath(__file__))
STATIC = os.path.join(HERE, "static")


@cache
def version() -> str:
    """What the whole folder of static files is called: it changes with any of them, so that none is ever old."""
    found = hashlib.sha256()
    for name in sorted(os.listdir(STATIC)):
        with open(os.path.join(STATIC, name), "rb") as file:
            found.update(name.encode() + b"\0" + file.read())
    return found.hexdigest()[:12]


@cache
def environment() -> "Environment":
    """The templates."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(os.path.join(HERE, "templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "line": lambda value: text.one_line(str(value)),
        "paragraphs": lambda value: "\n".join(text.lines(str(value))),
        "cut": lambda value, columns: text.cut(text.one_line(str(value)), columns),
        "age": text.age,
        "count": text.count,
        "when": times.spoken,
        "clock": times.clock,
        "iso": _iso,
        "words": lambda value: str(value).replace("_", " "),
    }
    made.globals |= {"told": hindrances.told}
    made.globals |= {"static": f"/static/{version()}", "new_key": lambda: f"web-{secrets.token_hex(12)}"}
    return made


def _iso(when: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(when, UTC).isoformat(timespec="seconds")


def render(
    request: Request, template: str, *, status: int = 200, topics: Sequence[str] = (), **values: Any
) -> Response:
    """A page. `topics`: what the page wants to hear of while it is open (nobrakes.web.live)."""
    from .frame import forget_said, frame

    around = frame(request, topics)
    made = environment().get_template(template).render(frame=around, **values)
    answer = HTMLResponse(made, status)
    if around.said:
        forget_said(request, answer)
    return answer


def part(template: str, macro: str, *values: Any, **named: Any) -> str:
    """One piece of a page: the macro of that template, called with the values."""
    module = environment().get_template(template).module
    return str(getattr(module, macro)(*values, **named))


def error_page(status: int, message: str, hint: str, frame: Mapping[str, Any] | None = None) -> str:
    """A page that says what went wrong, in the same look; it asks nothing of any repository."""
    from .frame import bare

    page = environment().get_template("error.html")
    return page.render(frame=frame or bare(), status=status, message=message, hint=hint)
