"""Evidence of a merge: what its record says, and how it is written down.

1. A record is JSON values, bounded, with a version; its text is canonical: the same values are the same bytes.
2. The whole commit that keeps a record (text, trailers, date, people) follows from it: `Entry.problem` compares.
3. A record is about one commit that came to main: the merge of a bead, or the commit that takes one back.
4. A validation was run for this (`ran`), is the recorded run of the same tree, checks and environment (`recorded`), or
   is the run of what it came to main with, which `stands_for` it: for a branch its candidate's, in a batch that of the
   batch's tip. Anything else is `unknown`, and nobody believes it.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ..beads.branches import is_approval
from ..beads.model import UNSURE
from ..errors import UsageError
from ..features.categories import CATEGORIES as OF_PLANS
from ..sessions.model import Session, SessionKind
from ..sessions.model import State as Of
from ..text.cleaning import only_seen, redacted, shorten

VERSION = 1
EXCERPT = 1_000
"""Characters of a check's output that a record keeps."""
MOST = 200_000
"""Characters of a record; a longer one goes without excerpts."""
ATTEMPTS = 100
"""So many attempts of a bead are told, the latest."""
PERSON = "nobrakes <nobrakes@nobrakes.invalid>"

Value = Mapping[str, Any]


class RecordKind(StrEnum):
    """What came to main."""

    MERGE = "merge"
    REVERT = "revert"


class How(StrEnum):
    """Why a validation is taken for done."""

    RAN = "ran"
    RECORDED = "recorded"
    STANDS_FOR = "stands_for"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Made:
    """A commit as it stands in the repository; `trailers` in their order. `at`: when; 0: it was not asked."""

    commit: str
    tree: str
    parents: tuple[str, ...]
    subject: str
    author: str
    trailers: tuple[tuple[str, str], ...] = ()
    at: float = field(default=0.0, compare=False)

    def trailer(self, key: str) -> str:
        """The last one with this key: what others wrote into the same text stands before ours. Empty: none."""
        return next((value for name, value in reversed(self.trailers) if name.lower() == key.lower()), "")


@dataclass(frozen=True, slots=True)
class Entry:
    """A commit of the chain, as it was found. `whole`: its content is what its id says.

    `people` are its author and committer with their moments, as stored.
    """

    commit: str
    parents: tuple[str, ...]
    message: str
    people: tuple[str, str] = ("", "")
    whole: bool = True

    @property
    def record(self) -> dict[str, Any]:
        """The record; ValueError where there is none that this version reads."""
        _, _, rest = self.message.partition("\n\n")
        try:
            found = json.loads(rest.rpartition("\n\n")[0])
        except RecursionError:
            raise ValueError("it is nested too deep") from None
        if not isinstance(found, dict) or found.get("version") != VERSION:
            raise ValueError("it is of another version")
        return found

    @property
    def about(self) -> str:
        """What the record is about, as its last trailer has it: no two records have the same."""
        return self.message.rstrip("\n").rpartition("\n")[2]

    @property
    def bead(self) -> str:
        """The bead that the record is about, as the trailer has it."""
        rows = self.message.rpartition("\n\n")[2].split("\n")
        return next((row.partition(": ")[2] for row in rows if row.startswith(("Bead: ", "Reverts-Bead: "))), "")

    def problem(self) -> str:
        """Why this is not what nobrakes wrote; empty: it is."""
        if not self.whole:
            return "its content is not what its id says"
        try:
            record = self.record
            expected, moment = message(record), f"{PERSON} {date(record)}"
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return f"it holds no record that can be read: {error}"
        if expected != self.message:
            return "its text is not what its record gives"
        return "" if self.people == (moment, moment) else "its date and people are not what its record gives"


def canonical(record: Value) -> str:
    """The record as text, a line for each of its fields: deeper indents cost ten times as much to write."""
    rows = (f"{_plain(key)}: {_plain(record[key])}" for key in sorted(record))
    return ("{\n" + ",\n".join(rows) + "\n}").encode("utf-8", "replace").decode()


_plain = json.JSONEncoder(sort_keys=True, ensure_ascii=False, allow_nan=False).encode


def about(record: Value) -> str:
    """What the record is about, as its last trailer says it."""
    return f"Merged: {record['merged']['commit']}"


def message(record: Value) -> str:
    """The text of the commit that keeps the record."""
    bead, commit = str(record["bead"]["id"]), str(record["merged"]["commit"])
    if record["kind"] == RecordKind.MERGE:
        subject, trailer = f"{bead} was merged as {commit[:12]}", f"Bead: {bead}"
    else:
        subject, trailer = f"{bead} was taken back by {commit[:12]}", f"Reverts-Bead: {bead}"
    return f"{subject}\n\n{canonical(record)}\n\n{trailer}\n{about(record)}\n"


def date(record: Value) -> str:
    """The moment of that commit, as git stores it."""
    return f"{max(0, int(record['at']))} +0000"


def excerpt(text: str) -> str:
    """The last whole lines of an output, as many as fit; what is secret has been taken out before."""
    clean = text.encode("utf-8", "replace").decode().strip()
    if len(clean) <= EXCERPT:
        return clean
    return clean[-EXCERPT:].partition("\n")[2] or clean[-EXCERPT:]


def place(commit: str, tree: str) -> dict[str, str]:
    """A commit with its tree."""
    return {"commit": commit, "tree": tree}


def run_of(proof: Value, tree: str, key: str, bead: str | None) -> dict[str, Any]:
    """A run, from what was saved of it. `bead`: whose review it was; None: a person's command."""
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
    """The tests that a run counted, added up; None where nothing was counted."""
    counted = [check["counts"] for check in (run or {}).get("checks", ()) if check.get("counts")]
    names = ("passed", "failed", "skipped")
    return {name: sum(counts[name] for counts in counted) for name in names} if counted else None


def attempt_row(attempt: Any, ended_at: float | None) -> dict[str, Any]:
    """One attempt that led to the merge, without what agents said."""
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
    """The record, without excerpts where it would be too long with them."""
    if len(canonical(record)) <= MOST:
        return dict(record)
    runs = {
        name: {**run, "checks": [{**check, "excerpt": ""} for check in run["checks"]]}
        for name, run in record["runs"].items()
    }
    return {**record, "runs": runs}


def taken_back_by(line: Sequence[Made], bead: str) -> str | None:
    """The newest commit of the line that takes the bead back; None: there is none."""
    found = (made for made in line if made.trailer("Reverts-Bead") == bead and not made.trailer("Bead"))
    return next((made.commit for made in found), None)


# What a record of evidence claims, and whether git's objects and its own runs bear it out.

Look = Callable[[str], Made | None]
"""Finds a commit; None: it is not here."""

Content = Callable[[str, str], str]
"""The digest of what differs between two commits (review.journal); empty: one of them is not here."""


class Claims:
    """What a record claims, taken out of its JSON; KeyError and the like where it is not there."""

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
        self.places += [("what was run for it", _pair(one["tip"])) for one in self.stands_for]
        self.approval = record.get("approval")
        self.elsewhere = str(record.get("epic", "") or record.get("into", ""))  # whose branch it landed on, not on main
        pull = record.get("pull_request") or {}
        self.proven = str(pull.get("proven", {}).get("commit", ""))  # what people merged as another commit
        # asked for here, so that a record that lacks one of them is found
        self.proofs = [(str(proof["of"]), str(proof["tree"])) for proof in (*self.validations, *self.inner)]

    def contradictions(self, find: Look, here: Mapping[str, Made]) -> list[str]:
        """Where the record and git's objects do not agree."""
        found = []
        for name, (commit, tree) in [("base", self.base), *self.places, *(("a commit", one) for one in self.commits)]:
            made = find(commit)
            if made is None and name != "branch" and commit != self.proven:  # squashed: no copy need hold it
                found.append(f"{name}: {commit[:12]} is not in this repository")
            elif made is not None and made.tree != tree:
                found.append(f"{name}: the tree of {commit[:12]} is {made.tree[:12]}, and the record says {tree[:12]}")
        places = dict(self.places)
        if "candidate" in places and places["candidate"] != places["merged"]:
            found.append("what was merged is not the candidate that was validated")
        trees = {**{name: tree for name, (_, tree) in places.items()}, "main": places["merged"][1]}
        for of, tree in self.proofs:
            if trees.get(of, tree) != tree:
                found.append(f"the validation of {_SPOKEN.get(of, of)} is of another tree, {tree[:12]}")
        found += [text for proof in self.stands_for if (text := self._of_tip(list(here), proof))]
        before = self.base[0]
        for commit, _ in self.commits:
            made = here.get(commit)
            if made is None:
                found.append(f"{commit[:12]}, which it says came to main, is not on main")
            elif made.parents[:1] != (before,):
                found.append(f"{commit[:12]} does not stand on {before[:12]}, as the record says")
            before = commit
        if before != self.merged:
            found.append("the commits that it names do not end with what was merged")
        return found

    def _of_tip(self, newest_first: list[str], proof: Mapping[str, Any]) -> str:
        """What is wrong with the candidate or the tip of a batch whose run stands for this commit; empty: nothing."""
        tip = str(proof["tip"]["commit"])
        if tip == self.proven:
            return ""
        if tip not in newest_first or newest_first.index(tip) > newest_first.index(self.merged):
            return f"the run of {tip[:12]} stands for it, which did not come to main with it"
        return ""

    def not_approved(self, content: Content) -> str:
        """Why what was merged is not what a person said yes to, where that was needed; empty: it is, or was not."""
        if self.approval is None:
            return ""
        by, shown = str(self.approval.get("by", "")), str(self.approval.get("content", ""))
        if not by or not is_approval(str(self.approval.get("words", ""))):
            return f"its merge needed a person's yes ({self.approval.get('why')}), and none is recorded"
        merged = content(self.base[0], self.merged)
        return "" if merged in ("", shown) else f"what was merged is not what {by} approved"

    def not_passed(self) -> list[tuple[bool, str]]:
        """The validations of which no pass is recorded, and whether that was after the merge."""
        if self.kind is not RecordKind.MERGE:
            return []  # what takes a red merge back is not held up by other checks that fail
        wanted = ["validate", "rebase", "validate", "merge", "validate"]
        if self.steps != wanted:
            return [(False, f"its steps are {', '.join(self.steps)}, not {', '.join(wanted)}")]
        proofs = (*self.validations, *self.inner)
        found = [(proof["of"], self._trouble(proof)) for proof in proofs if not self._is_told_unknown(proof)]
        return [(of == "main", f"the validation of {_SPOKEN.get(of, of)}: {text}") for of, text in found if text]

    def unknown(self) -> list[str]:
        """What a record that was added later says that nobody knows any more."""
        proofs = (*self.validations, *self.inner)
        return [f"the validation of {_SPOKEN.get(p['of'], p['of'])}" for p in proofs if self._is_told_unknown(p)]

    def _is_told_unknown(self, proof: Mapping[str, Any]) -> bool:
        """Whether it is said plainly that nobody knows the run; a record of its own time may not say so."""
        return bool(self.added_later) and proof.get("how") == How.UNKNOWN and proof.get("run") is None

    def _trouble(self, proof: Mapping[str, Any]) -> str:
        run = self.runs.get(proof.get("run"))
        if proof.get("how") not in (How.RAN, How.RECORDED, How.STANDS_FOR) or run is None:
            return "no run is recorded for it"
        tree = proof["tip"]["tree"] if proof["how"] == How.STANDS_FOR else proof["tree"]
        if run["tree"] != tree:
            return f"the run that it names is of the tree {str(run['tree'])[:12]}, and not of {str(tree)[:12]}"
        if run["contract"] not in self.contracts or proof.get("contract") != run["contract"]:
            return "the run that it names is not of the checks that it names"
        if run["outcome"] == "fail" and "main_was_red" in proof and self._was_red(proof["main_was_red"]):
            return ""
        outcomes = [check["outcome"] for check in run["checks"]]
        bad = [f"{check['name']}: {check['outcome']}" for check in run["checks"] if check["outcome"] != "pass"]
        if not outcomes or bad or run["outcome"] != "pass":
            return f"it did not pass ({', '.join(bad) or run['outcome']})"
        return ""

    def _was_red(self, main: Mapping[str, Any]) -> bool:
        """Whether main failed too where the branch left it: then only what they do together says anything."""
        run = self.runs.get(main.get("run"), {})
        return bool(run.get("tree") == main["tree"] and run.get("outcome") == "fail")


_SPOKEN = {"branch": "the branch", "candidate": "the candidate", "main": "main after the merge", "commit": "a commit"}


def _pair(place: Mapping[str, Any]) -> tuple[str, str]:
    return str(place["commit"]), str(place["tree"])


# Review by fresh eyes: whether a candidate that passed was read, who reads it next, and what follows from the answer.
#
# 1. It is read after every check passed, and never in their place: a reviewer's word lets nothing land that did not
# pass.
# 2. A reading is one session. What it was of, and how it ended, is in the session's data, so that a crash finds it
# again: one content (review.journal) is read in one round, by a second reviewer where the first one came to nothing.
# 3. A round counts once. The rounds of a bead begin anew when a person decided about findings, and when it was merged.
# 4. With `ask` nothing lands unread without a person's word. With `send_back` the work is sent back with what was
# found, as long as there are rounds; then a person is asked. A finding that must or should be mended is never passed
# over.

# What a reviewer of a change may say: findings in a bounded form, judged before anything of it is kept.
#
# 1. `findings_of` takes JSON text and gives findings, or says what is wrong with it in a UsageError. Of what is wrong
# nothing is kept.
# 2. The words are an agent's: cleaned, without secrets, bounded. They are shown and quoted, and steer nothing but
# whether the work is looked at again.
# 3. The same finding said twice is one.

CATEGORIES = ("correctness", "edge_cases", "errors", "tests", *OF_PLANS)
MOST_READ, TEXT, PATH, FINDINGS_ANSWER = 30, 1_000, 300, 64_000
"""Findings of one review; characters of a finding's text, of its path, and of the whole answer."""
FORM = 'It is {"findings": [{"category": …, "priority": "P1", "path": …, "line": 1, "text": …}]}; [] where all is well.'


class Priority(StrEnum):
    """How much a finding matters."""

    MUST = "P1"  # must be mended
    SHOULD = "P2"  # is mended, justified, or becomes a bead of its own
    MAY = "P3"  # shown, and nothing waits for it


URGENT = (Priority.MUST, Priority.SHOULD)
_FIELDS = frozenset({"category", "priority", "path", "line", "text"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a reviewer found. `path` and `line` as it said them; empty and 0: it named no place."""

    category: str
    priority: Priority
    text: str
    path: str = ""
    line: int = 0

    @property
    def is_urgent(self) -> bool:
        """Whether the work does not go on before it is decided."""
        return self.priority in URGENT

    @property
    def place(self) -> str:
        """Where it is, in words; empty: it named none."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path

    def as_values(self) -> dict[str, Any]:
        """JSON values."""
        values = {"category": self.category, "priority": self.priority.value, "text": self.text}
        return {**values, "path": self.path, "line": self.line}


def findings_of(answer: str) -> list[Finding]:
    """The findings of an answer, the most urgent first. UsageError: it is none, and why."""
    if len(answer) > FINDINGS_ANSWER:
        raise UsageError(f"the review has {len(answer)} characters, and {FINDINGS_ANSWER} are the most", FORM)
    try:
        values = json.loads(answer)
    except (ValueError, RecursionError):
        raise UsageError("the review is no JSON", FORM) from None
    if not isinstance(values, dict) or set(values) != {"findings"} or not isinstance(values["findings"], list):
        raise UsageError("the review is no object with `findings` alone", FORM)
    if len(values["findings"]) > MOST_READ:
        raise UsageError(f"the review has more than {MOST_READ} findings", "Leave out those that matter least.")
    found = dict.fromkeys(_finding(one, number) for number, one in enumerate(values["findings"], 1))
    return sorted(found, key=lambda one: one.priority)


def _finding(values: Any, number: int) -> Finding:
    if not isinstance(values, dict) or not values.keys() <= _FIELDS:
        raise _wrong(number, "is no object with these fields alone")
    if values.get("category") not in CATEGORIES:
        raise _wrong(number, f"has no category of these: {', '.join(CATEGORIES)}")
    if values.get("priority") not in [one.value for one in Priority]:
        raise _wrong(number, "has no priority of P1, P2 and P3")
    line = values.get("line") or 0
    if type(line) is not int or not 0 <= line < 10**7:
        raise _wrong(number, "has a line that is no number")
    texts = values.get("text"), values.get("path") or ""
    if not all(isinstance(one, str) for one in texts):
        raise _wrong(number, "has no text, or a path that is none")
    text, path = _bounded(str(texts[0]), TEXT), " ".join(_bounded(str(texts[1]), PATH).split())
    if not text.strip():
        raise _wrong(number, "has no text, or a path that is none")
    return Finding(values["category"], Priority(values["priority"]), text, path, line)


def _bounded(text: str, most: int) -> str:
    return shorten(redacted(only_seen(text)).strip(), most)


def _wrong(number: int, what: str) -> UsageError:
    return UsageError(f"finding {number} of the review {what}", FORM)


def kept(values: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    """The findings that were kept as these values."""
    return tuple(Finding(**{**one, "priority": Priority(one["priority"])}) for one in values)


def urgent(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that have to be decided."""
    return tuple(one for one in findings if one.is_urgent)


def counted(findings: Sequence[Finding]) -> dict[str, int]:
    """How many there are of each priority."""
    return {one.value: sum(found.priority is one for found in findings) for one in Priority}


def told(findings: Iterable[Finding]) -> str:
    """The findings as text, one after the other."""
    return "\n".join(f"- {one.priority.value} {one.category}{_at(one)}: {one.text}" for one in findings)


def _at(one: Finding) -> str:
    return f" at {one.place}" if one.path else ""


OFF, ASK, SEND_BACK = "off", "ask", "send_back"
BEAD, ATTEMPT, CONTENT, HEAD, BASE, CANDIDATE = "bead", "attempt", "content", "head", "base", "candidate"
ROUND, TRY, SINCE, MERGED = "round", "try", "since", "merged"
"""In a session's data: what it reads, in which round, as which reviewer of it, and after which events of the bead."""
ANSWER, OUTCOME, WHY, SENT_BACK = "answer", "outcome", "why", "sent_back"
"""In a session's data: its findings, how it ended, why it failed, and the review that sent the work back with them."""
DONE, FAILED, DROPPED = "done", "failed", "dropped"
"""How a reading ended; `dropped`: its review did before it, and it counts as none."""
TRIES = 2
"""So many reviewers may come to nothing in one round."""
WAITS = 6
"""A reviewer that was not started yet may wait so many times the minutes that it has."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings: at most so many rounds and dollars a bead; minutes of one reading; who reads, in turn."""

    way: str = OFF
    rounds: int = 3
    usd: float = 5.0
    minutes: float = 10.0
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """One session that reads. `outcome`: empty while it goes on."""

    session: Session
    findings: tuple[Finding, ...]

    @staticmethod
    def of(session: Session) -> "Reading":
        """The reading that this session is."""
        return Reading(session, kept(session.data.get(ANSWER) or ()))

    def _said(self, key: str, other: Any = "") -> Any:
        return self.session.data.get(key, other)

    @property
    def content(self) -> str:
        """What it reads."""
        return str(self._said(CONTENT))

    @property
    def round(self) -> int:
        """In which round it reads."""
        return int(self._said(ROUND, 1))

    @property
    def outcome(self) -> str:
        """How it ended; empty: it goes on."""
        return str(self._said(OUTCOME))

    @property
    def why(self) -> str:
        """Why it failed."""
        return str(self._said(WHY))

    @property
    def urgent(self) -> tuple[Finding, ...]:
        """What it found that has to be decided."""
        return urgent(self.findings)

    def as_values(self) -> dict[str, Any]:
        """What is kept and shown of it, as JSON values."""
        return {
            "round": self.round,
            "session": self.session.id,
            "agent": self.session.agent,
            "model": self.session.model,
            "cost_usd": round(self.session.cost_usd, 6),
            "outcome": self.outcome,
            "why": self.why,
            "findings": [one.as_values() for one in self.findings],
        }


class Way(StrEnum):
    """What is to be done about a candidate."""

    PASS = "pass"  # it was read, or need not be
    BEGIN = "begin"  # a reviewer begins
    WAIT = "wait"  # one reads it
    SEND_BACK = "send back"
    ASK = "ask"  # a person decides on what was found, or on what nobody could read
    UNREAD = "unread"  # it goes on, and was not read


@dataclass(frozen=True, slots=True)
class Next:
    """How it goes on. `reading`: the one that it follows from. `round`, `tries`: those of a reviewer that begins."""

    way: Way
    reading: Reading | None = None
    round: int = 0
    tries: int = 0
    why: str = ""


def following(rules: Rules, readings: Sequence[Reading], content: str, attempt: int, may_send_back: bool) -> Next:
    """What follows for a candidate with this content in this review. `readings`: those since rounds began, by session.

    `may_send_back`: there is an agent whose work it is.
    """
    if rules.way == OFF:
        return Next(Way.PASS)
    counts = [one for one in readings if one.outcome != DROPPED]
    answered = {one.round for one in counts if one.session.data.get(SENT_BACK) not in (None, attempt)}
    own = [one for one in counts if one.content == content and one.round not in answered]
    last = own[-1] if own else None
    if last is None:
        return _begun(rules, readings, max((one.round for one in counts), default=0) + 1, 1)
    if not last.outcome:
        return Next(Way.WAIT, last)
    if last.outcome == FAILED:
        if last.session.data.get(TRY, 1) < TRIES:
            return _begun(rules, readings, last.round, last.session.data.get(TRY, 1) + 1)
        return _unread(rules, readings, f"Nobody came through with a review in round {last.round}: {last.why}", last)
    if not last.urgent:
        return Next(Way.PASS, last)
    is_sent = rules.way == SEND_BACK and may_send_back and last.round < rules.rounds
    return Next(Way.SEND_BACK if is_sent else Way.ASK, last)


def _begun(rules: Rules, readings: Sequence[Reading], number: int, tries: int) -> Next:
    spent = cost(readings)
    if number > rules.rounds:
        return _unread(rules, readings, f"It was read in {number - 1} rounds, and may be in {rules.rounds}.")
    if spent >= rules.usd:
        return _unread(rules, readings, f"Its reviews have cost ${spent:.2f}, and may cost ${rules.usd:.2f}.")
    return Next(Way.BEGIN, round=number, tries=tries)


def _unread(rules: Rules, readings: Sequence[Reading], why: str, last: Reading | None = None) -> Next:
    """With `send_back` it goes on as where nobody reads, unless something was found that nobody saw mended."""
    done = [one for one in readings if one.outcome == DONE]
    is_open = bool(done) and bool(done[-1].urgent)
    return Next(Way.UNREAD if rules.way == SEND_BACK and not is_open else Way.ASK, last, why=why)


def cost(readings: Sequence[Reading]) -> float:
    """What they have cost by now, in dollars."""
    return sum(one.session.cost_usd for one in readings)


def reader(agents: Sequence[str], workers: Collection[str], number: int, tries: int) -> str:
    """Who reads in this round: the agents in turn, those that did none of the work first; the next one at a retry."""
    names = [one for one in agents if one not in workers] or list(agents) or sorted(workers)
    return names[(number - 1 + tries - 1) % len(names)]


# --- one reading -----------------------------------------------------------------------------------------------------


def ended(reading: Reading, minutes: float, waited: float, halted: bool) -> tuple[str, str] | None:
    """How a reading that was not over has ended, and why it failed; None: it goes on.

    `waited`: so many seconds it might have been started and was not (`Waits`). `halted`: its last turn did not end by
    itself. What was answered counts, however its turn ended.
    """
    session = reading.session
    if session.state is Of.RUNNING:
        return None
    if ANSWER in session.data:
        return DONE, ""
    if session.state is Of.READY:
        if session.failures:
            return FAILED, session.detail or "its agent failed"
        if waited < patience(minutes):
            return None
        return FAILED, f"it was not started within {WAITS * minutes:g} minutes: {session.detail}".rstrip(": ")
    if session.state is Of.IDLE and not halted:
        return FAILED, "it ended and gave no review"
    why = {Of.ASKING: "it asked a person instead of reviewing", Of.ENDED: "its session was ended"}
    return FAILED, why.get(session.state) or session.detail or "it does not go on"


def patience(minutes: float) -> float:
    """So many seconds one that was not started yet may wait."""
    return WAITS * minutes * 60


class Waits:
    """Since when readings wait to be started: in the life of one daemon, and since the last pause.

    Of a time in which nobody was started, as there was no daemon or all was paused, no reading has to answer for.
    """

    def __init__(self) -> None:
        self._since: dict[int, float] = {}

    def seen(self, reading: Reading, now: float, paused: bool) -> float:
        """Note how it is now; since when it waits, `now` where it does not."""
        if reading.session.state is not Of.READY or paused:
            self._since.pop(reading.session.id, None)
            return now
        return self._since.setdefault(reading.session.id, now)

    def anew(self) -> None:
        """The clock jumped: all of them begin to wait now."""
        self._since.clear()


# --- what is shown ---------------------------------------------------------------------------------------------------


def of_sessions(sessions: Sequence[Session]) -> list[Reading]:
    """The readings among these sessions of one bead, in their order."""
    return [Reading.of(one) for one in sessions if one.kind is SessionKind.CODE_REVIEW]


def since(readings: Sequence[Reading], merged: int) -> list[Reading]:
    """Those of the work that is to be merged next: begun after this merge of the bead, which was its last."""
    return [one for one in readings if one.outcome != DROPPED and one.session.data.get(MERGED) == merged]


def of_last_merge(readings: Sequence[Reading]) -> list[Reading]:
    """Those of the work that was read last: what was read before an earlier merge of the bead is left out."""
    counts = [one for one in readings if one.outcome != DROPPED]
    return [one for one in counts if one.session.data.get(MERGED) == counts[-1].session.data.get(MERGED)]


def summary(readings: Sequence[Reading]) -> str:
    """What they came to, in a line; empty: there is none."""
    if not readings:
        return ""
    rounds, last = readings[-1].round, readings[-1]
    said = f"{rounds} {'round' if rounds == 1 else 'rounds'}, ${cost(readings):.2f}: "
    if not last.outcome:
        return said + "it is being read"
    if last.outcome == FAILED:
        return said + f"no review ({last.why})"
    counts = ", ".join(f"{number} {name}" for name, number in counted(last.findings).items() if number)
    return said + (counts or "nothing was found")


# How a person decides on what fresh eyes found, or that nobody read it: the options of the question.

READING_CHOICES_SEND_BACK = "send it back"
GO_ON = "go on as it is"
TICKETS = "a bead for each P2"
READ_AGAIN = "read it again"


class Whose(StrEnum):
    """Who mends what was found."""

    AGENTS = "agents"
    PERSON = "person"  # who did the work, and to whom `nobrakes resolve --retry` gives it back
    EPIC = "epic"  # nobody works on an epic itself: a bead of it does


_MEANS = {
    Whose.AGENTS: "a Doer goes on where the branch is, with the findings and your words",
    Whose.EPIC: "a bead of the epic mends it, with the findings and your words, and then all of it is read again",
}


def options(found: bool, tickets: bool, whose: Whose) -> list[dict[str, Any]]:
    """The options of the form. `found`: there is something to decide; `tickets`: some of it may become beads."""
    made: list[dict[str, Any]] = []
    if not found:
        made.append({"label": READ_AGAIN, "means": "other reviewers try, and rounds and costs begin anew"})
    elif whose is not Whose.PERSON:
        made.append({"label": READING_CHOICES_SEND_BACK, "means": _MEANS[whose], "why": True, "rest": True})
    if tickets:
        means = "each P2 becomes a draft; what is P1 is sent back, and where there is none it goes on"
        made.append({"label": TICKETS, "means": means})
    made.append({"label": GO_ON, "means": "it is merged as it is, or its request opened, once it passes on main"})
    if len(made) == 1:
        made.append({"label": READ_AGAIN, "means": "other reviewers read it, and rounds and costs begin anew"})
    return made
