"""How a database of an earlier version becomes one of this version, with everything in it.

1. One step for each version; a released step never changes.
2. All steps and the new number are one transaction, so a crash leaves the earlier version.
3. The result equals schema.sql; a test compares them for each landed schema.
4. Versions 5 and 7 landed with several texts under one number: step 7 looks at what is there.
"""

from collections.abc import Callable, Mapping
from sqlite3 import Connection

from .fast import VERSION

_ATTEMPTS_HAVE_COSTS = (
    "ALTER TABLE attempts ADD COLUMN provider VARCHAR DEFAULT '' NOT NULL",
    "ALTER TABLE attempts ADD COLUMN model VARCHAR DEFAULT '' NOT NULL",
    "ALTER TABLE attempts ADD COLUMN cost_usd FLOAT DEFAULT 0 NOT NULL",
    "ALTER TABLE attempts ADD COLUMN tokens INTEGER DEFAULT 0 NOT NULL",
    "CREATE INDEX attempts_by_time ON attempts (started_at)",
)
_GATES = """CREATE TABLE gates (provider VARCHAR NOT NULL, reason VARCHAR NOT NULL, detail VARCHAR NOT NULL,
since FLOAT NOT NULL, until FLOAT NOT NULL, times INTEGER NOT NULL, told BOOLEAN NOT NULL, PRIMARY KEY (provider))"""
_BREAKERS = """CREATE TABLE breakers (bead VARCHAR NOT NULL, provider VARCHAR NOT NULL, state VARCHAR NOT NULL,
idle INTEGER NOT NULL, same INTEGER NOT NULL, error VARCHAR NOT NULL, PRIMARY KEY (bead, provider),
FOREIGN KEY(bead) REFERENCES beads (id))"""


def _to_3(connection: Connection) -> None:
    connection.execute("ALTER TABLE beads ADD COLUMN branch VARCHAR DEFAULT '' NOT NULL")
    connection.execute("UPDATE beads SET branch = type || '/bead-' || id WHERE id IN (SELECT bead FROM attempts)")


_SESSIONS = """CREATE TABLE sessions (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, kind VARCHAR NOT NULL,
owner VARCHAR NOT NULL, title VARCHAR NOT NULL, agent VARCHAR NOT NULL, provider VARCHAR NOT NULL,
model VARCHAR NOT NULL, provider_session VARCHAR, begun BOOLEAN NOT NULL, disputed BOOLEAN NOT NULL, attempt INTEGER,
state VARCHAR NOT NULL, failures INTEGER NOT NULL, retry_at FLOAT, stop_asked BOOLEAN NOT NULL,
detail VARCHAR NOT NULL, cost_usd FLOAT NOT NULL, tokens INTEGER NOT NULL, created_at FLOAT NOT NULL,
updated_at FLOAT NOT NULL, ended_at FLOAT, data VARCHAR NOT NULL)"""
_TURNS = """CREATE TABLE turns (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL,
number INTEGER NOT NULL, token VARCHAR NOT NULL, resumes BOOLEAN NOT NULL, provider VARCHAR NOT NULL,
started_at FLOAT NOT NULL, ended_at FLOAT, outcome VARCHAR, detail VARCHAR NOT NULL, cost_usd FLOAT NOT NULL,
tokens INTEGER NOT NULL, data VARCHAR NOT NULL, FOREIGN KEY(session) REFERENCES sessions (id))"""
_MESSAGES = """CREATE TABLE messages (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL,
author VARCHAR NOT NULL, at FLOAT NOT NULL, text VARCHAR NOT NULL, turn INTEGER, escalation INTEGER,
FOREIGN KEY(session) REFERENCES sessions (id), FOREIGN KEY(turn) REFERENCES turns (id),
FOREIGN KEY(escalation) REFERENCES escalations (id))"""
_NOTICES = """CREATE TABLE notices (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, kind VARCHAR NOT NULL,
severity VARCHAR NOT NULL, text VARCHAR NOT NULL, bead VARCHAR, session INTEGER, escalation INTEGER,
link VARCHAR NOT NULL, fingerprint VARCHAR NOT NULL, created_at FLOAT NOT NULL, routed BOOLEAN NOT NULL,
told_at FLOAT)"""
_DELIVERIES = """CREATE TABLE deliveries (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, notice INTEGER NOT NULL,
channel VARCHAR NOT NULL, state VARCHAR NOT NULL, due_at FLOAT NOT NULL, tries INTEGER NOT NULL, ended_at FLOAT,
error VARCHAR NOT NULL, digest INTEGER, FOREIGN KEY(notice) REFERENCES notices (id))"""
_REQUESTS = """CREATE TABLE requests ("key" VARCHAR NOT NULL, command VARCHAR NOT NULL, actor VARCHAR NOT NULL,
at FLOAT NOT NULL, result VARCHAR NOT NULL, PRIMARY KEY ("key"))"""
_RUNS_OF_TURNS = """CREATE TABLE runs_4 (id VARCHAR NOT NULL, attempt INTEGER, turn INTEGER, kind VARCHAR NOT NULL,
started_at FLOAT NOT NULL, pid INTEGER, born VARCHAR NOT NULL, hard_deadline FLOAT NOT NULL,
idle_seconds FLOAT NOT NULL, active_at FLOAT NOT NULL, sampled_at FLOAT NOT NULL, activity VARCHAR NOT NULL,
stopping VARCHAR, term_at FLOAT, PRIMARY KEY (id), FOREIGN KEY(attempt) REFERENCES attempts (id),
FOREIGN KEY(turn) REFERENCES turns (id))"""
_BREAKERS_OF_OWNERS = """CREATE TABLE breakers_4 (owner VARCHAR NOT NULL, provider VARCHAR NOT NULL,
state VARCHAR NOT NULL, idle INTEGER NOT NULL, same INTEGER NOT NULL, error VARCHAR NOT NULL,
PRIMARY KEY (owner, provider))"""
_INDEXES = (
    "CREATE UNIQUE INDEX sessions_by_provider_session ON sessions (provider_session)",
    "CREATE INDEX sessions_going ON sessions (id) WHERE ended_at IS NULL AND kind <> 'attempt'",
    "CREATE UNIQUE INDEX turns_of_session ON turns (session, number)",
    "CREATE UNIQUE INDEX turns_open ON turns (session) WHERE outcome IS NULL",
    "CREATE INDEX turns_by_time ON turns (started_at)",
    "CREATE INDEX messages_of_session ON messages (session, id)",
    "CREATE INDEX notices_by_fingerprint ON notices (fingerprint, created_at)",
    "CREATE INDEX notices_unrouted ON notices (id) WHERE routed = 0",
    "CREATE INDEX deliveries_due ON deliveries (channel, due_at) WHERE state = 'due'",
    "CREATE INDEX deliveries_of_notice ON deliveries (notice)",
    "CREATE INDEX requests_by_time ON requests (at)",
)
_NEW_COLUMNS = (
    "ALTER TABLE attempts ADD COLUMN session INTEGER REFERENCES sessions (id)",
    "ALTER TABLE escalations ADD COLUMN session INTEGER REFERENCES sessions (id)",
    "ALTER TABLE escalations ADD COLUMN form VARCHAR DEFAULT '' NOT NULL",
    "ALTER TABLE escalations ADD COLUMN value VARCHAR",
    "ALTER TABLE escalations ADD COLUMN read_at FLOAT",
    "UPDATE escalations SET read_at = answered_at",  # nobody wrote down who had read an answer
)
_MOVED = (
    "INSERT INTO runs_4 SELECT id, attempt, NULL, kind, started_at, pid, born, hard_deadline, idle_seconds, active_at, "
    "sampled_at, activity, stopping, term_at FROM runs",
    "DROP TABLE runs",
    "ALTER TABLE runs_4 RENAME TO runs",
    "INSERT INTO breakers_4 SELECT 'bead:' || bead, provider, state, idle, same, error FROM breakers",
    "DROP TABLE breakers",
    "ALTER TABLE breakers_4 RENAME TO breakers",
)
_SESSIONS_OF_ATTEMPTS = (
    # whose it is says the setting `session:<id>`; 0: agents of two beads said that it is theirs
    """INSERT INTO sessions (kind, owner, title, agent, provider, model, provider_session, begun, disputed, attempt,
state, failures, stop_asked, detail, cost_usd, tokens, created_at, updated_at, data)
SELECT 'attempt', 'bead:' || bead, '', agent, provider, model, json_extract(data, '$.session'),
    max(coalesce(json_extract(data, '$.begun'), 0)), 0, max(id), 'idle', 0, 0, '', sum(cost_usd), sum(tokens),
    min(started_at), max(started_at), '{}'
FROM attempts WHERE json_extract(data, '$.session') IS NOT NULL GROUP BY json_extract(data, '$.session')""",
    """UPDATE sessions SET disputed = 1 WHERE 'session:' || provider_session IN
(SELECT key FROM settings WHERE value = '0')""",
    """UPDATE sessions SET attempt = (SELECT CAST(value AS INTEGER) FROM settings
WHERE key = 'session:' || provider_session) WHERE disputed = 0 AND 'session:' || provider_session IN
(SELECT key FROM settings)""",
    """UPDATE attempts SET session = (SELECT id FROM sessions
WHERE provider_session = json_extract(attempts.data, '$.session'))
WHERE json_extract(data, '$.session') IS NOT NULL""",
    "UPDATE attempts SET data = json_remove(data, '$.session')",
    "DELETE FROM settings WHERE key LIKE 'session:%'",
)

_LEVELS_DUE = (
    """CREATE TABLE levels_due (id VARCHAR NOT NULL, level INTEGER NOT NULL, PRIMARY KEY (id),
FOREIGN KEY(id) REFERENCES beads (id))""",
    "CREATE INDEX levels_due_lowest ON levels_due (level, id)",
)


def _to_5(connection: Connection) -> None:
    connection.execute("ALTER TABLE bead_text ADD COLUMN proposed VARCHAR DEFAULT '{}' NOT NULL")
    connection.execute("CREATE INDEX bead_text_proposed ON bead_text (id) WHERE proposed <> '{}'")
    for statement in _LEVELS_DUE:
        connection.execute(statement)


_FEATURES = (
    """CREATE TABLE features ( id VARCHAR NOT NULL, criteria VARCHAR NOT NULL, files VARCHAR NOT NULL, notes
VARCHAR NOT NULL, base VARCHAR NOT NULL, stage VARCHAR NOT NULL, state VARCHAR NOT NULL, replannings
INTEGER NOT NULL, session INTEGER, "plan" INTEGER NOT NULL, round INTEGER NOT NULL, clean INTEGER NOT
NULL, turn_at FLOAT NOT NULL, created_at FLOAT NOT NULL, updated_at FLOAT NOT NULL, archived BOOLEAN NOT
NULL, actor VARCHAR NOT NULL, data VARCHAR NOT NULL, PRIMARY KEY (id), FOREIGN KEY(id) REFERENCES beads
(id), FOREIGN KEY(session) REFERENCES sessions (id))""",
    "CREATE INDEX features_going ON features (id) WHERE (state NOT IN ('completed', 'rolled_back') "
    "OR (state = 'completed' AND json_extract(data, '$.rollback') IS NOT NULL))",
    "CREATE INDEX features_of_session ON features (session) WHERE session IS NOT NULL",
    """CREATE TABLE plan_versions ( feature VARCHAR NOT NULL, number INTEGER NOT NULL, at FLOAT NOT NULL, actor
VARCHAR NOT NULL, why VARCHAR NOT NULL, beads VARCHAR NOT NULL, PRIMARY KEY (feature, number), FOREIGN
KEY(feature) REFERENCES features (id))""",
    """CREATE TABLE plan_reviews ( feature VARCHAR NOT NULL, round INTEGER NOT NULL, domain VARCHAR NOT NULL,
"plan" INTEGER NOT NULL, session INTEGER, state VARCHAR NOT NULL, started_at FLOAT NOT NULL, ended_at FLOAT,
detail VARCHAR NOT NULL, PRIMARY KEY (feature, round, domain), FOREIGN KEY(feature) REFERENCES features
(id), FOREIGN KEY(session) REFERENCES sessions (id))""",
    "CREATE INDEX plan_reviews_of_session ON plan_reviews (session) WHERE session IS NOT NULL",
    """CREATE TABLE findings ( id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, feature VARCHAR NOT NULL, round
INTEGER NOT NULL, domain VARCHAR NOT NULL, category VARCHAR NOT NULL, priority INTEGER NOT NULL, issue
VARCHAR NOT NULL, impact VARCHAR NOT NULL, options VARCHAR NOT NULL, bead VARCHAR, state VARCHAR NOT NULL,
escalation INTEGER, answer VARCHAR NOT NULL, FOREIGN KEY(feature) REFERENCES features (id), FOREIGN
KEY(escalation) REFERENCES escalations (id))""",
    "CREATE INDEX findings_asked ON findings (escalation) WHERE escalation IS NOT NULL",
    "CREATE INDEX findings_of_round ON findings (feature, round, id)",
    """CREATE TABLE items ( id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, feature VARCHAR NOT NULL, kind VARCHAR
NOT NULL, text VARCHAR NOT NULL, file VARCHAR NOT NULL, line INTEGER NOT NULL, bead VARCHAR, blocks BOOLEAN
NOT NULL, state VARCHAR NOT NULL, at FLOAT NOT NULL, place VARCHAR NOT NULL, FOREIGN KEY(feature) REFERENCES
features (id))""",
    "CREATE UNIQUE INDEX items_of_place ON items (feature, place)",
)

_IS_OPEN = "open_blockers = 0 AND held IS NULL AND asleep = 0 AND resting = 0 AND assignee IS NULL"
_ORDER = "rank, b_level DESC, dependents DESC, ready_since DESC, id"
_BY_SOURCE = "rank, b_level DESC, dependents DESC, freed_at DESC, created_at"
_IS_AGENTS_WORK = "status IN ('needs_tests', 'needs_doer') AND type <> 'epic'"
_RISEN = "max(0, CAST((julianday('now') - 2440587.5) - ready_since / 86400.0 AS INTEGER))"
_COMPETING = (
    "ALTER TABLE beads ADD COLUMN rises_at FLOAT DEFAULT 0 NOT NULL",
    "ALTER TABLE beads ADD COLUMN dependents INTEGER DEFAULT 0 NOT NULL",
    "DROP INDEX beads_claimable",
    "DROP INDEX beads_reviewable",
    f"UPDATE beads SET rank = priority - {_RISEN}, rises_at = ready_since + ({_RISEN} + 1) * 86400.0",
    """UPDATE beads SET dependents = (SELECT count(*) FROM edges WHERE needs = beads.id AND type = 'blocks')
WHERE id IN (SELECT needs FROM edges WHERE type = 'blocks')""",
    f"CREATE INDEX beads_claimable ON beads ({_ORDER}) WHERE {_IS_AGENTS_WORK} AND {_IS_OPEN}",
    f"CREATE INDEX beads_reviewable ON beads ({_ORDER}) WHERE status = 'needs_review' AND {_IS_OPEN}",
    f"""CREATE INDEX beads_rising ON beads (rises_at)
WHERE (({_IS_AGENTS_WORK} AND {_IS_OPEN}) OR (status = 'needs_review' AND {_IS_OPEN}))""",
    "CREATE INDEX beads_estimated ON beads (estimate) WHERE estimate IS NOT NULL AND type <> 'epic'",
    # what is usual was 1 for all so far: it is learnt from the next estimate on
)
_NO_RUN_OF_THE_BRANCH = """UPDATE attempts SET data = json_set(data, '$.step', 'rebase', '$.validating', '')
WHERE json_extract(data, '$.step') = 'validate_branch'"""

_SPRINTS = (
    """CREATE TABLE sprint_runs ( id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, asked INTEGER NOT NULL, needs_tests
BOOLEAN NOT NULL, terms VARCHAR NOT NULL, state VARCHAR NOT NULL, why VARCHAR NOT NULL, actor VARCHAR NOT
NULL, created_at FLOAT NOT NULL, updated_at FLOAT NOT NULL )""",
    """CREATE UNIQUE INDEX sprint_runs_going ON sprint_runs (state) WHERE state = 'going'""",
    """CREATE TABLE sprints ( number INTEGER NOT NULL, run INTEGER NOT NULL, name VARCHAR NOT NULL, stage VARCHAR NOT
NULL, session INTEGER, bead VARCHAR, opening VARCHAR, closing VARCHAR, nudged INTEGER NOT NULL, began_at FLOAT
NOT NULL, ended_at FLOAT, PRIMARY KEY (number), FOREIGN KEY(run) REFERENCES sprint_runs (id), FOREIGN
KEY(session) REFERENCES sessions (id), FOREIGN KEY(bead) REFERENCES beads (id), FOREIGN KEY(opening)
REFERENCES beads (id), FOREIGN KEY(closing) REFERENCES beads (id) )""",
    """CREATE INDEX sprints_of_bead ON sprints (bead) WHERE bead IS NOT NULL""",
    """CREATE INDEX sprints_of_session ON sprints (session) WHERE session IS NOT NULL""",
    """CREATE TABLE sprint_documents ( id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, sprint INTEGER NOT NULL, kind
VARCHAR NOT NULL, text VARCHAR NOT NULL, actor VARCHAR NOT NULL, at FLOAT NOT NULL, FOREIGN KEY(sprint)
REFERENCES sprints (number) )""",
    """CREATE INDEX sprint_documents_of ON sprint_documents (sprint, id)""",
    """CREATE TABLE schedules ( id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, at VARCHAR NOT NULL, days VARCHAR NOT
NULL, zone VARCHAR NOT NULL, sprints INTEGER NOT NULL, late_hours FLOAT NOT NULL, needs_tests BOOLEAN NOT
NULL, terms VARCHAR NOT NULL, actor VARCHAR NOT NULL, created_at FLOAT NOT NULL, removed_at FLOAT )""",
    """CREATE TABLE schedule_starts ( schedule INTEGER NOT NULL, due FLOAT NOT NULL, came VARCHAR NOT NULL, why
VARCHAR NOT NULL, run INTEGER, at FLOAT NOT NULL, PRIMARY KEY (schedule, due), FOREIGN KEY(schedule)
REFERENCES schedules (id), FOREIGN KEY(run) REFERENCES sprint_runs (id) )""",
)

_COUNTED = ("DROP INDEX beads_status", "CREATE INDEX beads_status ON beads (status, type)")

_READ = "CREATE INDEX sessions_reading ON sessions (owner, id) WHERE kind = 'code_review'"

_STACKED = (
    "ALTER TABLE beads ADD COLUMN stacks_on VARCHAR",
    "CREATE INDEX beads_stacked ON beads (stacks_on) WHERE stacks_on IS NOT NULL",
)

_OWN_TITLES = ("title", "description")
_OTHER_INDEXES = (
    *("DROP INDEX IF EXISTS plan_reviews_running", "DROP INDEX IF EXISTS features_going"),
    "CREATE INDEX features_going ON features (id) WHERE (state NOT IN ('completed', 'rolled_back') "
    "OR (state = 'completed' AND json_extract(data, '$.rollback') IS NOT NULL))",
    *_COUNTED,
)
_PARTS = (
    *_LEVELS_DUE,
    "CREATE INDEX plan_reviews_of_session ON plan_reviews (session) WHERE session IS NOT NULL",
    *(*_SPRINTS, _READ),
)


def _columns(connection: Connection, table: str) -> set[str]:
    return {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}


def _to_8(connection: Connection) -> None:
    """Every database gets the final version 7, whichever commit made it."""
    for column in _columns(connection, "features").intersection(_OWN_TITLES):
        connection.execute(f"ALTER TABLE features DROP COLUMN {column}")  # a feature has its epic's
    if "stacks_on" not in _columns(connection, "beads"):
        for statement in _STACKED:
            connection.execute(statement)
    there = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    missing = (one for one in _PARTS if one.split(" ON ")[0].split(" (")[0].split()[-1] not in there)
    for statement in (*_OTHER_INDEXES, *missing, _NO_RUN_OF_THE_BRANCH):
        connection.execute(statement)


_UNSTACKED = (
    """INSERT INTO notices (kind, severity, text, bead, link, fingerprint, created_at, routed)
SELECT 'pull_request', 'warning', id || ' stacks on the pull request of ' || stacks_on || ', and requests do not ' ||
'stack any more: it waits until that one is merged, and where its own is open already, it is built anew on the ' ||
'branch that people merge it to', id, '', '', CAST(strftime('%s', 'now') AS REAL), 0
FROM beads WHERE stacks_on IS NOT NULL AND status NOT IN ('done', 'cancelled')""",
    """UPDATE beads SET open_blockers = open_blockers + 1 WHERE EXISTS (
SELECT 1 FROM edges JOIN beads AS below ON below.id = edges.needs
WHERE edges.bead = beads.id AND edges.needs = beads.stacks_on AND edges.type = 'blocks' AND below.status <> 'done'
AND NOT (below.status = 'landed' AND below.epic IS NOT NULL AND below.epic IS beads.epic))""",
    "DROP INDEX beads_stacked",
    "ALTER TABLE beads DROP COLUMN stacks_on",
)


_IN_THE_ORDER_OF_THE_SOURCE = (
    "ALTER TABLE beads ADD COLUMN freed_at FLOAT DEFAULT 0 NOT NULL",
    """UPDATE beads SET freed_at = ready_since
WHERE EXISTS (SELECT 1 FROM edges WHERE bead = beads.id AND type = 'blocks')""",
    "DROP INDEX beads_claimable",
    "DROP INDEX beads_reviewable",
    f"CREATE INDEX beads_claimable ON beads ({_BY_SOURCE}) WHERE {_IS_AGENTS_WORK} AND {_IS_OPEN}",
    f"CREATE INDEX beads_reviewable ON beads ({_BY_SOURCE}) WHERE status = 'needs_review' AND {_IS_OPEN}",
)


def _running(*statements: str) -> Callable[[Connection], None]:
    def step(connection: Connection) -> None:
        for statement in statements:
            connection.execute(statement)

    return step


STEPS: Mapping[int, Callable[[Connection], None]] = {
    # attempts know provider, model and cost; gates of providers; breakers of beads
    1: _running(*_ATTEMPTS_HAVE_COSTS, _GATES, _BREAKERS),
    2: _to_3,
    # sessions, their turns and what is said in them; runs of turns; breakers of owners; forms; notices; requests
    3: _running(
        *(_SESSIONS, _TURNS, _MESSAGES, _NOTICES, _DELIVERIES, _REQUESTS, _RUNS_OF_TURNS, _BREAKERS_OF_OWNERS),
        *(*_NEW_COLUMNS, *_MOVED, *_INDEXES, *_SESSIONS_OF_ATTEMPTS),
    ),
    4: _to_5,
    # features, the versions of their plans, reviews, findings, and what is collected
    5: _running(*_FEATURES),
    # beads rise a day after they were ready; equals go by how many they block; no branch is run by itself; sprints;
    # counting reads an index; work is read by fresh eyes; a bead may stack on a request
    6: _running(*_COMPETING, _NO_RUN_OF_THE_BRANCH, *_SPRINTS, *_COUNTED, _READ, *_STACKED),
    7: _to_8,
    # no bead stacks on a request: it waits for what it needs, and a person is told
    8: _running(*_UNSTACKED),
    # of equals the one goes first whose blocker was done last, then the one that came first
    9: _running(*_IN_THE_ORDER_OF_THE_SOURCE),
    # who asks for held or merged beads reads no others
    10: _running(
        "CREATE INDEX beads_held ON beads (id) WHERE held IS NOT NULL",
        "CREATE INDEX beads_merged ON beads (status, closed_at, merged_commit, type, epic, id) "
        "WHERE merged_commit IS NOT NULL",
    ),
}


def is_earlier(version: int) -> bool:
    return version in STEPS


def migrate(connection: Connection, version: int) -> None:
    """Upgrade to VERSION, in the caller's transaction."""
    for step in range(version, VERSION):
        STEPS[step](connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")
