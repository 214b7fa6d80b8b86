"""Tests, or whole checks, that a person lets fail for a time: what fails is told, and blocks nobody.

1. Only a failure is forgiven. A check that is broken or has not run is not.
2. Single tests are forgiven only where the report names all that failed (core.checks.failed_tests) and each is
   quarantined.
3. What is quarantined is a part of the contract: a pass of before does not stand when it is lifted.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..checks.contract import CheckResult

SETTING = "quarantine"
"""The store's setting that holds it."""

WHOLE = ""
"""In the place of a test: the whole check."""

Pair = tuple[str, str]
"""A check, and its test or WHOLE."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One decision of a person."""

    check: str
    test: str
    reason: str
    by: str
    at: float

    @property
    def pair(self) -> Pair:
        """What it is about."""
        return self.check, self.test


def parse(text: str | None) -> tuple[Quarantined, ...]:
    """What the setting says."""
    return tuple(Quarantined(**one) for one in json.loads(text)) if text else ()


def as_text(entries: Iterable[Quarantined]) -> str | None:
    """The setting's value; None: nothing is quarantined."""
    rows = [asdict(one) for one in sorted(entries, key=lambda one: one.pair)]
    return json.dumps(rows, ensure_ascii=False) if rows else None


def pairs(text: str | None) -> tuple[Pair, ...]:
    """What the setting says, for a contract."""
    return tuple(sorted(one.pair for one in parse(text)))


def forgiven(result: "CheckResult", quarantined: Collection[Pair]) -> "CheckResult":
    """The result when what failed is quarantined: a pass that says so; else the result as it is."""
    from ..checks.contract import (
        CheckOutcome,  # brings every reader of reports, and most commands only ask what is quarantined
    )

    if result.outcome is not CheckOutcome.FAIL:
        return result
    whole = (result.name, WHOLE) in quarantined
    if not whole and not (result.failing and all((result.name, test) in quarantined for test in result.failing)):
        return result
    tests = result.failing or (result.name,)
    shown = ", ".join(tests[:5]) + (f" and {len(tests) - 5} more" if len(tests) > 5 else "")
    reason = f"{result.reason}; a person has quarantined what failed: {shown}"
    return replace(result, outcome=CheckOutcome.PASS, reason=reason, quarantined=tests)
