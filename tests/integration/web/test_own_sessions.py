"""Sessions that a page begins where nobrakes was never set up: only below folders that a terminal named."""

import json
import os
import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nobrakes.cli import main
from nobrakes.config.user import user_place
from nobrakes.machine import registry
from nobrakes.machine.web_state import word_of
from nobrakes.sessions.service import relay
from nobrakes.web.commands import COMMANDS
from tests.support.web import Served

START = "/r/~/do/session-start"


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def cloned(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init", "-q")
    git(folder, "commit", "-q", "--allow-empty", "-m", "Begin")
    return folder


@pytest.fixture
def code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The named folder, with a repository `tea` that nobrakes does not know. No daemon starts."""
    monkeypatch.setattr(relay, "see_to_a_daemon", lambda store, paths: relay.Seen())
    folder = tmp_path / "code"
    cloned(folder / "tea")
    assert main.run(["machine", "set", f"session_roots={folder}"]) == 0
    return folder


def begin(site: Served, path: "Path | str", **more: str):
    fields = {"text": "Pour the tea", "works": "1", "agent": "script", "repository": str(path), **more}
    return site.post(START, fields, accept="application/json")


def test_the_page_says_what_to_type_and_reading_creates_nothing(site: Served, tmp_path: Path) -> None:
    page = site.get("/sessions").text
    assert "<code>nobrakes machine set session_roots=~/code</code>" in page and "<select" not in page
    assert 'href="/r/shop/sessions"' in page, "where nobrakes is set up"
    assert 'href="/sessions"' in site.get("/").text and 'href="/sessions"' in site.get("/r/shop/sessions").text
    assert site.get("/r/~/sessions").status_code == 404 and site.get("/r/~/api/sessions").status_code == 404
    refused = begin(site, cloned(tmp_path / "tea"))
    assert refused.status_code == 409 and "machine set session_roots=" in refused.json()["error"]["hint"]
    assert site.get("/api/session-repositories").json()["data"] == {"roots": [], "repositories": [], "left_out": False}


def test_two_first_sessions_at_once_make_one_place(site: Served, code: Path) -> None:
    for name in ("milk", "lemon"):
        cloned(code / name)
    together = threading.Barrier(3)

    def first(name: str):
        together.wait()
        return begin(site, code / name)

    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(first, ("tea", "milk", "lemon")))
    assert [one.status_code for one in done] == [200, 200, 200], [one.text for one in done]
    assert sorted(one.json()["data"]["session"]["id"] for one in done) == [1, 2, 3]
    assert git(Path(user_place().home), "log", "--format=%s").splitlines() == ["Begin"]


def test_a_session_begins_goes_on_and_ends_there(site: Served, code: Path) -> None:
    tea = code / "tea"
    assert not os.path.exists(user_place().home)
    page = site.get("/sessions").text
    assert f'<option value="{tea}">' in page and str(Path.cwd()) not in "".join(re.findall("<option.*?>", page))
    assert site.get("/api/session-repositories").json()["data"]["repositories"] == [str(tea)]
    assert not os.path.exists(user_place().home), "reading creates nothing"

    began = begin(site, tea)
    assert began.status_code == 200, began.text
    session = began.json()["data"]["session"]
    assert (session["kind"], session["data"]["repository"]) == ("relay", str(tea))
    assert session["data"]["start"] == git(tea, "rev-parse", "HEAD").strip()
    assert "Pour the tea" in site.get("/sessions").text and str(tea) in site.get("/sessions").text
    listed = site.get("/r/~/sessions").text
    assert "Pour the tea" in listed and "On beads" not in listed and 'href="/r/~/board"' not in listed
    page = site.get("/r/~/sessions/1").text
    assert f"The agent works in a clone of <code>{tea}</code>" in page and "session-hand-in" not in page
    assert "Your own sessions" in page and "do/pause" not in page

    assert site.post("/r/~/do/session-say", {"number": "1", "text": "Then drink it"}).status_code == 303
    shown = site.get("/r/~/api/sessions/1").json()["data"]
    assert [one["text"] for one in shown["messages"]] == ["Pour the tea", "Then drink it"]
    assert "has committed nothing yet" in site.get("/r/~/sessions/1/diff").text
    assert site.get("/r/~/api/sessions/1/diff").status_code == 409
    refused = site.post("/r/~/do/session-hand-in", {"number": "1"}, accept="application/json")
    assert refused.status_code == 409 and "where nobrakes is not set up" in refused.json()["error"]["message"]
    assert site.post("/r/~/do/session-end", {"number": "1"}).status_code == 303
    assert "Pour the tea" not in site.get("/sessions").text
    assert site.get("/r/~/").headers["location"] == "/sessions"
    assert site.get("/r/~/desk").status_code == 200
    assert word_of(os.path.realpath(user_place().home)) == "~", "links in notices lead there"
    assert os.listdir(tea) == [".git"] and git(tea, "branch", "--format=%(refname:short)") == "main\n"


def test_the_same_form_sent_twice_begins_one_session(site: Served, code: Path) -> None:
    first, second = (begin(site, code / "tea", request="once").json() for _ in range(2))
    assert (first["again"], second["again"]) == (False, True) and first["data"] == second["data"]


@pytest.mark.parametrize(
    "path",
    [
        "{code}/../outside", "{code}/tea/../../outside", "{outside}", "{code}/link", "{code}/up/outside", "{code}/tea/.", "{code}//tea", "tea",
        "../code/tea", "~/code", "/", "/etc", "{code}/tea\x00", "{code}/tea\n", "/proc/self/root{code}/tea", "{code}/shop", "{code}-too",
        "{code}/file", "{code}/plain", "{code}/bare", "{code}/worktree", "{code}/a/b/c/d", "{code}/broken", "{code}/empty", "{code}/elsewhere",
    ],
)  # fmt: skip
def test_a_hostile_path_begins_nothing(site: Served, code: Path, tmp_path: Path, path: str) -> None:
    outside = cloned(tmp_path / "outside")
    cloned(tmp_path / "code-too")
    assert site.get("/sessions").status_code == 200  # the list is older than what happens now
    (code / "link").symlink_to(outside)
    (code / "up").symlink_to(tmp_path)
    (code / "shop").mkdir()
    (code / "shop" / ".nobrakes").mkdir()
    (code / "shop" / ".nobrakes" / "config.toml").write_text("")
    (code / "shop" / ".git").mkdir()
    (code / "file").write_text("")
    (code / "plain").mkdir()
    git(code, "init", "-q", "--bare", "bare")
    git(outside, "worktree", "add", "-q", str(code / "worktree"))
    cloned(code / "a" / "b" / "c" / "d")
    git(tmp_path, "init", "-q")  # around all of it: git would take it for a broken one's
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Begin")
    (code / "broken" / ".git").mkdir(parents=True)
    git(code, "init", "-q", "empty")
    (code / "elsewhere" / ".git").mkdir(parents=True)
    (code / "elsewhere" / ".git" / "commondir").write_text(f"{outside}/.git\n")
    (code / "elsewhere" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    answer = begin(site, path.format(code=code, outside=outside))
    assert answer.status_code == 409, answer.text
    assert answer.json()["ok"] is False and answer.json()["error"]["message"]
    assert (registry.home_paths() is None) or site.get("/r/~/api/sessions?all=1").json()["data"] == []


def test_a_path_that_is_missing_or_endless_is_refused(site: Served, code: Path) -> None:
    assert [begin(site, path).status_code for path in ("", "x" * 5000)] == [422, 422]


def test_a_folder_that_became_a_link_since_the_list_was_read_is_refused(
    site: Served, code: Path, tmp_path: Path
) -> None:
    assert str(code / "tea") in site.get("/sessions").text
    (code / "tea").rename(tmp_path / "moved")
    (code / "tea").symlink_to(tmp_path / "moved")
    assert begin(site, code / "tea").status_code == 409


def test_nothing_of_the_repository_runs_when_a_session_begins(site: Served, code: Path, tmp_path: Path) -> None:
    tea, ran = code / "tea", tmp_path / "ran"
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    evil.chmod(0o755)
    (tea / ".gitattributes").write_text("* filter=evil diff=evil\n")
    git(tea, "add", ".")
    git(tea, "commit", "-q", "-m", "Attributes")
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        (tea / ".git" / "hooks" / hook).parent.mkdir(exist_ok=True)
        (tea / ".git" / "hooks" / hook).write_text(evil.read_text())
        (tea / ".git" / "hooks" / hook).chmod(0o755)
    (tea / ".git" / "more").write_text(f"[core]\n\tfsmonitor = {evil}\n\tsshCommand = {evil}\n\tpager = {evil}\n")
    for key in (
        "core.fsmonitor",
        "filter.evil.smudge",
        "filter.evil.clean",
        "diff.evil.textconv",
        "diff.external",
        "alias.rev-parse",
    ):
        git(tea, "config", key, f"!{evil}" if key.startswith("alias") else str(evil))
    git(tea, "config", "include.path", "more")
    ran.unlink(missing_ok=True)
    assert str(tea) in site.get("/sessions").text
    assert begin(site, tea).status_code == 200
    assert site.get("/r/~/sessions/1").status_code == 200 and not ran.exists()


def test_no_page_names_a_folder(site: Served, code: Path) -> None:
    config = Path(user_place().config)
    before = config.read_text()
    for address in ("machine", "config-set", "machine-set"):
        for word in ("shop", "~"):
            fields = {"words": "set session_roots=/", "key": "machine.session_roots", "value": "/"}
            refused = site.post(f"/r/{word}/do/{address}", fields, accept="application/json")
            assert refused.status_code == 422, refused.text
            if address == "machine":
                assert "nobrakes machine set session_roots=" in refused.json()["error"]["hint"]
    assert config.read_text() == before
    takes = {field.name for one in COMMANDS for field in one.fields}
    assert "session_roots" not in takes and "roots" not in takes


def test_an_agent_cannot_name_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setenv("NOBRAKES_TOKEN", "1.1.x")
    assert main.run(["machine", "set", f"session_roots={tmp_path}", "--json"]) != 0
    assert json.loads(capsys.readouterr().out)["error"]["name"] == "NotAllowed"


def test_your_own_sessions_take_only_the_commands_of_the_option_user(site: Served, code: Path) -> None:
    assert begin(site, code / "tea").status_code == 200
    for address, fields in (("add", {"title": "A bead"}), ("pause", {}), ("set", {"limits": "doers=3"})):
        refused = site.post(f"/r/~/do/{address}", fields, accept="application/json")
        assert refused.status_code == 422 and "your own sessions" in refused.json()["error"]["message"], refused.text


def test_a_repository_that_is_set_up_takes_no_other_one(site: Served, code: Path) -> None:
    fields = {"text": "Pour", "works": "1", "repository": str(code / "tea")}
    assert site.post("/r/shop/do/session-start", fields, accept="application/json").status_code == 422
    assert begin(site, code / "tea", works="0").status_code == 422
