BEGIN TRANSACTION;
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
INSERT INTO "attempts" VALUES(1,'fails',1,'doer','Ada',1,'1.1.6gkWvOAzS5Qxk6rBX5dVPuqwo7SqxKiT',1795861325.599,'script','daeaee97318b6fe744610147fa6b74e7cea7ab02','daeaee97318b6fe744610147fa6b74e7cea7ab02',1795861326.105,'gave_up_tests','its marker says so','','','',1,NULL,'{"begun":false,"diary":null,"fork":"daeaee97318b6fe744610147fa6b74e7cea7ab02","phase":"agent","resumes":null,"rounds":0,"start":"daeaee97318b6fe744610147fa6b74e7cea7ab02","told":"f5558ce53e64e6bd","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(2,'tested',1,'test_writer','Bowie',1,'2.1.NgM1OQtuXcCXlvGS1LJQdmzrtc5zpZ25',1795861325.647,'script','daeaee97318b6fe744610147fa6b74e7cea7ab02','510f7f469ad9cc4b5bf24bdea2a4083a1810eea3',1795861326.759,'completed','the new tests fail, as they should','','','',1,NULL,'{"begun":false,"cheat":0,"cut_off":0,"diary":null,"fork":"daeaee97318b6fe744610147fa6b74e7cea7ab02","head":"510f7f469ad9cc4b5bf24bdea2a4083a1810eea3","met":[],"phase":"cheats","red_proof":[{"code":1,"counts":{"failed":1,"passed":1,"skipped":0},"decoy":"","failing":["tests/test_tested.sh"],"name":"test","outcome":"fail","quarantined":[],"reason":"it exited with 1","repeated":[],"seconds":0.13199996948242188,"tail":"ok 1 - tests/test_begin.sh\nnot ok 2 - tests/test_tested.sh\n1..2\n"}],"resumes":null,"rounds":0,"start":"daeaee97318b6fe744610147fa6b74e7cea7ab02","told":"1e704171f1f64a85","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(3,'alpha',1,'doer','Cleo',1,'3.1.JS5__6qYv7RNQBIMxn2BZEM5KUa5zcEa',1795861325.741,'script','daeaee97318b6fe744610147fa6b74e7cea7ab02','adb98d4f9031a41e1f1ae78615c1cc4b4a146dda',1795861326.592,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"fork":"daeaee97318b6fe744610147fa6b74e7cea7ab02","phase":"agent","resumes":null,"rounds":0,"start":"daeaee97318b6fe744610147fa6b74e7cea7ab02","told":"809d2594cbfceb8b","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(4,'fails',2,'doer','Dmitri',2,'4.2.XpqjcI81sQxm5lMnkYmg3RksnsMsmYeA',1795861326.109,'script','daeaee97318b6fe744610147fa6b74e7cea7ab02','daeaee97318b6fe744610147fa6b74e7cea7ab02',1795861326.543,'gave_up_tests','its marker says so','','','',1,NULL,'{"begun":false,"diary":null,"fork":"daeaee97318b6fe744610147fa6b74e7cea7ab02","phase":"agent","resumes":null,"rounds":0,"start":"daeaee97318b6fe744610147fa6b74e7cea7ab02","told":"f5558ce53e64e6bd","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(5,'fails',3,'doer','Edith',3,'5.3.tSoYkiSu20REIWcOH5oiS6tOnJQrB3HK',1795861326.546,'script','daeaee97318b6fe744610147fa6b74e7cea7ab02','daeaee97318b6fe744610147fa6b74e7cea7ab02',1795861326.931,'gave_up_tests','its marker says so','','','',1,NULL,'{"begun":false,"diary":null,"fork":"daeaee97318b6fe744610147fa6b74e7cea7ab02","phase":"agent","resumes":null,"rounds":0,"start":"daeaee97318b6fe744610147fa6b74e7cea7ab02","told":"f5558ce53e64e6bd","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(6,'alpha',2,'reviewer','Reviewer',2,'6.2.pr27S2iauDOuCAEI-H0zxqQNBlZVroE2',1795861326.637,'nobrakes',NULL,'adb98d4f9031a41e1f1ae78615c1cc4b4a146dda',1795861327.368,'completed','merged','','','',1,NULL,'{"again":0,"anchor":"none","apart":"","approval":{},"base":"daeaee97318b6fe744610147fa6b74e7cea7ab02","before":[],"behind":0,"brings":"","candidate":"57068a35064a19881d72b22854b41f4de1aa941b","carried":[],"carried_for":"","chain":[],"checked":0,"confirming":"","contract":"7ab01dbd9f7a125c","counted":"","cut_off":0,"epic":"","failure":"","fork":"daeaee97318b6fe744610147fa6b74e7cea7ab02","gates":[],"head":"adb98d4f9031a41e1f1ae78615c1cc4b4a146dda","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"merged_as":"","passing":false,"passing_since":0.0,"proven":"validate_rebased 57068a35064a19881d72b22854b41f4de1aa941b 7ab01dbd9f7a125c","published":false,"reading":{},"rebuilt":0,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.24953746795654297,"tail":""}],"serial":1,"step":"clean_up","tip":"57068a35064a19881d72b22854b41f4de1aa941b","tree":"43dad0b95209c871117a4974d33a008a9747e87b","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(7,'asks',1,'doer','Fela',1,'7.1.PPveUlOlMwgAJ-_SbU7dLMzX3iBFmma1',1795861326.738,'script','daeaee97318b6fe744610147fa6b74e7cea7ab02','daeaee97318b6fe744610147fa6b74e7cea7ab02',1795861327.444,'blocked','waits for an answer','','','',1,NULL,'{"begun":false,"diary":null,"fork":"daeaee97318b6fe744610147fa6b74e7cea7ab02","phase":"agent","resumes":null,"rounds":0,"start":"daeaee97318b6fe744610147fa6b74e7cea7ab02","told":"e1d6f6478a48bd05","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(8,'tested',2,'doer','Grace',2,'8.2.aJEqlHPxyDMayoT6PX9md_WcmJMFW3tV',1795861326.762,'script','daeaee97318b6fe744610147fa6b74e7cea7ab02','2660af2bda218f54f9c259406c3dd39b211ac5cc',1795861327.552,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"fork":"daeaee97318b6fe744610147fa6b74e7cea7ab02","phase":"agent","resumes":null,"rounds":0,"start":"510f7f469ad9cc4b5bf24bdea2a4083a1810eea3","told":"1e704171f1f64a85","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(9,'beta',1,'doer','Hugo',1,'9.1.0jkP64lSdtLUZZTponJypSAjUhRm45oJ',1795861327.373,'script','57068a35064a19881d72b22854b41f4de1aa941b','e5d68a6f97730d975fb553cb5af4ba86d2a72a65',1795861328.609,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"fork":"57068a35064a19881d72b22854b41f4de1aa941b","phase":"agent","resumes":null,"rounds":0,"start":"57068a35064a19881d72b22854b41f4de1aa941b","told":"15f8613b86277bb5","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(10,'tested',3,'reviewer','Reviewer',3,'10.3.5QO9YPu9gq5h2M7ULwV0tkU3lEeoyoH_',1795861327.579,'nobrakes',NULL,'2660af2bda218f54f9c259406c3dd39b211ac5cc',1795861328.323,'completed','merged','','','',1,NULL,'{"again":0,"anchor":"8cf8dce96174caf0b8bc3955cd28f2237c05f7c5","apart":"","approval":{},"base":"57068a35064a19881d72b22854b41f4de1aa941b","before":[],"behind":0,"brings":"","candidate":"af43c09b0de8fe81b4707785b43215b7cfc77281","carried":[],"carried_for":"","chain":[],"checked":0,"confirming":"","contract":"7ab01dbd9f7a125c","counted":"","cut_off":0,"epic":"","failure":"","fork":"daeaee97318b6fe744610147fa6b74e7cea7ab02","gates":[],"head":"2660af2bda218f54f9c259406c3dd39b211ac5cc","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"merged_as":"","passing":false,"passing_since":0.0,"proven":"validate_rebased af43c09b0de8fe81b4707785b43215b7cfc77281 7ab01dbd9f7a125c","published":false,"reading":{},"rebuilt":0,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.14967560768127441,"tail":""}],"serial":1,"step":"clean_up","tip":"af43c09b0de8fe81b4707785b43215b7cfc77281","tree":"31413df5ac620a5f0e9fb544a741e315123f172a","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(11,'beta',2,'reviewer','Reviewer',2,'11.2.4pd-U1iHAGx4XUWCvhA-KEMvFafvLzS3',1795861328.62,'nobrakes',NULL,'e5d68a6f97730d975fb553cb5af4ba86d2a72a65',1795861329.21,'completed','merged','','','',1,NULL,'{"again":0,"anchor":"2d4294c48a8aa8f910f113db4d53063f973a51d9","apart":"","approval":{},"base":"af43c09b0de8fe81b4707785b43215b7cfc77281","before":[],"behind":0,"brings":"","candidate":"1a78d71cd8e2c5ad89651744740b825d234da232","carried":[],"carried_for":"","chain":[],"checked":0,"confirming":"","contract":"7ab01dbd9f7a125c","counted":"","cut_off":0,"epic":"","failure":"","fork":"57068a35064a19881d72b22854b41f4de1aa941b","gates":[],"head":"e5d68a6f97730d975fb553cb5af4ba86d2a72a65","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"merged_as":"","passing":false,"passing_since":0.0,"proven":"validate_rebased 1a78d71cd8e2c5ad89651744740b825d234da232 7ab01dbd9f7a125c","published":false,"reading":{},"rebuilt":0,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.14800000190734863,"tail":""}],"serial":1,"step":"clean_up","tip":"1a78d71cd8e2c5ad89651744740b825d234da232","tree":"0d0ecbb51e7d682acaae31d40d68ee7eea33439a","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(12,'reviewed',1,'doer','Iris',1,'12.1.1FJ9WOk841MLppXMzZd5tdeoRY5tvLnK',1795861342.092,'script','1a78d71cd8e2c5ad89651744740b825d234da232','ee4cc9c825db4a5f7c5bbf8f643f6e6a128b19ca',1795861343.275,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"fork":"1a78d71cd8e2c5ad89651744740b825d234da232","phase":"agent","resumes":null,"rounds":0,"start":"1a78d71cd8e2c5ad89651744740b825d234da232","told":"fabce9e38bced1f5","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(13,'slow',1,'doer','Joan',1,'13.1.uZR-16A9Qd8SXnY6M9MsZFVvcFPTHChO',1795861342.368,'script','1a78d71cd8e2c5ad89651744740b825d234da232',NULL,NULL,NULL,'','','','',1,NULL,'{"begun":false,"diary":null,"fork":"1a78d71cd8e2c5ad89651744740b825d234da232","phase":"agent","resumes":null,"start":"1a78d71cd8e2c5ad89651744740b825d234da232","told":"a480442f89a07ab9","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(14,'reviewed',2,'reviewer','Reviewer',2,'14.2.BPppIhp4GzuGO6TYGL9GZlvKxraY0Zuf',1795861343.292,'nobrakes',NULL,NULL,NULL,NULL,'','','','',1,NULL,'{"again":0,"anchor":"1d9614e1ccd2075e2e8bc822545b3b39f02f5744","apart":"","approval":{},"base":"1a78d71cd8e2c5ad89651744740b825d234da232","before":[],"behind":0,"brings":"","candidate":"2fff19081526c26daa986f9943039755d649aa01","carried":[],"carried_for":"","chain":[],"checked":0,"confirming":"","contract":"7ab01dbd9f7a125c","counted":"","cut_off":0,"epic":"","failure":"","fork":"1a78d71cd8e2c5ad89651744740b825d234da232","gates":[],"head":"ee4cc9c825db4a5f7c5bbf8f643f6e6a128b19ca","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"merged_as":"","passing":false,"passing_since":0.0,"proven":"","published":false,"reading":{},"rebuilt":0,"red":0,"results":[],"serial":1,"step":"validate_rebased","tip":"","tree":"54c56adbd2c2b5f02fb6b6b61072b404535d921c","validating":"2fff19081526c26daa986f9943039755d649aa01","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(15,'slowtests',1,'test_writer','Kofi',1,'15.1.MfiGsiGYZFQqmW5oOY6JuEuLz5V-18x3',1795861343.389,'script','1a78d71cd8e2c5ad89651744740b825d234da232',NULL,NULL,NULL,'','','','',1,NULL,'{"begun":false,"diary":null,"fork":"1a78d71cd8e2c5ad89651744740b825d234da232","phase":"agent","resumes":null,"start":"1a78d71cd8e2c5ad89651744740b825d234da232","told":"61cdfa8f4fe9cb8d","window":0}','','',0.0,0,NULL);
CREATE TABLE bead_text (
    id VARCHAR NOT NULL, title VARCHAR NOT NULL, description VARCHAR NOT NULL, acceptance VARCHAR NOT NULL,
    labels VARCHAR NOT NULL, touches VARCHAR NOT NULL, notes VARCHAR NOT NULL, metadata VARCHAR NOT NULL,
    close_reason VARCHAR NOT NULL, proposed VARCHAR DEFAULT '{}' NOT NULL, PRIMARY KEY (id),
    FOREIGN KEY(id) REFERENCES beads (id)
);
INSERT INTO "bead_text" VALUES('lib','Make lib','','[]','[]','[]','','{}','epic completed','{}');
INSERT INTO "bead_text" VALUES('alpha','Make alpha','','[]','[]','[]','','{}','merged','{}');
INSERT INTO "bead_text" VALUES('beta','Make beta','','[]','[]','[]','','{}','merged','{}');
INSERT INTO "bead_text" VALUES('tested','Make tested','','[]','[]','[]','','{}','merged','{}');
INSERT INTO "bead_text" VALUES('asks','Make asks','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('waits','Make waits','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('holds','Make holds','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('later','Make later','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('gone','Make gone','','[]','[]','[]','','{}','cancelled','{}');
INSERT INTO "bead_text" VALUES('byhand','Make byhand','','[]','[]','[]','','{}','done by hand','{}');
INSERT INTO "bead_text" VALUES('fails','Make fails','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('idea','An idea','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('nb-xa3vbx','Login','People log in.','["The tests pass: `sh tests/run.sh`","There are no type errors","There are no lint errors","Nothing unexpected is written to stderr or the log: no warnings, no tracebacks","What is printed fits a narrow terminal (responsive)","What takes long says that it is at work (loading states)","Errors are handled: what fails says what happened and what to do","Everybody can use it: without colours and in plain text (accessibility)"]','[]','[]','','{"feature":{"actor":"person","archived":false,"base":"1a78d71cd8e2c5ad89651744740b825d234da232","created_at":1795861330.849,"criteria":[{"how":"automated","text":"The tests pass: `sh tests/run.sh`","usual":true},{"how":"manual","text":"There are no type errors","usual":true},{"how":"manual","text":"There are no lint errors","usual":true},{"how":"manual","text":"Nothing unexpected is written to stderr or the log: no warnings, no tracebacks","usual":true},{"how":"manual","text":"What is printed fits a narrow terminal (responsive)","usual":true},{"how":"manual","text":"What takes long says that it is at work (loading states)","usual":true},{"how":"review","text":"Errors are handled: what fails says what happened and what to do","usual":true},{"how":"manual","text":"Everybody can use it: without colours and in plain text (accessibility)","usual":true}],"files":[],"notes":"","replannings":0,"stage":"discovery","state":"active"}}','','{}');
INSERT INTO "bead_text" VALUES('reviewed','Make reviewed','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('slow','Make slow','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('slowtests','Make slowtests','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('next','Make next','','[]','[]','[]','','{}','','{}');
INSERT INTO "bead_text" VALUES('after','Make after','','[]','[]','[]','','{}','','{}');
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
    dependents INTEGER DEFAULT 0 NOT NULL, stacks_on VARCHAR, PRIMARY KEY (id),
    FOREIGN KEY(epic) REFERENCES beads (id)
);
INSERT INTO "beads" VALUES('lib','done','epic',2,NULL,NULL,1,0,NULL,NULL,1795861313.384,1795861329.213,1795861329.213,0,NULL,NULL,0,NULL,'open',0,NULL,0,2,0,2,0,0,1795861313.384,2,0,0,'',1795947713.384,0,NULL);
INSERT INTO "beads" VALUES('alpha','done','task',2,NULL,'lib',0,0,NULL,NULL,1795861313.384,1795861327.368,1795861327.368,0,NULL,NULL,2,NULL,'needs_review',0,'57068a35064a19881d72b22854b41f4de1aa941b',0,0,0,0,0,0,1795861313.384,2,0,0,'task/bead-alpha',1795947713.384,1,NULL);
INSERT INTO "beads" VALUES('beta','done','task',2,NULL,'lib',0,0,NULL,NULL,1795861313.384,1795861329.21,1795861329.21,0,NULL,NULL,2,NULL,'needs_review',0,'1a78d71cd8e2c5ad89651744740b825d234da232',0,0,0,0,0,0,1795861327.368,2,0,0,'task/bead-beta',1795947727.368,0,NULL);
INSERT INTO "beads" VALUES('tested','done','task',1,NULL,NULL,1,0,NULL,NULL,1795861313.384,1795861328.323,1795861328.323,0,NULL,NULL,3,NULL,'needs_review',0,'af43c09b0de8fe81b4707785b43215b7cfc77281',0,0,0,0,0,0,1795861313.384,1,0,0,'task/bead-tested',1795947713.384,0,NULL);
INSERT INTO "beads" VALUES('asks','escalated','task',2,NULL,NULL,0,0,NULL,NULL,1795861313.384,1795861327.444,NULL,0,NULL,NULL,1,NULL,'needs_doer',1,NULL,0,0,0,0,0,0,1795861313.384,2,2,1,'task/bead-asks',1795947713.384,1,NULL);
INSERT INTO "beads" VALUES('waits','needs_doer','task',2,NULL,NULL,0,0,NULL,NULL,1795861313.384,1795861313.384,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,1,0,0,0,0,0,1795861313.384,2,1,0,'',1795947713.384,0,NULL);
INSERT INTO "beads" VALUES('holds','needs_doer','task',2,NULL,NULL,0,0,'held',NULL,1795861313.384,1795861314.735,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861313.384,2,1,0,'',1795947713.384,0,NULL);
INSERT INTO "beads" VALUES('later','needs_doer','task',2,NULL,NULL,0,0,NULL,1893456000.0,1795861313.384,1795861316.096,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,1,0,1795861313.384,2,1,0,'',1795947713.384,0,NULL);
INSERT INTO "beads" VALUES('gone','cancelled','task',2,NULL,NULL,0,0,NULL,NULL,1795861313.384,1795861317.541,1795861317.541,0,NULL,NULL,0,NULL,'needs_doer',0,NULL,0,0,0,0,0,0,1795861313.384,2,0,0,'',1795947713.384,0,NULL);
INSERT INTO "beads" VALUES('byhand','done','task',2,NULL,NULL,0,0,NULL,NULL,1795861313.384,1795861318.985,1795861318.985,0,NULL,NULL,0,NULL,'needs_doer',0,NULL,0,0,0,0,0,0,1795861313.384,2,0,0,'',1795947713.384,0,NULL);
INSERT INTO "beads" VALUES('fails','escalated','task',0,NULL,NULL,0,0,NULL,NULL,1795861313.384,1795861326.931,NULL,3,NULL,NULL,3,NULL,'needs_doer',1,NULL,0,0,0,0,0,0,1795861313.384,0,1,0,'task/bead-fails',1795947713.384,0,NULL);
INSERT INTO "beads" VALUES('idea','draft','task',2,NULL,NULL,1,0,NULL,NULL,1795861320.565,1795861320.565,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861320.565,2,1,0,'',1795947720.565,0,NULL);
INSERT INTO "beads" VALUES('nb-xa3vbx','draft','epic',2,NULL,NULL,1,0,NULL,NULL,1795861330.848,1795861330.848,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861330.848,2,0,0,'',1795947730.848,0,NULL);
INSERT INTO "beads" VALUES('reviewed','reviewing','task',0,NULL,NULL,0,0,NULL,NULL,1795861337.319,1795861343.292,NULL,0,NULL,'Reviewer',2,1795861463.292,NULL,1,NULL,0,0,0,0,0,0,1795861337.319,0,1,0,'task/bead-reviewed',1795947737.319,0,NULL);
INSERT INTO "beads" VALUES('slow','doing','task',1,NULL,NULL,0,0,NULL,NULL,1795861337.319,1795861342.368,NULL,0,NULL,'Joan',1,1795861462.368,NULL,0,NULL,0,0,0,0,0,0,1795861337.319,1,2,1,'task/bead-slow',1795947737.319,1,NULL);
INSERT INTO "beads" VALUES('slowtests','writing_tests','task',1,NULL,NULL,1,0,NULL,NULL,1795861337.319,1795861343.389,NULL,0,NULL,'Kofi',1,1795861463.389,NULL,0,NULL,0,0,0,0,0,0,1795861337.319,1,1,0,'task/bead-slowtests',1795947737.319,0,NULL);
INSERT INTO "beads" VALUES('next','needs_doer','task',3,NULL,NULL,0,0,NULL,NULL,1795861337.319,1795861337.319,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861337.319,3,1,0,'',1795947737.319,0,NULL);
INSERT INTO "beads" VALUES('after','needs_doer','task',2,NULL,NULL,0,0,NULL,NULL,1795861337.319,1795861337.319,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,1,0,0,0,0,0,1795861337.319,2,1,0,'',1795947737.319,0,NULL);
CREATE TABLE breakers (
    owner VARCHAR NOT NULL, provider VARCHAR NOT NULL, state VARCHAR NOT NULL, idle INTEGER NOT NULL,
    same INTEGER NOT NULL, error VARCHAR NOT NULL, PRIMARY KEY (owner, provider)
);
INSERT INTO "breakers" VALUES('bead:fails','','open',3,3,'gave_up_tests: its marker says so');
CREATE TABLE deliveries (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, notice INTEGER NOT NULL, channel VARCHAR NOT NULL,
    state VARCHAR NOT NULL, due_at FLOAT NOT NULL, tries INTEGER NOT NULL, ended_at FLOAT,
    error VARCHAR NOT NULL, digest INTEGER, FOREIGN KEY(notice) REFERENCES notices (id)
);
CREATE TABLE edges (
    bead VARCHAR NOT NULL, type VARCHAR NOT NULL, needs VARCHAR NOT NULL, PRIMARY KEY (bead, type, needs),
    FOREIGN KEY(bead) REFERENCES beads (id), FOREIGN KEY(needs) REFERENCES beads (id)
) WITHOUT ROWID;
INSERT INTO "edges" VALUES('beta','blocks','alpha');
INSERT INTO "edges" VALUES('waits','blocks','asks');
INSERT INTO "edges" VALUES('after','blocks','slow');
CREATE TABLE escalations (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, type VARCHAR NOT NULL, bead VARCHAR,
    title VARCHAR NOT NULL, detail VARCHAR NOT NULL, target VARCHAR NOT NULL, attempt INTEGER,
    evidence VARCHAR NOT NULL, hypothesis VARCHAR NOT NULL, created_at FLOAT NOT NULL, answer VARCHAR,
    answered_at FLOAT, resolved_at FLOAT, resolution VARCHAR NOT NULL, return_to VARCHAR,
    fingerprint VARCHAR NOT NULL, session INTEGER, form VARCHAR DEFAULT '' NOT NULL, value VARCHAR,
    read_at FLOAT, FOREIGN KEY(bead) REFERENCES beads (id), FOREIGN KEY(attempt) REFERENCES attempts (id),
    FOREIGN KEY(session) REFERENCES sessions (id)
);
INSERT INTO "escalations" VALUES(1,'repeated_failure','fails','fails failed 3 times','its marker says so','human',5,'{"attempts":[{"agent":"script","attempt":1,"blockers":"","detail":"its marker says so","head":"daeaee97318b6fe744610147fa6b74e7cea7ab02","learnings":"","name":"Ada","outcome":"gave_up_tests","role":"doer","summary":""},{"agent":"script","attempt":2,"blockers":"","detail":"its marker says so","head":"daeaee97318b6fe744610147fa6b74e7cea7ab02","learnings":"","name":"Dmitri","outcome":"gave_up_tests","role":"doer","summary":""},{"agent":"script","attempt":3,"blockers":"","detail":"its marker says so","head":null,"learnings":"","name":"Edith","outcome":"gave_up_tests","role":"doer","summary":""}]}','',1795861326.931,NULL,NULL,NULL,'','needs_doer','a904a1de855b2c3f408beaf460a33b5c',NULL,'',NULL,NULL);
INSERT INTO "escalations" VALUES(2,'question','asks','Tabs or spaces?','','human',7,'{}','',1795861327.071,NULL,NULL,NULL,'','needs_doer','3ae8adbc75396057e81d7b1b0ded455b',NULL,'',NULL,NULL);
INSERT INTO "escalations" VALUES(3,'question',NULL,'Which store?','','human',NULL,'{}','',1795861334.752,NULL,NULL,NULL,'',NULL,'126338caac7774c84c7b5410a28a9040',1,'',NULL,NULL);
CREATE TABLE events (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, at FLOAT NOT NULL, kind VARCHAR NOT NULL, bead VARCHAR,
    attempt INTEGER, actor VARCHAR NOT NULL, data VARCHAR NOT NULL
);
INSERT INTO "events" VALUES(1,1795861313.384,'proposed','lib',NULL,'person','{"needs":[],"status":"open"}');
INSERT INTO "events" VALUES(2,1795861313.384,'proposed','alpha',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(3,1795861313.384,'proposed','beta',NULL,'person','{"needs":[["alpha","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(4,1795861313.384,'proposed','tested',NULL,'person','{"needs":[],"status":"needs_tests"}');
INSERT INTO "events" VALUES(5,1795861313.384,'proposed','asks',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(6,1795861313.384,'proposed','waits',NULL,'person','{"needs":[["asks","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(7,1795861313.384,'proposed','holds',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(8,1795861313.384,'proposed','later',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(9,1795861313.384,'proposed','gone',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(10,1795861313.384,'proposed','byhand',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(11,1795861313.384,'proposed','fails',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(12,1795861314.735,'held','holds',NULL,'person','{"before":null,"reason":""}');
INSERT INTO "events" VALUES(13,1795861316.096,'deferred','later',NULL,'person','{"before":null,"until":1893456000.0}');
INSERT INTO "events" VALUES(14,1795861317.541,'cancelled','gone',NULL,'person','{"before":"needs_doer","reason":"","return_to":null}');
INSERT INTO "events" VALUES(15,1795861318.985,'done_by_hand','byhand',NULL,'person','{"before":"needs_doer","reason":"","return_to":null}');
INSERT INTO "events" VALUES(16,1795861320.565,'proposed','idea',NULL,'person','{"needs":[],"status":"draft"}');
INSERT INTO "events" VALUES(17,1795861325.052,'daemon_started',NULL,NULL,'nobrakes','{"pid":19376}');
INSERT INTO "events" VALUES(18,1795861325.241,'checks_began',NULL,NULL,'nobrakes','{"commit":"daeaee97318b6fe744610147fa6b74e7cea7ab02","run":"canary-1795861326","seconds":null,"step":"main"}');
INSERT INTO "events" VALUES(19,1795861325.596,'main_green',NULL,NULL,'nobrakes','{"commit":"daeaee97318b6fe744610147fa6b74e7cea7ab02","unsteady":false}');
INSERT INTO "events" VALUES(20,1795861325.599,'doer_started','fails',1,'nobrakes','{"agent":"script","model":"","name":"Ada","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(21,1795861325.647,'test_writer_started','tested',2,'nobrakes','{"agent":"script","model":"","name":"Bowie","number":1,"role":"test_writer"}');
INSERT INTO "events" VALUES(22,1795861325.741,'doer_started','alpha',3,'nobrakes','{"agent":"script","model":"","name":"Cleo","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(23,1795861326.105,'doer_stopped','fails',1,'nobrakes','{"detail":"its marker says so","head":"daeaee97318b6fe744610147fa6b74e7cea7ab02","merged_commit":null,"name":"Ada","number":1,"outcome":"gave_up_tests","role":"doer"}');
INSERT INTO "events" VALUES(24,1795861326.109,'doer_started','fails',4,'nobrakes','{"agent":"script","model":"","name":"Dmitri","number":2,"role":"doer"}');
INSERT INTO "events" VALUES(25,1795861326.543,'doer_stopped','fails',4,'nobrakes','{"detail":"its marker says so","head":"daeaee97318b6fe744610147fa6b74e7cea7ab02","merged_commit":null,"name":"Dmitri","number":2,"outcome":"gave_up_tests","role":"doer"}');
INSERT INTO "events" VALUES(26,1795861326.546,'doer_started','fails',5,'nobrakes','{"agent":"script","model":"","name":"Edith","number":3,"role":"doer"}');
INSERT INTO "events" VALUES(27,1795861326.559,'files_changed','tested',2,'Bowie','{"changed":1}');
INSERT INTO "events" VALUES(28,1795861326.562,'checks_began','tested',2,'nobrakes','{"commit":"510f7f469ad9cc4b5bf24bdea2a4083a1810eea3","run":"2-proof1","seconds":null,"step":"red_proof"}');
INSERT INTO "events" VALUES(29,1795861326.591,'files_changed','alpha',3,'Cleo','{"changed":1}');
INSERT INTO "events" VALUES(30,1795861326.592,'work_submitted','alpha',3,'nobrakes','{"detail":"it exited with 0","head":"adb98d4f9031a41e1f1ae78615c1cc4b4a146dda","merged_commit":null,"name":"Cleo","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(31,1795861326.637,'review_started','alpha',6,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(32,1795861326.729,'checks_began','alpha',6,'nobrakes','{"commit":"57068a35064a19881d72b22854b41f4de1aa941b","run":"6-check1","seconds":0.3,"step":"validate_rebased"}');
INSERT INTO "events" VALUES(33,1795861326.738,'doer_started','asks',7,'nobrakes','{"agent":"script","model":"","name":"Fela","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(34,1795861326.759,'tests_proven_red','tested',2,'nobrakes','{"detail":"the new tests fail, as they should","head":"510f7f469ad9cc4b5bf24bdea2a4083a1810eea3","merged_commit":null,"name":"Bowie","number":1,"outcome":"completed","role":"test_writer"}');
INSERT INTO "events" VALUES(35,1795861326.762,'doer_started','tested',8,'nobrakes','{"agent":"script","model":"","name":"Grace","number":2,"role":"doer"}');
INSERT INTO "events" VALUES(36,1795861326.931,'doer_stopped','fails',5,'nobrakes','{"detail":"its marker says so","head":"daeaee97318b6fe744610147fa6b74e7cea7ab02","merged_commit":null,"name":"Edith","number":3,"outcome":"gave_up_tests","role":"doer"}');
INSERT INTO "events" VALUES(37,1795861326.931,'escalated','fails',5,'nobrakes','{"escalation":1,"title":"fails failed 3 times","type":"repeated_failure"}');
INSERT INTO "events" VALUES(38,1795861327.047,'review_step','alpha',6,'nobrakes','{"commit":"57068a35064a19881d72b22854b41f4de1aa941b","results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.24953746795654297,"tail":""}],"run":"6-check1","step":"validate_rebased"}');
INSERT INTO "events" VALUES(39,1795861327.071,'escalated','asks',7,'Fela','{"escalation":2,"title":"Tabs or spaces?","type":"question"}');
INSERT INTO "events" VALUES(40,1795861327.368,'merged','alpha',6,'nobrakes','{"detail":"merged","head":"adb98d4f9031a41e1f1ae78615c1cc4b4a146dda","merged_commit":"57068a35064a19881d72b22854b41f4de1aa941b","name":"Reviewer","number":2,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(41,1795861327.373,'doer_started','beta',9,'nobrakes','{"agent":"script","model":"","name":"Hugo","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(42,1795861327.444,'doer_stopped','asks',7,'nobrakes','{"detail":"waits for an answer","head":"daeaee97318b6fe744610147fa6b74e7cea7ab02","merged_commit":null,"name":"Fela","number":1,"outcome":"blocked","role":"doer"}');
INSERT INTO "events" VALUES(43,1795861327.551,'files_changed','tested',8,'Grace','{"changed":2}');
INSERT INTO "events" VALUES(44,1795861327.552,'work_submitted','tested',8,'nobrakes','{"detail":"it exited with 0","head":"2660af2bda218f54f9c259406c3dd39b211ac5cc","merged_commit":null,"name":"Grace","number":2,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(45,1795861327.579,'review_started','tested',10,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":3,"role":"reviewer"}');
INSERT INTO "events" VALUES(46,1795861327.642,'checks_began','tested',10,'nobrakes','{"commit":"af43c09b0de8fe81b4707785b43215b7cfc77281","run":"10-check1","seconds":0.3,"step":"validate_rebased"}');
INSERT INTO "events" VALUES(47,1795861327.851,'review_step','tested',10,'nobrakes','{"commit":"af43c09b0de8fe81b4707785b43215b7cfc77281","results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.14967560768127441,"tail":""}],"run":"10-check1","step":"validate_rebased"}');
INSERT INTO "events" VALUES(48,1795861328.323,'merged','tested',10,'nobrakes','{"detail":"merged","head":"2660af2bda218f54f9c259406c3dd39b211ac5cc","merged_commit":"af43c09b0de8fe81b4707785b43215b7cfc77281","name":"Reviewer","number":3,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(49,1795861328.607,'files_changed','beta',9,'Hugo','{"changed":1}');
INSERT INTO "events" VALUES(50,1795861328.609,'work_submitted','beta',9,'nobrakes','{"detail":"it exited with 0","head":"e5d68a6f97730d975fb553cb5af4ba86d2a72a65","merged_commit":null,"name":"Hugo","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(51,1795861328.62,'review_started','beta',11,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(52,1795861328.692,'checks_began','beta',11,'nobrakes','{"commit":"1a78d71cd8e2c5ad89651744740b825d234da232","run":"11-check1","seconds":0.2,"step":"validate_rebased"}');
INSERT INTO "events" VALUES(53,1795861328.96,'review_step','beta',11,'nobrakes','{"commit":"1a78d71cd8e2c5ad89651744740b825d234da232","results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.14800000190734863,"tail":""}],"run":"11-check1","step":"validate_rebased"}');
INSERT INTO "events" VALUES(54,1795861329.21,'merged','beta',11,'nobrakes','{"detail":"merged","head":"e5d68a6f97730d975fb553cb5af4ba86d2a72a65","merged_commit":"1a78d71cd8e2c5ad89651744740b825d234da232","name":"Reviewer","number":2,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(55,1795861329.213,'epic_completed','lib',NULL,'nobrakes','{"before":"open","return_to":null}');
INSERT INTO "events" VALUES(56,1795861329.531,'daemon_stopped',NULL,NULL,'nobrakes','{"pid":19376}');
INSERT INTO "events" VALUES(57,1795861330.848,'proposed','nb-xa3vbx',NULL,'person','{"needs":[],"status":"draft"}');
INSERT INTO "events" VALUES(58,1795861330.849,'feature_began','nb-xa3vbx',NULL,'person','{"base":"1a78d71cd8e2c5ad89651744740b825d234da232","criteria":8,"files":[],"title":"Login"}');
INSERT INTO "events" VALUES(59,1795861334.158,'daemon_started',NULL,NULL,'nobrakes','{"pid":19719}');
INSERT INTO "events" VALUES(60,1795861334.332,'session_began',NULL,NULL,'nobrakes','{"agent":"script","kind":"planning","session":1,"title":"Login"}');
INSERT INTO "events" VALUES(61,1795861334.344,'turn_started',NULL,NULL,'nobrakes','{"agent":"script","model":"","session":1,"turn":1}');
INSERT INTO "events" VALUES(62,1795861334.753,'escalated',NULL,NULL,'Session 1','{"escalation":3,"session":1,"title":"Which store?","type":"question"}');
INSERT INTO "events" VALUES(63,1795861334.855,'turn_ended',NULL,NULL,'nobrakes','{"detail":"its marker says so","outcome":"blocked","session":1,"state":"asking","turn":1}');
INSERT INTO "events" VALUES(64,1795861334.907,'daemon_stopped',NULL,NULL,'nobrakes','{"pid":19719}');
INSERT INTO "events" VALUES(65,1795861336.073,'limits_changed',NULL,NULL,'person','{"after":{"doers":2},"before":{}}');
INSERT INTO "events" VALUES(66,1795861337.319,'proposed','reviewed',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(67,1795861337.319,'proposed','slow',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(68,1795861337.319,'proposed','slowtests',NULL,'person','{"needs":[],"status":"needs_tests"}');
INSERT INTO "events" VALUES(69,1795861337.319,'proposed','next',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(70,1795861337.319,'proposed','after',NULL,'person','{"needs":[["slow","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(71,1795861341.903,'daemon_started',NULL,NULL,'nobrakes','{"pid":19764}');
INSERT INTO "events" VALUES(72,1795861342.092,'doer_started','reviewed',12,'nobrakes','{"agent":"script","model":"","name":"Iris","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(73,1795861342.368,'doer_started','slow',13,'nobrakes','{"agent":"script","model":"","name":"Joan","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(74,1795861343.248,'files_changed','reviewed',12,'Iris','{"changed":1}');
INSERT INTO "events" VALUES(75,1795861343.275,'work_submitted','reviewed',12,'nobrakes','{"detail":"it exited with 0","head":"ee4cc9c825db4a5f7c5bbf8f643f6e6a128b19ca","merged_commit":null,"name":"Iris","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(76,1795861343.292,'review_started','reviewed',14,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(77,1795861343.385,'checks_began','reviewed',14,'nobrakes','{"commit":"2fff19081526c26daa986f9943039755d649aa01","run":"14-check1","seconds":0.2,"step":"validate_rebased"}');
INSERT INTO "events" VALUES(78,1795861343.389,'test_writer_started','slowtests',15,'nobrakes','{"agent":"script","model":"","name":"Kofi","number":1,"role":"test_writer"}');
CREATE TABLE features (
    id VARCHAR NOT NULL, criteria VARCHAR NOT NULL, files VARCHAR NOT NULL, notes VARCHAR NOT NULL,
    base VARCHAR NOT NULL, stage VARCHAR NOT NULL, state VARCHAR NOT NULL, replannings INTEGER NOT NULL,
    session INTEGER, "plan" INTEGER NOT NULL, round INTEGER NOT NULL, clean INTEGER NOT NULL,
    turn_at FLOAT NOT NULL, created_at FLOAT NOT NULL, updated_at FLOAT NOT NULL, archived BOOLEAN NOT NULL,
    actor VARCHAR NOT NULL, data VARCHAR NOT NULL, PRIMARY KEY (id), FOREIGN KEY(id) REFERENCES beads (id),
    FOREIGN KEY(session) REFERENCES sessions (id)
);
INSERT INTO "features" VALUES('nb-xa3vbx','[{"how":"automated","text":"The tests pass: `sh tests/run.sh`","usual":true},{"how":"manual","text":"There are no type errors","usual":true},{"how":"manual","text":"There are no lint errors","usual":true},{"how":"manual","text":"Nothing unexpected is written to stderr or the log: no warnings, no tracebacks","usual":true},{"how":"manual","text":"What is printed fits a narrow terminal (responsive)","usual":true},{"how":"manual","text":"What takes long says that it is at work (loading states)","usual":true},{"how":"review","text":"Errors are handled: what fails says what happened and what to do","usual":true},{"how":"manual","text":"Everybody can use it: without colours and in plain text (accessibility)","usual":true}]','[]','','1a78d71cd8e2c5ad89651744740b825d234da232','discovery','active',0,1,0,0,0,1795861334.868,1795861330.849,1795861334.868,0,'person','{"nudged":0,"seen":1,"talk":{"round":0,"stage":"discovery"}}');
CREATE TABLE findings (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, feature VARCHAR NOT NULL, round INTEGER NOT NULL,
    domain VARCHAR NOT NULL, category VARCHAR NOT NULL, priority INTEGER NOT NULL, issue VARCHAR NOT NULL,
    impact VARCHAR NOT NULL, options VARCHAR NOT NULL, bead VARCHAR, state VARCHAR NOT NULL,
    escalation INTEGER, answer VARCHAR NOT NULL, FOREIGN KEY(feature) REFERENCES features (id),
    FOREIGN KEY(escalation) REFERENCES escalations (id)
);
CREATE TABLE gates (
    provider VARCHAR NOT NULL, reason VARCHAR NOT NULL, detail VARCHAR NOT NULL, since FLOAT NOT NULL,
    until FLOAT NOT NULL, times INTEGER NOT NULL, told BOOLEAN NOT NULL, PRIMARY KEY (provider)
);
CREATE TABLE items (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, feature VARCHAR NOT NULL, kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL, file VARCHAR NOT NULL, line INTEGER NOT NULL, bead VARCHAR,
    blocks BOOLEAN NOT NULL, state VARCHAR NOT NULL, at FLOAT NOT NULL, place VARCHAR NOT NULL,
    FOREIGN KEY(feature) REFERENCES features (id)
);
CREATE TABLE levels_due (
    id VARCHAR NOT NULL, level INTEGER NOT NULL, PRIMARY KEY (id), FOREIGN KEY(id) REFERENCES beads (id)
);
CREATE TABLE messages (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, author VARCHAR NOT NULL,
    at FLOAT NOT NULL, text VARCHAR NOT NULL, turn INTEGER, escalation INTEGER,
    FOREIGN KEY(session) REFERENCES sessions (id), FOREIGN KEY(turn) REFERENCES turns (id),
    FOREIGN KEY(escalation) REFERENCES escalations (id)
);
INSERT INTO "messages" VALUES(1,1,'nobrakes',1795861334.332,'Begin. What you are given above is all there is so far.',1,NULL);
INSERT INTO "messages" VALUES(2,1,'',1795861334.856,'question 3: no answer yet: commit, log and end with NOBRAKES: BLOCKED',1,NULL);
CREATE TABLE notices (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, kind VARCHAR NOT NULL, severity VARCHAR NOT NULL,
    text VARCHAR NOT NULL, bead VARCHAR, session INTEGER, escalation INTEGER, link VARCHAR NOT NULL,
    fingerprint VARCHAR NOT NULL, created_at FLOAT NOT NULL, routed BOOLEAN NOT NULL, told_at FLOAT
);
CREATE TABLE plan_reviews (
    feature VARCHAR NOT NULL, round INTEGER NOT NULL, domain VARCHAR NOT NULL, "plan" INTEGER NOT NULL,
    session INTEGER, state VARCHAR NOT NULL, started_at FLOAT NOT NULL, ended_at FLOAT,
    detail VARCHAR NOT NULL, PRIMARY KEY (feature, round, domain),
    FOREIGN KEY(feature) REFERENCES features (id), FOREIGN KEY(session) REFERENCES sessions (id)
);
CREATE TABLE plan_versions (
    feature VARCHAR NOT NULL, number INTEGER NOT NULL, at FLOAT NOT NULL, actor VARCHAR NOT NULL,
    why VARCHAR NOT NULL, beads VARCHAR NOT NULL, PRIMARY KEY (feature, number),
    FOREIGN KEY(feature) REFERENCES features (id)
);
CREATE TABLE requests (
    "key" VARCHAR NOT NULL, command VARCHAR NOT NULL, actor VARCHAR NOT NULL, at FLOAT NOT NULL,
    result VARCHAR NOT NULL, PRIMARY KEY ("key")
);
CREATE TABLE runs (
    id VARCHAR NOT NULL, attempt INTEGER, turn INTEGER, kind VARCHAR NOT NULL, started_at FLOAT NOT NULL,
    pid INTEGER, born VARCHAR NOT NULL, hard_deadline FLOAT NOT NULL, idle_seconds FLOAT NOT NULL,
    active_at FLOAT NOT NULL, sampled_at FLOAT NOT NULL, activity VARCHAR NOT NULL, stopping VARCHAR,
    term_at FLOAT, PRIMARY KEY (id), FOREIGN KEY(attempt) REFERENCES attempts (id),
    FOREIGN KEY(turn) REFERENCES turns (id)
);
INSERT INTO "runs" VALUES('13-agent',13,NULL,'agent',1795861342.393,19791,'54bb90c6-9fda-4ac0-b271-dabd0158a219:4367861',1795864942.393,600.0,1795861342.393,0.0,'',NULL,NULL);
INSERT INTO "runs" VALUES('14-check1',14,NULL,'validation',1795861343.384,19794,'54bb90c6-9fda-4ac0-b271-dabd0158a219:4367866',1795864943.384,0.0,1795861343.384,0.0,'',NULL,NULL);
INSERT INTO "runs" VALUES('15-agent',15,NULL,'agent',1795861343.425,19822,'54bb90c6-9fda-4ac0-b271-dabd0158a219:4367962',1795864943.425,600.0,1795861343.425,0.0,'',NULL,NULL);
CREATE TABLE schedule_starts (
    schedule INTEGER NOT NULL, due FLOAT NOT NULL, came VARCHAR NOT NULL, why VARCHAR NOT NULL, run INTEGER,
    at FLOAT NOT NULL, PRIMARY KEY (schedule, due), FOREIGN KEY(schedule) REFERENCES schedules (id),
    FOREIGN KEY(run) REFERENCES sprint_runs (id)
);
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
INSERT INTO "sessions" VALUES(1,'planning','bead:nb-xa3vbx','Login','script','','',NULL,0,0,NULL,'asking',0,NULL,0,'its marker says so',0.0,0,1795861334.332,1795861334.855,NULL,'{"feature":"nb-xa3vbx"}');
CREATE TABLE settings (
    "key" VARCHAR NOT NULL, value VARCHAR NOT NULL, PRIMARY KEY ("key")
);
INSERT INTO "settings" VALUES('formats_told','{"test": "sh tests/run.sh"}');
INSERT INTO "settings" VALUES('clock','["54bb90c6-9fda-4ac0-b271-dabd0158a219", 1795817663.765807]');
INSERT INTO "settings" VALUES('canary','{"phase": "rest", "green": "daeaee97318b6fe744610147fa6b74e7cea7ab02", "looked_at": 1795861325.576, "tip": "daeaee97318b6fe744610147fa6b74e7cea7ab02", "frozen": false, "reds": 0, "searched": "", "line": [], "low": 0, "high": 0, "culprit": "", "candidate": "", "onto": "", "serial": 1795861326, "commit": "", "started_at": 1795861325.24, "pid": null, "born": "", "timed_out": false, "cut_off": 0, "results": [], "escalation": 0, "unwatched": false, "trial": false, "contract": "7ab01dbd9f7a125c"}');
INSERT INTO "settings" VALUES('check_seconds','{"validation": 0.2, "red_proof": 0.2}');
INSERT INTO "settings" VALUES('compared','1a78d71cd8e2c5ad89651744740b825d234da232');
INSERT INTO "settings" VALUES('limits','{"doers": 2}');
INSERT INTO "settings" VALUES('daemon_wanted','1795861338.82');
INSERT INTO "settings" VALUES('run_since','1795861341.903');
INSERT INTO "settings" VALUES('background','19764');
INSERT INTO "settings" VALUES('name_cursor','11');
INSERT INTO "settings" VALUES('news','78');
CREATE TABLE sprint_documents (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, sprint INTEGER NOT NULL, kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL, actor VARCHAR NOT NULL, at FLOAT NOT NULL,
    FOREIGN KEY(sprint) REFERENCES sprints (number)
);
CREATE TABLE sprint_runs (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, asked INTEGER NOT NULL, needs_tests BOOLEAN NOT NULL,
    terms VARCHAR NOT NULL, state VARCHAR NOT NULL, why VARCHAR NOT NULL, actor VARCHAR NOT NULL,
    created_at FLOAT NOT NULL, updated_at FLOAT NOT NULL
);
CREATE TABLE sprints (
    number INTEGER NOT NULL, run INTEGER NOT NULL, name VARCHAR NOT NULL, stage VARCHAR NOT NULL,
    session INTEGER, bead VARCHAR, opening VARCHAR, closing VARCHAR, nudged INTEGER NOT NULL,
    began_at FLOAT NOT NULL, ended_at FLOAT, PRIMARY KEY (number),
    FOREIGN KEY(run) REFERENCES sprint_runs (id), FOREIGN KEY(session) REFERENCES sessions (id),
    FOREIGN KEY(bead) REFERENCES beads (id), FOREIGN KEY(opening) REFERENCES beads (id),
    FOREIGN KEY(closing) REFERENCES beads (id)
);
CREATE TABLE turns (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, number INTEGER NOT NULL,
    token VARCHAR NOT NULL, resumes BOOLEAN NOT NULL, provider VARCHAR NOT NULL, started_at FLOAT NOT NULL,
    ended_at FLOAT, outcome VARCHAR, detail VARCHAR NOT NULL, cost_usd FLOAT NOT NULL,
    tokens INTEGER NOT NULL, data VARCHAR NOT NULL, FOREIGN KEY(session) REFERENCES sessions (id)
);
INSERT INTO "turns" VALUES(1,1,1,'s1.1.PsRcoC2g5H2qRixXadu6qklhZWUXXdEe',0,'',1795861334.344,1795861334.855,'blocked','its marker says so',0.0,0,'{"diary":null,"named":null,"round":0,"seq":61,"stage":"discovery","tells":false,"window":0,"did":["asked"]}');
CREATE TABLE validations (
    tree VARCHAR NOT NULL, contract VARCHAR NOT NULL, results VARCHAR NOT NULL, at FLOAT NOT NULL,
    PRIMARY KEY (tree, contract)
);
INSERT INTO "validations" VALUES('424935f9cd169353985e3402edf152c3d5c98118','7ab01dbd9f7a125c','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.14191722869873047,"tail":""}],"runs":[{"at":1795861325.58,"attempt":0,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.14191722869873047}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"722c31f3ec9f5972","quarantined":[],"setup":""},"run":"canary-1795861326"}]}',1795861325.58);
INSERT INTO "validations" VALUES('43dad0b95209c871117a4974d33a008a9747e87b','7ab01dbd9f7a125c','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.24953746795654297,"tail":""}],"runs":[{"at":1795861327.046,"attempt":6,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.24953746795654297}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"722c31f3ec9f5972","quarantined":[],"setup":""},"run":"6-check1"}]}',1795861327.047);
INSERT INTO "validations" VALUES('31413df5ac620a5f0e9fb544a741e315123f172a','7ab01dbd9f7a125c','{"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.14967560768127441,"tail":""}],"runs":[{"at":1795861327.85,"attempt":10,"checks":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","excerpt":"ok 1 - tests/test_begin.sh\nok 2 - tests/test_tested.sh\n1..2","name":"test","outcome":"pass","reason":"it passed","seconds":0.14967560768127441}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"722c31f3ec9f5972","quarantined":[],"setup":""},"run":"10-check1"}]}',1795861327.85);
INSERT INTO "validations" VALUES('0d0ecbb51e7d682acaae31d40d68ee7eea33439a','7ab01dbd9f7a125c','{"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.14800000190734863,"tail":""}],"runs":[{"at":1795861328.96,"attempt":11,"checks":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","excerpt":"ok 1 - tests/test_begin.sh\nok 2 - tests/test_tested.sh\n1..2","name":"test","outcome":"pass","reason":"it passed","seconds":0.14800000190734863}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"722c31f3ec9f5972","quarantined":[],"setup":""},"run":"11-check1"}]}',1795861328.96);
CREATE INDEX beads_asleep ON beads (defer_until) WHERE asleep = 1;
CREATE INDEX beads_claimable ON beads (rank, b_level DESC, dependents DESC, ready_since DESC, id) WHERE status
    IN ('needs_tests', 'needs_doer') AND type <> 'epic' AND open_blockers = 0 AND held IS NULL AND asleep = 0
    AND resting = 0 AND assignee IS NULL;
CREATE INDEX beads_complete ON beads (id) WHERE type = 'epic' AND status = 'open' AND open_children = 0 AND
    done_children > 0 AND open_blockers = 0 AND held IS NULL AND asleep = 0;
CREATE INDEX beads_epic ON beads (epic, b_level) WHERE epic IS NOT NULL;
CREATE INDEX beads_estimated ON beads (estimate) WHERE estimate IS NOT NULL AND type <> 'epic';
CREATE INDEX beads_resting ON beads (retry_at) WHERE resting = 1;
CREATE INDEX beads_reviewable ON beads (rank, b_level DESC, dependents DESC, ready_since DESC, id) WHERE
    status = 'needs_review' AND open_blockers = 0 AND held IS NULL AND asleep = 0 AND resting = 0 AND assignee
    IS NULL;
CREATE INDEX beads_rising ON beads (rises_at) WHERE ((status IN ('needs_tests', 'needs_doer') AND type <>
    'epic' AND open_blockers = 0 AND held IS NULL AND asleep = 0 AND resting = 0 AND assignee IS NULL) OR
    (status = 'needs_review' AND open_blockers = 0 AND held IS NULL AND asleep = 0 AND resting = 0 AND
    assignee IS NULL));
CREATE INDEX beads_stacked ON beads (stacks_on) WHERE stacks_on IS NOT NULL;
CREATE INDEX beads_status ON beads (status, type);
CREATE INDEX events_of_bead ON events (bead, seq) WHERE bead IS NOT NULL;
CREATE INDEX notices_by_fingerprint ON notices (fingerprint, created_at);
CREATE INDEX notices_unrouted ON notices (id) WHERE routed = 0;
CREATE INDEX requests_by_time ON requests (at);
CREATE UNIQUE INDEX sessions_by_provider_session ON sessions (provider_session);
CREATE INDEX sessions_going ON sessions (id) WHERE ended_at IS NULL AND kind <> 'attempt';
CREATE INDEX sessions_reading ON sessions (owner, id) WHERE kind = 'code_review';
CREATE UNIQUE INDEX sprint_runs_going ON sprint_runs (state) WHERE state = 'going';
CREATE INDEX attempts_by_time ON attempts (started_at);
CREATE UNIQUE INDEX attempts_of_bead ON attempts (bead, number);
CREATE UNIQUE INDEX attempts_open ON attempts (bead) WHERE outcome IS NULL;
CREATE INDEX bead_text_proposed ON bead_text (id) WHERE proposed <> '{}';
CREATE INDEX deliveries_due ON deliveries (channel, due_at) WHERE state = 'due';
CREATE INDEX deliveries_of_notice ON deliveries (notice);
CREATE INDEX edges_needs ON edges (needs, type, bead);
CREATE INDEX features_going ON features (id) WHERE (state NOT IN ('completed', 'rolled_back') OR (state =
    'completed' AND json_extract(data, '$.rollback') IS NOT NULL));
CREATE INDEX features_of_session ON features (session) WHERE session IS NOT NULL;
CREATE INDEX levels_due_lowest ON levels_due (level, id);
CREATE INDEX sprints_of_bead ON sprints (bead) WHERE bead IS NOT NULL;
CREATE INDEX sprints_of_session ON sprints (session) WHERE session IS NOT NULL;
CREATE INDEX turns_by_time ON turns (started_at);
CREATE UNIQUE INDEX turns_of_session ON turns (session, number);
CREATE UNIQUE INDEX turns_open ON turns (session) WHERE outcome IS NULL;
CREATE INDEX escalations_of_bead ON escalations (bead);
CREATE UNIQUE INDEX escalations_open ON escalations (fingerprint) WHERE resolved_at IS NULL;
CREATE UNIQUE INDEX items_of_place ON items (feature, place);
CREATE INDEX plan_reviews_of_session ON plan_reviews (session) WHERE session IS NOT NULL;
CREATE INDEX sprint_documents_of ON sprint_documents (sprint, id);
CREATE INDEX findings_asked ON findings (escalation) WHERE escalation IS NOT NULL;
CREATE INDEX findings_of_round ON findings (feature, round, id);
CREATE INDEX messages_of_session ON messages (session, id);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('events',78);
INSERT INTO "sqlite_sequence" VALUES('attempts',15);
INSERT INTO "sqlite_sequence" VALUES('escalations',3);
INSERT INTO "sqlite_sequence" VALUES('sessions',1);
INSERT INTO "sqlite_sequence" VALUES('messages',2);
INSERT INTO "sqlite_sequence" VALUES('turns',1);
COMMIT;
PRAGMA user_version = 7;
