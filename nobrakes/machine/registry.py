"""The repositories of a person: registered when they are set up or worked in, listed, forgotten.

1. Looking at a repository is bounded: each is looked at beside the others, for a moment, and what does not answer
   (a folder on a disk that hangs, a database that is locked or damaged) is shown without it.
2. Nothing is written into a repository that is only listed.
"""

import os
import stat
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from .. import errors
from ..agents.limits import DAY_SECONDS, MachineLimits, MachineRoom, day_start, unknown_text
from ..config.user import (
    CHANGES,
    ENTERS,
    HINT,
    MachineSettings,
    UserConfig,
    UserPlace,
    edited,
    limits_of,
    load_user,
    make,
    require_own,
    require_safe,
    user_place,
)
from ..db.fast import now
from ..files import storage_errors, wake, write_atomic
from ..host.locks import holder, is_alive, locked
from ..paths import FOLDER, Paths, git_folder, typed_in
from ..records import frozen
from ..text.cleaning import one_line
from .db import Repository, UserDatabase, UserStore

if TYPE_CHECKING:
    pass

FILE = "nobrakes-identity"
_LENGTH = 32


# A repository is known by a word in its shared git folder, drawn once: no agent reaches it and no clone copies it. A
# copy of a whole folder is told by the original beside it, and draws a word of its own when it is registered.
def identity(root: str) -> str:
    """The identity of the repository at `root`; empty: none, or gone."""
    folder = git_folder(root)
    return _read(os.path.join(folder, FILE)) if folder else ""


def draw(root: str) -> str:
    """Give the repository a new identity; empty: no git."""
    if (folder := git_folder(root)) is None:
        return ""
    write_atomic(os.path.join(folder, FILE), f"{os.urandom(_LENGTH // 2).hex()}\n".encode(), 0o600)
    return identity(root)


def is_same(one: str, other: str) -> bool:
    """Whether two paths lead to one git folder."""
    folders = git_folder(one), git_folder(other)
    try:
        return all(folders) and os.path.samefile(str(folders[0]), str(folders[1]))
    except OSError:
        return False


def _read(path: str) -> str:
    with storage_errors(path):
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return ""
            word = file.read(_LENGTH + 2).decode("ascii", "replace").strip()
    return word if len(word) == _LENGTH and set(word) <= set("0123456789abcdef") else ""


Kind = TypeVar("Kind", bound=UserDatabase)


def opened(kind: type[Kind]) -> Kind:
    """Open the database, created if missing; the caller closes it. NotAllowed in a run, PlaceUnusable."""
    place = user_place()
    make(place.state)
    require_own(place.database)
    return kind(place.database, now)


TIMEOUT_SECONDS = 2.0
LOCK_SECONDS = 1.0
AT_WORK, STOPPED, GONE, SILENT = "daemon runs", "stopped", "gone", "does not answer"


@frozen
class RepositoryView:
    """One line. `for_you`: what waits for a person there; None: unknown. `is_own`: the person's own place."""

    path: str
    name: str
    state: str
    for_you: int | None
    seen_at: float
    is_own: bool


def known(place: UserPlace) -> UserStore | None:
    """For reading; None: no database yet. Raises PlaceUnusable."""
    if not require_safe(place.state) or not os.path.lexists(place.database):
        return None
    require_own(place.database)
    return UserStore(place.database, now, is_reading=True, timeout=LOCK_SECONDS)


def register(store: UserStore, root: str) -> str:
    """Register the repository at `root`, or its new path; returns its identity, empty without git."""
    word = identity(root) or draw(root)
    # a path that is not text can be read by people, and not be opened: it is listed as gone
    shown = root.encode("utf-8", "backslashreplace").decode()
    before = next((one for one in store.repositories() if one.identity == word), None)
    if before is not None and _is_copy(root, before, word):
        word = draw(root)
    if word:
        store.register(word, shown, os.path.basename(shown))
    return word


def _is_copy(root: str, before: Repository, word: str) -> bool:
    return before.path != root and identity(before.path) == word and not is_same(before.path, root)


def register_here(root: str) -> str:
    """Returns why that failed; empty: registered."""
    try:
        store = opened(UserStore)
        try:
            return "" if register(store, root) else "the repository has no git folder"
        finally:
            store.close()
    except errors.NobrakesError as error:
        return str(error)


VISIT_SECONDS = 3600.0
"""Who comes back later than this makes another visit; until then `nobrakes` shows what the visit began with."""


def last_visit(root: str, moment: float, is_visiting: bool) -> float | None:
    """When this person last looked at it before this visit (`is_visiting`: now); None: never, or not stored here."""
    before = last = 0.0
    try:
        if not (known := identity(root)):
            return None
        path = _visit_file(known)
        require_own(path)
        with suppress(FileNotFoundError, ValueError), open(path, encoding="ascii") as file:
            before, last = map(float, file.read(100).split())
        if moment - last > VISIT_SECONDS:
            before = last
        if is_visiting:
            folder = os.path.dirname(path)
            make(os.path.dirname(folder))
            make(folder)
            write_atomic(path, f"{before} {moment}\n".encode(), 0o600)
    except (errors.NobrakesError, OSError):
        return None
    return before or None


def _visit_file(identity: str) -> str:
    return os.path.join(user_place().state, "visits", identity)


ForYou = Callable[[Paths], int | None]
"""How much waits for a person in a repository; None: unknown."""


def repositories(for_you: ForYou) -> list[RepositoryView]:
    """By path, in their present state; also projects and the person's own place."""
    if (store := known(user_place())) is None:
        return []
    try:
        return looked_at(store.repositories(), for_you)
    finally:
        store.close()


def paths() -> list[str]:
    """Paths of known repositories without the person's own place, unread. NotAllowed in a run, PlaceUnusable."""
    if (store := known(user_place())) is None:
        return []
    try:
        return [one.path for one in store.repositories() if not is_own(one.path)]
    finally:
        store.close()


def looked_at(found: Sequence[Repository], for_you: ForYou) -> list[RepositoryView]:
    """What is known of each in time."""
    answers: dict[str, RepositoryView] = {}

    def look(one: Repository) -> None:
        answers[one.identity] = _view(one, for_you)

    threads = [threading.Thread(target=look, args=(one,), daemon=True, name=f"look at {one.path}") for one in found]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + TIMEOUT_SECONDS
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    silent = (_line(one, SILENT) for one in found)
    return [answers.get(one.identity, view) for one, view in zip(found, silent, strict=True)]


def is_own(path: str) -> bool:
    """Whether it is the person's own place, which no bead is for."""
    return path == os.path.realpath(user_place().home)


def _line(one: Repository, state: str, for_you: int | None = None) -> RepositoryView:
    name = "your own sessions" if (own := is_own(one.path)) else one.name
    return RepositoryView(one.path, name, state, for_you, one.seen_at, own)


def _view(one: Repository, for_you: ForYou) -> RepositoryView:
    paths = Paths(os.path.join(one.path, FOLDER))
    try:
        if identity(one.path) != one.identity or not os.path.exists(paths.config):
            return _line(one, GONE)
        return _line(one, STOPPED if holder(paths.lock) is None else AT_WORK, for_you(paths))
    except Exception:  # whatever is wrong there, the others are shown
        return _line(one, SILENT)


def works_there(path: str) -> errors.NotAllowed:
    return errors.NotAllowed(f"a daemon is running in {path}", f"To stop: `{typed_in(path, 'nobrakes daemon stop')}`.")


def forget(path: str) -> str:
    """Returns its full path. UsageError; NotAllowed while its daemon runs."""
    store = opened(UserStore)
    try:
        whole = os.path.realpath(path)
        found = next((one for one in store.repositories() if one.path in (path, whole)), None)
        if found is None:
            raise errors.UsageError(f"nobrakes knows no repository at {path}", "The list: `nobrakes repositories`.")
        if _view(found, lambda paths: None).state == AT_WORK:
            raise works_there(found.path)
        store.forget(found.identity)
        with suppress(OSError):
            os.unlink(_visit_file(found.identity))
        return found.path
    finally:
        store.close()


# Repositories without nobrakes, for the sessions that pages begin. A page names no path of its own, only one of this
# list, which is rebuilt each time. The list reads names of folders: no git runs, and no link is followed.
MAX_DEPTH, MAX_FOLDERS, MAX_ENTRIES, MAX_OFFERED = 3, 2000, 1000, 200
HOW_TO_NAME = "In a terminal, name the folder of your repositories: `nobrakes machine set session_roots=~/code`"


@frozen
class Offered:
    """The folders that the person named, and the repositories found there. `left_out`: there may be more."""

    roots: tuple[str, ...]
    repositories: tuple[str, ...]
    left_out: bool


def offered() -> Offered:
    """NotAllowed in a run, PlaceUnusable, ConfigError."""
    roots = tuple(os.path.realpath(os.path.expanduser(root)) for root in own_settings().machine.session_roots)
    found: set[str] = set()
    folders = [(root, 0) for root in roots]
    for folder, depth in folders:  # grows while it is read
        git = os.path.join(folder, ".git")
        if os.path.isdir(git) and not os.path.islink(git):
            found.add(folder)
        elif depth < MAX_DEPTH:
            with suppress(OSError), os.scandir(folder) as inside:
                names = [
                    one.path
                    for one in islice(inside, MAX_ENTRIES)
                    if one.name[0] != "." and one.name.isprintable() and one.is_dir(follow_symlinks=False)
                ]
                folders += [(path, depth + 1) for path in sorted(names)[: MAX_FOLDERS - len(folders)]]
    usable = sorted(path for path in found if not os.path.exists(Paths(os.path.join(path, FOLDER)).config))
    return Offered(roots, tuple(usable[:MAX_OFFERED]), len(usable) > MAX_OFFERED or len(folders) >= MAX_FOLDERS)


def require_offered(path: str) -> str:
    """The path of a repository that a session may begin in from a page. Raises NotAllowed."""
    known = offered()
    if path not in known.repositories or os.path.realpath(path) != path:
        what = f"git repository without nobrakes at most {MAX_DEPTH} folders below your session_roots"
        hint = "Choose a repository from the list, which does not follow links." if known.roots else HOW_TO_NAME
        raise errors.NotAllowed(f"'{one_line(path)[:300]}' is not the path of a {what}", hint)
    return path


def wake_all(place: UserPlace) -> None:
    """Wake every daemon of this machine."""
    if (store := known(place)) is None:
        return
    try:
        found = store.repositories()
    finally:
        store.close()
    for one in found:
        paths = Paths(os.path.join(one.path, FOLDER))
        with suppress(OSError, errors.NobrakesError):
            if holder(paths.lock) is not None:
                wake(paths)


# A file that was never made sets nothing. One that cannot be read may set limits, so they count as reached.
_PASSING = (errors.DiskFull, errors.MachineShort, errors.StoreBusy)


def own_settings() -> UserConfig:
    """NotAllowed in a run, PlaceUnusable, ConfigError."""
    return settings_at(user_place())


def settings_at(place: UserPlace) -> UserConfig:
    """Raises PlaceUnusable, ConfigError."""
    require_safe(place.settings)
    require_own(place.config)
    return load_user(place.config)


def require_changeable(place: UserPlace) -> None:
    """PlaceUnusable if usage cannot be recorded there."""
    if require_safe(place.state, CHANGES | ENTERS):
        require_own(place.database, CHANGES)


def unknown(limits: MachineLimits | None, error: errors.NobrakesError) -> MachineRoom | None:
    """The machine's state when `error` keeps limits (None) or usage from being read. None: nothing is limited."""
    if limits is not None and not limits.is_set:
        return None
    passes = isinstance(error, _PASSING)
    return MachineRoom(limits or MachineLimits(), unknown=str(error), mend=error.hint, passes=passes)


# The user daemon's repository, in the person's place: sessions, notices, caps and recovery work there as everywhere.
# Its `limits.doers` is 0, so its daemon decides no bead; whoever needs it starts it.
_README = """This repository belongs to nobrakes and contains no work. Your own sessions run in this repository:
the sessions that belong to no other repository (`nobrakes session start --user`).
"""
_SETTINGS = """# The settings of your own sessions.
main = "main"

[limits]
# No agent works on beads here.
doers = 0
"""


def home_paths() -> Paths | None:
    """None: not needed yet. NotAllowed in a run, PlaceUnusable."""
    home = user_place().home
    found = Paths(os.path.join(home, FOLDER))
    return found if require_safe(home) and os.path.exists(found.config) else None


def made() -> Paths:
    """Its paths, created if missing, once for all who ask. NotAllowed in a run, PlaceUnusable."""
    place = user_place()
    make(place.state)
    with locked(f"{place.home}.lock", "made"):
        return home_paths() or _made(place.home)


def _made(home: str) -> Paths:
    from ..config.setup.init import init
    from ..git import persons

    make(home)
    persons.begin(home, _README)
    found = Paths(os.path.join(home, FOLDER))
    try:
        os.makedirs(found.folder, mode=0o700, exist_ok=True)
        with open(found.config, "w", encoding="utf-8") as file:
            file.write(_SETTINGS)
    except OSError as error:
        raise errors.PlaceUnusable(f"cannot create {found.folder}: {error.strerror}") from None
    init(home)
    return found


@frozen
class Share:
    """One repository's usage. Empty `path`: forgotten."""

    path: str
    agents: int
    usd: float
    tokens: int


@frozen
class MachineView:
    """A snapshot; None: no such limit. `trouble`: why limits or usage are unreadable, so that nothing starts; `mend`:
    the fix."""

    agents: int | None
    usd_per_day: float | None
    tokens_per_day: int | None
    taken: int
    usd: float
    tokens: int
    day_ends_at: float
    repositories: tuple[Share, ...]
    trouble: str = ""
    mend: str = ""
    passes: bool = False
    session_roots: tuple[str, ...] = ()

    @property
    def is_limited(self) -> bool:
        return bool(self.trouble) or (self.agents, self.usd_per_day, self.tokens_per_day) != (None, None, None)


def view() -> MachineView:
    """NotAllowed in a run; PlaceUnusable without a place."""
    settings, shares, error = _looked(user_place())
    known_limits = settings or MachineSettings()
    found = MachineView(
        known_limits.agents,
        known_limits.usd_per_day,
        known_limits.tokens_per_day,
        sum(one.agents for one in shares),
        round(sum(one.usd for one in shares), 6),
        sum(one.tokens for one in shares),
        day_start(now()) + DAY_SECONDS,
        shares,
        session_roots=known_limits.session_roots,
    )
    room = unknown(settings.limits() if settings else None, error) if error is not None else None
    return found if room is None else replace(found, trouble=room.unknown, mend=room.mend, passes=room.passes)


def _looked(place: UserPlace) -> tuple[MachineSettings | None, tuple[Share, ...], errors.NobrakesError | None]:
    settings = None
    try:
        settings = settings_at(place).machine
        require_changeable(place)
        if (store := known(place)) is None:
            return settings, (), None
        try:
            shares = _shares(store, place)
            store.require_writable()
            if os.statvfs(place.state).f_bavail == 0:
                raise errors.DiskFull(f"no space is left for {place.database}")
        finally:
            store.close()
    except errors.NobrakesError as error:
        return settings, (), error
    return settings, shares, None


def shown() -> MachineView | None:
    """For one repository's screen: None without limits or a place."""
    try:
        found = view()
    except errors.NobrakesError:  # in a run; or no place was ever made, and then nothing is limited
        return None
    return found if found.is_limited else None


def _shares(store: UserStore, place: UserPlace) -> tuple[Share, ...]:
    paths = {one.identity: one.path for one in store.repositories()}
    places = store.places(partial(is_alive, place.daemons))
    spent = {one.repository: one for one in store.spent(day_start(now()))}
    names = dict.fromkeys([*(one.repository for one in places), *spent])
    found = [
        Share(
            paths.get(name, ""),
            sum(one.repository == name for one in places),
            spent[name].usd if name in spent else 0.0,
            spent[name].tokens if name in spent else 0,
        )
        for name in names
    ]
    return tuple(sorted((one for one in found if one.agents or one.usd or one.tokens), key=lambda one: one.path))


def set_limits(words: Mapping[str, str]) -> MachineView:
    """Set limits and `session_roots` by name; `default` removes one. Wakes every daemon. Raises ConfigError."""
    place = user_place()
    changes = limits_of(words)
    if not require_safe(place.settings):
        make(place.settings)
    require_own(place.config)
    text = ""
    try:
        with suppress(FileNotFoundError), open(place.config, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise errors.ConfigError(f"{place.config} cannot be read: {error}", HINT) from None
    write_atomic(place.config, edited(text, changes, place.config).encode())
    with suppress(errors.NobrakesError):  # who cannot be told looks again by itself
        wake_all(place)
    return view()


def trouble() -> tuple[str, bool]:
    """Why shared data is unusable, and whether agents are stopped by it; empty: usable."""
    try:
        settings, _, error = _looked(user_place())
    except errors.NotAllowed:
        return "", False
    except errors.PlaceUnusable as none:
        return f"{none}: this machine's repositories share no data. {none.hint}", False
    if error is None:
        return "", False
    room = unknown(settings.limits() if settings else None, error)
    return (error.whole, False) if room is None else (unknown_text(room), True)
