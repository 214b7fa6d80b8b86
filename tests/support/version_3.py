"""A database as an earlier nobrakes wrote it (version 3), made of one of this version."""

import json
import sqlite3
from pathlib import Path

from .landed_schemas import make


def bring_back(path: str) -> None:
    """The file holds what it held, in version 3. Whatever that did not know is left out."""
    new, old = f"{path}.new", make(f"{path}.old", "3")
    with sqlite3.connect(path) as whole:
        whole.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        whole.execute("VACUUM INTO ?", (new,))
    whole.close()
    old.execute("ATTACH ? AS new", (new,))
    for (table,) in old.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall():
        wanted = [row[1] for row in old.execute(f"PRAGMA main.table_info({table})")]
        columns = ", ".join(f'"{name}"' for name in wanted if (table, name) != ("breakers", "bead"))
        old.execute(f"DELETE FROM main.{table}")
        if table == "breakers":
            old.execute(
                f"INSERT INTO main.breakers (bead, {columns}) SELECT substr(owner, 6), {columns} FROM new.breakers"
            )
        else:
            old.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    named = "SELECT a.id, a.data, s.provider_session FROM new.attempts a JOIN new.sessions s ON s.id = a.session"
    for number, data, session in old.execute(named).fetchall():
        told = json.dumps({**json.loads(data), "session": session})
        old.execute("UPDATE main.attempts SET data = ? WHERE id = ?", (told, number))
    held = "SELECT 'session:' || provider_session, iif(disputed, '0', CAST(attempt AS TEXT)) FROM new.sessions"
    old.execute(f"INSERT INTO main.settings {held} WHERE kind = 'attempt'")
    old.commit()
    old.close()
    for name in (path, f"{path}-wal", f"{path}-shm", new):
        Path(name).unlink(missing_ok=True)
    Path(f"{path}.old").rename(path)
