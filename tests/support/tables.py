"""One test for a whole table: a test of its own for each row takes longer than most rows do."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest

Row = TypeVar("Row")


def failing(rows: Iterable[Row], look: Callable[[Row], None], name: Callable[[Row], object] = repr) -> list[str]:
    """Each row that `look` fails for, with why; all of them are looked at, and there is at least one."""
    found, row = [], None
    for row in rows:
        try:
            look(row)
        except (Exception, pytest.fail.Exception) as error:
            found.append(f"{name(row)}: {type(error).__name__}: {error}")
    assert row is not None, "an empty table proves nothing"
    return found
