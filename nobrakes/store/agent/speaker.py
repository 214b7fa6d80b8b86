"""Whom a token speaks for. As light as store.fast.reads, since agents speak all night."""

from _operator import _compare_digest

from ..conditions import OPEN_ATTEMPT
from ..tokens import attempt_of, turn_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection


class Speaker:
    """Whom a token speaks for: an attempt on its bead, or a turn of a session, which has neither."""

    __slots__ = ("attempt", "bead", "name", "session", "turn")

    def __init__(
        self, name: str, attempt: "int | None", bead: "str | None", turn: "int | None", session: "int | None"
    ) -> None:
        self.name, self.attempt, self.bead, self.turn, self.session = name, attempt, bead, turn, session


_OPEN_TURN = "SELECT token, id, session FROM turns WHERE id = ? AND outcome IS NULL"


def speaker(connection: "Connection", token: str) -> Speaker:
    """Whom the token speaks for; Stale."""
    number, turn = attempt_of(token), turn_of(token)
    if number is not None:
        sql = f"SELECT token, id, bead, name FROM ({OPEN_ATTEMPT})"
        row = connection.execute(sql, (number,)).fetchone()
        if row is not None and _compare_digest(row[0].encode(), token.encode("utf-8", "replace")):
            return Speaker(row[3], row[1], row[2], None, None)
    if turn is not None:
        row = connection.execute(_OPEN_TURN, (turn,)).fetchone()
        if row is not None and _compare_digest(row[0].encode(), token.encode("utf-8", "replace")):
            return Speaker(f"Session {row[2]}", None, None, row[1], row[2])
    from ...core.errors import Stale

    raise Stale("this attempt or turn has ended, or the token is not one of nobrakes")
