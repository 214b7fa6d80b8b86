"""One number of another repository's database: read-only, without waiting, and nothing where that does not work."""

import os
import sqlite3

PATIENCE_SECONDS = 0.2


def open_escalations(path: str) -> int | None:
    """How many escalations are open there; None: it cannot be said now."""
    quoted = os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        connection = sqlite3.connect(f"file:{quoted}?mode=ro", uri=True, timeout=PATIENCE_SECONDS)
        try:
            connection.execute("PRAGMA query_only = ON")
            row = connection.execute("SELECT count(*) FROM escalations WHERE resolved_at IS NULL").fetchone()
            return int(row[0])
        finally:
            connection.close()
    except sqlite3.Error:
        return None
