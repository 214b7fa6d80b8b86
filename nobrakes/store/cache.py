"""What the database answered, for as long as it would answer the same: for the daemon, which asks the same all night.

1. An answer holds until something is written that it was read from: a table that its question names or, where who asks
   and who writes say so, a row (`row`). What this connection writes is seen by its statements; that another one wrote,
   by SQLite's `data_version`, and then no answer holds any more.
2. That is asked before an answer is given again: once after each `doubt`, once in each transaction, and when
   DOUBT_SECONDS have passed. In between others may have written: who waited for somebody's word has to `doubt` first.
3. What was read in a transaction that did not come about is forgotten, with all the rest.
4. A question that names a moment (a float) is asked each time.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from time import monotonic
from typing import Any

from .schema import SCHEMA

DOUBT_SECONDS = 0.1
MOST = 2048
"""So many answers are kept; then the older half is dropped."""
MOST_ROWS = 20_000
"""So many rows that were written are remembered; then all answers are dropped."""

_TABLES = frozenset(re.findall(r"CREATE TABLE (\w+)", SCHEMA))
_WORD = re.compile(r"\w+")

Of = tuple[str, ...]
"""What an answer is read from, or what a statement writes: tables, and rows of them."""


@lru_cache(maxsize=1024)
def tables(sql: str) -> Of:
    """The tables that a statement names, and perhaps some whose names are also names of columns. None: it names one
    that is no part of the schema.
    """
    return () if "temp." in sql else tuple(_TABLES.intersection(_WORD.findall(sql)))


def row(table: str, key: object) -> Of:
    """One row, of which also those write who do not say which rows they write."""
    return f"{table} {key}", f"{table} *"


class Cache:
    """The answers of one connection. `version` asks it for its data_version."""

    def __init__(self, version: Callable[[], int]) -> None:
        self._ask_version = version
        self._answers: dict[tuple[bool, str, tuple[Any, ...]], tuple[int, Of, list[Any]]] = {}
        self._written: dict[str, int] = {}
        self._writes = 0
        self.version = -1
        self._sure_until = 0.0
        self.asked = 0
        """How many questions the database itself was asked."""

    def doubt(self) -> None:
        """Others may have written."""
        self._sure_until = 0.0

    def forget(self) -> None:
        """No answer holds any more."""
        self._answers.clear()
        self._written.clear()
        self.doubt()

    def writes(self, sql: str, rows: Of) -> None:
        """This connection executes a statement that changes something: these rows alone, if any is named."""
        if len(self._written) > MOST_ROWS:
            self.forget()
        self._writes += 1
        named = tables(sql) or _TABLES
        for one in (*named, *(rows or (f"{table} *" for table in named))):
            self._written[one] = self._writes

    def rows(
        self,
        sql: str,
        values: Sequence[Any] | Mapping[str, Any],
        ask: Callable[[], list[Any]],
        one: bool,
        of: Of,
    ) -> list[Any]:
        """The answer; `ask` gets it from the database. `one`: it is asked for the first row alone."""
        given = tuple(values.items()) if isinstance(values, Mapping) else tuple(values)
        of = of or tables(sql)
        if not of or any(type(value) is float or (type(value) is tuple and type(value[1]) is float) for value in given):
            self.asked += 1
            return ask()
        key = one, sql, given
        known = self._answers.get(key)
        if known is not None and self._holds(known[0], known[1]):
            return list(known[2])
        self.asked += 1
        found = ask()
        self._answers.pop(key, None)  # it is the newest from now on
        if len(self._answers) >= MOST:
            for old in list(self._answers)[: MOST // 2]:
                del self._answers[old]
        self._answers[key] = self._writes, of, found
        return list(found)

    def _holds(self, since: int, of: Of) -> bool:
        written = self._written
        if any(written.get(one, 0) > since for one in of):
            return False
        return monotonic() < self._sure_until or self.is_same()

    def is_same(self) -> bool:
        """Whether nobody else wrote since this was asked last; else no answer holds any more."""
        version = self._ask_version()
        self._sure_until = monotonic() + DOUBT_SECONDS
        if version == self.version:
            return True
        self.version = version
        self._answers.clear()
        return False
