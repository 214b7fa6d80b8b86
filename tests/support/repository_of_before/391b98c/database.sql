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
INSERT INTO "attempts" VALUES(1,'fails',1,'doer','Ada',1,'1.1.rd2OTSeYDXes4QNbuDgr65w6-uGmW99Z',1795861258.523,'script','956255cef2ab93f1e819ff6da3685afb287ff9ac','956255cef2ab93f1e819ff6da3685afb287ff9ac',1795861258.924,'gave_up_tests','its marker says so','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"956255cef2ab93f1e819ff6da3685afb287ff9ac","told":"f5558ce53e64e6bd","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(2,'tested',1,'test_writer','Bowie',1,'2.1.wEt5g85YX2PaG6bNRrSn9H8XFzquuF3U',1795861258.708,'script','956255cef2ab93f1e819ff6da3685afb287ff9ac','ba46112ece20d1237cbe1d4c65b5722ad94046a8',1795861259.279,'completed','the new tests fail, as they should','','','',1,NULL,'{"begun":false,"cheat":0,"cut_off":0,"diary":null,"head":"ba46112ece20d1237cbe1d4c65b5722ad94046a8","met":[],"phase":"cheats","red_proof":[{"code":1,"counts":{"failed":1,"passed":1,"skipped":0},"failing":["tests/test_tested.sh"],"name":"test","outcome":"fail","quarantined":[],"reason":"it exited with 1","repeated":[],"seconds":0.17600011825561523,"tail":"ok 1 - tests/test_begin.sh\nnot ok 2 - tests/test_tested.sh\n1..2\n"}],"resumes":null,"session":null,"start":"956255cef2ab93f1e819ff6da3685afb287ff9ac","told":"1e704171f1f64a85","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(3,'alpha',1,'doer','Cleo',1,'3.1.0uzSEQhfQB6NwSoSqfO9i1BDdn5BmvAz',1795861258.733,'script','956255cef2ab93f1e819ff6da3685afb287ff9ac','fa025cd5fd4776e1bb1053b4cc2954dbda105e96',1795861259.096,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"956255cef2ab93f1e819ff6da3685afb287ff9ac","told":"809d2594cbfceb8b","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(4,'fails',2,'doer','Dmitri',2,'4.2.KbqVh84frKq0guKL7cVm34lqf58-9qJr',1795861258.947,'script','956255cef2ab93f1e819ff6da3685afb287ff9ac','956255cef2ab93f1e819ff6da3685afb287ff9ac',1795861259.167,'gave_up_tests','its marker says so','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"956255cef2ab93f1e819ff6da3685afb287ff9ac","told":"f5558ce53e64e6bd","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(5,'alpha',2,'reviewer','Reviewer',2,'5.2.QL7BqY0jPglsDBc1R-0YFIp-F5iPNLbW',1795861259.098,'nobrakes',NULL,'fa025cd5fd4776e1bb1053b4cc2954dbda105e96',1795861259.637,'completed','merged','','','',1,NULL,'{"anchor":"none","apart":"","base":"956255cef2ab93f1e819ff6da3685afb287ff9ac","before":[],"behind":0,"branch_contract":"0a8464a9fc60f3a0","candidate":"11e26f11d6ea621ee495cc2e1c0d653eb3d1f769","chain":[],"checked":0,"confirming":"","contract":"0a8464a9fc60f3a0","counted":"956255cef2ab93f1e819ff6da3685afb287ff9ac","cut_off":0,"failure":"","fork":"956255cef2ab93f1e819ff6da3685afb287ff9ac","gates":[],"head":"fa025cd5fd4776e1bb1053b4cc2954dbda105e96","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"proven":"validate_branch fa025cd5fd4776e1bb1053b4cc2954dbda105e96 0a8464a9fc60f3a0","published":false,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.1400001049041748,"tail":""}],"serial":2,"step":"clean_up","tip":"11e26f11d6ea621ee495cc2e1c0d653eb3d1f769","tree":"43dad0b95209c871117a4974d33a008a9747e87b","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0);
INSERT INTO "attempts" VALUES(6,'asks',1,'doer','Edith',1,'6.1.BuhzsFoCfen_1cKMEUcjhX3xbNNLodLZ',1795861259.117,'script','956255cef2ab93f1e819ff6da3685afb287ff9ac','956255cef2ab93f1e819ff6da3685afb287ff9ac',1795861259.848,'blocked','waits for an answer','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"956255cef2ab93f1e819ff6da3685afb287ff9ac","told":"e1d6f6478a48bd05","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(7,'fails',3,'doer','Fela',3,'7.3.7y1wGFPugZRBSURsGgIDv-D4izJKEQEG',1795861259.169,'script','956255cef2ab93f1e819ff6da3685afb287ff9ac','956255cef2ab93f1e819ff6da3685afb287ff9ac',1795861259.515,'gave_up_tests','its marker says so','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"956255cef2ab93f1e819ff6da3685afb287ff9ac","told":"f5558ce53e64e6bd","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(8,'tested',2,'doer','Grace',2,'8.2.hxf02d75C1hsLXYZYCL1FscvTmQnigq9',1795861259.281,'script','956255cef2ab93f1e819ff6da3685afb287ff9ac','a6ef9e918f7982b699cef78852dedab4d781d965',1795861259.501,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"ba46112ece20d1237cbe1d4c65b5722ad94046a8","told":"1e704171f1f64a85","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(9,'tested',3,'reviewer','Reviewer 2',3,'9.3._TW7eGYhgoP6MHKYWQmUbmDeO0FqD9hi',1795861259.502,'nobrakes',NULL,'a6ef9e918f7982b699cef78852dedab4d781d965',1795861259.964,'completed','merged','','','',1,NULL,'{"anchor":"none","apart":"","base":"11e26f11d6ea621ee495cc2e1c0d653eb3d1f769","before":[],"behind":0,"branch_contract":"0a8464a9fc60f3a0","candidate":"0bec6331c535539a4ab2e10d90668eec2a6c2939","chain":[],"checked":0,"confirming":"","contract":"0a8464a9fc60f3a0","counted":"","cut_off":0,"failure":"","fork":"956255cef2ab93f1e819ff6da3685afb287ff9ac","gates":[],"head":"a6ef9e918f7982b699cef78852dedab4d781d965","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"proven":"validate_rebased 0bec6331c535539a4ab2e10d90668eec2a6c2939 0a8464a9fc60f3a0","published":false,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.06399989128112793,"tail":""}],"serial":2,"step":"clean_up","tip":"0bec6331c535539a4ab2e10d90668eec2a6c2939","tree":"31413df5ac620a5f0e9fb544a741e315123f172a","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0);
INSERT INTO "attempts" VALUES(10,'beta',1,'doer','Hugo',1,'10.1.d8Q_76HYnJPlVzQmIR08xqN0KVOAPJd_',1795861259.64,'script','11e26f11d6ea621ee495cc2e1c0d653eb3d1f769','879117b58438140ce867cf3a15930376ca3062d8',1795861260.064,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"11e26f11d6ea621ee495cc2e1c0d653eb3d1f769","told":"15f8613b86277bb5","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(11,'beta',2,'reviewer','Reviewer',2,'11.2.CvacrPUGlLBH5eDEvLh2-CAPWH4IuXx0',1795861260.066,'nobrakes',NULL,'879117b58438140ce867cf3a15930376ca3062d8',1795861260.407,'completed','merged','','','',1,NULL,'{"anchor":"078e7a294c9ce3760c5f8c99a6e701292dc38505","apart":"","base":"0bec6331c535539a4ab2e10d90668eec2a6c2939","before":[],"behind":0,"branch_contract":"0a8464a9fc60f3a0","candidate":"a67936d7cdda85cda4cb9e1b17b095b5879e3529","chain":[],"checked":0,"confirming":"","contract":"0a8464a9fc60f3a0","counted":"","cut_off":0,"failure":"","fork":"11e26f11d6ea621ee495cc2e1c0d653eb3d1f769","gates":[],"head":"879117b58438140ce867cf3a15930376ca3062d8","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"proven":"validate_rebased a67936d7cdda85cda4cb9e1b17b095b5879e3529 0a8464a9fc60f3a0","published":false,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.12400007247924805,"tail":""}],"serial":2,"step":"clean_up","tip":"a67936d7cdda85cda4cb9e1b17b095b5879e3529","tree":"0d0ecbb51e7d682acaae31d40d68ee7eea33439a","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0);
INSERT INTO "attempts" VALUES(12,'reviewed',1,'doer','Iris',1,'12.1.DniF7a35wy1mvyDbA8a5zaRFDH_Dj8JP',1795861263.04,'script','a67936d7cdda85cda4cb9e1b17b095b5879e3529','01f8f64104daf7233f4ebc17c176fe2dc17465ad',1795861263.635,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"a67936d7cdda85cda4cb9e1b17b095b5879e3529","told":"fabce9e38bced1f5","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(13,'slow',1,'doer','Joan',1,'13.1.yialzazYHWwISQf8qbBSHpXL6YvTMy4m',1795861263.236,'script','a67936d7cdda85cda4cb9e1b17b095b5879e3529',NULL,NULL,NULL,'','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"a67936d7cdda85cda4cb9e1b17b095b5879e3529","told":"a480442f89a07ab9","window":0}','','',0.0,0);
INSERT INTO "attempts" VALUES(14,'reviewed',2,'reviewer','Reviewer',2,'14.2.nd698FpjFP77ot5tOXUD2dJ7b8FPoBus',1795861263.674,'nobrakes',NULL,NULL,NULL,NULL,'','','','',1,NULL,'{"anchor":"394be9b50748a0f60e4e9d8c75c6182a50424f79","apart":"","base":"","before":[],"behind":0,"branch_contract":"","candidate":"","chain":[],"checked":0,"confirming":"","contract":"","counted":"","cut_off":0,"failure":"","fork":"a67936d7cdda85cda4cb9e1b17b095b5879e3529","gates":[],"head":"01f8f64104daf7233f4ebc17c176fe2dc17465ad","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"proven":"","published":false,"red":0,"results":[],"serial":1,"step":"validate_branch","tip":"","tree":"","validating":"01f8f64104daf7233f4ebc17c176fe2dc17465ad","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0);
INSERT INTO "attempts" VALUES(15,'slowtests',1,'test_writer','Kofi',1,'15.1.8oOnPL-UKWxGNK7rs229iUrtkJPhEoNa',1795861263.726,'script','a67936d7cdda85cda4cb9e1b17b095b5879e3529',NULL,NULL,NULL,'','','','',1,NULL,'{"begun":false,"diary":null,"phase":"agent","resumes":null,"session":null,"start":"a67936d7cdda85cda4cb9e1b17b095b5879e3529","told":"61cdfa8f4fe9cb8d","window":0}','','',0.0,0);
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
INSERT INTO "bead_text" VALUES('lib','Make lib','','[]','[]','[]','','{}','epic completed');
INSERT INTO "bead_text" VALUES('alpha','Make alpha','','[]','[]','[]','','{}','merged');
INSERT INTO "bead_text" VALUES('beta','Make beta','','[]','[]','[]','','{}','merged');
INSERT INTO "bead_text" VALUES('tested','Make tested','','[]','[]','[]','','{}','merged');
INSERT INTO "bead_text" VALUES('asks','Make asks','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('waits','Make waits','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('holds','Make holds','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('later','Make later','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('gone','Make gone','','[]','[]','[]','','{}','cancelled');
INSERT INTO "bead_text" VALUES('byhand','Make byhand','','[]','[]','[]','','{}','done by hand');
INSERT INTO "bead_text" VALUES('fails','Make fails','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('idea','An idea','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('reviewed','Make reviewed','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('slow','Make slow','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('slowtests','Make slowtests','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('next','Make next','','[]','[]','[]','','{}','');
INSERT INTO "bead_text" VALUES('after','Make after','','[]','[]','[]','','{}','');
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
INSERT INTO "beads" VALUES('lib','done','epic',2,NULL,NULL,1,0,NULL,NULL,1795861255.85,1795861260.409,1795861260.409,0,NULL,NULL,0,NULL,'open',0,NULL,0,2,0,2,0,0,1795861255.85,20787,0,0);
INSERT INTO "beads" VALUES('alpha','done','task',2,NULL,'lib',0,0,NULL,NULL,1795861255.85,1795861259.637,1795861259.637,0,NULL,NULL,2,NULL,'needs_review',0,'11e26f11d6ea621ee495cc2e1c0d653eb3d1f769',0,0,0,0,0,0,1795861255.85,20787,0,0);
INSERT INTO "beads" VALUES('beta','done','task',2,NULL,'lib',0,0,NULL,NULL,1795861255.85,1795861260.407,1795861260.407,0,NULL,NULL,2,NULL,'needs_review',0,'a67936d7cdda85cda4cb9e1b17b095b5879e3529',0,0,0,0,0,0,1795861259.637,20787,0,0);
INSERT INTO "beads" VALUES('tested','done','task',1,NULL,NULL,1,0,NULL,NULL,1795861255.85,1795861259.964,1795861259.964,0,NULL,NULL,3,NULL,'needs_review',0,'0bec6331c535539a4ab2e10d90668eec2a6c2939',0,0,0,0,0,0,1795861255.85,20786,0,0);
INSERT INTO "beads" VALUES('asks','escalated','task',2,NULL,NULL,0,0,NULL,NULL,1795861255.85,1795861259.848,NULL,0,NULL,NULL,1,NULL,'needs_doer',1,NULL,0,0,0,0,0,0,1795861255.85,20787,2,1);
INSERT INTO "beads" VALUES('waits','needs_doer','task',2,NULL,NULL,0,0,NULL,NULL,1795861255.85,1795861255.85,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,1,0,0,0,0,0,1795861255.85,20787,1,0);
INSERT INTO "beads" VALUES('holds','needs_doer','task',2,NULL,NULL,0,0,'held',NULL,1795861255.85,1795861256.135,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861255.85,20787,1,0);
INSERT INTO "beads" VALUES('later','needs_doer','task',2,NULL,NULL,0,0,NULL,1893456000.0,1795861255.85,1795861256.303,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,1,0,1795861255.85,20787,1,0);
INSERT INTO "beads" VALUES('gone','cancelled','task',2,NULL,NULL,0,0,NULL,NULL,1795861255.85,1795861256.482,1795861256.482,0,NULL,NULL,0,NULL,'needs_doer',0,NULL,0,0,0,0,0,0,1795861255.85,20787,0,0);
INSERT INTO "beads" VALUES('byhand','done','task',2,NULL,NULL,0,0,NULL,NULL,1795861255.85,1795861256.658,1795861256.658,0,NULL,NULL,0,NULL,'needs_doer',0,NULL,0,0,0,0,0,0,1795861255.85,20787,0,0);
INSERT INTO "beads" VALUES('fails','escalated','task',0,NULL,NULL,0,0,NULL,NULL,1795861255.85,1795861259.515,NULL,3,NULL,NULL,3,NULL,'needs_doer',1,NULL,0,0,0,0,0,0,1795861255.85,20785,1,0);
INSERT INTO "beads" VALUES('idea','draft','task',2,NULL,NULL,1,0,NULL,NULL,1795861256.848,1795861256.848,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861256.848,20787,1,0);
INSERT INTO "beads" VALUES('reviewed','reviewing','task',0,NULL,NULL,0,0,NULL,NULL,1795861261.441,1795861263.674,NULL,0,NULL,'Reviewer',2,1795861383.674,NULL,1,NULL,0,0,0,0,0,0,1795861261.441,20785,1,0);
INSERT INTO "beads" VALUES('slow','doing','task',1,NULL,NULL,0,0,NULL,NULL,1795861261.441,1795861263.236,NULL,0,NULL,'Joan',1,1795861383.236,NULL,0,NULL,0,0,0,0,0,0,1795861261.441,20786,2,1);
INSERT INTO "beads" VALUES('slowtests','writing_tests','task',1,NULL,NULL,1,0,NULL,NULL,1795861261.441,1795861263.726,NULL,0,NULL,'Kofi',1,1795861383.726,NULL,0,NULL,0,0,0,0,0,0,1795861261.441,20786,1,0);
INSERT INTO "beads" VALUES('next','needs_doer','task',3,NULL,NULL,0,0,NULL,NULL,1795861261.441,1795861261.441,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861261.441,20788,1,0);
INSERT INTO "beads" VALUES('after','needs_doer','task',2,NULL,NULL,0,0,NULL,NULL,1795861261.441,1795861261.441,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,1,0,0,0,0,0,1795861261.441,20787,1,0);
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
INSERT INTO "breakers" VALUES('fails','','open',3,3,'gave_up_tests: its marker says so');
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
INSERT INTO "edges" VALUES('waits','blocks','asks');
INSERT INTO "edges" VALUES('after','blocks','slow');
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
INSERT INTO "escalations" VALUES(1,'repeated_failure','fails','fails failed 3 times','its marker says so','human',7,'{"attempts":[{"agent":"script","attempt":1,"blockers":"","detail":"its marker says so","head":"956255cef2ab93f1e819ff6da3685afb287ff9ac","learnings":"","name":"Ada","outcome":"gave_up_tests","role":"doer","summary":""},{"agent":"script","attempt":2,"blockers":"","detail":"its marker says so","head":"956255cef2ab93f1e819ff6da3685afb287ff9ac","learnings":"","name":"Dmitri","outcome":"gave_up_tests","role":"doer","summary":""},{"agent":"script","attempt":3,"blockers":"","detail":"its marker says so","head":null,"learnings":"","name":"Fela","outcome":"gave_up_tests","role":"doer","summary":""}]}','a flawed requirement: tests and description may contradict each other',1795861259.515,NULL,NULL,NULL,'','needs_doer','a904a1de855b2c3f408beaf460a33b5c');
INSERT INTO "escalations" VALUES(2,'question','asks','Tabs or spaces?','','human',6,'{}','',1795861259.59,NULL,NULL,NULL,'','needs_doer','3ae8adbc75396057e81d7b1b0ded455b');
CREATE TABLE events (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at FLOAT NOT NULL,
    kind VARCHAR NOT NULL,
    bead VARCHAR,
    attempt INTEGER,
    actor VARCHAR NOT NULL,
    data VARCHAR NOT NULL
);
INSERT INTO "events" VALUES(1,1795861255.85,'proposed','lib',NULL,'person','{"needs":[],"status":"open"}');
INSERT INTO "events" VALUES(2,1795861255.85,'proposed','alpha',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(3,1795861255.85,'proposed','beta',NULL,'person','{"needs":[["alpha","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(4,1795861255.85,'proposed','tested',NULL,'person','{"needs":[],"status":"needs_tests"}');
INSERT INTO "events" VALUES(5,1795861255.85,'proposed','asks',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(6,1795861255.85,'proposed','waits',NULL,'person','{"needs":[["asks","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(7,1795861255.85,'proposed','holds',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(8,1795861255.85,'proposed','later',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(9,1795861255.85,'proposed','gone',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(10,1795861255.85,'proposed','byhand',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(11,1795861255.85,'proposed','fails',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(12,1795861256.135,'held','holds',NULL,'person','{"before":null,"reason":""}');
INSERT INTO "events" VALUES(13,1795861256.303,'deferred','later',NULL,'person','{"before":null,"until":1893456000.0}');
INSERT INTO "events" VALUES(14,1795861256.482,'cancelled','gone',NULL,'person','{"before":"needs_doer","reason":"","return_to":null}');
INSERT INTO "events" VALUES(15,1795861256.658,'done_by_hand','byhand',NULL,'person','{"before":"needs_doer","reason":"","return_to":null}');
INSERT INTO "events" VALUES(16,1795861256.848,'proposed','idea',NULL,'person','{"needs":[],"status":"draft"}');
INSERT INTO "events" VALUES(17,1795861258.49,'daemon_started',NULL,NULL,'nobrakes','{"pid":17411}');
INSERT INTO "events" VALUES(18,1795861258.523,'doer_started','fails',1,'nobrakes','{"agent":"script","model":"","name":"Ada","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(19,1795861258.708,'test_writer_started','tested',2,'nobrakes','{"agent":"script","model":"","name":"Bowie","number":1,"role":"test_writer"}');
INSERT INTO "events" VALUES(20,1795861258.733,'doer_started','alpha',3,'nobrakes','{"agent":"script","model":"","name":"Cleo","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(21,1795861258.924,'doer_stopped','fails',1,'nobrakes','{"detail":"its marker says so","head":"956255cef2ab93f1e819ff6da3685afb287ff9ac","merged_commit":null,"name":"Ada","number":1,"outcome":"gave_up_tests","role":"doer"}');
INSERT INTO "events" VALUES(22,1795861258.947,'doer_started','fails',4,'nobrakes','{"agent":"script","model":"","name":"Dmitri","number":2,"role":"doer"}');
INSERT INTO "events" VALUES(23,1795861259.096,'work_submitted','alpha',3,'nobrakes','{"detail":"it exited with 0","head":"fa025cd5fd4776e1bb1053b4cc2954dbda105e96","merged_commit":null,"name":"Cleo","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(24,1795861259.098,'review_started','alpha',5,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(25,1795861259.117,'doer_started','asks',6,'nobrakes','{"agent":"script","model":"","name":"Edith","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(26,1795861259.167,'doer_stopped','fails',4,'nobrakes','{"detail":"its marker says so","head":"956255cef2ab93f1e819ff6da3685afb287ff9ac","merged_commit":null,"name":"Dmitri","number":2,"outcome":"gave_up_tests","role":"doer"}');
INSERT INTO "events" VALUES(27,1795861259.169,'doer_started','fails',7,'nobrakes','{"agent":"script","model":"","name":"Fela","number":3,"role":"doer"}');
INSERT INTO "events" VALUES(28,1795861259.279,'tests_proven_red','tested',2,'nobrakes','{"detail":"the new tests fail, as they should","head":"ba46112ece20d1237cbe1d4c65b5722ad94046a8","merged_commit":null,"name":"Bowie","number":1,"outcome":"completed","role":"test_writer"}');
INSERT INTO "events" VALUES(29,1795861259.281,'doer_started','tested',8,'nobrakes','{"agent":"script","model":"","name":"Grace","number":2,"role":"doer"}');
INSERT INTO "events" VALUES(30,1795861259.339,'review_step','alpha',5,'nobrakes','{"commit":"fa025cd5fd4776e1bb1053b4cc2954dbda105e96","results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.1400001049041748,"tail":""}],"run":"5-check1","step":"validate_branch"}');
INSERT INTO "events" VALUES(31,1795861259.501,'work_submitted','tested',8,'nobrakes','{"detail":"it exited with 0","head":"a6ef9e918f7982b699cef78852dedab4d781d965","merged_commit":null,"name":"Grace","number":2,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(32,1795861259.502,'review_started','tested',9,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer 2","number":3,"role":"reviewer"}');
INSERT INTO "events" VALUES(33,1795861259.515,'doer_stopped','fails',7,'nobrakes','{"detail":"its marker says so","head":"956255cef2ab93f1e819ff6da3685afb287ff9ac","merged_commit":null,"name":"Fela","number":3,"outcome":"gave_up_tests","role":"doer"}');
INSERT INTO "events" VALUES(34,1795861259.515,'escalated','fails',7,'nobrakes','{"escalation":1,"title":"fails failed 3 times","type":"repeated_failure"}');
INSERT INTO "events" VALUES(35,1795861259.537,'review_step','alpha',5,'nobrakes','{"commit":"956255cef2ab93f1e819ff6da3685afb287ff9ac","results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.13881182670593262,"tail":""}],"run":"5-check2","step":"count_base"}');
INSERT INTO "events" VALUES(36,1795861259.59,'escalated','asks',6,'Edith','{"escalation":2,"title":"Tabs or spaces?","type":"question"}');
INSERT INTO "events" VALUES(37,1795861259.637,'merged','alpha',5,'nobrakes','{"detail":"merged","head":"fa025cd5fd4776e1bb1053b4cc2954dbda105e96","merged_commit":"11e26f11d6ea621ee495cc2e1c0d653eb3d1f769","name":"Reviewer","number":2,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(38,1795861259.64,'doer_started','beta',10,'nobrakes','{"agent":"script","model":"","name":"Hugo","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(39,1795861259.743,'review_step','tested',9,'nobrakes','{"commit":"a6ef9e918f7982b699cef78852dedab4d781d965","results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.18000006675720215,"tail":""}],"run":"9-check1","step":"validate_branch"}');
INSERT INTO "events" VALUES(40,1795861259.848,'doer_stopped','asks',6,'nobrakes','{"detail":"waits for an answer","head":"956255cef2ab93f1e819ff6da3685afb287ff9ac","merged_commit":null,"name":"Edith","number":1,"outcome":"blocked","role":"doer"}');
INSERT INTO "events" VALUES(41,1795861259.91,'review_step','tested',9,'nobrakes','{"commit":"0bec6331c535539a4ab2e10d90668eec2a6c2939","results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.06399989128112793,"tail":""}],"run":"9-check2","step":"validate_rebased"}');
INSERT INTO "events" VALUES(42,1795861259.964,'merged','tested',9,'nobrakes','{"detail":"merged","head":"a6ef9e918f7982b699cef78852dedab4d781d965","merged_commit":"0bec6331c535539a4ab2e10d90668eec2a6c2939","name":"Reviewer 2","number":3,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(43,1795861260.064,'work_submitted','beta',10,'nobrakes','{"detail":"it exited with 0","head":"879117b58438140ce867cf3a15930376ca3062d8","merged_commit":null,"name":"Hugo","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(44,1795861260.066,'review_started','beta',11,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(45,1795861260.202,'review_step','beta',11,'nobrakes','{"commit":"879117b58438140ce867cf3a15930376ca3062d8","results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.09142327308654785,"tail":""}],"run":"11-check1","step":"validate_branch"}');
INSERT INTO "events" VALUES(46,1795861260.363,'review_step','beta',11,'nobrakes','{"commit":"a67936d7cdda85cda4cb9e1b17b095b5879e3529","results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.12400007247924805,"tail":""}],"run":"11-check2","step":"validate_rebased"}');
INSERT INTO "events" VALUES(47,1795861260.407,'merged','beta',11,'nobrakes','{"detail":"merged","head":"879117b58438140ce867cf3a15930376ca3062d8","merged_commit":"a67936d7cdda85cda4cb9e1b17b095b5879e3529","name":"Reviewer","number":2,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(48,1795861260.409,'epic_completed','lib',NULL,'nobrakes','{"before":"open","return_to":null}');
INSERT INTO "events" VALUES(49,1795861260.454,'daemon_stopped',NULL,NULL,'nobrakes','{"pid":17411}');
INSERT INTO "events" VALUES(50,1795861260.892,'limits_changed',NULL,NULL,'person','{"after":{"doers":2},"before":{}}');
INSERT INTO "events" VALUES(51,1795861261.441,'proposed','reviewed',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(52,1795861261.441,'proposed','slow',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(53,1795861261.441,'proposed','slowtests',NULL,'person','{"needs":[],"status":"needs_tests"}');
INSERT INTO "events" VALUES(54,1795861261.441,'proposed','next',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(55,1795861261.441,'proposed','after',NULL,'person','{"needs":[["slow","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(56,1795861262.988,'daemon_started',NULL,NULL,'nobrakes','{"pid":17599}');
INSERT INTO "events" VALUES(57,1795861263.04,'doer_started','reviewed',12,'nobrakes','{"agent":"script","model":"","name":"Iris","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(58,1795861263.236,'doer_started','slow',13,'nobrakes','{"agent":"script","model":"","name":"Joan","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(59,1795861263.635,'work_submitted','reviewed',12,'nobrakes','{"detail":"it exited with 0","head":"01f8f64104daf7233f4ebc17c176fe2dc17465ad","merged_commit":null,"name":"Iris","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(60,1795861263.674,'review_started','reviewed',14,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(61,1795861263.726,'test_writer_started','slowtests',15,'nobrakes','{"agent":"script","model":"","name":"Kofi","number":1,"role":"test_writer"}');
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
INSERT INTO "runs" VALUES('13-agent',13,'agent',1795861263.238,17613,'54bb90c6-9fda-4ac0-b271-dabd0158a219:4359947',1795864863.238,600.0,1795861263.238,0.0,'',NULL,NULL);
INSERT INTO "runs" VALUES('14-check1',14,'validation',1795861263.701,17617,'54bb90c6-9fda-4ac0-b271-dabd0158a219:4359949',1795864863.701,0.0,1795861263.701,0.0,'',NULL,NULL);
INSERT INTO "runs" VALUES('15-agent',15,'agent',1795861263.729,17635,'54bb90c6-9fda-4ac0-b271-dabd0158a219:4359995',1795864863.729,600.0,1795861263.729,0.0,'',NULL,NULL);
CREATE TABLE settings (
    "key" VARCHAR NOT NULL,
    value VARCHAR NOT NULL,
    PRIMARY KEY ("key")
);
INSERT INTO "settings" VALUES('limits','{"doers": 2}');
INSERT INTO "settings" VALUES('run_since','1795861262.971');
INSERT INTO "settings" VALUES('name_cursor','11');
INSERT INTO "settings" VALUES('news','61');
CREATE TABLE validations (
    tree VARCHAR NOT NULL,
    contract VARCHAR NOT NULL,
    results VARCHAR NOT NULL,
    at FLOAT NOT NULL,
    PRIMARY KEY (tree, contract)
);
INSERT INTO "validations" VALUES('43dad0b95209c871117a4974d33a008a9747e87b','0a8464a9fc60f3a0','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.1400001049041748,"tail":""}],"runs":[{"at":1795861259.337,"attempt":5,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.1400001049041748}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"b7965c9ae5b5eee9","quarantined":[],"setup":""},"run":"5-check1"}]}',1795861259.338);
INSERT INTO "validations" VALUES('424935f9cd169353985e3402edf152c3d5c98118','0a8464a9fc60f3a0','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.13881182670593262,"tail":""}],"runs":[{"at":1795861259.537,"attempt":5,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.13881182670593262}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"b7965c9ae5b5eee9","quarantined":[],"setup":""},"run":"5-check2"}]}',1795861259.537);
INSERT INTO "validations" VALUES('15c40b997206e37eabe06464d3b0c407973edb08','0a8464a9fc60f3a0','{"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.18000006675720215,"tail":""}],"runs":[{"at":1795861259.726,"attempt":9,"checks":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"excerpt":"ok 1 - tests/test_begin.sh\nok 2 - tests/test_tested.sh\n1..2","name":"test","outcome":"pass","reason":"it passed","seconds":0.18000006675720215}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"b7965c9ae5b5eee9","quarantined":[],"setup":""},"run":"9-check1"}]}',1795861259.726);
INSERT INTO "validations" VALUES('31413df5ac620a5f0e9fb544a741e315123f172a','0a8464a9fc60f3a0','{"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.06399989128112793,"tail":""}],"runs":[{"at":1795861259.909,"attempt":9,"checks":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"excerpt":"ok 1 - tests/test_begin.sh\nok 2 - tests/test_tested.sh\n1..2","name":"test","outcome":"pass","reason":"it passed","seconds":0.06399989128112793}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"b7965c9ae5b5eee9","quarantined":[],"setup":""},"run":"9-check2"}]}',1795861259.91);
INSERT INTO "validations" VALUES('c749625ed9710729d0b2d52326035eaa25ac997e','0a8464a9fc60f3a0','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.09142327308654785,"tail":""}],"runs":[{"at":1795861260.201,"attempt":11,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.09142327308654785}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"b7965c9ae5b5eee9","quarantined":[],"setup":""},"run":"11-check1"}]}',1795861260.201);
INSERT INTO "validations" VALUES('0d0ecbb51e7d682acaae31d40d68ee7eea33439a','0a8464a9fc60f3a0','{"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.12400007247924805,"tail":""}],"runs":[{"at":1795861260.362,"attempt":11,"checks":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"excerpt":"ok 1 - tests/test_begin.sh\nok 2 - tests/test_tested.sh\n1..2","name":"test","outcome":"pass","reason":"it passed","seconds":0.12400007247924805}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"b7965c9ae5b5eee9","quarantined":[],"setup":""},"run":"11-check2"}]}',1795861260.363);
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
INSERT INTO "sqlite_sequence" VALUES('events',61);
INSERT INTO "sqlite_sequence" VALUES('attempts',15);
INSERT INTO "sqlite_sequence" VALUES('escalations',2);
COMMIT;
PRAGMA user_version = 2;
