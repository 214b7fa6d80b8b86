"""The guard: what it refuses, that it fails closed, that it agrees with core, and that it is fast."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.agents.adapter import SELF_TEST, guard_argv
from nobrakes.beads.model import Role
from nobrakes.checks.policy import boundaries
from nobrakes.hooks import guard, rules

TESTS, GATES = ("tests/**", "test_*.py"), ("Makefile", ".github/**")
BRANCH = "task/bead-a1"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / ".nobrakes" / "workspaces" / "a1"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("")
    (folder / "out").symlink_to("/etc")
    return folder


def variables(workspace: Path, role: str = "doer", **more: str) -> dict[str, str]:
    return {
        "NOBRAKES_ROLE": role,
        "NOBRAKES_WORKSPACE": str(workspace),
        "NOBRAKES_TESTS": "\n".join(TESTS),
        "NOBRAKES_GATES": "\n".join(GATES),
        "NOBRAKES_BRANCH": BRANCH,
        "NOBRAKES_HOME": str(workspace.parents[1]),
        "NOBRAKES_HANDOFF": str(workspace.parents[1] / "runs" / "1" / "handoff.md"),
        **more,
    }


def decide(workspace: Path, tool: str, given: dict[str, Any], role: str = "doer", **more: str) -> str | None:
    call = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, "cwd": str(workspace)}
    return rules.decide(call, rules.Place.of(variables(workspace, role, **more)))


REFUSED = """
git checkout main
git checkout -b other
git checkout -
git checkout --detach
cd . && git checkout main
cd src; git -C .. checkout main
/usr/bin/git switch main
git switch -c other
git branch other
git branch -D main
git branch -m other
git push
git push --force origin HEAD
git merge main
git rebase -i HEAD~2
git pull
git worktree add ../x
git remote add origin http://x
git config core.hooksPath x
git config --global user.name x
git -c core.fsmonitor=x status
git -c alias.x='!sh' x
git --git-dir=/elsewhere status
GIT_DIR=/elsewhere git status
git reset --hard main
git reset --hard HEAD~1
git reset main
git update-ref refs/heads/main HEAD
git symbolic-ref HEAD refs/heads/main
git submodule add http://x
git reflog expire --all
env X=1 git push
sudo git push
timeout 5 git push
ionice git push
bash -cx 'git push'
bash -o pipefail -c 'git push'
bash -c -e 'git push'
xargs git push
if true; then git push; fi
echo $(git push)
echo "`git push`"
echo "$(git push)"
(git push)
{ git push; }
true&&git push
true | git push
g\\it push
"git" 'push'
sh -c 'git push'
bash -lc "cd src && git push"
eval git push
bash <<E\\ngit push\\nE
bash -s <<E\\ngit push\\nE
bash -eo pipefail <<E\\ngit push\\nE
cat <<E\\nit's\\nE\\ngit push
# don't\\ngit push
echo x > .git/hooks/pre-commit
echo x >.git/config
rm -rf .git
rm -rf .GIT
touch .nobrakes/x
cd .git && rm config
sed -i s/a/b/ Makefile
echo x >> Makefile
echo x >| tests/test_a.py
echo x &> tests/test_a.py
tee tests/test_a.py
cp src/a.py tests/test_a.py
mv tests/test_a.py src/
rm tests/test_a.py
dd if=/dev/zero of=Makefile
rm ../../nobrakes.db
echo 'open
"""

ALLOWED = """
git status
bash notes.sh "it's" push
git diff main
git log --oneline main..HEAD
git show HEAD~1
git add -A && git commit -m "git push; it's not"
git commit -m 'x' -m 'Bead: a1'
git checkout -- src/a.py
git checkout src/a.py
git checkout .
git checkout task/bead-a1
git checkout HEAD -- src/a.py
git checkout main -- src/a.py
git switch task/bead-a1
git branch
git branch -a
git branch --show-current
git branch --contains HEAD
git reset
git reset --hard
git reset --soft HEAD~1
git reset src/a.py
git stash
git remote -v
git config --get user.name
git -c user.name=x commit
git worktree list
git merge-base main HEAD
git rebase --abort
git tag v1
echo "git push"
grep -rn 'git checkout main' src
ls # git push
cat > src/b.py <<'E'\\nit's git push\\nE
cat <<-E\\n\\tgit push\\n\\tE\\necho x
cat <<< 'git push'
echo x > /dev/null 2>&1
echo x 2> /tmp/errors
echo x > src/a.py
rm -rf /tmp/x src/__pycache__
sed -i s/a/b/ src/a.py
sed -n s/a/b/p Makefile
cp tests/test_a.py src/b.py
make && pytest -q
[ -f Makefile ] && cat Makefile
for f in *; do echo $f; done
python -c 'print(1)'
echo x > "$TMPDIR/x"
"""


def commands(text: str) -> list[str]:
    return [command.replace("\\n", "\n").replace("\\t", "\t") for command in text.strip().split("\n")]


@pytest.mark.parametrize("command", commands(REFUSED))
def test_a_command_that_leaves_the_branch_or_the_boundary_is_refused(workspace: Path, command: str) -> None:
    try:
        assert decide(workspace, "Bash", {"command": command}), command
    except ValueError:
        assert command.startswith("echo 'open")


@pytest.mark.parametrize("command", commands(ALLOWED))
def test_a_command_that_works_on_the_branch_is_let_through(workspace: Path, command: str) -> None:
    assert decide(workspace, "Bash", {"command": command}) is None, command


@pytest.mark.parametrize(
    ("role", "path", "refused"),
    [
        ("doer", "src/a.py", False),
        ("doer", "new/folder/b.py", False),
        ("doer", "tests/a.py", True),
        ("doer", "src/test_a.py", True),
        ("doer", "Makefile", True),
        ("doer", ".github/workflows/x.yml", True),
        ("doer", ".git/config", True),
        ("doer", ".Git/config", True),
        ("doer", "git~1/config", True),
        ("doer", ".nobrakes/config.toml", True),
        ("doer", "../a2/src/a.py", True),
        ("doer", "/etc/passwd", True),
        ("doer", "out/passwd", True),
        ("doer", "src/../../a2/x", True),
        ("doer", "~/x", True),
        ("doer", "../../runs/1/handoff.md", False),
        ("doer", "../../runs/2/handoff.md", True),
        ("test_writer", "tests/a.py", False),
        ("test_writer", "src/a.py", True),
        ("test_writer", "Makefile", True),
        ("shaper", "src/a.py", True),
        ("shaper", "tests/a.py", True),
    ],
)
def test_a_file_is_written_only_where_the_role_may(workspace: Path, role: str, path: str, refused: bool) -> None:
    for tool, key in (("Write", "file_path"), ("Edit", "file_path"), ("NotebookEdit", "notebook_path")):
        absolute = path if path[0] in "/~" else str(workspace / path)
        for form in (path, absolute):
            assert bool(decide(workspace, tool, {key: form}, role)) is refused, (tool, form)


def test_a_scaffolding_bead_may_touch_tests_and_gates_but_not_git(workspace: Path) -> None:
    for path, refused in (("Makefile", False), ("tests/a.py", False), (".git/config", True), (".nobrakes/x", True)):
        why = decide(workspace, "Write", {"file_path": path}, NOBRAKES_SCAFFOLDING="1")
        assert bool(why) is refused, path


def test_a_test_writer_writes_no_code_by_shell_but_may_clean_up(workspace: Path) -> None:
    assert decide(workspace, "Bash", {"command": "echo x > src/a.py"}, "test_writer")
    assert decide(workspace, "Bash", {"command": "echo x > tests/a.py"}, "test_writer") is None
    assert decide(workspace, "Bash", {"command": "rm -rf .pytest_cache src/__pycache__"}, "test_writer") is None


@pytest.mark.parametrize(
    "command",
    [
        "echo x > src/a.py",
        "cat >> tests/a.py <<'X'\nx\nX",
        "sed -i s/a/b/ src/a.py",
        "rm src/a.py",
        "mkdir -p src && tee src/b.py",
        "git add -A",
        "git commit -m x",
        "git -C src commit -am x",
        "git checkout HEAD -- src/a.py",
        "git stash",
        "git tag v1",
        "git apply /tmp/x.patch",
        "git clean -fd",
        "git reset",
        "git push",
        "git diff --output=src/a.py",
        "bash -c 'git commit -m x'",
    ],
)
def test_the_shaper_changes_nothing_by_shell(workspace: Path, command: str) -> None:
    assert decide(workspace, "Bash", {"command": command}, "shaper")


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git log --oneline | head",
        "git show main:src/a.py",
        "git diff main",
        "git grep -n hello",
        "git branch -a",
        "git ls-files",
        "ls -la src 2>/dev/null",
        "nobrakes list --json",
        "nobrakes propose - <<'PLAN'\nbeads:\n  - {id: a, title: 'A > B'}\nPLAN",
    ],
)
def test_the_shaper_reads_and_proposes(workspace: Path, command: str) -> None:
    assert decide(workspace, "Bash", {"command": command}, "shaper") is None


def test_other_tools(workspace: Path) -> None:
    assert decide(workspace, "EnterWorktree", {})
    assert decide(workspace, "SendMessage", {"to": "x"})
    assert decide(workspace, "Monitor", {"command": "git push"})
    assert decide(workspace, "Read", {"file_path": "/etc/passwd"}) is None
    assert decide(workspace, "TodoWrite", {"todos": []}) is None


@pytest.mark.parametrize(
    "stdin",
    [
        "",
        "x",
        "{",
        "[]",
        "{}",
        "null",
        '{"tool_name": "Bash"}',
        '{"tool_name": "Bash", "tool_input": {}}',
        '{"tool_name": "Write", "tool_input": {"content": "x"}}',
        '{"tool_name": "Bash", "tool_input": {"command": 1}}',
        '{"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": 1}',
        '{"tool_name": "Write", "tool_input": {"file_path": "a\\u0000b"}}',
        '{"tool_name": "Bash", "tool_input": {"command": "ls"}} {}',
        "[" * 100_000,
        "\udcff",
    ],
)
def test_what_it_cannot_read_is_refused(workspace: Path, stdin: str) -> None:
    code, errors = ask(workspace, stdin.encode(errors="surrogateescape"))
    assert code == 2
    assert errors.startswith("nobrakes refuses this tool call: the guard cannot judge this call")


def ask(workspace: Path, stdin: bytes, argv: tuple[str, ...] = (), **env: str) -> tuple[int, str]:
    whole = {key: value for key, value in (variables(workspace) | env).items() if value != "-"}
    ran = subprocess.run([*(argv or guard_argv())], input=stdin, env=whole, capture_output=True, cwd="/", timeout=30)
    return ran.returncode, ran.stderr.decode() or ran.stdout.decode()


LIST = b'{"tool_name": "Bash", "tool_input": {"command": "ls"}}'
PUSH = b'{"tool_name": "Bash", "tool_input": {"command": "git push"}}'


def test_as_a_program_it_lets_through_and_refuses(workspace: Path) -> None:
    assert ask(workspace, LIST) == (0, "")
    code, errors = ask(workspace, PUSH)
    assert code == 2 and errors.startswith("nobrakes refuses this tool call: git push: ")


@pytest.mark.parametrize("name", ["ROLE", "WORKSPACE", "TESTS", "GATES"])
def test_without_knowing_who_asks_it_refuses_and_gives_no_canary(workspace: Path, name: str) -> None:
    assert ask(workspace, LIST, **{f"NOBRAKES_{name}": "-"})[0] == 2
    code, said = ask(workspace, b"", (*guard_argv(), "--canary"), **{f"NOBRAKES_{name}": "-"})
    assert code == 2 and SELF_TEST not in said


def test_the_canary_is_what_the_verdict_waits_for(workspace: Path) -> None:
    assert ask(workspace, b"", (*guard_argv(), "--canary")) == (0, SELF_TEST + "\n")
    assert guard.SELF_TEST == SELF_TEST


def test_a_guard_that_decides_wrongly_gives_no_canary(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place = rules.Place.of(variables(workspace))
    monkeypatch.setattr(rules, "decide", lambda call, place: None)
    assert guard.self_test(place) == 2
    assert SELF_TEST not in capsys.readouterr().out


@pytest.mark.slow
def test_it_ends_itself_when_nobody_feeds_it(workspace: Path) -> None:
    code = "import sys; sys.argv = ['guard']; import nobrakes.hooks.guard as g; g.SECONDS = 1; g.main([])"
    root = str(Path(rules.__file__).parents[2])
    started = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, env=variables(workspace) | {"PYTHONPATH": root}
    )
    assert started.wait(20) == -14
    assert started.stdin is not None
    started.stdin.close()


GLOBS = st.one_of(
    st.text("ab/*?.", max_size=10),
    st.sampled_from(["tests/**", "**/x", "***/a", "a/**/b", "*.py", "/a/", "", "**", "a**b", "?", "x.[py]", "(a)"]),
)
PATHS = st.text("ab/.x\n", max_size=12)


@given(
    st.sampled_from([Role.DOER, Role.TEST_WRITER]),
    st.lists(
        st.sampled_from(
            [".git", ".GIT", "git~1", "GIT~12", "git~x", ".nobrakes", ".github", "tests", "test_a.py", "makefile", "a"]
        ),
        min_size=1,
    ),
    st.booleans(),
)
def test_its_boundary_is_cores(role: Role, parts: list[str], scaffolding: bool) -> None:
    path = "/".join(parts)
    place = rules.Place(role.value, "/w", "\n".join(TESTS), "\n".join(GATES), scaffolding="1" if scaffolding else "")
    boundary = boundaries.Boundary(TESTS, GATES)
    assert rules.may_write(path, place) == boundaries.may_write(role, path, boundary, scaffolding)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda i: st.lists(i) | st.dictionaries(st.text(), i)
    )
)
def test_it_reads_json_as_json_does(value: object) -> None:
    assert guard.read_json(json.dumps(value)) == value


@given(st.text("git push;&|()<>{}$`'\"\\\n #E-", max_size=40))
def test_no_command_line_confuses_it(text: str) -> None:
    place = rules.Place("doer", "/w", "", "")
    try:
        rules.why_not_command(text, "/w", place)
    except ValueError as error:
        assert str(error)


def test_it_imports_nothing_heavy(workspace: Path) -> None:
    code = (
        f"import sys; sys.argv = ['guard', '--canary']; __file__ = {guard_argv()[-1]!r}\n"
        "try: exec(open(__file__).read())\n"
        "finally: sys.stderr.write(' '.join(sys.modules))"
    )
    loaded = ask(workspace, b"", (sys.executable, "-I", "-S", "-X", "frozen_modules=on", "-c", code))[1].split()
    assert "nobrakes.hooks.rules" in loaded
    assert not {"json", "re", "enum", "typing", "collections", "subprocess", "nobrakes.beads.model"} & set(loaded)
