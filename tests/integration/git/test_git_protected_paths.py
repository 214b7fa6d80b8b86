"""What git itself reads and runs in the tree, and what ignore files hide from it: git is asked."""

from pathlib import Path

import pytest
from git_worlds import ME, RealWorld


def put(world: RealWorld, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = world.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("filter.x.clean", "tools/clean.sh %f", "tools/clean.sh"),
        ("filter.x.process", "sh -c './tools/filter.sh \"$@\"'", "tools/filter.sh"),
        ("diff.x.textconv", "python3 tools/text.py", "tools/text.py"),
        ("diff.x.command", "ROOT/tools/diff.sh", "tools/diff.sh"),
        ("merge.x.driver", "tools/merge %O %A %B", "tools/merge"),
        ("core.fsmonitor", "tools/watch", "tools/watch"),
        ("core.sshCommand", "ssh -F .ssh/config", ".ssh/config"),
        ("core.attributesFile", "cfg/attributes", "cfg/attributes"),
        ("core.excludesFile", "cfg/ignore", "cfg/ignore"),
        ("alias.up", "!sh tools/up.sh", "tools/up.sh"),
        ("credential.helper", "!./tools/login", "tools/login"),
        ("include.path", "../.gitconfig", ".gitconfig"),
        ("include.path", "ROOT/cfg/git", "cfg/git"),
        ("gpg.program", "bin/gpg", "bin/gpg"),
        ("hook.x.command", "tools/hook.sh", "tools/hook.sh"),
    ],
)
def test_a_path_that_a_setting_of_git_names_is_told(world: RealWorld, key: str, value: str, path: str) -> None:
    world.sh("git", "config", key, value.replace("ROOT", str(world.root)))
    assert path in world.git.named_by_git()[0]


@pytest.mark.parametrize("value", ["tools/hooks", "./tools/hooks/", "ROOT/tools/hooks"])
def test_the_folder_of_hooks_is_told_however_it_is_named(world: RealWorld, value: str) -> None:
    world.sh("git", "config", "core.hooksPath", value.replace("ROOT", str(world.root)))
    assert world.git.named_by_git()[1] == ("tools/hooks",)


def test_the_persons_own_settings_count_as_well(
    world: RealWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own-config"
    own.write_text('[core]\n\thooksPath = tools/hooks\n[filter "x"]\n\tclean = tools/clean\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    paths, folders = world.git.named_by_git()
    assert "tools/clean" in paths and folders == ("tools/hooks",)


def test_a_hook_that_is_a_link_or_starts_a_file_of_the_tree_names_it(world: RealWorld) -> None:
    put(world, {"tools/pre-push": "#!/bin/sh\n", "scripts/lint.sh": ""})
    hooks = world.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-push").symlink_to("../../tools/pre-push")
    (hooks / "pre-commit").write_text("#!/bin/sh\n# see docs/hooks.md\nexec ./scripts/lint.sh\n")
    paths, folders = world.git.named_by_git()
    assert {"tools/pre-push", "scripts/lint.sh"} <= paths and "docs/hooks.md" not in paths and folders == ()


@pytest.mark.parametrize("value", ["tools/template", "ROOT/tools/template/"])
def test_a_folder_that_a_setting_names_is_told(world: RealWorld, value: str) -> None:
    put(world, {"tools/template/hooks/post-checkout": ""})
    world.sh("git", "config", "init.templateDir", value.replace("ROOT", str(world.root)))
    assert world.git.named_by_git()[1] == ("tools/template",)


@pytest.mark.parametrize(
    ("hook", "path"),
    [
        ("#!/usr/bin/env python3\nimport subprocess\nsubprocess.run(['python3', 'scripts/deep.py'])\n", "scripts/deep.py"),
        ("#!/usr/bin/node\nrequire('child_process').execFileSync(`${root}/scripts/run.js`)\n", "scripts/run.js"),
        ("#!/usr/bin/perl\nsystem(\"scripts/check.pl\");\n", "scripts/check.pl"),
        ("#!/bin/sh\neslint src/ && ruff check src tests/\n", ""),
    ],
)  # fmt: skip
def test_what_a_hook_in_any_language_starts_is_told(world: RealWorld, hook: str, path: str) -> None:
    put(world, dict.fromkeys(("scripts/deep.py", "scripts/run.js", "scripts/check.pl", "src/one.js"), ""))
    hooks = world.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-push").write_text(hook)
    paths, folders = world.git.named_by_git()
    assert path in {"", *paths} and folders == () and "src/one.js" not in paths


def test_what_is_no_path_of_the_tree_is_not_told(world: RealWorld) -> None:
    for key, value in (
        ("user.name", "a/b"),
        ("core.editor", "vim"),
        ("pull.rebase", "true"),
        ("core.pager", "less -R"),
    ):
        world.sh("git", "config", key, value)
    world.sh("git", "config", "core.hooksPath", "/usr/share/hooks")
    assert not world.git.named_by_git()[0] & {"a/b", "vim", "true", "less", "main"}
    assert world.git.named_by_git()[1] == ()


FILES = {"src/a.py": "", "src/deep/b.py": "", "web/index.ts": "", "README.md": "", ".gitignore": "*.log\n"}


@pytest.mark.parametrize(
    ("text", "hides"),
    [
        ("*\n", {"src/a.py", "README.md"}),
        ("*.log\nsrc/\n", {"src/a.py", "src/deep/b.py"}),
        ("*.log\n/src/*\n!/src/a.py\n", {"src/deep/b.py"}),
        ("*.log\nsrc/*\n!src/a.py\n!src/deep/\n", {"src/nobrakes-new.py"}),  # what comes beside it later
        ("*.ts\n", {"web/index.ts"}),
    ],
)
def test_an_ignore_file_tells_what_it_hides(world: RealWorld, text: str, hides: set[str]) -> None:
    base = world.commit_on_main(FILES)
    head = world.commit_on_main({**FILES, ".gitignore": text})
    (change,) = world.git.changes(base, head)
    assert hides <= set(change.hidden)


@pytest.mark.parametrize(
    "text",
    ["*.log\ndist/\n", "*.log\n__pycache__/\n*.pyc\n.venv\n/build\nnode_modules\n.env.local\n", "", "*.log\n*.tmp\n"],
)
def test_an_ordinary_line_hides_nothing(world: RealWorld, text: str) -> None:
    base = world.commit_on_main(FILES)
    head = world.commit_on_main({**FILES, ".gitignore": text})
    assert [change.hidden for change in world.git.changes(base, head)] == [()]


def test_an_ignore_file_further_down_and_a_link_are_read_as_git_reads_them(world: RealWorld) -> None:
    base = world.commit_on_main(FILES)
    head = world.commit_on_main({**FILES, "src/.gitignore": "*\n!.gitignore\n"})
    (change,) = world.git.changes(base, head)
    assert {"src/a.py", "src/deep/b.py"} <= set(change.hidden) and "README.md" not in change.hidden
    world.sh("git", "checkout", "-q", "-f", "main")
    (world.root / "web" / ".gitignore").symlink_to("../README.md")
    world.sh("git", "add", "-A")
    world.sh("git", "commit", "-q", "-m", "link", env=ME)
    assert all(one.hidden == () for one in world.git.changes(head, "HEAD"))
