"""Untrusted text inside a prompt: quoted so that it cannot pass for anything else, and bounded.

1. Every line of it begins with "> ", so no line of it is a fence, a heading or a marker.
2. The fence holds a nonce of the attempt; where the nonce itself turns up in the text, it is taken out.
3. Bounds count characters of the finished text, quote signs included; what was left out is said.
4. Imports nothing that costs: agents ask for it through their door.
"""

from ..core.text.cleaning import clean, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.beads.attempt import Attempt

HISTORY = 24_000
ANSWERS = 8_000
_FIELD = 3_000
_LEFT_OUT = "> [… {n} older attempts left out]"


def cut(text: str, limit: int) -> str:
    """At most about `limit` characters of the text, saying how much was left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()}\n[… {len(text) - limit} characters left out; ask for them if you need them]"


def quoted(text: str) -> str:
    """The cleaned text, each line behind "> "."""
    return "\n".join(f"> {line}".rstrip() for line in clean(text).split("\n"))


def fenced(quoted_text: str, nonce: str) -> str:
    """Quoted text between two lines that only this attempt's prompt can hold."""
    inside = quoted_text.replace(nonce, "[removed]")
    return f"<<< untrusted {nonce}\n{inside}\nuntrusted {nonce} >>>"


def history(ended: "Sequence[Attempt]", limit: int) -> str:
    """What earlier attempts did, in the order given, as quoted text of at most `limit` characters.

    An attempt is told whole or not at all, so that none is told misleadingly.
    """
    told: list[str] = []
    room = limit - len(_LEFT_OUT.format(n=len(ended))) - 1
    for attempt in ended:
        text = quoted(_attempt(attempt))
        if len(text) + 3 > room:
            break
        room -= len(text) + 3
        told.append(text)
    left = len(ended) - len(told)
    if left:
        told.append(_LEFT_OUT.format(n=left))
    return "\n>\n".join(told)


def _attempt(attempt: "Attempt") -> str:
    lines = [f"Attempt {attempt.number}, {attempt.role} {attempt.name}: {attempt.outcome or 'running'}"]
    fields = {
        "What happened": attempt.detail,
        "Summary": attempt.log.summary,
        "Blockers": attempt.log.blockers,
        "Learnings": attempt.log.learnings,
    }
    for title, text in fields.items():
        text = clean(text).strip()
        if text:
            lines.append(f"{title}: {shorten(text, _FIELD)}")
    lines.append(f"Branch: {'kept' if attempt.log.keep_branch else 'discarded'}")
    return "\n".join(lines)


def answered(answers: "Sequence[tuple[str, str]]", nonce: str) -> str:
    """Questions (an agent's words, quoted) and answers (a person's words), the last ones where all are too many."""
    told: list[str] = []
    room = ANSWERS
    for question, answer in reversed(answers):
        asked = fenced(quoted(shorten(clean(question).strip(), 1_000)), nonce)
        text = f"An agent asked:\n{asked}\nThe human answered:\n{quoted(cut(clean(answer).strip(), 4_000))}"
        if told and len(text) > room:
            told.append(f"[… {len(answers) - len(told)} older answers left out]")
            break
        room -= len(text)
        told.append(text)
    return "\n\n".join(reversed(told))
