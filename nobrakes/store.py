"""The store: all that can be asked of the database and done to it, each by one name.

A function stands in the `db` of its subject, with the database as its first parameter; each is one transaction. A new
one is written there and named here. Several calls are one transaction inside `write`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .db.database import MEMORY, Database, secret
from .records import frozen


# A command asks few subjects: the SQL of the others, and the records that it makes, are not loaded for it.
class Later:
    """A module imported at the first call of one of its functions as a store's method."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> "_Method":
        return _Method(self._module, name)


class _Method:
    def __init__(self, module: str, function: str) -> None:
        self._module = module
        self._function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._name = owner, name

    def __get__(self, store: object, owner: type) -> Any:
        function = getattr(import_module(self._module), self._function)
        setattr(self._owner, self._name, function)
        return getattr(owner if store is None else store, self._name)


if TYPE_CHECKING:
    from .agents.db import spending
    from .beads.db import attempts as attempts_db
    from .beads.db import graph_writes, importing, moves
    from .beads.db import levels as levels_db
    from .daemon import db as daemon_db
    from .db import queries
    from .decisions import db as decisions_db
    from .events import db as events_db
    from .features import db as features_db
    from .host.port import Clock
    from .notices import db as notices_db
    from .projects import db as projects_db
    from .requests import db as requests_db
    from .sessions import db as sessions_db
    from .snapshot import db as snapshot_db
else:
    spending = Later("nobrakes.agents.db.spending")
    attempts_db = Later("nobrakes.beads.db.attempts")
    levels_db = Later("nobrakes.beads.db.levels")
    importing = Later("nobrakes.beads.db.importing")
    moves = Later("nobrakes.beads.db.moves")
    graph_writes = Later("nobrakes.beads.db.graph_writes")
    transitions = Later("nobrakes.beads.db.transitions")
    daemon_db = Later("nobrakes.daemon.db")
    queries = Later("nobrakes.db.queries")
    decisions_db = Later("nobrakes.decisions.db")
    events_db = Later("nobrakes.events.db")
    features_db = Later("nobrakes.features.db")
    notices_db = Later("nobrakes.notices.db")
    projects_db = Later("nobrakes.projects.db")
    requests_db = Later("nobrakes.requests.db")
    sessions_db = Later("nobrakes.sessions.db")
    snapshot_db = Later("nobrakes.snapshot.db")


class Store(Database):
    """Facts about beads, attempts, escalations; every change is one transaction with its event."""

    def __init__(
        self, path: str, clock: "Clock | None" = None, create: bool = False, token_source: Callable[[], str] = secret
    ) -> None:
        super().__init__(path, clock.now if clock is not None else None, create, token_source)

    # beads/db/attempts
    open_attempt = attempts_db.open_attempt
    close_attempt = attempts_db.close_attempt
    hand_in = attempts_db.hand_in
    journal = attempts_db.journal
    attempt = attempts_db.get_attempt
    bead_of_attempt = attempts_db.bead_of_attempt
    attempts = attempts_db.attempts
    renew = attempts_db.renew
    count_on = attempts_db.count_on
    attempt_of_token = attempts_db.attempt_of_token
    is_session = attempts_db.is_session
    hold_session = attempts_db.hold_session

    # beads/db/importing
    differences = importing.stored_differences
    recount = importing.recount
    damage = importing.problems
    wrong_counters = importing.wrong_counters
    check = importing.check
    circles = importing.stored_circles
    move_times = importing.move_times

    # beads/db/levels
    critical_path = levels_db.critical_path
    learn = levels_db.relearn
    typical_minutes = levels_db.typical_minutes
    levels_lag = levels_db.is_due
    nodes = levels_db.all_nodes
    nodes_of = levels_db.nodes_of

    # beads/db/graph_writes
    put = graph_writes.put
    change = graph_writes.change
    approve = graph_writes.approve
    add_dependency = graph_writes.add_dependency
    remove_dependency = graph_writes.remove_dependency
    propose = graph_writes.propose
    as_said = graph_writes.as_said
    as_written = graph_writes.as_written
    ready_once_approved = graph_writes.ready_once_approved

    # beads/db/moves
    bead = moves.get_bead

    # beads/db/transitions
    record = moves.record

    # agents/db/spending
    gates = spending.gates
    breakers = spending.breakers
    save_breaker = spending.save_breaker
    reset_breakers = spending.reset_breakers
    spend = spending.spend
    spent_since = spending.spent_since
    cost_of = spending.cost_of
    cost_since = spending.cost_since
    costliest = spending.costliest

    # daemon/db
    board = daemon_db.board
    standstill = daemon_db.standstill

    # snapshot/db
    restore = snapshot_db.restore
    bring_back = snapshot_db.bring_back

    # db/queries
    plan_run = queries.plan_run
    update_run = queries.update_run
    end_run = queries.end_run
    runs = queries.runs
    setting = queries.setting
    set_setting = queries.set_setting
    touched = queries.touched
    counts = queries.counts
    column = queries.column
    own_dependencies = queries.own_dependencies
    columns = queries.columns
    ready_ids = queries.ready_ids
    found = queries.found
    around = queries.around
    levels = queries.levels
    listed = queries.listed
    how_many = queries.how_many
    ready = queries.ready
    beads = queries.beads
    proposed = queries.proposed
    has_sprints = queries.has_sprints
    has_features = queries.has_features
    dependencies = queries.dependencies
    reviewing = queries.reviewing
    reviews = queries.reviews
    agents = queries.agents
    merges = queries.merges
    main_moved = queries.main_moved
    merged_since = queries.merged_since
    validation = queries.validation
    passed_otherwise = queries.passed_otherwise
    proven = queries.proven
    save_validation = queries.save_validation
    request = queries.request
    keep_request = queries.keep_request
    noting = queries.noting
    forget_requests = queries.forget_requests

    # decisions/db
    escalate = decisions_db.escalate
    escalations = decisions_db.listed
    escalations_as_filed = decisions_db.as_filed
    escalation = decisions_db.escalation
    behind = decisions_db.waits_behind
    answer = decisions_db.answer
    take_back = decisions_db.take_back
    act_by = decisions_db.act_by
    resolve = decisions_db.resolve
    start_cooldown = decisions_db.start_cooldown
    end_cooldown = decisions_db.end_cooldown

    # events/db
    events = events_db.after
    latest_events = events_db.latest
    changes = events_db.changes
    position = events_db.position
    alike = events_db.alike

    # features/db
    begin_feature = features_db.begin
    feature = features_db.get_feature
    features = features_db.features
    feature_of_session = features_db.get_session_feature
    move_feature = features_db.move
    change_feature = features_db.change
    note_feature = features_db.note
    keep_plan = features_db.keep_plan
    plan_version = features_db.version
    plan_versions = features_db.versions
    begin_review = features_db.begin_review
    end_review = features_db.end
    plan_reviews = features_db.reviews
    add_finding = features_db.add_finding
    resolve_finding = features_db.resolve_finding
    ask_of_finding = features_db.ask_of
    close_finding_questions = features_db.close_questions
    findings = features_db.findings
    collect = features_db.collect
    items = features_db.items
    resolve_items = features_db.resolve_items

    # notices/db
    add_notices = notices_db.add
    unrouted_notices = notices_db.unrouted
    route_notices = notices_db.route
    queues = notices_db.queues
    next_delivery = notices_db.first
    hold_deliveries = notices_db.hold
    release_deliveries = notices_db.release
    drop_answered = notices_db.drop_answered
    make_digest = notices_db.make_digest
    finish_delivery = notices_db.settle
    end_other_channels = notices_db.end_others
    open_questions = notices_db.open_questions
    deliveries = notices_db.listed
    prune_notices = notices_db.prune

    # projects/db
    begin_sprints = projects_db.begin_sprints
    sprints_going = projects_db.sprints_going
    sprints = projects_db.sprints
    set_run_state = projects_db.set_run_state
    sprints_cost = projects_db.sprints_cost
    add_sprint = projects_db.add_sprint
    change_sprint = projects_db.change_sprint
    sprint_of = projects_db.sprint_of
    hand_in_document = projects_db.hand_in_document
    add_schedule = projects_db.add_schedule
    remove_schedule = projects_db.remove_schedule
    schedules = projects_db.schedules
    record_due = projects_db.record_due

    # requests/db
    pull = requests_db.pull
    pulls = requests_db.pulls
    save_pull = requests_db.save_pull
    requested = requests_db.requested
    issues = requests_db.issues
    issues_to_post = requests_db.issues_to_post
    save_issue = requests_db.save_issue

    # sessions/db
    renew_session = sessions_db.renew
    did = sessions_db.did
    begin_session = sessions_db.begin
    say = sessions_db.say
    note_session = sessions_db.note
    session = sessions_db.get_session
    sessions = sessions_db.sessions
    code_reviews = sessions_db.code_reviews
    messages = sessions_db.messages
    turn = sessions_db.get_turn
    turns = sessions_db.turns
    open_turn = sessions_db.open_turn
    turn_messages = sessions_db.turn_messages
    note_turn = sessions_db.note_turn
    hear_session = sessions_db.hear
    spend_turn = sessions_db.spend
    close_turn = sessions_db.close_turn
    stop_session = sessions_db.ask_to_stop
    end_session = sessions_db.end
    turn_of_token = sessions_db.turn_of_token


def open_store(path: str, clock: "Clock | None" = None) -> Store:
    """StoreBroken: missing, damaged or of another version."""
    return Store(path, clock)


def create_store(path: str, clock: "Clock | None" = None) -> Store:
    return Store(path, clock, create=True)


@frozen
class _Given:
    """A clock made of a function."""

    now: Callable[[], float]


def open_memory(now: Callable[[], float] | None = None) -> Store:
    """An empty store in memory with reproducible tokens: for tests and simulation."""
    clock = None if now is None else _Given(now)
    store = Store(MEMORY, clock, create=True, token_source=lambda: "memory")
    store.keep_answers()
    return store
