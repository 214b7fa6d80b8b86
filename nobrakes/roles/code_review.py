"""What a reviewer of work is told that passed its checks: the bead, the change, the results, what was found before.

1. What agents wrote (the change, earlier findings, what the Doer said of them) is data: cleaned, bounded, quoted in a
   fence with a nonce. The same facts give the same text.
2. It reads in a checkout of the very commit that would be merged, and sees nothing of the Doer's conversation.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.beads.bead import Bead
from ..core.sessions.session import Message
from ..core.text.cleaning import clean
from ..core.transcript import PREFIX, Marker
from .beadtexts import bead_text
from .quoting import cut, fenced, quoted
from .talking import joined, new

ROLE = "code_reviewer"
"""The persona's name."""
WHOLE, CHANGE, FOUND, SUMMARY, BEADS = 64_000, 22_000, 8_000, 2_000, 8_000
"""Characters of the whole, of the change, of what was found before, of what the Doer said last, of an epic's beads."""
_FILES, _CHECKS, _BEAD = 200, 50, 600

PROTOCOL = f"""# How this session works

Nobody answers while you read. Your review is what you give by `nobrakes agent review -`, or by the tool `review` of the
MCP server `nobrakes`; your last message is only read by people. This folder is a checkout of the commit that would be
merged, made anew for each turn: what you write in it is lost.

End your last message with exactly one line, plain and alone on its line: `{PREFIX}{Marker.COMPLETED.value}`."""


@dataclass(frozen=True, slots=True)
class Read:
    """What is read: the commit `candidate` on `base`, its files, its difference, the `checks` that passed as rows.

    `earlier`: what was found in earlier rounds (core.review.reading.Reading.as_values); `said`: the Doer's last words;
    `decided`: what people said about findings; `within`: of an epic that is read as a whole, its beads.
    """

    base: str
    candidate: str
    files: Sequence[str]
    difference: str
    checks: Sequence[Mapping[str, Any]] = ()
    earlier: Sequence[Mapping[str, Any]] = ()
    said: str = ""
    decided: Sequence[str] = ()
    within: Sequence[Bead] = ()


def review_text(bead: Bead, read: Read, number: int, most: int) -> str:
    """The first message of one reviewer's session. `number` of `most`: the round."""
    nonce = hashlib.sha256(f"{bead.id}\0{read.candidate}\0{number}".encode()).hexdigest()[:12]
    what = f"epic {bead.id} as a whole" if read.within else f"bead {bead.id}"
    parts = [
        f"Read the work on {what}, in round {number} of at most {most}. It is commit {read.candidate} on "
        f"{read.base}: `git diff {read.base[:12]} HEAD` shows all of it. Every check passed on it.",
        "# The bead\n\n" + fenced(quoted(bead_text(bead)), nonce),
        *_within(read.within, nonce),
        "# What the checks said\n\n" + "\n".join(_check(row) for row in read.checks[:_CHECKS]),
        "# Files that it changes\n\n" + fenced(quoted("\n".join(read.files[:_FILES])), nonce),
        "# The change\n\n" + fenced(quoted(cut(read.difference, CHANGE)), nonce),
    ]
    if read.earlier:
        lines = [line for one in read.earlier for line in _found(one)]
        parts.append(
            "# What was found before\n\nThe work was sent back for it, or a person decided. Look whether it was "
            "mended; find it again only where it was not, and what was said against it does not hold.\n\n"
            + fenced(quoted("\n".join(lines)[-FOUND:]), nonce)
        )
        if read.decided:
            words = "\n".join(cut(clean(one), 400) for one in read.decided[-10:])
            parts.append("# What people decided about it\n\n" + fenced(quoted(words), nonce))
        if read.said.strip():
            parts.append("# What the Doer said of it\n\n" + fenced(quoted(cut(clean(read.said), SUMMARY)), nonce))
    return "\n\n".join(parts) + "\n"


def _within(beads: Sequence[Bead], nonce: str) -> list[str]:
    """Of an epic: its beads, and what each was to bring; they may not fit together, and nobody looked at that yet."""
    if not beads:
        return []
    lines = cut("\n".join(_one(bead) for bead in beads), BEADS)
    told = "Each was checked by itself. Look above all at what is between them: whether they fit together, and whether "
    return [f"# Its beads\n\n{told}all of it is what the epic asks for.\n\n" + fenced(quoted(lines), nonce)]


def _one(bead: Bead) -> str:
    wanted = "; ".join(" ".join(clean(one).split()) for one in bead.acceptance)
    return cut(f"- {bead.id}: {clean(bead.title)}{f' (wanted: {wanted})' if wanted else ''}", _BEAD)


def _check(row: Mapping[str, Any]) -> str:
    counts = row.get("counts") or {}
    passed = f", {counts['passed']} tests" if isinstance(counts, dict) and counts.get("passed") is not None else ""
    return f"- {clean(str(row.get('name', '')))[:100]}: {clean(str(row.get('outcome', '')))[:40]}{passed}"


def _found(one: Mapping[str, Any]) -> list[str]:
    return [
        f"round {one['round']}, {found['priority']} {found['category']} {found['path']}: {cut(found['text'], 400)}"
        for found in one["findings"]
    ]


def prompt(told: Sequence[Message], cut_off: str, *, resumes: bool) -> str:
    """The prompt of a reviewer's turn: how its session works, and what it reads."""
    return joined([*([] if resumes else [PROTOCOL]), *new(told, cut_off, resumes=resumes, most=WHOLE)])
