"""What is kept of a run that passed, beside its results: which run it was, so that evidence can name it.

1. Of the same tree and checks the latest runs are kept: a merge that is validated again does not hide the run before.
2. What is secret in an output is blacked out (core.text.redaction) as soon as it was judged, and before it is cut.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ...core.beads.attempt import Run
from ...core.checks.contract import CheckResult, Contract
from ...core.evidence.record import excerpt
from ...core.text.redaction import redact, secret_values
from ..ports import Ports

KEPT = 4
"""So many runs of the same tree and checks are remembered."""

Proof = dict[str, Any]


def clean(ports: Ports, text: str) -> str:
    """The text without what is secret in it."""
    if not text:
        return ""
    values = _values((*ports.credentials.items(), *ports.environment.items()))
    return redact(text, values).encode("utf-8", "replace").decode()


@lru_cache(maxsize=4)  # a daemon's environment stays as it is, and each text that is kept asks for it
def _values(environment: tuple[tuple[str, str], ...]) -> frozenset[str]:
    return secret_values(environment)


def without_secrets(ports: Ports, result: CheckResult) -> CheckResult:
    """The result with outputs that may be kept and shown."""
    repeated = tuple(without_secrets(ports, one) for one in result.repeated)
    return replace(result, tail=clean(ports, result.tail), repeated=repeated)


def proof(ports: Ports, run: Run, contract: Contract, results: Sequence[CheckResult]) -> Proof:
    """What is kept of the run."""
    return {
        "run": run.id,
        "attempt": run.attempt,
        "at": ports.store.now(),
        "contract": json.loads(contract.text),
        "checks": [row(ports, result) for result in results],
    }


def row(ports: Ports, result: CheckResult) -> Proof:
    """What is kept of one check."""
    counts = result.counts
    return {
        "name": result.name,
        "code": result.code,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "seconds": result.seconds,
        "counts": counts and {"passed": counts.passed, "failed": counts.failed, "skipped": counts.skipped},
        "decoy": result.decoy,
        "excerpt": excerpt(result.tail),
    }


def with_proof(known: Mapping[str, Any] | None, fresh: Proof) -> list[Proof]:
    """The runs that are remembered of a tree, with this one as the last; one that a crash repeats counts once."""
    before = [one for one in (known or {}).get("runs", ()) if one["run"] != fresh["run"]]
    return [*before, fresh][-KEPT:]
