"""Checkouts in which a relay session works: one a checkout, said by a file in the person's own place.

1. The file names the session and the .nobrakes that it is kept in. It is there from the session's beginning until it
   has ended and nothing of it runs; merges that would move the checkout wait for that (landing).
2. Nothing of this lies in the repository. A file whose .nobrakes is gone, or that cannot be read, is nobody's.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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

    @property
    def ending(self) -> str:
        """What is typed there to end the session."""
        is_own = self.folder == os.path.join(self.root, ".nobrakes")
        return f"nobrakes session end {self.session}{'' if is_own else ' --user'}"


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
    """Work there from now on; the same claim twice is one. NotAllowed: another session works there, or nobody may."""
    refuse_home(wanted.root)
    make(os.path.dirname(place()))
    make(place())
    with _alone():
        there = who(wanted.root)
        if there is None:
            file = _file(wanted.root)
            with open(os.open(f"{file}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
                opened.write(json.dumps(asdict(wanted)).encode())
            os.replace(f"{file}.new", file)
        elif there != wanted:
            raise taken(there)


def taken(there: Claim) -> NotAllowed:
    """That another session works there."""
    return NotAllowed(
        f"session {there.session} of {os.path.dirname(there.folder)} works in this checkout already, and only one may",
        f"`{there.ending}` ends it; without --in-place a session has a clone of its own.",
    )


def refuse_home(root: str) -> None:
    """NotAllowed where the checkout holds the home of this account, or the person's own place: an agent would, too."""
    found = user_place()
    inside = os.path.join(os.path.realpath(root), "")
    for path in (os.path.expanduser("~"), found.settings, found.state):
        if os.path.join(os.path.realpath(path), "").startswith(inside):
            raise NotAllowed(
                f"no session works in place in {root}: {path} lies in it, with what is yours alone",
                "Without --in-place a session has a clone of its own.",
            )


def release(claim: Claim) -> None:
    """Nobody works there any more."""
    with suppress(FileNotFoundError), _alone():
        if who(claim.root) == claim:
            os.unlink(_file(claim.root))


@contextmanager
def _alone() -> Iterator[None]:
    """While nobody else of this account changes a claim. FileNotFoundError: there is none."""
    descriptor = os.open(os.path.join(place(), "lock"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


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
