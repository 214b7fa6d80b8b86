BEGIN TRANSACTION;
CREATE TABLE attempts (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    bead VARCHAR NOT NULL,
    number INTEGER NOT NULL,
    role VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    fence INTEGER NOT NULL,
    token VARCHAR NOT NULL,
    started_at FLOAT NOT NULL,
    agent VARCHAR NOT NULL,
    base VARCHAR,
    head VARCHAR,
    ended_at FLOAT,
    outcome VARCHAR,
    detail VARCHAR NOT NULL,
    summary VARCHAR NOT NULL,
    blockers VARCHAR NOT NULL,
    learnings VARCHAR NOT NULL,
    keep_branch BOOLEAN NOT NULL,
    said VARCHAR,
    data VARCHAR NOT NULL,
    provider VARCHAR DEFAULT '' NOT NULL,
    model VARCHAR DEFAULT '' NOT NULL,
    cost_usd FLOAT DEFAULT 0 NOT NULL,
    tokens INTEGER DEFAULT 0 NOT NULL,
    FOREIGN KEY(bead) REFERENCES beads (id)
);
INSERT INTO "attempts" VALUES(1,'alpha',1,'doer','Ada',1,'1.1.zKqMhXsOLYH06qNvWdu0OaKzk2w2z13W',1795472668.873,'script','a85711fe87a7b74b97dcbd10d10a86fff14a8880','56b37b053169962e9993a58b52373cd2400cddc3',1795472669.003,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"a85711fe87a7b74b97dcbd10d10a86fff14a8880","told":"8861157adae74317","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(2,'alpha',2,'reviewer','Reviewer',2,'2.2.RrY3W4xohQfORHQtIOq3N32BgjBa3xe7',1795472669.012,'nobrakes',NULL,'56b37b053169962e9993a58b52373cd2400cddc3',1795472669.149,'completed','merged','','','',1,NULL,'{"anchor":"none","apart":"","base":"a85711fe87a7b74b97dcbd10d10a86fff14a8880","before":[],"behind":0,"branch_contract":"5e0252ac988e3d64","candidate":"78799242f67b8429dd6beac1a6de1ae2897a48d9","chain":[],"checked":0,"confirming":"","contract":"5e0252ac988e3d64","counted":"a85711fe87a7b74b97dcbd10d10a86fff14a8880","cut_off":0,"failure":"","fork":"a85711fe87a7b74b97dcbd10d10a86fff14a8880","gates":[],"head":"56b37b053169962e9993a58b52373cd2400cddc3","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"proven":"validate_branch 56b37b053169962e9993a58b52373cd2400cddc3 5e0252ac988e3d64","published":false,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.031999826431274414,"tail":""}],"serial":2,"step":"clean_up","tip":"78799242f67b8429dd6beac1a6de1ae2897a48d9","tree":"9fc218da63475256f30dcbe2c6f57320cbff6810","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0);
INSERT INTO "attempts" VALUES(3,'beta',1,'doer','Bowie',1,'3.1.Ok-PVeZxYmeBnyoBYF3AwJg1eQk74AGP',1795472669.15,'script','78799242f67b8429dd6beac1a6de1ae2897a48d9','d99495cc1e6366d7516a6df4432f7e9149ec4af3',1795472669.224,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"78799242f67b8429dd6beac1a6de1ae2897a48d9","told":"ae42af3b41784384","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(4,'beta',2,'reviewer','Reviewer',2,'4.2.rkiCNbqz5UUFC_jvzf-e6jUyBO40zlCf',1795472669.225,'nobrakes',NULL,'d99495cc1e6366d7516a6df4432f7e9149ec4af3',1795472669.293,'completed','merged','','','',1,NULL,'{"anchor":"3f65f6aa6457eef764fc0f4ec3e802136f2e9120","apart":"","base":"78799242f67b8429dd6beac1a6de1ae2897a48d9","before":[],"behind":0,"branch_contract":"5e0252ac988e3d64","candidate":"bcd0be673f80d7cc6f7ec30d6dcc2ff66a521206","chain":[],"checked":0,"confirming":"","contract":"5e0252ac988e3d64","counted":"","cut_off":0,"failure":"","fork":"78799242f67b8429dd6beac1a6de1ae2897a48d9","gates":[],"head":"d99495cc1e6366d7516a6df4432f7e9149ec4af3","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"proven":"validate_branch d99495cc1e6366d7516a6df4432f7e9149ec4af3 5e0252ac988e3d64","published":false,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.02942681312561035,"tail":""}],"serial":1,"step":"clean_up","tip":"bcd0be673f80d7cc6f7ec30d6dcc2ff66a521206","tree":"9a198dd5c55418f6d6ddf0874947f910f3c22be3","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0);
INSERT INTO "attempts" VALUES(5,'gamma',1,'doer','Cleo',1,'5.1.KUolVRFVY3rCGolzhFdRiv-dBBQvqjRC',1795472669.294,'script','bcd0be673f80d7cc6f7ec30d6dcc2ff66a521206',NULL,NULL,NULL,'','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"bcd0be673f80d7cc6f7ec30d6dcc2ff66a521206","told":"d5888fa5759ca9eb","window":0}','','',0.0,0);
CREATE TABLE bead_text (
    id VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    description VARCHAR NOT NULL,
    acceptance VARCHAR NOT NULL,
    labels VARCHAR NOT NULL,
    touches VARCHAR NOT NULL,
    notes VARCHAR NOT NULL,
    metadata VARCHAR NOT NULL,
    close_reason VARCHAR NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(id) REFERENCES beads (id)
);
INSERT INTO "bead_text" VALUES('alpha','Alpha','','[]','[]','[]','','{}','merged');
INSERT INTO "bead_text" VALUES('beta','Beta','','[]','[]','[]','','{}','merged');
INSERT INTO "bead_text" VALUES('gamma','Gamma','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('delta','Delta','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('asked','Asked','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('nb-q729ac','Later','','[]','[]','[]','','{}','');
CREATE TABLE beads (
    id VARCHAR NOT NULL,
    status VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    priority INTEGER NOT NULL,
    estimate INTEGER,
    epic VARCHAR,
    needs_tests BOOLEAN NOT NULL,
    scaffolding BOOLEAN NOT NULL,
    held VARCHAR,
    defer_until FLOAT,
    created_at FLOAT NOT NULL,
    updated_at FLOAT NOT NULL,
    closed_at FLOAT,
    failures INTEGER NOT NULL,
    retry_at FLOAT,
    assignee VARCHAR,
    fence INTEGER NOT NULL,
    lease_until FLOAT,
    return_to VARCHAR,
    branch_kept BOOLEAN NOT NULL,
    merged_commit VARCHAR,
    open_blockers INTEGER DEFAULT 0 NOT NULL,
    children INTEGER DEFAULT 0 NOT NULL,
    open_children INTEGER DEFAULT 0 NOT NULL,
    done_children INTEGER DEFAULT 0 NOT NULL,
    asleep INTEGER DEFAULT 0 NOT NULL,
    resting INTEGER DEFAULT 0 NOT NULL,
    ready_since FLOAT NOT NULL,
    rank INTEGER NOT NULL,
    b_level INTEGER DEFAULT 0 NOT NULL,
    done_level INTEGER DEFAULT 0 NOT NULL,
    PRIMARY KEY (id),
    FOREIGN KEY(epic) REFERENCES beads (id)
);
INSERT INTO "beads" VALUES('alpha','done','task',2,NULL,NULL,0,0,NULL,NULL,1795472667.883,1795472669.149,1795472669.149,0,NULL,NULL,2,NULL,'needs_review',0,'78799242f67b8429dd6beac1a6de1ae2897a48d9',0,0,0,0,0,0,1795472667.883,20782,0,0);
INSERT INTO "beads" VALUES('beta','done','task',2,NULL,NULL,0,0,NULL,NULL,1795472667.883,1795472669.293,1795472669.293,0,NULL,NULL,2,NULL,'needs_review',0,'bcd0be673f80d7cc6f7ec30d6dcc2ff66a521206',0,0,0,0,0,0,1795472669.149,20782,0,0);
INSERT INTO "beads" VALUES('gamma','doing','task',2,NULL,NULL,0,0,NULL,NULL,1795472667.883,1795472669.294,NULL,0,NULL,'Cleo',1,1795472789.294,NULL,0,NULL,0,0,0,0,0,0,1795472669.293,20782,3,2);
INSERT INTO "beads" VALUES('delta','needs_doer','task',2,NULL,NULL,0,0,NULL,NULL,1795472667.883,1795472667.883,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,1,0,0,0,0,0,1795472667.883,20782,2,1);
INSERT INTO "beads" VALUES('asked','needs_doer','task',2,NULL,NULL,0,0,NULL,NULL,1795472667.883,1795472667.883,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,1,0,0,0,0,0,1795472667.883,20782,1,0);
INSERT INTO "beads" VALUES('nb-q729ac','draft','task',2,NULL,NULL,1,0,NULL,NULL,1795472668.11,1795472668.11,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795472668.11,20782,1,0);
CREATE TABLE breakers (
    bead VARCHAR NOT NULL,
    provider VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    idle INTEGER NOT NULL,
    same INTEGER NOT NULL,
    error VARCHAR NOT NULL,
    PRIMARY KEY (bead, provider),
    FOREIGN KEY(bead) REFERENCES beads (id)
);
CREATE TABLE edges (
    bead VARCHAR NOT NULL,
    type VARCHAR NOT NULL,
    needs VARCHAR NOT NULL,
    PRIMARY KEY (bead, type, needs),
    FOREIGN KEY(bead) REFERENCES beads (id),
    FOREIGN KEY(needs) REFERENCES beads (id)
)
 WITHOUT ROWID;
INSERT INTO "edges" VALUES('beta','blocks','alpha');
INSERT INTO "edges" VALUES('gamma','blocks','beta');
INSERT INTO "edges" VALUES('asked','blocks','delta');
INSERT INTO "edges" VALUES('delta','blocks','gamma');
CREATE TABLE escalations (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    type VARCHAR NOT NULL,
    bead VARCHAR,
    title VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    target VARCHAR NOT NULL,
    attempt INTEGER,
    evidence VARCHAR NOT NULL,
    hypothesis VARCHAR NOT NULL,
    created_at FLOAT NOT NULL,
    answer VARCHAR,
    answered_at FLOAT,
    resolved_at FLOAT,
    resolution VARCHAR NOT NULL,
    return_to VARCHAR,
    fingerprint VARCHAR NOT NULL,
    FOREIGN KEY(bead) REFERENCES beads (id),
    FOREIGN KEY(attempt) REFERENCES attempts (id)
);
CREATE TABLE events (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at FLOAT NOT NULL,
    kind VARCHAR NOT NULL,
    bead VARCHAR,
    attempt INTEGER,
    actor VARCHAR NOT NULL,
    data VARCHAR NOT NULL
);
INSERT INTO "events" VALUES(1,1795472667.883,'proposed','alpha',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(2,1795472667.883,'proposed','beta',NULL,'person','{"needs":[["alpha","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(3,1795472667.883,'proposed','gamma',NULL,'person','{"needs":[["beta","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(4,1795472667.883,'proposed','delta',NULL,'person','{"needs":[["gamma","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(5,1795472667.883,'proposed','asked',NULL,'person','{"needs":[["delta","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(6,1795472668.11,'proposed','nb-q729ac',NULL,'person','{"needs":[],"status":"draft"}');
INSERT INTO "events" VALUES(7,1795472668.329,'limits_changed',NULL,NULL,'person','{"after":{"doers":1},"before":{}}');
INSERT INTO "events" VALUES(8,1795472668.864,'daemon_started',NULL,NULL,'nobrakes','{"pid":8011}');
INSERT INTO "events" VALUES(9,1795472668.873,'doer_started','alpha',1,'nobrakes','{"agent":"script","model":"","name":"Ada","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(10,1795472669.003,'work_submitted','alpha',1,'nobrakes','{"detail":"it exited with 0","head":"56b37b053169962e9993a58b52373cd2400cddc3","merged_commit":null,"name":"Ada","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(11,1795472669.012,'review_started','alpha',2,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(12,1795472669.061,'review_step','alpha',2,'nobrakes','{"commit":"56b37b053169962e9993a58b52373cd2400cddc3","results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.031999826431274414,"tail":""}],"run":"2-check1","step":"validate_branch"}');
INSERT INTO "events" VALUES(13,1795472669.121,'review_step','alpha',2,'nobrakes','{"commit":"a85711fe87a7b74b97dcbd10d10a86fff14a8880","results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.03258347511291504,"tail":""}],"run":"2-check2","step":"count_base"}');
INSERT INTO "events" VALUES(14,1795472669.149,'merged','alpha',2,'nobrakes','{"detail":"merged","head":"56b37b053169962e9993a58b52373cd2400cddc3","merged_commit":"78799242f67b8429dd6beac1a6de1ae2897a48d9","name":"Reviewer","number":2,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(15,1795472669.15,'doer_started','beta',3,'nobrakes','{"agent":"script","model":"","name":"Bowie","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(16,1795472669.224,'work_submitted','beta',3,'nobrakes','{"detail":"it exited with 0","head":"d99495cc1e6366d7516a6df4432f7e9149ec4af3","merged_commit":null,"name":"Bowie","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(17,1795472669.225,'review_started','beta',4,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(18,1795472669.269,'review_step','beta',4,'nobrakes','{"commit":"d99495cc1e6366d7516a6df4432f7e9149ec4af3","results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.02942681312561035,"tail":""}],"run":"4-check1","step":"validate_branch"}');
INSERT INTO "events" VALUES(19,1795472669.293,'merged','beta',4,'nobrakes','{"detail":"merged","head":"d99495cc1e6366d7516a6df4432f7e9149ec4af3","merged_commit":"bcd0be673f80d7cc6f7ec30d6dcc2ff66a521206","name":"Reviewer","number":2,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(20,1795472669.294,'doer_started','gamma',5,'nobrakes','{"agent":"script","model":"","name":"Cleo","number":1,"role":"doer"}');
CREATE TABLE gates (
    provider VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    detail VARCHAR NOT NULL,
    since FLOAT NOT NULL,
    until FLOAT NOT NULL,
    times INTEGER NOT NULL,
    told BOOLEAN NOT NULL,
    PRIMARY KEY (provider)
);
CREATE TABLE runs (
    id VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    started_at FLOAT NOT NULL,
    pid INTEGER,
    born VARCHAR NOT NULL,
    hard_deadline FLOAT NOT NULL,
    idle_seconds FLOAT NOT NULL,
    active_at FLOAT NOT NULL,
    sampled_at FLOAT NOT NULL,
    activity VARCHAR NOT NULL,
    stopping VARCHAR,
    term_at FLOAT,
    PRIMARY KEY (id),
    FOREIGN KEY(attempt) REFERENCES attempts (id)
);
INSERT INTO "runs" VALUES('5-agent',5,'agent',1795472669.296,8202,'b9595fbc-fece-4963-9f77-5d3c8c072faa:8485097',1795476269.296,600.0,1795472669.296,0.0,'',NULL,NULL);
CREATE TABLE settings (
    "key" VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    PRIMARY KEY ("key")
);
INSERT INTO "settings" VALUES('limits','{"doers": 1}');
INSERT INTO "settings" VALUES('run_since','1795472668.864');
INSERT INTO "settings" VALUES('name_cursor','3');
INSERT INTO "settings" VALUES('news','20');
CREATE TABLE validations (
    tree VARCHAR NOT NULL,
    contract VARCHAR NOT NULL,
    results VARCHAR NOT NULL,
    at FLOAT NOT NULL,
    PRIMARY KEY (tree, contract)
);
INSERT INTO "validations" VALUES('9fc218da63475256f30dcbe2c6f57320cbff6810','5e0252ac988e3d64','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.031999826431274414,"tail":""}],"runs":[{"at":1795472669.059,"attempt":2,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.031999826431274414}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"355bc277ed366fd5","quarantined":[],"setup":""},"run":"2-check1"}]}',1795472669.06);
INSERT INTO "validations" VALUES('f9fa36382e710ad9c74e5cbaad4795457847ccb7','5e0252ac988e3d64','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.03258347511291504,"tail":""}],"runs":[{"at":1795472669.12,"attempt":2,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.03258347511291504}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"355bc277ed366fd5","quarantined":[],"setup":""},"run":"2-check2"}]}',1795472669.121);
INSERT INTO "validations" VALUES('9a198dd5c55418f6d6ddf0874947f910f3c22be3','5e0252ac988e3d64','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.02942681312561035,"tail":""}],"runs":[{"at":1795472669.269,"attempt":4,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.02942681312561035}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"355bc277ed366fd5","quarantined":[],"setup":""},"run":"4-check1"}]}',1795472669.269);
CREATE INDEX beads_asleep ON beads (defer_until)
    WHERE asleep = 1;
CREATE INDEX beads_claimable ON beads (rank, b_level DESC, ready_since, id)
    WHERE status IN ('needs_tests', 'needs_doer')
    AND type <> 'epic'
    AND open_blockers = 0
    AND held IS NULL
    AND asleep = 0
    AND resting = 0
    AND assignee IS NULL;
CREATE INDEX beads_complete ON beads (id)
    WHERE type = 'epic'
    AND status = 'open'
    AND open_children = 0
    AND done_children > 0
    AND open_blockers = 0
    AND held IS NULL
    AND asleep = 0;
CREATE INDEX beads_epic ON beads (epic, b_level)
    WHERE epic IS NOT NULL;
CREATE INDEX beads_resting ON beads (retry_at)
    WHERE resting = 1;
CREATE INDEX beads_reviewable ON beads (rank, b_level DESC, ready_since, id)
    WHERE status = 'needs_review'
    AND open_blockers = 0
    AND held IS NULL
    AND asleep = 0
    AND resting = 0
    AND assignee IS NULL;
CREATE INDEX beads_status ON beads (status);
CREATE INDEX events_of_bead ON events (bead, seq)
    WHERE bead IS NOT NULL;
CREATE INDEX attempts_by_time ON attempts (started_at);
CREATE UNIQUE INDEX attempts_of_bead ON attempts (bead, number);
CREATE UNIQUE INDEX attempts_open ON attempts (bead)
    WHERE outcome IS NULL;
CREATE INDEX edges_needs ON edges (needs, type, bead);
CREATE INDEX escalations_of_bead ON escalations (bead);
CREATE UNIQUE INDEX escalations_open ON escalations (fingerprint)
    WHERE resolved_at IS NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',20);
INSERT INTO "sqlite_sequence" VALUES('attempts',5);
COMMIT;
PRAGMA user_version = 2;
PRAGMA application_id = 0;
