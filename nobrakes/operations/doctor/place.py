"""The doctor's look at what the repositories of a machine share."""

from collections.abc import Iterator

from ...core.errors import NobrakesError
from ...place import user_place
from ..machine_wide.views import trouble
from .findings import ERROR, OK, WARNING, Finding


def examine() -> Iterator[Finding]:
    """Whether the person's place can be used. Nothing is said to an agent, which may not look."""
    try:
        place = user_place()
    except NobrakesError:
        place = None
    text, stops = trouble()
    if text:
        yield Finding("place", ERROR if stops else WARNING, text)
    elif place is not None:
        yield Finding("place", OK, f"repositories share {place.state}, and your settings in {place.settings}")
