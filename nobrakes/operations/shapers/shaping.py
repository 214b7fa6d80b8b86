"""What a feature's Shaper and the reviewers of its plan say: proposals, "the plan is whole", findings.

1. A session speaks for the feature that it serves, and in its part: its Shaper proposes, a reviewer finds.
2. A plan is judged as a plan file is, and all or nothing of it is taken. Its new beads are drafts under the feature's
   epic; a draft of something else is not touched, and what it wants of a live bead waits for a person's yes.
3. Nothing that is said here makes anything live, answers a question or moves a review.
4. The text markers of agents without tools come the same way (`turn` None).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...core.beads import lifecycle
from ...core.beads.bead import Bead, BeadType, Status
from ...core.beads.forms import PRIORITIES
from ...core.errors import Deadlock, NotAllowed, PlanError, UsageError
from ...core.forge import data_keys as keys
from ...core.forge.categories import CATEGORIES
from ...core.forge.feature import FACTS, PLANNED, Feature, Finding, PlanVersion, Stage, State, Step
from ...core.forge.markers import PlanStep
from ...core.forge.plan_changes import changes
from ...core.graph.readiness import Why, deadlocks, explain
from ...core.sessions.session import Turn
from ...core.text.cleaning import clean, redacted
from ...lightjson import dumps
from ...ports.store import Store
from ...roles.plan_beads import is_dropped, nodes_of, under
from ..forge import approving
from ..plan import apply
from ..plan.nodes import Plan, PlanNode

LARGEST_PLAN = 60_000
"""Characters of one proposal."""
MOST_FINDINGS = 30
"""Of one reviewer."""
MOST_FIXES = 6
"""Options of a finding, "accept the risk" left out."""
FIELD, OPTION = 4000, 300

PROPOSED, READY, FOUND = "proposed", "ready", "found"
"""What a turn did, in its data (`did`)."""


def propose(store: Store, session: int, text: str, turn: Turn | None = None) -> apply.PlanReport:
    """File what the Shaper proposes. NotAllowed, PlanError, UsageError, Deadlock: nothing was written."""
    if len(text) > LARGEST_PLAN:
        raise UsageError(f"the plan has more than {LARGEST_PLAN} characters", "Propose it in parts.")
    plan = apply.plan_in(redacted(clean(text)), "plan")
    if not plan.nodes:
        raise PlanError("plan: it has no bead", "`nobrakes plan example` prints the format.")
    with store.together():
        feature = _planned(store, session)
        try:
            made = approving.propose(store, _of_feature(store, feature, plan), _name(session))
        except apply.PlanDeadlock as error:
            raise Deadlock(str(error), "Take the named dependencies out of the plan; nothing was written.") from None
        if made.new or made.changed or made.proposed:
            _changed(store, feature, _name(session))
        _did(store, turn, PROPOSED)
    return made


def _changed(store: Store, feature: Feature, actor: str) -> None:
    """The plan is another: what was signed off was the one before, and its Shaper says when this one is whole."""
    if feature.stage is Stage.DISCOVERY:
        store.move_feature(feature.id, Step.PROPOSED, actor)
    if feature.stage is Stage.REVIEW:
        store.note_feature(feature.id, {keys.SIGNED: None, keys.SIGN_OFF_ASKED: None, keys.REVISING: True}, actor)


def propose_steps(store: Store, session: int, steps: Sequence[PlanStep]) -> apply.PlanReport:
    """File the steps of a turn's words, each after the one before it; steps with parts become epics."""
    feature, _ = _served(store, session, as_reviewer=False)
    parents = {step.parent for step in steps}
    last: dict[str, str] = {}
    beads: list[dict[str, Any]] = []
    for step in steps:
        node: dict[str, Any] = {"id": _bead_id(feature.id, step.id), "title": _one_line(step.title)}
        node["description"] = step.description
        if step.id in parents:
            node["type"] = BeadType.EPIC.value
        if step.parent:
            node["epic"] = _bead_id(feature.id, step.parent)
        elif step.id not in parents and last.get(""):
            node["needs"] = [last[""]]
        if step.parent and last.get(step.parent):
            node["needs"] = [last[step.parent]]
        last[step.parent] = node["id"] if step.id not in parents else last.get(step.parent, "")
        beads.append(node)
    return propose(store, session, dumps({"beads": beads}))


def _bead_id(feature: str, step: str) -> str:
    """The same step has the same bead in every turn."""
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in step).strip("-")
    return f"{feature[:40]}-{kept[:20] or 'step'}"


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:300]


def _of_feature(store: Store, feature: Feature, plan: Plan) -> Plan:
    """The plan with its new beads under the feature's epic; PlanError for one that reaches for something else."""
    own = {feature.id, *under(store, feature.id)}
    named = {name for node in plan.nodes for name in (node.id, node.key) if name}
    known = {bead.id: bead for bead in store.beads(ids=named)} if named else {}
    nodes, problems = [], []
    for node in plan.nodes:
        bead = known.get(node.id or "")
        why = _refused(feature, node, bead, own | (named - set(known)))
        if why:
            problems.append(f"{plan.source}: {node.where}: {why}")
        is_new = bead is None and node.fields.get("epic") is None
        nodes.append(replace(node, fields={**node.fields, "epic": feature.id}) if is_new else node)
    if problems:
        raise PlanError("\n".join(problems), "Nothing was written. Propose only beads of your feature.")
    return replace(plan, nodes=tuple(nodes))


def _refused(feature: Feature, node: PlanNode, bead: Bead | None, own: set[str]) -> str:
    """Why this feature's Shaper may not want that; empty: it may. `own`: its beads, and the plan's new ones."""
    if node.id == feature.id:
        return f"{feature.id} is the feature itself, and its text is a person's"
    if isinstance((node.fields.get("metadata") or {}).get(FACTS), dict):
        return f"its metadata say '{FACTS}', where nobrakes keeps the facts of a feature"
    if bead is not None and bead.status is Status.DRAFT and bead.id not in own:
        return f"{bead.id} is a draft, and none of feature {feature.id}"
    epic = node.fields.get("epic")
    if "epic" in node.fields and (bead is None or bead.id in own):
        if epic is None and bead is not None:
            return f"{bead.id} belongs to feature {feature.id}, and stays under it"
        if epic is not None and epic not in own:
            return f"its epic '{epic[:64]}' is none of feature {feature.id}"
    return ""


def plan_ready(store: Store, session: int, turn: Turn | None = None) -> PlanVersion:
    """The Shaper says that the plan is whole: keep a version of it. NotAllowed where it is none yet, and why."""
    with store.together():
        feature = _planned(store, session)
        waiting = [one for one in store.escalations() if one.session == session]
        if waiting:
            numbers = ", ".join(str(one.id) for one in waiting[:10])
            raise NotAllowed(
                f"the plan is not whole while questions wait for a person: {numbers}",
                "End your turn: the answers come with the next one.",
            )
        nodes = nodes_of(store, feature.id)
        if feature.replannings and not _waits(nodes):
            return _unchanged(store, feature, nodes, session, turn)
        _judge(store, feature, nodes)
        version = store.plan_version(feature.id)
        is_new = version is None or not changes(version.beads, nodes).is_empty  # how far its live beads are is no plan
        if version is None or is_new:
            version = store.keep_plan(feature.id, nodes, "its Shaper says that it is whole", _name(session))
        over = {keys.REVISING: None, **({keys.SIGNED: None} if is_new else {})}
        store.note_feature(feature.id, over, _name(session))
        clean = 0 if is_new else feature.clean
        store.move_feature(feature.id, Step.PLAN_READY, _name(session), f"version {version.number}", clean=clean)
        _did(store, turn, READY)
    return version


def _unchanged(
    store: Store, feature: Feature, nodes: Sequence[Mapping[str, Any]], session: int, turn: Turn | None
) -> PlanVersion:
    """A plan that was approved before is whole as it is: nothing goes live by that, and it is built on."""
    store.note_feature(feature.id, {keys.REVISING: None, keys.SIGNED: None}, _name(session))
    version = store.keep_plan(feature.id, nodes, "nothing of the plan changes", _name(session))
    store.move_feature(feature.id, Step.APPROVED, _name(session), "nothing of the plan changes")
    _did(store, turn, READY)
    return version


def _waits(nodes: Sequence[Mapping[str, Any]]) -> bool:
    """Whether something of the plan waits for a person's yes."""
    return any(n["status"] == Status.DRAFT.value or n.get("proposed") for n in nodes)


def _judge(store: Store, feature: Feature, nodes: Sequence[Mapping[str, Any]]) -> None:
    """NotAllowed for a plan that is empty, or in which a bead could never start."""
    work = [n for n in nodes if n.get("type") != BeadType.EPIC.value and not is_dropped(n)]
    waits = [n for n in nodes if n["status"] == Status.DRAFT.value or n.get("proposed")]
    if not work or not waits:
        raise NotAllowed(
            f"feature {feature.id} has no plan yet: nothing is proposed under it",
            "Propose its beads: `nobrakes agent propose -`.",
        )
    ids = [n["id"] for n in work]
    found, edges = store.around([feature.id, *(n["id"] for n in nodes)])
    drafts = {node.id for node in found if node.status is Status.DRAFT}
    live = {bead.id: lifecycle.live(bead).status for bead in (store.beads(ids=drafts) if drafts else ())}
    seen = [node._replace(status=live.get(node.id, node.status)) for node in found]
    explained = explain(seen, edges, store.now())
    never = (Why.BLOCKED_FOR_EVER, Why.DEADLOCKED)
    wrong = [reason.text for id_ in ids if id_ in explained for reason in explained[id_].reasons if reason.why in never]
    if wrong or deadlocks(seen, edges):
        raise NotAllowed(
            "the plan is not whole, since a bead could never start: " + "; ".join(wrong[:5]),
            "Propose it without what it waits for in vain.",
        )


def find(
    store: Store,
    session: int,
    issue: str,
    impact: str,
    options: Sequence[str],
    category: str,
    priority: int,
    bead: str,
    turn: Turn | None = None,
) -> Finding:
    """Keep what a reviewer found; the same issue said again is one finding. NotAllowed, UsageError."""
    with store.together():
        feature, domain = _served(store, session, as_reviewer=True)
        if feature.stage is not Stage.REVIEW:
            raise NotAllowed(f"the plan of feature {feature.id} is not under review", "End your turn.")
        if category not in CATEGORIES:
            raise UsageError(f"'{clean(category)[:40]}' is no category", f"Use one of: {', '.join(CATEGORIES)}.")
        if priority not in PRIORITIES:
            raise UsageError("the priority of a finding has to be 1, 2 or 3", "1 must be mended, 3 may be.")
        text = _bounded(issue, FIELD)
        earlier = [one for one in store.findings(feature.id, feature.round) if one.domain == domain]
        same = next((one for one in earlier if one.issue == text), None)
        if same is not None:
            return same
        if len(earlier) >= MOST_FINDINGS:
            raise NotAllowed(f"a reviewer has at most {MOST_FINDINGS} findings", "End your turn.")
        if bead and bead not in {node["id"] for node in store.plan_versions(feature.id)[-1].beads}:
            raise UsageError(f"the plan has no bead '{clean(bead)[:64]}'", "Leave it out, or name one of the plan.")
        fixes = tuple(dict.fromkeys(_bounded(one, OPTION) for one in options[:MOST_FIXES] if one.strip()))
        made = Finding(
            0,
            feature.id,
            feature.round,
            domain,
            category.replace("_", " "),
            priority,
            text,
            _bounded(impact, FIELD),
            fixes,
            bead or None,
        )
        found = store.add_finding(made)
        _did(store, turn, FOUND)
    return found


def _bounded(text: str, most: int) -> str:
    return redacted(clean(text)).strip()[:most]


def _name(session: int) -> str:
    return f"Session {session}"


def _did(store: Store, turn: Turn | None, what: str) -> None:
    if turn is not None:
        store.did(turn.id, what)


def _served(store: Store, session: int, *, as_reviewer: bool) -> tuple[Feature, str]:
    """The feature that the session serves in this part, and its domain; NotAllowed."""
    found = store.feature_of_session(session)
    if found is None:
        raise NotAllowed(
            "this session serves no feature, so it proposes nothing for one", "Say it in your last message."
        )
    if as_reviewer and not found[1]:
        raise NotAllowed(
            "this session makes the plan: others review it",
            "Use `nobrakes agent propose` and `nobrakes agent plan-ready`.",
        )
    if found[1] and not as_reviewer:
        raise NotAllowed("this session reviews the plan: it says what it found", "Use `nobrakes agent finding`.")
    return found


def _planned(store: Store, session: int) -> Feature:
    """The feature whose plan the session may change now."""
    feature, _ = _served(store, session, as_reviewer=False)
    if feature.state is not State.ACTIVE or feature.stage not in PLANNED:
        where = feature.state.value if feature.state is not State.ACTIVE else feature.stage.value
        raise NotAllowed(
            f"feature {feature.id} is not being planned now: it is {where.replace('_', ' ')}",
            "Say what should change in your last message: a person asks for it.",
        )
    return feature
