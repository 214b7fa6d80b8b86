"""What an agent may see of the daemon's environment.

1. An agent CLI gets an allow-list, what the config's `agents.environment` names, and NOBRAKES_*. A script, which a
   person wrote, gets what the daemon gives it. Nothing is inherited by chance.
2. What makes git or a CLI read another repository or configuration (GIT_DIR, CLAUDE*) is not on the list.
"""

from collections.abc import Iterable

from .adapter import Assignment

_NAMES = """
PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TERM TMPDIR TMP TEMP NO_COLOR
XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_RUNTIME_DIR
SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS
HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy all_proxy
GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
GIT_CONFIG_NOSYSTEM GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM
VIRTUAL_ENV PYTHONDONTWRITEBYTECODE PYENV_ROOT PYENV_VERSION UV_CACHE_DIR PIP_CACHE_DIR
NVM_DIR NVM_BIN VOLTA_HOME PNPM_HOME GOPATH GOROOT GOCACHE CARGO_HOME RUSTUP_HOME JAVA_HOME
"""

PASSED_ON = frozenset(_NAMES.split())
"""The variables of the daemon's own environment that an agent CLI may see."""

UNATTENDED = {"CI": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}
"""Nobody is there to answer a question or to close an editor."""

_PREFIXES = ("NOBRAKES_", "LC_")


def identity(a: Assignment) -> dict[str, str]:
    """Who and where the agent is, for its own commands and for the guard."""
    return {
        "NOBRAKES_ROLE": a.role.value,
        "NOBRAKES_BEAD": a.bead,
        "NOBRAKES_NAME": a.worker,
        "NOBRAKES_ATTEMPT": str(a.attempt),
        "NOBRAKES_WORKSPACE": a.workspace,
        "NOBRAKES_PROMPT": a.prompt_file,
    }


def allowed(a: Assignment, also: Iterable[str] = ()) -> dict[str, str]:
    """The part of the assignment's environment that is on the list, and `also` these names."""
    names = PASSED_ON.union(a.settings.environment, also)
    return {key: value for key, value in a.env.items() if key in names or key.startswith(_PREFIXES)}
