"""Running the checks again on what was merged, and comparing what they say with what was recorded.

1. The recorded commands, in a fresh checkout of the commit, closed off as every check is; or today's.
2. The same tree under the same commands is run once.
3. With the recorded commands the counts of tests are compared too: as many passes as then, and no more skipped.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.checks.contract import CheckResult, Contract, overall
from ...core.evidence.record import How
from ...core.evidence.verify import Report, Rerun, Word, Wrong
from ...core.text.redaction import BLACK
from ...ports.git import Git

Run = Callable[[str, Contract | None], tuple[Contract, list[CheckResult]]]
"""Runs these checks (None: today's) on a commit; what was run, and the results."""

Proof = Mapping[str, Any]


def rerun(git: Git, report: Report, run: Run, today: bool, tell: Callable[[str], None]) -> Report:
    """The report with what the checks say now of each merged commit in it, oldest first."""
    records = {entry.commit: entry.record for entry in git.evidence() if entry.problem() == ""}
    done: dict[tuple[str, str], tuple[Contract, list[CheckResult]]] = {}
    reruns: list[Rerun] = []
    wrong = list(report.wrong)
    for seen in reversed(report.commits):
        if seen.word not in (Word.MERGED, Word.TAKEN_BACK) or seen.evidence not in records:
            continue
        record = records[seen.evidence]

        def note(text: str, commit: str = seen.commit, evidence: str = seen.evidence, bead: str = seen.bead) -> None:
            wrong.append(Wrong(text, commit, evidence, bead))

        proof = _proof(record, seen.commit)
        contract = None if today else _contract(record, proof)
        if contract is None and not today:
            note("its checks cannot be run again: they are not recorded, or held a secret that is not kept")
            continue
        tell(f"running the checks again on {seen.commit[:12]}, {seen.bead}")
        key = (git.tree(seen.commit), "" if contract is None else contract.key)
        if key not in done:
            done[key] = run(seen.commit, contract)
        ran, results = done[key]
        reruns.append(Rerun(seen.commit, seen.bead, ran.key, overall(results).value, tuple(map(_row, results))))
        recorded = () if today or proof.get("how") == How.STANDS_FOR else record["runs"][proof["run"]]["checks"]
        for text in _differences(results, recorded):
            note(f"run again, {text}")
    return replace(report, wrong=tuple(wrong), reruns=tuple(reruns))


def _proof(record: Mapping[str, Any], commit: str) -> Proof:
    """The validation of one of the commits that a record brought to main."""
    for one in record["commits"]:
        if one["commit"] == commit and "proof" in one:
            inner: Proof = one["proof"]
            return inner
    candidate: Proof = record["steps"][2]
    return candidate


def _contract(record: Mapping[str, Any], proof: Proof) -> Contract | None:
    """The recorded checks; None: they are not whole."""
    kept = record["contracts"].get(proof.get("contract"))
    if proof.get("run") not in record["runs"] or kept is None or BLACK in json.dumps(kept):
        return None
    return Contract.of_text(json.dumps(kept))


def _row(result: CheckResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "outcome": result.outcome.value,
        "reason": result.reason,
        "code": result.code,
        "seconds": round(result.seconds, 3),
        "counts": result.counts,
    }


def _differences(results: Sequence[CheckResult], recorded: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What is not as it was."""
    before = {str(check["name"]): check.get("counts") for check in recorded}
    for one in results:
        if one.outcome.value != "pass":
            yield f"{one.name} does not pass: {one.outcome.value}, {one.reason}"
            continue
        old, new = before.get(one.name), one.counts
        if old and (new is None or new.passed != old["passed"] or new.skipped != old["skipped"]):
            now = "nothing counted" if new is None else f"{new.passed} passed, {new.skipped} skipped"
            yield f"{one.name} says something else: {now}; then {old['passed']} passed, {old['skipped']} skipped"
    if not results:
        yield "there is no check to run"
