"""A person's yes to one command of an agent: asked for once, used once.

1. A command is known by a hash of its very words, and belongs to the bead or the session that it is asked for.
2. A yes is used in the transaction that finds it, so that two calls at once are one yes; the next call asks anew.
3. A no, and what was decided without an answer, stands for that bead or session.

As light as the other edits: the guard asks before a tool runs.
"""

from ..conditions import now
from . import edits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from .speaker import Speaker

MOST = 2000
"""Characters of a command that a person is asked about: what is longer nobody can judge."""
WAITS, YES, NO = "waits", "yes", "no"
KEY, USED = "ask_first", "used"
"""In the evidence of such a question."""
_FORM = '{"kind": "yes_no", "context": "agents.ask_first names it. A yes is for one run of these very words (%s)."}'
"""With a part of the hash in it, so that commands of nearly the same words are two questions."""
_FOUND = f"""SELECT id, answer, resolved_at, read_at, json_extract(evidence, '$.{USED}') FROM escalations
WHERE (bead = :bead OR session = :session) AND type = 'question' AND json_extract(evidence, '$.{KEY}') = :mark
ORDER BY id DESC LIMIT 1"""
_USE = (
    f"UPDATE escalations SET evidence = json_set(evidence, '$.{USED}', 1), read_at = coalesce(read_at, ?) WHERE id = ?"
)


def agent_permit(path: str, token: str, command: str) -> "tuple[int, str]":
    """(the question's number, what was said): YES once for each yes; WAITS: a person has not answered yet."""
    if len(command) > MOST:
        from ...core.errors import UsageError

        raise UsageError(f"a command of more than {MOST} characters needs a person's yes", "Make it shorter.")
    mark = edits.digest(command.encode("utf-8", "replace"))
    form = edits.form_text(path, _FORM % mark[:8])
    filing = edits.Filing("question", f"May it run this, once? {command}", form=form, more={KEY: mark})

    def work(connection: "Connection", who: "Speaker") -> "tuple[int, str]":
        whose = {"bead": who.bead, "session": who.session, "mark": mark}
        row = connection.execute(_FOUND, whose).fetchone()
        if row is None or row[4]:
            return edits.filed(connection, who, filing), WAITS
        number, answer, resolved_at, read_at, _ = row
        if resolved_at is None:
            return number, WAITS
        if answer != YES:
            return number, NO
        connection.execute(_USE, (now(), number))
        if read_at is None:
            event = edits.EVENT % "json_object('escalation', ?)"
            connection.execute(event, ("answer_read", who.bead, who.attempt, who.name, number))
        return number, YES

    return edits.at_door(path, token, work)
