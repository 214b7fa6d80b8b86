"""All that one attempt is told: the persona and the prompt, from what the store knows now.

The daemon starts agents with it and `nobrakes prompt` prints it, so that what is printed is what is given.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from ..core.beads.attempt import Attempt
from ..core.beads.bead import Bead, Role
from ..core.beads.escalations import Escalation
from ..core.text.cleaning import only_seen
from ..paths import Paths
from ..ports.store import Store
from .beadtexts import answers_of, bead_text, plan_text
from .prompts import Settings, compile_prompt, system_prompt
from .resuming import new_since, resume_prompt

TOLD = "told"
"""In an attempt's data: the digest of the bead as its session knows it."""


@dataclass(frozen=True, slots=True)
class Briefing:
    """What an agent is given: `system` on top of its own instructions, then `prompt`, in which are the `answers` to
    questions, by number.
    """

    system: str
    prompt: str
    answers: Mapping[int, str] = field(default_factory=dict)


def brief(
    store: Store,
    paths: Paths,
    config: Settings,
    main: str,
    bead: Bead,
    role: Role,
    nonce: str,
    attempt: int = 0,
    resumes: Attempt | None = None,
    instructions: str = "",
) -> Briefing:
    """The briefing of `attempt` (0: of one that is not open yet); ConfigError for a bad file of the persona.

    `resumes`: the attempt whose session it goes on with, which is told only what is new. `instructions`: the
    repository's own (roles.instructions).
    """
    earlier = [a for a in store.attempts(bead.id) if a.id != attempt]
    filed = store.escalations(open_only=False, bead=bead.id)
    plan = plan_text(bead, role, filed, nonce)
    system = system_prompt(role, os.path.join(paths.folder, "roles"))
    if resumes is not None:
        changed = "" if resumes.data.get(TOLD) == digest(bead) else bead_text(bead)
        new = new_since(resumes, filed)
        prompt = resume_prompt(bead, resumes, filed, changed, plan if new else "", nonce)
        return Briefing(only_seen(system), only_seen(prompt), _given(new))
    prompt = compile_prompt(
        role, bead, config, earlier, answers_of(filed), nonce=nonce, main=main, plan=plan, instructions=instructions
    )
    return Briefing(only_seen(system), only_seen(prompt), _given(filed))


def _given(filed: Iterable[Escalation]) -> dict[int, str]:
    return {one.id: one.answer for one in filed if one.answer}


def digest(bead: Bead) -> str:
    """What tells two versions of a bead's text apart."""
    return sha256(bead_text(bead).encode(errors="replace")).hexdigest()[:16]
