"""TOML of agents, branches, projects and people. It is read only where that takes linear time.

1. tomllib takes quadratic time for the parts of one key, and recurses into values.
2. ValueError for all that is not read, whatever the reason.
"""

import re
from typing import Any

MAX_CHARACTERS = 200_000
MAX_DOTS = 64
_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
# anywhere: inline tables have keys too, and a line may begin within a string
_LONG_KEY = re.compile(rf"\.(?:[ \t]*+{_PART}[ \t]*+\.){{{MAX_DOTS}}}")


def loads(text: str) -> dict[str, Any]:
    """The values of the text. Raises ValueError."""
    import tomllib

    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"the text is longer than {MAX_CHARACTERS:,} characters")
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MAX_DOTS} dots")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("the values are nested too deeply") from None
