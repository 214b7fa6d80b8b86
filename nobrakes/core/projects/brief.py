"""A new project's documents, from templates: `{{name}}` stands for a value; what nobody said, says so itself.

1. One pass: a value that has `{{…}}` in it is text, and is not filled in again.
2. A list becomes lines; an empty one becomes a line that says what belongs there.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

TYPE = "internal-project"
SOURCES = ("conversation", "scheduled task", "agent-initiated")
_PLACE = re.compile(r"\{\{([a-z_]+)\}\}")


@dataclass(frozen=True, slots=True)
class Brief:
    """What is said of a project when it is made. Empty: nobody said it yet."""

    name: str
    title: str = ""
    objective: str = ""
    context: str = ""
    constraints: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    source: str = SOURCES[0]
    type: str = TYPE


def values(brief: Brief, created: str) -> dict[str, str]:
    """What the templates may name. `created` is a time in words."""
    return {
        "title": brief.title or brief.name,
        "name": brief.name,
        "created": created,
        "type": brief.type,
        "source": brief.source,
        "objective": brief.objective or "(to be written: a clear, measurable goal)",
        "context": brief.context or "(to be written: why this project exists, and what has to be known)",
        "constraints": _listed("- ", brief.constraints, "(to be written: what must not be done, what must hold)"),
        "resources": _listed("- ", brief.resources, "Related code: (to be written: paths)"),
        "criteria": _listed("- [ ] ", brief.criteria, "(to be written: an outcome that can be measured)"),
    }


def filled(template: str, known: Mapping[str, str]) -> str:
    """The template with its values; what it names and nobody knows stays as it stands."""
    return _PLACE.sub(lambda found: known.get(found[1], found[0]), template)


def _listed(mark: str, given: tuple[str, ...], empty: str) -> str:
    return "\n".join(mark + " ".join(one.split()) for one in given if one.strip()) or mark + empty
