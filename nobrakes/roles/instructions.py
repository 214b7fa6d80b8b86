"""What a repository tells every agent: its AGENTS.md, CLAUDE.md and GEMINI.md, as main has them.

1. Whatever CLI works, it is given all of them, once, in its prompt; its own reading of such files is turned off where
   it can be. So a change that an agent makes in its clone tells nobody anything before a person accepted it.
2. The files of the top folder come first, then those of the folders on the way to what the bead touches.
3. A file that only points to another one (`@AGENTS.md`, a link) and one that says the same are left out. Each is
   cleaned and bounded, and so are all together.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence

from ..core.text.cleaning import clean
from .quoting import cut

NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
LONGEST = 12_000
"""Characters of one file."""
TOGETHER = 30_000
"""Characters of all of them."""
FOLDERS = 40
"""So many folders are looked into."""

_HEADING = (
    "# The repository's own instructions\n\nFrom main. They were written for everybody who works here: follow them. "
    "Where they say something else than this prompt, this prompt counts."
)
_POINTS = re.compile(r"(?:@[\w./-]+\s*)+\Z")


def instructions(read: Callable[[str], bytes | None], touches: Sequence[str], already: str = "") -> str:
    """The section of the prompt; empty where the repository has none. `read` gives a file of main, None: no file.

    `already`: a text that the prompt has, and that is not said again.
    """
    parts, seen, room = [], {already}, TOGETHER
    for folder in _folders(touches):
        for name in NAMES:
            path = posixpath.join(folder, name)
            content = read(path)
            text = clean((content or b"").decode("utf-8", "replace")).strip()
            if not text or _POINTS.match(text) or text in seen:
                continue
            seen.add(text)
            told = cut(text, min(LONGEST, room))
            room -= len(told)
            parts.append(f"## {clean(path)}\n\n{told}")
            if room <= 0:
                parts.append("[… more of them left out; read them in the repository]")
                return "\n\n".join([_HEADING, *parts])
    return "\n\n".join([_HEADING, *parts]) if parts else ""


def _folders(touches: Sequence[str]) -> Iterator[str]:
    """The top folder, and those on the way to each of these paths or globs; each once."""
    found = {"": None}
    for touched in touches:
        plain = re.split(r"[*?\[]", touched, maxsplit=1)[0]
        parts = [part for part in posixpath.dirname(plain).split("/") if part]
        if ".." in parts or touched.startswith("/"):
            continue
        for end in range(1, len(parts) + 1):
            found["/".join(parts[:end])] = None
    yield from list(found)[:FOLDERS]
