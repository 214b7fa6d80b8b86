"""Evidence of what came to main: gathered from the store and git, and put into the chain before the bead moves.

1. `merged` precedes its event, for each bead, however often: the chain takes a record once.
2. Records are in main's order: earlier commits without a record get theirs first.
3. Runs come from what was saved with the validation (checks.worker.steps), or from a failed review's steps; otherwise
   they are `unknown`.
4. Foreign texts are cleaned of secrets and bounded.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ... import US
from ...beads.model import Attempt, Bead, BeadType, Outcome, Role, bead_owner
from ...beads.proposals import reverted_merges, submitted
from ...beads.work_status import main_of as named
from ...checks.contract import CheckResult, Contract
from ...checks.worker.steps import OUTPUT_TAIL, clean
from ...checks.worker.validation import CONTRACT
from ...events.kinds import MERGES, Kind
from ...git.port import Made, Message
from ...parking import about
from ...ports import Ports
from ...records import frozen
from ...requests.worker.landing_branch import lands_on
from ...review.main_monitor import NOBODY
from .. import evidence
from ..evidence import How, RecordKind, attempt_row, bounded, counts_of, excerpt, place, run_of, taken_back_by
from ..journal import Journal, Step
from ..machine import Fact
from ..queue import Entry
from ..verify import NONE

if TYPE_CHECKING:
    from ...store import Store


STEPS = 200

Json = dict[str, Any]


class Evidence:
    """Writes the records of one repository."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def merged(self, attempt: Attempt, bead: Bead, journal: Journal) -> str:
        for other, before in self._earlier(attempt, journal):
            self.ports.git.keep_evidence(self.prepared(other, self.ports.store.bead(other.bead), before))
        return self.ports.git.keep_evidence(self.prepared(attempt, bead, journal))

    def _earlier(self, attempt: Attempt, journal: Journal) -> list[tuple[Attempt, Journal]]:
        """The open reviews that landed before this one, in main's order: a kill hid their records."""
        git = self.ports.git
        found: list[tuple[Attempt, Journal]] = []
        for other in self.ports.store.reviewing():
            before = Journal.of(other.data)
            if before.step is Step.PULL_REQUEST:  # people merge in any order, and its own review hears of it
                continue
            made = before.build.candidate
            if other.id == attempt.id or made in ("", journal.build.candidate):
                continue
            with about(self.ports, bead_owner(other.bead)):
                if git.has(made) and git.contains(made, journal.build.base) and self._comes_here(other, before):
                    later = (n for n, (_, one) in enumerate(found) if git.contains(made, one.build.candidate))
                    found.insert(next(later, len(found)), (other, before))
        return found

    def _comes_here(self, other: Attempt, before: Journal) -> bool:
        bead = self.ports.store.bead(other.bead)
        if lands_on(self.ports, bead) != self.ports.where:
            return False
        return before.step is Step.CLEAN_UP or (self.ports.pulls is None and bead.type is not BeadType.EPIC)

    def prepared(self, attempt: Attempt, bead: Bead, journal: Journal) -> Json:
        """The record of this review's candidate, as far as it is known now."""
        merging, build, change = journal.merging, journal.build, journal.change
        gathered = _Gathered(self.ports, bead, self._steps(attempt))
        branch, candidate = self._place(change.head), self._place(build.candidate)
        after, tip = build.contract, build.tip
        # the branch was not run by itself: what stands for it is what came of it on main
        first = gathered.validation("branch", None, branch, after, tip or build.candidate)
        second = gathered.validation("candidate", Step.VALIDATE_REBASED, candidate, after, tip)
        if merging.merged_as in ("", build.candidate) and bead.type is not BeadType.EPIC:
            own, third = self._as_validated(journal, gathered, candidate)
        else:
            own, third = self._by_people(bead, journal, gathered, candidate)
        before = gathered.saved(self._place(build.base)["tree"], after)
        record = {
            **gathered.begin(RecordKind.MERGE, attempt.started_at),
            "anchor": "" if change.anchor == NONE else change.anchor,
            "branch": branch,
            **own,
            "steps": [
                first,
                {"step": "rebase", "from": change.fork, "onto": build.base, "commit": build.candidate},
                second,
                {"step": "merge", "from": own["base"]["commit"], "to": own["merged"]["commit"]},
                third,
            ],
            "counts": {"before": counts_of(before), "after": counts_of(gathered.runs.get(second.get("run", "")))},
            "attempts": self._attempts(bead, attempt),
            **self._takes_back(bead),
            **({"epic": self.ports.where.epic} if self.ports.where.epic else {}),
            **({"into": self.ports.where.base} if self.ports.where.base else {}),
            **({"approval": dict(merging.approval)} if merging.approval else {}),
            **({"fresh_eyes": dict(merging.reading)} if merging.reading else {}),
            "review": {"attempt": attempt.number, "run": attempt.id, "started_at": round(attempt.started_at, 3)},
        }
        return bounded(record)

    def _as_validated(self, journal: Journal, gathered: "_Gathered", candidate: dict[str, str]) -> tuple[Json, Json]:
        build = journal.build
        after, tip = build.contract, build.tip
        last = gathered.validation("main", Step.VALIDATE_MAIN, candidate, after, tip)
        commits = [
            {
                **place(made.commit, made.tree),
                "proof": gathered.validation(
                    "commit", Step.VALIDATE_REBASED, place(made.commit, made.tree), after, tip
                ),
            }
            for made in self._between(build.base, build.candidate)[:-1]
        ]
        base = self._place(build.base)
        return {"base": base, "candidate": candidate, "merged": candidate, "commits": [*commits, candidate]}, last

    def _by_people(
        self, bead: Bead, journal: Journal, gathered: "_Gathered", candidate: dict[str, str]
    ) -> tuple[Json, Json]:
        """As `_as_validated` if people merged the candidate as another commit, perhaps on another base. Only on the
        validated base main's tree is the one that passed."""
        made = self.ports.git.made(journal.merging.merged_as)
        assert made is not None, "the host's merge is on main"
        merged = place(made.commit, made.tree)
        line = self._brought_by(bead, made)
        pull = self.ports.store.pull(bead.id)
        own: Json = {
            "base": self._place(line[0].parents[0]) if line[0].parents else merged,
            "merged": merged,
            "commits": [
                {**place(one.commit, one.tree), **({"bead": of} if (of := one.trailer("Bead")) else {})} for one in line
            ],
            "pull_request": {
                "number": pull.number if pull else 0,
                "url": excerpt(pull.url) if pull else "",
                "proven": candidate,
                "validated_on": self._place(journal.build.base),
            },
        }
        if made.tree == candidate["tree"]:
            return own, gathered.validation("main", Step.VALIDATE_REBASED, merged, journal.build.contract, "")
        own["added_later"] = "people merged it on another base than it was validated on"
        return own, {"step": "validate", "of": "main", **merged, "contract": "", "how": How.UNKNOWN.value}

    def _brought_by(self, bead: Bead, last: Made) -> list[Made]:
        """The commits of people's merge, oldest first: several for a rebased epic."""
        if bead.type is not BeadType.EPIC or len(last.parents) != 1:
            return [last]
        within = {one.bead for one in self.ports.store.dependencies(bead.id) if one.needs == bead.id}
        found: list[Made] = []
        for one in self.ports.git.line(last.commit)[:STEPS]:
            if found and (one.trailer("Bead") not in within or len(one.parents) != 1):
                break
            found.append(one)
        return found[::-1]

    def unknown(self, bead: Bead, base: Made, commits: Sequence[Made], anchor: str, why: str) -> Json:
        """The record of a merge known only from main. `why`: the reason for adding it later."""
        gathered, past = _Gathered(self.ports, bead, []), self.ports.store.attempts(bead.id)[-evidence.ATTEMPTS :]
        merged = place(commits[-1].commit, commits[-1].tree)
        proof: Json = {"step": "validate", **merged, "contract": "", "how": How.UNKNOWN.value}
        record = {
            **gathered.begin(RecordKind.MERGE, commits[-1].at),
            "added_later": why,
            "anchor": "" if anchor == NONE else anchor,
            "base": place(base.commit, base.tree),
            "candidate": merged,
            "merged": merged,
            "commits": [place(one.commit, one.tree) for one in commits],
            "steps": [
                {**proof, "of": "branch"},
                {"step": "rebase", "from": merged["commit"], "onto": base.commit, "commit": merged["commit"]},
                {**proof, "of": "candidate"},
                {"step": "merge", "from": base.commit, "to": merged["commit"]},
                {**proof, "of": "main"},
            ],
            "counts": {"before": None, "after": None},
            "attempts": [attempt_row(one, one.ended_at) for one in past],
        }
        return bounded(record)

    def taken_back(self, bead: Bead, base: str, commit: str, why: str, actor: str, contract: str = "") -> str:
        """Record main's revert of `base`..`commit`. `contract`: the key of the passed checks. Empty: no such commit."""
        git = self.ports.git
        line = git.line(git.main(), commit)
        revert = taken_back_by(line, bead.id)
        made = next((one for one in line if one.commit == revert), None)
        if made is None:
            return ""
        gathered = _Gathered(self.ports, bead, [])
        whole = place(made.commit, made.tree)
        proof = gathered.validation("revert", None, whole, contract, "")
        taken = self._brought(base, commit)
        revision = git.made(made.parents[0]) if made.parents else None
        assert revision is not None, "a commit that takes another back has a parent"
        record = {
            **gathered.begin(RecordKind.REVERT, self.ports.store.now()),
            "base": place(revision.commit, revision.tree),
            "merged": whole,
            "commits": [whole],
            "takes_back": [place(one.commit, one.tree) for one in taken],
            "why": why,
            "by": excerpt(clean(self.ports, actor))[:200],
            "steps": [proof, {"step": "merge", "from": revision.commit, "to": made.commit}],
        }
        return git.keep_evidence(bounded(record))

    def _takes_back(self, bead: Bead) -> Json:
        """The merges that this one reverts, and who asked for it."""
        past = self.ports.store.attempts(bead.id)
        merges, asked = reverted_merges(past), submitted(past)
        if not merges or asked is None:
            return {}
        rows = [place(made.commit, made.tree) for one in merges for made in self._brought(one.base, one.commit)]
        return {"takes_back": rows, "by": excerpt(clean(self.ports, asked.name))[:200]}

    def _brought(self, base: str, commit: str) -> list[Made]:
        if base:
            return self._between(base, commit)
        made = self.ports.git.made(commit)
        return [] if made is None else [made]

    def _place(self, commit: str) -> dict[str, str]:
        return place(commit, self.ports.git.tree(commit))

    def _between(self, base: str, tip: str) -> list[Made]:
        found: list[Made] = []
        following: str | None = tip
        while following is not None and following != base:
            made = self.ports.git.made(following)
            assert made is not None, "what was merged is there"
            found.append(made)
            following = made.parents[0] if made.parents else None
        return found[::-1]

    def _steps(self, attempt: Attempt) -> list[Json]:
        events = self.ports.store.latest_events((Kind.REVIEW_STEP,), None, STEPS, attempt.bead)
        return [dict(event.data) for event in events if event.attempt == attempt.id and event.data.get("run")]

    def _attempts(self, bead: Bead, review: Attempt) -> list[Json]:
        past = [one for one in self.ports.store.attempts(bead.id) if one.id != review.id]
        return [attempt_row(one, one.ended_at) for one in past[-evidence.ATTEMPTS :]]


class _Gathered:
    """The runs and contracts that one record names."""

    def __init__(self, ports: Ports, bead: Bead, steps: Sequence[Json]) -> None:
        self.ports = ports
        self.bead = bead
        self.steps = steps
        self.runs: dict[str, Json] = {}
        self.contracts: dict[str, Any] = {}
        self._saved: dict[tuple[str, str], Sequence[Mapping[str, Any]]] = {}
        self._beads: dict[int, str | None] = {0: None}  # a run that a command asked for belongs to no attempt

    def begin(self, kind: RecordKind, at: float) -> Json:
        """The common fields. The time is that of the latest run, so that a repeated record is the same."""
        moments = [at, *(float(run["at"]) for run in self.runs.values() if run["at"] is not None)]
        bead = {"id": self.bead.id, "title": clean(self.ports, self.bead.title)[:500], "type": self.bead.type.value}
        first = {"version": evidence.VERSION, "kind": kind.value, "at": round(max(moments), 3)}
        return {**first, "bead": bead, "runs": self.runs, "contracts": self.contracts}

    def validation(self, of: str, step: Step | None, what: dict[str, str], contract: str, tip: str) -> Json:
        """A validation and its run. Empty `contract`: the checks of that time."""
        said: Json = {"step": "validate", "of": of, **what, "contract": contract}
        mine = [one for one in self.steps if one["step"] == step and one["commit"] == what["commit"]]
        later = {
            one["run"] for one in self.steps if one["step"] == Step.VALIDATE_MAIN and step is not Step.VALIDATE_MAIN
        }
        for one in mine:
            ran = self._contract(one["run"])
            # main is asked what the checks of that moment say, whatever the candidate passed
            if ran is None or (contract not in ("", ran.key) and step is not Step.VALIDATE_MAIN):
                continue
            passed = all(result["outcome"] == "pass" for result in one["results"])
            batch = tip not in ("", what["commit"])
            if step is Step.VALIDATE_REBASED and not passed and (batch or self._newest(what["tree"], contract, later)):
                break  # what it landed by is another run: of that tree, or of what its batch ended with
            if not self._name(one["run"], what["tree"], ran.key):
                self._failed(one, what["tree"], ran)
            return {**said, "contract": ran.key, "how": How.RAN.value, "run": one["run"]}
        run = self._newest(what["tree"], contract, later)
        if run:
            return {**said, "how": How.RECORDED.value, "run": run}
        if tip and tip != what["commit"]:
            whole = place(tip, self.ports.git.tree(tip))
            run = self._newest(whole["tree"], contract, set())
            if run:
                return {**said, "how": How.STANDS_FOR.value, "run": run, "tip": whole}
        return {**said, "how": How.UNKNOWN.value}

    def saved(self, tree: str, contract: str) -> Json | None:
        known = self._proofs(tree, contract)
        return run_of(known[-1], tree, contract, None) if known else None

    def _proofs(self, tree: str, contract: str) -> Sequence[Mapping[str, Any]]:
        place = tree, contract
        if place not in self._saved:
            self._saved[place] = (self.ports.store.validation(tree, contract) or {}).get("runs", ())
        return self._saved[place]

    def _bead(self, attempt: int) -> str | None:
        if attempt == NOBODY:  # main was tried, or a person asked
            return None
        if attempt not in self._beads:
            self._beads[attempt] = self.ports.store.bead_of_attempt(attempt)
        return self._beads[attempt]

    def _newest(self, tree: str, contract: str, but: set[str]) -> str:
        known = [one for one in self._proofs(tree, contract) if one["run"] not in but]
        return str(known[-1]["run"]) if known and self._name(known[-1]["run"], tree, contract) else ""

    def _name(self, run: str, tree: str, contract: str) -> bool:
        for proof in self._proofs(tree, contract):
            if proof["run"] == run:
                self.runs[run] = run_of(proof, tree, contract, self._bead(int(proof["attempt"])))
                self.contracts[contract] = _cleaned(self.ports, proof["contract"])
                return True
        return False

    def _contract(self, run: str) -> Contract | None:
        path = os.path.join(self.ports.paths.runs, run, CONTRACT)
        return Contract.parse(self.ports.processes.output(path, OUTPUT_TAIL))

    def _failed(self, step: Json, tree: str, ran: Contract) -> None:
        checks = [{**one, "excerpt": excerpt(clean(self.ports, str(one.get("tail", ""))))} for one in step["results"]]
        self.runs[step["run"]] = run_of({"checks": checks}, tree, ran.key, self.bead.id)
        self.contracts[ran.key] = _cleaned(self.ports, json.loads(ran.text))


def _cleaned(ports: Ports, value: Any) -> Any:
    if isinstance(value, str):
        return clean(ports, value)
    if isinstance(value, Mapping):
        return {key: _cleaned(ports, one) for key, one in value.items()}
    return [_cleaned(ports, one) for one in value] if isinstance(value, list | tuple) else value


@frozen
class AttemptEnd:
    """Outcome and text of a review that does not land. `form`: that of the question (decisions.forms)."""

    outcome: Outcome
    detail: str
    head: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    form: Mapping[str, Any] | None = None


@frozen
class Report:
    """A fact, its journal values, and the input of the next action. `results`: why a merge is reverted. `entries`: what
    would have landed together, itself first. `was_freed`: main could move again before."""

    fact: Fact
    brought: Mapping[str, Any] = field(default_factory=dict)
    ending: AttemptEnd | None = None
    results: Sequence[CheckResult] = ()
    entries: Sequence[Entry] = ()
    was_freed: bool = False


def refused(outcome: Outcome, detail: str) -> Report:
    return Report(Fact.REFUSED, ending=AttemptEnd(outcome, detail))


def questioned(ending: AttemptEnd) -> Report:
    return Report(Fact.QUESTIONED, ending=ending)


def blamed(journal: Journal) -> Report:
    said = {"results": list(journal.runs.results)}
    return Report(
        Fact.MAIN_PASSES, ending=AttemptEnd(Outcome.FAILED_REVIEW, journal.runs.failure, journal.change.head, said)
    )


def unsure(journal: Journal) -> AttemptEnd:
    detail = "The checks could not tell whether the work is good.\n" + journal.runs.failure
    return AttemptEnd(Outcome.BROKEN_CHECKS, detail, journal.change.head, {"results": list(journal.runs.results)})


# Same attempt, same message, same object id.
BY_HAND = "Handed-In-By"
"""The trailer that names the person whose work it is."""


def main_of(ports: Ports) -> str:
    """The name of the branch that work lands on."""
    where = ports.where
    return where.base if where.base and not where.epic else named(where.epic)


def epic_of(ports: Ports) -> dict[str, str]:
    return {"epic": ports.where.epic} if ports.where.epic else {}


def _person(name: str) -> str:
    word = "".join(c if c.isalnum() else "-" for c in name.lower())
    return f"{name} (nobrakes) <{word}@nobrakes.invalid>"


def for_merge(ports: Ports, bead: Bead, attempt: Attempt) -> Message:
    """The merge commit of a bead: its title, description, people, and the evidence's end."""
    trailers = [("Bead", bead.id)]
    if attempt.data.get("anchor"):
        trailers.append(("Evidence", attempt.data["anchor"]))
    author = US
    for past in ports.store.attempts(bead.id):
        if past.outcome is not Outcome.COMPLETED:
            continue
        if past.role is Role.TEST_WRITER:
            trailers = [t for t in trailers if t[0] != "Test-Writer"] + [("Test-Writer", f"{past.name} ({past.agent})")]
        if past.role is Role.DOER:
            trailers = [t for t in trailers if t[0] != "Doer"] + [("Doer", f"{past.name} ({past.agent})")]
            trailers = [t for t in trailers if t[0] != BY_HAND]
            author = _person(past.name)
        if past.role is Role.PERSON:
            trailers = [t for t in trailers if t[0] != BY_HAND] + [(BY_HAND, past.name)]
            made = ports.git.made(str(past.head))
            author = made.author if made is not None else _person(past.name)
    taken = dict.fromkeys(merge.bead for merge in reverted_merges(ports.store.attempts(bead.id)))
    trailers += [("Reverts-Bead", name) for name in taken]
    return Message(bead.title, bead.description, author, attempt.started_at, tuple(trailers))


def for_revert(ports: Ports, bead: Bead, attempt: Attempt) -> Message:
    body = "main did not pass its checks after this was merged."
    return Message(f"Revert: {bead.title}", body, US, attempt.started_at, (("Reverts-Bead", bead.id),))


def last_merge(store: "Store", bead: str) -> int:
    """Sequence number of the bead's last merge; 0: none."""
    merges = store.latest_events(MERGES, None, 1, bead)
    return merges[0].seq if merges else 0
