"""A merge that a person approves first: they are shown tests and code, and decide (core.merge_approval).

1. They are asked when everything has passed, right before main moves. The review ends there: nobody in the queue waits
   for it.
2. After the yes the review begins again, on main as it is then. Where what would land is what was shown, it lands.
3. Which yes a merge stands on is in the journal before main moves, and in its evidence.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from ...core.beads.bead import Bead, Role
from ...core.beads.events import Event, Kind
from ...core.beads.outcomes import Outcome
from ...core.board import Board
from ...core.globs import matches
from ...core.merge_approval import given, needed
from ...core.review.journal import Journal
from ...core.review.train import Entry
from ..checks.proofs import clean
from ..lives import last_merge
from ..ports import Ports
from . import messages
from .protected_files import ProtectedFiles
from .reports import AttemptEnd


class Approvals:
    """What people said about merges."""

    def __init__(self, ports: Ports, gates: ProtectedFiles) -> None:
        self.ports = ports
        self.gates = gates
        self._contents: dict[tuple[str, str], str] = {}

    def is_missing(self, board: Board, entry: Entry) -> bool:
        """Whether the candidate may not land, since nobody said yes to what it brings."""
        return bool(needed(board, entry.bead)) and not self._given(entry.bead, entry.journal)

    def kept(self, board: Board, entry: Entry) -> Mapping[str, Any]:
        """What the journal keeps of the yes that the merge stands on; empty: it needs none."""
        why = needed(board, entry.bead)
        return {"why": why, **self._given(entry.bead, entry.journal)} if why else {}

    def question(self, board: Board, bead: Bead, journal: Journal) -> AttemptEnd:
        """What a person is asked about it."""
        ports, base, candidate = self.ports, journal.base, journal.candidate
        changes = ports.git.changes(base, candidate)
        tests = ports.config().boundary_at(ports.git, base, Role.TEST_WRITER, candidate).tests
        of_tests = [change for change in changes if matches(change.path, tests)]
        rest = [change for change in changes if change not in of_tests]
        shown = self.gates.shown(base, candidate, rest)
        evidence = {
            "head": journal.head,
            "commit": candidate,
            "main": base,
            **messages.epic_of(ports),
            "content": self.content(base, candidate),
            "why": needed(board, bead.id),
            "test_files": [change.path for change in of_tests[:50]],
            "tests": self.gates.shown(base, candidate, of_tests)["difference"],
            "files": shown["files"],
            "difference": shown["difference"],
        }
        onto = messages.main_of(ports)
        detail = (
            f"Every check passed on it as it would be merged, on {onto} at {base[:12]}, and {evidence['why']}.\n"
            "Look at the tests and at the code. Accept them, and they are merged; or send them back with a note. Until "
            "then the bead waits, and nothing else does. If that moves meanwhile, your yes counts as long as the "
            f"difference stays the same. All of it: `nobrakes diff {bead.id}`."
        )
        return AttemptEnd(Outcome.MERGE_REVIEW, detail, journal.head, evidence)

    def _given(self, bead: str, journal: Journal) -> Mapping[str, Any]:
        """Who said yes to this content, when, and in what words; empty: nobody."""
        store = self.ports.store
        merged = last_merge(store, bead)
        content = self.content(journal.base, journal.candidate)
        said = self._said_since(merged, bead)
        found = given(store.escalations(open_only=False, bead=bead), content, said, merged)
        if found is None:
            return {}
        yes, event = found
        return {
            "escalation": yes.id,
            "by": clean(self.ports, event.actor)[:200],
            "at": yes.resolved_at,
            "words": clean(self.ports, yes.resolution)[:1000],
            "content": content,
            "head": str(yes.evidence.get("head", "")),
        }

    def content(self, base: str, candidate: str) -> str:
        """What the candidate would bring; commits do not change, and one is looked at in many turns."""
        found = self._contents.get((base, candidate))
        if found is None:
            if len(self._contents) >= _KEPT:
                self._contents.clear()
            found = self._contents[base, candidate] = self.ports.git.content(base, candidate)
        return found

    def _said_since(self, merged: int, bead: str) -> Iterator[Event]:
        """The decisions about the bead after that place in the log, newest first."""
        before = None
        while page := self.ports.store.latest_events((Kind.RESOLVED,), before, _PAGE, bead):
            for event in page:
                if event.seq <= merged:
                    return
                yield event
            before = page[-1].seq


_PAGE = 100
_KEPT = 100
