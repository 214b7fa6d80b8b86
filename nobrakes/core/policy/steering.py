"""Names of what steers agents, git and tools by itself: protected wherever it lies, whatever the settings say. Pure.

1. Instructions and settings of agents, and of git, are protected also among the fixtures of tests. Those of the agents
   that nobrakes starts come from their adapters (agents.registry.steering); here are the others.
   Their names are compared without case, but for pages below the top: `docs/agents.md` is no `AGENTS.md`.
2. Of what an editor, a shell or a tool starts by itself when a person opens the folder, a person is asked; of a
   package's own settings of an editor only where they name a program.
3. What instructions of agents take up by `@path`, and what git's own settings and hooks name, counts as named.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache

from ..globs import folded as folded_globs
from ..globs import matches
from .usual_protected import GIT_RULES

OTHER_AGENTS = (
    "AGENT.md", "AGENTS.md", "AGENTS.override.md", "CRUSH.md", "QWEN.md", "WARP.md", "replit.md",
    "SKILL.md", "**/.agents/**", "**/.aider*", "**/.amazonq/**", "**/.amp/**", "**/.augment/**", ".augment-guidelines",
    "**/.cline/**", "**/.clinerules/**", "**/.codeium/**", "**/.continue/**", ".continuerules", "**/.crush/**",
    ".crush.json", "crush.json", "**/.cursor/**", ".cursorrules", "**/.factory/**", "**/.goose/**", ".goosehints",
    "**/.junie/**", "**/.kilocode/**", ".kilocodemodes", "**/.kiro/**", "**/.mcp/**", ".mcp.json",
    "**/.opencode/**", "opencode.json*", "**/.openhands/**", "**/.qwen/**", "**/.qodo/**", "**/.roo/**", ".roomodes",
    ".roorules*", ".rules", "**/.trae/**", "**/.windsurf/**", ".windsurfrules", "copilot-instructions.md",
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
    ".gdbinit", ".lldbinit", ".Rprofile", ".Renviron", ".irbrc", ".pryrc", ".rdbgrc", ".pdbrc", ".pythonrc*",
    ".gitpod.yml", "**/.gitpod/**", ".replit", "replit.nix", ".stackblitzrc", "**/.codesandbox/**",
    ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", "prek.toml", "lefthook.*", ".lefthook.*", "lefthook-local.*",
    ".lefthook-local.*", "**/.lefthook/**", "**/.lefthook-local/**", ".overcommit.yml", "**/.overcommit/**",
    ".simple-git-hooks.*", "simple-git-hooks.*", "captainhook.json", "grumphp.yml*", ".commitlintrc*",
    "commitlint.config.*", ".lintstagedrc*", "lint-staged.config.*", ".huskyrc*", "husky.config.*", ".justfile",
)  # fmt: skip
BY_ENVRC = ("flake.nix", "shell.nix", "devenv.nix", "devbox.json")
"""What the shell starts where the repository has an `.envrc`, and nothing does elsewhere."""
_QUIET = re.compile(r"[^/].*/\.vscode/(?:settings\.json|extensions\.json|[^/]+\.code-snippets)")
"""Settings of an editor, below the top: of those that start a program a person is asked (core.policy.runner_hooks)."""
INSTRUCTIONS = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md", "QWEN.md", "AGENT.md")
"""Those that may take up other files; looked for at the top, and then wherever one leads."""
MOST_READ = 50
_TAKEN_UP = re.compile(r"(?:^|[\s(])@((?:\./|\.\./)?[\w.-]+(?:/[\w.-]+)*)", re.MULTILINE)


def is_covered(path: str, globs: tuple[str, ...]) -> bool:
    """Whether such globs cover the path: without case, but for a page of the documentation."""
    folded = path.casefold()
    is_page = "/" in path and path == folded and path.endswith(".md")
    return matches(path, globs) if is_page else matches(folded, folded_globs(globs))


def starts_by_itself(path: str, paths: Collection[str]) -> bool:
    """Whether something starts what this file says, in a tree with these paths, when a person opens a folder."""
    folded = path.casefold()
    if matches(folded, BY_ENVRC):
        return any(one.rpartition("/")[2] == ".envrc" for one in paths)
    return matches(folded, folded_globs(BY_THEMSELVES)) and _QUIET.fullmatch(folded) is None


def taken_up(paths: Collection[str], read: Callable[[str], str]) -> frozenset[str]:
    """The files of a tree that the instructions at its top take up, and those that these do."""
    left = [name for name in INSTRUCTIONS if name in paths]
    found: dict[str, None] = {}
    while left and len(found) < MOST_READ:
        path = left.pop()
        for word in _TAKEN_UP.findall(read(path)):
            one = posixpath.normpath(posixpath.join(posixpath.dirname(path), word.rstrip(".")))
            if one in paths and one not in found:
                found[one] = None
                left.append(one)
    return frozenset(found)


@lru_cache(maxsize=8)
def plain(globs: tuple[str, ...]) -> tuple[str, ...]:
    """The files and folders at the top that such globs name without a star."""
    bare = (glob.removeprefix("**/").removesuffix("/**") for glob in globs)
    return tuple(dict.fromkeys(name for name in bare if not set(name) & set("*?/")))


def below(folders: Iterable[str]) -> Iterator[str]:
    """Globs of these folders of the repository, and all that is in them."""
    return (f"/{folder}/**" for folder in folders if folder)
