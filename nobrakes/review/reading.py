"""Code review: whether a passed candidate was reviewed, who reviews it next, and what follows.

1. It follows all checks and replaces none.
2. A reading is one session, whose data has its content and outcome, so that a crash finds it: one content
   (review.journal) is read in one round, by a second reviewer if the first failed.
3. A round counts once. Rounds start again when a person decided about findings, and after a merge.
4. With `ask` nothing lands unread without a person. With `send_back` work returns with its findings while rounds are
   left; then a person is asked. A finding of the settings' lowest priority or above is never passed over.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from ..beads.progress import CATEGORIES as OF_PLANS
from ..errors import UsageError
from ..records import frozen
from ..sessions.model import Session, SessionKind
from ..sessions.model import State as Of
from ..text.cleaning import count, only_seen, redacted, shorten

CATEGORIES = ("correctness", "edge_cases", "errors", "tests", *OF_PLANS)
MAX_FINDINGS, TEXT, PATH, FINDINGS_ANSWER = 30, 1_000, 300, 64_000
"""Findings of one review; characters of a finding's text, its path, and the full answer."""
FORM = 'It is {"findings": [{"category": …, "priority": "P1", "path": …, "line": 1, "text": …}]}; [] where all is well.'


class Priority(StrEnum):
    """How much a finding matters."""

    MUST = "P1"  # must be mended
    SHOULD = "P2"  # is mended, justified, or becomes a bead of its own
    MAY = "P3"  # a small thing

    @property
    def number(self) -> int:
        return int(self[1:])


_FIELDS = frozenset({"category", "priority", "path", "line", "text"})


# A reviewer's words are an agent's: cleaned, without secrets, bounded. They steer nothing but whether the work is
# looked at again. Of what is wrong in them nothing is kept.
@frozen
class Finding:
    """One finding of a reviewer. `path` and `line` as given; empty and 0: none."""

    category: str
    priority: Priority
    text: str
    path: str = ""
    line: int = 0

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}" if self.path and self.line else self.path

    def as_values(self) -> dict[str, Any]:
        values = {"category": self.category, "priority": self.priority.value, "text": self.text}
        return {**values, "path": self.path, "line": self.line}


def findings_of(answer: str) -> list[Finding]:
    """The findings of an answer, the most urgent first. Raises UsageError."""
    if len(answer) > FINDINGS_ANSWER:
        raise UsageError(f"the review is {len(answer)} characters long; the limit is {FINDINGS_ANSWER}", FORM)
    try:
        values = json.loads(answer)
    except (ValueError, RecursionError):
        raise UsageError("the review is not JSON", FORM) from None
    if not isinstance(values, dict) or set(values) != {"findings"} or not isinstance(values["findings"], list):
        raise UsageError("the review is not an object with the single field `findings`", FORM)
    if len(values["findings"]) > MAX_FINDINGS:
        raise UsageError(f"the review has more than {MAX_FINDINGS} findings", "Leave out the least important findings.")
    found = dict.fromkeys(_finding(one, number) for number, one in enumerate(values["findings"], 1))
    return sorted(found, key=lambda one: one.priority)


def _finding(values: Any, number: int) -> Finding:
    if not isinstance(values, dict) or not values.keys() <= _FIELDS:
        raise _wrong(number, "is not an object with exactly these fields")
    if values.get("category") not in CATEGORIES:
        raise _wrong(number, f"needs one of these categories: {', '.join(CATEGORIES)}")
    if values.get("priority") not in [one.value for one in Priority]:
        raise _wrong(number, "needs a priority: P1, P2 or P3")
    line = values.get("line") or 0
    if type(line) is not int or not 0 <= line < 10**7:
        raise _wrong(number, "has a line that is not a number")
    texts = values.get("text"), values.get("path") or ""
    if not all(isinstance(one, str) for one in texts):
        raise _wrong(number, "has no text, or its path is not a text")
    text, path = _bounded(str(texts[0]), TEXT), " ".join(_bounded(str(texts[1]), PATH).split())
    if not text.strip():
        raise _wrong(number, "has no text, or its path is not a text")
    return Finding(values["category"], Priority(values["priority"]), text, path, line)


def _bounded(text: str, most: int) -> str:
    return shorten(redacted(only_seen(text)).strip(), most)


def _wrong(number: int, what: str) -> UsageError:
    return UsageError(f"finding {number} of the review {what}", FORM)


def kept(values: Iterable[Mapping[str, Any]]) -> tuple[Finding, ...]:
    return tuple(Finding(**{**one, "priority": Priority(one["priority"])}) for one in values)


def counted(findings: Sequence[Finding]) -> dict[str, int]:
    return {one.value: sum(found.priority is one for found in findings) for one in Priority}


def told(findings: Iterable[Finding]) -> str:
    return "\n".join(
        f"- {one.priority.value} {one.category}{f' at {one.place}' if one.path else ''}: {one.text}" for one in findings
    )


AUTO, OFF, ASK, SEND_BACK = "auto", "off", "ask", "send_back"
BEAD, ATTEMPT, CONTENT, HEAD, BASE, CANDIDATE = "bead", "attempt", "content", "head", "base", "candidate"
ROUND, TRY, SINCE, MERGED = "round", "try", "since", "merged"
"""In a session's data: the content, its round, its reviewer number, and the bead's events before it."""
ANSWER, OUTCOME, WHY, SENT_BACK = "answer", "outcome", "why", "sent_back"
"""In a session's data: findings, end, reason of a failure, and the review that sent the work back."""
DONE, FAILED, DROPPED = "done", "failed", "dropped"
"""Ends of a review; `dropped`: its merge review ended first, so it does not count."""
TRIES = 2
"""Failed reviewers in one round."""
WAITS = 6
"""An unstarted reviewer may wait so many times its minutes."""


@frozen
class Rules:
    """Limits of rounds and dollars for a bead; minutes of one review; the reviewers in turn; the `lowest` priority of a
    finding that stops the work."""

    way: str = OFF
    rounds: int = 3
    usd: float = 5.0
    minutes: float = 10.0
    agents: tuple[str, ...] = ()
    lowest: int = Priority.MAY.number

    def stopping(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        return tuple(one for one in findings if one.priority.number <= self.lowest)


@frozen
class Reading:
    """One reviewing session. `outcome`: empty while it runs."""

    session: Session
    findings: tuple[Finding, ...]

    @staticmethod
    def of(session: Session) -> "Reading":
        return Reading(session, kept(session.data.get(ANSWER) or ()))

    def _said(self, key: str, other: Any = "") -> Any:
        return self.session.data.get(key, other)

    @property
    def content(self) -> str:
        return str(self._said(CONTENT))

    @property
    def round(self) -> int:
        return int(self._said(ROUND, 1))

    @property
    def outcome(self) -> str:
        return str(self._said(OUTCOME))

    @property
    def why(self) -> str:
        return str(self._said(WHY))

    def as_values(self) -> dict[str, Any]:
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
    """What happens with a candidate."""

    PASS = "pass"  # it was read, or need not be
    BEGIN = "begin"  # a reviewer begins
    WAIT = "wait"  # one reads it
    SEND_BACK = "send back"
    ASK = "ask"  # a person decides on what was found, or on what nobody could read
    UNREAD = "unread"  # it goes on, and was not read


@frozen
class Next:
    """The next step. `reading`: its basis. `round`, `tries`: of a new reviewer."""

    way: Way
    reading: Reading | None = None
    round: int = 0
    tries: int = 0
    why: str = ""


def following(rules: Rules, readings: Sequence[Reading], content: str, attempt: int, may_send_back: bool) -> Next:
    """The next step for a candidate with this content. `readings`: of these rounds. `may_send_back`: agents' work."""
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
        return _unread(rules, readings, f"No agent finished a review in round {last.round}: {last.why}", last)
    if not rules.stopping(last.findings):
        return Next(Way.PASS, last)
    is_sent = rules.way == SEND_BACK and may_send_back and last.round < rules.rounds
    return Next(Way.SEND_BACK if is_sent else Way.ASK, last)


def _begun(rules: Rules, readings: Sequence[Reading], number: int, tries: int) -> Next:
    spent = cost(readings)
    if number > rules.rounds:
        return _unread(rules, readings, f"Code review took {count(number - 1, 'round')}; the limit is {rules.rounds}.")
    if spent >= rules.usd:
        return _unread(rules, readings, f"The code reviews cost ${spent:.2f}; the limit is ${rules.usd:.2f}.")
    return Next(Way.BEGIN, round=number, tries=tries)


def _unread(rules: Rules, readings: Sequence[Reading], why: str, last: Reading | None = None) -> Next:
    done = [one for one in readings if one.outcome == DONE]
    is_open = bool(done) and bool(rules.stopping(done[-1].findings))
    return Next(Way.UNREAD if rules.way == SEND_BACK and not is_open else Way.ASK, last, why=why)


def cost(readings: Sequence[Reading]) -> float:
    return sum(one.session.cost_usd for one in readings)


def reader(agents: Sequence[str], workers: Collection[str], number: int, tries: int) -> str:
    """Agents in turn, those without a part in the work first; the next one at a retry."""
    names = [one for one in agents if one not in workers] or list(agents) or sorted(workers)
    return names[(number - 1 + tries - 1) % len(names)]


def ended(reading: Reading, minutes: float, waited: float, halted: bool) -> tuple[str, str] | None:
    """How an open review ended and why it failed; None: it goes on. `waited`: seconds it could have started. `halted`:
    its last turn was stopped. An answer counts, however its turn ended."""
    session = reading.session
    if session.state is Of.RUNNING:
        return None
    if ANSWER in session.data:
        return DONE, ""
    if session.state is Of.READY:
        if session.failures:
            return FAILED, session.detail or "the reviewer failed"
        if waited < timeout(minutes):
            return None
        return FAILED, f"the reviewer did not start within {WAITS * minutes:g} minutes: {session.detail}".rstrip(": ")
    if session.state is Of.IDLE and not halted:
        return FAILED, "the reviewer ended without a review"
    why = {Of.ASKING: "the reviewer asked a person instead of reviewing", Of.ENDED: "the reviewer's session was ended"}
    return FAILED, why.get(session.state) or session.detail or "the reviewer stopped"


def timeout(minutes: float) -> float:
    return WAITS * minutes * 60


class Waits:
    """Since when reviews wait for a start: within one daemon's life and since the last pause. Time without any start
    does not count."""

    def __init__(self) -> None:
        self._since: dict[int, float] = {}

    def seen(self, reading: Reading, now: float, paused: bool) -> float:
        """Record the present state; returns since when it waits, `now` if it does not."""
        if reading.session.state is not Of.READY or paused:
            self._since.pop(reading.session.id, None)
            return now
        return self._since.setdefault(reading.session.id, now)

    def restart(self) -> None:
        self._since.clear()


def session_readings(sessions: Sequence[Session]) -> list[Reading]:
    return [Reading.of(one) for one in sessions if one.kind is SessionKind.CODE_REVIEW]


def since(readings: Sequence[Reading], merged: int) -> list[Reading]:
    return [one for one in readings if one.outcome != DROPPED and one.session.data.get(MERGED) == merged]


def numbered(readings: Sequence[Reading]) -> list[dict[str, Any]]:
    """Their values, with rounds that count on where a person's decision began them again."""
    keys = [(one.session.data.get(SINCE), one.round) for one in readings]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys), start=1)}
    return [one.as_values() | {"round": numbers[key]} for one, key in zip(readings, keys, strict=True)]


def readings_since_last_merge(readings: Sequence[Reading]) -> list[Reading]:
    """The reviews of the work that was reviewed last, without those before an earlier merge."""
    counts = [one for one in readings if one.outcome != DROPPED]
    return [one for one in counts if one.session.data.get(MERGED) == counts[-1].session.data.get(MERGED)]


def summary(readings: Sequence[Reading]) -> str:
    """Their result in a line; empty: there are none."""
    if not readings:
        return ""
    rounds, last = numbered(readings)[-1]["round"], readings[-1]
    said = f"{rounds} {'round' if rounds == 1 else 'rounds'}, ${cost(readings):.2f}: "
    if not last.outcome:
        return said + "in progress"
    if last.outcome == FAILED:
        return said + f"no review ({last.why})"
    counts = ", ".join(f"{number} {name}" for name, number in counted(last.findings).items() if number)
    return said + (counts or "no findings")


READING_CHOICES_SEND_BACK = "send it back"
GO_ON = "go on as it is"
TICKETS = "a bead for each P2"
READ_AGAIN = "read it again"


class Whose(StrEnum):
    """Who fixes the findings."""

    AGENTS = "agents"
    PERSON = "person"  # who did the work, and to whom `nobrakes resolve --retry` gives it back
    EPIC = "epic"  # nobody works on an epic itself: a bead of it does


_MEANS = {
    Whose.AGENTS: "an agent continues on the branch, with the findings and your note",
    Whose.EPIC: "a new bead in the epic fixes the findings and gets your note; then agents review the code again",
}


def options(found: bool, tickets: bool, whose: Whose) -> list[dict[str, Any]]:
    """The form's options. `found`: there is something to decide; `tickets`: some may become beads."""
    made: list[dict[str, Any]] = []
    if not found:
        made.append({"label": READ_AGAIN, "means": "other agents review the code; rounds and costs count from zero"})
    elif whose is not Whose.PERSON:
        made.append({"label": READING_CHOICES_SEND_BACK, "means": _MEANS[whose], "why": True, "rest": True})
    if tickets:
        means = "each P2 finding becomes a draft; the work goes back only if it has P1 findings"
        made.append({"label": TICKETS, "means": means})
    means = "the work is merged unchanged once it passes on main, or its pull request is opened"
    made.append({"label": GO_ON, "means": means})
    if len(made) == 1:
        made.append({"label": READ_AGAIN, "means": "other agents review the code; rounds and costs count from zero"})
    return made
