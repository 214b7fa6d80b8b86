"""What is kept of a run that passed, beside its results: which run it was, so that evidence can name it.

1. Of the same tree and checks the latest runs are kept: a merge that is validated again does not hide the run before.
2. Outputs are cut to their ends after what is secret in them was blacked out, by the recorder's own rules.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from ..core.attempt import Run
from ..core.checks import CheckResult, Contract
from ..core.evidence import excerpt
from ..host.recorder import BLACK, secrets
from .doors import Doors

KEPT = 4
"""So many runs of the same tree and checks are remembered."""

Proof = dict[str, Any]


@cache
def _pattern(environment: frozenset[tuple[str, str]]) -> "re.Pattern[bytes]":
    return secrets(dict(environment))


def clean(doors: Doors, text: str) -> str:
    """The text without what is secret in it."""
    pattern = _pattern(frozenset({**doors.credentials, **doors.environment}.items()))
    return pattern.sub(BLACK, text.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")


def proof(doors: Doors, run: Run, contract: Contract, results: Sequence[CheckResult]) -> Proof:
    """What is kept of the run."""
    return {
        "run": run.id,
        "attempt": run.attempt,
        "at": doors.store.now(),
        "contract": json.loads(contract.text),
        "checks": [row(doors, result) for result in results],
    }


def row(doors: Doors, result: CheckResult) -> Proof:
    """What is kept of one check."""
    counts = result.counts
    return {
        "name": result.name,
        "code": result.code,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "seconds": result.seconds,
        "counts": counts and {"passed": counts.passed, "failed": counts.failed, "skipped": counts.skipped},
        "excerpt": excerpt(clean(doors, result.tail)),
    }


def with_proof(known: Mapping[str, Any] | None, fresh: Proof) -> list[Proof]:
    """The runs that are remembered of a tree, with this one as the last; one that a crash repeats counts once."""
    before = [one for one in (known or {}).get("runs", ()) if one["run"] != fresh["run"]]
    return [*before, fresh][-KEPT:]
