"""The page of the workspace: its projects, and which of them each chat agent's session works on."""

from nobrakes.beads.model import Bead, BeadType
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.features.model import Feature
from nobrakes.projects.model import Brief
from nobrakes.projects.service import coding, projects_folder
from nobrakes.sessions.model import SessionKind
from tests.support.web import Served


def test_what_a_session_confirmed_stands_on_the_page(site: Served) -> None:
    assert "No chat agent has connected yet" in site.get("/projects").text
    projects_folder.create(Brief("tea", criteria=("Sells <b>tea</b>",)), "me")
    projects_folder.set_project("<i>phone</i>", "tea", False, "me")
    page = site.get("/projects").text
    assert "&lt;i&gt;phone&lt;/i&gt;" in page and "<i>phone" not in page
    assert "works on tea" in page and "0 of 1 criteria" in page and "project.set" in page and 'href="/r/tea/"' in page


def test_the_page_says_how_far_sprints_are_and_what_they_wait_for(site: Served) -> None:
    made = projects_folder.create(Brief("tea", criteria=("It is sold",)), "me")
    with coding.project_store(made.path) as (store, _):
        run = store.begin_sprints(3, False, {}, "me")
        store.put([Bead("sprint-1", "Sprint 1", type=BeadType.EPIC)], [], "me")
        store.begin_feature(Feature("sprint-1", "Sprint 1", "Sell tea", actor="me"))
        spec = ("script", "", "")
        session = store.begin_session(SessionKind.PLANNING, "bead:sprint-1", "Plan", spec, "Plan it.", "nobrakes")
        store.change_feature("sprint-1", {"session": session.id}, "me")
        store.add_sprint(1, run.id, "sprint-1")
        store.escalate(NewEscalation(EscalationType.QUESTION, "<b>Which</b>?", session=session.id), None, None, "x")
    page = site.get("/projects").text
    assert "sprints going: 0 of 3 done, s1 in planning" in page and "blocked" in page
    assert "Waiting: escalation 1: &lt;b&gt;Which&lt;/b&gt;?" in page


def test_a_project_is_made_and_archived_on_its_page(site: Served) -> None:
    page = site.get("/projects").text
    assert 'action="/r/~/do/project-new"' in page and "<details open><summary>New project" in page
    fields = {"sparse": "1", "then": "/projects", "name": "tea", "objective": "", "criterion": "It is sold\nIt is hot"}
    done = site.post("/r/~/do/project-new", fields)
    assert (done.status_code, done.headers["location"]) == (303, "/projects"), done.text
    page = site.get("/projects").text
    assert 'href="/r/tea/"' in page and "0 of 2 criteria" in page
    assert "Begin" in site.get("/r/tea/").text
    again = site.post("/r/~/do/project-new", {"name": "Tea"}, accept="application/json")
    assert (again.status_code, "already exists" in again.text) == (409, True), again.text
    for name in ("../tea", ".tea", "a/b", ""):
        assert site.post("/r/~/do/project-new", {"name": name}, accept="application/json").status_code == 422, name
    assert site.post("/r/~/do/project-archive", {"name": "tea"}).status_code == 303
    assert 'href="/r/tea/"' not in site.get("/projects").text
