-- The database's schema. Generated from tables.py (python -m nobrakes.db.tables): do not edit.
CREATE TABLE beads (
    id VARCHAR NOT NULL, status VARCHAR NOT NULL, type VARCHAR NOT NULL, priority INTEGER NOT NULL,
    estimate INTEGER, epic VARCHAR, needs_tests BOOLEAN NOT NULL, scaffolding BOOLEAN NOT NULL, held VARCHAR,
    defer_until FLOAT, created_at FLOAT NOT NULL, updated_at FLOAT NOT NULL, closed_at FLOAT,
    failures INTEGER NOT NULL, retry_at FLOAT, assignee VARCHAR, fence INTEGER NOT NULL, lease_until FLOAT,
    return_to VARCHAR, branch_kept BOOLEAN NOT NULL, merged_commit VARCHAR,
    open_blockers INTEGER DEFAULT 0 NOT NULL, children INTEGER DEFAULT 0 NOT NULL,
    open_children INTEGER DEFAULT 0 NOT NULL, done_children INTEGER DEFAULT 0 NOT NULL,
    asleep INTEGER DEFAULT 0 NOT NULL, resting INTEGER DEFAULT 0 NOT NULL, ready_since FLOAT NOT NULL,
    rank INTEGER NOT NULL, b_level INTEGER DEFAULT 0 NOT NULL, done_level INTEGER DEFAULT 0 NOT NULL,
    branch VARCHAR DEFAULT '' NOT NULL, rises_at FLOAT DEFAULT 0 NOT NULL,
    dependents INTEGER DEFAULT 0 NOT NULL, freed_at FLOAT DEFAULT 0 NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(epic) REFERENCES beads (id)
);
CREATE INDEX beads_asleep ON beads (defer_until) WHERE asleep = 1;
CREATE INDEX beads_claimable ON beads (rank, b_level DESC, dependents DESC, freed_at DESC, created_at) WHERE
    status IN ('needs_tests', 'needs_doer') AND type <> 'epic' AND open_blockers = 0 AND held IS NULL AND
    asleep = 0 AND resting = 0 AND assignee IS NULL;
CREATE INDEX beads_complete ON beads (id) WHERE type = 'epic' AND status = 'open' AND open_children = 0 AND
    done_children > 0 AND open_blockers = 0 AND held IS NULL AND asleep = 0;
CREATE INDEX beads_epic ON beads (epic, b_level) WHERE epic IS NOT NULL;
CREATE INDEX beads_estimated ON beads (estimate) WHERE estimate IS NOT NULL AND type <> 'epic';
CREATE INDEX beads_held ON beads (id) WHERE held IS NOT NULL;
CREATE INDEX beads_merged ON beads (status, closed_at, merged_commit, type, epic, id) WHERE merged_commit IS
    NOT NULL;
CREATE INDEX beads_resting ON beads (retry_at) WHERE resting = 1;
CREATE INDEX beads_reviewable ON beads (rank, b_level DESC, dependents DESC, freed_at DESC, created_at) WHERE
    status = 'needs_review' AND open_blockers = 0 AND held IS NULL AND asleep = 0 AND resting = 0 AND assignee
    IS NULL;
CREATE INDEX beads_rising ON beads (rises_at) WHERE ((status IN ('needs_tests', 'needs_doer') AND type <>
    'epic' AND open_blockers = 0 AND held IS NULL AND asleep = 0 AND resting = 0 AND assignee IS NULL) OR
    (status = 'needs_review' AND open_blockers = 0 AND held IS NULL AND asleep = 0 AND resting = 0 AND
    assignee IS NULL));
CREATE INDEX beads_status ON beads (status, type);
CREATE TABLE breakers (
    owner VARCHAR NOT NULL, provider VARCHAR NOT NULL, state VARCHAR NOT NULL, idle INTEGER NOT NULL,
    same INTEGER NOT NULL, error VARCHAR NOT NULL, PRIMARY KEY (owner, provider)
);
CREATE TABLE events (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, at FLOAT NOT NULL, kind VARCHAR NOT NULL, bead VARCHAR,
    attempt INTEGER, actor VARCHAR NOT NULL, data VARCHAR NOT NULL
);
CREATE INDEX events_of_bead ON events (bead, seq) WHERE bead IS NOT NULL;
CREATE TABLE gates (
    provider VARCHAR NOT NULL, reason VARCHAR NOT NULL, detail VARCHAR NOT NULL, since FLOAT NOT NULL,
    until FLOAT NOT NULL, times INTEGER NOT NULL, told BOOLEAN NOT NULL, PRIMARY KEY (provider)
);
CREATE TABLE notices (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, kind VARCHAR NOT NULL, severity VARCHAR NOT NULL,
    text VARCHAR NOT NULL, bead VARCHAR, session INTEGER, escalation INTEGER, link VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL, created_at FLOAT NOT NULL, routed BOOLEAN NOT NULL, told_at FLOAT
);
CREATE INDEX notices_by_fingerprint ON notices (fingerprint, created_at);
CREATE INDEX notices_unrouted ON notices (id) WHERE routed = 0;
CREATE TABLE requests (
    "key" VARCHAR NOT NULL, command VARCHAR NOT NULL, actor VARCHAR NOT NULL, at FLOAT NOT NULL,
    result VARCHAR NOT NULL, PRIMARY KEY ("key")
);
CREATE INDEX requests_by_time ON requests (at);
CREATE TABLE schedules (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, at VARCHAR NOT NULL, days VARCHAR NOT NULL,
    zone VARCHAR NOT NULL, sprints INTEGER NOT NULL, late_hours FLOAT NOT NULL, needs_tests BOOLEAN NOT NULL,
    terms VARCHAR NOT NULL, actor VARCHAR NOT NULL, created_at FLOAT NOT NULL, removed_at FLOAT
);
CREATE TABLE sessions (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, kind VARCHAR NOT NULL, owner VARCHAR NOT NULL,
    title VARCHAR NOT NULL, agent VARCHAR NOT NULL, provider VARCHAR NOT NULL, model VARCHAR NOT NULL,
    provider_session VARCHAR, begun BOOLEAN NOT NULL, disputed BOOLEAN NOT NULL, attempt INTEGER,
    state VARCHAR NOT NULL, failures INTEGER NOT NULL, retry_at FLOAT, stop_asked BOOLEAN NOT NULL,
    detail VARCHAR NOT NULL, cost_usd FLOAT NOT NULL, tokens INTEGER NOT NULL, created_at FLOAT NOT NULL,
    updated_at FLOAT NOT NULL, ended_at FLOAT, data VARCHAR NOT NULL
);
CREATE UNIQUE INDEX sessions_by_provider_session ON sessions (provider_session);
CREATE INDEX sessions_going ON sessions (id) WHERE ended_at IS NULL AND kind <> 'attempt';
CREATE INDEX sessions_reading ON sessions (owner, id) WHERE kind = 'code_review';
CREATE TABLE settings (
    "key" VARCHAR NOT NULL, value VARCHAR NOT NULL, PRIMARY KEY ("key")
);
CREATE TABLE sprint_runs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, asked INTEGER NOT NULL, needs_tests BOOLEAN NOT NULL,
    terms VARCHAR NOT NULL, state VARCHAR NOT NULL, why VARCHAR NOT NULL, actor VARCHAR NOT NULL,
    created_at FLOAT NOT NULL, updated_at FLOAT NOT NULL
);
CREATE UNIQUE INDEX sprint_runs_going ON sprint_runs (state) WHERE state = 'going';
CREATE TABLE validations (
    tree VARCHAR NOT NULL, contract VARCHAR NOT NULL, results VARCHAR NOT NULL, at FLOAT NOT NULL,
    PRIMARY KEY (tree, contract)
);
CREATE TABLE attempts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, bead VARCHAR NOT NULL, number INTEGER NOT NULL,
    role VARCHAR NOT NULL, name VARCHAR NOT NULL, fence INTEGER NOT NULL, token VARCHAR NOT NULL,
    started_at FLOAT NOT NULL, agent VARCHAR NOT NULL, base VARCHAR, head VARCHAR, ended_at FLOAT,
    outcome VARCHAR, detail VARCHAR NOT NULL, summary VARCHAR NOT NULL, blockers VARCHAR NOT NULL,
    learnings VARCHAR NOT NULL, keep_branch BOOLEAN NOT NULL, said VARCHAR, data VARCHAR NOT NULL,
    provider VARCHAR DEFAULT '' NOT NULL, model VARCHAR DEFAULT '' NOT NULL,
    cost_usd FLOAT DEFAULT 0 NOT NULL, tokens INTEGER DEFAULT 0 NOT NULL, session INTEGER,
    FOREIGN KEY(bead) REFERENCES beads (id), FOREIGN KEY(session) REFERENCES sessions (id)
);
CREATE INDEX attempts_by_time ON attempts (started_at);
CREATE UNIQUE INDEX attempts_of_bead ON attempts (bead, number);
CREATE UNIQUE INDEX attempts_open ON attempts (bead) WHERE outcome IS NULL;
CREATE TABLE bead_text (
    id VARCHAR NOT NULL, title VARCHAR NOT NULL, description VARCHAR NOT NULL, acceptance VARCHAR NOT NULL,
    labels VARCHAR NOT NULL, touches VARCHAR NOT NULL, notes VARCHAR NOT NULL, metadata VARCHAR NOT NULL,
    close_reason VARCHAR NOT NULL, proposed VARCHAR DEFAULT '{}' NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(id) REFERENCES beads (id)
);
CREATE INDEX bead_text_proposed ON bead_text (id) WHERE proposed <> '{}';
CREATE TABLE deliveries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, notice INTEGER NOT NULL, channel VARCHAR NOT NULL,
    state VARCHAR NOT NULL, due_at FLOAT NOT NULL, tries INTEGER NOT NULL, ended_at FLOAT,
    error VARCHAR NOT NULL, digest INTEGER, FOREIGN KEY(notice) REFERENCES notices (id)
);
CREATE INDEX deliveries_due ON deliveries (channel, due_at) WHERE state = 'due';
CREATE INDEX deliveries_of_notice ON deliveries (notice);
CREATE TABLE edges (
    bead VARCHAR NOT NULL, type VARCHAR NOT NULL, needs VARCHAR NOT NULL, PRIMARY KEY (bead, type, needs),
    FOREIGN KEY(bead) REFERENCES beads (id), FOREIGN KEY(needs) REFERENCES beads (id)
) WITHOUT ROWID;
CREATE INDEX edges_needs ON edges (needs, type, bead);
CREATE TABLE features (
    id VARCHAR NOT NULL, criteria VARCHAR NOT NULL, files VARCHAR NOT NULL, notes VARCHAR NOT NULL,
    base VARCHAR NOT NULL, stage VARCHAR NOT NULL, state VARCHAR NOT NULL, replannings INTEGER NOT NULL,
    session INTEGER, "plan" INTEGER NOT NULL, round INTEGER NOT NULL, clean INTEGER NOT NULL,
    turn_at FLOAT NOT NULL, created_at FLOAT NOT NULL, updated_at FLOAT NOT NULL, archived BOOLEAN NOT NULL,
    actor VARCHAR NOT NULL, data VARCHAR NOT NULL, PRIMARY KEY (id), FOREIGN KEY(id) REFERENCES beads (id),
    FOREIGN KEY(session) REFERENCES sessions (id)
);
CREATE INDEX features_going ON features (id) WHERE (state NOT IN ('completed', 'rolled_back') OR (state =
    'completed' AND json_extract(data, '$.rollback') IS NOT NULL));
CREATE INDEX features_of_session ON features (session) WHERE session IS NOT NULL;
CREATE TABLE levels_due (
    id VARCHAR NOT NULL, level INTEGER NOT NULL, PRIMARY KEY (id), FOREIGN KEY(id) REFERENCES beads (id)
);
CREATE INDEX levels_due_lowest ON levels_due (level, id);
CREATE TABLE schedule_starts (
    schedule INTEGER NOT NULL, due FLOAT NOT NULL, came VARCHAR NOT NULL, why VARCHAR NOT NULL, run INTEGER,
    at FLOAT NOT NULL, PRIMARY KEY (schedule, due), FOREIGN KEY(schedule) REFERENCES schedules (id),
    FOREIGN KEY(run) REFERENCES sprint_runs (id)
);
CREATE TABLE sprints (
    number INTEGER NOT NULL, run INTEGER NOT NULL, name VARCHAR NOT NULL, stage VARCHAR NOT NULL,
    session INTEGER, bead VARCHAR, opening VARCHAR, closing VARCHAR, nudged INTEGER NOT NULL,
    began_at FLOAT NOT NULL, ended_at FLOAT, PRIMARY KEY (number),
    FOREIGN KEY(run) REFERENCES sprint_runs (id), FOREIGN KEY(session) REFERENCES sessions (id),
    FOREIGN KEY(bead) REFERENCES beads (id), FOREIGN KEY(opening) REFERENCES beads (id),
    FOREIGN KEY(closing) REFERENCES beads (id)
);
CREATE INDEX sprints_of_bead ON sprints (bead) WHERE bead IS NOT NULL;
CREATE INDEX sprints_of_session ON sprints (session) WHERE session IS NOT NULL;
CREATE TABLE turns (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, number INTEGER NOT NULL,
    token VARCHAR NOT NULL, resumes BOOLEAN NOT NULL, provider VARCHAR NOT NULL, started_at FLOAT NOT NULL,
    ended_at FLOAT, outcome VARCHAR, detail VARCHAR NOT NULL, cost_usd FLOAT NOT NULL,
    tokens INTEGER NOT NULL, data VARCHAR NOT NULL, FOREIGN KEY(session) REFERENCES sessions (id)
);
CREATE INDEX turns_by_time ON turns (started_at);
CREATE UNIQUE INDEX turns_of_session ON turns (session, number);
CREATE UNIQUE INDEX turns_open ON turns (session) WHERE outcome IS NULL;
CREATE TABLE escalations (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, type VARCHAR NOT NULL, bead VARCHAR,
    title VARCHAR NOT NULL, detail VARCHAR NOT NULL, target VARCHAR NOT NULL, attempt INTEGER,
    evidence VARCHAR NOT NULL, hypothesis VARCHAR NOT NULL, created_at FLOAT NOT NULL, answer VARCHAR,
    answered_at FLOAT, resolved_at FLOAT, resolution VARCHAR NOT NULL, return_to VARCHAR,
    fingerprint VARCHAR NOT NULL, session INTEGER, form VARCHAR DEFAULT '' NOT NULL, value VARCHAR,
    read_at FLOAT, FOREIGN KEY(bead) REFERENCES beads (id), FOREIGN KEY(attempt) REFERENCES attempts (id),
    FOREIGN KEY(session) REFERENCES sessions (id)
);
CREATE INDEX escalations_of_bead ON escalations (bead);
CREATE UNIQUE INDEX escalations_open ON escalations (fingerprint) WHERE resolved_at IS NULL;
CREATE TABLE items (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, feature VARCHAR NOT NULL, kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL, file VARCHAR NOT NULL, line INTEGER NOT NULL, bead VARCHAR,
    blocks BOOLEAN NOT NULL, state VARCHAR NOT NULL, at FLOAT NOT NULL, place VARCHAR NOT NULL,
    FOREIGN KEY(feature) REFERENCES features (id)
);
CREATE UNIQUE INDEX items_of_place ON items (feature, place);
CREATE TABLE plan_reviews (
    feature VARCHAR NOT NULL, round INTEGER NOT NULL, domain VARCHAR NOT NULL, "plan" INTEGER NOT NULL,
    session INTEGER, state VARCHAR NOT NULL, started_at FLOAT NOT NULL, ended_at FLOAT,
    detail VARCHAR NOT NULL, PRIMARY KEY (feature, round, domain),
    FOREIGN KEY(feature) REFERENCES features (id), FOREIGN KEY(session) REFERENCES sessions (id)
);
CREATE INDEX plan_reviews_of_session ON plan_reviews (session) WHERE session IS NOT NULL;
CREATE TABLE plan_versions (
    feature VARCHAR NOT NULL, number INTEGER NOT NULL, at FLOAT NOT NULL, actor VARCHAR NOT NULL,
    why VARCHAR NOT NULL, beads VARCHAR NOT NULL, PRIMARY KEY (feature, number),
    FOREIGN KEY(feature) REFERENCES features (id)
);
CREATE TABLE runs (
    id VARCHAR NOT NULL, attempt INTEGER, turn INTEGER, kind VARCHAR NOT NULL, started_at FLOAT NOT NULL,
    pid INTEGER, born VARCHAR NOT NULL, hard_deadline FLOAT NOT NULL, idle_seconds FLOAT NOT NULL,
    active_at FLOAT NOT NULL, sampled_at FLOAT NOT NULL, activity VARCHAR NOT NULL, stopping VARCHAR,
    term_at FLOAT, PRIMARY KEY (id), FOREIGN KEY(attempt) REFERENCES attempts (id),
    FOREIGN KEY(turn) REFERENCES turns (id)
);
CREATE TABLE sprint_documents (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, sprint INTEGER NOT NULL, kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL, actor VARCHAR NOT NULL, at FLOAT NOT NULL,
    FOREIGN KEY(sprint) REFERENCES sprints (number)
);
CREATE INDEX sprint_documents_of ON sprint_documents (sprint, id);
CREATE TABLE findings (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, feature VARCHAR NOT NULL, round INTEGER NOT NULL,
    domain VARCHAR NOT NULL, category VARCHAR NOT NULL, priority INTEGER NOT NULL, issue VARCHAR NOT NULL,
    impact VARCHAR NOT NULL, options VARCHAR NOT NULL, bead VARCHAR, state VARCHAR NOT NULL,
    escalation INTEGER, answer VARCHAR NOT NULL, FOREIGN KEY(feature) REFERENCES features (id),
    FOREIGN KEY(escalation) REFERENCES escalations (id)
);
CREATE INDEX findings_asked ON findings (escalation) WHERE escalation IS NOT NULL;
CREATE INDEX findings_of_round ON findings (feature, round, id);
CREATE TABLE messages (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, author VARCHAR NOT NULL,
    at FLOAT NOT NULL, text VARCHAR NOT NULL, turn INTEGER, escalation INTEGER,
    FOREIGN KEY(session) REFERENCES sessions (id), FOREIGN KEY(turn) REFERENCES turns (id),
    FOREIGN KEY(escalation) REFERENCES escalations (id)
);
CREATE INDEX messages_of_session ON messages (session, id);
