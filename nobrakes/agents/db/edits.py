"""What an agent writes and reads of its own bead: one transaction each.

1. As light as db.fast, since agents call it all night.
2. Allowed are the token of an open attempt whose fence is the bead's, and of an open turn of a session; else Stale.
3. Reading an answer is recorded, so that nobody takes it back afterwards.
4. Agents' text is cut at LIMIT characters and has no NUL and only UTF-8.
"""

import sys
from _operator import _compare_digest

from ...db.fast import BEAD, DID, LOG, NOW, OPEN_ATTEMPT, attempt_of, connected, json_object, now, turn_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection
    from typing import Any, TypeVar

    T = TypeVar("T")


class AgentIdentity:
    """A token's owner: an attempt on its bead, or a session's turn, which has neither."""

    __slots__ = ("attempt", "bead", "name", "session", "turn")

    def __init__(
        self, name: str, attempt: "int | None", bead: "str | None", turn: "int | None", session: "int | None"
    ) -> None:
        self.name, self.attempt, self.bead, self.turn, self.session = name, attempt, bead, turn, session


_OPEN_TURN = "SELECT token, id, session FROM turns WHERE id = ? AND outcome IS NULL"


def agent_identity(connection: "Connection", token: str) -> AgentIdentity:
    """Raises Stale."""
    number, turn = attempt_of(token), turn_of(token)
    if number is not None:
        row = connection.execute(f"SELECT token, id, bead, name FROM ({OPEN_ATTEMPT})", (number,)).fetchone()
        if row is not None and _compare_digest(row[0].encode(), token.encode("utf-8", "replace")):
            return AgentIdentity(row[3], row[1], row[2], None, None)
    if turn is not None:
        row = connection.execute(_OPEN_TURN, (turn,)).fetchone()
        if row is not None and _compare_digest(row[0].encode(), token.encode("utf-8", "replace")):
            # events.kinds.session_actor, which costs an import of `enum`
            return AgentIdentity(f"Session {row[2]}", None, None, row[1], row[2])
    from ...errors import Stale

    raise Stale("the attempt or turn has ended, or nobrakes did not issue its token")


# Whoever says more is in a loop. Counted in its own events, so that a second process begins no new count.
REMARKS = ("'logged', 'progressed', 'notified', 'tested'", 1000, "remarks")
QUESTIONS = ("'escalated', 'suggested'", 20, "questions, suggestions and plans")

_COUNT_IN_TURN = """SELECT count(*) FROM events WHERE actor = ? AND kind IN ({})
AND seq > (SELECT json_extract(data, '$.seq') FROM turns WHERE id = ?)"""


def refuse_flood(connection: "Connection", who: "AgentIdentity", kinds: "tuple[str, int, str]") -> None:
    """NotAllowed once the attempt or turn has used up its number of these kinds."""
    listed, most, what = kinds
    sql = f"SELECT count(*) FROM events WHERE bead = ? AND attempt = ? AND kind IN ({listed})"
    values: tuple[object, object] = (who.bead, who.attempt)
    if who.turn is not None:
        sql, values = _COUNT_IN_TURN.format(listed), (who.name, who.turn)
    if connection.execute(sql, values).fetchone()[0] >= most:
        from ...errors import NotAllowed

        raise NotAllowed(f"the attempt has reached its limit of {most} {what}", "Work, commit and hand in.")


LIMIT = 8000
FORM = 24_000
"""Characters of a question's form, before it is bounded."""
CUT = " […]"
SAYING = {"log": "logged", "progress": "progressed", "notify": "notified", "test": "tested"}
SEVERITIES = ("info", "warning", "urgent")
SAID = ("completed", "gave_up_context", "gave_up_tests", "failed", "blocked")


def bounded(text: str) -> str:
    from ...text.cleaning import redacted

    clean = redacted(text).replace("\0", "").encode("utf-8", "replace").decode()
    return clean if len(clean) <= LIMIT else clean[: LIMIT - len(CUT)] + CUT


def _worker(who: AgentIdentity) -> "tuple[int, str, str]":
    """(attempt, bead, name); NotAllowed for a session, which has no bead."""
    if who.attempt is None or who.bead is None:
        from ...errors import NotAllowed

        raise NotAllowed("this session has no bead", "Write in your last message, or use `nobrakes agent ask`.")
    return who.attempt, who.bead, who.name


def at_channel(path: str, token: str, work: "Callable[[Connection, AgentIdentity], T]") -> "T":
    """Run `work` in one transaction of the token's owner."""

    def inside(connection: "Connection") -> "T":
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            done = work(connection, agent_identity(connection, token))
            connection.execute("COMMIT")
            return done
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    return connected(path, inside)


EVENT = f"INSERT INTO events (at, kind, bead, attempt, actor, data) VALUES ({NOW}, ?, ?, ?, ?, %s)"


def agent_say(path: str, token: str, kind: str, text: str, data_json: str = "{}") -> None:
    event = EVENT % "json_object('text', ?, 'data', json(?))"

    def work(connection: "Connection", who: AgentIdentity) -> None:
        if len(data_json) > LIMIT or not connection.execute("SELECT json_valid(?)", (data_json,)).fetchone()[0]:
            from ...errors import UsageError

            raise UsageError(f"the data of `agent {kind}` must be JSON of at most {LIMIT} characters")
        refuse_flood(connection, who, REMARKS)
        connection.execute(event, (SAYING[kind], who.bead, who.attempt, who.name, bounded(text), data_json))

    at_channel(path, token, work)


def agent_standing(path: str, token: str) -> float:
    def work(connection: "Connection") -> float:
        who = agent_identity(connection, token)
        table = "attempts" if who.turn is None else "turns"
        sql = f"SELECT started_at FROM {table} WHERE id = ?"
        return float(connection.execute(sql, (who.turn or who.attempt,)).fetchone()[0])

    return connected(path, work)


_BEAD = f"SELECT {BEAD} FROM beads JOIN bead_text USING (id) WHERE id = ?"
_ATTEMPT = json_object("id number role name agent outcome detail head said {log")
_EARLIER = f"""SELECT json_group_array(json({_ATTEMPT})) FROM (SELECT *, {LOG} AS log FROM attempts
WHERE bead = ? AND outcome IS NOT NULL ORDER BY number)"""
_MINE = f"SELECT {_ATTEMPT} FROM (SELECT *, {LOG} AS log FROM attempts WHERE id = ?)"
_ASKED = json_object("id type title detail attempt answer resolved_at resolution {form")
_FILED = f"""SELECT json_group_array(json({_ASKED})) FROM (SELECT id, type, title, detail, attempt, answer, resolved_at,
resolution, nullif(form, '') AS form FROM escalations WHERE bead = ? ORDER BY id)"""
_CLAIM = """SELECT coalesce((SELECT json_extract(data, '$.data') FROM events
WHERE bead = ? AND attempt = ? AND kind = 'progressed' ORDER BY seq DESC LIMIT 1), '{}')"""


def agent_own(path: str, token: str, reads: bool = False) -> str:
    """All that the agent may read, as JSON, without a token: its `bead`, `attempt`, the `earlier` ones oldest first,
    what was `filed` about the bead, the last `claim` of its progress. `reads`: the agent now acts on the answers."""

    def look(connection: "Connection", who: AgentIdentity) -> "tuple[str, None]":
        attempt, bead, _ = _worker(who)

        def value(sql: str, *values: object) -> str:
            return str(connection.execute(sql, values).fetchone()[0])

        return (
            f'{{"bead":{value(_BEAD, bead)},"attempt":{value(_MINE, attempt)},"earlier":{value(_EARLIER, bead)},'
            f'"filed":{value(_FILED, bead)},"claim":{value(_CLAIM, bead, attempt)}}}'
        ), None

    def only_look(connection: "Connection") -> str:
        connection.execute("BEGIN")
        return look(connection, agent_identity(connection, token))[0]

    return _read(path, token, look) if reads else connected(path, only_look)


def agent_done(
    path: str, token: str, outcome: str, summary: str, blockers: str = "", learnings: str = "", keep: bool = True
) -> None:
    """Store the attempt's log and declared end; the daemon reads both when the process ends."""
    log = (summary, blockers, learnings)
    at_channel(path, token, lambda connection, who: _done(connection, who, outcome, log, keep))


def _done(connection: "Connection", who: AgentIdentity, outcome: str, log: "tuple[str, str, str]", keep: bool) -> None:
    """`log`: what was done, what blocked it, what was learnt."""
    attempt, bead, name = _worker(who)
    if outcome not in SAID:
        from ...errors import UsageError

        raise UsageError(f"'{bounded(outcome)[:40]}' is not an outcome", f"Use one of: {', '.join(SAID)}.")
    connection.execute(
        "UPDATE attempts SET said = ?, summary = ?, blockers = ?, learnings = ?, keep_branch = ? WHERE id = ?",
        (outcome, *map(bounded, log), keep, attempt),
    )
    connection.execute(EVENT % "json_object('outcome', ?)", ("handed_off", bead, attempt, name, outcome))


_UNREAD = """SELECT id FROM escalations WHERE (bead = :bead OR session = :session) AND answer IS NOT NULL
AND read_at IS NULL AND (:number IS NULL OR id = :number) ORDER BY id"""
_SET_TURN = "UPDATE messages SET turn = ? WHERE escalation = ? AND turn IS NULL"


def _read(path: str, token: str, look: "Callable[[Connection, AgentIdentity], tuple[T, int | None]]") -> "T":
    """The result of `look`; the agent now acts on the answer to the question that it names (None: all)."""

    def reading(connection: "Connection") -> "tuple[T, bool]":
        connection.execute("BEGIN")
        who = agent_identity(connection, token)
        found, number = look(connection, who)
        unread = {"bead": who.bead, "session": who.session, "number": number}
        return found, connection.execute(_UNREAD, unread).fetchone() is not None

    def marking(connection: "Connection", who: AgentIdentity) -> "T":
        found, number = look(connection, who)
        event = EVENT % "json_object('escalation', ?)"
        unread = {"bead": who.bead, "session": who.session, "number": number}
        for (one,) in connection.execute(_UNREAD, unread).fetchall():
            connection.execute("UPDATE escalations SET read_at = ? WHERE id = ?", (now(), one))
            connection.execute(event, ("answer_read", who.bead, who.attempt, who.name, one))
            if who.turn is not None:  # no later turn is told of what this one has read
                connection.execute(_SET_TURN, (who.turn, one))
        return found

    found, is_new = connected(path, reading)
    return at_channel(path, token, marking) if is_new else found


_ANSWER = """SELECT id, coalesce(answer, iif(resolved_at IS NULL, NULL, resolution)) FROM escalations
WHERE (bead = :bead OR session = :session) AND type IN ('question', 'plan_review')
AND (:number IS NULL OR id = :number) ORDER BY id DESC LIMIT 1"""


def agent_answer(path: str, token: str, number: "int | None" = None) -> "tuple[int, str | None]":
    """(number, answer) of a question about the agent's own bead; `number` None: the last one; answer None: not yet."""

    def look(connection: "Connection", who: AgentIdentity) -> "tuple[tuple[int, str | None], int]":
        row = connection.execute(_ANSWER, {"bead": who.bead, "session": who.session, "number": number}).fetchone()
        if row is None:
            from ...errors import NoSuchEscalation

            which = "no question" if number is None else f"no question {number}"
            raise NoSuchEscalation(f"{who.bead or who.name} has {which}", "Ask a question with `nobrakes agent ask`.")
        return (row[0], row[1]), row[0]

    return _read(path, token, look)


def agent_ask(path: str, token: str, question: str, form_json: str = "") -> int:
    """File a question about the agent's own bead, or find the same open one; returns its number. `form_json`: its form
    (decisions.forms), '' for free text. Raises UsageError."""
    return _file(path, token, Filing("question", question, form=form_text(path, form_json) if form_json else ""))


def agent_blocked(path: str, token: str, what: str, form_json: str) -> int:
    """End the attempt with what stops the agent, or find the same open one; its number. NotAllowed for a session."""
    filing = Filing("question", what, form=form_text(path, form_json), blocks=True)

    def work(connection: "Connection", who: AgentIdentity) -> int:
        _worker(who)
        number = filed(connection, who, filing)
        _done(connection, who, "blocked", ("", what, ""), True)
        return number

    return at_channel(path, token, work)


def agent_escalate(path: str, token: str, title: str, detail: str = "", severity: str = "info") -> int:
    if severity not in SEVERITIES:
        from ...errors import UsageError

        raise UsageError(f"'{bounded(severity)[:40]}' is not a severity", f"Use one of: {', '.join(SEVERITIES)}.")
    return _file(path, token, Filing("doer_suggestion", title, detail, severity="" if severity == "info" else severity))


def agent_plan(path: str, token: str, title: str, plan: str) -> int:
    return _file(path, token, Filing("plan_review", title, plan))


def _refuse_reviewer(connection: "Connection", who: AgentIdentity) -> None:
    row = connection.execute("SELECT kind FROM sessions WHERE id = ?", (who.session,)).fetchone()
    from ...errors import NotAllowed

    if row[0] == "code_review":
        raise NotAllowed("a reviewer of work cannot ask questions", "Say what you found: `nobrakes agent review …`.")
    if row[0] == "review":
        raise NotAllowed("a reviewer of a plan cannot ask questions", "Say what you found: `nobrakes agent finding …`.")


_SAME = "SELECT id FROM escalations WHERE fingerprint = ? AND resolved_at IS NULL"
_FILE = """INSERT INTO escalations
(type, bead, title, detail, target, attempt, evidence, hypothesis, created_at, resolution, fingerprint, form, session)
VALUES (?, ?, ?, ?, 'human', ?, ?, '', ?, '', ?, ?, ?)"""


def form_text(path: str, text: str) -> str:
    """The form as stored: validated, bounded, without secrets."""
    from ...decisions.forms import as_values, form
    from ...lightjson import dumps, loads

    def is_json(connection: "Connection") -> bool:
        return bool(connection.execute("SELECT json_valid(?)", (text,)).fetchone()[0])

    if len(text) <= FORM and connected(path, is_json):
        try:
            return dumps(as_values(form(_safe(loads(text)))))
        except RecursionError:
            pass
    from ...errors import UsageError

    raise UsageError(f"the form of a question must be JSON of at most {FORM} characters, and not nested deeply")


def _safe(value: "Any") -> "Any":
    if isinstance(value, str):
        return bounded(value)
    if isinstance(value, list):
        return [_safe(one) for one in value]
    return {name: _safe(one) for name, one in value.items()} if isinstance(value, dict) else value


class Filing:
    """To file. `form`: as stored; `severity`: '' for info; `blocks`: the agent cannot go on; `more`: evidence."""

    def __init__(
        self,
        type_: str,
        title: str,
        detail: str = "",
        form: str = "",
        severity: str = "",
        blocks: bool = False,
        more: "dict[str, str] | None" = None,
    ) -> None:
        self.type, self.title, self.detail = type_, bounded(title), bounded(detail)
        self.form, self.severity, self.blocks, self.more = form, severity, blocks, more or {}

    def kind(self) -> str:
        return "suggested" if self.type == "doer_suggestion" else "escalated"

    def evidence(self) -> str:
        """The escalation's evidence, as JSON text."""
        if not self.blocks and not self.more:
            return "{}"
        from ...decisions.forms import MARK
        from ...lightjson import dumps

        return dumps({**self.more, MARK: True} if self.blocks else self.more)


def _file(path: str, token: str, filing: Filing) -> int:
    return at_channel(path, token, lambda connection, who: filed(connection, who, filing))


def filed(connection: "Connection", who: AgentIdentity, one: Filing) -> int:
    """File it as decisions.db does for a bead with an open attempt: nothing moves. NotAllowed: too many questions."""
    refuse_flood(connection, who, QUESTIONS)
    if who.turn is not None:
        _refuse_reviewer(connection, who)
        # it waits for a person, whatever its words are
        connection.execute(DID, {"turn": who.turn, "what": "asked"})
    mark = _fingerprint(one.type, who.bead or f"session:{who.session}", one.title, one.form)
    if (same := connection.execute(_SAME, (mark,)).fetchone()) is not None:
        return int(same[0])
    filed = (one.type, who.bead, one.title, one.detail, who.attempt, one.evidence(), now(), mark, one.form, who.session)
    number = int(connection.execute(_FILE, filed).lastrowid or 0)
    # as decisions.db writes it down: the keys in their order
    told: list[tuple[str, object]] = [("'escalation', ?", number)]
    told += [("'form', json(?)", one.form)] if one.form else []
    told += [("'session', ?", who.session)] if who.session is not None else []
    told += [("'severity', ?", one.severity)] if one.severity else []
    told += [("'title', ?", one.title), ("'type', ?", one.type)]
    event = EVENT % f"json_object({', '.join(words for words, _ in told)})"
    connection.execute(event, (one.kind(), who.bead, who.attempt, who.name, *(value for _, value in told)))
    return number


def _fingerprint(type_: str, bead: str, title: str, form: str) -> str:
    words = " ".join(title.split()).lower() + (f"\0{form}" if form else "")
    return digest(f"{type_}\0{bead}\0{words}".encode())


def digest(content: bytes) -> str:
    """The first half of the content's SHA-256, without hashlib, which loads OpenSSL."""
    if sys.version_info >= (3, 12):
        from _sha2 import sha256
    else:
        from _sha256 import sha256  # type: ignore[import-not-found]
    return str(sha256(content).hexdigest()[:32])
