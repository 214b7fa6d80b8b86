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
INSERT INTO "attempts" VALUES(1,'fails',1,'doer','Ada',1,'1.1.KKCpZHqngq7Yit-F1MNPuRgx3Vf4juQ4',1795861283.612,'script','73568964d006557b0c5398ffb742e0a89436bea3','73568964d006557b0c5398ffb742e0a89436bea3',1795861284.19,'gave_up_tests','its marker says so','','','',1,NULL,'{"begun":false,"diary":null,"fork":"73568964d006557b0c5398ffb742e0a89436bea3","phase":"agent","resumes":null,"rounds":0,"start":"73568964d006557b0c5398ffb742e0a89436bea3","told":"f5558ce53e64e6bd","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(2,'tested',1,'test_writer','Bowie',1,'2.1.jmDx_cSbTL-j4FKJhTed_zayRmd1dyCD',1795861283.638,'script','73568964d006557b0c5398ffb742e0a89436bea3','04cbf53b9cc4710c484513c5090fdfd157d1303f',1795861284.654,'completed','the new tests fail, as they should','','','',1,NULL,'{"begun":false,"cheat":0,"cut_off":0,"diary":null,"fork":"73568964d006557b0c5398ffb742e0a89436bea3","head":"04cbf53b9cc4710c484513c5090fdfd157d1303f","met":[],"phase":"cheats","red_proof":[{"code":1,"counts":{"failed":1,"passed":1,"skipped":0},"decoy":"","failing":["tests/test_tested.sh"],"name":"test","outcome":"fail","quarantined":[],"reason":"it exited with 1","repeated":[],"seconds":0.25336289405822754,"tail":"ok 1 - tests/test_begin.sh\nnot ok 2 - tests/test_tested.sh\n1..2\n"}],"resumes":null,"rounds":0,"start":"73568964d006557b0c5398ffb742e0a89436bea3","told":"1e704171f1f64a85","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(3,'alpha',1,'doer','Cleo',1,'3.1.tJepBi0SjC1AVv_viGXkcvtomHI4GfAV',1795861283.652,'script','73568964d006557b0c5398ffb742e0a89436bea3','f80299dfb9a5fde3e32d723bba86e04a32005c9f',1795861284.361,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"fork":"73568964d006557b0c5398ffb742e0a89436bea3","phase":"agent","resumes":null,"rounds":0,"start":"73568964d006557b0c5398ffb742e0a89436bea3","told":"809d2594cbfceb8b","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(4,'fails',2,'doer','Dmitri',2,'4.2.jaOQaZhBBxJPF9T2EnoW-yGwpXaznJpr',1795861284.213,'script','73568964d006557b0c5398ffb742e0a89436bea3','73568964d006557b0c5398ffb742e0a89436bea3',1795861284.745,'gave_up_tests','its marker says so','','','',1,NULL,'{"begun":false,"diary":null,"fork":"73568964d006557b0c5398ffb742e0a89436bea3","phase":"agent","resumes":null,"rounds":0,"start":"73568964d006557b0c5398ffb742e0a89436bea3","told":"f5558ce53e64e6bd","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(5,'alpha',2,'reviewer','Reviewer',2,'5.2.Q33iYhQJrfyfdaWLD5l9phgMkOmd-09e',1795861284.376,'nobrakes',NULL,'f80299dfb9a5fde3e32d723bba86e04a32005c9f',1795861285.032,'completed','merged','','','',1,NULL,'{"again":0,"anchor":"none","apart":"","approval":{},"base":"73568964d006557b0c5398ffb742e0a89436bea3","before":[],"behind":0,"brings":"","candidate":"a5e2e3211c26243808e4b65ace25c9b55c25ecb1","carried":[],"carried_for":"","chain":[],"checked":0,"confirming":"","contract":"63cc6fb0ef1d9064","counted":"","cut_off":0,"failure":"","fork":"73568964d006557b0c5398ffb742e0a89436bea3","gates":[],"head":"f80299dfb9a5fde3e32d723bba86e04a32005c9f","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"merged_as":"","passing":false,"passing_since":0.0,"proven":"validate_rebased a5e2e3211c26243808e4b65ace25c9b55c25ecb1 63cc6fb0ef1d9064","published":false,"rebuilt":0,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.28800010681152344,"tail":""}],"serial":1,"step":"clean_up","tip":"a5e2e3211c26243808e4b65ace25c9b55c25ecb1","tree":"43dad0b95209c871117a4974d33a008a9747e87b","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(6,'asks',1,'doer','Edith',1,'6.1.n0FdjS80DYL6V5PZ6lYV37Oyb1qbmi20',1795861284.474,'script','73568964d006557b0c5398ffb742e0a89436bea3','73568964d006557b0c5398ffb742e0a89436bea3',1795861285.133,'blocked','waits for an answer','','','',1,NULL,'{"begun":false,"diary":null,"fork":"73568964d006557b0c5398ffb742e0a89436bea3","phase":"agent","resumes":null,"rounds":0,"start":"73568964d006557b0c5398ffb742e0a89436bea3","told":"e1d6f6478a48bd05","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(7,'tested',2,'doer','Fela',2,'7.2.3EZajX7op4EcUvkhZ67p1zCqmsYmygI5',1795861284.657,'script','73568964d006557b0c5398ffb742e0a89436bea3','1914012b9f8d0e611ed32388ba66673617d5301b',1795861285.353,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"fork":"73568964d006557b0c5398ffb742e0a89436bea3","phase":"agent","resumes":null,"rounds":0,"start":"04cbf53b9cc4710c484513c5090fdfd157d1303f","told":"1e704171f1f64a85","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(8,'fails',3,'doer','Grace',3,'8.3.FZiUO-c1Tfg6wB0vg4trNSkIwYHEwlNd',1795861284.765,'script','73568964d006557b0c5398ffb742e0a89436bea3','73568964d006557b0c5398ffb742e0a89436bea3',1795861285.204,'gave_up_tests','its marker says so','','','',1,NULL,'{"begun":false,"diary":null,"fork":"73568964d006557b0c5398ffb742e0a89436bea3","phase":"agent","resumes":null,"rounds":0,"start":"73568964d006557b0c5398ffb742e0a89436bea3","told":"f5558ce53e64e6bd","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(9,'beta',1,'doer','Hugo',1,'9.1.lPdB6WzqmVweNX8_kf_TTE_cmkO_JzSg',1795861285.154,'script','a5e2e3211c26243808e4b65ace25c9b55c25ecb1','54c61e77b5cb4d29afa77914335b71c646d0d373',1795861285.569,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"fork":"a5e2e3211c26243808e4b65ace25c9b55c25ecb1","phase":"agent","resumes":null,"rounds":0,"start":"a5e2e3211c26243808e4b65ace25c9b55c25ecb1","told":"15f8613b86277bb5","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(10,'tested',3,'reviewer','Reviewer',3,'10.3.dvOmwg943-6xq0q59K-uU8A4O8IFOoDM',1795861285.379,'nobrakes',NULL,'1914012b9f8d0e611ed32388ba66673617d5301b',1795861285.812,'completed','merged','','','',1,NULL,'{"again":0,"anchor":"4dbd0993de97b305511dfff49677208a4014c0cf","apart":"","approval":{},"base":"a5e2e3211c26243808e4b65ace25c9b55c25ecb1","before":[],"behind":0,"brings":"","candidate":"c5155b1721856732fdb49f696f0dd93a965bea80","carried":[],"carried_for":"","chain":[],"checked":0,"confirming":"","contract":"63cc6fb0ef1d9064","counted":"","cut_off":0,"failure":"","fork":"73568964d006557b0c5398ffb742e0a89436bea3","gates":[],"head":"1914012b9f8d0e611ed32388ba66673617d5301b","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"merged_as":"","passing":false,"passing_since":0.0,"proven":"validate_rebased c5155b1721856732fdb49f696f0dd93a965bea80 63cc6fb0ef1d9064","published":false,"rebuilt":0,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.20000004768371582,"tail":""}],"serial":1,"step":"clean_up","tip":"c5155b1721856732fdb49f696f0dd93a965bea80","tree":"31413df5ac620a5f0e9fb544a741e315123f172a","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(11,'beta',2,'reviewer','Reviewer 2',2,'11.2.40x9yuc130v3T0iHzdvzAJOXtvyJpSEp',1795861285.584,'nobrakes',NULL,'54c61e77b5cb4d29afa77914335b71c646d0d373',1795861286.07,'completed','merged','','','',1,NULL,'{"again":0,"anchor":"4dbd0993de97b305511dfff49677208a4014c0cf","apart":"","approval":{},"base":"c5155b1721856732fdb49f696f0dd93a965bea80","before":[],"behind":0,"brings":"","candidate":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","carried":[],"carried_for":"","chain":[],"checked":0,"confirming":"","contract":"63cc6fb0ef1d9064","counted":"","cut_off":0,"failure":"","fork":"a5e2e3211c26243808e4b65ace25c9b55c25ecb1","gates":[],"head":"54c61e77b5cb4d29afa77914335b71c646d0d373","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"merged_as":"","passing":false,"passing_since":0.0,"proven":"validate_rebased 1aef6fab9fba48595ba3e8d95921bc76f8b64fb5 63cc6fb0ef1d9064","published":false,"rebuilt":0,"red":0,"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.29482293128967285,"tail":""}],"serial":1,"step":"clean_up","tip":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","tree":"0d0ecbb51e7d682acaae31d40d68ee7eea33439a","validating":"","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(12,'reviewed',1,'doer','Iris',1,'12.1.tIcs4Q14m3igNGqXIFg6qRakVgsCH5zD',1795861298.496,'script','1aef6fab9fba48595ba3e8d95921bc76f8b64fb5','7c55ed2b4a8c562aa1da048c0a4caee4cf9cbd65',1795861299.37,'completed','it exited with 0','','','',1,NULL,'{"begun":false,"diary":null,"fork":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","phase":"agent","resumes":null,"rounds":0,"start":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","told":"fabce9e38bced1f5","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(13,'slow',1,'doer','Joan',1,'13.1.ZFlPRzvp_-EkCBjyF3HkmoQLN4rqft-O',1795861298.711,'script','1aef6fab9fba48595ba3e8d95921bc76f8b64fb5',NULL,NULL,NULL,'','','','',1,NULL,'{"begun":false,"diary":null,"fork":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","phase":"agent","resumes":null,"start":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","told":"a480442f89a07ab9","window":0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(14,'reviewed',2,'reviewer','Reviewer',2,'14.2.dqeZ_jMn_BcTWQbABQRjeQNv7Y7MKr7l',1795861299.44,'nobrakes',NULL,NULL,NULL,NULL,'','','','',1,NULL,'{"again":0,"anchor":"72570671b129deef4ad1438b7151f88c304f2bef","apart":"","approval":{},"base":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","before":[],"behind":0,"brings":"","candidate":"9558269b2791231420fdf0eb27bb1dd52a96e781","carried":[],"carried_for":"","chain":[],"checked":0,"confirming":"","contract":"63cc6fb0ef1d9064","counted":"","cut_off":0,"failure":"","fork":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","gates":[],"head":"7c55ed2b4a8c562aa1da048c0a4caee4cf9cbd65","is_broken":false,"is_scaffolding":false,"is_suspect":false,"kept":[],"merged_as":"","passing":false,"passing_since":0.0,"proven":"","published":false,"rebuilt":0,"red":0,"results":[],"serial":1,"step":"validate_rebased","tip":"","tree":"54c56adbd2c2b5f02fb6b6b61072b404535d921c","validating":"9558269b2791231420fdf0eb27bb1dd52a96e781","waiting":"","waiting_since":0.0,"waiting_until":0.0}','','',0.0,0,NULL);
INSERT INTO "attempts" VALUES(15,'slowtests',1,'test_writer','Kofi',1,'15.1.gAABkPsLcZmCPeP1Cw0mm839N2T-FB_5',1795861299.524,'script','1aef6fab9fba48595ba3e8d95921bc76f8b64fb5',NULL,NULL,NULL,'','','','',1,NULL,'{"begun":false,"diary":null,"fork":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","phase":"agent","resumes":null,"start":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","told":"61cdfa8f4fe9cb8d","window":0}','','',0.0,0,NULL);
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
INSERT INTO "bead_text" VALUES('nb-d999az','Login','People log in.','["The tests pass: `sh tests/run.sh`","There are no type errors","There are no lint errors","Nothing unexpected is written to stderr or the log: no warnings, no tracebacks","What is printed fits a narrow terminal (responsive)","What takes long says that it is at work (loading states)","Errors are handled: what fails says what happened and what to do","Everybody can use it: without colours and in plain text (accessibility)"]','[]','[]','','{"feature":{"actor":"person","archived":false,"base":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","created_at":1795861287.896,"criteria":[{"how":"automated","text":"The tests pass: `sh tests/run.sh`","usual":true},{"how":"manual","text":"There are no type errors","usual":true},{"how":"manual","text":"There are no lint errors","usual":true},{"how":"manual","text":"Nothing unexpected is written to stderr or the log: no warnings, no tracebacks","usual":true},{"how":"manual","text":"What is printed fits a narrow terminal (responsive)","usual":true},{"how":"manual","text":"What takes long says that it is at work (loading states)","usual":true},{"how":"review","text":"Errors are handled: what fails says what happened and what to do","usual":true},{"how":"manual","text":"Everybody can use it: without colours and in plain text (accessibility)","usual":true}],"files":[],"notes":"","replannings":0,"stage":"discovery","state":"active"}}','','{}');
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
    dependents INTEGER DEFAULT 0 NOT NULL, PRIMARY KEY (id), FOREIGN KEY(epic) REFERENCES beads (id)
);
INSERT INTO "beads" VALUES('lib','done','epic',2,NULL,NULL,1,0,NULL,NULL,1795861272.071,1795861286.073,1795861286.073,0,NULL,NULL,0,NULL,'open',0,NULL,0,2,0,2,0,0,1795861272.071,2,0,0,'',1795947672.071,0);
INSERT INTO "beads" VALUES('alpha','done','task',2,NULL,'lib',0,0,NULL,NULL,1795861272.071,1795861285.032,1795861285.032,0,NULL,NULL,2,NULL,'needs_review',0,'a5e2e3211c26243808e4b65ace25c9b55c25ecb1',0,0,0,0,0,0,1795861272.071,2,0,0,'task/bead-alpha',1795947672.071,1);
INSERT INTO "beads" VALUES('beta','done','task',2,NULL,'lib',0,0,NULL,NULL,1795861272.071,1795861286.07,1795861286.07,0,NULL,NULL,2,NULL,'needs_review',0,'1aef6fab9fba48595ba3e8d95921bc76f8b64fb5',0,0,0,0,0,0,1795861285.032,2,0,0,'task/bead-beta',1795947685.032,0);
INSERT INTO "beads" VALUES('tested','done','task',1,NULL,NULL,1,0,NULL,NULL,1795861272.071,1795861285.812,1795861285.812,0,NULL,NULL,3,NULL,'needs_review',0,'c5155b1721856732fdb49f696f0dd93a965bea80',0,0,0,0,0,0,1795861272.071,1,0,0,'task/bead-tested',1795947672.071,0);
INSERT INTO "beads" VALUES('asks','escalated','task',2,NULL,NULL,0,0,NULL,NULL,1795861272.071,1795861285.133,NULL,0,NULL,NULL,1,NULL,'needs_doer',1,NULL,0,0,0,0,0,0,1795861272.071,2,2,1,'task/bead-asks',1795947672.071,1);
INSERT INTO "beads" VALUES('waits','needs_doer','task',2,NULL,NULL,0,0,NULL,NULL,1795861272.071,1795861272.071,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,1,0,0,0,0,0,1795861272.071,2,1,0,'',1795947672.071,0);
INSERT INTO "beads" VALUES('holds','needs_doer','task',2,NULL,NULL,0,0,'held',NULL,1795861272.071,1795861273.663,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861272.071,2,1,0,'',1795947672.071,0);
INSERT INTO "beads" VALUES('later','needs_doer','task',2,NULL,NULL,0,0,NULL,1893456000.0,1795861272.071,1795861275.585,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,1,0,1795861272.071,2,1,0,'',1795947672.071,0);
INSERT INTO "beads" VALUES('gone','cancelled','task',2,NULL,NULL,0,0,NULL,NULL,1795861272.071,1795861277.577,1795861277.577,0,NULL,NULL,0,NULL,'needs_doer',0,NULL,0,0,0,0,0,0,1795861272.071,2,0,0,'',1795947672.071,0);
INSERT INTO "beads" VALUES('byhand','done','task',2,NULL,NULL,0,0,NULL,NULL,1795861272.071,1795861278.964,1795861278.964,0,NULL,NULL,0,NULL,'needs_doer',0,NULL,0,0,0,0,0,0,1795861272.071,2,0,0,'',1795947672.071,0);
INSERT INTO "beads" VALUES('fails','escalated','task',0,NULL,NULL,0,0,NULL,NULL,1795861272.071,1795861285.204,NULL,3,NULL,NULL,3,NULL,'needs_doer',1,NULL,0,0,0,0,0,0,1795861272.071,0,1,0,'task/bead-fails',1795947672.071,0);
INSERT INTO "beads" VALUES('idea','draft','task',2,NULL,NULL,1,0,NULL,NULL,1795861280.071,1795861280.071,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861280.071,2,1,0,'',1795947680.071,0);
INSERT INTO "beads" VALUES('nb-d999az','draft','epic',2,NULL,NULL,1,0,NULL,NULL,1795861287.895,1795861287.895,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861287.895,2,0,0,'',1795947687.895,0);
INSERT INTO "beads" VALUES('reviewed','reviewing','task',0,NULL,NULL,0,0,NULL,NULL,1795861295.132,1795861299.44,NULL,0,NULL,'Reviewer',2,1795861419.44,NULL,1,NULL,0,0,0,0,0,0,1795861295.132,0,1,0,'task/bead-reviewed',1795947695.132,0);
INSERT INTO "beads" VALUES('slow','doing','task',1,NULL,NULL,0,0,NULL,NULL,1795861295.132,1795861298.711,NULL,0,NULL,'Joan',1,1795861418.711,NULL,0,NULL,0,0,0,0,0,0,1795861295.132,1,2,1,'task/bead-slow',1795947695.132,1);
INSERT INTO "beads" VALUES('slowtests','writing_tests','task',1,NULL,NULL,1,0,NULL,NULL,1795861295.132,1795861299.524,NULL,0,NULL,'Kofi',1,1795861419.524,NULL,0,NULL,0,0,0,0,0,0,1795861295.132,1,1,0,'task/bead-slowtests',1795947695.132,0);
INSERT INTO "beads" VALUES('next','needs_doer','task',3,NULL,NULL,0,0,NULL,NULL,1795861295.132,1795861295.132,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,0,0,0,0,0,0,1795861295.132,3,1,0,'',1795947695.132,0);
INSERT INTO "beads" VALUES('after','needs_doer','task',2,NULL,NULL,0,0,NULL,NULL,1795861295.132,1795861295.132,NULL,0,NULL,NULL,0,NULL,NULL,0,NULL,1,0,0,0,0,0,1795861295.132,2,1,0,'',1795947695.132,0);
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
INSERT INTO "escalations" VALUES(1,'question','asks','Tabs or spaces?','','human',6,'{}','',1795861284.979,NULL,NULL,NULL,'','needs_doer','3ae8adbc75396057e81d7b1b0ded455b',NULL,'',NULL,NULL);
INSERT INTO "escalations" VALUES(2,'repeated_failure','fails','fails failed 3 times','its marker says so','human',8,'{"attempts":[{"agent":"script","attempt":1,"blockers":"","detail":"its marker says so","head":"73568964d006557b0c5398ffb742e0a89436bea3","learnings":"","name":"Ada","outcome":"gave_up_tests","role":"doer","summary":""},{"agent":"script","attempt":2,"blockers":"","detail":"its marker says so","head":"73568964d006557b0c5398ffb742e0a89436bea3","learnings":"","name":"Dmitri","outcome":"gave_up_tests","role":"doer","summary":""},{"agent":"script","attempt":3,"blockers":"","detail":"its marker says so","head":null,"learnings":"","name":"Grace","outcome":"gave_up_tests","role":"doer","summary":""}]}','',1795861285.204,NULL,NULL,NULL,'','needs_doer','a904a1de855b2c3f408beaf460a33b5c',NULL,'',NULL,NULL);
INSERT INTO "escalations" VALUES(3,'question',NULL,'Which store?','','human',NULL,'{}','',1795861291.897,NULL,NULL,NULL,'',NULL,'126338caac7774c84c7b5410a28a9040',1,'',NULL,NULL);
CREATE TABLE events (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, at FLOAT NOT NULL, kind VARCHAR NOT NULL, bead VARCHAR,
    attempt INTEGER, actor VARCHAR NOT NULL, data VARCHAR NOT NULL
);
INSERT INTO "events" VALUES(1,1795861272.071,'proposed','lib',NULL,'person','{"needs":[],"status":"open"}');
INSERT INTO "events" VALUES(2,1795861272.071,'proposed','alpha',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(3,1795861272.071,'proposed','beta',NULL,'person','{"needs":[["alpha","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(4,1795861272.071,'proposed','tested',NULL,'person','{"needs":[],"status":"needs_tests"}');
INSERT INTO "events" VALUES(5,1795861272.071,'proposed','asks',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(6,1795861272.071,'proposed','waits',NULL,'person','{"needs":[["asks","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(7,1795861272.071,'proposed','holds',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(8,1795861272.071,'proposed','later',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(9,1795861272.071,'proposed','gone',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(10,1795861272.071,'proposed','byhand',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(11,1795861272.071,'proposed','fails',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(12,1795861273.663,'held','holds',NULL,'person','{"before":null,"reason":""}');
INSERT INTO "events" VALUES(13,1795861275.585,'deferred','later',NULL,'person','{"before":null,"until":1893456000.0}');
INSERT INTO "events" VALUES(14,1795861277.577,'cancelled','gone',NULL,'person','{"before":"needs_doer","reason":"","return_to":null}');
INSERT INTO "events" VALUES(15,1795861278.964,'done_by_hand','byhand',NULL,'person','{"before":"needs_doer","reason":"","return_to":null}');
INSERT INTO "events" VALUES(16,1795861280.071,'proposed','idea',NULL,'person','{"needs":[],"status":"draft"}');
INSERT INTO "events" VALUES(17,1795861283.121,'daemon_started',NULL,NULL,'nobrakes','{"pid":18579}');
INSERT INTO "events" VALUES(18,1795861283.263,'checks_began',NULL,NULL,'nobrakes','{"commit":"73568964d006557b0c5398ffb742e0a89436bea3","run":"canary-1795861284","seconds":null,"step":"main"}');
INSERT INTO "events" VALUES(19,1795861283.609,'main_green',NULL,NULL,'nobrakes','{"commit":"73568964d006557b0c5398ffb742e0a89436bea3","unsteady":false}');
INSERT INTO "events" VALUES(20,1795861283.612,'doer_started','fails',1,'nobrakes','{"agent":"script","model":"","name":"Ada","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(21,1795861283.638,'test_writer_started','tested',2,'nobrakes','{"agent":"script","model":"","name":"Bowie","number":1,"role":"test_writer"}');
INSERT INTO "events" VALUES(22,1795861283.652,'doer_started','alpha',3,'nobrakes','{"agent":"script","model":"","name":"Cleo","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(23,1795861284.19,'doer_stopped','fails',1,'nobrakes','{"detail":"its marker says so","head":"73568964d006557b0c5398ffb742e0a89436bea3","merged_commit":null,"name":"Ada","number":1,"outcome":"gave_up_tests","role":"doer"}');
INSERT INTO "events" VALUES(24,1795861284.213,'doer_started','fails',4,'nobrakes','{"agent":"script","model":"","name":"Dmitri","number":2,"role":"doer"}');
INSERT INTO "events" VALUES(25,1795861284.335,'files_changed','tested',2,'Bowie','{"changed":1}');
INSERT INTO "events" VALUES(26,1795861284.342,'checks_began','tested',2,'nobrakes','{"commit":"04cbf53b9cc4710c484513c5090fdfd157d1303f","run":"2-proof1","seconds":null,"step":"red_proof"}');
INSERT INTO "events" VALUES(27,1795861284.359,'files_changed','alpha',3,'Cleo','{"changed":1}');
INSERT INTO "events" VALUES(28,1795861284.361,'work_submitted','alpha',3,'nobrakes','{"detail":"it exited with 0","head":"f80299dfb9a5fde3e32d723bba86e04a32005c9f","merged_commit":null,"name":"Cleo","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(29,1795861284.376,'review_started','alpha',5,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(30,1795861284.471,'checks_began','alpha',5,'nobrakes','{"commit":"a5e2e3211c26243808e4b65ace25c9b55c25ecb1","run":"5-check1","seconds":0.3,"step":"validate_rebased"}');
INSERT INTO "events" VALUES(31,1795861284.474,'doer_started','asks',6,'nobrakes','{"agent":"script","model":"","name":"Edith","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(32,1795861284.654,'tests_proven_red','tested',2,'nobrakes','{"detail":"the new tests fail, as they should","head":"04cbf53b9cc4710c484513c5090fdfd157d1303f","merged_commit":null,"name":"Bowie","number":1,"outcome":"completed","role":"test_writer"}');
INSERT INTO "events" VALUES(33,1795861284.657,'doer_started','tested',7,'nobrakes','{"agent":"script","model":"","name":"Fela","number":2,"role":"doer"}');
INSERT INTO "events" VALUES(34,1795861284.745,'doer_stopped','fails',4,'nobrakes','{"detail":"its marker says so","head":"73568964d006557b0c5398ffb742e0a89436bea3","merged_commit":null,"name":"Dmitri","number":2,"outcome":"gave_up_tests","role":"doer"}');
INSERT INTO "events" VALUES(35,1795861284.765,'doer_started','fails',8,'nobrakes','{"agent":"script","model":"","name":"Grace","number":3,"role":"doer"}');
INSERT INTO "events" VALUES(36,1795861284.813,'review_step','alpha',5,'nobrakes','{"commit":"a5e2e3211c26243808e4b65ace25c9b55c25ecb1","results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.28800010681152344,"tail":""}],"run":"5-check1","step":"validate_rebased"}');
INSERT INTO "events" VALUES(37,1795861284.98,'escalated','asks',6,'Edith','{"escalation":1,"title":"Tabs or spaces?","type":"question"}');
INSERT INTO "events" VALUES(38,1795861285.032,'merged','alpha',5,'nobrakes','{"detail":"merged","head":"f80299dfb9a5fde3e32d723bba86e04a32005c9f","merged_commit":"a5e2e3211c26243808e4b65ace25c9b55c25ecb1","name":"Reviewer","number":2,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(39,1795861285.133,'doer_stopped','asks',6,'nobrakes','{"detail":"waits for an answer","head":"73568964d006557b0c5398ffb742e0a89436bea3","merged_commit":null,"name":"Edith","number":1,"outcome":"blocked","role":"doer"}');
INSERT INTO "events" VALUES(40,1795861285.154,'doer_started','beta',9,'nobrakes','{"agent":"script","model":"","name":"Hugo","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(41,1795861285.204,'doer_stopped','fails',8,'nobrakes','{"detail":"its marker says so","head":"73568964d006557b0c5398ffb742e0a89436bea3","merged_commit":null,"name":"Grace","number":3,"outcome":"gave_up_tests","role":"doer"}');
INSERT INTO "events" VALUES(42,1795861285.204,'escalated','fails',8,'nobrakes','{"escalation":2,"title":"fails failed 3 times","type":"repeated_failure"}');
INSERT INTO "events" VALUES(43,1795861285.351,'files_changed','tested',7,'Fela','{"changed":2}');
INSERT INTO "events" VALUES(44,1795861285.353,'work_submitted','tested',7,'nobrakes','{"detail":"it exited with 0","head":"1914012b9f8d0e611ed32388ba66673617d5301b","merged_commit":null,"name":"Fela","number":2,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(45,1795861285.379,'review_started','tested',10,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":3,"role":"reviewer"}');
INSERT INTO "events" VALUES(46,1795861285.441,'checks_began','tested',10,'nobrakes','{"commit":"c5155b1721856732fdb49f696f0dd93a965bea80","run":"10-check1","seconds":0.3,"step":"validate_rebased"}');
INSERT INTO "events" VALUES(47,1795861285.567,'files_changed','beta',9,'Hugo','{"changed":1}');
INSERT INTO "events" VALUES(48,1795861285.569,'work_submitted','beta',9,'nobrakes','{"detail":"it exited with 0","head":"54c61e77b5cb4d29afa77914335b71c646d0d373","merged_commit":null,"name":"Hugo","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(49,1795861285.584,'review_started','beta',11,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer 2","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(50,1795861285.617,'checks_began','beta',11,'nobrakes','{"commit":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","run":"11-check1","seconds":0.3,"step":"validate_rebased"}');
INSERT INTO "events" VALUES(51,1795861285.682,'review_step','tested',10,'nobrakes','{"commit":"c5155b1721856732fdb49f696f0dd93a965bea80","results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.20000004768371582,"tail":""}],"run":"10-check1","step":"validate_rebased"}');
INSERT INTO "events" VALUES(52,1795861285.812,'merged','tested',10,'nobrakes','{"detail":"merged","head":"1914012b9f8d0e611ed32388ba66673617d5301b","merged_commit":"c5155b1721856732fdb49f696f0dd93a965bea80","name":"Reviewer","number":3,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(53,1795861285.941,'review_step','beta',11,'nobrakes','{"commit":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.29482293128967285,"tail":""}],"run":"11-check1","step":"validate_rebased"}');
INSERT INTO "events" VALUES(54,1795861286.07,'merged','beta',11,'nobrakes','{"detail":"merged","head":"54c61e77b5cb4d29afa77914335b71c646d0d373","merged_commit":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","name":"Reviewer 2","number":2,"outcome":"completed","role":"reviewer"}');
INSERT INTO "events" VALUES(55,1795861286.073,'epic_completed','lib',NULL,'nobrakes','{"before":"open","return_to":null}');
INSERT INTO "events" VALUES(56,1795861286.259,'daemon_stopped',NULL,NULL,'nobrakes','{"pid":18579}');
INSERT INTO "events" VALUES(57,1795861287.895,'proposed','nb-d999az',NULL,'person','{"needs":[],"status":"draft"}');
INSERT INTO "events" VALUES(58,1795861287.896,'feature_began','nb-d999az',NULL,'person','{"base":"1aef6fab9fba48595ba3e8d95921bc76f8b64fb5","criteria":8,"files":[],"title":"Login"}');
INSERT INTO "events" VALUES(59,1795861291.018,'daemon_started',NULL,NULL,'nobrakes','{"pid":18822}');
INSERT INTO "events" VALUES(60,1795861291.195,'session_began',NULL,NULL,'nobrakes','{"agent":"script","kind":"planning","session":1,"title":"Login"}');
INSERT INTO "events" VALUES(61,1795861291.197,'turn_started',NULL,NULL,'nobrakes','{"agent":"script","model":"","session":1,"turn":1}');
INSERT INTO "events" VALUES(62,1795861291.898,'escalated',NULL,NULL,'Session 1','{"escalation":3,"session":1,"title":"Which store?","type":"question"}');
INSERT INTO "events" VALUES(63,1795861291.952,'turn_ended',NULL,NULL,'nobrakes','{"detail":"its marker says so","outcome":"blocked","session":1,"state":"asking","turn":1}');
INSERT INTO "events" VALUES(64,1795861292.013,'daemon_stopped',NULL,NULL,'nobrakes','{"pid":18822}');
INSERT INTO "events" VALUES(65,1795861293.529,'limits_changed',NULL,NULL,'person','{"after":{"doers":2},"before":{}}');
INSERT INTO "events" VALUES(66,1795861295.132,'proposed','reviewed',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(67,1795861295.132,'proposed','slow',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(68,1795861295.132,'proposed','slowtests',NULL,'person','{"needs":[],"status":"needs_tests"}');
INSERT INTO "events" VALUES(69,1795861295.132,'proposed','next',NULL,'person','{"needs":[],"status":"needs_doer"}');
INSERT INTO "events" VALUES(70,1795861295.132,'proposed','after',NULL,'person','{"needs":[["slow","blocks"]],"status":"needs_doer"}');
INSERT INTO "events" VALUES(71,1795861298.348,'daemon_started',NULL,NULL,'nobrakes','{"pid":18897}');
INSERT INTO "events" VALUES(72,1795861298.496,'doer_started','reviewed',12,'nobrakes','{"agent":"script","model":"","name":"Iris","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(73,1795861298.711,'doer_started','slow',13,'nobrakes','{"agent":"script","model":"","name":"Joan","number":1,"role":"doer"}');
INSERT INTO "events" VALUES(74,1795861299.368,'files_changed','reviewed',12,'Iris','{"changed":1}');
INSERT INTO "events" VALUES(75,1795861299.37,'work_submitted','reviewed',12,'nobrakes','{"detail":"it exited with 0","head":"7c55ed2b4a8c562aa1da048c0a4caee4cf9cbd65","merged_commit":null,"name":"Iris","number":1,"outcome":"completed","role":"doer"}');
INSERT INTO "events" VALUES(76,1795861299.44,'review_started','reviewed',14,'nobrakes','{"agent":"nobrakes","model":"","name":"Reviewer","number":2,"role":"reviewer"}');
INSERT INTO "events" VALUES(77,1795861299.513,'checks_began','reviewed',14,'nobrakes','{"commit":"9558269b2791231420fdf0eb27bb1dd52a96e781","run":"14-check1","seconds":0.3,"step":"validate_rebased"}');
INSERT INTO "events" VALUES(78,1795861299.524,'test_writer_started','slowtests',15,'nobrakes','{"agent":"script","model":"","name":"Kofi","number":1,"role":"test_writer"}');
CREATE TABLE features (
    id VARCHAR NOT NULL, criteria VARCHAR NOT NULL, files VARCHAR NOT NULL, notes VARCHAR NOT NULL,
    base VARCHAR NOT NULL, stage VARCHAR NOT NULL, state VARCHAR NOT NULL, replannings INTEGER NOT NULL,
    session INTEGER, "plan" INTEGER NOT NULL, round INTEGER NOT NULL, clean INTEGER NOT NULL,
    turn_at FLOAT NOT NULL, created_at FLOAT NOT NULL, updated_at FLOAT NOT NULL, archived BOOLEAN NOT NULL,
    actor VARCHAR NOT NULL, data VARCHAR NOT NULL, PRIMARY KEY (id), FOREIGN KEY(id) REFERENCES beads (id),
    FOREIGN KEY(session) REFERENCES sessions (id)
);
INSERT INTO "features" VALUES('nb-d999az','[{"how":"automated","text":"The tests pass: `sh tests/run.sh`","usual":true},{"how":"manual","text":"There are no type errors","usual":true},{"how":"manual","text":"There are no lint errors","usual":true},{"how":"manual","text":"Nothing unexpected is written to stderr or the log: no warnings, no tracebacks","usual":true},{"how":"manual","text":"What is printed fits a narrow terminal (responsive)","usual":true},{"how":"manual","text":"What takes long says that it is at work (loading states)","usual":true},{"how":"review","text":"Errors are handled: what fails says what happened and what to do","usual":true},{"how":"manual","text":"Everybody can use it: without colours and in plain text (accessibility)","usual":true}]','[]','','1aef6fab9fba48595ba3e8d95921bc76f8b64fb5','discovery','active',0,1,0,0,0,1795861291.96,1795861287.896,1795861291.96,0,'person','{"nudged":0,"seen":1,"talk":{"round":0,"stage":"discovery"}}');
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
INSERT INTO "messages" VALUES(1,1,'nobrakes',1795861291.195,'Begin. What you are given above is all there is so far.',1,NULL);
INSERT INTO "messages" VALUES(2,1,'',1795861291.952,'question 3: no answer yet: commit, log and end with NOBRAKES: BLOCKED',1,NULL);
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
INSERT INTO "runs" VALUES('13-agent',13,NULL,'agent',1795861298.732,18932,'54bb90c6-9fda-4ac0-b271-dabd0158a219:4363494',1795864898.732,600.0,1795861298.732,0.0,'',NULL,NULL);
INSERT INTO "runs" VALUES('14-check1',14,NULL,'validation',1795861299.513,18936,'54bb90c6-9fda-4ac0-b271-dabd0158a219:4363497',1795864899.513,0.0,1795861299.513,0.0,'',NULL,NULL);
INSERT INTO "runs" VALUES('15-agent',15,NULL,'agent',1795861299.542,18965,'54bb90c6-9fda-4ac0-b271-dabd0158a219:4363575',1795864899.542,600.0,1795861299.542,0.0,'',NULL,NULL);
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
INSERT INTO "sessions" VALUES(1,'planning','bead:nb-d999az','Login','script','','',NULL,0,0,NULL,'asking',0,NULL,0,'its marker says so',0.0,0,1795861291.195,1795861291.952,NULL,'{"feature":"nb-d999az"}');
CREATE TABLE settings (
    "key" VARCHAR NOT NULL, value VARCHAR NOT NULL, PRIMARY KEY ("key")
);
INSERT INTO "settings" VALUES('formats_told','{"test": "sh tests/run.sh"}');
INSERT INTO "settings" VALUES('clock','["54bb90c6-9fda-4ac0-b271-dabd0158a219", 1795817663.7657902]');
INSERT INTO "settings" VALUES('canary','{"phase": "rest", "green": "73568964d006557b0c5398ffb742e0a89436bea3", "looked_at": 1795861283.592, "tip": "73568964d006557b0c5398ffb742e0a89436bea3", "frozen": false, "reds": 0, "searched": "", "line": [], "low": 0, "high": 0, "culprit": "", "candidate": "", "onto": "", "serial": 1795861284, "commit": "", "started_at": 1795861283.263, "pid": null, "born": "", "timed_out": false, "cut_off": 0, "results": [], "escalation": 0, "unwatched": false, "trial": false, "contract": "63cc6fb0ef1d9064"}');
INSERT INTO "settings" VALUES('check_seconds','{"validation": 0.3, "red_proof": 0.3}');
INSERT INTO "settings" VALUES('compared','1aef6fab9fba48595ba3e8d95921bc76f8b64fb5');
INSERT INTO "settings" VALUES('limits','{"doers": 2}');
INSERT INTO "settings" VALUES('daemon_wanted','1795861296.768');
INSERT INTO "settings" VALUES('run_since','1795861298.348');
INSERT INTO "settings" VALUES('background','18897');
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
INSERT INTO "turns" VALUES(1,1,1,'s1.1.m2pKJZABqwA0Pt1Wb6gyFNrCyFYj5du_',0,'',1795861291.197,1795861291.952,'blocked','its marker says so',0.0,0,'{"diary":null,"named":null,"round":0,"seq":61,"stage":"discovery","tells":false,"window":0,"did":["asked"]}');
CREATE TABLE validations (
    tree VARCHAR NOT NULL, contract VARCHAR NOT NULL, results VARCHAR NOT NULL, at FLOAT NOT NULL,
    PRIMARY KEY (tree, contract)
);
INSERT INTO "validations" VALUES('424935f9cd169353985e3402edf152c3d5c98118','63cc6fb0ef1d9064','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.17599987983703613,"tail":""}],"runs":[{"at":1795861283.595,"attempt":0,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.17599987983703613}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"39f422a5c56ebe26","quarantined":[],"setup":""},"run":"canary-1795861284"}]}',1795861283.595);
INSERT INTO "validations" VALUES('43dad0b95209c871117a4974d33a008a9747e87b','63cc6fb0ef1d9064','{"results":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.28800010681152344,"tail":""}],"runs":[{"at":1795861284.813,"attempt":5,"checks":[{"code":0,"counts":{"failed":0,"passed":1,"skipped":0},"decoy":"","excerpt":"ok 1 - tests/test_begin.sh\n1..1","name":"test","outcome":"pass","reason":"it passed","seconds":0.28800010681152344}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"39f422a5c56ebe26","quarantined":[],"setup":""},"run":"5-check1"}]}',1795861284.813);
INSERT INTO "validations" VALUES('31413df5ac620a5f0e9fb544a741e315123f172a','63cc6fb0ef1d9064','{"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.20000004768371582,"tail":""}],"runs":[{"at":1795861285.682,"attempt":10,"checks":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","excerpt":"ok 1 - tests/test_begin.sh\nok 2 - tests/test_tested.sh\n1..2","name":"test","outcome":"pass","reason":"it passed","seconds":0.20000004768371582}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"39f422a5c56ebe26","quarantined":[],"setup":""},"run":"10-check1"}]}',1795861285.682);
INSERT INTO "validations" VALUES('0d0ecbb51e7d682acaae31d40d68ee7eea33439a','63cc6fb0ef1d9064','{"results":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","failing":[],"name":"test","outcome":"pass","quarantined":[],"reason":"it passed","repeated":[],"seconds":0.29482293128967285,"tail":""}],"runs":[{"at":1795861285.941,"attempt":11,"checks":[{"code":0,"counts":{"failed":0,"passed":2,"skipped":0},"decoy":"","excerpt":"ok 1 - tests/test_begin.sh\nok 2 - tests/test_tested.sh\n1..2","name":"test","outcome":"pass","reason":"it passed","seconds":0.29482293128967285}],"contract":{"checks":[{"cached":true,"command":"sh tests/run.sh","directory":"","format":"auto","kind":"test","min_tests":1,"name":"test","parallel":false,"report":"","retry":0,"timeout":1800.0,"tools":[]}],"environment":"39f422a5c56ebe26","quarantined":[],"setup":""},"run":"11-check1"}]}',1795861285.941);
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
CREATE INDEX beads_status ON beads (status, type);
CREATE INDEX events_of_bead ON events (bead, seq) WHERE bead IS NOT NULL;
CREATE INDEX notices_by_fingerprint ON notices (fingerprint, created_at);
CREATE INDEX notices_unrouted ON notices (id) WHERE routed = 0;
CREATE INDEX requests_by_time ON requests (at);
CREATE UNIQUE INDEX sessions_by_provider_session ON sessions (provider_session);
CREATE INDEX sessions_going ON sessions (id) WHERE ended_at IS NULL AND kind <> 'attempt';
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
