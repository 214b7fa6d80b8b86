"""The flake ledger at work: flakes that a validation shows are recorded, and what may be one is confirmed before blame.

1. The ledger is the events of kind `flaked`, one a check and run; a run that is judged again after a crash adds none.
2. What failed is remembered by tree and contract until that tree passes.
3. What fails is repeated until it is green or was red TIMES times (core.review.flakes): in the queue as
   core.review.queue decides, in the other steps of a review here.
"""

from collections.abc import Sequence
from dataclasses import replace

from ...core.beads.attempt import Attempt, Run
from ...core.beads.events import Event, Kind
from ...core.checks.contract import CheckOutcome, CheckResult, overall
from ...core.review import flakes
from ...core.review.flakes import LEDGER, Confirm, Flake
from ...core.review.journal import Journal, Step
from ..checks.validation import Validation, as_json
from ..ports import Ports

STANDS = "it passed in the run "


def ledger(ports: Ports) -> list[Flake]:
    """The latest flakes, newest first."""
    return [Flake.of(event) for event in ports.store.latest_events([Kind.FLAKED], limit=LEDGER)]


class Flaky:
    """Hears the results of validations."""

    def __init__(self, ports: Ports, validation: Validation) -> None:
        self.ports = ports
        self.validation = validation

    def hear(self, attempt: Attempt, tree: str, run: Run, results: Sequence[CheckResult]) -> None:
        """Record the flakes that these results show, and remember what failed. Before the pass is remembered."""
        contract = self.validation.of_run(run.id)
        if contract is None:
            return
        store, key = self.ports.store, f"failed/{contract.key}"
        known = self.validation.known
        failed = (known(tree, key) or {}).get("results", [])
        shown = flakes.found(tree, results, failed, known(tree, contract.key) is not None)
        failing = flakes.failures(results)
        if not shown and failing == failed:
            return
        told = {(e.data["check"], e.data["run"]) for e in self._of_attempt(attempt)} if shown else set()
        with store.together():
            for flake in shown:
                if (flake.check, run.id) not in told:
                    data = {"check": flake.check, "tests": list(flake.tests), "tree": tree, "run": run.id}
                    store.record(Event(Kind.FLAKED, attempt.bead, attempt.id, data=data))
            self.validation.save(tree, key, {"results": failing})

    def _of_attempt(self, attempt: Attempt) -> list[Event]:
        found = self.ports.store.latest_events([Kind.FLAKED], limit=LEDGER, bead=attempt.bead)
        return [event for event in found if event.attempt == attempt.id]

    def to_confirm(self, journal: Journal, commit: str, run: Run, results: Sequence[CheckResult]) -> bool:
        """Whether the commit is to be validated once more before anybody is blamed for these results.

        In the queue core.review.queue says when, since there a red is held against nobody at once; and a commit of the
        chain is never blamed: it melts into the next.
        """
        if journal.step is Step.VALIDATE_REBASED or (
            journal.confirming == commit and journal.again + 1 >= flakes.TIMES
        ):
            return False
        return self.is_suspect(run, results)

    def carried(self, journal: Journal, commit: str, run: Run, results: Sequence[CheckResult]) -> Journal:
        """The journal with what stands of these results when the commit's checks that failed are repeated."""
        contract = self.validation.of_run(run.id)
        if contract is None or overall(results) is not CheckOutcome.FAIL:
            return replace(journal, carried=(), carried_for="")
        stand = [
            replace(one, reason=one.reason if one.reason.startswith(STANDS) else STANDS + run.id)
            for one in flakes.carried(results, contract.checks)
        ]
        return replace(journal, carried=tuple(as_json(stand)), carried_for=f"{commit} {contract.key}")

    def is_suspect(self, run: Run, results: Sequence[CheckResult]) -> bool:
        """Whether what failed here may be a flake, as the ledger and the settings say."""
        if overall(results) is not CheckOutcome.FAIL:
            return False
        how = Confirm(self.ports.config().review.confirm)
        checks = self.validation.checks(run)
        if how is not Confirm.FLAKY:
            return flakes.wants_confirming(how, results, checks, ())
        return flakes.wants_confirming(how, results, checks, ledger(self.ports))
