"""The content of a change: a digest that stays the same on another base, as long as the change and its surroundings do.

1. It is of git's difference, line by line, without what only says where: the numbers of lines, the function that a hunk
   is in, and the ids of the texts that differ. White space counts, since in some languages it decides.
2. Nobody's settings decide what a text is: every file counts as one.
"""

from collections.abc import Iterable


def content_of(lines: Iterable[bytes]) -> str:
    """The digest of a difference as `git diff-tree -p --text` prints it, without renames."""
    import hashlib  # loads OpenSSL, and few ask for this

    digest = hashlib.sha256()
    for line in lines:
        if not line.startswith(b"index "):
            digest.update((b"@@" if line.startswith(b"@@ ") else line.removesuffix(b"\n")) + b"\n")
    return digest.hexdigest()
