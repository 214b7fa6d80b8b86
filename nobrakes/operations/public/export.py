"""EVENTS.jsonl: every public event as one line of a file that is only appended to, written once whatever is killed.

1. Where to go on is read from the file itself, each time: its last line names the event (`seq`) and its part.
2. The file begins with `log.begun`. Where the database does not know the file's last event (it is older, or was made
   anew), a `log.begun` says after which event the file goes on: the last one that both know.
3. A file that was removed or moved away begins anew, with all events.
4. Nothing here stops the work: the daemon says once what is wrong, and tries again later.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.errors import NobrakesError, StoreBusy
from ...core.public import events
from ...core.public.export_path import path_mistake
from ...core.public.names import Name
from ...core.public.payloads import Begun
from ...host import event_file
from ...lightjson import dumps, loads, visible
from .facts import public_events

if TYPE_CHECKING:
    from ...ports.store import Store

PATIENCE_SECONDS = 30.0
RETRY_SECONDS = 15.0
OTHER = "the database does not know what was written last: it is another one, or went back"


@dataclass(frozen=True, slots=True)
class Exported:
    """What was appended: how many events; `upto`, the number of the last one that was looked at."""

    written: int
    upto: int
    is_new: bool


def line(event: events.PublicEvent) -> str:
    """The event as a line of the file."""
    return visible(dumps(event.as_values())) + "\n"


def keep_up(store: "Store", root: str, path: str) -> Exported | None:
    """Append what the file does not have yet; None: another process writes it just now.

    NotAllowed where no events may be written there; DiskFull, StoreReadOnly: the file is as it was.
    """
    with event_file.opened(root, path, path_mistake) as file:
        if file is None:
            return None
        after, parts, why = _position(store, file)
        if file.is_new or why:
            begun = events.PublicEvent(
                Name.LOG_BEGUN,
                store.now(),
                None,
                events.MACHINE,
                events.About(events.LANGUAGE, 0, 1, 1),
                Begun(after, why),
            )
            file.append(line(begun).encode())
        written, upto = 0, after
        for last, page in public_events(store, after):
            upto, fresh = last, page[parts:]
            parts = 0
            file.append("".join(map(line, fresh)).encode())
            written += len(fresh)
        return Exported(written, upto, file.is_new)


def wait_and_keep_up(store: "Store", root: str, path: str) -> Exported:
    """As `keep_up`, with patience for another process; StoreBusy when that does not end."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (done := keep_up(store, root, path)) is None:
        if time.monotonic() > deadline:
            raise StoreBusy(f"another process has kept {path} locked for {PATIENCE_SECONDS:.0f} seconds")
        time.sleep(0.01)
    return done


def _position(store: "Store", file: event_file.EventFile) -> tuple[int, int, str]:
    """(events up to this number are in the file, so many parts of the next one too, why it goes on otherwise)."""
    why = ""
    below: float = math.inf  # what a `log.begun` left behind is not asked about again
    for text in file.lines_back():
        begun, seq, part, parts, ts = _read(text)
        if begun and not seq:
            return 0, 0, why
        if begun:
            below = min(below, seq)
        elif seq <= below:
            found = store.events(seq - 1, 1)
            if found and found[0].seq == seq and events.timestamp(found[0].at) == ts:
                return (seq, 0, why) if part == parts else (seq - 1, part, why)
            why = OTHER
    return 0, 0, why


def _read(text: bytes) -> tuple[bool, int, int, int, str]:
    """(whether it is a `log.begun`, its number, part, parts, time); number 0 for what nobody can read."""
    try:
        said = loads(text.decode())
        about = said["metadata"]
        begun = said["event"] == Name.LOG_BEGUN.value
        return begun, int(about["after" if begun else "seq"]), int(about["part"]), int(about["parts"]), str(said["ts"])
    except (ValueError, KeyError, TypeError, StopIteration):
        return False, 0, 0, 0, ""


class Exporter:
    """Keeps the file of the settings up with the store, for the daemon."""

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
        path = self._path()
        if not path:
            return
        try:
            if self._store.now() < self._not_before and self._seen is not None and self._seen[0] == path:
                return
            self._look(path)
        except (NobrakesError, OSError) as error:
            self._not_before = self._store.now() + RETRY_SECONDS
            self._seen = (path, None, 0)
            text = f"events are not written to {path}: {error}"
            if text != self._wrong:
                self._wrong = text
                self._tell(f"{text}. The work goes on, and nothing is lost: the file is brought up to date later.")

    def _look(self, path: str) -> None:
        whole = path if path.startswith("/") else f"{self._root}/{path}"
        mark, upto = event_file.mark_of(whole), self._store.position().seq
        if self._seen == (path, mark, upto):
            return
        known = self._seen is not None and self._seen[0] == path and self._seen[1] is not None
        done = keep_up(self._store, self._root, path)
        if done is None:
            return  # whoever writes it has the same events
        if done.is_new and known:
            self._tell(f"{path} was removed or moved away: it begins anew, with all events")
        self._wrong, self._not_before = "", 0.0
        self._seen = (path, event_file.mark_of(whole), upto)
