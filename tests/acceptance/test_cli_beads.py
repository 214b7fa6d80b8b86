"""Beads from the command line, in a real repository, as a person and a program meet them."""

import io
import json
import os
import subprocess
import sys

import pytest

from nobrakes.cli import main
from nobrakes.store import create_store


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """An empty repository with nobrakes in it, as the current folder."""
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_HOME"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    folder = tmp_path / ".nobrakes"
    folder.mkdir()
    (folder / "config.toml").write_text('main = "main"\n')
    create_store(str(folder / "nobrakes.db")).close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def nobrakes(repository, capsys):
    """Run a command with --json; (exit code, data or error)."""

    def run(*argv):
        place = argv.index("--") if "--" in argv else len(argv)
        code = main.run([*argv[:place], "--json", *argv[place:]])
        shown = json.loads(capsys.readouterr().out)
        assert shown["ok"] is (code == 0) and (code == 0 or shown["error"]["code"] == code)
        return code, shown["data"] if code == 0 else shown["error"]

    return run


def test_a_bead_is_added_changed_and_listed(nobrakes):
    code, bead = nobrakes(
        "add", "Parse the header", "-t", "feature", "-p", "1", "--accept", "one", "--accept", "two", "--label", "io"
    )
    assert code == 0 and bead["acceptance"] == ["one", "two"] and bead["status"] == "needs_tests"
    _, changed = nobrakes("edit", bead["id"], "--title", "Parse it", "--no-tests")
    assert (changed["title"], changed["needs_tests"]) == ("Parse it", False)
    _, shown = nobrakes("list", "--label", "io")
    assert [b["id"] for b in shown] == [bead["id"]]
    assert nobrakes("list", "--label", "other")[1] == []


@pytest.mark.parametrize("words", [["add", "{}"], ["show", "{}"], ["add", "t", "--label", "{}"], ["hold", "a", "{}"]])
def test_an_argument_that_is_no_utf_8_is_a_clear_error(nobrakes, words):
    odd = os.fsdecode(b"a\xff")
    code, error = nobrakes(*(word.format(odd) for word in words))
    assert code == 2 and "is not valid UTF-8" in error["message"] and "UTF-8" in error["hint"]


def test_arguments_are_utf_8_whatever_the_locale_says(nobrakes):
    as_posix = "schön".encode().decode("ascii", "surrogateescape")
    assert nobrakes("add", as_posix)[1]["title"] == "schön"


@pytest.mark.parametrize(("words", "minutes"), [("90", 90), ("1h30m", 90), ("45m", 45), ("2h", 120)])
def test_an_estimate_is_written_as_in_a_plan(nobrakes, words, minutes):
    assert nobrakes("add", "t", "--estimate", words)[1]["estimate"] == minutes
    code, error = nobrakes("add", "t", "--estimate", "soon")
    assert code == 2 and "1h30m" in error["hint"]


def test_a_circle_ends_a_dry_run_as_it_ends_the_plan(nobrakes, tmp_path):
    plan = tmp_path / "p.json"
    plan.write_text(json.dumps({"beads": [{"id": a, "title": a, "needs": [b]} for a, b in ("xy", "yx")]}))
    assert nobrakes("plan", "apply", str(plan), "--dry-run")[0] == nobrakes("plan", "apply", str(plan))[0] == 14
    assert nobrakes("propose", str(plan), "--dry-run")[0] == nobrakes("propose", str(plan))[0] == 14
    tasks = tmp_path / "t.md"
    tasks.write_text("- [ ] a (after: b)\n- [ ] b (after: a)\n")
    assert nobrakes("propose", str(tasks), "--dry-run")[0] == nobrakes("propose", str(tasks))[0]


def test_a_product_text_becomes_drafts_and_what_was_not_taken_is_listed(nobrakes, repository, capsys):
    (repository / "prd.md").write_text(
        "# PRD\n\n## Requirements\n\n### R1 Key `__init__.py`\n- signs with the newest\n\n### R2 Grace\n1. old keys end\n\n"
        "## Notes\nCall Ann.\n\n## Tasks\n- [ ] Add KeyRing to lib/__init__.py and docs/**/old\n"
    )
    assert main.run(["propose", "prd.md"]) == 0
    shown = capsys.readouterr().out
    assert "not imported: lines 11 to 12, 'Notes' and the text below it" in shown
    found = {bead["title"]: bead for bead in nobrakes("list")[1]}
    assert set(found) == {
        *("PRD", "Requirements", "R1 Key `__init__.py`", "R2 Grace", "Tasks"),
        "Add KeyRing to lib/__init__.py and docs/**/old",
    }
    assert nobrakes("show", found["R2 Grace"]["id"])[1]["description"] == "1. old keys end"


def test_a_draft_waits_for_approval(nobrakes):
    assert nobrakes("add", "Later", "--draft")[1]["status"] == "draft"


@pytest.mark.parametrize(
    "title",
    [
        "$(touch pwned); `id` | cat > pwned && rm -rf x",
        "Zoë's 漢字 🚀 👩‍🚀",
        "'quotes\" and \\ slashes",
        "--looks-like-one",
    ],
)
def test_titles_are_text_and_nothing_else(nobrakes, repository, title):
    code, bead = (
        nobrakes("add", "-p", "2", "--id", "nb-1", "--", title) if title.startswith("-") else nobrakes("add", title)
    )
    if "\u200d" in title:  # joined emoji hold an invisible character, which no title may have
        assert code == 15
        return
    assert code == 0 and nobrakes("show", bead["id"])[1]["title"] == title
    assert not (repository / "pwned").exists()


@pytest.mark.parametrize(
    "title", ["", "   ", "x" * 10_000, "two\nlines", "\x1b[31mred", "nul\x00byte", "\u202eright to left"]
)
def test_titles_that_cannot_be_are_refused_with_a_reason(nobrakes, capsys, title):
    code, error = nobrakes("add", title)
    assert (code, error["name"]) == (15, "BadBead") and len(error["message"]) < 200
    assert nobrakes("list")[1] == []
    main.run(["add", title])
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.parametrize("argv", [["edit", "BEAD"], ["depend", "nb-1", "nb-1", "-t", "wants"], ["list", "-s", "lost"]])
def test_what_says_nothing_or_nonsense_is_a_usage_error(nobrakes, argv):
    nobrakes("add", "A", "--id", "nb-1")
    code, error = nobrakes(*argv)
    assert code == 2 and error["hint"]


def test_an_unknown_id_suggests_near_ones(nobrakes):
    for name in ("parser-1", "parser-2", "writer"):
        nobrakes("add", name, "--id", name)
    for argv in (
        ["show", "parser-l"],
        ["edit", "parser-l", "-p", "1"],
        ["hold", "parser-l"],
        ["add", "x", "-n", "parser-l"],
    ):
        code, error = nobrakes(*argv)
        assert code == 16 and "parser-1" in error["hint"] and "writer" not in error["hint"]
    assert nobrakes("show", "x" * 10_000)[0] == 16


def test_a_circle_is_refused_and_named(nobrakes):
    for name in "abc":
        nobrakes("add", name, "--id", name)
    nobrakes("depend", "b", "a")
    nobrakes("depend", "c", "b")
    code, error = nobrakes("depend", "a", "c")
    assert (code, error["name"]) == (14, "Deadlock") and all(name in error["message"] for name in "abc")
    assert nobrakes("undepend", "c", "b")[1]["removed"] is True
    assert nobrakes("undepend", "c", "b")[1]["removed"] is False
    assert nobrakes("depend", "a", "c")[0] == 0


def test_a_text_of_tasks_becomes_drafts_and_the_same_text_again_changes_them(nobrakes, repository, monkeypatch, capsys):
    (repository / "TODO.md").write_text(
        "# Login\n\n- [ ] Parse it\n  - Done when\n    - [ ] junk is refused\n- [x] Old\n"
    )
    assert main.run(["propose", "TODO.md", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "Parse it  (in t-" in shown and "1 criterion" in shown and "nothing was written" in shown
    assert "skipped, because the criterion is ticked: Old" in shown and nobrakes("list")[1] == []
    _, report = nobrakes("propose", "TODO.md")
    assert len(report["new"]) == 2
    (repository / "TODO.md").write_text("# Login\n\n- [ ] Parse it\n  Fast.\n- [ ] Form (after: Parse it)\n")
    _, again = nobrakes("propose", "TODO.md")
    assert len(again["new"]) == 1 and len(again["changed"]) == 1
    issues = b'[{"number": 7, "title": "Crash", "labels": [{"name": "bug"}, {"name": "p0"}], "body": "blocked by #9"}]'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(issues)))
    _, filed = nobrakes("propose", "-")
    assert filed["new"] == ["gh-7"] and "'#9' (neither in the file" in filed["problems"][0]
    _, bead = nobrakes("show", "gh-7")
    assert (bead["type"], bead["priority"], bead["status"]) == ("fix", 0, "draft")
    (repository / "TODO.md").write_text("- [ ] a (after: b)\n")
    code, error = nobrakes("propose", "TODO.md")
    assert code and "TODO.md: line 1: depends on 'b', but no task" in error["message"]
    assert nobrakes("propose")[0] == nobrakes("plan", "apply")[0] == 2


def test_plan_alone_takes_a_file_a_folder_or_standard_input(nobrakes, repository, monkeypatch, capsys):
    (repository / "apply").write_text("- [ ] Build it\n")
    (repository / "specs" / "001-x").mkdir(parents=True)
    (repository / "specs" / "001-x" / "tasks.md").write_text("- [ ] T001 Lay out\n")
    assert nobrakes("plan", "./apply", "--dry-run")[1] == nobrakes("plan", "--dry-run", "./apply")[1]
    assert nobrakes("list")[1] == [] and nobrakes("plan", "specs")[0] == nobrakes("plan", "./apply")[0] == 0
    answer = b'```json\n{"tasks": [{"id": 1, "title": "One"}, {"id": 2, "title": "Two", "depends_on": [1]}]}\n```\n'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(answer)))
    capsys.readouterr()
    assert main.run(["plan", "-"]) == 0
    one, two = capsys.readouterr().out.splitlines()[:2]
    assert two.endswith(f"  task  Two  (after {one.split()[0]})")
    assert {bead["title"] for bead in nobrakes("list")[1]} == {"T001 Lay out", "Build it", "One", "Two"}
    assert nobrakes("plan", "nowhere")[0] == 13


def test_what_a_person_decides_about_a_bead(nobrakes):
    nobrakes("add", "A", "--id", "a")
    assert nobrakes("hold", "a", "-m", "wait for the vendor")[1]["held"] == "wait for the vendor"
    assert nobrakes("release", "a")[1]["held"] is None
    assert nobrakes("release", "a")[0] == 17
    assert nobrakes("defer", "a", "8h")[1]["defer_until"] is not None
    assert nobrakes("defer", "a", "now")[1]["defer_until"] is None
    assert nobrakes("done", "a", "-m", "by hand")[1]["status"] == "done"
    assert nobrakes("hold", "a")[0] == 17
    assert nobrakes("reopen", "a")[1]["status"] == "needs_tests"
    assert nobrakes("cancel", "a")[1]["status"] == "cancelled"


def test_events_are_json_lines_in_the_public_schema(nobrakes, capsys):
    nobrakes("add", "A", "--id", "a")
    nobrakes("hold", "a", "-m", "why")
    assert main.run(["events", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["event"] for line in lines] == ["proposed", "held"]
    assert all(set(line) == {"ts", "event", "task_id", "agent", "metadata"} for line in lines)
    seq = lines[0]["metadata"]["seq"]
    main.run(["events", "--json", "--after", str(seq)])
    assert [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()] == ["held"]


def test_limits_are_changed_while_it_runs_and_given_back(nobrakes):
    assert nobrakes("set", "doers=9")[1]["limits"]["doers"] == 9
    assert nobrakes("set")[1] == nobrakes("set")[1] and nobrakes("set")[1]["changed"] == ["doers"]
    assert nobrakes("set", "doers=default")[1]["changed"] == []
    for wrong, expected in (("doers", 2), ("doers=x", 12), ("doers=-1", 12), ("speed=9", 12), ("=3", 2)):
        assert nobrakes("set", wrong)[0] == expected


def test_the_config_is_shown_and_checked(nobrakes, repository):
    assert nobrakes("config")[1]["limits"]["doers"] == 4
    assert nobrakes("config", "--check")[1]["valid"] is True
    (repository / ".nobrakes" / "config.toml").write_text("[limits]\ndoors = 4\n")
    code, error = nobrakes("config", "--check")
    assert (code, error["name"]) == (12, "ConfigError") and "limits.doors" in error["message"]
    (repository / ".nobrakes" / "config.toml").write_text('[agents]\ndoer = "clod"\n')
    code, error = nobrakes("config", "--check")
    assert (code, error["name"]) == (12, "ConfigError") and "agents.doer" in error["message"]
    assert "claude, codex, gemini, script" in error["hint"]


def test_outside_of_a_repository_and_before_init_it_says_what_to_do(tmp_path_factory, monkeypatch, capsys):
    monkeypatch.delenv("NOBRAKES_HOME", raising=False)
    folder = tmp_path_factory.mktemp("nowhere")
    monkeypatch.chdir(folder)
    assert main.run(["list"]) == 10 and "git init" in capsys.readouterr().err
    assert main.run([]) == 0 and "Next: git init" in capsys.readouterr().out
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    assert main.run(["list"]) == 11 and "nobrakes init" in capsys.readouterr().err
    assert main.run([]) == 0 and "Next: nobrakes init" in capsys.readouterr().out
    for command in (["plan", "apply", "there is none.yaml"], ["propose", "there is none.yaml"]):
        assert main.run(command) == 11 and "nobrakes init" in capsys.readouterr().err


def test_the_overview_knows_the_next_step(nobrakes, capsys):
    assert nobrakes()[1]["next"]["command"] == "nobrakes shape"
    nobrakes("add", "A", "--id", "a", "--draft")
    assert nobrakes()[1]["next"]["command"] == "nobrakes approve"
    nobrakes("add", "B", "--id", "b")
    assert nobrakes()[1]["next"]["command"] == "nobrakes config --check", "there is no check, so a run is refused"
    for key, value in (("checks.test.command", "true"), ("agents.script.command", "true")):
        nobrakes("config", "set", key, value)
    for role in ("doer", "test_writer"):
        nobrakes("config", "set", f"agents.{role}", "script")
    assert nobrakes()[1]["next"]["command"] == "nobrakes run"
    nobrakes("done", "b")
    nobrakes("cancel", "a")
    assert nobrakes()[1]["next"]["command"] == "nobrakes reshape"


def test_a_read_only_database_is_an_error_and_not_a_bug(nobrakes, repository):
    (repository / ".nobrakes" / "nobrakes.db").write_bytes(b"not a database, but long enough to look at" * 50)
    assert nobrakes("list")[0] == 20


@pytest.mark.skipif(sys.platform == "win32", reason="pipes")
def test_a_closed_pipe_is_quiet(nobrakes, repository):
    for number in range(30):
        nobrakes("add", "x" * 400, "--id", f"nb-{number}")
    command = [sys.executable, "-m", "nobrakes", "list"]
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")
