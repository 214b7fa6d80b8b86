"""How much one attempt may say: whoever says more is in a loop, and costs a person's time. Imports nothing that costs.

Counted in the attempt's own events, so that a second process, or a new start, begins no new count.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

REMARKS = ("'logged', 'progressed', 'notified', 'tested'", 1000, "remarks")
QUESTIONS = ("'escalated', 'suggested'", 20, "questions, suggestions and plans")


def refuse_flood(connection: "Connection", bead: str, attempt: int, kinds: "tuple[str, int, str]") -> None:
    """NotAllowed where the attempt has said as much of these kinds as it may."""
    listed, most, what = kinds
    sql = f"SELECT count(*) FROM events WHERE bead = ? AND attempt = ? AND kind IN ({listed})"
    if connection.execute(sql, (bead, attempt)).fetchone()[0] >= most:
        from ..core.errors import NotAllowed

        raise NotAllowed(f"this attempt has made {most} {what}, and may make no more", "Work, commit and hand in.")
