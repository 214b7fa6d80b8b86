"""Names of files that steer agents, git and tools by themselves: protected anywhere, whatever the settings. Pure.

1. Instructions and settings of agents and git are protected even in test fixtures. Names for our own agents are in
   agents.known.steering. Case is ignored, except for pages below the top: `docs/agents.md` is no `AGENTS.md`.
2. What an editor, shell or tool starts when a person opens the folder needs a person; package settings of an editor
   only if they name a program.
3. `@path` imports of agents' instructions, and what git's settings and hooks name, count as named.
"""

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from ...globs import folded as folded_globs
from ...globs import matches
from ...paths import GIT_RULES
from ..contract import Check
from ..test_paths import SETTINGS, taken_up

LOCK_FILES = (
    "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "deno.lock",
    "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock", "pylock.toml", "Cargo.lock", "go.sum", "Gemfile.lock",
    "composer.lock", "mix.lock", "pubspec.lock", "packages.lock.json", "gradle.lockfile", "flake.lock",
    "Package.resolved", "Podfile.lock",
)  # fmt: skip
"""Files with installed versions of others' code."""

DEEPEST = 4
MAX_BASES = 64
"""Folders in which a word of a command may stand for a file."""
MAX_NAMED = 20_000
MAX_LINKS = 40
"""Maximal paths followed along links, and links of each, as in the system."""
_VARIABLE = re.compile(r"\$(?:\w+|\{\w+\}|\([^()]*\))(?=/)")
"""`$PWD/`, `$(git rev-parse --show-toplevel)/`: the rest is relative to the command's folder."""

_LOADS = re.compile(
    r"(?:^|\s)(?:-r|-p|--(?:require|import|loader|experimental-loader|file|setupFiles\w*|globalSetup|bootstrap))[= ]\s*"
    r"['\"]?(?:\./)?([\w./@-]+)"
)
"""Options whose value is loaded before the tests."""
_RUNNERS = re.compile(
    r"\b(?:mocha|node|ts-node|tsx|jest|vitest|ava|tape|tap|nyc|c8|rspec|ruby|phpunit|pytest|py\.test)\b"
)

_FILES = ("Makefile", "makefile", "GNUmakefile", "package.json", "justfile", "tox.ini", "Taskfile.yml", "Taskfile.yaml")
"""Files in a check's folder that define what its command starts."""


# A word of a command that is the path of a file names it, and so do the value of `-m` and commands within a word (`sh
# -c "…"`), whether the file is there or not. What a command starts by a name is looked up one level deep: targets of
# make and just, scripts of package.json, environments of tox, what a Makefile includes. Every folder on the way is
# named too, since a link in its place leads the command elsewhere. A folder or a pattern names none of its files.
def sources(checks: Sequence[Check]) -> tuple[str, ...]:
    return _within(_folders(checks))


@lru_cache(maxsize=16)
def _within(folders: tuple[str, ...]) -> tuple[str, ...]:
    names = dict.fromkeys((*_FILES, *SETTINGS))
    return tuple(posixpath.join(folder, name) for folder in folders for name in names)


def named(setup: str, checks: Sequence[Check], texts: Mapping[str, str] | None = None) -> frozenset[str]:
    """Paths that the commands name, existing or not; `texts`: of `sources`."""
    known = texts or {}
    found = {*_taken_up(checks, known), *(check.directory for check in checks)}
    for line, directory in _commands(setup, checks, known):
        found.update(_command_paths(line, (directory,)))
    return frozenset(one for path in found for one in _on_the_way(path))


def loaded(setup: str, checks: Sequence[Check], texts: Mapping[str, str]) -> frozenset[str]:
    found = set(_taken_up(checks, texts))
    for line, directory in _commands(setup, checks, texts):
        parts = [part for part in re.split(r"&&|\|\||[;|&\n]", line) if _RUNNERS.search(part)]
        for word in (word for part in parts for word in _LOADS.findall(part)):
            found.update(taken_up(posixpath.join(directory, "package.json"), f'"mocha":{{"require":"./{word}"}}'))
            module = word.replace(".", "/")
            found.update(_below([directory], f"{module}.py"))
    return frozenset(found)


def _commands(setup: str, checks: Sequence[Check], texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield setup, ""
    yield from ((check.command, check.directory) for check in checks)
    commands = [setup, *(check.command for check in checks)]
    for folder in _folders(checks) if texts else ():  # the names are many
        for name in _FILES:
            yield from ((line, folder) for line in _lines(name, texts.get(posixpath.join(folder, name), ""), commands))


def _taken_up(checks: Sequence[Check], texts: Mapping[str, str]) -> Iterator[str]:
    for folder in _folders(checks) if texts else ():
        for name in SETTINGS:
            path = posixpath.join(folder, name)
            if text := texts.get(path, ""):
                yield from taken_up(path, text)


def along_links(
    named: Collection[str], paths: Collection[str], link: Callable[[str], str | None]
) -> tuple[frozenset[str], tuple[str, ...]]:
    """(targets of the tree's links on the way to these paths, folders at their ends). `link`: a target; None: none."""
    found: set[str] = set()
    ends: dict[str, None] = {}
    known: dict[str, str | None] = {}
    left = [(path, 0) for path in named]
    while left and len(found) < MAX_NAMED:
        path, links = left.pop()
        for one in _on_the_way(path):
            if one in paths and one not in known:
                known[one] = link(one)
            end = posixpath.normpath(posixpath.join(posixpath.dirname(one), known.get(one) or "/"))
            if end == "." or end.startswith(("/", "..")):
                continue
            led = end + path[len(one) :]
            if led not in found and links < MAX_LINKS:
                left.append((led, links + 1))
            if one == path and end not in paths:
                ends[end] = None
        found.update(_on_the_way(path))
    return frozenset(found), tuple(ends)


def _on_the_way(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def _folders(checks: Sequence[Check]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(("", *(check.directory for check in checks))))


def _lines(name: str, text: str, commands: Sequence[str]) -> Iterator[str]:
    if not text:
        return
    if name == "package.json":
        try:
            scripts = json.loads(text).get("scripts", {})
        except (ValueError, AttributeError, RecursionError):
            return
        if isinstance(scripts, dict):
            yield from (line for line in scripts.values() if isinstance(line, str))
    elif name.startswith(("tox", "Taskfile")):
        yield from (line.strip().removeprefix("- ") for line in text.splitlines() if line[:1].isspace())
        yield from (line.partition("=")[2] for line in text.splitlines() if "=" in line)
    else:
        yield from _recipes(text, commands)


def _recipes(text: str, commands: Sequence[str]) -> Iterator[str]:
    lines = text.replace("\\\n", " ").splitlines()
    included = (re.match(r"\s*-?(?:s?include|import)\??\s+(.*)", line) for line in lines)
    yield from (found[1] for found in included if found)
    wanted = {word for command in commands for word in _words(command)}
    bare = any({"make", "gmake", "just"} & set(_words(command)) for command in commands)
    needed = {
        word
        for line in lines
        if (found := re.match(r"([\w.-]+)\s*:(?!=)([^=]*)$", line)) and (found[1] in wanted or bare)
        for word in found[2].split()
    }
    target = ""
    for line in lines:
        if found := re.match(r"([^\s:=#][^:=#]*)::?(?!=)", line):
            target = found[1].split()[0]
        elif line[:1].isspace() and (target in wanted or target in needed):
            yield line.strip().lstrip("@-+")


def _command_paths(command: str, bases: Sequence[str], depth: int = 0) -> Iterator[str]:
    words = _words(command)
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if before == "cd":
            yield from _below(bases, word)
            # a `cd` may hold for what comes after it, or not; the last ones come first
            new = (posixpath.join(base, word) for base in bases[: MAX_BASES // 2])
            bases = tuple(dict.fromkeys((bases[0], *new, *bases)))[:MAX_BASES]
            continue
        if any(c.isspace() for c in word) and depth < DEEPEST:
            yield from _command_paths(word, bases, depth + 1)
            continue
        for text in _paths(word):
            yield from _below(bases, text)
        if before == "-m":
            module = word.replace(".", "/")
            for text in (f"{module}.py", f"{module}/__main__.py", f"{module}/__init__.py"):
                yield from _below(bases, text)


def _words(command: str) -> list[str]:
    command = _VARIABLE.sub(".", command)
    try:
        reader = shlex.shlex(command, posix=True, punctuation_chars=True)
        reader.whitespace_split = True
        reader.commenters = ""
        return list(reader)
    except ValueError:  # a quote that is never closed
        return command.split()


def _paths(word: str) -> Iterator[str]:
    yield word
    if "=" in word:
        yield word.partition("=")[2]
    if word.startswith("-") and not word.startswith("--") and len(word) > 2:
        yield word[2:]


def _below(bases: Sequence[str], text: str) -> Iterator[str]:
    if not text or text.startswith(("/", "-", "~")):
        return
    for base in bases:
        path = posixpath.normpath(posixpath.join(base, text))
        if path != "." and not path.startswith(("../", "/")) and path != "..":
            yield path


OTHER_AGENTS = (
    "AGENT.md", "AGENTS.md", "AGENTS.override.md", "CRUSH.md", "QWEN.md", "WARP.md", "replit.md",
    "SKILL.md", "**/.agents/**", "**/.aider*", "**/.amazonq/**", "**/.amp/**", "**/.augment/**", ".augment-guidelines",
    "**/.cline/**", "**/.clinerules/**", "**/.codeium/**", "**/.copilot/**", "**/.continue/**", "**/.crush/**",
    ".crush.json", ".crushrc", "crush.json", "crushrc", "**/.cursor/**", "**/.factory/**", "**/.goose/**",
    ".goosehints", "**/.junie/**", "**/.kilo/**", "**/.kilocode/**", "kilo.json*", ".kilocodemodes", "**/.kiro/**",
    "**/.mcp/**", ".mcp.json", "**/.opencode/**", "opencode.json*", "**/.openhands/**", "**/.pi/**",
    "**/.qwen/**", "**/.qodo/**", "**/.roo/**", ".roomodes",
    ".*rules", ".roorules*", "*.mdc", "*.instructions.md", "*.prompt.md", "*.chatmode.md",
    "**/.trae/**", "**/.vibe/**", "**/.windsurf/**", "copilot-instructions.md",
)  # fmt: skip
GIT = (
    *GIT_RULES, ".gitconfig", "**/.githooks/**", "**/.git-hooks/**", "**/.husky/**",
)  # fmt: skip
BY_THEMSELVES = (
    "**/.vscode/**", "*.code-workspace", "**/.idea/**", "**/.run/**", "*.run.xml", "**/.fleet/**", "**/.zed/**",
    "**/.nova/**", "**/.devcontainer/**", ".devcontainer.json", "*.sublime-project", "**/.externalToolBuilders/**",
    ".exrc", ".vimrc", ".nvimrc", ".nvim.lua", ".lvimrc", ".local.vimrc", ".dir-locals.el", ".dir-locals-2.el",
    ".projectile", ".ycm_extra_conf.py", "**/.helix/**", "**/.theia/**",
    ".envrc", "**/.direnv/**", ".autoenv*", "mise.toml", ".mise.toml", "mise.*.toml", ".mise.*.toml", "**/.mise/**",
    "**/.config/mise/**", "**/.config/mise.toml", "Vagrantfile",
    ".gdbinit", ".lldbinit", ".Rprofile", ".Renviron", ".irbrc", ".pryrc", ".rdbgrc", ".byebugrc", ".pdbrc",
    ".pythonrc*", ".ghci", ".iex.exs", ".ocamlinit", ".erlang", ".octaverc", ".perldb", ".utoprc", ".rvmrc",
    ".lazy.lua",
    ".gitpod.yml", "**/.gitpod/**", ".replit", "replit.nix", ".stackblitzrc", "**/.codesandbox/**",
    ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "prek.toml", "lefthook.*", ".lefthook.*", "lefthook-local.*",
    ".lefthook-local.*", "**/.lefthook/**", "**/.lefthook-local/**", ".overcommit.yml", "**/.overcommit/**",
    ".simple-git-hooks.*", "simple-git-hooks.*", "captainhook.json", "grumphp.yml*", ".commitlintrc*",
    "commitlint.config.*", ".lintstagedrc*", "lint-staged.config.*", ".huskyrc*", "husky.config.*", ".justfile",
)  # fmt: skip
BY_ENVRC = ("flake.nix", "shell.nix", "devenv.nix", "devbox.json")
"""Started by a shell only if the repository has an `.envrc`."""
KNOWN_FOLDERS = frozenset((
    ".bundle", ".buildkite", ".cargo", ".changes", ".changeset", ".chglog", ".ci", ".circleci", ".cloudbuild",
    ".config", ".deploy", ".docker", ".ebextensions", ".expo", ".fleet", ".forgejo", ".git", ".gitea", ".github",
    ".gitlab", ".helix", ".helm", ".idea", ".jenkins", ".k8s", ".kamal", ".maestro", ".mvn", ".nobrakes", ".nova",
    ".openapi-generator", ".platform", ".reuse", ".run", ".semgrep", ".settings", ".snapshots", ".sqlx",
    ".storybook", ".teamcity", ".terraform", ".theia", ".tx", ".vitepress", ".vscode", ".vuepress", ".well-known",
    ".woodpecker", ".yarn", ".zed",
))  # fmt: skip
"""Hidden folders of tools other than agents; some files there have globs of their own."""
_QUIET = re.compile(r"[^/].*/\.vscode/(?:settings\.json|extensions\.json|[^/]+\.code-snippets)")
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "QWEN.md", "AGENT.md")
"""Instructions that may include other files; searched at the top, then wherever one leads."""
MAX_READ = 50
_TAKEN_UP = re.compile(r"(?:^|[\s(])@((?:\./|\.\./)?[\w.-]+(?:/[\w.-]+)*)", re.MULTILINE)


def in_unknown_folder(path: str) -> bool:
    """A hidden folder of an unknown tool may steer an agent."""
    return any(part.startswith(".") and part not in KNOWN_FOLDERS for part in path.casefold().split("/")[:-1])


def starts_by_itself(path: str, paths: Collection[str]) -> bool:
    """Whether a tool runs this file when a person opens a folder of this tree."""
    folded = path.casefold()
    if matches(folded, BY_ENVRC):
        return any(one.rpartition("/")[2] == ".envrc" for one in paths)
    return matches(folded, folded_globs(BY_THEMSELVES)) and _QUIET.fullmatch(folded) is None


def steering_taken_up(paths: Collection[str], read: Callable[[str], str]) -> frozenset[str]:
    """The files that instructions at the top include, recursively."""
    left = [name for name in INSTRUCTIONS if name in paths]
    found: dict[str, None] = {}
    while left and len(found) < MAX_READ:
        path = left.pop()
        for word in _TAKEN_UP.findall(read(path)):
            one = posixpath.normpath(posixpath.join(posixpath.dirname(path), word.rstrip(".")))
            if one in paths and one not in found:
                found[one] = None
                left.append(one)
    return frozenset(found)


@lru_cache(maxsize=8)
def plain(globs: tuple[str, ...]) -> tuple[str, ...]:
    bare = (glob.removeprefix("**/").removesuffix("/**") for glob in globs)
    return tuple(dict.fromkeys(name for name in bare if not set(name) & set("*?/")))


def below(folders: Iterable[str]) -> Iterator[str]:
    return (f"/{folder}/**" for folder in folders if folder)
