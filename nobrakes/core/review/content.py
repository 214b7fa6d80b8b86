"""The content of a change: a digest that stays the same on another base, as long as the change and its surroundings do.

1. It is of git's difference, line by line, without what only says where: the numbers of lines, the function that a hunk
   is in, and the ids of the texts that differ. White space counts, since in some languages it decides.
2. Of a file that is no text, the ids say what it is.
"""

from collections.abc import Iterable


def content_of(lines: Iterable[bytes]) -> str:
    """The digest of a difference as `git diff-tree -p` prints it, with whole ids and without renames."""
    import hashlib  # loads OpenSSL, and few ask for this

    digest = hashlib.sha256()
    ids = b""
    for line in lines:
        if line.startswith(b"index "):
            ids = line
            continue
        if line.startswith(b"Binary files "):
            digest.update(ids + b"\n")
        digest.update((b"@@" if line.startswith(b"@@ ") else line.removesuffix(b"\n")) + b"\n")
    return digest.hexdigest()
