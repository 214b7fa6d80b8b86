"""The text of a pull request, made of records alone: the same records give the same text.

1. Title, summary, test plan, what a person has to try, what the code review found in numbers, evidence, linked beads;
   then the repository's template as it is.
2. Words of beads are shown, and do nothing: nobody is mentioned by them, and no comment of theirs is ours.
3. The line `mark` is how the request is found again: it names the bead. That the branch is ours is known by its commit.
4. It is bounded; whoever gives it to a host has cleaned it of secrets.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from ..beads.branches import branch_of
from ..beads.model import Bead, BeadType
from ..records import frozen
from ..text.cleaning import clean, shorten
from .model import PullRequest, PullState

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
_MENTION = re.compile(r"(?<![\w`])@(?=[A-Za-z0-9])")


@frozen
class Facts:
    """The text's input. `checks`: rows of the candidate's validation; `before`, `after`: tests passed on base and
    candidate; `manual`: what no check covers; `files`: changed paths; `read`: code reviews of review.reading."""

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
    files: Sequence[str] = ()
    template: str = ""
    names: Sequence[str] = ()  # who worked on it, where the settings say so
    cost: str = ""  # the same


def mark(bead: str) -> str:
    """The line that identifies a request."""
    return f"<!-- nobrakes request: {bead} -->"


def title(bead: Bead) -> str:
    return shorten(" ".join(clean(bead.title).split()), TITLE) or bead.id


def body(facts: Facts, line: str) -> str:
    """The request's text, ending with the mark `line`."""
    words = shown(facts.bead.description, _DESCRIPTION) or shown(facts.bead.title, TITLE)
    parts = [
        f"## Summary\n\n{words}",
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
    safe = shorten(clean(text).strip(), most).replace("<!--", "&lt;!--")
    return _MENTION.sub("&#64;", safe)


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
    """Only counts of findings: the details are not for the request."""
    if not facts.read:
        return ""
    lines = ["## Code review", "", "An agent that did not do the work read it after every check had passed.", ""]
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


# A pull request as people and programs see it; db/fast.py makes the same JSON without these classes. `page` is what the
# code host says, if that is an address of the web.
WEB = ("https://", "http://")


@frozen
class RequestLine:
    """A request in a list. `state`: see docs/reference; `says`: what it waits for."""

    number: int  # 0: the code host numbers none
    state: str
    page: str
    says: str


@frozen
class RequestView:
    """A bead's newest request. `checks`: name, state and url; `remarks`: by, text, path and line, untrusted."""

    bead: str
    number: int
    state: PullState
    title: str
    url: str  # as the code host says it
    page: str  # the same where it is an address of the web
    says: str  # what it waits for
    branch: str
    into: str  # the branch that people merge it into, where that is not the remote's main; else empty
    head: str
    base: str
    merged_as: str
    checks: tuple[Mapping[str, Any], ...]
    remarks: tuple[Mapping[str, Any], ...]
    approved_by: tuple[str, ...]
    opened_at: float
    looked_at: float

    @property
    def name(self) -> str:
        return f"#{self.number}" if self.number else self.branch


def page_of(url: str) -> str:
    """The address if it is a web page; else empty."""
    return url if url.startswith(WEB) else ""


def view(pull: PullRequest) -> RequestView:
    return RequestView(
        pull.bead,
        pull.number,
        pull.state,
        pull.title,
        pull.url,
        page_of(pull.url),
        pull.says,
        pull.branch,
        pull.into,
        pull.head,
        pull.base,
        pull.merged_as,
        tuple(pull.checks),
        tuple(pull.remarks),
        pull.approved_by,
        pull.opened_at,
        pull.looked_at,
    )


# How the work of a bead gets to people. What an epic says holds for everything below it; of several epics around a bead
# the nearest one that says something about a setting is heard. The name of a branch is one request's. What has begun on
# an epic's branch ends there (`is_begun`). The branch that people merge to may be a feature's own (`base`).
@frozen
class Said:
    """One feature's settings; None: inherited."""

    unit: str | None = None
    branch: str | None = None
    push: bool | None = None
    base: str | None = None
    land: str | None = None


@frozen
class Rules:
    """The repository's settings, and each feature's by its epic. `main`: the default remote branch."""

    by_request: bool
    unit: str
    push: bool = True
    features: Mapping[str, Said] = field(default_factory=dict)
    main: str = ""

    @property
    def elsewhere(self) -> tuple[str, ...]:
        return tuple(epic for epic in self.features if base_of((epic,), self))


@frozen
class Delivery:
    """How a bead is delivered. `epic`: whose branch it lands on, empty: main; `branch`: of its request; `push`: without
    a person's permission; `base`: the target branch, empty: the remote's main; `direct`: pushed there without a
    request."""

    epic: str
    branch: str
    push: bool = True
    base: str = ""
    direct: bool = False


@frozen
class Where:
    """The branch on which a bead begins, is reviewed and proven: its `epic`'s, else `base`, else main. `direct`: proven
    work is pushed there."""

    base: str = ""
    epic: str = ""
    direct: bool = False


def delivery(bead: Bead, above: Sequence[str], rules: Rules, is_begun: bool = False) -> Delivery:
    """How the bead is delivered; `above`: its epics, the nearest first."""
    is_epic = bead.type is BeadType.EPIC
    around = (bead.id, *above) if is_epic else tuple(above)
    said = [rules.features[one] for one in around if one in rules.features]
    push = next((one.push for one in said if one.push is not None), rules.push)
    own = rules.features.get(bead.id) if is_epic else None
    lands = next((one.land for one in said if one.land is not None), "")
    direct = rules.by_request and not is_begun and lands == "remote"
    together = rules.by_request and not direct and (unit_of(around, rules) == "epic" or is_begun)
    epic = bead.epic or "" if together and not is_epic else ""
    return Delivery(epic, (own and own.branch) or request_branch(bead), push, base_of(around, rules), direct)


def unit_of(around: Sequence[str], rules: Rules) -> str:
    said = (rules.features[one].unit for one in around if one in rules.features)
    return next((unit for unit in said if unit is not None), rules.unit)


def base_of(around: Sequence[str], rules: Rules) -> str:
    """The target branch, by the nearest epic; empty: the remote's main."""
    said = (rules.features[one].base for one in around if one in rules.features)
    base = next((base for base in said if base is not None), rules.main) if rules.by_request else rules.main
    return "" if base == rules.main else base


def request_branch(bead: Bead) -> str:
    """The default branch of its pull request."""
    return default_epic_branch(bead.id) if bead.type is BeadType.EPIC else branch_of(bead)


def default_epic_branch(epic: str) -> str:
    return f"feature/{epic}"
