"""The lists of files in docs/design: each line says the first sentence of the file's own docstring.

`python -m docs.generate.files` rewrites them; a test compares.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"^- `((?:nobrakes/)?[\w/]+\.py)`: .*$", re.MULTILINE)
_SENTENCE = re.compile(r"(.*?)(?:[.!]|(?<=\?))(?: |$)")


def sentence(path: str) -> str:
    """The first sentence of the docstring of a file of the package."""
    text = (ROOT / "nobrakes" / path.removeprefix("nobrakes/")).read_text(encoding="utf-8")
    flat = " ".join((ast.get_docstring(ast.parse(text)) or "").split())
    found = _SENTENCE.match(flat)
    return found[1] if found else flat


def described(page: str) -> str:
    """The page, its lines about files as the files say them."""
    return LINE.sub(lambda line: f"- `{line[1]}`: {sentence(line[1])}", page)


def main() -> int:
    """Rewrite the lists of all pages."""
    for page in sorted((ROOT / "docs" / "design").glob("*.md")):
        page.write_text(described(page.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
