"""What an agent's tool call may do: the decision behind the guard.

1. Files: only inside the workspace, never `.nobrakes` or `.git`, and as the role may (checks.policy.ownership).
2. Commands: git on the own branch only, and no writing past rule 1 by redirection or usual tools. The Shaper, beside
   the person's own files, only reads.
3. Reading and unknown calls pass: the tree is judged afterwards.
"""

import os

from nobrakes.agents.shell import KEYWORDS, SHELLS, WRAPPERS, Call, calls, patched, pattern_of, scripts
from nobrakes.checks.policy.ownership import ONLY_TESTS
from nobrakes.checks.policy.ownership import why_not as why_not_path

TYPE_CHECKING = False  # importing `typing` or `collections` would cost more than deciding
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


# Which git commands an agent may use. The private clone has no remote and no other branch, so these rules only spare an
# agent a useless attempt. The Shaper has no clone: it looks at the human's own repository, and there it only reads.
_WITH_VALUE = frozenset(("-C", "-c", "--exec-path", "--namespace", "--config-env", "--super-prefix"))
_ELSEWHERE = ("--git-dir", "--work-tree")
_HARMLESS_SETTINGS = ("user.", "color.", "advice.", "core.pager=", "core.quotepath=", "commit.gpgsign=", "log.")

_NEVER = {
    "push": "nobrakes merges your work; there is no remote to push to",
    "pull": "there is no remote; nobrakes keeps your branch up to date",
    "fetch": "there is no remote",
    "merge": "nobrakes merges your work",
    "rebase": "nobrakes rebases your work",
    "submodule": "agents may not add, move or remove submodules",
    "filter-branch": "agents may not rewrite history",
    "filter-repo": "agents may not rewrite history",
    "replace": "agents may not rewrite history",
    "update-ref": "agents may move refs only by committing",
    "symbolic-ref": "agents must stay on their branch",
    "bisect": "the command leaves your branch; read `git log` instead",
}
_MAY_END = frozenset(("merge", "rebase"))
_READS = {
    "worktree": ("list",),
    "remote": ("", "-v", "--verbose", "show", "get-url"),
    "config": ("--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"),
    "reflog": ("", "show", "exists", "HEAD"),
}
_READS_WHY = {
    "worktree": "you work in this one folder",
    "remote": "there is no remote, and agents may not add one",
    "config": "agents may not change git's configuration",
    "reflog": "agents may not change the reflog",
}
_BRANCH_LISTS = frozenset(
    ("-a", "--all", "-r", "--remotes", "-v", "-vv", "--verbose", "-l", "--list", "--show-current", "--contains",
     "--no-contains", "--merged", "--no-merged", "--points-at", "--format", "--sort", "--column", "--no-column",
     "-q", "--color", "--no-color", "--abbrev", "-i", "--ignore-case")
)  # fmt: skip

_ONLY_READS = frozenset(
    ("", "annotate", "blame", "branch", "cat-file", "check-ignore", "config", "count-objects", "describe", "diff",
     "diff-tree", "for-each-ref", "grep", "help", "log", "ls-files", "ls-tree", "merge-base", "name-rev", "reflog",
     "remote", "rev-list", "rev-parse", "shortlog", "show", "show-ref", "status", "version", "whatchanged", "worktree")
)  # fmt: skip


def subcommand(words: list[str]) -> tuple[str, list[str]] | str:
    """The subcommand and its arguments after `git`, or why its options are refused."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        option, _, value = words[place].partition("=")
        if option in _ELSEWHERE:
            return "agents may not work in another repository or work tree"
        if option in _WITH_VALUE and not value:
            place += 1
            value = words[place] if place < len(words) else ""
        if option == "-c" and not value.lower().startswith(_HARMLESS_SETTINGS):
            return f"agents may not change git's configuration ({value})"
        place += 1
    return (words[place], words[place + 1 :]) if place < len(words) else ("", [])


def why_not(words: list[str], branch: str, is_path: "Callable[[str], bool]") -> str | None:
    """Why `git WORDS` is refused. `is_path(word)`: whether a word names a file in the work tree."""
    found = subcommand(words)
    if isinstance(found, str):
        return found
    name, rest = found
    if name in _NEVER:
        ends = name in _MAY_END and rest[:1] in (["--abort"], ["--quit"])
        return None if ends else f"git {name}: {_NEVER[name]}"
    if name in _READS:
        return None if (rest[0] if rest else "") in _READS[name] else f"git {name}: {_READS_WHY[name]}"
    rule = {"checkout": _checkout, "switch": _switch, "branch": _branch, "reset": _reset}.get(name)
    return rule(rest, branch, is_path) if rule else None


def why_not_reading(words: list[str]) -> str | None:
    """Why `git WORDS` is refused for reading only."""
    found = subcommand(words)
    if isinstance(found, str):
        return found
    name, rest = found
    if name not in _ONLY_READS:
        return f"git {name}: the Shaper only reads"
    if any(word.startswith("--output") for word in rest):
        return f"git {name} --output: the Shaper changes no file"
    return why_not(words, "", lambda word: False)


def _plain(words: list[str]) -> list[str]:
    return [word for word in words if not word.startswith("-")]


def _stay(what: str, branch: str) -> str:
    return f"{what}: you stay on your branch{f' {branch}' if branch else ''}"


def _checkout(rest: list[str], branch: str, is_path: "Callable[[str], bool]") -> str | None:
    before = rest[: rest.index("--")] if "--" in rest else rest
    if any(
        word[:2] in ("-b", "-B", "-t", "-d") or word.startswith(("--orphan", "--detach", "--track")) for word in before
    ):
        return _stay("git checkout", branch)
    if "--" in rest[: len(before) + 1] and len(rest) > len(before) + 1:
        return None
    targets = _plain(before) + [word for word in before if word == "-"]
    if len(targets) == 1 and targets[0] not in (branch, "HEAD", ".") and not is_path(targets[0]):
        return _stay(f"git checkout {targets[0]}", branch)
    return None


def _switch(rest: list[str], branch: str, is_path: "Callable[[str], bool]") -> str | None:
    return None if branch and rest == [branch] else _stay("git switch", branch)


def _branch(rest: list[str], branch: str, is_path: "Callable[[str], bool]") -> str | None:
    options = [word.partition("=")[0] for word in rest if word.startswith("-")]
    if any(option not in _BRANCH_LISTS for option in options) or (_plain(rest) and not options):
        return "git branch: only nobrakes may create and remove branches"
    return None


def _reset(rest: list[str], branch: str, is_path: "Callable[[str], bool]") -> str | None:
    before = rest[: rest.index("--")] if "--" in rest else rest
    target = next(iter(_plain(before)), "HEAD")
    if any(word in ("--hard", "--keep", "--merge") for word in before):
        return None if target in ("HEAD", "@") else f"git reset to {target}: agents must keep their commits"
    own = target in ("HEAD", "@") or target.startswith(("HEAD~", "HEAD^", "@~", "@^"))
    return None if own or is_path(target) else f"git reset to {target}: you stay on your own commits"


ROLES = ("shaper", "test_writer", "doer")
READERS = frozenset(
    ("Read", "Glob", "Grep", "LS", "NotebookRead", "TodoWrite", "TodoRead", "WebFetch", "WebSearch", "BashOutput",
     "view_image", "update_plan",  # Codex
     "read_file", "read_many_files", "list_directory", "glob", "grep_search", "search_file_content")  # Gemini
)  # fmt: skip
PATCHERS = frozenset(("apply_patch", "applypatch"))
WRITERS = frozenset(
    ("Bash", "Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch", "run_shell_command", "write_file", "replace")
)
REFUSED_TOOLS = {
    "EnterWorktree": "you work in this one folder",
    "ExitWorktree": "you work in this one folder",
    "SendMessage": "agents do not talk to each other; use `nobrakes agent`",
    "ListAgents": "agents do not talk to each other; use `nobrakes agent`",
    "save_memory": "write your lessons into your hand-over",
}
SHAPER = "the Shaper changes no file; propose beads instead"
_BEFORE = WRAPPERS | KEYWORDS | {"sudo", "xargs", "find", "parallel", "watch"}
_REMOVES = frozenset(("rm", "mv", "touch", "chmod", "chown", "ln", "truncate", "unlink", "shred", "rsync", "install"))

NEEDED = ("NOBRAKES_ROLE", "NOBRAKES_WORKSPACE", "NOBRAKES_TESTS", "NOBRAKES_GATES")
MORE = {name: f"NOBRAKES_{name.upper()}" for name in ("scaffolding", "branch", "home", "handoff", "ask_first")}


class Place:
    """The caller and its workspace, by the environment. Raises ValueError."""

    __slots__ = ("ask_first", "branch", "gates", "handoff", "home", "role", "scaffolding", "tests", "workspace")

    def __init__(self, role: str, workspace: str, tests: str, gates: str, **more: str) -> None:
        if role not in ROLES or not os.path.isabs(workspace):
            raise ValueError("the environment does not name the agent's role and workspace")
        self.role = role
        self.workspace = os.path.realpath(workspace)
        self.tests = tests.split("\n") if tests else []
        self.gates = gates.split("\n") if gates else []
        self.scaffolding = bool(more.get("scaffolding"))
        self.branch = more.get("branch", "")
        self.ask_first = more["ask_first"].split("\n") if more.get("ask_first") else []
        self.home = os.path.realpath(more["home"]) if more.get("home") else ""
        self.handoff = os.path.realpath(more["handoff"]) if more.get("handoff") else ""

    @classmethod
    def of(cls, env: "Mapping[str, str]") -> "Place":
        """The place in the NOBRAKES_ variables."""
        missing = [name for name in NEEDED if name not in env]
        if missing:
            raise ValueError(f"{', '.join(missing)} not set")
        more = {name: env.get(variable, "") for name, variable in MORE.items()}
        return cls(*(env[name] for name in NEEDED), **more)


def may_write(path: str, place: Place) -> str | None:
    return why_not_path(place.role, path, place.tests, place.gates, place.scaffolding)


def _inside(path: str, folder: str) -> str | None:
    return path[len(folder) + 1 :] if path.startswith(folder + "/") else None


def why_not_file(path: str, cwd: str, place: Place) -> str | None:
    """Why a tool may not write the file."""
    if place.role == "shaper":
        return SHAPER
    full = os.path.realpath(os.path.join(cwd, os.path.expanduser(path)))
    if full == place.handoff:
        return None
    inside = _inside(full, place.workspace)
    why = "the file is outside the workspace" if inside is None else may_write(inside, place)
    return f"{path}: {why}" if why else None


def why_not_patch(text: str, cwd: str, place: Place) -> str | None:
    """Why a patch may not be applied; ValueError if it names no file."""
    found = patched(text)
    if not found:
        raise ValueError("a patch without files")
    reasons = [why_not_file(path, cwd, place) for path in found]
    return next((why for why in reasons if why is not None), None)


def _why_not_target(word: str, cwd: str, place: Place, strict: bool) -> str | None:
    """Why a command may not write to a word's target. Outside the workspace only nobrakes' own files are closed."""
    if "$" in word or word in ("", "-") or word.startswith("/dev/"):
        return None
    full = os.path.realpath(os.path.join(cwd, os.path.expanduser(word)))
    inside = _inside(full, place.workspace)
    if inside is not None:
        why = SHAPER if place.role == "shaper" else may_write(inside, place)
        if why == ONLY_TESTS and not strict:
            return None  # caches and build products are removed and touched by everybody
        return f"{word}: {why}" if why else None
    if full == place.handoff or not place.home or (full != place.home and _inside(full, place.home) is None):
        return None
    return f"{word}: only nobrakes changes .nobrakes/" if full != place.workspace else None


def why_not_command(text: str, cwd: str, place: Place, depth: int = 0) -> str | None:
    if depth > 8:
        return "the commands are nested too deeply to check"
    for call in calls(text):
        if call.words[:1] == ["cd"] and len(call.words) == 2 and "$" not in call.words[1]:
            cwd = os.path.join(cwd, os.path.expanduser(call.words[1]))
        why = _why_not_call(call, cwd, place, depth)
        if why is not None:
            return why
    return None


def _why_not_call(call: Call, cwd: str, place: Place, depth: int) -> str | None:
    words = list(call.words)
    while words and "=" in words[0] and words[0].partition("=")[0].isidentifier():
        if words[0].startswith(("GIT_DIR=", "GIT_WORK_TREE=", "GIT_CONFIG", "GIT_INDEX_FILE=", "GIT_OBJECT_")):
            return f"{words[0].partition('=')[0]}: agents may not use another repository or configuration"
        words.pop(0)
    programs = [os.path.basename(word) for word in words]
    first = 0
    if programs and programs[0] in _BEFORE:
        known = ("git", "eval", *SHELLS, *_REMOVES, *PATCHERS, "tee", "cp", "sed", "dd")
        first = next((i for i, program in enumerate(programs) if program in known), 0)
    program = programs[first] if programs else ""
    rest = words[first + 1 :]
    for text in scripts(program, rest, call.documents):
        why = why_not_command(text, cwd, place, depth + 1)
        if why is not None:
            return why
    if program in PATCHERS:
        why = why_not_patch("\n".join([*rest, *call.documents]), cwd, place)
        if why is not None:
            return why
    if program == "git":
        if place.role == "shaper":
            why = why_not_reading(rest)
        else:
            why = why_not(rest, place.branch, lambda word: os.path.lexists(os.path.join(cwd, word)))
        if why is not None:
            return why
    for word, strict in [(word, True) for word in call.writes] + _targets(program, rest):
        why = _why_not_target(word, cwd, place, strict)
        if why is not None:
            return why
    return None


def _targets(program: str, rest: list[str]) -> list[tuple[str, bool]]:
    plain = [word for word in rest if not word.startswith("-")]
    if program in _REMOVES:
        return [(word, False) for word in plain]
    if program == "tee":
        return [(word, True) for word in plain]
    if program == "cp":
        return [(word, True) for word in plain[-1:]]
    if program == "dd":
        return [(word[3:], True) for word in plain if word.startswith("of=")]
    if program == "sed" and any(word.startswith(("-i", "--in-place")) or word == "-ni" for word in rest):
        return [(word, True) for word in plain[0 if "-e" in rest or "-f" in rest else 1 :]]
    return []


def decide(call: object, place: object) -> str | None:
    """Why the tool call (a hook's JSON) is refused; ValueError for an invalid call."""
    if not isinstance(call, dict) or not isinstance(place, Place):
        raise ValueError("no tool call")
    tool, given, cwd = call.get("tool_name"), call.get("tool_input"), call.get("cwd", place.workspace)
    if not isinstance(tool, str) or not isinstance(given, dict) or not isinstance(cwd, str):
        raise ValueError("a tool call without name, input or folder")
    if tool in REFUSED_TOOLS:
        return f"{tool}: {REFUSED_TOOLS[tool]}"
    if tool in READERS:
        return None
    paths = [_text(given, key) for key in ("file_path", "notebook_path", "path") if key in given]
    commands = [_text(given, key) for key in ("command",) if key in given]
    if tool in WRITERS and not paths + commands:
        raise ValueError(f"{tool} has no task")
    if tool in PATCHERS:
        return why_not_patch("".join(commands), cwd, place)
    if given.get("dir_path"):  # where Gemini runs its command
        cwd = os.path.join(cwd, _text(given, "dir_path"))
    reasons = [why_not_file(path, cwd, place) for path in paths]
    reasons += [why_not_command(command, cwd, place) for command in commands]
    return next((why for why in reasons if why is not None), None)


def asks_first(call: object, place: Place) -> "tuple[str, str] | None":
    """(command, pattern) if a person has to approve the call first."""
    if not place.ask_first or not isinstance(call, dict) or call.get("tool_name") in PATCHERS:
        return None
    given = call.get("tool_input")
    if not isinstance(given, dict) or "command" not in given:
        return None
    command = _text(given, "command")
    pattern = pattern_of(command, place.ask_first)
    return (command, pattern) if pattern else None


def _text(given: "Mapping[str, object]", key: str) -> str:
    value = given[key]
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(f"{key} is not text")
    return value
