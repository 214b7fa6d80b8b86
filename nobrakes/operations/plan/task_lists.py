"""Markdown read for its task lists: headings, items and the text that stands below each. Pure; one pass over the lines.

1. `- [ ]`, `* [ ]`, `+ [ ]`, `1. [ ]` are items. Code blocks and front matter are never looked into; an item in a
   comment or a quotation is told of, and is none.
2. An item is within another where it is indented by two columns or more, or as far as the other's text.
3. What stands under the words Acceptance or Done when (a bullet, a line of text or a heading) are criteria.
4. Nothing recurses: a text that nests deeply costs its length.
"""

import re
from dataclasses import dataclass, field

from ...core.errors import PlanError
from .markdown_lines import BOX, BULLET, CLOSING_FENCE, FENCE, HEADING, LABEL, RULE, UNDERLINE, box_in, dedented, front


@dataclass(eq=False)
class Part:
    """A heading or an entry of a list. `line` counts from 1; `parent` is what it stands in.

    `kind`: "section", "open" and "done" (items), "bullet", "label" (names criteria), "criterion". `column`: where the
    text of an entry begins; `level`: of a heading, 0 for the whole text. `texts`: what stands below it, as it is, with
    the line, 0 for code.
    """

    line: int
    kind: str
    title: str
    parent: "Part | None"
    level: int = 0
    indent: int = 0
    column: int = 0
    texts: list[tuple[int, str]] = field(default_factory=list)
    criteria: list[list[str]] = field(default_factory=list)
    wants_criteria: bool = False
    holds_beads: bool = False
    owns: bool = True  # criteria may belong to it

    @property
    def description(self) -> str:
        """The text below it."""
        return dedented([text for _, text in self.texts])


@dataclass(frozen=True)
class TaskLists:
    """What a text holds, in its order: headings and items; and what was left out, each with its line."""

    parts: tuple[Part, ...]
    told: tuple[str, ...]


def task_lists(text: str, source: str, strict: bool = True) -> TaskLists:
    """The headings and items of a text whose lines end in newlines.

    `strict`: PlanError for a code block or comment that never ends, and the text as a whole owns no criteria.
    """
    reader = _Reader(source, not strict)
    lines = text.split("\n")
    for number, line in enumerate(lines[front(lines) :], front(lines) + 1):
        reader.read(number, line)
    if reader.until and strict:
        what, begun, closing = reader.until
        raise PlanError(f"{source}:{begun}: the {what} that begins here never ends", f"Close it with `{closing}`.")
    return TaskLists(tuple(reader.parts), tuple(reader.told))


class _Reader:
    """What is open at a line."""

    def __init__(self, source: str, owns: bool) -> None:
        self.section = Part(0, "section", source, None, owns=owns)
        self.entries: list[Part] = []
        self.parts: list[Part] = [self.section]
        self.told: list[str] = []
        self.until: tuple[str, int, str] | None = None  # a block that is open: what, its line, what closes it
        self.blank = True
        self.paragraph = 0  # lines of text just before this one, outside of lists

    def read(self, number: int, line: str) -> None:
        """One more line."""
        body = line.strip(" \t")
        indent = len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))
        if self.until:
            self._within(number, line, body)
        elif not body:
            self._text(number, "")
            self.blank, self.paragraph = True, 0
            return
        elif self._is_code(indent):
            self.paragraph += bool(self.paragraph)
            self._text(0, line)
        else:
            self._line(number, line, body, indent)
        self.blank = False

    def _within(self, number: int, line: str, body: str) -> None:
        assert self.until
        what, _, closing = self.until
        if what == "comment":
            if box_in(body):
                self.told.append(f"line {number}: an item in a comment was left out")
            self.until = None if "-->" in body else self.until
            return
        self._text(0, line)
        found = CLOSING_FENCE.fullmatch(body)
        if found and found[1].startswith(closing):
            self.until = None

    def _is_code(self, indent: int) -> bool:
        """Whether the line is code by how far it is indented; right below text a sloppy item is more likely."""
        return self.blank and indent >= (self.entries[-1].column if self.entries else 0) + 4

    def _line(self, number: int, line: str, body: str, indent: int) -> None:
        heading = HEADING.fullmatch(body)
        outside = not self.entries or indent < 2
        if heading and outside:
            self._heading(number, len(heading[1]), heading[2] or "")
        elif self.paragraph and not self.entries and UNDERLINE.fullmatch(body):
            self._underlined(1 if body[0] == "=" else 2)
        elif RULE.fullmatch(body):
            self.entries, self.paragraph = [], 0
        elif body.startswith("<!--"):
            self.until, self.paragraph = None if "-->" in body else ("comment", number, "-->"), 0
            if not self.until and box_in(body[4:].lstrip()):
                self.told.append(f"line {number}: an item in a comment was left out")
        elif bullet := BULLET.fullmatch(body):
            self._entry(number, indent, bullet)
        else:
            self._words(number, line, body, indent)

    def _words(self, number: int, line: str, body: str, indent: int) -> None:
        fence = FENCE.match(body)
        if self.blank or fence or body.startswith(">"):
            self._leave(indent)
        if body.startswith(">") and box_in(body.lstrip("> \t")):
            self.told.append(f"line {number}: an item in a quotation was left out")
        self._text(number, line)
        if fence:
            self.until, self.paragraph = ("code block", number, fence[1]), 0
            return
        self.paragraph = 0 if self.entries or body.startswith(">") else self.paragraph + 1
        holder = self.entries[-1] if self.entries else self.section
        if holder.kind in ("open", "section") and holder.owns:
            label = LABEL.fullmatch(body)
            if label and not label[1]:
                self._take_back(holder)
                holder.wants_criteria = True
            elif label:
                self._take_back(holder)
                holder.criteria.append([label[1]])
            elif holder.kind != "section" or (holder.title and not self._is_label(holder)):
                holder.wants_criteria = False

    def _take_back(self, holder: Part) -> None:
        """A line that names criteria is no text of its own."""
        holder.texts.pop()
        self.paragraph = 0

    @staticmethod
    def _is_label(section: Part) -> bool:
        return section.kind == "section" and bool(LABEL.fullmatch(section.title))

    def _text(self, number: int, line: str) -> None:
        """Text of the innermost entry that has text, else of the section."""
        holder = self.entries[-1] if self.entries else self.section
        if holder.kind == "criterion":
            if line.strip():
                holder.criteria[-1].append(line.strip())
            return
        while holder.kind in ("bullet", "label") and holder.parent:
            holder = holder.parent
        holder.texts.append((number, line))

    def _leave(self, indent: int) -> None:
        """Leave the entries that something indented so far does not stand in."""
        while self.entries and indent < min(self.entries[-1].column, self.entries[-1].indent + 2):
            self.entries.pop()

    def _heading(self, number: int, level: int, title: str) -> None:
        self.entries, self.paragraph = [], 0
        above: Part | None = self.section
        while above and above.level >= level:
            above = above.parent
        self.section = Part(number, "section", title.strip(), above, level)
        self.section.wants_criteria = self._is_label(self.section) and bool(above and above.owns)
        self.parts.append(self.section)

    def _underlined(self, level: int) -> None:
        lines = [self.section.texts.pop() for _ in range(self.paragraph)][::-1]
        self._heading(lines[0][0], level, " ".join(text.strip() for _, text in lines))

    def _entry(self, number: int, indent: int, bullet: "re.Match[str]") -> None:
        self._leave(indent)
        self.paragraph = 0
        mark, gap, rest = bullet[1], bullet[2] or "", bullet[3] or ""  # a dash alone has neither
        above = self.entries[-1] if self.entries else self.section
        column = indent + len(mark) + (len(gap) if 1 <= len(gap) <= 4 and rest else 1)
        box = BOX.fullmatch(rest)
        kind = ("open" if box[1] == " " else "done") if box else "bullet"
        made = Part(number, kind, (box[2] or "").strip() if box else rest.strip(), above, 0, indent, column)
        self._judge(made, above, bullet[0])
        self.entries.append(made)
        if kind == "bullet" and (fence := FENCE.match(rest)):
            self.until = ("code block", number, fence[1])

    def _judge(self, made: Part, above: Part, line: str) -> None:
        """What an entry is, by where it stands."""
        owner, place = _owner(made), f"line {made.line}"
        label = LABEL.fullmatch(made.title)
        if above.wants_criteria or above.kind == "criterion":
            self._criterion(made, owner, place)
        elif label and owner and made.kind != "done":
            if made.kind == "open":
                self.told.append(f"{place}: '{made.title[:80]}' names criteria, it is no bead")
            made.kind, made.wants_criteria = "label", True
            if label[1]:
                owner.criteria.append([label[1]])
        elif made.kind == "done":
            self.told.append(f"{place}: skipped, since it is ticked: {made.title[:80]}")
        elif made.kind == "open" and not made.title:
            self.told.append(f"{place}: an item without a title was left out")
            made.kind = "bullet"
        elif made.kind == "bullet":
            self.entries.append(made)
            self._text(made.line, " " * made.indent + line)
            self.entries.pop()
        if made.kind in ("open", "done"):
            self.parts.append(made)

    def _criterion(self, made: Part, owner: Part | None, place: str) -> None:
        if made.kind == "done":
            self.told.append(f"{place}: skipped, since it is ticked: {made.title[:80]}")
        elif owner is None:
            self.told.append(f"{place}: skipped, since its item is ticked: {made.title[:80]}")
        elif not made.title:
            self.told.append(f"{place}: a criterion without text was left out")
        made.criteria = [[made.title]]
        if made.kind != "done" and owner and made.title:
            owner.criteria.append(made.criteria[0])
        made.kind = "criterion"


def _owner(made: Part) -> Part | None:
    """Whose criteria stand here: the item's that it is within, else the heading's; None: there is no such thing."""
    above = made.parent
    while above and above.kind not in ("open", "done", "section"):
        above = above.parent
    if above and above.kind == "section" and LABEL.fullmatch(above.title) and above.parent and above.parent.owns:
        above = above.parent
    if above is None or above.kind == "done" or not above.owns:
        return None
    return above
