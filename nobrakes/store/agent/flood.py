"""How much one attempt or turn may say: whoever says more is in a loop, and costs a person's time.

Counted in its own events, so that a second process, or a new start, begins no new count. Imports nothing that costs.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from .speaker import Speaker

REMARKS = ("'logged', 'progressed', 'notified', 'tested'", 1000, "remarks")
QUESTIONS = ("'escalated', 'suggested'", 20, "questions, suggestions and plans")


_OF_TURN = """SELECT count(*) FROM events WHERE actor = ? AND kind IN ({})
AND seq > (SELECT json_extract(data, '$.seq') FROM turns WHERE id = ?)"""


def refuse_flood(connection: "Connection", who: "Speaker", kinds: "tuple[str, int, str]") -> None:
    """NotAllowed where the attempt or the turn has said as much of these kinds as it may."""
    listed, most, what = kinds
    sql = f"SELECT count(*) FROM events WHERE bead = ? AND attempt = ? AND kind IN ({listed})"
    values: tuple[object, object] = (who.bead, who.attempt)
    if who.turn is not None:
        sql, values = _OF_TURN.format(listed), (who.name, who.turn)
    if connection.execute(sql, values).fetchone()[0] >= most:
        from ...core.errors import NotAllowed

        raise NotAllowed(f"this attempt has made {most} {what}, and may make no more", "Work, commit and hand in.")
