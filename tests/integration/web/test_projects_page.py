"""The page of the workspace: its projects, and which of them each chat agent's session works on."""

import subprocess
from pathlib import Path

import pytest

from nobrakes.beads.model import Bead, BeadType
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.features.model import Feature
from nobrakes.projects.model import ROADMAP, Brief
from nobrakes.projects.service import coding, projects_folder
from nobrakes.sessions.model import SessionKind
from tests.integration.web.test_every_page import Form, plain
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


@pytest.fixture
def tea(site: Served) -> str:
    """A project with a brief, a roadmap and a check on main."""
    made = projects_folder.create(
        Brief("tea", objective="Sell <b>tea</b>", criteria=("It is `sold`", "It is hot")), "me"
    )
    roadmap = "# Roadmap\n\n- [ ] R1: A menu\n- [ ] R2: A till <i>\n- [x] R0: A sign\n"
    Path(made.path, ROADMAP).parent.mkdir(exist_ok=True)
    Path(made.path, ROADMAP).write_text(roadmap)
    for words in (["add", ROADMAP], ["commit", "-qm", "Add the roadmap"]):
        subprocess.run(
            ["git", "-c", "user.name=me", "-c", "user.email=me@x.invalid", *words], cwd=made.path, check=True
        )
    return made.path


def pressed(site: Served, slug: str, status: int = 200, **fields: str) -> dict:
    done = site.post(f"/r/tea/do/{slug}", fields, accept="application/json")
    assert done.status_code == status, done.text
    return done.json()


def test_sprints_are_approved_on_their_page_for_what_it_shows(site: Served, tea: str) -> None:
    assert 'href="/r/tea/sprints"' in site.get("/projects").text and 'href="/r/tea/sprints"' in site.get("/r/tea/").text
    page = site.get("/r/tea/sprints").text
    assert "the project has no checks" in page and "nobrakes config set checks.test.command" in page
    with (Path(tea) / ".nobrakes" / "config.toml").open("a") as file:
        file.write('\n[[checks]]\nname = "build"\nkind = "build"\ncommand = "true"\n')
    page = site.get("/r/tea/sprints").text
    plain(page)
    assert (
        "Sell &lt;b&gt;tea" in page
        and "It is <code>sold</code>" in page
        and "build: true" in page
        and "R2: A till &lt;i&gt;" in page
    )
    form = Form(page, "project-run")
    seen = form.sends["seen"]
    assert seen and form.fields["item"][1]["type"] == "checkbox" and form.sends["sprints"] == "1"
    own = {"sparse": "1", "later": "1", "sprints": "2", "usd": "2.5", "until": ""}
    assert "changed since you looked" in pressed(site, "project-run", 409, **own, seen="other")["error"]["message"]
    made = site.post(
        "/r/tea/do/project-run", {**own, "seen": seen, "item": ["R1", "R2"], "tests": "0"}, accept="application/json"
    ).json()
    run = made["data"]["run"]
    assert (run["asked"], run["needs_tests"], run["actor"]) == (2, False, "ada (web)"), made
    assert (run["terms"]["items"], run["terms"]["usd"]) == (
        "R1 R2",
        "2.5",
    ) and "the next starts the sprints" in made["said"]
    page = site.get("/r/tea/sprints").text
    assert "At work" in page and "0 of 2 sprints done" in page and "of $2.5" in page and "project-run" not in page
    assert "already" in pressed(site, "project-run", 409, **own, seen=seen)["error"]["message"]


def test_a_schedule_is_added_and_removed_on_the_page(site: Served, tea: str) -> None:
    with (Path(tea) / ".nobrakes" / "config.toml").open("a") as file:
        file.write('\n[[checks]]\nname = "build"\nkind = "build"\ncommand = "true"\n')
    form = Form(site.get("/r/tea/sprints").text, "project-schedule")
    assert {"at", "days", "zone", "late_hours", "sprints", "usd", "until", "tests", "seen"} <= form.fields.keys()
    pressed(site, "project-schedule", **{**form.sends, "at": "03:00", "days": "mon", "zone": "UTC", "remove": ""})
    page = site.get("/r/tea/sprints").text
    assert "1 sprint at 03:00, mon, UTC" in page and 'name="remove" value="1"' in page
    pressed(site, "project-schedule", remove="1")
    assert 'name="remove"' not in site.get("/r/tea/sprints").text
    assert pressed(site, "project-schedule", 422, at="25:00")["error"]["message"]


def test_contradictions_are_looked_for_when_asked(site: Served, tea: str) -> None:
    subprocess.run(
        [
            "git",
            "-c",
            "user.name=me",
            "-c",
            "user.email=me@x.invalid",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "R1 is done",
        ],
        cwd=tea,
        check=True,
    )
    assert "Contradictions" not in site.get("/r/tea/sprints").text
    assert "Contradictions" in site.get("/r/tea/sprints?check=1").text


def test_sprints_are_of_projects_alone_and_unfinished_ones_go_on_from_the_list(site: Served, tea: str) -> None:
    assert site.get("/r/shop/sprints").status_code == 409 and "/r/shop/sprints" not in site.get("/r/shop/").text
    assert site.post("/r/shop/do/project-run", {}, accept="application/json").status_code == 409
    done = site.post("/r/~/do/project-continue", {"then": "/projects"}, accept="application/json")
    assert done.status_code == 200 and done.json()["said"] == "tea: no unfinished work", done.text
    assert done.json()["data"] == [{"project": "tea", "daemon": None, "text": "no unfinished work"}]
