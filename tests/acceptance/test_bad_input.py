"""What hostile, hurried and unlucky people type: a clear line, a hint, an own exit code, and nothing is written."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm
from tests.support.scripted import sound
from tests.support.warm import NOBRAKES

NASTY = {
    "shell": "$(touch pwned) `touch pwned`; touch pwned | touch pwned && touch pwned > pwned",
    "quotes": "'; DROP TABLE beads; -- \" \\",
    "escapes": "\x1b[31mred\x1b]0;title\x07\x9b2J\r\n",
    "bidi": "abc\u202edcba\u2066\u200b\u2069",
    "emoji": "👩‍👩‍👧‍👦 ¡漢字! ﷽",
    "newlines": "one\ntwo\r\n\n# three\n",
    "option": "--help",
    "markup": "<script>alert(1)</script> [bold] {x} %s %(a)s",
    "surrogate": "\ufdd0\uffff",
}


class Desk:
    """A repository with nobrakes and three beads in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        for command in (["git", "init", "-q"], ["git", "commit", "-q", "--allow-empty", "-m", "Begin"]):
            subprocess.run(command, cwd=folder, check=True)
        self.ok("init", "--build", "true")
        self.plan = folder.parent / "plan.yaml"
        self.plan.write_text("beads:\n- {id: a, title: A}\n- {id: b, title: B, needs: [a]}\n- {id: c, title: C}\n")
        self.ok("plan", "apply", str(self.plan), "--live")

    def run(self, *arguments: str, stdin: bytes | str = "", env: dict[str, str] | None = None) -> Any:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        if env is None:
            return warm.nobrakes(arguments, self.folder, os.environ, data)
        done = subprocess.run([NOBRAKES, *arguments], cwd=self.folder, input=data, capture_output=True, env=env)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def ok(self, *arguments: str, stdin: bytes | str = "") -> str:
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)
        return str(done.stdout)

    def data(self, *arguments: str) -> Any:
        return json.loads(self.ok(*arguments, "--json"))["data"]

    def error(self, *arguments: str, code: int, stdin: bytes | str = "") -> dict[str, Any]:
        """The error; the graph is as it was before."""
        before = self.data("list"), self.ok("events", "--json")
        place = arguments.index("--") if "--" in arguments else len(arguments)
        as_json = (*arguments[:place], "--json", *arguments[place:])
        found = sound(self.run(*arguments, stdin=stdin), self.run(*as_json, stdin=stdin), code)
        assert (self.data("list"), self.ok("events", "--json")) == before
        return found

    def apply(self, text: bytes | str, code: int = 13, name: str = "plan.yaml") -> str:
        """The message with which a plan is refused."""
        path = self.folder.parent / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
        error = self.error("plan", "apply", str(path), code=code)
        return str(error["message"]) + "\n" + str(error["hint"])


@pytest.fixture(scope="module")
def one_desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("desk") / "repository")


@pytest.fixture
def desk(one_desk: Desk, nobody_touches_the_real_home: Path) -> Desk:
    """Shared: a test that is refused leaves no trace, and that is what these tests show."""
    return one_desk


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("plan.yaml", "beads:\n  - {id: x, title: X\n  - y\n", ["plan.yaml:4"]),
        ("plan.yaml", "beads:\n\t- x\n", ["plan.yaml:2"]),
        ("plan.json", '{"beads": [\n{"id": "x" "title"}\n]}', ["plan.json:2"]),
        ("plan.yaml", "beads: [{id: x, title: X, titel: Y}]", ["titel"]),
        ("plan.yaml", "beds: []", ["beds"]),
        ("plan.yaml", "beads: [{id: x, title: [1, 2]}]", ["title"]),
        ("plan.yaml", "beads: [{id: x, title: X, priority: whenever}]", ["priority"]),
        ("plan.yaml", "beads: [{id: x, title: X, needs_tests: 7}]", ["needs_tests"]),
        ("plan.yaml", "beads: 7", ["beads"]),
        ("plan.yaml", "- 1\n- 2\n", []),
        ("plan.yaml", "just words", []),
        ("plan.yaml", "", []),
        ("plan.yaml", "beads: [{id: x}]", ["title"]),
        ("plan.yaml", "beads: [{id: x, title: X, needs: [nowhere]}]", ["nowhere"]),
        ("plan.yaml", "beads:\n- {id: x, title: X}\n- {id: x, title: Y}\n", ["'x' is used twice", "beads[0]"]),
        ("plan.yaml", "beads: [{id: '../../etc', title: X}]", ["beads[0].id"]),
        ("plan.yaml", "beads: [{id: '--help', title: X}]", ["beads[0].id"]),
        ("plan.yaml", "beads: [{id: x, title: X, id: y}]", ["id"]),
        ("plan.yaml", "beads: !!python/object/apply:os.system ['touch pwned']", []),
        ("plan.yaml", "beads: &b [{id: x, title: X, labels: *b}]", []),
        ("plan.yaml", "[" * 5000, []),
        ("plan.json", "[" * 200000, []),
        ("plan.json", '{"beads": [{"id": "x", "title": "X", "priority": 1e999}]}', ["priority"]),
        ("plan.yaml", b"\xff\xfe\x00b", []),
        ("plan.yaml", b"beads:\n- {id: x, title: 'a\x00b'}", ["plan.yaml:2:20"]),
        ("plan.json", '{"beads": [{"id": "x", "title": "a\\u0000b"}]}', ["title"]),
        ("plan.json", '{"beads": [{"id": "x", "title": "\\ud800"}]}', ["title"]),
        ("plan.yaml", "beads: [{id: x, title: ''}]", ["title"]),
        ("plan.yaml", "beads: [{id: x, title: '  '}]", ["title"]),
    ],
)
def test_a_plan_that_is_wrong_says_where_and_writes_nothing(
    desk: Desk, name: str, text: bytes | str, words: list[str]
) -> None:
    said = desk.apply(text, name=name)
    assert len(said) < 2000 and all(word in said for word in words), said
    assert not (desk.folder / "pwned").exists()


def test_a_circle_is_named_with_the_edge_to_cut(desk: Desk) -> None:
    said = desk.apply(
        "beads:\n- {id: p, title: P, needs: [r]}\n- {id: q, title: Q, needs: [p]}\n- {id: r, title: R, needs: [q]}\n",
        14,
    )
    assert all(bead in said for bead in "pqr") and "->" in said
    assert "cut" in said.lower() or "remove" in said.lower()


def test_a_circle_through_what_is_there(desk: Desk) -> None:
    desk.error("depend", "a", "b", code=14)
    desk.error("depend", "a", "a", code=14)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["plan", "apply", "missing.yaml"], 13),
        (["plan", "apply", "."], 13),
        (["plan", "apply", "/dev/null"], 13),
        (["plan", "apply", "-"], 13),
        (["plan", "apply"], 2),
        (["show", "nowhere"], 16),
        (["show", "nb-\x1b[31m"], 16),
        (["show", "a'; DROP TABLE beads; --"], 16),
        (["edit", "nowhere", "--title", "x"], 16),
        (["cancel", "nowhere"], 16),
        (["depend", "a", "nowhere"], 16),
        (["hold", "nowhere"], 16),
        (["history", "nowhere"], 16),
        (["escalation", "77"], 29),
        (["answer", "77", "yes"], 29),
        (["resolve", "77", "--retry"], 29),
        (["resolve", "77"], 2),
        (["resolve", "77", "--retry", "--cancel"], 2),
        (["escalation", "9" * 40], 2),
        (["escalation", "-1"], 2),
        (["escalation", "x"], 2),
        (["add", ""], 15),
        (["add", " \n "], 15),
        (["add", "T", "-p", "99"], 15),
        (["add", "T", "-p", "x"], 2),
        (["add", "T", "--id", "../x"], 15),
        (["add", "T", "--id", "a"], 15),
        (["add", "T", "--needs", "nowhere"], 16),
        (["defer", "a", "yesteryear"], 2),
        (["set", "doers=-1"], 12),
        (["set", "doers=many"], 12),
        (["set", "dooers=1"], 12),
        (["set", "doers"], 2),
        (["frobnicate"], 2),
        (["list", "--frobnicate"], 2),
        (["agent", "done"], 17),
        (["daemon", "stop"], 24),
        (["reopen", "a"], 17),
    ],
)
def test_a_command_that_is_wrong(desk: Desk, arguments: list[str], code: int) -> None:
    desk.error(*arguments, code=code)


def test_titles_and_texts_of_any_kind_are_kept_as_they_are_and_shown_without_effect(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "repository")
    titles = {name: f"t {text}" if f"t {text}".isprintable() else f"t {name}" for name, text in NASTY.items()}
    for name, text in NASTY.items():
        desk.ok("add", "--id", f"n-{name}", "-d", text, "--", titles[name])
    plan = tmp_path / "nasty.json"
    beads = [{"id": f"p-{name}", "title": titles[name], "description": text} for name, text in NASTY.items()]
    plan.write_text(json.dumps({"beads": beads}))
    desk.ok("plan", "apply", str(plan), "--live")
    for name, text in NASTY.items():
        for way in ("n", "p"):
            shown = desk.data("show", f"{way}-{name}")
            assert (shown["title"], shown["description"].strip()) == (titles[name], text.strip())
    for command in ("list", "board", "status", "ready", "graph", "events", "show n-escapes", "show p-bidi"):
        out = desk.ok(*command.split())
        assert not set(out) & set("\x1b\x07\x9b\r\u202e\u2066"), command
    assert not (desk.folder / "pwned").exists()


@pytest.mark.parametrize("name", ["escapes", "bidi", "newlines"])
def test_a_title_is_one_line_of_text_that_can_be_seen(desk: Desk, name: str) -> None:
    desk.error("add", "--", f"t {NASTY[name]} t", code=15)
    assert "title" in desk.apply(json.dumps({"beads": [{"id": "x", "title": f"t{NASTY[name]}t"}]}), name="plan.json")


def test_a_huge_title_is_refused_or_shown_short(desk: Desk) -> None:
    error = desk.error("add", "x" * 10_000, code=15)
    assert len(error["message"]) < 300
    said = desk.apply(json.dumps({"beads": [{"id": "x", "title": "y" * 10_000}]}), 13, "plan.json")
    assert "title" in said and len(said) < 600


def test_a_plan_of_no_beads_changes_nothing(desk: Desk) -> None:
    before = desk.data("list")
    path = desk.folder.parent / "none.yaml"
    path.write_text("beads: []\n")
    assert "0 new beads" in desk.ok("plan", "apply", str(path))
    assert desk.data("list") == before


def test_a_plan_from_standard_input(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "repository")
    desk.ok("plan", "apply", "-", "--live", stdin="beads: [{id: s, title: From stdin}]")
    assert desk.data("show", "s")["title"] == "From stdin"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("main = \n", ["config.toml"]),
        ("mian = 'x'\n", ["mian"]),
        ("[limits]\ndooers = 3\n", ["limits.dooers"]),
        ("[limits]\ndoers = 'three'\n", ["limits.doers"]),
        ("[limits]\ndoers = -3\n", ["limits.doers"]),
        ("[limits]\nidle_minutes = 0\n", ["limits.idle_minutes"]),
        ("[limits]\nidle_minutes = nan\n", ["limits.idle_minutes"]),
        ("[limits]\nagent_minutes = inf\n", ["limits.agent_minutes"]),
        ("checks = 3\n", ["checks"]),
        ("[[checks]]\nname = 'a b/c'\ncommand = 'true'\n", ["checks.0.name"]),
        ("[[checks]]\nname = 'a'\ncommand = ''\n", ["checks.0.command"]),
        ("[[checks]]\nname = 'a'\ncommand = 'true'\n[[checks]]\nname = 'a'\ncommand = 'true'\n", ["'a'"]),
        ("main = '--upload-pack=x'\n", ["main"]),
        ("main = ''\n", ["main"]),
        ('main = "a\\nb"\n', ["main"]),
        (b"\xff\xfe", ["config.toml"]),
    ],
)
def test_a_config_that_is_wrong_names_the_key(tmp_path: Path, text: bytes | str, words: list[str]) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    for command in (["git", "init", "-q"], ["git", "commit", "-q", "--allow-empty", "-m", "Begin"], [NOBRAKES, "init"]):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    path = folder / ".nobrakes" / "config.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run([NOBRAKES, *arguments], cwd=folder, capture_output=True, text=True, timeout=60)

    for arguments in (["run"], ["config"]):
        error = sound(run(*arguments), run(*arguments, "--json"), 12)
        assert all(word in error["message"] for word in words), error["message"]
