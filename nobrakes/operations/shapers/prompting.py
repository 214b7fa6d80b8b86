"""What the next turn of a feature's Shaper, or a reviewer of its plan, would be given: for `nobrakes prompt`."""

from typing import TYPE_CHECKING

from ...core.errors import NotAllowed
from ...core.forge.rounds import looks
from ...core.sessions.session import Message
from ...core.text.cleaning import only_seen
from ...paths import Paths
from ...ports.git import Git
from ...ports.store import Store
from ...roles import shaper_briefing
from ...roles.briefing import Briefing
from ...roles.plan_review import review_text
from ...roles.prompts import persona
from ...roles.shaper_briefing import DISCOVERY, PLAN_REVIEWER, PLANNING, REPLANNING

if TYPE_CHECKING:
    from ...config.settings import Config

ROLES = (DISCOVERY, PLANNING, REPLANNING, PLAN_REVIEWER)
NONCE = "preview0"


def feature_prompt(
    store: Store, paths: Paths, config: "Config", git: Git | None, id: str, role: str | None = None
) -> Briefing:
    """The persona and the prompt; the real one differs in its nonce alone. NoSuchFeature, NotAllowed.

    `role` None: the turn that comes next, as it goes on; one of ROLES: one that begins afresh with that persona.
    """
    feature, folder = store.feature(id), f"{paths.folder}/roles"
    if role == PLAN_REVIEWER:
        return _review(store, config, id, folder)
    session = None if feature.session is None else store.session(feature.session)
    told = [] if session is None else [one for one in store.messages(session.id) if one.turn is None]
    cut_off = "" if session is None else str(session.data.get("cut_off", ""))
    resumes = role is None and session is not None and session.begun
    given = shaper_briefing.Given(told, cut_off, NONCE, resumes)
    prompt = shaper_briefing.shaper_turn(store, git, config.forge, feature, given)
    return Briefing(only_seen(persona(role or shaper_briefing.role_of(feature), folder)), prompt)


def _review(store: Store, config: "Config", id: str, folder: str) -> Briefing:
    feature, plans, reviews = store.feature(id), store.plan_versions(id), store.plan_reviews(id)
    if not plans:
        raise NotAllowed(f"feature {id} has no plan to review yet", "Its Shaper says when it is whole.")
    domain = looks(config.forge.rules(), plans, reviews, feature.files)[0]
    text = review_text(feature, plans[-1], domain, feature.round + 1, store.findings(id))
    prompt = shaper_briefing.reviewer_prompt([Message(0, 0, "", 0.0, text)], "", resumes=False)
    return Briefing(only_seen(persona(PLAN_REVIEWER, folder)), prompt)
