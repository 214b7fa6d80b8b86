"""What is known of a project's sprints, for the decider: one question to the store where no run goes on."""

from ...core.beads.bead import WAITING_FOR_AGENT, Role, Status
from ...core.beads.escalations import EscalationType
from ...core.beads.taking import is_handed_back
from ...core.beads.taking_back import is_built
from ...core.projects import documents, terms
from ...core.projects.sprint import Going, Kind, RunState, Sprint, Stage, changed
from ...core.projects.sprints import Facts, Planner, Work
from ...core.sessions.session import State
from ...ports import Store
from ..ports import Ports
from .main_files import MainFiles

_BUSY = (State.READY, State.RUNNING, State.ASKING)


def facts(ports: Ports) -> tuple[Going, Facts] | None:
    """The last run and what is known of it; None: none goes on."""
    going = ports.store.sprints_going()
    if going is None or going.run.state is not RunState.GOING:
        return None
    return going, _between(ports, going) if going.sprint is None else _inside(ports, going, going.sprint)


def terms_now(ports: Ports, brief: str) -> dict[str, str]:
    """What a yes would be given for now."""
    return terms.terms(brief, ports.config().contract(), ports.limits().caps)


def _changed(ports: Ports, going: Going, main: MainFiles) -> tuple[str, ...]:
    return changed(going.run.terms, terms_now(ports, main.text(terms.BRIEF)))


def _inside(ports: Ports, going: Going, sprint: Sprint) -> Facts:
    store, stage = ports.store, sprint.stage
    begins = stage is Stage.EXECUTING and sprint.bead is None
    return Facts(
        going.run,
        sprint,
        going.done,
        going.last,
        changed=_changed(ports, going, MainFiles(ports.git, ports.git.main())) if begins else (),
        has_plan=any(one.kind is Kind.PLAN for one in going.documents),
        planner=_planner(store, sprint.session) if stage is Stage.PLANNING else None,
        opening=_work(going, store, sprint.opening) if stage is Stage.OPENING else None,
        work=_work(going, store, sprint.bead) if stage is Stage.EXECUTING else None,
        closing=_work(going, store, sprint.closing) if stage is Stage.CLOSING else None,
    )


def _between(ports: Ports, going: Going) -> Facts:
    main = MainFiles(ports.git, ports.git.main())
    texts = main.documents()
    boxes = documents.criteria(texts.get(terms.BRIEF, ""))
    last = max((one.number for one in documents.sprints(texts)), default=0)
    return Facts(
        going.run,
        None,
        going.done,
        max(going.last, last),
        changed=_changed(ports, going, main),
        criteria=len(boxes),
        open=sum(not box.is_checked for box in boxes),
        findings=len(main.findings(texts)) if going.done else 0,
    )


def _planner(store: Store, number: int | None) -> Planner | None:
    if number is None:
        return None
    session = store.session(number)
    return Planner(session.state in _BUSY, session.state is State.STUCK, session.ended_at is not None)


def _work(going: Going, store: Store, id_: str | None) -> Work | None:
    if id_ is None:
        return None
    bead = store.bead(id_)
    if bead.status in (Status.DONE, Status.CANCELLED):
        return Work(bead.status)
    attempts = store.attempts(id_)
    conflict = bead.status is Status.ESCALATED and any(
        one.type is EscalationType.CONFLICT for one in store.escalations(bead=id_)
    )
    back = bead.status in WAITING_FOR_AGENT and is_handed_back(bead.held)
    since = going.run.created_at  # a new yes is for so many tries again
    tries = sum(one.role is Role.PERSON and one.started_at >= since for one in attempts)
    return Work(bead.status, (back or conflict) and is_built(attempts), tries)
