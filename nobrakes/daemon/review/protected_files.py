"""A branch that changes what decides whether work is good: a person is shown the difference, and decides.

1. A scaffolding bead may change protected files; its review and its evidence say which.
2. Any other bead's change is asked about (`checks_changed`). Accepted is the very head that was shown: another one is
   asked about again.
3. Of a Test Writer's commits only what bends the runner is asked about, once its tests are proven and before a Doer
   starts. What was accepted there is asked about again in the review only where those files differ.
4. The difference is the branch's text, bounded; the whole of it is in the commit.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...core.beads.bead import Bead, Role
from ...core.beads.escalations import OF_TESTS, EscalationType, is_accepted
from ...core.beads.outcomes import Outcome
from ...core.beads.taking import is_by_person
from ...core.errors import FileTooLarge
from ...core.globs import matches
from ...core.policy import runner_hooks
from ...core.policy.boundaries import Boundary, Change, adds_modules, bends_runner, gate_changes
from ...core.policy.shadows import programs
from ...core.review.journal import Journal
from ...ports.store import NewEscalation
from ..boundary import boundary_at
from ..checks.proofs import clean
from ..ports import Ports
from .reports import AttemptEnd

LONGEST = 20_000
"""Characters of the difference that a person is shown."""
LARGEST = 1_000_000
"""Bytes of a file of which a difference is made."""


class ProtectedFiles:
    """Looks at the protected files of a branch."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def judged(self, bead: Bead, journal: Journal) -> tuple[str, ...] | AttemptEnd:
        """The protected files that the branch changes and may change, or what a person is asked about them."""
        begin = journal.fork if bead.scaffolding else journal.base  # what a Test Writer changed was judged as its work
        config = self.ports.config()
        boundary = boundary_at(self.ports, journal.base, Role.DOER)
        changes = self._with_hooks(begin, journal.head, boundary)
        bending, digest = (
            self._bending(bead, journal.fork, journal.base, boundary) if begin != journal.fork else ([], "")
        )
        if is_by_person(self.ports.store.attempts(bead.id)):
            boundary = replace(boundary, tests=())  # else a test that decides would be nobody's to judge
        if adds_modules(changes, boundary):
            boundary = replace(boundary, installed=self.ports.modules(programs(config.contract())))
        changed = [*bending, *gate_changes(changes, boundary)]
        paths = tuple(change.path for change in changed)
        if not paths or bead.scaffolding or self.is_accepted(bead.id, journal.head):
            return paths
        shown = self.shown(journal.fork if bending else begin, journal.head, changed)
        evidence = {**shown, OF_TESTS: digest} if bending else shown
        return AttemptEnd(Outcome.CHECKS_CHANGED, _question(changed), journal.head, evidence)

    def of_tests(self, bead: Bead, fork: str, head: str) -> NewEscalation | None:
        """What a person is asked about proven tests that bend the runner, before a Doer works with them."""
        boundary = boundary_at(self.ports, head, Role.DOER)
        bending, digest = ([], "") if bead.scaffolding else self._bending(bead, fork, head, boundary)
        if not bending:
            return None
        evidence = {**self.shown(fork, head, bending), OF_TESTS: digest}
        return NewEscalation(EscalationType.CHECKS_CHANGED, f"{bead.id}: checks changed", _question(bending), evidence)

    def _bending(self, bead: Bead, fork: str, head: str, boundary: Boundary) -> tuple[list[Change], str]:
        """What bends the runner in a Test Writer's commits, with its digest; nothing where a person accepted it."""
        found = [one for one in self._with_hooks(fork, head, boundary) if bends_runner(one, boundary)]
        contents = [[one.path, one.after, one.hooks, self._lines(head, one.path) or head] for one in found]
        digest = hashlib.sha256(json.dumps(contents).encode()).hexdigest()
        asked = self.ports.store.escalations(open_only=False, bead=bead.id) if found else ()
        is_known = is_accepted(asked, EscalationType.CHECKS_CHANGED, digest, OF_TESTS)
        return ([] if is_known else found), digest

    def _with_hooks(self, begin: str, head: str, boundary: Boundary) -> list[Change]:
        """What differs between the commits, with what bends the runner in it."""
        changes = list(self.ports.git.changes(begin, head))
        for place, change in enumerate(changes):
            if runner_hooks.may_hold(change.path):
                is_test = matches(change.path, boundary.tests)
                is_test = is_test and runner_hooks.is_loaded(change.path, self.ports.git.paths(head))
                changes[place] = replace(change, hooks=self._hooks(begin, head, change.path, is_test))
        return changes

    def _hooks(self, begin: str, head: str, path: str, is_test: bool) -> tuple[str, ...]:
        try:
            before, after = (self.ports.git.read(commit, path, LARGEST) for commit in (begin, head))
        except FileTooLarge:
            return (runner_hooks.TOO_LARGE,) if is_test else ()
        old, new = (None if one is None else one.decode("utf-8", "replace") for one in (before, after))
        return runner_hooks.changed(path, old, new, is_test)

    def question_of_runner(self, journal: Journal, test: str) -> AttemptEnd:
        """What a person is asked about work whose tests pass while a test that was altered to fail was not reported."""
        changed = self.ports.git.changes(journal.fork, journal.head)
        detail = (
            f"The checks passed. Then {test} was altered so that it has to fail, and the runner did not report that "
            "failure, or reported others too.\nOn main it does. Something in the branch may bend the runner, or a test "
            "is flaky: look at the difference. Accept it for this very commit, or send the work back."
        )
        evidence = {"test": test, **self.shown(journal.fork, journal.head, changed)}
        return AttemptEnd(Outcome.CHECKS_CHANGED, detail, journal.head, evidence)

    def shown(self, begin: str, head: str, changed: Sequence[Change]) -> dict[str, Any]:
        """What a person is shown of the changes, without what is secret in them."""
        difference = clean(self.ports, self._difference(begin, head, changed))
        return {"head": head, "files": [_told(change) for change in changed[:50]], "difference": difference}

    def is_accepted(self, bead: str, head: str) -> bool:
        """Whether a person accepted what was asked about this commit."""
        asked = self.ports.store.escalations(open_only=False, bead=bead)
        return is_accepted(asked, EscalationType.CHECKS_CHANGED, head)

    def _difference(self, fork: str, head: str, changed: Sequence[Change]) -> str:
        from difflib import unified_diff  # rarely needed, and it takes a while to import

        parts: list[str] = []
        length = 0
        for change in changed:
            before, after = self._lines(fork, change.path), self._lines(head, change.path)
            if before is None or after is None:
                lines = [f"{change.path}: not shown, since it is no text or too large\n"]
            else:
                lines = list(unified_diff(before, after, f"a/{change.path}", f"b/{change.path}"))
            for line in lines:
                length += len(line)
                if length > LONGEST:
                    return "".join([*parts, "… and more: look at the commit\n"])
                parts.append(line if line.endswith("\n") else f"{line}\n")
        return "".join(parts)

    def _lines(self, commit: str, path: str) -> list[str] | None:
        try:
            content = self.ports.git.read(commit, path, LARGEST)
        except FileTooLarge:
            return None
        if content is None:
            return []
        if b"\0" in content:
            return None
        return content.decode("utf-8", "replace").splitlines(keepends=True)


def _question(changed: Sequence[Change]) -> str:
    told = "\n".join(map(_told, changed[:20]))
    return (
        "The branch changes what decides whether work is good, what bends the runner of the tests, or what tests "
        f"expect:\n{told}\nAccept the change for this very commit, or send the work back."
    )


def _told(change: Change) -> str:
    hides = (f"hides {', '.join(change.hidden)}",) if change.hidden else ()
    what = ", ".join((*change.sections, *change.hooks, *hides))
    return f"{change.path}: {what}" if what else change.path
