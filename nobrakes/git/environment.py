"""The environment and configuration that git runs under: ours, never the caller's and never an agent's.

1. Every GIT_* variable of the calling process is dropped, but for those that say where the human's configuration
   is, and those of networks and prompts, where no command of ours goes.
2. PLUMBING ignores the system's and the human's configuration: object work gives the same result everywhere.
3. CHECKOUT keeps them: files in the human's own worktree are written with the human's own filters and line ends.
4. Hooks, background upkeep, signing and prompts are off in both.
"""

from collections.abc import Mapping

from ..environ import process_environment

NAME = "nobrakes"
EMAIL = "nobrakes@nobrakes.invalid"

_SETTINGS = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
    ("commit.gpgSign", "false"),
    ("i18n.commitEncoding", "UTF-8"),
    ("merge.renames", "true"),
    ("merge.directoryRenames", "conflict"),
    ("checkout.workers", "8"),
    ("checkout.thresholdForParallelism", "2000"),
    # a power cut must not leave main on a commit whose objects never reached the disk; refs that matter: see refs
    ("core.fsync", "committed,loose-object"),
    ("core.fsyncMethod", "batch"),
    # whose repository it is was asked before anything else (git.ownership), under ASKING, which lacks this line
    ("safe.directory", "*"),
)


def _numbered(settings: tuple[tuple[str, str], ...]) -> dict[str, str]:
    numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return numbered


_ALWAYS = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_COMMITTER_NAME": NAME,
    "GIT_COMMITTER_EMAIL": EMAIL,
    "GIT_AUTHOR_NAME": NAME,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "LC_ALL": "C",
    "LANGUAGE": "C",
}

CHECKOUT: Mapping[str, str] = {**_ALWAYS, **_numbered(_SETTINGS)}
"""For the human's own worktrees."""

ASKING: Mapping[str, str] = {**_ALWAYS, **_numbered(tuple(one for one in _SETTINGS if one[0] != "safe.directory"))}
"""For the question whether git trusts a repository: the system's and the human's configuration decide."""

PLUMBING: Mapping[str, str] = {
    **_ALWAYS,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    **_numbered((*_SETTINGS, ("core.attributesFile", "/dev/null"))),
}
"""For objects, refs and everything that an agent had its hands on."""


_HARMLESS = (
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_SSL_",
    "GIT_HTTP_",
    "GIT_CURL_",
    "GIT_PROXY_",
    "GIT_SSH",
    "GIT_PS1_",
    "GIT_PYTHON_",
)


def strays(given: Mapping[str, str]) -> list[str]:
    """The GIT_* variables of this process that `given` does not overrule and that must not reach git."""
    return [
        name
        for name in process_environment()
        if name.startswith("GIT_") and name not in given and not name.startswith(_HARMLESS)
    ]
