"""Beside the tracked snapshot: what changed since, so that a lost database loses nothing that a person typed.

1. Right after each transaction that changed the plan, what changed is appended to beads.since.jsonl in one write, by
   the process that made the transaction. `attach` is the one place where a store is bound to its file.
2. What is written is all that came after the file's last mark, whoever made it: whoever was killed between its commit
   and its line is made good by the next one, at the latest when a store is opened.
3. Lines stand in the order of what they say: the file is locked before the database is read.
4. The database is what counts: when the file cannot be written that is told, nothing is undone, and the next one tries.
5. A snapshot that main has makes the file short again.
6. A file that names what the database does not know is later than it: that is brought back
   (operations.snapshot.brought_back), and the file goes on with all that the database then says. It is never put aside.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ...core.errors import NobrakesError, StoreBroken
from ...host.files import storage_errors
from ...paths import Paths
from ...ports.store import Position, Store
from .log import append, has_to_be_written, locked, mark, mark_of, settle, written_lines

if TYPE_CHECKING:
    from ...ports.git import Git


PAGE = 5000
"""So many events at a time, each with a mark of its own: a plan of a million beads is never in memory for this."""


class Telling(Store, Protocol):
    """A store that tells when it changed."""

    def tell(self, tell: Callable[[], None], settle: Callable[[], None]) -> None:
        """Call `tell` after each transaction that changed what `changes` gives, and `settle` in `sync`."""
        ...


def attach(store: Telling, paths: Paths, say: Callable[[str], None], git: "Callable[[], Git] | None" = None) -> None:
    """Keep the file up with this store from now on, and make good what was missed on either side.

    `say` hears of what was brought back, and of trouble, once; `git` is asked for only to bring back.
    """
    said: list[str] = []

    def follow() -> None:
        try:
            back = keep_up(store, paths, git)
            said.clear()
            if back:
                say(back)
        except (NobrakesError, OSError) as error:
            text = f"what changed is in the database, and not yet in {paths.since}: {error}. The next change writes it."
            if text not in said:
                said.append(text)
                say(text)

    try:
        place = mark_of(paths.since)
        behind = has_to_be_written(store.changes(place, PAGE), place)
    except StoreBroken:
        return  # whoever asks this store next hears it from the store itself
    if behind:
        follow()
    store.tell(follow, lambda: settle(paths))


def keep_up(store: Store, paths: Paths, git: "Callable[[], Git] | None" = None) -> str:
    """Append what changed after the file's last mark; what was brought back first, in words, if anything was.

    DiskFull, StoreReadOnly, StoreBusy: it is as it was.
    """
    with storage_errors(paths.since), locked(paths.since) as descriptor:
        place = mark(descriptor)
        changes = store.changes(place, PAGE)
        if not has_to_be_written(changes, place):
            return ""
        back = ""
        if changes.restarted:
            from .brought_back import bring_back  # rarely needed, and it brings the readers of every file along

            back = bring_back(store, paths, git() if git is not None else None, place)
            changes = store.changes(Position(), PAGE)
        append(descriptor, written_lines(changes))
        while changes.more:
            changes = store.changes(changes.upto, PAGE)
            append(descriptor, written_lines(changes))
        return back
