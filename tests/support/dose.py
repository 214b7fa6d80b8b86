"""Of a long list of alike cases the everyday gates run the first ones, CI a part or all, `python3 tests/gates --night` all.

Which part a case is in depends on its name alone: another case that comes, goes or moves changes nothing for it.
"""

import zlib
from collections.abc import Iterable
from typing import Any

import pytest

PARTS = 24
"""Of so many cases one is CI's."""


def is_dosed(name: str, parts: int) -> bool:
    """Whether the case of this name is CI's."""
    return zlib.crc32(name.encode()) % parts == 0


def dosed(name: str, parts: int = PARTS) -> pytest.MarkDecorator:
    """The mark of a long case: one of so many is CI's, the others are the night's."""
    return pytest.mark.slow if is_dosed(name, parts) else pytest.mark.night


def each_dosed(name: str, cases: Iterable[object], parts: int = 3) -> list[Any]:
    """These cases as parameters, each with its mark."""
    return [pytest.param(case, marks=[dosed(f"{name} {case}", parts)]) for case in cases]


def everyday(*cases: object, ci: Iterable[object]) -> list[Any]:
    """These cases as parameters: the everyday gates run some of them, CI the others too."""
    return [*cases, *(pytest.param(case, marks=pytest.mark.ci) for case in ci)]
