"""Checkouts in which a relay session works: one a checkout, said by a file in the person's own place.

1. The file names the session and the .nobrakes that it is kept in. It is there from the session's beginning until it
   has ended and nothing of it runs; merges that would move the checkout wait for that (landing).
2. Nothing of this lies in the repository. A file whose .nobrakes is gone, or that cannot be read, is nobody's.
"""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256

from ..core.errors import NotAllowed, PlaceUnusable
from ..place import make, user_place


@dataclass(frozen=True, slots=True)
class Claim:
    """Session `session` of the .nobrakes `folder` works in the checkout `root`."""

    root: str
    folder: str
    session: int


def place() -> str:
    """The folder of all that is kept for sessions in place. NotAllowed in a run, PlaceUnusable."""
    return os.path.join(user_place().state, "in-place")


def who(root: str) -> Claim | None:
    """Who works in the checkout; None: nobody."""
    with suppress(NotAllowed, PlaceUnusable):
        found = _read(_file(root))
        if found is not None and os.path.isdir(found.folder):
            return found
    return None


def take(wanted: Claim) -> None:
    """Work there from now on; the same claim twice is one. NotAllowed: another session works there."""
    make(os.path.dirname(place()))
    make(place())
    file, own = _file(wanted.root), json.dumps(asdict(wanted)).encode()
    there = who(wanted.root)
    if there is None:
        with suppress(FileNotFoundError):
            os.unlink(file)
        mine = f"{file}.{os.getpid()}"
        with open(os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
            opened.write(own)
        try:
            os.link(mine, file)  # whole from its first moment on, and one alone gets it
        except FileExistsError:
            pass
        finally:
            os.unlink(mine)
        there = _read(file)
    if there != wanted:
        by = f"session {there.session} of {os.path.dirname(there.folder)}" if there else "another session"
        ends = f"`nobrakes session end {there.session}` there ends it; " if there else ""
        hint = f"{ends}Without --in-place a session has a clone of its own."
        raise NotAllowed(f"{by} works in this checkout already, and only one may", hint)


def release(claim: Claim) -> None:
    """Nobody works there any more."""
    if who(claim.root) == claim:
        with suppress(FileNotFoundError):
            os.unlink(_file(claim.root))


def of_store(folder: str) -> Iterator[Claim]:
    """The claims of the sessions that this .nobrakes keeps."""
    try:
        where = place()
        names = sorted(os.listdir(where))
    except (NotAllowed, PlaceUnusable, FileNotFoundError):
        return
    for name in names:
        found = _read(os.path.join(where, name)) if name.endswith(".json") else None
        if found is not None and found.folder == folder:
            yield found


def kept(root: str) -> str:
    """Where is kept what lay in the checkout before each turn."""
    return _file(root).removesuffix(".json")


def _file(root: str) -> str:
    name = sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return os.path.join(place(), f"{name}.json")


def _read(file: str) -> Claim | None:
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as opened:
            found = json.load(opened)
        return Claim(str(found["root"]), str(found["folder"]), int(found["session"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None
