"""What the docs tell people to type is typed here: every block of a page is followed, from its top, in real repositories.

1. A block of settings loads, a block of a plan can be applied, and each line of a block of commands is run by a shell.
2. `nobrakes init` begins in a new repository. Agents are scripted; what a page takes for granted, its `Before` prepares.
3. docs/journeys.md and docs/first-screens.md have tests of their own, which also compare what is printed.
4. What cannot be run here stands in NOT_RUN with its reason. A line that is neither run nor listed fails, and so does an
   entry of the list that no page has any more.
"""

import contextlib
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from nobrakes.config import settings
from tests.support.dose import each_dosed
from tests.support.scripted import Scripted
from tests.support.warm import NOBRAKES

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    "README.md",
    *(
        f"docs/{path.name}"
        for path in sorted((ROOT / "docs").glob("*.md"))
        if path.name not in ("design.md", "journeys.md", "first-screens.md")
    ),
    *(f"docs/how-to/{path.name}" for path in sorted((ROOT / "docs" / "how-to").glob("*.md"))),
    "docs/reference/plan.md",
    "docs/reference/agents.md",
)
REGISTRY = "it installs packages from a registry"
ELSEWHERE = "it goes to the reader's repository, where this test is already"
TALK = "it is a talk between a person in a terminal and an agent with an account"
DEMO = "it installs packages; tests/acceptance/test_examples.py builds the same example"
NODES = "it asks nodes; tests/acceptance/test_fleet.py and tests/acceptance/test_nodes_seen.py have some"
OTHERS = "it is for other machines; tests/acceptance/test_nodes_by_the_page.py types it with SSH to this one"
PROFILE = "the reader writes this file; tests/integration/conformance/test_profiles.py tests profiles"
TAKEOVER = "it needs a remote and another machine; tests/acceptance/test_takeover.py has both"
PROFILE_KEYS = ("title", "program", "credentials", "instructions", "output", "rate_limited", "arguments", "stdin")
PROFILE_KEYS += ("when", "kind", "text")
NEVER = "the page says that it was never run"
BY_HAND = "it needs Slurm; the page says when and with what it was run by hand"
SLURM = ("from ", "tls = {", "tls |= {", "cluster = ", "scheduler_options", "job_script", "cluster.scale")
KUBERNETES = (
    "{apiVersion",
    "worker:",
    "image:",
    '"tls://',
    "--nthreads",
    "scheduler:",
    "args:",
    "containerPort",
    "ports:",
)
NOT_RUN: Mapping[tuple[str, str], str] = {
    ("README.md", "you                          the machine"): "it is a picture",
    ("README.md", "python3 examples/demo"): DEMO,
    ("README.md", "pipx install ."): REGISTRY,
    ("README.md", "cd your-repository"): ELSEWHERE,
    ("README.md", "nobrakes shape"): TALK,
    ("README.md", "python3 tests/gates"): "it is what runs this test",
    ("docs/how-to/install.md", "pipx install"): f"{REGISTRY}; tests/release/test_installed.py does it",
    ("docs/how-to/install.md", "uv tool install"): f"{REGISTRY}; tests/release/test_installed.py does it",
    ("docs/how-to/install.md", "nobrakes demo"): "tests/release/test_installed.py runs it",
    ("docs/how-to/install.md", "nobrakes --install-completion"): "it changes the files of this account's shell",
    ("docs/quickstart.md", "python3 examples/demo"): DEMO,
    ("docs/quickstart.md", "pipx install ."): REGISTRY,
    ("docs/quickstart.md", "cd your-repository"): ELSEWHERE,
    ("docs/quickstart.md", "nobrakes shape"): TALK,
    ("docs/how-to/nodes.md", "nobrakes doctor"): NODES,
    ("docs/how-to/nodes.md", "nobrakes fleet"): NODES,
    **{
        ("docs/how-to/takeover.md", one): TAKEOVER
        for one in ("nobrakes daemon", "nobrakes doctor", "nobrakes takeover")
    },
    **{
        ("docs/how-to/agent-profiles.md", f"nobrakes {one}"): PROFILE
        for one in ("agent-profile test", "agent-profile add")
    },
    ("docs/how-to/agent-profiles.md", "nobrakes init --agent my-agent"): PROFILE,
    **{("docs/how-to/agent-profiles.md", f"{one} ="): PROFILE for one in PROFILE_KEYS},
    **{("docs/how-to/agent-profiles.md", one): PROFILE for one in ("[says]", "[[launch]]", "[[lines]]")},
    (
        "docs/how-to/github-issues.md",
        "nobrakes sync github",
    ): "it asks GitHub; tests/acceptance/test_github_issues.py does it",
    **{("docs/how-to/nodes.md", one): OTHERS for one in ("openssl ", "tls=", "ssh ", "for node in", "done")},
    **{("docs/how-to/nodes.md", one): BY_HAND for one in SLURM},
    **{("docs/how-to/nodes.md", one): NEVER for one in KUBERNETES},
    ("docs/how-to/daemon.md", "nobrakes daemon install --yes"): "it changes the services of this account",
    ("docs/how-to/daemon.md", "nobrakes daemon uninstall --yes"): "it changes the services of this account",
    (
        "docs/how-to/relay-in-place.md",
        "nobrakes session start --works --in-place",
    ): "it needs the sandbox; tests/acceptance/test_relay_in_place.py does it",
    ("docs/how-to/mcp.md", "claude mcp add"): "it changes the settings of an installed Claude Code",
    (
        "docs/how-to/tasks-and-issues.md",
        "gh issue list",
    ): "it asks a code host; tests/unit/plans/test_from_text.py reads what it prints",
    ("docs/web.md", "curl "): "it talks to the page of the line before; tests/integration/web has the same requests",
    ("docs/web.md", "nobrakes web --lan"): "it opens a port to the network, and takes a certificate of that network",
    (
        "docs/workspace.md",
        "nobrakes mcp --workspace",
    ): "a chat client starts it; tests/acceptance/test_workspace_mcp.py is one",
    (
        "docs/workspace.md",
        "nobrakes relay",
    ): "it needs an agent with an account; tests/acceptance/test_relay.py has none",
    (
        "docs/workspace.md",
        "nobrakes project run",
    ): "it needs checks, agents and a typed yes; tests/acceptance/test_sprints.py has them",
    ("docs/workspace.md", "nobrakes project schedule"): "the same",
    (
        "docs/how-to/sessions.md",
        "nobrakes session start --works",
    ): "its turn takes its time; tests/acceptance/test_relay.py waits for it",
    ("docs/how-to/sessions.md", "nobrakes relay"): "tests/acceptance/test_relay.py has such a folder",
    **dict.fromkeys(
        (("docs/workspace.md", f"nobrakes session {word} ") for word in ("start", "show", "say", "hand-in", "stop")),
        "it needs an agent with an account; tests/acceptance/test_relay.py has none",
    ),
    ("docs/reliability.md", "NOBRAKES_"): "it takes hours; CI runs these tests with a smaller dose",
}
"""(page, how the line begins): why it is not run. A picture is listed by its first line."""
GOOD = (0, 40)
"""Done, or done but for what waits for a person. Any other exit code says that something is wrong."""
NEW = "nobrakes init"
SERVING = re.compile(r"nobrakes (web|watch|daemon run)\b|.* --follow\b")
"""What goes on until Ctrl-C."""
QUESTION = "nobrakes agent ask '{}' >/dev/null; echo 'NOBRAKES: BLOCKED'"
BOARD = """
beads:
  - {id: rates, title: Convert between currencies, needs_tests: false, priority: 0}
  - {id: exports, title: Journals as CSV, needs_tests: false, priority: 1}
  - {id: cli, title: A command line, needs_tests: false, priority: 2}
"""


class Block(NamedTuple):
    """A block of a page. `language` is empty for one that is indented, or that has none."""

    language: str
    text: str

    @property
    def kind(self) -> str:
        if self.language in ("toml", "yaml", "json", "jsonl", "mermaid"):
            return self.language
        assert self.language in ("", "sh", "text"), f"what is a block of {self.language}?"
        return "toml" if self.text.startswith("[") else "commands"

    def commands(self) -> list[str]:
        """The lines to type; where some begin with a prompt, the others are what was printed."""
        lines = self.text.replace("\\\n", " ").splitlines()
        typed = [line[2:] for line in lines if line.startswith("$ ")] or lines
        return [re.split(r"\s{2,}# ", line)[0].strip() for line in typed if line.strip() and not line.startswith("#")]


def blocks(text: str) -> Iterator[Block]:
    """Fenced blocks, and paragraphs that are indented by four columns."""
    fence = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    end = 0
    for found in [*fence.finditer(text), None]:
        for one in re.split(r"\n\s*\n", text[end : found.start() if found else len(text)]):
            lines = one.strip("\n").splitlines()
            if lines and all(line.startswith("    ") for line in lines):
                yield Block("", "\n".join(line[4:] for line in lines) + "\n")
        if found:
            yield Block(found[1], found[2])
            end = found.end()


def listed(page: str, line: str) -> str:
    """The entry of NOT_RUN for the line; empty: none."""
    return next((start for of, start in NOT_RUN if of == page and line.startswith(start)), "")


class Reader:
    """Somebody who follows a page, block by block."""

    def __init__(self, page: str, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.repositories = 0
        self.with_daemon: list[Scripted] = []
        self.begin()

    def begin(self) -> Scripted:
        """A new repository that is set up, with a remote."""
        self.repositories += 1
        self.project = Scripted(self.folder / str(self.repositories), doers=1 if self.page == "README.md" else 5)
        remote = self.folder / f"{self.repositories}.git"
        subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
        self.project.git("remote", "add", "origin", str(remote))
        if self.page in BEFORE:
            BEFORE[self.page](self.project)
        return self.project

    def follow(self, block: Block) -> None:
        if block.kind == "toml":
            path = self.folder / "settings.toml"
            path.write_text(f'main = "main"\n{block.text}')
            settings.load(str(path))
        elif block.kind in ("yaml", "json", "jsonl"):
            plan = self.project.folder / f"plan.{block.kind}"
            plan.write_text(block.text)
            self.type(f"nobrakes plan apply plan.{block.kind} --dry-run")
        elif block.kind == "commands" and not listed(self.page, block.text.strip()):
            for line in block.commands():
                self.read(line)

    def read(self, line: str) -> None:
        """Do what one line says, or what stands in for it."""
        if listed(self.page, line):
            if line.startswith("nobrakes shape"):
                (self.folder / "proposed.yaml").write_text(BOARD)
                self.type(f"nobrakes propose {self.folder / 'proposed.yaml'}")
            return
        assert line.split()[0] in ("nobrakes", "git"), f"{self.page}: neither run nor listed: {line}"
        if line.startswith(NEW):
            self.set_up(line)
        elif line.startswith("nobrakes agent "):
            self.let_an_agent_type(line)
        elif SERVING.match(line):
            self.watch(line)
        else:
            if line.startswith("nobrakes daemon start") and self.project not in self.with_daemon:
                self.with_daemon.append(self.project)
            asked = " --yes" if line == "nobrakes commit-strategy" else ""  # where there is no terminal to ask in
            self.type(line + asked)

    def close(self) -> None:
        """Stop the daemons that the page began, where it did not say how to stop them."""
        for project in self.with_daemon:
            project.nobrakes("daemon", "stop", expect=None)
            project.nobrakes("daemon", "status", expect=24)

    def set_up(self, line: str) -> None:
        """`nobrakes init` as it stands there; then the agents are scripted, and the checks are those of the repository."""
        project = self.begin()
        config = project.config.read_text()
        shutil.rmtree(project.config.parent)
        (project.folder / "Makefile").write_text("test:\n\tsh tests/run.sh\n")
        project.git("add", "Makefile")
        project.git("commit", "-q", "-m", "A check to be found")
        self.type(line)
        settings.load(str(project.config))
        project.config.write_text(config)

    def type(self, line: str) -> None:
        """What a shell does with the line; where no shell is needed, in a process that is started faster."""
        if re.search(r"[|<>&;$`*]", line) or line.split()[0] != "nobrakes":
            done = subprocess.run(
                ["sh", "-c", f'PATH="{Path(NOBRAKES).parent}:$PATH"; {line}'],
                cwd=self.project.folder,
                env=self.project.env(),
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=120,
            )
        else:
            done = self.project.nobrakes(*shlex.split(line)[1:], expect=None)
        said = done.stdout + done.stderr
        assert done.returncode in GOOD, f"{self.page}: `{line}` ended with {done.returncode}:\n{said}"
        assert "No such" not in said and "note: " not in done.stderr, f"{self.page}: `{line}` said:\n{said}"

    def watch(self, line: str) -> None:
        """What goes on until Ctrl-C: it prints a first line, and ends in order."""
        argv = line.partition(" | ")[0].split()[1:]
        with subprocess.Popen(
            [NOBRAKES, *argv],
            cwd=self.project.folder,
            env={**self.project.env(), "BROWSER": "true"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            first = process.stdout.readline()
            if first.startswith("port "):  # somebody else serves their pages on the usual port meanwhile
                first = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
        assert first.startswith(("{", "open ")) and process.returncode in (0, 130), (
            f"{self.page}: `{line}` said:\n{first}{rest}"
        )

    def let_an_agent_type(self, line: str) -> None:
        """A command of agents: the agent of a bead types it."""
        self.project.add("asking")
        out = self.project.flag("said")
        self.project.does("asking", f"{line} >'{out}' 2>&1; echo $? >>'{out}'\necho 'NOBRAKES: BLOCKED'")
        self.type("nobrakes run")
        said = out.read_text()
        assert said.splitlines()[-1] == "0" and "No such" not in said, f"{self.page}: `{line}` said:\n{said}"


def before_the_readme(project: Scripted) -> None:
    """The board of the shortened demo: a question, a bead that stops, a suggestion."""
    (project.folder / "plan.yaml").write_text(BOARD)
    project.does("rates", QUESTION.format("Half up or half to even?"), 1)
    project.does("cli", "nobrakes agent escalate 'Colours would help' >/dev/null\nwork", 1)
    project.does("exports", QUESTION.format("Which separator?"), 1)


TASKS = '{"master": {"tasks": [{"id": 1, "title": "Weigh the coins", "status": "pending", "dependencies": []}]}}'
BACKLOG = "---\nid: task-1\ntitle: Sum the coins\nstatus: To Do\n---\n\n## Description\n\nAll of them.\n"


def before_the_answers(project: Scripted) -> None:
    """Merged work, four questions, and a list of what is to be done."""
    (project.folder / "TODO.md").write_text("# Till\n\n- [ ] Count the coins\n- [x] Open the drawer\n")
    tracked = {".taskmaster/tasks/tasks.json": TASKS, "backlog/tasks/task-1 - Sum.md": BACKLOG}
    for path, text in tracked.items():
        (project.folder / path).parent.mkdir(parents=True)
        (project.folder / path).write_text(text)
    project.configure('name = "test"', 'name = "unit"')
    project.add("merged", "asks-1", "asks-2", "asks-3", "asks-4")
    for number in range(1, 5):
        project.does(f"asks-{number}", QUESTION.format(f"Which zone, {number}?"))
    project.nobrakes("run", expect=40)


def before_a_plan(project: Scripted) -> None:
    (project.folder / "plan.yaml").write_text(BOARD)


def before_beads(project: Scripted) -> None:
    (project.folder / ".beads").mkdir()
    (project.folder / ".beads" / "issues.jsonl").write_text(
        '{"id":"bd-1","title":"Sum","status":"open","priority":1}\n'
    )


BEFORE: Mapping[str, Callable[[Scripted], None]] = {
    "README.md": before_the_readme,
    **{
        f"docs/how-to/{task}.md": before_the_answers
        for task in (
            "approve-merges",
            "approve-plans",
            "events",
            "flaky-tests",
            "notices",
            "scripts",
            "tasks-and-issues",
            "verify",
            "work-yourself",
        )
    },
    "docs/how-to/write-a-plan.md": before_a_plan,
    "docs/how-to/beads.md": before_beads,
}


def doses() -> list[Any]:
    """Each page that has a block: of the how-to pages one in six is CI's, the others always."""
    pages = [page for page in PAGES if list(blocks((ROOT / page).read_text()))]
    of_tasks = [page for page in pages if page.startswith("docs/how-to/")]
    others = [pytest.param(page, marks=pytest.mark.slow) for page in pages if page not in of_tasks]
    return [*others, *each_dosed("page", of_tasks, parts=6)]


@pytest.mark.parametrize("page", doses())
def test_what_a_page_says_to_type_works(page: str, tmp_path: Path) -> None:
    with contextlib.closing(Reader(page, tmp_path)) as reader:
        for block in blocks((ROOT / page).read_text()):
            reader.follow(block)


def test_what_is_not_run_is_there() -> None:
    seen = set()
    for page in PAGES:
        for block in blocks((ROOT / page).read_text()):
            lines = [block.text.strip(), *block.commands()] if block.kind == "commands" else []
            seen |= {(page, listed(page, line)) for line in lines}
    assert [entry for entry in NOT_RUN if entry not in seen] == []


def test_every_kind_of_block_is_found() -> None:
    page = "# A\n\n```sh\n$ nobrakes a \\\n  b   # why\nprinted\n```\n\n    nobrakes c\n\n- a list\n  goes on\n\n    [git]\n"
    found = list(blocks(page))
    assert [(one.kind, one.commands()) for one in found if one.kind == "commands"] == [
        ("commands", ["nobrakes a    b"]),
        ("commands", ["nobrakes c"]),
    ]
    assert [one.kind for one in found] == ["commands", "commands", "toml"]
