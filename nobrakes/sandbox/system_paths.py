"""The paths of this machine that every run may read: system folders, PATH, and nobrakes' own Python.

1. Of /etc only what programs need to find names, certificates, libraries and the time.
2. A folder of PATH in somebody's home is let in by itself; where it is part of an installation (a virtual environment,
   node, pyenv), the whole of that. A home is never let in by this, nor anything that it lies in.
"""

import glob
import os
import pwd
import sys
import time
from collections.abc import Iterator, Mapping

from ..git.port import Argv
from ..paths import own_program
from .closure import Closure, Machine, lies_in, prlimit, wrap

SYSTEM = ("/usr", "/opt", "/nix/store", "/gnu/store", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = """
alternatives ca-certificates ca-certificates.conf crypto-policies debian_version fonts gai.conf group host.conf
hostname hosts java ld.so.cache ld.so.conf ld.so.conf.d locale.alias locale.conf localtime magic mime.types
nsswitch.conf os-release passwd pki/ca-trust pki/tls/certs protocols python3 resolv.conf services ssl/certs
ssl/openssl.cnf terminfo timezone
"""
_TOOLS = "ant* erlang java-*-openjdk* java*-openjdk maven*/logging maven*/m2.conf perl php* R xml"
"""In /etc, needed by installed languages and build tools; a `settings.xml` may hold passwords."""
_MARKS = ("pyvenv.cfg", "conda-meta", "libexec", "versions", os.path.join("lib", "node_modules"))
"""Signs that a `bin` or `shims` needs its whole installation."""
_ASKED = ("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS")
SECONDS = 5.0
"""How long a look at the machine is valid: it costs as much as the rest of a run's start."""
MAX_CACHED = 16
_CACHE: dict[tuple[str | None, ...], tuple[float, Machine]] = {}
TOOLCHAINS = {
    ".rustup": "RUSTUP_HOME",
    ".nvm": "NVM_DIR",
    ".volta": "VOLTA_HOME",
    ".asdf": "ASDF_DATA_DIR",
    ".local/share/mise": "MISE_DATA_DIR",
    ".sdkman": "SDKMAN_DIR",
    ".local/share/uv": "UV_PYTHON_INSTALL_DIR",
}
"""Toolchain folders in a home, without secrets, and their variables."""


def machine(environment: Mapping[str, str]) -> Machine:
    """This machine for programs with this environment, cached briefly."""
    home = os.path.realpath(os.path.expanduser("~"))
    asked = (home, *(environment.get(name) for name in (*_ASKED, "PATH")))
    now = time.monotonic()
    seen = _CACHE.get(asked)
    if seen is None or now - seen[0] > SECONDS:
        if len(_CACHE) >= MAX_CACHED:
            _CACHE.clear()
        seen = _CACHE[asked] = (now, _inspect(environment, home))
    return seen[1]


def _inspect(environment: Mapping[str, str], home: str) -> Machine:
    folders = [path for path in SYSTEM if os.path.isdir(path) and not os.path.islink(path)]
    links = tuple((path, os.readlink(path)) for path in SYSTEM if os.path.islink(path))
    system = (*folders, *(f"/etc/{name}" for name in _ETC.split()), *tool_settings("/etc"))
    found = [path for path in _programs(environment) if not lies_in(home, os.path.realpath(path))]
    variables = []
    for name, variable in TOOLCHAINS.items():
        folder = os.path.join(home, name)
        if os.path.isdir(folder):
            found.append(folder)
            variables.append((variable, os.path.join(folder, "python") if name.endswith("/uv") else folder))
    programs = tuple(dict.fromkeys(path for path in found if not any(lies_in(path, f) for f in (*system, *SYSTEM))))
    return Machine(system, links, programs, sys.executable, home, tuple(variables), _account(system), prlimit(folders))


def _account(system: tuple[str, ...]) -> str:
    try:
        home = os.path.normpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return ""
    is_own = os.path.isabs(home) and not any(lies_in(home, path) or lies_in(path, home) for path in system)
    return home if is_own else ""


def tool_settings(etc: str) -> tuple[str, ...]:
    """Settings in `etc` to which languages and build tools are linked."""
    found = (glob.glob(pattern, root_dir=etc) for pattern in _TOOLS.split())
    return tuple(sorted({os.path.join(etc, name) for names in found for name in names}))


def _programs(environment: Mapping[str, str]) -> Iterator[str]:
    yield from (sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix))
    yield os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield from (environment[name] for name in _ASKED if os.path.isabs(environment.get(name, "")))
    for folder in environment.get("PATH", os.defpath).split(os.pathsep):
        if os.path.isabs(folder) and os.path.isdir(folder):
            yield from installation(folder)


def installation(folder: str) -> Iterator[str]:
    """What a folder's programs need: the folder, or its full installation."""
    folder = os.path.normpath(folder)
    whole = os.path.dirname(folder)
    has_marks = any(os.path.exists(os.path.join(whole, mark)) for mark in _MARKS)
    is_whole = os.path.basename(folder) in ("bin", "shims") and has_marks
    yield whole if is_whole else folder
    try:
        with open(os.path.join(whole, "pyvenv.cfg"), encoding="utf-8") as file:
            for line in file:
                name, _, value = line.partition("=")
                if name.strip() == "home" and is_whole:
                    yield os.path.dirname(os.path.realpath(value.strip()))
    except (OSError, UnicodeDecodeError):
        return


def program(argv0: str, environment: Mapping[str, str], home: str) -> tuple[str, ...]:
    """What a program needs beside PATH: its link's target, and node packages or a Python environment around it."""
    path = environment.get("PATH", os.defpath)
    places = [argv0] if os.sep in argv0 else [os.path.join(folder, argv0) for folder in path.split(os.pathsep)]
    absolute = (place for place in places if os.path.isabs(place))
    found = next((place for place in absolute if os.path.isfile(place) and os.access(place, os.X_OK)), None)
    if found is None:
        return ()
    real = os.path.realpath(found)
    needed = [found, real]
    before, modules, _ = real.partition("/node_modules/")
    if modules:
        whole = before.removesuffix("/lib")
        is_prefix = whole != before and not lies_in(home, whole)
        needed.append(whole if is_prefix else f"{before}/node_modules")
    around = os.path.dirname(os.path.dirname(real))
    if os.path.isfile(os.path.join(around, "pyvenv.cfg")):
        base = os.path.dirname(os.path.dirname(os.path.realpath(os.path.join(around, "bin", "python3"))))
        needed += [folder for folder in (around, base) if not lies_in(home, folder)]
    return tuple(dict.fromkeys(needed))


def named_files(argv: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in argv[1:] if os.path.isabs(word) and os.path.isfile(word))


_MACHINE = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/boot")
_SETTINGS_OF = """XDG_CONFIG_HOME CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME GNUPGHOME ZDOTDIR PYTHONUSERBASE
PIPX_HOME NPM_CONFIG_USERCONFIG npm_config_userconfig DOCKER_CONFIG"""
"""Variables with paths of settings outside the home."""


def kept(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Paths never writable behind a wall, since they are run or read outside later: your full home (settings of git,
    shell, agent CLIs, editors and tools, caches, repositories), the machine's programs and settings, PATH, nobrakes."""
    found = [*_MACHINE, os.path.expanduser("~")]
    found += [folder for folder in map(os.path.abspath, sys.path) if os.path.isdir(folder)]  # our dependencies
    found += [path for path in (os.environ.get(name, "") for name in _SETTINGS_OF.split()) if os.path.isabs(path)]
    found += [folder for folder in environment.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]
    found += [sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    named = (os.environ.get(name, "") for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"))
    return tuple(dict.fromkeys((*found, *(path for path in named if os.path.isabs(path) and path != os.devnull))))


# Checks get an empty home for each run, so that what one run leaves there bends no later one. What lives in the
# person's home and holds toolchains is named by its own variable; nothing that is read or run by itself comes from
# there. Behind the wall the person's home is read-only: tools are told of caches of their own, unless the person let in
# the usual ones.
HOME = "home"

MADE = f"{HOME}/.nobrakes-run"

_HOME_TOOLS = {".pyenv": "PYENV_ROOT", ".rbenv": "RBENV_ROOT"}
_WRITTEN = {".cargo": "CARGO_HOME", "go": "GOPATH"}
"""Toolchain folders that are written on use."""
_SHARED_CACHE = "XDG_CACHE_HOME"
_CACHES = {
    _SHARED_CACHE: ".cache",
    "PIP_CACHE_DIR": ".cache/pip",
    "UV_CACHE_DIR": ".cache/uv",
    "GOCACHE": ".cache/go-build",
    "npm_config_cache": ".npm",
    "YARN_GLOBAL_FOLDER": ".yarn/berry",
    "PNPM_HOME": ".local/share/pnpm",
    "BUN_INSTALL_CACHE_DIR": ".bun/install/cache",
    "CARGO_HOME": ".cargo",
    "GOPATH": "go",
    "GRADLE_USER_HOME": ".gradle",
    "NUGET_PACKAGES": ".nuget/packages",
    "DOTNET_CLI_HOME": ".dotnet",
    "BUNDLE_USER_HOME": ".bundle",
    "MIX_HOME": ".mix",
    "HEX_HOME": ".hex",
    "PUB_CACHE": ".pub-cache",
}
"""Variables of caches, and their default places in a home."""
_MAVEN = ".m2/repository"
_BELOW = {
    "XDG_CACHE_HOME": ".cache",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "GRADLE_USER_HOME": ".gradle",
}

NO_USER_SITE = {"PYTHONNOUSERSITE": "1"}


def caches(folder: str, environment: Mapping[str, str], let_in: tuple[str, ...]) -> dict[str, str]:
    """Variables for caches: the person's if `let_in`, else below `folder`."""
    persons = _persons(environment)
    usual = {variable: environment.get(variable) or os.path.join(persons, place) for variable, place in _CACHES.items()}
    found = {
        variable: usual[variable] if _reaches(let_in, usual[variable], variable) else os.path.join(folder, place)
        for variable, place in _CACHES.items()
    }
    artifacts = os.path.join(persons, _MAVEN)
    if _reaches(let_in, artifacts) or any(map(str.isspace, artifacts + folder)):  # its start script splits the words
        return found
    # Java takes the home from the account. What lies there already is read, by Maven 3.9 on
    words = f"-Dmaven.repo.local={os.path.join(folder, _MAVEN)} -Dmaven.repo.local.tail={artifacts}"
    return {**found, "MAVEN_OPTS": f"{environment.get('MAVEN_OPTS', '')} {words}".strip()}


def _persons(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or os.path.expanduser("~")


def _reaches(let_in: tuple[str, ...], place: str, variable: str = "") -> bool:
    """Whether all or part of the place is writable; for the shared cache folder all of it."""
    real = os.path.realpath(place) if let_in else ""
    return any(lies_in(real, path) or (variable != _SHARED_CACHE and lies_in(path, real)) for path in let_in)


def variables(home: str, environment: Mapping[str, str], let_in: tuple[str, ...] | None = None) -> dict[str, str]:
    """The variables of a run with this `home`, from the person's environment. `let_in`: writable paths behind the wall;
    None: no wall."""
    persons = _persons(environment)
    found = {
        variable: os.path.join(persons, name, "python") if name.endswith("/uv") else os.path.join(persons, name)
        for name, variable in {**TOOLCHAINS, **_HOME_TOOLS, **(_WRITTEN if let_in is None else {})}.items()
        if variable not in environment and os.path.isdir(os.path.join(persons, name))
    }
    stored = {} if let_in is None else caches(home, environment, let_in)
    below = {variable: os.path.join(home, name) for variable, name in _BELOW.items()}
    return {**found, **below, **stored, **NO_USER_SITE, "HOME": home}


def steady(environment: Mapping[str, str]) -> dict[str, str]:
    return {**environment, **NO_USER_SITE, "HOME": HOME}


# The smallest closure tells whether bubblewrap works here.
def argv(folder: str, environment: Mapping[str, str]) -> Argv:
    """Exits with 0 if every namespace, mount and privilege of a run works."""
    closure = Closure(folder, machine(environment), hidden=(), network="none")
    return wrap((sys.executable, "-I", "-S", "-c", ""), closure)


def platform_trouble() -> str:
    """Why no sandbox can work here; empty: one may."""
    if sys.platform == "darwin":
        return "" if os.path.exists("/usr/bin/sandbox-exec") else "`sandbox-exec` is not installed"
    if not sys.platform.startswith("linux"):
        return "bubblewrap works on Linux only"
    return "" if own_program("bwrap", os.getcwd()) else "bubblewrap (`bwrap`) is not installed"
