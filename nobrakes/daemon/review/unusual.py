"""A branch with names that hide something, or with what looks like a secret key: a person decides whether it lands.

1. Accepted is the very head that was shown: another one is asked about again.
2. Files of more than 4 MB, and what comes after 50 MB of others, are not searched for secrets; of the latter is asked.
"""

from ...core.beads.bead import Bead
from ...core.beads.escalations import EscalationType, is_accepted
from ...core.beads.outcomes import Outcome
from ...core.errors import FileTooLarge
from ...core.limits.sizes import READ
from ...core.policy.boundaries import ABSENT, GITLINK, SYMLINK, Change
from ...core.policy.unusual import new_secrets, odd_name
from ...core.review.journal import Journal
from ..ports import Ports
from .reports import AttemptEnd

SEARCHED = 50_000_000
"""Bytes of a branch that are searched."""


class Unusual:
    """Looks at what a branch would bring to main."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def question(self, bead: Bead, journal: Journal) -> AttemptEnd | None:
        """What a person is asked about it; None: the review may go on."""
        asked = self.ports.store.escalations(open_only=False, bead=bead.id)
        if is_accepted(asked, EscalationType.UNUSUAL_CONTENT, journal.head):
            return None
        found = self._reasons(journal)
        if not found:
            return None
        detail = (
            "The branch holds what is rarely meant to be published:\n" + "\n".join(found[:20]) + "\n"
            "Accept it for this very commit, or send the work back."
        )
        evidence = {"head": journal.head, "files": found[:50]}
        return AttemptEnd(Outcome.UNUSUAL_CONTENT, detail, journal.head, evidence)

    def _reasons(self, journal: Journal) -> list[str]:
        """Why a person should look, a line for each file."""
        found: list[str] = []
        left = SEARCHED
        for change in self.ports.git.changes(journal.fork, journal.head):
            if change.after == ABSENT:
                continue
            why = odd_name(change.path)
            if why is None and change.after not in (SYMLINK, GITLINK):
                after = self._text(journal.head, change)
                left -= len(after)
                if left < 0:
                    return [*found, f"more than {SEARCHED // 1_000_000} MB are new, and the rest was not searched"]
                before = self._text(journal.fork, change) if after and change.before != ABSENT else ""
                why = new_secrets(change.path, before, after)
            if why is not None:
                found.append(why)
        return found

    def _text(self, commit: str, change: Change) -> str:
        try:
            content = self.ports.git.read(commit, change.path, READ)
        except FileTooLarge:
            return ""
        return "" if content is None else content.decode("utf-8", "replace")
