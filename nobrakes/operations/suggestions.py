"""A suggestion of an agent becomes a draft, for a person's approval like any other.

1. The agent's words are quoted, cleaned and bounded: they describe work, and are nobody's instructions.
2. The draft remembers where it comes from: a dependency `discovered-from` on the bead of whoever suggested it.
3. The draft and the end of the suggestion are one transaction: it is added once.
"""

from ..core.beads.bead import Bead, BeadType, Dependency, DependencyType
from ..core.beads.escalations import Escalation, EscalationType
from ..core.errors import NotAllowed
from ..core.text.cleaning import only_seen, shorten
from ..ports import Store
from . import beads

TITLE, DETAIL = 200, 4_000
"""Characters of a suggestion that a draft takes over."""


def add(store: Store, found: Escalation, note: str, actor: str) -> Bead:
    """The draft that the open suggestion became; the suggestion is resolved. NotAllowed: it is none."""
    if found.type is not EscalationType.DOER_SUGGESTION:
        raise NotAllowed(
            f"escalation {found.id} suggests no work to add", f"`nobrakes escalation {found.id}` shows what it is."
        )
    title = shorten(" ".join(only_seen(found.title).split()), TITLE)
    with store.together():
        epic = store.bead(found.bead).epic if found.bead is not None else None
        made = beads.add(
            store,
            title,
            BeadType.TASK,
            description(found, note),
            epic=epic,
            draft=True,
            actor=actor,
        )
        if found.bead is not None:
            store.add_dependency(Dependency(made.id, found.bead, DependencyType.DISCOVERED_FROM), actor)
        store.resolve(found.id, f"added as {made.id}" + (f": {note}" if note.strip() else ""), actor)
    return made


def description(found: Escalation, note: str) -> str:
    """What the draft says: the person's note, then the agent's words as a quotation."""
    where = f" while it worked on {found.bead}" if found.bead else ""
    words = shorten(only_seen(found.detail).strip(), DETAIL)
    quoted = "\n".join(f"> {line}" for line in words.splitlines())
    parts = (note.strip(), f"An agent suggested this{where} (escalation {found.id}).", quoted)
    return "\n\n".join(part for part in parts if part)
