"""A statement of SQLModel, run on our own connection: its transactions, clock and errors are as everywhere else."""

from typing import Any

from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.sql import ClauseElement

from ..database import Database, Row

_DIALECT = SQLiteDialect_pysqlite(paramstyle="named")


def rows_of(db: Database, statement: ClauseElement) -> list[Row]:
    """The rows that it finds; a column's key is its name."""
    compiled = statement.compile(dialect=_DIALECT, compile_kwargs={"render_postcompile": True})  # `IN` lists
    values: dict[str, Any] = dict(compiled.params)
    return db.all(str(compiled), values)
