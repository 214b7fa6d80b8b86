"""The repositories of a person: registered when they are set up or worked in, listed, forgotten.

1. Looking at a repository is bounded: each is looked at beside the others, for a moment, and what does not answer
   (a folder on a disk that hangs, a database that is locked or damaged) is shown without it.
2. Nothing is written into a repository that is only listed.
"""

import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from ...core.errors import NobrakesError, NotAllowed, UsageError
from ...host.locks import holder
from ...paths import FOLDER, Paths
from ...place import UserPlace, require_own, require_safe, user_place
from ...store.conditions import now
from ...store.user.database import Repository, UserStore
from ...store.user.peek import open_escalations
from ..waking import wake
from . import identity
from .own_database import opened

PATIENCE_SECONDS = 2.0
"""So long all repositories together may take to answer."""
LOCK_SECONDS = 1.0
"""So long who only looks waits for another process's transaction."""
AT_WORK, STOPPED, GONE, SILENT = "daemon runs", "stopped", "gone", "does not answer"


@dataclass(frozen=True, slots=True)
class RepositoryView:
    """One line. `escalations` None: nobody could say."""

    path: str
    name: str
    state: str
    escalations: int | None
    seen_at: float


def known(place: UserPlace) -> UserStore | None:
    """The database for who only looks; None: there is none yet. PlaceUnusable."""
    if not require_safe(place.state) or not os.path.lexists(place.database):
        return None
    require_own(place.database)
    return UserStore(place.database, now, is_reading=True, patience=LOCK_SECONDS)


def register(store: UserStore, root: str) -> str:
    """Know the repository at `root` from now on, or know where it is now; its identity, empty where it has no git."""
    word = identity.identity(root) or identity.draw(root)
    # a path that is no text can be read by people, and not be opened: it is listed as gone
    shown = root.encode("utf-8", "backslashreplace").decode()
    before = next((one for one in store.repositories() if one.identity == word), None)
    if before is not None and _is_copy(root, before, word):
        word = identity.draw(root)
    if word:
        store.register(word, shown, os.path.basename(shown))
    return word


def _is_copy(root: str, before: Repository, word: str) -> bool:
    """Whether the repository that was known by the word is still there, beside this one."""
    there = before.path != root and identity.identity(before.path) == word
    return there and not identity.is_same(before.path, root)


def register_here(root: str) -> str:
    """Know the repository at `root`; why that is not possible, empty: it is known."""
    try:
        store = opened(UserStore)
        try:
            return "" if register(store, root) else "it has no git folder"
        finally:
            store.close()
    except NobrakesError as error:
        return str(error)


def repositories() -> list[RepositoryView]:
    """All that are known, by path, as they are now."""
    store = known(user_place())
    if store is None:
        return []
    try:
        return looked_at([one for one in store.repositories() if one.path != os.path.realpath(user_place().home)])
    finally:
        store.close()


def paths() -> list[str]:
    """Where all that are known are, without a look at any of them. NotAllowed in a run, PlaceUnusable."""
    place = user_place()
    store = known(place)
    if store is None:
        return []
    try:
        home = os.path.realpath(place.home)
        return [one.path for one in store.repositories() if one.path != home]
    finally:
        store.close()


def looked_at(found: Sequence[Repository]) -> list[RepositoryView]:
    """What can be said of each within the time."""
    answers: dict[str, RepositoryView] = {}

    def look(one: Repository) -> None:
        answers[one.identity] = _view(one)

    threads = [threading.Thread(target=look, args=(one,), daemon=True, name=f"look at {one.path}") for one in found]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + PATIENCE_SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    silent = (RepositoryView(one.path, one.name, SILENT, None, one.seen_at) for one in found)
    return [answers.get(one.identity, view) for one, view in zip(found, silent, strict=True)]


def _view(one: Repository) -> RepositoryView:
    paths = Paths(os.path.join(one.path, FOLDER))
    try:
        if identity.identity(one.path) != one.identity or not os.path.exists(paths.config):
            return RepositoryView(one.path, one.name, GONE, None, one.seen_at)
        state = STOPPED if holder(paths.lock) is None else AT_WORK
    except Exception:  # whatever is wrong there, the others are shown
        return RepositoryView(one.path, one.name, SILENT, None, one.seen_at)
    return RepositoryView(one.path, one.name, state, open_escalations(paths.database), one.seen_at)


def forget(path: str) -> str:
    """Know the repository at `path` no more; its whole path. UsageError, NotAllowed while its daemon runs."""
    store = opened(UserStore)
    try:
        whole = os.path.realpath(path)
        found = next((one for one in store.repositories() if one.path in (path, whole)), None)
        if found is None:
            raise UsageError(f"no repository is known at {path}", "`nobrakes repositories` lists them.")
        if _view(found).state == AT_WORK:
            raise NotAllowed(f"a daemon works in {found.path}", "`nobrakes daemon stop` there ends it in order.")
        store.forget(found.identity)
        return found.path
    finally:
        store.close()


def wake_all(place: UserPlace) -> None:
    """Have every daemon of this machine look now; who is not there needs no word."""
    store = known(place)
    if store is None:
        return
    try:
        found = store.repositories()
    finally:
        store.close()
    for one in found:
        paths = Paths(os.path.join(one.path, FOLDER))
        with suppress(OSError, NobrakesError):
            if holder(paths.lock) is not None:
                wake(paths)
