"""What is kept of a run that passed, beside its results: which run it was, so that evidence can name it.

1. Of the same tree and checks the latest runs are kept: a merge that is validated again does not hide the run before.
2. What is secret in an output is blacked out (core.text.redaction) as soon as it was judged, and before it is cut.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.beads.attempt import Run
from ...core.checks.contract import CheckResult, Contract
from ...core.evidence.record import excerpt
from ...core.text.redaction import redact, secret_values
from ..ports import Ports

KEPT = 4
"""So many runs of the same tree and checks are remembered."""

Proof = dict[str, Any]
_LAST: list[tuple[Ports, frozenset[str]]] = []


def clean(ports: Ports, text: str) -> str:
    """The text without what is secret in it."""
    return redact(text, _values(ports)).encode("utf-8", "replace").decode() if text else ""


def _values(ports: Ports) -> frozenset[str]:
    """What is secret in this daemon's environment, which stays as it is: asked for each text that is kept."""
    last = _LAST[0] if _LAST else None
    if last is None or last[0] is not ports:
        last = (ports, secret_values([*ports.credentials.items(), *ports.environment.items()]))
        _LAST[:] = [last]
    return last[1]


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
