"""Earlier attempts at a bead, for people and for the next agent. Imports nothing: agents ask for it all night."""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from .model import Attempt


def approaches(attempts: "Iterable[Attempt]") -> "list[dict[str, Any]]":
    return [
        {
            "attempt": a.number,
            "role": str(a.role),
            "name": a.name,
            "agent": a.agent,
            "outcome": str(a.outcome) if a.outcome else None,
            "detail": a.detail,
            "summary": a.log.summary,
            "blockers": a.log.blockers,
            "learnings": a.log.learnings,
            "head": a.head,
        }
        for a in attempts
    ]


KEPT = "x_beads"

COMMENTS = 40


ISSUE = "issue"
"""The metadata key with the address of the issue that a bead was made from: others wrote its texts."""


def issue_of(metadata: "Mapping[str, Any]") -> "tuple[str, int] | None":
    """(HOST/OWNER/NAME, number) of the bead's issue."""
    start, _, number = str(metadata.get(ISSUE) or "").partition("/issues/")
    at = start.removeprefix("https://")
    is_address = at != start and at.count("/") == 2 and at.isascii() and at.isprintable() and " " not in at
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    return (at, int(number)) if is_address and is_number else None


def added_texts(bead: object, names: "Sequence[str]") -> "list[tuple[str, str]]":
    """The non-empty ones of these fields (model.ADDED), by name, and its issue; the bead is a record or its JSON."""
    values = bead if isinstance(bead, dict) else {name: getattr(bead, name) for name in (*names, "metadata")}
    found = [(name.replace("_", " "), values[name]) for name in names]
    found += [(ISSUE, values["metadata"][ISSUE])] if issue_of(values["metadata"]) else []
    texts = [(name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else value) for name, value in found]
    return [(name, str(value)) for name, value in texts if value]


def texts(metadata: "Mapping[str, Any]") -> "list[tuple[str, str]]":
    """(title, text) of the imported design and comments."""
    kept = metadata.get(KEPT)
    if not isinstance(kept, dict):
        return []
    found = []
    design = kept.get("design")
    if isinstance(design, str) and design.strip():
        found.append(("Design", design))
    comments = [
        one for one in _list(kept.get("comments")) if isinstance(one, dict) and str(one.get("text") or "").strip()
    ]
    if comments:
        rows = [f"{one.get('author') or 'somebody'}: {one['text']}" for one in comments[-COMMENTS:]]
        if len(comments) > COMMENTS:
            rows.insert(0, f"[{len(comments) - COMMENTS} older ones left out]")
        found.append(("Comments", "\n\n".join(rows)))
    return found


def _list(value: "Any") -> "list[Any]":
    return value if isinstance(value, list) else []


AHEAD = 2
"""A claim of so many steps beyond the commits is doubted: uncommitted work is lost work."""
MAX_STEPS = 1000
WORK_TYPES = ("implementation", "testing", "refactoring")
CATEGORIES = ("code_quality", "architecture", "security", "performance")


def doubt(step: "int | None", commits: "int | None") -> str:
    """The doubt about the claim; empty: none, or unknown commits."""
    if step is None or commits is None or step - commits <= AHEAD:
        return ""
    plural = "commit" if commits == 1 else "commits"
    return f"step {step} is reported with only {commits} {plural}; uncommitted work does not count"


def whats_next(
    criteria: int = 0,
    *,
    needs_plan: bool = False,  # the bead asks for an approved plan, and there is none
    plan_waits: "int | None" = None,  # the plan that nobody has decided about
    questions: "tuple[int, ...]" = (),  # open ones of this attempt
    step: "int | None" = None,
    of: "int | None" = None,
    commits: "int | None" = None,  # nobody can count them
    said: "str | None" = None,  # the outcome that was handed in
) -> "tuple[str, ...]":
    """The next actions, most urgent first; never empty."""
    found: list[str] = []
    unfinished = step is not None and of is not None and step < of
    if said == "completed" and commits == 0:
        found.append("You reported the work as completed, but there is no commit: commit, then report it again.")
    if said == "completed" and unfinished:
        found.append(f"You reported the work as completed at step {step} of {of}: finish, or hand in what is true.")
    if said is not None and not found:
        found.append(f"You reported the work as {said}: end your session.")
    if plan_waits is not None and said is None:
        found.append(f"Plan {plan_waits} waits for a person: change nothing, and end as BLOCKED.")
    elif needs_plan and said is None:
        found.append("The bead asks for an approved plan: read, then request-review, before you change anything.")
    if questions and said is None:
        numbers = ", ".join(str(number) for number in questions)
        found.append(f"Question {numbers} is open: do what does not depend on the answer, else end as BLOCKED.")
    if doubt(step, commits):
        found.append(f"Commit what you have: {doubt(step, commits)}.")
    if said is None and not (needs_plan or plan_waits is not None):
        if commits == 0 or (commits is None and step is None):
            of_all = f", of {criteria} acceptance criteria" if criteria > 1 else ""
            found.append(f"Take the first step{of_all}, and commit your work.")
        elif unfinished:
            found.append(f"Go on with step {(step or 0) + 1} of {of}.")
        else:
            last = "Compare each acceptance criterion with your commits, run every check, then hand in with done."
            found.append(last)
    return tuple(found)
