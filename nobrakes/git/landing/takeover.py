"""The work's state at a remote, from which another machine continues, and the fence that lets one machine land.

1. Below the prefix that a person named lie `state`, a commit that says whose the work is, with the changes since the
   snapshot and a list of the refs; `refs/…`, the refs of nobrakes; and `main`, where no remote decides main.
2. Each push of this machine moves `state` too, from the commit that this machine pushed last: one atomic push. Where
   another machine moved it, that machine has taken over, and the remote accepts nothing of ours.
3. A state is noted before it is pushed. After a push whose end nobody knows, the remote is asked which one it has.
"""

import fcntl
import json
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

from ...errors import GitFailed, TakenOver, UsageError
from ...records import frozen
from ...review.waits import WAITS, Cause, Land, Landing
from ...text.cleaning import spoken
from .. import objects
from ..history import History
from ..location import Place
from ..objects import OWN, is_oid, own_ref
from .local import Lander
from .remote import Remote, Reply, Shared, refused

FOLDER = f"{OWN}/takeover"
LAST = f"{FOLDER}/last"
"""The state that this machine pushed last: the remote's, as long as nobody took over."""
NEXT = f"{FOLDER}/next"
"""A state that is being pushed."""
COPY = f"{FOLDER}/main"
"""The copy of main at the remote."""
NEWER = f"{FOLDER}/newer"
"""The state of the machine that took over."""
THERE = f"{FOLDER}/there"
"""What a takeover fetched; it stays until the takeover is complete."""
TAKING = f"{FOLDER}/taking"
"""The state that this machine made its own, until refs and database are as that state says."""
CHANGES, REFS = "changes", "refs"
_BATCH = 500
"""Refs in one push: they are words of a command line."""
_MAX_TEXT = 1 << 30
_MAX_LANDED = 100
"""Pushes of main that a state names: the last ones are those that the changes may lack."""
_LOCAL = ("takeover/", "remote/", "archive/", "incoming/")
"""Refs that stay here. Nobody has judged what agents handed in: it may hold what the remote must not have."""
_OWN_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./-]*\Z")


@frozen
class StateRemote:
    """Where states are pushed to: the remote, the prefix of our refs there, and this machine's lock file."""

    remote: Shared
    prefix: str
    lock: str


@frozen
class State:
    """A state at the remote. `at`: when it was pushed (seconds since 1970); `attempts`: the number of the last attempt;
    `runs`: what was running; `landed`: (old, new) of the last pushes of main, which `changes` may lack; `refs`: name
    below refs/nobrakes -> object; `main`: the copy of main, or empty."""

    commit: str
    machine: str
    at: float
    attempts: int = 0
    runs: tuple[str, ...] = ()
    landed: tuple[tuple[str, str], ...] = ()
    refs: Mapping[str, str] = field(default_factory=dict)
    main: str = ""
    changes: bytes = b""


class Fence:
    """The state of one repository's work at a remote. `lock`: a file that excludes other processes of this machine."""

    def __init__(self, place: Place, prefix: str, lock: str) -> None:
        self.place = place
        self.prefix = prefix
        self.lock = lock
        self.state = f"{prefix}/state"
        self.main = f"{prefix}/main"

    def __call__(self, remote: Remote, ref: str, new: str, old: str) -> Reply:
        """Push `new` to the remote's `ref`, if that is at `old` and the work is still this machine's."""
        with _locked(self.lock):
            last = self._last(remote)
            if isinstance(last, Reply):
                return last
            known = _message(self.place, last)
            main = new if ref == self.main else str(known.get("main", ""))
            landed = [*known.get("landed", ()), *([[old, new]] if ref in (self.main, remote.ref) else ())]
            told = {**known, "main": main, "landed": landed[-_MAX_LANDED:]}
            return self._push(remote, {ref: (new, old)}, last, _tree_of(self.place, last), told)

    def save(self, remote: Remote, changes: bytes, main: str, attempts: int, runs: Sequence[str]) -> Reply:
        """Push refs and changes that the remote lacks. `main`: where its copy belongs; empty: the remote has main."""
        with _locked(self.lock):
            while True:
                last = self._last(remote)
                if isinstance(last, Reply):
                    return last
                there, wanted = _listed(self.place, last), kept(self.place)
                names = [name for name in sorted({*there, *wanted}) if there.get(name) != wanted.get(name)]
                some = names[:_BATCH]
                moved = {f"{self.prefix}/refs/{one}": (wanted.get(one, ""), there.get(one, "")) for one in some}
                listed = {**{one: there[one] for one in there if one not in some}}
                listed |= {one: wanted[one] for one in some if one in wanted}
                copy = _at(self.place, COPY) or ""
                if main and main != copy:
                    moved[self.main] = (main, copy)
                    if not (content := remote.push_content(main)).ok:
                        return content
                tree = _tree(self.place, {CHANGES: changes, REFS: json.dumps(listed, sort_keys=True).encode()})
                if not moved and last and tree == _tree_of(self.place, last):
                    return Reply(True)
                # what landed while these changes were read is not in them
                landed = _message(self.place, last).get("landed", [])
                told = {"attempts": attempts, "runs": list(runs), "main": main, "landed": landed}
                said = self._push(remote, moved, last, tree, told)
                if not said.ok or len(some) == len(names):
                    return said

    def fetched(self, remote: Remote) -> tuple[State | None, Reply]:
        """The remote's state, with all that it names, below THERE; None: there is none."""
        said = remote.fetch_all(f"+{self.prefix}/*:{THERE}/*")
        commit = _at(self.place, f"{THERE}/state")
        return (state_of(self.place, commit) if said.ok and commit else None), said

    def claim(self, remote: Remote, state: State) -> Reply:
        """Make the state of another machine this one's. Nothing here changes before the remote accepted it."""
        with _locked(self.lock):
            before = {ref: _at(self.place, ref) for ref in (LAST, NEXT, COPY, NEWER)}
            objects.update(self.place, {NEXT: None, NEWER: None})
            told = {"attempts": state.attempts, "runs": list(state.runs), "main": state.main}
            told["landed"] = list(state.landed)
            told["from"] = [state.machine, state.at]  # who continues after a kill says what was lost
            said = self._push(remote, {}, state.commit, _tree_of(self.place, state.commit), told)
            claimed = _at(self.place, LAST) if said.ok else None
            objects.update(self.place, {TAKING: claimed} if said.ok else before)
            return said

    def lost(self) -> str:
        """Which machine took over, and when; empty: none is known."""
        seen = _at(self.place, NEWER)
        if seen is None:
            return ""
        found = _message(self.place, seen)
        at = found.get("at")
        moment = f" ({spoken(float(at))})" if isinstance(at, int | float) else ""
        return f"the machine {str(found.get('machine', 'of another person'))[:100]} has this work now{moment}"

    def require(self) -> None:
        """Raises TakenOver."""
        if why := self.lost():
            raise TakenOver(f"{why}, so nothing lands from here")

    def last(self) -> str:
        """The state that this machine pushed last; empty: none."""
        return _at(self.place, LAST) or ""

    def saved_at(self) -> float | None:
        """When this machine pushed last; None: never."""
        last = _at(self.place, LAST)
        found = _message(self.place, last).get("at") if last else None
        return float(found) if isinstance(found, int | float) else None

    def is_behind(self, changes: str) -> bool:
        """Whether refs or the file of changes differ from what was pushed last."""
        last = _at(self.place, LAST) or ""
        return _listed(self.place, last) != kept(self.place) or _blob(self.place, last, CHANGES) != content_of(changes)

    def _last(self, remote: Remote) -> str | Reply:
        """The state that the remote has from this machine; empty: none yet."""
        if why := self.lost():
            return Reply(False, why, refused=True, cause=Cause.TAKEN_OVER)
        last, tried = _at(self.place, LAST) or "", _at(self.place, NEXT)
        if tried is None:
            return last
        there, said = remote.at(self.state)
        if not said.ok:
            return said
        if there == tried:
            self._accepted(tried)
            return tried
        if there != last:
            return self._lose(remote)
        objects.update(self.place, {NEXT: None})
        return last

    def _push(
        self, remote: Remote, moved: Mapping[str, tuple[str, str]], last: str, tree: str, told: Mapping[str, Any]
    ) -> Reply:
        new = _state(self.place, tree, told)
        objects.update(self.place, {NEXT: new})
        said = remote.push_all({**moved, self.state: (new, last)})
        if said.ok:
            self._accepted(new)
        elif said.refused:
            there, heard = remote.at(self.state)
            if heard.ok and there != last:
                return self._lose(remote)
            objects.update(self.place, {NEXT: None} if heard.ok else {})
        return said

    def _accepted(self, state: str) -> None:
        main = str(_message(self.place, state).get("main", ""))
        objects.update(self.place, {LAST: state, NEXT: None, COPY: main if is_oid(main) else None})

    def _lose(self, remote: Remote) -> Reply:
        """Another machine has the work: remember it, so that nobody has to ask again."""
        said = remote.fetch_all(f"+{self.state}:{NEWER}")
        if not said.ok:
            return said
        objects.update(self.place, {NEXT: None})
        return Reply(False, self.lost(), refused=True, cause=Cause.TAKEN_OVER)


class Takeover:
    """Makes another machine's state this one's."""

    def __init__(self, place: Place, history: History, lander: Lander, remote: Remote, fence: Fence) -> None:
        self.place = place
        self.history = history
        self.lander = lander
        self.remote = remote
        self.fence = fence

    def state(self) -> State:
        """The remote's state, with all that it names. Raises GitFailed, UsageError."""
        found, said = self.fence.fetched(self.remote)
        where = f"{self.remote.shared.remote} ({self.fence.prefix})"
        if not said.ok:
            raise GitFailed(f"cannot fetch the state from {where}: {said.words}", WAITS[said.cause].remedy)
        if found is None:
            raise UsageError(
                f"there is nothing to take over: no machine has pushed a state to {where}",
                "The other machine's daemon pushes it once a minute, if fleet.takeover_remote is set there too.",
            )
        return found

    def is_own(self, state: State) -> bool:
        """Whether this machine pushed it, and has nothing left to do."""
        is_taken = _at(self.place, TAKING) is not None
        return _at(self.place, LAST) == state.commit and not is_taken

    def require_main(self, state: State) -> None:
        """Raises GitFailed where main here cannot follow the state's."""
        if not state.main:
            return
        main = objects.main(self.place)
        if self.history.contains(state.main, main):
            return
        if not self.history.contains(main, state.main):
            raise GitFailed(
                f"main has commits here that {state.machine}'s main ({state.main[:12]}) lacks; nothing was changed",
                f"Keep them with `git branch my-work main`. Then rebase main: `git rebase {state.main[:12]} main`.",
            )
        if (obstacle := self.lander.obstacle(state.main, main)) is not None:
            raise GitFailed(f"nothing was changed: {obstacle.reason}")

    def take(self, state: State) -> tuple[int, str]:
        """Claim the state at the remote, then set the refs and main here as it says. Returns (how many other refs were
        archived, why main waits). Raises GitFailed: nothing was changed."""
        if _at(self.place, TAKING) is None or _at(self.place, LAST) != state.commit:
            said = self.fence.claim(self.remote, state)
            if not said.ok:
                raise GitFailed(
                    f"nothing was changed: {self.remote.shared.remote} did not accept the takeover: {said.words}",
                    "Type the command again: it looks at the remote's state again.",
                )
        archived = apply_refs(self.place, state)
        if not state.main or self.history.contains(state.main, main := objects.main(self.place)):
            return archived, ""
        land = self.lander.land(state.main, main)
        return archived, "" if land.landing is Landing.MOVED else land.reason

    def landed(self, state: State) -> frozenset[str]:
        """The commits that these pushes put on main."""
        found: set[str] = set()
        for old, new in state.landed:
            if is_oid(old) and is_oid(new):
                found.update(self.history.between(old, new) or ())
        return frozenset(found)

    def forget(self, is_complete: bool) -> None:
        """What was fetched has its own places now, or nobody takes it."""
        fetched = [ref for ref, _ in objects.below(self.place, f"{THERE}/")]
        objects.update(self.place, dict.fromkeys((*fetched, *((TAKING,) if is_complete else ())), None))


class CopiedLander:
    """Moves a main that this repository alone decides about, once the remote has it."""

    def __init__(self, place: Place, history: History, local: Lander, remote: Remote, fence: Fence) -> None:
        self.place = place
        self.history = history
        self.local = local
        self.remote = remote
        self.fence = fence

    def is_shared(self) -> bool:
        return True

    def catch_up(self) -> Land:
        return Land(Landing.MOVED)

    def obstacle(self, new: str, old: str) -> Land | None:
        return self.local.obstacle(new, old)

    def land(self, new: str, old: str) -> Land:
        copy = _at(self.place, COPY) or ""
        if objects.main(self.place) == old and new not in (old, copy):
            if (reason := self.local.obstacle(new, old)) is not None:
                return reason
            said = self.remote.move(self.fence.main, new, copy)
            if not said.ok:
                what = f"{self.remote.shared.remote} did not accept the copy of main"
                return replace(refused(self.remote, what, said), may_have_landed=not said.refused)
        return self.local.land(new, old)

    def commit(self, make: Callable[[], str | None]) -> str | None:
        """A person's commit on main; the next save brings it to the remote. Raises TakenOver."""
        self.fence.require()
        return make()


def _at(place: Place, ref: str) -> str | None:
    """Where the ref is; without a process if it is missing, since the daemon asks in each turn."""
    return None if objects.is_gone(place.git_dir, ref) else objects.read(place, ref)


@contextmanager
def _locked(path: str) -> Iterator[None]:
    """Excludes other pushes of this machine, also those of other threads. Raises OSError."""
    with open(path, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def content_of(path: str) -> bytes:
    """The file's content; a missing file has none."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


def kept(place: Place) -> dict[str, str]:
    """The refs of nobrakes that another machine needs: name -> object."""
    names = {ref.removeprefix(f"{OWN}/"): oid for ref, oid in objects.below(place, f"{OWN}/")}
    return {name: oid for name, oid in names.items() if not name.startswith(_LOCAL)}


def state_of(place: Place, commit: str) -> State:
    """Raises GitFailed: the commit holds no state."""
    found = _message(place, commit)
    main = _at(place, f"{THERE}/main") or ""
    try:
        runs = tuple(str(one)[:200] for one in found.get("runs", ()))
        landed = tuple((str(old), str(new)) for old, new in found.get("landed", ()))
        machine, at = found["from"] if "from" in found else (found["machine"], found["at"])
        machine, at, attempts = str(machine)[:100], float(at), int(found.get("attempts", 0))
    except (KeyError, TypeError, ValueError):
        raise GitFailed(f"{commit[:12]} at the remote is not a state that nobrakes wrote") from None
    return State(
        commit, machine, at, attempts, runs, landed, _listed(place, commit), main, _blob(place, commit, CHANGES)
    )


def apply_refs(place: Place, state: State) -> int:
    """Set the refs of nobrakes as the state lists them; returns how many others were archived.

    A ref that differs here stays below archive/takeover-<the state's second>."""
    before, number = kept(place), int(state.at)
    differing = {name: oid for name, oid in before.items() if state.refs.get(name) != oid}
    wanted: dict[str, str | None] = {
        own_ref(f"archive/takeover-{number}/{name}"): oid for name, oid in differing.items()
    }
    wanted |= dict.fromkeys((own_ref(name) for name in differing if name not in state.refs), None)
    objects.update(place, wanted)  # first, so that nothing is lost where the rest fails
    objects.update(place, {own_ref(name): oid for name, oid in state.refs.items()})
    return len(differing)


def _state(place: Place, tree: str, told: Mapping[str, Any]) -> str:
    now = time.time()
    message = {**told, "machine": socket.gethostname(), "at": now, "nonce": secrets.token_hex(8)}
    who = f"nobrakes <nobrakes@localhost> {int(now)} +0000"
    text = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n{json.dumps(message)}\n"
    return _stored(place, "commit", text.encode())


def _tree(place: Place, files: Mapping[str, bytes]) -> str:
    lines = [f"100644 blob {_stored(place, 'blob', content)}\t{name}\n" for name, content in sorted(files.items())]
    return place.run(["mktree"], stdin="".join(lines).encode()).text


def _stored(place: Place, kind: str, content: bytes) -> str:
    return place.run(["hash-object", "-t", kind, "-w", "--stdin"], stdin=content).text


def _tree_of(place: Place, commit: str) -> str:
    """The commit's tree; for no commit an empty one."""
    return place.run(["rev-parse", "--verify", f"{commit}^{{tree}}"]).text if commit else _tree(place, {})


def _message(place: Place, commit: str) -> dict[str, Any]:
    if not commit:
        return {}
    text = place.run(["cat-file", "commit", commit]).text.partition("\n\n")[2]
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _listed(place: Place, commit: str) -> dict[str, str]:
    try:
        found = json.loads(_blob(place, commit, REFS) or b"{}")
        items = [(str(name), str(oid)) for name, oid in found.items()]
    except (ValueError, AttributeError, RecursionError):
        raise GitFailed(f"the list of refs in {commit[:12]} cannot be read") from None
    return {name: oid for name, oid in items if _OWN_REF.match(name) and not name.startswith(_LOCAL) and is_oid(oid)}


def _blob(place: Place, commit: str, name: str) -> bytes:
    if not commit:
        return b""
    answer = place.run(["cat-file", "blob", f"{commit}:{name}"], expect=(0, 128))
    return answer.out if answer.code == 0 else b""
