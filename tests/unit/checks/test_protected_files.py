"""Which files a check's command names, and of which changes a person is asked."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from nobrakes.beads.model import Role
from nobrakes.checks.contract import Check
from nobrakes.checks.policy import protected_files
from nobrakes.checks.policy.boundaries import Boundary, bends_runner, gate_changes, may_write, violations
from nobrakes.checks.policy.protected_files import named
from nobrakes.checks.worker.steps import with_agents
from nobrakes.config.settings import Config, parse
from nobrakes.git.port import Change

FILE, GONE = "100644", "000000"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("sh scripts/check.sh", "scripts/check.sh"),
        ("./scripts/check.sh --all", "scripts/check.sh"),
        ("python3 tools/lint.py src", "tools/lint.py"),
        ("make -f build/Foo.mk test", "build/Foo.mk"),
        ("make -fbuild/Foo.mk", "build/Foo.mk"),
        ("ruff check --config=cfg/lint.toml .", "cfg/lint.toml"),
        ("CI=1 true && (sh a/b.sh; false) | tee out.txt", "a/b.sh"),
        ("bash -c 'set -e; sh scripts/inner.sh \"$@\"' x", "scripts/inner.sh"),
        ("cd tools && python3 lint.py", "tools/lint.py"),
        ("cd tools; cd deep; sh x.sh", "tools/deep/x.sh"),
        ("python3 -m tools.lint", "tools/lint.py"),
        ("python3 -m tools", "tools/__main__.py"),
        ("python3 -m pytest -q", "pytest.py"),  # a file of that name would be run instead
        ("sh 'unclosed scripts/x.sh", "scripts/x.sh"),
        ("tools/py/bin/python -m pytest", "tools/py/bin"),  # a link in its place leads elsewhere
        ("tools/py/bin/python -m pytest", "tools"),
        ("cd web/app && npm test", "web/app"),
        ("sh $PWD/scripts/check.sh", "scripts/check.sh"),
        ('sh "${ROOT}/scripts/check.sh"', "scripts/check.sh"),
        ('"$(git rev-parse --show-toplevel)/scripts/check.sh" -q', "scripts"),
    ],
)
def test_a_command_names_files(command: str, names: str) -> None:
    assert names in named("", [Check("x", command)]) and names in named(command, [])


@pytest.mark.parametrize("folders", [["a"] * 500, [f"f{number}" for number in range(500)]], ids=["one", "many"])
def test_many_changes_of_folder_name_no_more_than_a_few_files_each(folders: list[str]) -> None:
    command = "; ".join(f"cd {folder}" for folder in folders)
    within = f"{command}; sh -c '{command}; sh check.sh'"
    assert len(list(protected_files._command_paths(within, ("",)))) < 64 * 3_100
    assert {"check.sh", f"{folders[-1]}/check.sh"} <= named(within, [])


def test_a_change_of_folder_may_hold_for_what_comes_after_it_or_not() -> None:
    found = named("cd web; cd app; sh -c 'cd x y; sh check.sh'; cd ..; cd /", [])
    assert {f"{folder}check.sh" for folder in ("", "web/", "app/", "web/app/", "x/", "web/x/", "web/app/x/")} <= found


def test_a_command_names_files_from_its_directory() -> None:
    check = Check("x", "sh check.sh ../shared/all.sh ../../out.sh", directory="app/web")
    assert {"app/web/check.sh", "app/shared/all.sh", "out.sh"} <= named("", [check])
    assert not any(path.startswith("..") for path in named("", [Check("x", "sh ../x.sh")]))


def test_the_folder_of_a_check_is_named_with_every_folder_above_it() -> None:
    assert {"app", "app/web"} <= named("", [Check("x", "npm test", directory="app/web")])


@dataclass(frozen=True)
class Tree:
    """What the settings want to know of a commit, and of git."""

    files: frozenset[str]
    links: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    by_git: tuple[frozenset[str], tuple[str, ...]] = (frozenset(), ())

    def paths(self, commit: str) -> frozenset[str]:
        return self.files

    def read(self, commit: str, path: str, most: int | None = None) -> bytes | None:
        return self.texts.get(path, "").encode()

    def link(self, commit: str, path: str) -> str | None:
        return self.links.get(path)

    def named_by_git(self) -> tuple[frozenset[str], tuple[str, ...]]:
        return self.by_git


def test_what_a_link_on_the_way_leads_to_is_named() -> None:
    config = parse('[[checks]]\nname = "t"\ncommand = "tools/py/bin/run all && sh check"\n', "x")
    links = {"tools/py": "../mine", "mine/bin": "deep", "check": "ci/check.sh", "out": "../../etc", "round": "round"}
    tree = frozenset((*links, "mine/deep/run", "ci/check.sh", "mine/other"))
    boundary = config.boundary_at(Tree(tree, links), "base", Role.DOER)
    for path in ("mine", "mine/bin", "mine/deep", "mine/deep/run", "ci/check.sh", "tools/py"):
        assert gate_changes([Change(path, FILE, FILE)], boundary), path
    assert not gate_changes([Change("mine/other", FILE, FILE), Change("mine/deep/x", GONE, FILE)], boundary)


BOUNDARY = Boundary(
    ("tests/**",), ("Makefile", ".githooks/**", "conftest.py"), frozenset({"ci/run.sh", "tests/all.sh"})
)


def changed(*paths: str) -> list[Change]:
    return [Change(path, FILE, FILE) for path in paths]


@pytest.mark.parametrize(
    ("path", "asked", "refused"),
    [
        ("Makefile", True, False),
        ("makefile", True, False),
        ("ci/run.sh", True, False),
        ("CI/Run.sh", True, False),
        ("src/a.py", False, False),
        ("tests/all.sh", False, True),  # a test, and of tests nobody is asked
        ("tests/conftest.py", True, True),
        (".githooks/pre-commit", False, True),
        (".nobrakes/config.toml", False, True),
    ],
)
def test_of_gates_a_person_is_asked_and_tests_and_hooks_are_refused(path: str, asked: bool, refused: bool) -> None:
    assert bool(gate_changes(changed(path), BOUNDARY)) is asked
    assert bool(violations(Role.DOER, changed(path), BOUNDARY, asks=True)) is refused


def test_of_a_gate_section_a_person_is_asked() -> None:
    change = [Change("pyproject.toml", FILE, FILE, sections=("tool.pytest",))]
    assert gate_changes(change, BOUNDARY) == change
    assert violations(Role.DOER, change, BOUNDARY, asks=True) == []
    assert violations(Role.TEST_WRITER, change, BOUNDARY)


@pytest.mark.parametrize("path", ["uv.lock", "web/package-lock.json", "go.sum"])
def test_lock_files_are_gates_by_setting(path: str) -> None:
    with_locks = parse("[boundaries]\nlock_files = true", "config.toml").boundary()
    assert gate_changes(changed(path), with_locks) and not gate_changes(changed(path), Config().boundary())


def test_the_boundary_of_a_config_knows_what_its_checks_name() -> None:
    config = parse('setup = "sh prepare.sh"\n[[checks]]\nname = "a"\ncommand = "sh run.sh"\ndirectory = "app"', "x")
    assert gate_changes(changed("prepare.sh", "app/run.sh", "run.sh"), config.boundary()) == changed(
        "prepare.sh", "app/run.sh"
    )


def test_what_instructions_of_agents_take_up_and_what_links_of_theirs_lead_to_is_protected() -> None:
    texts = {
        "CLAUDE.md": "See @docs/agents.md, and (@./README.md).\nAsk @ada.\n",
        "docs/agents.md": "@more.md @docs/no.md",
    }
    files = frozenset((*texts, "README.md", "docs/more.md", "docs/a.md", "GEMINI.md", ".codex", "notes/rules.md"))
    links = {"GEMINI.md": "notes/rules.md", ".codex": "tools/codex"}
    boundary = Config().boundary_at(Tree(files, links, texts), "base", Role.DOER)
    for path in (
        "docs/agents.md",
        "README.md",
        "docs/more.md",
        "notes/rules.md",
        "tools/codex/config.toml",
        "tools/codex",
    ):
        assert gate_changes(changed(path), boundary), path
    assert not gate_changes(changed("docs/a.md", "docs/no.md", "ada", "tools/other"), boundary)


def test_what_git_itself_reads_and_runs_is_protected() -> None:
    tree = Tree(frozenset(("tools/hooks/x",)), by_git=(frozenset(("tools/clean.sh",)), ("tools/hooks",)))
    boundary = Config().boundary_at(tree, "base", Role.DOER)
    assert gate_changes([Change("tools/hooks/pre-commit", GONE, FILE)], boundary)
    assert gate_changes(changed("tools/clean.sh", "tools/hooks/x", "tools"), boundary) == changed(
        "tools/clean.sh", "tools/hooks/x", "tools"
    )
    assert not gate_changes(changed("tools/other", "hooks/x"), boundary)


@pytest.mark.parametrize(
    "path",
    [
        "web/.claude/settings.json", "a/b/.claude/skills/x/SKILL.md", "web/.codex/config.toml", "x/.gemini/settings.json",
        "AGENTS.override.md", ".agents/skills/x/SKILL.md", "AGENT.md", "QWEN.md", ".windsurfrules", ".clinerules",
        ".clinerules/a.md", ".aider.conf.yml", "opencode.json", ".kiro/steering/x.md", ".junie/guidelines.md",
        "Web/.Claude/settings.json", "tests/fixtures/.mcp.json", "tests/fixtures/web/.claude/settings.json",
        "tests/fixtures/AGENTS.md", "tests/fixtures/.gitattributes", ".agent/rules/a.md", ".aiassistant/rules/a.md",
        ".grok/settings.json", ".rovodev/config.yml", "web/.tabnine/guidelines/a.md", ".vibe/config.toml", ".not-yet-known/a",
        "web/.Grok/x", ".newagentrules", "web/style.mdc", "src/api.instructions.md", "x.prompt.md", "x.chatmode.md",
    ],
)  # fmt: skip
def test_what_steers_agents_is_protected_wherever_it_lies(path: str) -> None:
    boundary = with_agents(Config().boundary())
    assert gate_changes(changed(path), boundary) or violations(Role.DOER, changed(path), boundary, asks=True)
    assert bends_runner(*changed(path), boundary)  # so a person is asked of a Test Writer's, too
    assert not violations(Role.DOER, changed(path), boundary, scaffolding=True)
    bare = with_agents(parse("[boundaries]\ngates = []\n", "x").boundary())
    assert gate_changes(changed(path), bare) or violations(Role.DOER, changed(path), bare, asks=True)


@pytest.mark.parametrize(
    "path",
    [
        "web/.vscode/tasks.json", "web/.devcontainer/devcontainer.json", "web/.idea/runConfigurations/x.xml", ".run/x.run.xml",
        "project.code-workspace", ".exrc", ".nvim.lua", ".Rprofile", ".gdbinit", "Vagrantfile", ".irbrc", "web/.vscode/launch.json",
        ".gitconfig", ".justfile", ".vscode/settings.json", "a/.envrc", "web/.husky/pre-commit", "web/lefthook.yml",
        "a/.pre-commit-config.yaml", ".dir-locals.el", "a/.config/mise/config.toml", ".ghci", ".iex.exs", "a/.ocamlinit", ".erlang",
        ".byebugrc", ".octaverc", ".lazy.lua", ".rvmrc",
    ],
)  # fmt: skip
def test_of_what_tools_start_by_themselves_a_person_is_asked(path: str) -> None:
    assert gate_changes(changed(path), Config().boundary()) == changed(path)
    assert gate_changes(changed(path), parse("[boundaries]\ngates = []\n", "x").boundary()) == changed(path)


@pytest.mark.parametrize(
    "path",
    [
        "src/agents/claude.py", "docs/agent-list.md", "claude/settings.json", "src/run/a.py", "vscode/tasks.json", "src/rules.py",
        "app/idea.py", "web/src/mcp.ts", "src/skills.md", "src/mcp.json", "notes/gemini.md.txt", "src/.hidden", "web/prompt.md",
        "docs/agents.md", "docs/reference/claude.md", ".mailmap", "flake.nix", "nix/shell.nix", "web/.vscode/settings.json",
        "web/.vscode/extensions.json", "web/.vscode/py.code-snippets", ".gitignore", ".editorconfig", "web/.dockerignore",
        "docs/.vitepress/config.ts", "web/.storybook/main.ts", ".changeset/a.md", "public/.well-known/security.txt",
        "web/.github/x.md", "src/rules/a.py", "docs/mdc.md", ".gitlab/issue_templates/bug.md",
    ],
)  # fmt: skip
def test_names_that_only_look_like_it_are_free(path: str) -> None:
    assert not gate_changes(changed(path), with_agents(parse("[boundaries]\ngates = []\n", "x").boundary()))
    if "vscode" not in path:
        assert not gate_changes(changed(path), with_agents(Config().boundary()))
        assert may_write(Role.DOER, path, with_agents(Config().boundary())) is None, "and nobody refuses it"


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("src/test/resources/META-INF/services/org.junit.jupiter.api.extension.Extension", True),
        ("src/test/resources/META-INF/services/org.testng.ITestNGListener", True),
        ("tests/quiet.egg-info/entry_points.txt", True),
        ("tests/sitecustomize.py", True),
        ("src/test/resources/META-INF/services/com.shop.Tax", False),
        ("tests/fixtures/node_modules/left-pad/index.js", False),
    ],
)
def test_what_nobody_writes_by_hand_bends_the_runner_from_any_role(path: str, is_one: bool) -> None:
    assert bends_runner(*changed(path), with_agents(Config().boundary())) is is_one


@pytest.mark.parametrize(
    "path", ["agents.md", "Docs/AGENTS.md", "docs/Agents.md", "docs/.CLAUDE/a.md", "a/.claude/skills/b/c.md"]
)
def test_instructions_are_known_in_any_case_where_an_agent_looks(path: str) -> None:
    assert bends_runner(*changed(path), with_agents(Config().boundary()))


def test_what_nix_makes_is_asked_about_where_the_shell_starts_it_by_itself() -> None:
    boundary = Config().boundary(paths=frozenset(("a/.envrc", "flake.nix")))
    assert gate_changes(changed("flake.nix"), boundary) == changed("flake.nix")
