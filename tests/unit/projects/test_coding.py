"""Coding tools of a chat agent, begun in a project of a real workspace. No daemon is started, and no agent runs."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nobrakes.agents.service.agent_api import choose
from nobrakes.beads.model import Bead, BeadType, Outcome, person_owner
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.decisions.service import desk
from nobrakes.errors import NoAgent, NoProject, NotAllowed, UsageError
from nobrakes.features.model import Criterion, Feature, Step
from nobrakes.features.reviewed_plan import nodes_of
from nobrakes.projects import model as projects_model
from nobrakes.projects.model import Brief
from nobrakes.projects.service import coding, projects_folder
from nobrakes.sessions.model import PLAN_OF, Fact, SessionKind, only_plans
from nobrakes.sessions.service import relay
from nobrakes.store import Store, create_store


def with_an_agent(project: Path) -> None:
    with (project / ".nobrakes" / "config.toml").open("a") as config:
        config.write('[agents.acp]\ncommand = ["sh"]\n')


class Workspace:
    """A person's workspace with one project, and what was done inside of the project's transaction."""

    def __init__(self, folder: Path) -> None:
        projects_folder.create(Brief("tea"), "Ada")
        projects_folder.set_project("phone", "tea", False, "Ada")
        self.folder = folder / "workspace" / "PROJECTS" / "tea"
        with_an_agent(self.folder)
        self.inside, self.seen = False, list[tuple[str, bool]]()

    def begin(self, prompt: str = "Make it", directory: str = "", model: str = "", persona: str = "") -> Any:
        return coding.begin("phone", directory, relay.Wanted(prompt, "acp", model, persona=persona))

    def messages(self, session: int) -> list[str]:
        with coding.project_store(str(self.folder)) as (store, _paths):
            return [one.text for one in store.messages(session)]


@pytest.fixture
def workspace(git: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_RUN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NOBRAKES_USER_HOME", str(tmp_path))
    made = Workspace(tmp_path)
    monkeypatch.setattr(coding, "see_to_a_daemon", lambda store, paths: "")

    def noted(name: str, real: Any) -> Any:
        def do(*given: Any) -> Any:
            made.seen.append((name, made.inside))
            return real(*given)

        return do

    begin = Store.write

    @contextmanager
    def write(store: Store, told: bool = True) -> Iterator[None]:
        with begin(store, told=told):
            outer, made.inside = made.inside, True
            try:
                yield
            finally:
                made.inside = outer

    monkeypatch.setattr(Store, "write", write)
    monkeypatch.setattr(relay.RelayClones, "start", noted("git", relay.RelayClones.start))
    monkeypatch.setattr(coding, "wake", noted("wake", coding.wake))
    monkeypatch.setattr(relay, "wake", noted("wake", relay.wake))
    return made


def test_git_and_the_daemon_are_asked_outside_of_the_transaction_that_begins_a_session(workspace: Workspace) -> None:
    (workspace.folder / ".nobrakes" / "relays" / "4").mkdir(parents=True)
    assert workspace.begin().run == "tea/5", "a clone that is left takes no new session in"
    assert workspace.seen == [("git", False), ("wake", False)]
    workspace.seen.clear()
    assert workspace.begin("More").goes_on
    assert workspace.seen == [("wake", False)]


def test_the_agent_begins_in_the_folder_that_the_guard_let_through(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(workspace.folder))
    os.makedirs(workspace.folder / "src" / "pot")
    begun = workspace.begin("Make it", "~/src/pot")
    with coding.project_store(str(workspace.folder)) as (store, _paths):
        assert store.session(begun.session).data["directory"] == "src/pot"
    assert workspace.messages(begun.session) == ["Make it"] and workspace.begin().session != begun.session


def test_what_is_broken_in_one_project_is_said_and_keeps_nobody_from_the_others(workspace: Workspace) -> None:
    assert workspace.begin().run == "tea/1"
    projects_folder.create(Brief("site"), "Ada")
    projects_folder.set_project("phone", "site", False, "Ada")
    with_an_agent(workspace.folder.parent / "site")
    assert workspace.begin().run == "site/1"
    database = workspace.folder / ".nobrakes" / "nobrakes.db"
    database.unlink()
    with closing(create_store(str(database))) as store:
        store.begin_session(SessionKind.RELAY, person_owner("Ada"), "Another", ("script", "script", ""), "Else", "Ada")
    site, tea = coding.look("phone")
    assert (site.run, site.state, site.trouble) == ("site/1", "ready", "")
    assert (tea.run, tea.state) == ("tea/1", coding.LOST) and "now belongs to a different session" in tea.trouble
    database.write_text("no database")
    assert coding.look("phone")[1].state == coding.LOST
    workspace.folder.rename(workspace.folder.parent / "pot")
    assert "is missing" in coding.look("phone")[1].trouble


def test_a_chat_answers_its_own_agents_and_nobody_elses(workspace: Workspace) -> None:
    own = workspace.begin().session
    projects_folder.set_project("pocket", "tea", False, "Ada")
    other = coding.begin("pocket", "", relay.Wanted("Make it", "acp")).session
    with coding.project_store(str(workspace.folder)) as (store, _paths):
        ask = partial(NewEscalation, EscalationType.QUESTION)
        mine, theirs, bead = (
            store.escalate(ask(title, session=session), None, None, "nobrakes").id
            for title, session in (("Which tea?", own), ("Which pot?", other), ("Which cup?", None))
        )
    for number in (theirs, bead):
        with pytest.raises(NotAllowed) as refused:
            coding.answer("phone", number, "Green")
        assert f"nobrakes escalation {number}" in refused.value.hint
    with pytest.raises(UsageError):
        coding.answer("phone", mine, " ")
    assert coding.look("phone")[0].question == mine
    assert coding.answer("phone", mine, "Green") == f"answered; session {own} continues"
    with coding.project_store(str(workspace.folder)) as (store, _paths):
        assert store.escalation(mine).answer == "Green"
        assert {one.id for one in store.escalations()} == {theirs, bead}


def test_no_tool_runs_in_a_project_that_is_archived(workspace: Workspace) -> None:
    projects_folder.archive("tea", True)
    with pytest.raises(NoProject) as refused:
        workspace.begin()
    assert str(refused.value) == projects_model.REFUSED and "archived" in refused.value.hint
    projects_folder.archive("tea", False)
    assert workspace.begin().run == "tea/1"


def test_a_session_by_http_is_of_one_client_and_its_own_word_suggests_the_project(workspace: Workspace) -> None:
    (ask,) = (one for one in coding.operations("", "pocket") if one.name == "list_projects")
    said = choose((ask,), ask.name, {"session": "Tea", "message": ""}).text
    assert "Based on the name of this session, I think you want to work on **tea**" in said
    assert projects_folder.chat("pocket: Tea") is not None
    with pytest.raises(UsageError):
        choose((ask,), ask.name, {"session": " "})
    with pytest.raises(UsageError, match="cannot be the name of a client"):
        coding.add("pocket: a")
    with pytest.raises(UsageError, match="by HTTP"):
        projects_folder.require_word("pocket: Tea")
    assert projects_folder.require_word("telegram:7") == "telegram:7"


def test_a_plan_and_a_merge_are_a_persons_and_words_change_a_plan(workspace: Workspace) -> None:
    begun = coding.begin("phone", "", relay.Wanted("Make it", "acp", plans=True))
    with coding.project_store(str(workspace.folder)) as (store, paths):
        session = store.session(begun.session)
        assert only_plans(session)
        turn = store.open_turn(session.id)
        assert turn is not None
        new = NewEscalation(EscalationType.PLAN_REVIEW, "Plan", "Brew.", {PLAN_OF: session.id}, session=session.id)
        asked = store.escalate(new, None, None, "nobrakes").id
        store.close_turn(turn[0].id, Fact.ENDED_WELL, Outcome.COMPLETED, "", said="Brew. " + "\u6c34" * 9000)
    (run,) = coding.look("phone")
    assert (run.stage, run.question, run.decide) == ("plan", asked, f"nobrakes resolve {asked} --approve")
    assert len(coding.dumped(run).encode()) <= coding.MAX_BYTES
    assert len(coding.dumped(coding.output("phone", begun.run)).encode()) <= coding.MAX_BYTES
    with pytest.raises(NotAllowed):
        coding.answer("phone", asked, "approve")
    with pytest.raises(NotAllowed):
        coding.hand_in("phone", begun.run)
    with pytest.raises(UsageError):
        coding.output("pocket", begun.run)
    workspace.begin("In a pot")
    with coding.project_store(str(workspace.folder)) as (store, paths):
        assert store.escalation(asked).answer == "In a pot" and only_plans(store.session(begun.session))
        again = store.escalate(new, None, None, "nobrakes").id
        with pytest.raises(NotAllowed):
            desk.resolve(store, again, "dismiss", "", "Ada")
        desk.resolve(store, again, "approve", "Green tea", "Ada")
        assert not only_plans(store.session(begun.session))
        assert store.messages(begun.session)[-1].text.endswith("approve: Green tea")
        with pytest.raises(NotAllowed):
            desk.resolve(store, again, "approve", "", "Ada")
        Path(paths.config).write_text('main = "main"\n[review]\napprove = "never"\n')
    with pytest.raises(NotAllowed) as refused:
        coding.hand_in("phone", begun.run)
    assert "session hand-in" in refused.value.hint


def test_no_agent_works_in_the_folders_of_git_and_nobrakes(workspace: Workspace) -> None:
    for directory in (".git", ".git/hooks", "src/.GIT", ".nobrakes", ".nobrakes/relays"):
        os.makedirs(workspace.folder / directory, exist_ok=True)
        with pytest.raises(NoProject) as refused:
            workspace.begin(directory=directory)
        assert "is git's or nobrakes' own" in refused.value.hint, directory


def test_a_folder_that_is_no_path_is_an_error_in_words(workspace: Workspace) -> None:
    for directory in ("src\0", "\0", "a\nb", "\x1b[31m", "\udcff"):
        with pytest.raises(UsageError, match="workingDirectory contains a character"):
            workspace.begin(directory=directory)


def test_a_tool_whose_program_is_missing_begins_nothing(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoAgent, match="claude is not installed"):
        coding.begin("phone", "", relay.Wanted("Make it", "claude"))
    with coding.project_store(str(workspace.folder)) as (store, _paths):
        assert store.sessions() == []


def test_a_chat_agent_is_not_told_where_the_pages_are(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    from nobrakes.machine import web_state

    monkeypatch.setattr(web_state, "link", lambda *_: "http://drawn-name.localhost:8080/r/tea/desk")
    table = coding.operations("phone")
    with pytest.raises(NotAllowed) as refused:
        choose(table, "approve", {})
    plan = "beads: [{id: a, title: Do a}]"
    said = choose(table, "propose", {"plan": plan})
    assert "drawn-name" not in f"{refused.value} {refused.value.hint} {said.text}" and "nobrakes approve`" in said.text


def test_a_chat_agent_is_told_what_comes_before_the_yes(workspace: Workspace) -> None:
    with coding.project_store(str(workspace.folder)) as (store, _paths):
        store.put([Bead("login", "Login", type=BeadType.EPIC), Bead("form", "The form", epic="login")], [], "me")
        store.begin_feature(Feature("login", "Login", "People log in.", (Criterion("Tests pass", "automated"),)))
        store.move_feature("login", Step.PROPOSED, "Shaper")
        store.keep_plan("login", nodes_of(store, "login"), "whole", "Shaper")
        store.move_feature("login", Step.PLAN_READY, "Shaper")
    table = coding.operations("phone")
    said = choose(table, "propose", {"plan": "beads: [{id: a, title: Do a}]"}).text
    with pytest.raises(NotAllowed) as refused:
        choose(table, "approve", {})
    for told in (said, refused.value.hint):
        assert "nobrakes forge sign-off login" in told and "`nobrakes approve`" not in told
    assert "the plan of feature login is not signed off" in said


def test_an_agent_for_which_no_command_is_set_is_refused(workspace: Workspace) -> None:
    config = workspace.folder / ".nobrakes" / "config.toml"
    config.write_text(config.read_text().replace('command = ["sh"]', "command = []"))
    with pytest.raises(NoAgent, match="no command is set for the agent acp") as told:
        workspace.begin()
    assert "agents.acp.command" in told.value.hint and workspace.seen == []


@pytest.mark.parametrize("directory", ["none", "a file", "x" * 5000])
def test_a_working_directory_that_is_no_folder_is_named_and_the_project_stays_confirmed(
    workspace: Workspace, directory: str
) -> None:
    (workspace.folder / "a file").touch()
    with pytest.raises(UsageError, match="workingDirectory is not a folder of project 'tea': "):
        workspace.begin(directory=directory)
    assert workspace.begin().project == "tea"


def test_a_turn_that_could_not_begin_is_told_to_the_chat_agent(workspace: Workspace) -> None:
    workspace.begin()
    with coding.project_store(str(workspace.folder)) as (store, _paths):
        begun = store.open_turn(1)
        assert begun is not None
        store.close_turn(begun[0].id, Fact.CUT_OFF, Outcome.MISSING_EXECUTABLE, "sh was not found", resends=True)
    assert [one.trouble for one in coding.look("phone")] == ["sh was not found"]
