"""The person's database, opened for whoever writes to it: one file, of which each kind of store knows its tables."""

from typing import TypeVar

from ...place import make, require_own, user_place
from ...store.conditions import now
from ...store.user.connection import UserDatabase

Kind = TypeVar("Kind", bound=UserDatabase)


def opened(kind: type[Kind]) -> Kind:
    """The database, made where it is missing; the caller closes it. NotAllowed in a run, PlaceUnusable."""
    place = user_place()
    make(place.state)
    require_own(place.database)
    return kind(place.database, now)
