"""The documents of a project, read: its brief, task.md, the roadmap, plans and reviews of sprints. No model is asked.

1. A document is text that agents and people edit: what is not there, or not as expected, reads as nothing.
2. A box is a list item with `[ ]` or `[x]`; a section ends at the next heading of its own level or a higher one.
3. Code blocks are examples: nothing in them counts.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

STATES = ("planning", "executing", "blocked", "complete")
SPRINTS = "docs/sprints"
ROADMAP = "docs/ROADMAP.md"
ITEM = r"\s*(?:[-*+]|\d+[.)])\s+"
"""How the line of a list's item begins."""
_BOX = re.compile(rf"{ITEM}\[([ xX])\]\s+(.*\S)")
_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*\Z")
_FIELD = re.compile(r"\s*(?:[-*+]\s+)?\*\*([A-Za-z ]+?):?\*\*:?\s*(.*)")
_FENCE = re.compile(r"\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Box:
    """One item that is ticked off. `line` counts from 1."""

    is_checked: bool
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Sprint:
    """A sprint's folder: `name` is `s1-begin`, `number` 1. None: the document is not there."""

    name: str
    number: int
    plan: str | None
    review: str | None


def lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines outside of code blocks, with their numbers."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        found = _FENCE.match(line)
        if found and (not fence or found[1] == fence):
            fence = "" if fence else found[1]
        elif not fence:
            yield number, line


def bounds(text: str, *titles: str) -> tuple[int, int]:
    """The lines of the first section's heading and of the heading that ends it, else one more than the last line.

    The section has one of these titles, in any capitals; (0, 0): there is none.
    """
    wanted = {title.casefold() for title in titles}
    start = level = 0
    for number, line in lines(text):
        heading = _HEADING.match(line)
        if heading and start and len(heading[1]) <= level:
            return start, number
        if heading and not start and heading[2].casefold() in wanted:
            start, level = number, len(heading[1])
    return start, len(text.splitlines()) + 1 if start else 0


def section(text: str, *titles: str) -> list[tuple[int, str]]:
    """The lines of the first section with one of these titles, in any capitals; empty: there is none."""
    start, end = bounds(text, *titles)
    return [(number, line) for number, line in lines(text) if start < number < end]


def boxes(rows: list[tuple[int, str]]) -> list[Box]:
    """The boxes among these lines."""
    found = ((number, _BOX.match(line)) for number, line in rows)
    return [Box(box[1] != " ", box[2].strip(), number) for number, box in found if box]


def objective(brief: str) -> str:
    """What a brief says that the project is for; empty: it does not."""
    return "\n".join(line for _, line in section(brief, "Objective")).strip()


def criteria(brief: str) -> list[Box]:
    """The success criteria of a brief."""
    return boxes(section(brief, "Success criteria"))


def tasks(plan: str) -> list[Box]:
    """The tasks of a sprint's plan: the boxes below `Tasks`, or all of them where it has no such section."""
    own = section(plan, "Tasks", "What to do")
    return boxes(own) if own else boxes(list(lines(plan)))


def field(text: str, name: str) -> str:
    """The value of `**Name:** value`; empty: it is not there."""
    for _, line in lines(text):
        found = _FIELD.match(line)
        if found and found[1].strip().casefold() == name.casefold():
            return found[2].strip()
    return ""


def status(task: str) -> str:
    """The status that task.md gives: a word of STATES; empty: it gives none of them."""
    word = field(task, "Status").strip("*_` ").casefold()
    return word if word in STATES else ""


def sprints(files: Mapping[str, str]) -> list[Sprint]:
    """The sprints among these documents (path -> text), by number and name."""
    found: dict[str, dict[str, str]] = {}
    for path, text in files.items():
        if path.startswith(f"{SPRINTS}/"):
            name, _, document = path[len(SPRINTS) + 1 :].partition("/")
            if document and _number(name):
                found.setdefault(name, {})[document] = text
    made = (Sprint(name, _number(name), own.get("plan.md"), own.get("review.md")) for name, own in found.items())
    return sorted(made, key=lambda one: (one.number, one.name))


def _number(name: str) -> int:
    """The number in `s3-name` or `m7-s3-name`; 0: it is no sprint's folder."""
    found = re.match(r"(?:m\d+-)?s([1-9]\d{0,5})(?:-|\Z)", name)
    return int(found[1]) if found else 0
