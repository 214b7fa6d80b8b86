"""Commit texts and people, cleaned so that git takes them as they are and a reader is not fooled by them.

1. A subject is one line without control characters; a body keeps its lines.
2. Trailers stand in one block at the end, after an empty line; none of their keys is said twice by different people.
3. What a bead's commit says of beads and evidence is nobrakes' own: others' trailers of that name are left out.
4. Nothing here depends on the moment or the machine: the same message gives the same bytes.
"""

import re
import unicodedata
from dataclasses import dataclass

from ..ports.git import Message

MAX_SUBJECT = 200
MAX_BODY = 60_000

_TRAILER = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*: ?\S.*\Z")
_OURS = {"bead", "reverts-bead", "evidence"}
_PERSON = re.compile(r"\s*(?P<name>[^<>]*?)\s*<(?P<email>[^<>\s]+)>\s*\Z")


@dataclass(frozen=True, slots=True)
class Person:
    """Who a commit is by."""

    name: str
    email: str


def slug(text: str) -> str:
    """Lower-case letters, digits and single hyphens: fit for an address."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-") or "worker"


def line(text: str, limit: int) -> str:
    """One printable line of at most `limit` characters."""
    words = "".join(c if c.isprintable() else " " for c in text).split()
    joined = " ".join(words)
    return joined if len(joined) <= limit else joined[: limit - 1].rstrip() + "…"


def person(author: str) -> Person:
    """`Name <address>` as it stands, or a bare worker's name with an address that cannot receive mail."""
    written = _PERSON.match(author)
    if written:
        return Person(_name(written["name"]), line(written["email"], 100))
    return worker(author)


def worker(name: str) -> Person:
    """The identity that a worker commits under."""
    return Person(f"{_name(name)} (nobrakes)", f"{slug(name)}@nobrakes.invalid")


def _name(text: str) -> str:
    # git strips these from a name's ends and refuses a name of nothing else
    return line(text.translate(str.maketrans("", "", "<>")), 80).strip(" .,:;\"'\\") or "worker"


def _clean_body(text: str) -> str:
    lines = ["".join(c for c in row if c.isprintable() or c == "\t").rstrip() for row in text.splitlines()]
    return "\n".join(lines).strip("\n")[:MAX_BODY]


def compose(message: Message) -> str:
    """The whole text of a commit."""
    parts = [line(message.subject, MAX_SUBJECT) or "(no subject)"]
    body = _clean_body(message.body)
    if body:
        parts.append(body)
    return with_trailers("\n\n".join(parts) + "\n", message.trailers)


def trailers_of(text: str) -> tuple[tuple[str, str], ...]:
    """The trailers of a commit's text, in their order."""
    rows = text.rstrip("\n").rpartition("\n\n")[2].split("\n")
    if not all(_TRAILER.match(row) for row in rows) or "\n\n" not in text:
        return ()
    return tuple((key, value.strip()) for key, _, value in (row.partition(":") for row in rows))


def with_trailers(text: str, trailers: tuple[tuple[str, str], ...]) -> str:
    """The text with the trailers at its end, and with none of their keys, or of nobrakes' own, by anybody else."""
    text = text.rstrip("\n")
    rows = [f"{line(key, 60).replace(' ', '-')}: {line(value, 400)}" for key, value in trailers]
    head, parted, last = text.rpartition("\n\n")
    block = last.split("\n") if parted else []
    if not block or not all(_TRAILER.match(row) for row in block):
        head, block = text, []
    ours = _OURS | {_key(row) for row in rows}
    rows = [*(row for row in block if _key(row) not in ours), *dict.fromkeys(rows)]
    return head + ("\n\n" + "\n".join(rows) if rows else "") + "\n"


def _key(row: str) -> str:
    return row.partition(":")[0].lower()
