"""What a validation's results mean for the review that wanted them.

1. Checks that were edited while they ran decide nothing, but where main passed what it was merged under.
2. Where main is run to see whether it is to blame, it is not when it passes, when it fails in other checks only, and
   never for a repair, which has to turn it green.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..checks.contract import CheckOutcome, CheckResult
from ..checks.verdict import Verdict, verdict
from .journal import Journal, Step
from .machine import Fact

_RAN = {Verdict.GREEN: Fact.RAN_GREEN, Verdict.RED: Fact.RAN_RED, Verdict.UNSURE: Fact.RAN_UNSURE}


def of_run(results: Sequence[CheckResult]) -> Fact:
    """What these results are."""
    return _RAN[verdict(results)]


def of_main(journal: Journal, results: Sequence[CheckResult], is_repair: bool) -> Fact:
    """What these results of main, which are not unsure, are to work that fails: whether main is to blame for that."""
    is_better = is_repair or _fails_elsewhere(journal.results, results)
    return Fact.MAIN_PASSES if is_better or of_run(results) is Fact.RAN_GREEN else Fact.MAIN_RED


def _fails_elsewhere(work: Sequence[Mapping[str, Any]], main: Sequence[CheckResult]) -> bool:
    """Whether main fails in none of the checks that the work (a journal's rows) fails in: the work made it worse."""
    failed_on_main = {result.name for result in main if result.outcome is not CheckOutcome.PASS}
    failed_here = {str(row["name"]) for row in work if row["outcome"] != CheckOutcome.PASS.value}
    return bool(failed_here) and not failed_here & failed_on_main


def outdated(journal: Journal, results: Sequence[CheckResult], was_edited: bool) -> Fact | None:
    """What a run is whose checks were edited meanwhile; None: it counts as it is.

    Main that passed what it was merged under is good news all the same: what a person wants of it since is no reason
    to take the merge back.
    """
    is_good_news = journal.step is Step.VALIDATE_MAIN and of_run(results) is Fact.RAN_GREEN
    if not was_edited or is_good_news:
        return None
    return Fact.RAN_OUTDATED
