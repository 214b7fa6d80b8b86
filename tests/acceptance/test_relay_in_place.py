"""Relay sessions in the checkout itself: what lies there is kept, git's own folder stays out of reach, merges wait."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nobrakes.config.user import OVERRIDE
from nobrakes.errors import GitFailed
from tests.support.project import Project
from tests.support.scripted import until

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")]
AGENT = """#!/bin/sh
if grep -q "wait here" "$NOBRAKES_PROMPT"; then while ! [ -e go ]; do sleep 0.05; done; fi
if grep -q "cheat" "$NOBRAKES_PROMPT"; then
    mkdir -p .git/hooks
    for name in .git/hooks/pre-commit .git/config .git/commondir .git/objects/info/alternates; do
        if (echo evil >>"$name") 2>/dev/null && [ "$name" != .git/commondir ]; then echo "written: $name"; fi
    done
    rm -f .git/commondir
    mv .git .git-old; git init -q .; git config core.fsmonitor "touch $PWD/../escaped"; git config x.y z
    git branch -D main; git update-ref -d refs/heads/main; rm -rf .git/objects; echo evil >.nobrakes/config.toml; echo "TRACKED:"; ls -A .nobrakes
else
    echo changed >tracked; echo more >>staged; cat untracked >copy; rm -f untracked
    git add tracked copy && git commit -qm "Change in place"; echo rest >rest
fi
echo "I did it."; echo "NOBRAKES: COMPLETED"
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    monkeypatch.setenv(OVERRIDE, str(tmp_path / "own"))
    agent = tmp_path / "agent" / "agent.sh"
    agent.parent.mkdir()
    agent.write_text(AGENT)
    made = Project(tmp_path / "repository", ["sh", str(agent)], sandbox="auto")
    config = made.config.read_text()
    made.config.write_text(config.replace('mode = "auto"', f'mode = "auto"\nread = ["{agent.parent}"]'))
    (made.folder / "tracked").write_text("as it was\n")
    (made.folder / ".gitignore").write_text("secret\n")
    made.git("add", "tracked", ".gitignore", ".nobrakes")
    made.git("commit", "-qm", "More")
    (made.folder / "staged").write_text("staged\n")
    made.git("add", "staged")
    (made.folder / "untracked").write_text("not in git\n")
    (made.folder / "secret").write_text("ignored\n")
    yield made
    made.nobrakes("daemon", "stop", expect=None)


def begin(project: Project, prompt: str, *more: str) -> Any:
    return project.nobrakes("relay", prompt, "--agent", "script", "--in-place", *more, expect=None)


def state(project: Project, number: int, wanted: str) -> Any:
    def look() -> Any:
        found = project.ask("relay", "--session", str(number))
        assert found["session"]["state"] != "stuck", found["session"]["detail"]
        return found["session"]["state"] == wanted and found

    return until(look)


def git_folder(project: Project) -> dict[str, bytes]:
    """What of the git folder decides what git does, and what it holds; where nobrakes brought it to is its own note."""
    top = project.folder / ".git"
    files = (path for path in top.rglob("*") if path.is_file() and path.name != "nobrakes-checkout")
    return {str(path.relative_to(top)): path.read_bytes() for path in files}


def test_the_files_change_and_all_that_was_there_comes_back(tmp_path: Path, project: Project) -> None:
    main, before = project.git("rev-parse", "main"), git_folder(project)
    said = begin(project, "Change it").stdout
    assert "in the checkout itself; nobrakes saves its files first" in said
    found = state(project, 1, "asking")
    assert found["branch"] == "relay/1" and [subject for _, subject in found["commits"]] == ["Change in place"]
    assert project.git("symbolic-ref", "HEAD").strip() == "refs/heads/relay/1"
    assert project.git("rev-parse", "main") == main, "no branch of the person is moved"
    assert project.git("status", "--porcelain").splitlines() == ["?? rest", "?? staged"]
    assert (project.folder / "staged").read_text() == "staged\nmore\n"
    assert not (project.folder / "untracked").exists()
    after = git_folder(project)
    changed = {name for name in before | after if before.get(name) != after.get(name)}
    assert not [
        name
        for name in changed
        if not name.startswith(("objects/", "logs/")) and name not in ("HEAD", "index", "refs/heads/relay/1")
    ]

    text = project.nobrakes("relay", "--session", "1").stdout
    assert "git fetch FOLDER/repository.git before:" in text
    (kept,) = Path(found["kept"]).iterdir()
    assert (kept / "HEAD").read_text() == "ref: refs/heads/main\n"
    assert (kept / "index").read_bytes() == before["index"] and (kept / "ignored" / "secret").read_text() == "ignored\n"
    project.git("fetch", "-q", str(kept / "repository.git"), "before:before-session")
    assert project.git("show", "before-session:untracked") == "not in git\n"
    assert project.git("show", "before-session:tracked") == "as it was\n"
    assert project.git("show", "before-session:staged") == "staged\n"
    assert project.git("rev-parse", "before-session^") == main

    project.nobrakes("relay", "--session", "1", "Only look: cheat not")
    project.git("switch", "-q", "--discard-changes", "main")
    stuck = until(
        lambda: (s := project.ask("relay", "--session", "1")["session"])["state"] in ("asking", "stuck") and s
    )
    assert stuck["state"] == "asking" or "somebody worked in" in stuck["detail"]


def test_git_and_nobrakes_stay_out_of_reach(tmp_path: Path, project: Project) -> None:
    before, config = git_folder(project), project.config.read_text()
    begin(project, "Please cheat")
    state(project, 1, "asking")
    assert git_folder(project) == before, "nothing of it changed, and nothing is in it that was not"
    assert not (tmp_path / "escaped").exists() and project.git("status", "--porcelain")
    said = (project.folder / ".nobrakes" / "runs" / "s1-agent" / "agent.out").read_text()
    seen = set(said.split("TRACKED:")[1].split("I did it.")[0].split())
    assert seen == {".gitattributes", ".gitignore", "config.toml", "bin", "doors", "runs"}, (
        "its own door and its own run, and settings"
    )
    assert "written: " not in said, "settings and hooks of the git folder that it has are not its to write"
    assert project.config.read_text() == config and (project.folder / ".nobrakes" / "nobrakes.db").exists()


def test_one_session_a_checkout_and_merges_that_would_move_it_wait(tmp_path: Path, project: Project) -> None:
    assert begin(project, "Please wait here").returncode == 0
    until(lambda: project.ask("relay", "--session", "1")["session"]["state"] == "running")
    assert " MB" in until(lambda: " MB" in (text := project.nobrakes("sessions").stdout) and text)
    assert " MB: Please wait here" in project.nobrakes("status").stdout
    second = begin(project, "Me too")
    assert second.returncode != 0 and "already works in this checkout" in second.stderr
    assert "nobrakes session end 1" in second.stderr and len(project.ask("sessions")) == 1

    tree = project.git("rev-parse", "main^{tree}").strip()
    newer = project.git("commit-tree", tree, "-p", "main", "-m", "Next").strip()
    from nobrakes.git.port import Message
    from nobrakes.git.repository import Repository
    from nobrakes.paths import Paths
    from nobrakes.review.waits import Landing

    git = Repository(Paths(str(project.folder / ".nobrakes")), "main")
    waits = git.land(newer, project.git("rev-parse", "main").strip())
    with pytest.raises(GitFailed, match="session 1 is working in"):
        git.commit_files({"new": b"text"}, Message("New", "", "You <you@example.invalid>", 0.0))
    assert waits.landing is Landing.BLOCKED and "session 1 is working in this checkout" in waits.reason
    assert "nobrakes session end 1" in waits.reason
    (project.folder / "go").write_text("")
    state(project, 1, "asking")
    project.git("switch", "-q", "--discard-changes", "main")
    assert git.land(newer, project.git("rev-parse", "main").strip()).landing is Landing.BLOCKED, "until it is ended"
    project.nobrakes("session", "end", "1")
    until(lambda: not list((tmp_path / "own" / "state" / "in-place").glob("*.json")))
    assert git.land(newer, project.git("rev-parse", "main").strip()).landing is Landing.MOVED
    git.close()
    assert begin(project, "Now I").returncode == 0


def test_the_reviewer_waits_for_it_and_goes_on_by_itself(tmp_path: Path, project: Project) -> None:
    project.git("reset", "-q", "--", "staged")
    assert begin(project, "Please wait here").returncode == 0
    until(lambda: project.ask("relay", "--session", "1")["session"]["state"] == "running")
    main = project.git("rev-parse", "main")
    project.nobrakes("add", "Do it", "--no-tests", "--id", "one")
    project.nobrakes("daemon", "start", expect=None)

    def waits() -> Any:
        found = project.ask("status")["hindrances"]["found"]
        return [one for one in found if one["kind"] == "merge_waits" and "is working in this checkout" in str(one)]

    (told,) = until(waits)
    assert "nobrakes session end 1" in str(told) and project.git("rev-parse", "main") == main
    (project.folder / "go").write_text("")
    state(project, 1, "asking")
    assert project.git("symbolic-ref", "HEAD").strip() == "refs/heads/relay/1"
    until(lambda: project.git("rev-parse", "main") != main, 90.0)


def test_without_a_sandbox_or_in_a_linked_worktree_nobody_works_in_place(tmp_path: Path, project: Project) -> None:
    project.git("worktree", "add", "-q", str(tmp_path / "linked"))
    refused = project.nobrakes("relay", str(tmp_path / "linked"), "Go", "--agent", "script", "--in-place", expect=None)
    assert refused.returncode == 2 and "linked worktree" in refused.stderr
    project.config.write_text(project.config.read_text().replace('mode = "auto"', 'mode = "none"'))
    refused = begin(project, "Go")
    assert refused.returncode != 0 and "--in-place needs the sandbox" in refused.stderr
    assert project.ask("sessions") == []


def test_in_a_repository_of_anybody_nothing_of_ours_is_left(tmp_path: Path, project: Project) -> None:
    theirs, env = tmp_path / "theirs", project.env()
    theirs.mkdir()

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=theirs, env=env, capture_output=True, text=True, check=True)
        return done.stdout

    def ask(*words: str) -> Any:
        return json.loads(run(nobrakes, *words, "--json"))["data"]

    from tests.support.warm import NOBRAKES as nobrakes

    run("git", "init", "-q", "-b", "trunk")
    done = subprocess.run([nobrakes, "relay", str(theirs), "Go"], cwd=theirs, env=env, capture_output=True, text=True)
    assert "has no commit yet" in done.stderr, "the place of the person is there from now on"
    (theirs / "tracked").write_text("as it was\n")
    (theirs / "untracked").write_text("not in git\n")
    (theirs / "staged").write_text("staged\n")
    run("git", "add", "tracked", "staged")
    run("git", "commit", "-qm", "Begin")
    shutil.rmtree(theirs / ".git" / "hooks", ignore_errors=True)
    before = sorted(os.listdir(theirs / ".git"))
    home = tmp_path / "own" / "state" / "home" / ".nobrakes" / "config.toml"
    agent = tmp_path / "agent" / "agent.sh"
    more = f'[agents.script]\ncommand = ["sh", "{agent}"]\n[sandbox]\nread = ["{agent.parent}"]\n'
    home.write_text(f"{home.read_text()}\n{more}")
    try:
        ask("relay", str(theirs), "Change it", "--agent", "script", "--in-place")
        until(lambda: ask("relay", "--session", "1")["session"]["state"] == "asking")
        ask("session", "end", "1", "--user")
        until(lambda: not (home.parent / "relays" / "1").exists())
        until(lambda: not list((tmp_path / "own" / "state" / "in-place").glob("*.json")))
        assert sorted(os.listdir(theirs)) == [".git", "copy", "rest", "staged", "tracked"]
        assert set(os.listdir(theirs / ".git")) - set(before) <= {"logs"}
        refs = run("git", "for-each-ref", "--format=%(refname)").split()
        assert refs == ["refs/heads/relay/1", "refs/heads/trunk"]
        assert "[nobrakes" not in (theirs / ".git" / "config").read_text()
    finally:
        subprocess.run([nobrakes, "daemon", "stop", "--user"], env=env, cwd=theirs, capture_output=True)
