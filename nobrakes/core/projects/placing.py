"""A project's documents as nobrakes writes them, from records and from what agents handed in. Text in, text out.

1. What is there stays: a section that is kept is replaced, a list is appended to, a box is ticked; no more.
2. A box is ticked where what was handed in has the same words, ticked or below `Done`. Nothing is unticked.
3. What nobody handed in says so itself.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

from . import documents
from .sprint import PLACES, Document, Kind, Sprint
from .whats_next import words

_OPEN = re.compile(rf"({documents.ITEM}\[) (\]\s+)(.*\S)")
_DONE = ("Done", "What was done")
_NOT_DONE = ("Not done", "What was not done", "Not finished")
NOBODY = "nobody handed a review in; this is what the records say"


def plan(sprint: Sprint, text: str) -> str:
    """plan.md of a sprint that begins."""
    return _titled(text, f"Sprint {sprint.number}: {sprint.name}")


def plan_after(text: str, done: frozenset[str], decisions: Sequence[str]) -> str:
    """plan.md of a sprint that is over: done tasks are ticked, and decisions taken on the way are in it."""
    found = ticked(text, done)
    return set_section(found, "Decisions taken on the way", _list(decisions)) if decisions else found


def review(sprint: Sprint, text: str, told: str, tasks: Sequence[str]) -> str:
    """review.md: what was handed in, else what the records say. `told`: the bead's own last words."""
    if text:
        return _titled(text, f"Review of sprint {sprint.number}: {sprint.name}")
    body = f"# Review of sprint {sprint.number}: {sprint.name}\n\n({NOBODY})\n\n"
    body += f"## Done\n\n{told or 'The work of the sprint is merged.'}\n"
    if tasks:
        body += f"\n## Not done\n\nOf these nobody said that they are done:\n\n{_list(tasks)}\n"
    return body


def done_of(text: str) -> frozenset[str]:
    """What a review says is done, as it is compared: its ticked boxes, and the items below `Done`."""
    rows = documents.section(text, *_NOT_DONE)
    not_done = {number for number, _ in rows}
    found = {words(box.text) for box in documents.boxes(list(documents.lines(text))) if box.is_checked}
    for number, line in documents.section(text, *_DONE):
        item = re.sub(rf"\A{documents.ITEM}(?:\[[ xX]\]\s+)?", "", line)
        if number not in not_done and "[ ]" not in line and words(item):
            found.add(words(item))
    return frozenset(one for one in found if one)


def ticked(text: str, done: frozenset[str]) -> str:
    """The text with those open boxes ticked whose words are among these."""
    inside = {number for number, _ in documents.lines(text)}
    out = []
    for number, line in enumerate(text.splitlines(), 1):
        box = _OPEN.match(line)
        is_done = box is not None and number in inside and words(box[3]) in done
        out.append(f"{box[1]}x{box[2]}{box[3]}" if box is not None and is_done else line)
    return "\n".join(out) + "\n"


def unticked(text: str) -> str:
    """The text as it was before any box was ticked: what tells two briefs apart."""
    return re.sub(rf"(?m)^({documents.ITEM})\[[xX]\]", r"\1[ ]", text)


def task(text: str, status: str, sprint: str, state: str, progress: Sequence[tuple[bool, str]], when: str) -> str:
    """task.md now: `state` in words, `progress` the boxes of sprints; a line is added to its history."""
    found = text or "# Task\n\n## History\n"
    for name, value in (("Status", status), ("Current Sprint", sprint), ("Updated", when)):
        found = _field(found, name, value)
    found = set_section(found, "Current State", state)
    boxes = [f"[{'x' if is_done else ' '}] {name}" for is_done, name in progress]
    found = set_section(found, "Sprint Progress", _list(boxes) or "None yet.")
    found = set_section(found, "Blockers", "None")
    line = f"{when} — {' '.join(state.split())}"
    before = "\n".join(row for _, row in documents.section(found, "History")).strip()
    if line in before:
        return found
    return set_section(found, "History", f"{before}\n- {line}".strip())


def appended(texts: Mapping[str, str], told: Iterable[Document], sprint: Sprint, when: str) -> dict[str, str]:
    """DECISIONS.md, DEVIATIONS.md and WISHLIST.md with what was told of this sprint; those alone that change."""
    found: dict[str, str] = {}
    for one in told:
        path = PLACES.get(one.kind)
        if path is None:
            continue
        before = found.get(path, texts.get(path, "")) or f"# {path.removesuffix('.md').capitalize()}\n"
        title, _, body = one.text.strip().partition("\n")
        entry = f"## {_plain(title)}\n\n{when}, sprint {sprint.title}, {one.actor}\n"
        entry += f"\n{_lowered(body.strip())}\n" if body.strip() else ""
        if entry not in before:
            found[path] = f"{before.rstrip()}\n\n{entry}"
    return found


def titles(told: Iterable[Document]) -> list[str]:
    """The first lines of the decisions among these."""
    return [_plain(one.text.strip().partition("\n")[0]) for one in told if one.kind is Kind.DECISION]


def _plain(title: str) -> str:
    return " ".join(title.split()).lstrip("#-*+ ")[:200] or "(without a title)"


def _lowered(body: str) -> str:
    """Headings in what was told stand below the entry's own: each heading of its level is a decision of its own."""
    return re.sub(r"(?m)^#{1,3}(?=\s)", "####", body)


def set_section(text: str, title: str, body: str) -> str:
    """The text with this body in its first section of this title; it is added at the end where there is none."""
    start, end = documents.bounds(text, title)
    if not start:
        return f"{text.rstrip()}\n\n## {title}\n\n{body.strip()}\n"
    rows = text.splitlines()
    after = rows[end - 1 :]
    return "\n".join([*rows[:start], "", body.strip(), *(["", *after] if after else [])]) + "\n"


def _field(text: str, name: str, value: str) -> str:
    made = re.compile(rf"(?mi)^(\s*(?:[-*+]\s+)?)\*\*{re.escape(name)}:?\*\*:?.*$")
    line = f"**{name}:** {value}"
    if made.search(text):
        return made.sub(lambda found: f"{found[1]}{line}", text, count=1)
    head, _, rest = text.partition("\n")
    return f"{head}\n\n{line}\n{rest}"


def _titled(text: str, title: str) -> str:
    """The text below a heading of ours; one that it had says nothing of number and name that counts."""
    plain = text.strip()
    body = plain.partition("\n")[2].strip() if plain.startswith("# ") else plain
    return f"# {title}\n\n{body}\n"


def _list(items: Sequence[str]) -> str:
    return "\n".join(f"- {one}" for one in items)
