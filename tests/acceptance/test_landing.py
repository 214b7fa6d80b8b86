"""How work reaches main while people work there too, and what never reaches it."""

import os
import time
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, lives, until

WAITS = 'touch "$BOOK/on"; until [ -e "$BOOK/go" ]; do sleep 0.02; done; work'
CHECK = 'command = "sh tests/run.sh"'


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


# --- people work on main, too ------------------------------------------------------------------------


@pytest.mark.parametrize("mends", ["commit", "stash"])
def test_an_edit_in_the_way_is_never_touched_and_work_waits_for_it(project: Scripted, mends: str) -> None:
    project.does("one", 'echo agent >shared; commit "Change shared"')
    project.add("one")
    (project.folder / "shared").write_text("nobody was here\nmy own edit\n")
    before = project.git("rev-parse", "main")
    done = project.nobrakes("run", expect=40)
    assert "cannot be merged yet" in done.stdout and "shared" in done.stdout
    assert project.git("rev-parse", "main") == before
    assert (project.folder / "shared").read_text() == "nobody was here\nmy own edit\n"
    assert project.show("one")["failures"] == 0
    project.git("stash", "-q") if mends == "stash" else project.git("commit", "-qam", "Mine")
    done = project.nobrakes("run", expect=0 if mends == "stash" else 40)
    if mends == "stash":
        assert project.status("one") == "done" and project.git("show", "main:shared") == "agent\n"
        assert project.git("stash", "list")
    else:  # both changed one line: a person decides
        assert [found["type"] for found in project.open()] == ["conflict"]
        assert project.git("show", "main:shared") == "nobody was here\nmy own edit\n"


def lock_while_it_is_worked_on(project: Scripted, seconds_ago: float = 0.0) -> Path:
    """Somebody's git holds the checkout's index since then, before the work on bead one is handed in."""
    until(project.flag("on").exists)
    lock = project.folder / ".git" / "index.lock"
    lock.touch()
    os.utime(lock, (time.time() - seconds_ago,) * 2)
    project.flag("go").touch()
    return lock


def test_a_lock_of_somebody_elses_git_is_waited_for(project: Scripted) -> None:
    project.does("one", WAITS)
    project.add("one")
    project.add("two", needs=["one"])
    with project.running() as run:
        lock = lock_while_it_is_worked_on(project)
        until(lambda: any("another git command holds" in said for said in project.waits()))
        lock.unlink()
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert sorted(project.landed().values()) == ["one", "two"]
    assert out.count("cannot be merged yet") == 1, out


def test_a_lock_that_a_killed_git_left_is_a_persons_matter(project: Scripted) -> None:
    project.does("one", WAITS)
    project.add("one", "two")
    with project.running() as run:
        lock = lock_while_it_is_worked_on(project, seconds_ago=120)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 40, out
    assert f"{lock} is older than 60 seconds" in out and "move the file away" in out
    assert len(project.turns("two")) == 1, "everything else is done before it ends"
    assert lock.exists()
    lock.unlink()
    project.nobrakes("run")
    assert sorted(project.landed().values()) == ["one", "two"]


def test_edits_elsewhere_are_kept_and_the_work_lands(project: Scripted) -> None:
    project.add("one")
    (project.folder / "shared").write_text("edited\n")
    (project.folder / "staged").write_text("staged\n")
    project.git("add", "staged")
    (project.folder / "loose").write_text("loose\n")
    before = project.git("status", "--porcelain")
    project.nobrakes("run")
    assert project.status("one") == "done" and (project.folder / "src" / "one").exists()
    assert project.git("status", "--porcelain") == before
    assert (project.folder / "shared").read_text() == "edited\n"


def test_a_file_of_the_same_name_that_git_does_not_know_is_not_overwritten(project: Scripted) -> None:
    project.add("one")
    (project.folder / "src").mkdir()
    (project.folder / "src" / "one").write_text("mine\n")
    project.nobrakes("run", expect=40)
    assert (project.folder / "src" / "one").read_text() == "mine\n" and project.landed() == {}
    (project.folder / "src" / "one").rename(project.folder / "mine")
    project.nobrakes("run")
    assert project.status("one") == "done"


def test_a_person_commits_to_main_while_a_bead_is_worked_on(project: Scripted) -> None:
    project.does("one", 'touch "$BOOK/on"; until [ -e "$BOOK/go" ]; do sleep 0.05; done; work')
    project.add("one")
    with project.running() as run:
        until(project.flag("on").exists)
        (project.folder / "mine").write_text("mine\n")
        project.git("add", "mine")
        project.git("commit", "-qm", "Mine")
        mine = project.git("rev-parse", "HEAD").strip()
        project.flag("go").touch()
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.git("rev-parse", "main~1").strip() == mine
    assert project.git("status", "--porcelain", "--untracked-files=no") == ""


def test_a_person_commits_to_main_while_it_is_validated(project: Scripted) -> None:
    slow = f"touch {project.book}/on; until [ -e {project.book}/go ]; do sleep 0.05; done; sh tests/run.sh"
    project.configure(CHECK, f'command = "{slow}"')
    project.add("one")
    with project.running() as run:
        until(project.flag("on").exists)
        (project.folder / "mine").write_text("mine\n")
        project.git("add", "mine")
        project.git("commit", "-qm", "Mine")
        mine = project.git("rev-parse", "HEAD").strip()
        project.flag("go").touch()
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.git("rev-parse", "main~1").strip() == mine
    steps = [event["metadata"]["commit"] for event in project.events("review_step")]
    assert project.git("rev-parse", "main").strip() in steps, "what landed is what was tested"


def test_main_is_checked_out_in_a_linked_worktree(project: Scripted) -> None:
    project.git("checkout", "-qb", "mine")
    linked = project.folder.parent / "linked"
    project.git("worktree", "add", "-q", str(linked), "main")
    project.add("one")
    project.nobrakes("run")
    assert (linked / "src" / "one").exists() and not (project.folder / "src").exists()
    assert project.git("-C", str(linked), "status", "--porcelain", "--untracked-files=no") == ""


@pytest.mark.parametrize("merge", ["squash", "rebase"])
def test_every_commit_on_main_passes_alone(tmp_path: Path, merge: str) -> None:
    project = Scripted(tmp_path, more=f'[review]\nmerge = "{merge}"\n')
    steps = """echo 1 >"a-$NOBRAKES_BEAD"; commit "First"; cp tests/test_begin.sh keep; echo 'exit 1' >broken.sh
    commit "Second"; echo 2 >"b-$NOBRAKES_BEAD"; git rm -q broken.sh; commit "Third" """
    project.configure(CHECK, 'command = "sh tests/run.sh && [ ! -e broken.sh ]"')
    project.does("one", steps)
    project.does("two", steps)
    project.add("one", "two")
    project.nobrakes("run")
    log = project.git("log", "--format=%s", "main").splitlines()
    assert len(log) == (3 if merge == "squash" else 5), log
    for commit in project.git("rev-list", "main").split():
        assert "broken.sh" not in project.git("ls-tree", "--name-only", commit), "each of them passes"
    assert set(project.landed().values()) == {"one", "two"}
    project.assert_main_is_green_at_every_commit(tmp_path / "scratch")


# --- checks that fail, break or are not there --------------------------------------------------------


def test_red_after_the_merge_is_taken_back_and_told(tmp_path: Path) -> None:
    project = Scripted(tmp_path, more='[review]\nrevalidate = "always"\n')
    passes_but_in = f"case $(wc -l <{project.book}/runs) in 3|4|5) false ;; *) sh tests/run.sh ;; esac"
    project.configure(CHECK, f'command = "echo x >>{project.book}/runs; {passes_but_in}"')
    project.add("one")
    before = project.git("rev-parse", "main^{tree}")
    project.nobrakes("run", expect=40)
    assert project.git("rev-parse", "main^{tree}") == before
    assert project.git("log", "--format=%s", "main").count("\n") == 3, "begin, the bead, and its revert"
    assert not (project.folder / "src").exists() and project.git("status", "--porcelain", "--untracked-files=no") == ""
    [red] = project.open()
    assert red["type"] == "main_red" and red["bead"] == "one" and project.status("one") == "escalated"
    project.nobrakes("resolve", str(red["id"]), "--retry")
    project.nobrakes("run")
    assert project.status("one") == "done" and project.git("show", "main:src/one") == "made for one\n"


def test_red_once_after_the_merge_is_a_flake_and_nothing_is_taken_back(tmp_path: Path) -> None:
    project = Scripted(tmp_path, more='[review]\nrevalidate = "always"\n')
    flaky = f"echo x >>{project.book}/runs; [ $(wc -l <{project.book}/runs) -ne 3 ] && sh tests/run.sh"
    project.configure(CHECK, f'command = "{flaky}"')
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done" and not project.open()
    assert project.git("log", "--format=%s", "main").count("\n") == 2, "begin, and the bead"
    assert len(project.flag("runs").read_text().split()) == 4 and len(project.ask("flakes")) == 1


def test_a_main_that_was_red_before_is_nobodys_fault(project: Scripted) -> None:
    (project.folder / "tests" / "test_red.sh").write_text("false\n")
    project.git("add", "-A", "tests")
    project.git("commit", "-qm", "Red")
    project.add("one", "two")
    project.nobrakes("run", expect=40)
    [red] = project.open()
    assert red["type"] == "main_red" and red["bead"] is None
    assert f"resolve {red['id']} --retry | --dismiss" in project.nobrakes("escalation", str(red["id"])).stdout
    assert project.ask("status")["frozen"] == project.git("rev-parse", "main").strip()
    assert project.landed() == {}
    for bead in ("one", "two"):
        assert project.show(bead)["failures"] == 0 and project.outcomes(bead) == ["completed"]
        assert project.status(bead) == "needs_review"
    (project.folder / "tests" / "test_red.sh").write_text("true\n")
    project.git("commit", "-qam", "Green")
    project.nobrakes("run")
    assert project.open() == [] and project.ask("status")["frozen"] is None
    assert sorted(project.landed().values()) == ["one", "two"] and len(project.turns("one")) == 1


def test_where_nobody_watches_over_main_one_question_holds_all_beads_until_main_has_moved(tmp_path: Path) -> None:
    project = Scripted(tmp_path, more="[review]\nmain_check_hours = 0\n")
    (project.folder / "tests" / "test_red.sh").write_text("false\n")
    project.git("add", "-A", "tests")
    project.git("commit", "-qm", "Red")
    project.add("one", "two")
    project.nobrakes("run", expect=40)
    assert [(found["type"], found["bead"]) for found in project.open()] == [("main_red", None)]
    assert project.landed() == {} and project.show("one")["failures"] == 0
    (project.folder / "tests" / "test_red.sh").write_text("true\n")
    project.git("commit", "-qam", "Green")
    project.nobrakes("run")
    assert project.open() == []
    assert sorted(project.landed().values()) == ["one", "two"] and len(project.turns("one")) == 1


def test_where_main_cannot_be_checked_nobody_says_that_it_is_red(project: Scripted) -> None:
    project.configure(CHECK, 'command = "ls */one && exit 1; no-such-program"')
    project.add("one")
    project.nobrakes("run", expect=40)
    [unsure] = project.open()
    assert (unsure["type"], unsure["bead"]) == ("broken_checks", None), "it is about main"
    assert "blames no change" in unsure["detail"] and "no-such-program: not found" in unsure["detail"]
    assert "main is red" not in project.nobrakes("status").stdout
    assert project.show("one")["failures"] == 0 and project.outcomes("one") == ["completed"]


@pytest.mark.parametrize(
    ("check", "words"),
    [
        ('command = "no-such-command --all"', "not found"),
        ('command = "echo 1..0"', "no test"),
        ('command = "sleep 100"\ntimeout_minutes = 0.03', "longer than"),
        ('command = "kill -9 $$"', "signal 9"),
        ('command = "./tests/run.sh"', "is not executable"),
    ],
)
def test_a_check_that_cannot_say_yes_or_no_is_nobodys_fault(project: Scripted, check: str, words: str) -> None:
    project.configure(CHECK, check)
    project.add("one")
    project.nobrakes("run", expect=40)
    [broken] = project.open()
    assert broken["type"] == "broken_checks" and words in broken["detail"], broken["detail"]
    assert project.show("one")["failures"] == 0 and project.outcomes("one") == ["completed"]
    assert project.landed() == {}
    project.configure(check, CHECK)
    project.nobrakes("resolve", str(broken["id"]), "--retry")
    project.nobrakes("run")
    assert project.status("one") == "done" and len(project.turns("one")) == 1


def test_a_check_that_leaves_a_process_behind_does_not_hold_the_queue_up(project: Scripted) -> None:
    left = f"setsid sh -c 'echo $$ >{project.book}/left; sleep 300' >/dev/null 2>&1 & "
    project.configure(CHECK, f'command = """{left} until [ -e {project.book}/left ]; do :; done; sh tests/run.sh"""')
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done"
    assert not lives(int(project.flag("left").read_text())) and project.orphans() == []


def test_without_any_check_nothing_lands_and_it_says_so(project: Scripted) -> None:
    text = project.config.read_text()
    project.config.write_text(text.replace(f'[[checks]]\nname = "test"\n{CHECK}\n', ""))
    project.add("one")
    said = project.nobrakes("run", expect=40)
    assert "No check is configured: agents start only on beads of type repair or marked --scaffolding" in said.stdout
    assert project.open() == [] and project.landed() == {} and project.outcomes("one") == []


def test_work_that_fails_its_checks_is_sent_back(project: Scripted) -> None:
    project.configure(CHECK, 'command = "sh tests/run.sh && ! grep -q bad src/*"')
    project.does("one", 'mkdir src; echo bad >src/one; commit "Bad"', turn=1)
    project.add("one")
    project.nobrakes("run")
    assert project.outcomes("one", "reviewer") == ["failed_review", "completed"]
    assert len(project.landed()) == 1


# --- agents that overstep ----------------------------------------------------------------------------


def test_work_counts_wherever_head_is_and_whatever_became_of_the_branch(project: Scripted) -> None:
    project.does(
        "one", 'work; git config core.hooksPath x; git checkout -q --detach; git branch -D "$NOBRAKES_BRANCH"', turn=1
    )
    project.add("one")
    project.nobrakes("run")
    assert project.outcomes("one") == ["completed"]
    assert list(project.landed().values()) == ["one"]


@pytest.mark.parametrize(
    ("name", "play", "outcome"),
    [
        ("tests", "echo true >tests/test_begin.sh.new; rm tests/test_begin.sh; commit x", "boundary"),
        ("runner", "echo 'echo ok 1; echo 1..1' >tests/run.sh; commit x", "boundary"),
        ("hooks", "mkdir -p .githooks; echo true >.githooks/pre-commit; commit x", "boundary"),
        ("settings", "echo '{}' >.mcp.json; commit x", "boundary"),
        (
            "own folder",
            "mkdir -p .nobrakes; echo 'main = 1' >.nobrakes/config.toml; git add -f .nobrakes; commit x",
            "boundary",
        ),
        ("deep", "mkdir -p a/.nobrakes; echo x >a/.nobrakes/config.toml; git add -f a; commit x", "boundary"),
        (
            "submodule",
            "git init -q sub; (cd sub; git commit -q --allow-empty -m s); git add sub; git commit -qm x",
            "boundary",
        ),
        ("link", "ln -s /etc/passwd out; commit x", "boundary"),
        ("link up", "ln -s ../../../x out; commit x", "boundary"),
        ("attributes", "echo '* filter=x' >.gitattributes; commit x", "boundary"),
        ("rewritten", "git commit -q --amend --allow-empty -m Other; work", "boundary"),
        (
            "orphan",
            'git config core.hooksPath x; git checkout -q --orphan new; work; git branch -f "$NOBRAKES_BRANCH"',
            "boundary",
        ),
        ("no git", 'work; rm -rf "$NOBRAKES_WORKSPACE/.git"', None),
        ("empty .git", "work; rm -rf .git; mkdir .git", None),
        ("nothing", "true", "no_work"),
        ("empty commit", "git commit -q --allow-empty -m Empty", "no_work"),
        (
            "gitmodules",
            "printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = -u./x\\n' >.gitmodules; work",
            "boundary",
        ),
        (
            "broken object",
            "work; echo more >src/more; git add src/more; git commit -q -m More; oid=$(git rev-parse HEAD:src/more); "
            "chmod u+w .git/objects/*/*; echo x >.git/objects/$(echo $oid | cut -c1-2)/$(echo $oid | cut -c3-)",
            "boundary",
        ),
        ("another's objects", "work; echo /tmp >>.git/objects/info/alternates", "boundary"),
        (
            "hooks of its own",
            "printf '#!/bin/sh\\ntouch %s/pwned' \"$BOOK\" >.git/hooks/post-checkout; chmod +x .git/hooks/*; exit 1",
            "failed",
        ),
        (
            "config of its own",
            'git config core.fsmonitor "touch $BOOK/pwned"; git config core.hooksPath .; '
            "git config --add include.path /etc/passwd; exit 1",
            "failed",
        ),
    ],
)
def test_an_agent_that_oversteps_gets_nowhere_and_the_next_one_is_fine(
    project: Scripted, name: str, play: str, outcome: str | None
) -> None:
    project.does("one", play, turn=1)
    project.add("one")
    before = project.git("rev-parse", "main").strip()
    project.nobrakes("run")
    outcomes = project.outcomes("one")
    assert len(outcomes) == 2 and outcomes[1] == "completed", outcomes
    if outcome is not None:
        assert outcome in (outcomes[0], project.outcomes("one", "reviewer")[0])
    assert project.git("rev-parse", "main~1").strip() == before
    assert project.git("diff", "--name-only", before, "main").split() == ["src/one"]
    assert not project.flag("pwned").exists()
    assert project.git("symbolic-ref", "HEAD").strip() == "refs/heads/main"
    if name != "gitmodules":  # what git refuses of it is archived as it was, and git still refuses it there
        project.git("fsck", "--no-dangling", "--no-progress")


def test_work_on_a_detached_head_is_still_work(project: Scripted) -> None:
    project.does("one", "git config core.hooksPath x; git checkout -q --detach; work", turn=1)
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done" and len(project.landed()) == 1
