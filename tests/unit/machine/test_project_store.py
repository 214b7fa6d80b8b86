"""Projects and chats in the person's database: kept whole, and over a restart."""

from contextlib import closing
from pathlib import Path

from nobrakes.machine.db import ChatRun, ProjectStore


def test_what_a_chat_confirmed_survives_whoever_is_killed(tmp_path: Path) -> None:
    path = str(tmp_path / "user.db")
    with closing(ProjectStore(path, lambda: 5.0)) as store:
        assert store.chat("phone") is None
        assert store.see_chat("phone", "pocket").confirmed_project is None
        store.set_project("phone", "tea", "/w/PROJECTS/tea", True, "word")
    with closing(ProjectStore(path, lambda: 9.0)) as store:
        found = store.see_chat("phone")
        assert (found.confirmed_project, found.is_new, found.identity, found.client) == ("tea", True, "word", "pocket")
        assert (found.began_at, found.set_at, found.seen_at) == (5.0, 5.0, 9.0)
        (event,) = store.chat_events("phone")
        assert event.kind == "project.set" and dict(event.data) == {
            "sessionId": "phone", "projectName": "tea", "projectPath": "/w/PROJECTS/tea", "isNew": True,
        }  # fmt: skip
        assert store.chat_events("other") == []


def test_a_tool_goes_on_with_its_last_session_until_the_project_changes(tmp_path: Path) -> None:
    with closing(ProjectStore(str(tmp_path / "user.db"), lambda: 1.0)) as store:
        store.set_project("phone", "tea", "/p/tea", False, "")
        for number in (1, 2):
            store.ran(ChatRun("phone", "tea", "claude", number, "", True, 0.0))
        store.ran(ChatRun("phone", "tea", "codex", 3, "", True, 0.0))
        assert [(one.session, one.is_current) for one in store.runs("phone")] == [(3, True), (2, True), (1, False)]
        store.set_project("phone", "site", "/p/site", False, "")
        assert not any(one.is_current for one in store.runs("phone"))


def test_an_archived_project_comes_back_with_who_made_it(tmp_path: Path) -> None:
    with closing(ProjectStore(str(tmp_path / "user.db"), lambda: 3.0)) as store:
        store.created("tea", "Ada")
        store.archive("tea", True)
        assert store.projects()["tea"].archived_at == 3.0
        store.archive("tea", False)
        row = store.projects()["tea"]
        assert (row.created_by, row.archived_at) == ("Ada", None)
