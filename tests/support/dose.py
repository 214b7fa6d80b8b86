"""Of a long list of alike cases CI runs a part, `python3 tests/gates --night` all of them.

Which part a case is in depends on its name alone: another case that comes, goes or moves changes nothing for it.
"""

import zlib

import pytest


def dosed(name: str, parts: int = 3) -> pytest.MarkDecorator:
    """The mark of a long case: one of so many is CI's, the others are the night's."""
    return pytest.mark.slow if zlib.crc32(name.encode()) % parts == 0 else pytest.mark.night
