"""The text of a pull request, made of records alone: the same records give the same text.

1. Title, summary, test plan, what a person has to try, what fresh eyes found in numbers, evidence, linked beads; then
   the repository's template as it is.
2. Words of beads are shown, and do nothing: nobody is mentioned by them, and no comment of theirs is ours.
3. The line `mark` is how the request is found again: it names the bead. That the branch is ours is known by its commit.
4. It is bounded; whoever gives it to a host has cleaned it of secrets.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..beads.bead import Bead
from ..text.cleaning import clean, shorten

TITLE = 200
BODY = 60_000
_DESCRIPTION = 8_000
_TEMPLATE = 20_000
_CRITERIA = 40
_WITHIN = 100
_FILES = 30
TEMPLATES = (
    ".github/pull_request_template.md",
    ".github/PULL_REQUEST_TEMPLATE.md",
    "pull_request_template.md",
    "PULL_REQUEST_TEMPLATE.md",
    "docs/pull_request_template.md",
    "docs/PULL_REQUEST_TEMPLATE.md",
    ".gitlab/merge_request_templates/Default.md",
    ".gitlab/merge_request_templates/default.md",
)
"""Where a repository's own template is, the first that is there."""
_MENTION = re.compile(r"(?<![\w`])@(?=[A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the text is made of. `checks`: rows of the validation that the candidate passed; `before` and `after`:
    tests that passed on the base and on the candidate; `manual`: what no check says; `files`: paths that change;
    `read`: the readings by fresh eyes, as core.review.reading keeps them.
    """

    bead: Bead
    base: str
    base_branch: str
    head: str
    checks: Sequence[Mapping[str, Any]] = ()
    before: int | None = None
    after: int | None = None
    attempts: int = 0
    manual: Sequence[str] = ()
    read: Sequence[Mapping[str, Any]] = ()
    epic: tuple[str, str] | None = None  # its id and title
    needs: Sequence[tuple[str, str]] = ()
    within: Sequence[Bead] = ()  # of an epic: its beads that the request brings
    below: tuple[str, str] | None = None  # the bead on whose request it stacks, and that one's name
    files: Sequence[str] = ()
    template: str = ""
    names: Sequence[str] = ()  # who worked on it, where the settings say so
    cost: str = ""  # the same


def mark(bead: str) -> str:
    """The line by which a request is found again."""
    return f"<!-- nobrakes request: {bead} -->"


def title(bead: Bead) -> str:
    """The request's title."""
    return shorten(" ".join(clean(bead.title).split()), TITLE) or bead.id


def body(facts: Facts, line: str) -> str:
    """The request's text, its last line the mark `line`."""
    parts = [
        _summary(facts),
        _test_plan(facts),
        _manual(facts),
        _read(facts),
        _evidence(facts),
        _linked(facts),
        shorten(clean(facts.template), _TEMPLATE).replace("<!-- nobrakes", "&lt;!-- nobrakes").strip(),
    ]
    whole = shorten("\n\n".join(part for part in parts if part), BODY)
    return f"{whole}\n\n{line}\n"


def shown(text: str, most: int) -> str:
    """Words that somebody else wrote: they mention nobody, and hide nothing."""
    safe = shorten(clean(text).strip(), most).replace("<!--", "&lt;!--")
    return _MENTION.sub("&#64;", safe)


def _summary(facts: Facts) -> str:
    words = shown(facts.bead.description, _DESCRIPTION) or shown(facts.bead.title, TITLE)
    if facts.below is not None:
        bead, request = facts.below
        words += f"\n\nStacked on {request} (bead {bead}), and shows only what it adds. Merge that one first."
    return f"## Summary\n\n{words}"


def _test_plan(facts: Facts) -> str:
    lines = ["## Test plan", ""]
    wanted = [*facts.bead.acceptance, *(one for bead in facts.within for one in bead.acceptance)]
    lines += [f"- {shown(one, 500)}" for one in wanted[:_CRITERIA]]
    for row in facts.checks:
        command = shown(" ".join(str(row.get("command") or "").split()), 200).replace("`", "'")
        lines.append(f"- {shown(str(row.get('name', '')), 100)}: passed{f' (`{command}`)' if command else ''}")
    if len(lines) == 2:
        return ""
    return "\n".join(lines)


def _manual(facts: Facts) -> str:
    if not facts.manual:
        return ""
    boxes = [f"- [ ] {shown(one, 500)}" for one in facts.manual[:_CRITERIA]]
    return "\n".join(["## To be tried by a person", "", *boxes])


def _read(facts: Facts) -> str:
    """How many findings each reading had: what they say stays here, and is no item of a person's list."""
    if not facts.read:
        return ""
    lines = [
        "## Review by fresh eyes",
        "",
        "An agent that did not do the work read it after every check had passed.",
        "",
    ]
    for one in facts.read:
        found = Counter(str(finding["priority"]) for finding in one["findings"])
        counts = ", ".join(f"{found[name]} {name}" for name in sorted(found)) or "nothing found"
        said = counts if one["outcome"] == "done" else "no review came of it"
        lines.append(f"- Round {one['round']}: {said}.")
    if facts.cost:
        lines.append(f"- Cost: ${sum(float(one['cost_usd']) for one in facts.read):.2f}.")
    return "\n".join(lines)


def _evidence(facts: Facts) -> str:
    lines = ["## Evidence", ""]
    lines.append(f"- `{facts.head[:12]}` passed every check on {facts.base_branch} at `{facts.base[:12]}`.")
    if facts.after is not None:
        before = "unknown" if facts.before is None else str(facts.before)
        lines.append(f"- Tests that pass: {before} before, {facts.after} with it.")
    if facts.attempts:
        lines.append(f"- Attempts: {facts.attempts}.")
    if facts.files:
        named = ", ".join(f"`{shown(path, 200)}`" for path in facts.files[:_FILES])
        more = f" and {len(facts.files) - _FILES} more" if len(facts.files) > _FILES else ""
        lines.append(f"- Files: {named}{more}.")
    if facts.names:
        lines.append(f"- Done by: {', '.join(shown(name, 100) for name in facts.names[:20])}.")
    if facts.cost:
        lines.append(f"- Cost: {facts.cost}.")
    return "\n".join(lines)


def _linked(facts: Facts) -> str:
    lines = ["## Beads", "", f"- {facts.bead.id} ({facts.bead.type.value})"]
    lines += [f"- {one.id} ({one.type.value}): {shown(one.title, TITLE)}" for one in facts.within[:_WITHIN]]
    if len(facts.within) > _WITHIN:
        lines.append(f"- and {len(facts.within) - _WITHIN} more")
    if facts.epic is not None:
        lines.append(f"- in {facts.epic[0]}: {shown(facts.epic[1], TITLE)}")
    lines += [f"- after {bead}: {shown(name, TITLE)}" for bead, name in facts.needs[:_CRITERIA]]
    return "\n".join(lines)
