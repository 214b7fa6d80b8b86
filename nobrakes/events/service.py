"""EVENTS.jsonl: every public event as one line of an append-only file, written exactly once.

1. The file's last line gives the place to continue: the event (`seq`) and its part.
2. It begins with `log.begun`. If the database does not know the file's last event (it is older or new), another
   `log.begun` names the last event that both know.
3. A removed or moved file starts again, with all events.
4. Errors stop no work: the daemon reports them once and retries.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from ..beads.model import Attempt, Bead
from ..beads.service.bead_page import events_between
from ..beads.work_status import WorkStatus, statuses
from ..decisions.model import Escalation
from ..errors import NobrakesError, StoreBusy
from ..host import messages
from ..lightjson import dumps, loads
from ..records import frozen
from ..text.cleaning import visible
from .payloads import Begun, Name
from .words import LANGUAGE, MACHINE, About, PublicEvent, path_mistake, public, timestamp

if TYPE_CHECKING:
    from ..store import Store
    from .kinds import Event


PAGE = 1000


class StoreFacts:
    """events.payloads.Facts on a store. Made after the page of events was read: it is never older than they are."""

    def __init__(self, store: "Store", events: "Sequence[Event]") -> None:
        self._store = store
        self._between: dict[str, tuple[int, int]] = {}
        for event in events:
            if event.bead is not None:
                self._between[event.bead] = (self._between.get(event.bead, (event.seq, 0))[0], event.seq)
        beads = self._between.keys()
        self._beads = {bead.id: bead for bead in store.beads(ids=sorted(beads))} if beads else {}
        self._attempts: dict[str, Sequence[Attempt]] = {}
        self._statuses: dict[str, dict[int, WorkStatus]] = {}
        self._escalations: dict[str, list[Escalation]] = {}
        for one in store.escalations_as_filed() if beads else ():
            if one.bead is not None:
                self._escalations.setdefault(one.bead, []).append(one)

    def bead(self, bead: str) -> Bead | None:
        return self._beads.get(bead)

    def attempts(self, bead: str) -> Sequence[Attempt]:
        if bead not in self._attempts:
            self._attempts[bead] = self._store.attempts(bead) if bead in self._beads else ()
        return self._attempts[bead]

    def escalations(self, bead: str) -> Sequence[Escalation]:
        return self._escalations.get(bead, ())

    def status(self, event: "Event") -> WorkStatus | None:
        bead = event.bead or ""
        if bead not in self._statuses:
            self._statuses[bead] = statuses(events_between(self._store, bead, *self._between[bead]))
        return self._statuses[bead].get(event.seq)


def public_events(store: "Store", after: int, bead: str | None = None) -> "Iterator[tuple[int, list[PublicEvent]]]":
    """Public events after this number, oldest first, by page: (last number read, events)."""
    while events := store.events(after, PAGE, bead):
        facts = StoreFacts(store, events)
        after = events[-1].seq
        yield after, [said for event in events for said in public(event, facts)]


TIMEOUT_SECONDS = 30.0
RETRY_SECONDS = 15.0
OTHER = "the database lacks the last event of the events file: it is another database, or an older copy was restored"


@frozen
class Exported:
    """The number of appended events; `upto`: the last one read."""

    written: int
    upto: int
    is_new: bool


def line(event: PublicEvent) -> str:
    return visible(dumps(event.as_values())) + "\n"


def keep_up(store: "Store", root: str, path: str) -> Exported | None:
    """Append missing events; None: another process writes. NotAllowed, DiskFull, StoreReadOnly: unchanged."""
    with messages.opened(root, path, path_mistake) as file:
        if file is None:
            return None
        after, parts, why = _position(store, file)
        if file.is_new or why:
            begun = PublicEvent(Name.LOG_BEGUN, store.now(), None, MACHINE, About(LANGUAGE, 0, 1, 1), Begun(after, why))
            file.append(line(begun).encode())
        written, upto = 0, after
        for last, page in public_events(store, after):
            upto, fresh = last, page[parts:]
            parts = 0
            file.append("".join(map(line, fresh)).encode())
            written += len(fresh)
        return Exported(written, upto, file.is_new)


def wait_and_keep_up(store: "Store", root: str, path: str) -> Exported:
    """As `keep_up`, waiting for another process. Raises StoreBusy."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while (done := keep_up(store, root, path)) is None:
        if time.monotonic() > deadline:
            raise StoreBusy(f"another process has kept {path} locked for {TIMEOUT_SECONDS:.0f} seconds")
        time.sleep(0.01)
    return done


def _position(store: "Store", file: messages.EventFile) -> tuple[int, int, str]:
    """(events up to this number are in the file, so many parts of the next, why it restarts)."""
    why = ""
    below: float = math.inf  # what a `log.begun` left behind is not asked about again
    for text in file.lines_back():
        begun, seq, part, parts, ts = _read(text)
        if begun and not seq:
            return 0, 0, why
        if begun:
            below = min(below, seq)
        elif seq <= below:
            if (found := store.events(seq - 1, 1)) and found[0].seq == seq and timestamp(found[0].at) == ts:
                return (seq, 0, why) if part == parts else (seq - 1, part, why)
            why = OTHER
    return 0, 0, why


def _read(text: bytes) -> tuple[bool, int, int, int, str]:
    """(whether a `log.begun`, number, part, parts, time); number 0: unreadable."""
    try:
        said = loads(text.decode())
        about = said["metadata"]
        begun = said["event"] == Name.LOG_BEGUN.value
        return begun, int(about["after" if begun else "seq"]), int(about["part"]), int(about["parts"]), str(said["ts"])
    except (ValueError, KeyError, TypeError, StopIteration):
        return False, 0, 0, 0, ""


class Exporter:
    """Keeps the file of the settings current, for the daemon."""

    def __init__(self, store: "Store", root: str, path: Callable[[], str], tell: Callable[[str], None]) -> None:
        self._store = store
        self._root = root
        self._path = path
        self._tell = tell
        self._seen: tuple[str, tuple[int, int, int] | None, int] | None = None
        self._wrong = ""
        self._not_before = 0.0

    def turn(self) -> None:
        """Append what is new. Never raises for trouble with the file."""
        if not (path := self._path()):
            return
        try:
            if self._store.now() < self._not_before and self._seen is not None and self._seen[0] == path:
                return
            self._look(path)
        except (NobrakesError, OSError) as error:
            self._not_before = self._store.now() + RETRY_SECONDS
            self._seen = (path, None, 0)
            text = f"events cannot be written to {path}: {error}"
            if text != self._wrong:
                self._wrong = text
                self._tell(f"{text}. The work continues, and the missing events are added to the file later.")

    def _look(self, path: str) -> None:
        whole = path if path.startswith("/") else f"{self._root}/{path}"
        mark, upto = messages.mark_of(whole), self._store.position().seq
        if self._seen == (path, mark, upto):
            return
        known = self._seen is not None and self._seen[0] == path and self._seen[1] is not None
        if (done := keep_up(self._store, self._root, path)) is None:
            return  # whoever writes it has the same events
        if done.is_new and known:
            self._tell(f"{path} was removed or moved, so nobrakes writes the file again, with all events")
        self._wrong, self._not_before = "", 0.0
        self._seen = (path, messages.mark_of(whole), upto)
