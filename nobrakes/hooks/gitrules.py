"""Which git commands an agent may use: those that work on its own branch. Everything else is nobrakes' work.

The private clone has no remote and no other branch, so these rules only spare an agent a useless attempt. The Shaper
has no clone: it looks at the human's own repository, and there it only reads.
"""

TYPE_CHECKING = False  # importing `typing` or `collections` would cost more than deciding
if TYPE_CHECKING:
    from collections.abc import Callable

_WITH_VALUE = frozenset(("-C", "-c", "--exec-path", "--namespace", "--config-env", "--super-prefix"))
_ELSEWHERE = ("--git-dir", "--work-tree")
_HARMLESS_SETTINGS = ("user.", "color.", "advice.", "core.pager=", "core.quotepath=", "commit.gpgsign=", "log.")

_NEVER = {
    "push": "nobrakes lands your work; there is nowhere to push",
    "pull": "there is no remote; nobrakes keeps your branch up to date",
    "fetch": "there is no remote",
    "merge": "nobrakes merges your work",
    "rebase": "nobrakes rebases your work",
    "submodule": "submodules are not added, moved or removed by agents",
    "filter-branch": "history is not rewritten",
    "filter-repo": "history is not rewritten",
    "replace": "history is not rewritten",
    "update-ref": "refs are moved by committing only",
    "symbolic-ref": "you stay on your branch",
    "bisect": "it leaves your branch; read `git log` instead",
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
    "remote": "there is no remote, and there shall be none",
    "config": "git's configuration is not yours to change",
    "reflog": "the reflog is kept",
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
    """The subcommand and its arguments in the words after `git`, or why the options before it are refused."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        option, _, value = words[place].partition("=")
        if option in _ELSEWHERE:
            return "another repository or work tree is not your work"
        if option in _WITH_VALUE and not value:
            place += 1
            value = words[place] if place < len(words) else ""
        if option == "-c" and not value.lower().startswith(_HARMLESS_SETTINGS):
            return f"git's configuration is not yours to change ({value})"
        place += 1
    return (words[place], words[place + 1 :]) if place < len(words) else ("", [])


def why_not(words: list[str], branch: str, is_path: "Callable[[str], bool]") -> str | None:
    """Why `git WORDS` is refused, or None. `is_path(word)` tells whether a word names a file in the work tree."""
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
    """Why `git WORDS` is refused to who only reads, or None."""
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
        return "git branch: branches are made and removed by nobrakes only"
    return None


def _reset(rest: list[str], branch: str, is_path: "Callable[[str], bool]") -> str | None:
    before = rest[: rest.index("--")] if "--" in rest else rest
    target = next(iter(_plain(before)), "HEAD")
    if any(word in ("--hard", "--keep", "--merge") for word in before):
        return None if target in ("HEAD", "@") else f"git reset to {target}: your commits are kept"
    own = target in ("HEAD", "@") or target.startswith(("HEAD~", "HEAD^", "@~", "@^"))
    return None if own or is_path(target) else f"git reset to {target}: you stay on your own commits"
