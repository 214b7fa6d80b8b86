"""Every schema that a database of nobrakes may have: landed_schemas.sql, by version, and databases made of them.

Add the schema of a new version: python -m tests.support.landed_schemas
"""

import sqlite3
from pathlib import Path

from nobrakes.db.database import schema
from nobrakes.db.fast import VERSION

FILE = Path(__file__).with_name("landed_schemas.sql")
MARK = "-- in "


def normal(text: str) -> list[str]:
    """The statements of a schema's text, each on one line."""
    lines = (" ".join(one.split()) for one in text.split(";\n"))
    return [line.rstrip(";").replace("( ", "(").replace(" )", ")") for line in lines if line]


def _parts() -> list[tuple[list[str], str]]:
    """Each statement, with the schemas that have it."""
    lines = [line for line in FILE.read_text().splitlines() if line.startswith(MARK) or not line.startswith("--")]
    marks, statements = lines[::2], lines[1::2]
    return [(mark.removeprefix(MARK).split(), one.rstrip(";")) for mark, one in zip(marks, statements, strict=True)]


def landed() -> dict[str, list[str]]:
    """The statements of each schema, tables first. A name is its version, with a letter where that has several."""
    found: dict[str, list[str]] = {}
    for names, statement in _parts():
        for name in names:
            found.setdefault(name, []).append(statement)
    return {name: sorted(parts, key=lambda part: not part.startswith("CREATE TABLE")) for name, parts in found.items()}


def version_of(name: str) -> int:
    """The number in such a database."""
    return int(name.rstrip("abcdefgh"))


def make(path: str, name: str) -> sqlite3.Connection:
    """An empty database of this schema, open."""
    connection = sqlite3.connect(path)
    connection.executescript(";\n".join(landed()[name]))
    connection.execute(f"PRAGMA user_version = {version_of(name)}")
    return connection


def record() -> None:
    """Add the schema that this nobrakes writes. A version that is there stays as it is."""
    if str(VERSION) in landed():
        raise SystemExit(f"version {VERSION} was landed: raise the number in nobrakes/db/fast.py")
    own, parts = normal(schema()), _parts()
    known = {statement for _, statement in parts}
    parts = [([*names, str(VERSION)] if one in own else names, one) for names, one in parts]
    parts += [([str(VERSION)], one) for one in own if one not in known]
    head = [line for line in FILE.read_text().splitlines() if line.startswith("--") and not line.startswith(MARK)]
    body = [line for names, one in parts for line in (MARK + " ".join(names), f"{one};")]
    FILE.write_text("\n".join([*head, *body]) + "\n")


if __name__ == "__main__":
    record()
