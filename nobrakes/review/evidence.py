"""Evidence of a merge: the content of its record, and how it is written.

1. A record is bounded JSON with a version; its text is canonical.
2. The commit of a record (text, trailers, date, people) follows from it: `Entry.problem` compares.
3. A record is about one commit on main: a bead's merge, or the commit that takes one back.
4. A validation was run for it (`ran`), is the recorded run of the same tree, checks and environment (`recorded`), or
   the run of what it landed with, which `stands_for` it: a branch's candidate or a batch's tip. Anything else is
   `unknown`, and proves nothing.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from .. import US
from ..beads.branches import is_approval
from ..beads.model import UNSURE
from ..git.port import Made
from ..records import frozen

VERSION = 1
EXCERPT = 1_000
MAX_RECORD = 200_000
ATTEMPTS = 100
"""Latest attempts of a bead in a record."""

Value = Mapping[str, Any]


class RecordKind(StrEnum):
    """What came to main."""

    MERGE = "merge"
    REVERT = "revert"


class How(StrEnum):
    """How a validation counts as done."""

    RAN = "ran"
    RECORDED = "recorded"
    STANDS_FOR = "stands_for"
    UNKNOWN = "unknown"


@frozen
class Entry:
    """A commit of the chain. `whole`: its content matches its id. `people`: author and committer with their times."""

    commit: str
    parents: tuple[str, ...]
    message: str
    people: tuple[str, str] = ("", "")
    whole: bool = True

    @property
    def record(self) -> dict[str, Any]:
        """Raises ValueError if this version reads no record there."""
        _, _, rest = self.message.partition("\n\n")
        try:
            found = json.loads(rest.rpartition("\n\n")[0])
        except RecursionError:
            raise ValueError("the record is nested too deeply") from None
        if not isinstance(found, dict) or found.get("version") != VERSION:
            raise ValueError("the record has an unknown version")
        return found

    @property
    def about(self) -> str:
        return self.message.rstrip("\n").rpartition("\n")[2]

    @property
    def bead(self) -> str:
        rows = self.message.rpartition("\n\n")[2].split("\n")
        return next((row.partition(": ")[2] for row in rows if row.startswith(("Bead: ", "Reverts-Bead: "))), "")

    def problem(self) -> str:
        """Why nobrakes did not write this; empty: it did."""
        if not self.whole:
            return "the record's content does not match its id"
        try:
            record = self.record
            expected, moment = message(record), f"{US} {date(record)}"
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return f"the commit contains no readable record: {error}"
        if expected != self.message:
            return "the commit's text does not match its record"
        return "" if self.people == (moment, moment) else "the commit's date and people do not match its record"


def canonical(record: Value) -> str:
    """The record as text, one line for each field: deeper indents cost ten times as much to write."""
    rows = (f"{_plain(key)}: {_plain(record[key])}" for key in sorted(record))
    return ("{\n" + ",\n".join(rows) + "\n}").encode("utf-8", "replace").decode()


_plain = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False).encode


def about(record: Value) -> str:
    return f"Merged: {record['merged']['commit']}"


def message(record: Value) -> str:
    bead, commit = str(record["bead"]["id"]), str(record["merged"]["commit"])
    if record["kind"] == RecordKind.MERGE:
        subject, trailer = f"{bead} was merged as {commit[:12]}", f"Bead: {bead}"
    else:
        subject, trailer = f"{bead} was taken back by {commit[:12]}", f"Reverts-Bead: {bead}"
    return f"{subject}\n\n{canonical(record)}\n\n{trailer}\n{about(record)}\n"


def date(record: Value) -> str:
    return f"{max(0, int(record['at']))} +0000"


def excerpt(text: str) -> str:
    """The last complete lines that fit; secrets were removed before."""
    clean = text.encode("utf-8", "replace").decode().strip()
    return clean if len(clean) <= EXCERPT else clean[-EXCERPT:].partition("\n")[2] or clean[-EXCERPT:]


def place(commit: str, tree: str) -> dict[str, str]:
    return {"commit": commit, "tree": tree}


def run_of(proof: Value, tree: str, key: str, bead: str | None) -> dict[str, Any]:
    """A run as recorded. `bead`: whose review it was; None: a person's command."""
    checks = [_check(row) for row in proof.get("checks", ())]
    return {
        "bead": bead,
        "tree": tree,
        "contract": key,
        "at": _rounded(proof.get("at")),
        "seconds": _rounded(sum(check["seconds"] for check in checks)),
        "outcome": _worst(check["outcome"] for check in checks),
        "checks": checks,
    }


def _check(row: Value) -> dict[str, Any]:
    names = ("name", "code", "outcome", "reason", "counts", "excerpt")
    return {**{name: row.get(name) for name in names}, "seconds": _rounded(row.get("seconds")) or 0.0}


def _worst(outcomes: Iterable[str]) -> str:
    found = set(outcomes)
    return next((one for one in ("broken", "not-run", "fail") if one in found), "pass" if found else "not-run")


def counts_of(run: Value | None) -> dict[str, int] | None:
    counted = [check["counts"] for check in (run or {}).get("checks", ()) if check.get("counts")]
    names = ("passed", "failed", "skipped")
    return {name: sum(counts[name] for counts in counted) for name in names} if counted else None


def attempt_row(attempt: Any, ended_at: float | None) -> dict[str, Any]:
    return {
        "number": attempt.number,
        "role": attempt.role.value,
        "name": attempt.name,
        "agent": attempt.agent,
        "model": attempt.model,
        "provider": attempt.provider,
        "session": attempt.provider_session,
        "outcome": None if attempt.outcome is None else attempt.outcome.value,
        "rounds": attempt.data.get("rounds"),
        **({"unsure": True} if attempt.data.get(UNSURE) else {}),
        "tokens": attempt.tokens,
        "cost_usd": _rounded(attempt.cost_usd),
        "started_at": _rounded(attempt.started_at),
        "seconds": None if ended_at is None else _rounded(ended_at - attempt.started_at),
    }


def _rounded(number: Any) -> float | None:
    return None if number is None else round(float(number), 3)


def bounded(record: Mapping[str, Any]) -> dict[str, Any]:
    if len(canonical(record)) <= MAX_RECORD:
        return dict(record)
    runs = {
        name: {**run, "checks": [{**check, "excerpt": ""} for check in run["checks"]]}
        for name, run in record["runs"].items()
    }
    return {**record, "runs": runs}


def taken_back_by(line: Sequence[Made], bead: str) -> str | None:
    found = (made for made in line if made.trailer("Reverts-Bead") == bead and not made.trailer("Bead"))
    return next((made.commit for made in found), None)


Look = Callable[[str], Made | None]

Content = Callable[[str, str], str]
"""The digest of the difference between two commits (review.journal); empty: one is missing."""


class Claims:
    """A record's claims; raises KeyError and the like for missing ones."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self.bead = str(record["bead"]["id"])
        self.kind = RecordKind(record["kind"])
        self.merged = str(record["merged"]["commit"])
        self.base = _pair(record["base"])
        self.commits = [_pair(one) for one in record["commits"]]
        self.beads = {str(one["commit"]): str(one.get("bead") or self.bead) for one in record["commits"]}
        self.places = [(name, _pair(record[name])) for name in ("branch", "candidate", "merged") if name in record]
        self.takes_back = [str(one["commit"]) for one in record.get("takes_back", ())]
        self.added_later = str(record.get("added_later", ""))
        self.runs = record["runs"]
        self.contracts = record["contracts"]
        self.validations = [step for step in record["steps"] if step["step"] == "validate"]
        self.steps = [str(step["step"]) for step in record["steps"]]
        self.inner = [one["proof"] for one in record["commits"] if "proof" in one]
        self.stands_for = [one for one in (*self.validations, *self.inner) if one["how"] == How.STANDS_FOR]
        self.places += [("the tested tree", _pair(one["tip"])) for one in self.stands_for]
        self.approval = record.get("approval")
        self.elsewhere = str(record.get("epic", "") or record.get("into", ""))  # whose branch it landed on, not on main
        pull = record.get("pull_request") or {}
        self.proven = str(pull.get("proven", {}).get("commit", ""))  # what people merged as another commit
        # asked for here, so that a record that lacks one of them is found
        self.proofs = [(str(proof["of"]), str(proof["tree"])) for proof in (*self.validations, *self.inner)]

    def contradictions(self, find: Look, here: Mapping[str, Made]) -> list[str]:
        """Contradictions between the record and git's objects."""
        found = []
        for name, (commit, tree) in [("base", self.base), *self.places, *(("a commit", one) for one in self.commits)]:
            made = find(commit)
            if made is None and name != "branch" and commit != self.proven:  # squashed: no copy need hold it
                found.append(f"{name}: {commit[:12]} is not in this repository")
            elif made is not None and made.tree != tree:
                found.append(f"{name}: the tree of {commit[:12]} is {made.tree[:12]}, but the record says {tree[:12]}")
        places = dict(self.places)
        if "candidate" in places and places["candidate"] != places["merged"]:
            found.append("the merge differs from the validated candidate")
        trees = {**{name: tree for name, (_, tree) in places.items()}, "main": places["merged"][1]}
        for of, tree in self.proofs:
            if trees.get(of, tree) != tree:
                found.append(f"the validation of {_SPOKEN.get(of, of)} belongs to another tree, {tree[:12]}")
        found += [text for proof in self.stands_for if (text := self._tip_mismatch(list(here), proof))]
        before = self.base[0]
        for commit, _ in self.commits:
            made = here.get(commit)
            if made is None:
                found.append(f"the record says that {commit[:12]} was merged, but it is not on main")
            elif made.parents[:1] != (before,):
                found.append(f"the record says that {commit[:12]} builds on {before[:12]}, but it does not")
            before = commit
        if before != self.merged:
            found.append("the last commit that the record names is not the merge")
        return found

    def _tip_mismatch(self, newest_first: list[str], proof: Mapping[str, Any]) -> str:
        tip = str(proof["tip"]["commit"])
        if tip == self.proven:
            return ""
        if tip not in newest_first or newest_first.index(tip) > newest_first.index(self.merged):
            return f"the record relies on the run of {tip[:12]}, which was not merged with the record's work"
        return ""

    def not_approved(self, content: Content) -> str:
        """Why the merged content is not what a person approved, if that was needed; empty: fine."""
        if self.approval is None:
            return ""
        by, shown = str(self.approval.get("by", "")), str(self.approval.get("content", ""))
        if not by or not is_approval(str(self.approval.get("words", ""))):
            return f"the merge needed a person's approval ({self.approval.get('why')}), but none is recorded"
        return "" if content(self.base[0], self.merged) in ("", shown) else f"the merge differs from what {by} approved"

    def not_passed(self) -> list[tuple[bool, str]]:
        """Validations without a recorded pass, and whether each came after the merge."""
        if self.kind is not RecordKind.MERGE:
            return []  # what takes a red merge back is not held up by other checks that fail
        wanted = ["validate", "rebase", "validate", "merge", "validate"]
        if self.steps != wanted:
            return [(False, f"the recorded steps are {', '.join(self.steps)}, not {', '.join(wanted)}")]
        proofs = (*self.validations, *self.inner)
        found = [(proof["of"], self._trouble(proof)) for proof in proofs if not self._is_reported_unknown(proof)]
        return [(of == "main", f"the validation of {_SPOKEN.get(of, of)}: {text}") for of, text in found if text]

    def unknown(self) -> list[str]:
        """Validations that a later record marks as unknown."""
        proofs = (*self.validations, *self.inner)
        return [f"the validation of {_SPOKEN.get(p['of'], p['of'])}" for p in proofs if self._is_reported_unknown(p)]

    def _is_reported_unknown(self, proof: Mapping[str, Any]) -> bool:
        return bool(self.added_later) and proof.get("how") == How.UNKNOWN and proof.get("run") is None

    def _trouble(self, proof: Mapping[str, Any]) -> str:
        run = self.runs.get(proof.get("run"))
        if proof.get("how") not in (How.RAN, How.RECORDED, How.STANDS_FOR) or run is None:
            return "no run is recorded"
        tree = proof["tip"]["tree"] if proof["how"] == How.STANDS_FOR else proof["tree"]
        if run["tree"] != tree:
            return f"the recorded run checked the tree {str(run['tree'])[:12]}, not {str(tree)[:12]}"
        if run["contract"] not in self.contracts or proof.get("contract") != run["contract"]:
            return "the recorded run used other checks than the record says"
        if run["outcome"] == "fail" and "main_was_red" in proof and self._was_red(proof["main_was_red"]):
            return ""
        outcomes = [check["outcome"] for check in run["checks"]]
        bad = [f"{check['name']}: {check['outcome']}" for check in run["checks"] if check["outcome"] != "pass"]
        if not outcomes or bad or run["outcome"] != "pass":
            return f"the run did not pass ({', '.join(bad) or run['outcome']})"
        return ""

    def _was_red(self, main: Mapping[str, Any]) -> bool:
        run = self.runs.get(main.get("run"), {})
        return bool(run.get("tree") == main["tree"] and run.get("outcome") == "fail")


_SPOKEN = {"branch": "the branch", "candidate": "the candidate", "main": "main after the merge", "commit": "a commit"}


def _pair(place: Mapping[str, Any]) -> tuple[str, str]:
    return str(place["commit"]), str(place["tree"])
