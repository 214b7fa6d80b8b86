"""Installed programs and reachable addresses: CLI versions, interpreters' modules, commands.

An address answers if a connection works, with TLS for https; nothing else and no key is sent.

1. Proxy variables hold as for agents. An untrusted certificate is not an answer: a login page in between is not the
   network.
2. All addresses together take at most `seconds`.
"""

import contextlib
import os
import re
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from glob import escape, glob
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from .. import abilities
from ..errors import MachineShort
from ..files import storage_errors
from ..paths import Paths, is_in_repository, own_path, process_environment, which
from ..text.cleaning import count

if TYPE_CHECKING:
    from http.client import HTTPConnection

SECONDS = 15.0
_PORTS = {"https": 443, "http": 80}


def reach(urls: Sequence[str], seconds: float = SECONDS) -> dict[str, str]:
    """By address, why it does not answer; empty: it does."""
    found: dict[str, str] = {}

    def ask(url: str) -> None:
        found[url] = _why_not(url, seconds)

    threads = [threading.Thread(target=ask, args=(url,), daemon=True, name=f"reach {url}") for url in urls]
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return {url: found.get(url, f"no answer within {count(round(seconds), 'second')}") for url in urls}


def _why_not(url: str, seconds: float) -> str:
    from http.client import HTTPException

    try:
        connection = _connection(url, seconds)
    except ValueError as error:
        return f"the address is wrong: {error}"
    try:
        connection.connect()
    except (OSError, HTTPException) as error:
        return str(error) or type(error).__name__
    finally:
        connection.close()
    return ""


def _connection(url: str, seconds: float) -> "HTTPConnection":
    """Not connected yet. Raises ValueError."""
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.request import getproxies, proxy_bypass

    found = urlsplit(url)
    if found.scheme not in _PORTS or not found.hostname:
        raise ValueError("an address has to begin with https:// or http://")
    port = found.port or _PORTS[found.scheme]
    kind = HTTPSConnection if found.scheme == "https" else HTTPConnection
    proxy = "" if proxy_bypass(found.hostname) else getproxies().get(found.scheme, "")
    if not proxy:
        return kind(found.hostname, port, timeout=seconds)
    through = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    if not through.hostname:
        raise ValueError("the proxy setting of this machine is wrong")
    connection = kind(through.hostname, through.port or 80, timeout=seconds)
    connection.set_tunnel(found.hostname, port, _authorisation(through.username, through.password))
    return connection


def _authorisation(user: str | None, password: str | None) -> dict[str, str]:
    if user is None:
        return {}
    from base64 import b64encode

    word = b64encode(f"{unquote(user)}:{unquote(password or '')}".encode()).decode()
    return {"Proxy-Authorization": f"Basic {word}"}


VERSIONS_SECONDS = 20.0


# A CLI is asked outside of every repository, and one that lies in a repository not at all: agents write there. An
# answer is noted under the marks of the file (abilities.stamp), so a file is asked once.
def ask(program: str, path: str) -> str:
    try:
        return abilities.version_in(_asked(program, path)[1])
    except OSError:
        return ""


def trouble(program: str, path: str, root: str, is_asked: bool = True) -> str:
    """Why the CLI fails, by its version output; empty: it works, or is not asked. Programs in the repository `root` are
    not run. Without `is_asked` it is only located."""
    folders = [one for one in path.split(os.pathsep) if os.path.isabs(one) and not _is_in(one, root)]
    if os.sep in program:
        found = program if os.path.isabs(program) else None
    else:
        found = which(program, path=os.pathsep.join(folders))
        if found is None and which(program, path=path) is None:
            return f"{program} was not found"
    if found is None or _is_in(found, root):
        return ""
    if not is_asked:
        return "" if which(found) else f"{program} does not exist, or may not be executed"
    try:
        code, said = _asked(found, os.pathsep.join(folders))
    except OSError as error:
        return f"{program} cannot be started: {error.strerror}"
    lines = said.strip().splitlines()
    return f"`{program} --version` ended with {code}: {' '.join(lines[:3])[:300]}" if code else ""


def _asked(program: str, path: str) -> tuple[int, str]:
    import tempfile

    from .command import outputs

    with tempfile.TemporaryDirectory(prefix="nobrakes-version-") as home:
        env: Mapping[str, str] = {"PATH": path, "HOME": home, "LANG": "C.UTF-8", "CI": "1", "DISABLE_AUTOUPDATER": "1"}
        return outputs({"": (program, "--version")}, env, VERSIONS_SECONDS, home)[""]


def _is_in(path: str, root: str) -> bool:
    top = os.path.realpath(root)
    return any(os.path.commonpath([top, one]) == top for one in (os.path.abspath(path), os.path.realpath(path)))


class Versions:
    """Versions of installed CLIs. `writes`: store them for others."""

    def __init__(self, paths: Paths, path: str | None, writes: bool) -> None:
        self.paths = paths
        self.path = path or os.defpath
        self.writes = writes
        self._asked: dict[tuple[str, str], str] = {}

    def __call__(self, name: str, program: str, mark: str) -> str:
        if not abilities.reports_version(name):
            return ""
        known = self._asked.get((program, mark))
        if known is None:
            known = abilities.noted(self.paths, program, mark)
        if known is None:
            # what lies in the repository is not started outside a sandbox, so it tells nothing
            known = (
                "" if is_in_repository(program, self.paths.root) else ask(program, own_path(self.paths.root, self.path))
            )
            if known and self.writes:
                abilities.note(self.paths, program, mark, known)
        self._asked[program, mark] = known
        return known


MAX_NAMES = 20_000
MAX_BYTES = 100_000
_MAX_LINKS = 20
_PYTHON = re.compile(r"(?:pypy|python)[0-9.]*t?")
_SHEBANG = re.compile(r"#!\s*(\S+)(?:\s+(\S+))?")
_BY_SHELL = re.compile(r"""^'''exec' (?:"([^"\n]+)"|(\S+))""", re.MULTILINE)
_ENDINGS = (".py", ".pyc", ".so", ".pyd")
_SETTING = re.compile(r"^[ \t]*([\w-]+)[ \t]*=[ \t]*+(.*)$", re.MULTILINE)
_EDITABLE = re.compile(r"^import\s.*__editable__", re.MULTILINE)
_HOMES = ("", "versions/*", "installs/python/*")
"""Libraries relative to `bin` or `shims`: Python's own, pyenv's, asdf's and mise's."""
_LIBRARIES = ("lib", "lib64", "local/lib")


# Nothing is started: the interpreter may lie where an agent's work put it. Read are names of files and folders, `.pth`
# files and `pyvenv.cfg`, each bounded. Where no program tells of a Python (`make test`), the `python3` on PATH is read.
# An editable installation of the repository is left out.
class Modules:
    """Inspects the interpreters of checks in the repository `root`."""

    def __init__(self, root: str) -> None:
        self.root = root

    def of(self, programs: Sequence[tuple[str, str]]) -> frozenset[str]:
        """Top-level modules that one of these programs (command word, folder) resolves."""
        found = {python for word, folder in programs if (python := self._python(word, folder))}
        usual = which("python3")
        pythons = sorted(found) or ([usual] if usual else [])
        places = {place for python in pythons for place in folders(python) if not self._is_ours(place)}
        return frozenset().union(*map(names, places))

    def _python(self, word: str, folder: str) -> str:
        path = os.path.join(self.root, folder, word) if "/" in word else which(word) or ""
        return interpreter(path) if path else ""

    def _is_ours(self, place: str) -> bool:
        if "-packages" in place:
            return False
        top = os.path.realpath(self.root)
        return os.path.commonpath([top, os.path.realpath(place)]) == top


def interpreter(path: str) -> str:
    """The interpreter behind the program; empty: not Python."""
    if not os.access(path, os.X_OK):
        return ""
    if _PYTHON.fullmatch(os.path.basename(path)):
        return path
    text = _text(path)
    first = _SHEBANG.match(text)
    if first is None:
        return ""
    named = first[2] if first[1].endswith("/env") and first[2] else first[1]
    if by_shell := _BY_SHELL.search(text):  # the interpreter's path was too long for a first line
        named = by_shell[1] or by_shell[2]
    python = named if "/" in named else which(named) or ""
    return python if _PYTHON.fullmatch(os.path.basename(python)) else ""


def folders(python: str) -> tuple[str, ...]:
    """The interpreter's path: its library, packages, and additions of `.pth` files."""
    found: dict[str, None] = {}
    for home, has_packages in _homes(python):
        for library in _libraries(home):
            own = (library, os.path.join(library, "lib-dynload"))
            found.update(dict.fromkeys((*own, *(_packages(escape(library)) if has_packages else ()))))
    return tuple(found)


def lacks(python: str, module: str, user_site: bool) -> bool:
    """Whether the interpreter certainly lacks a module. `user_site`: the account's own site counts. With unknown
    folders or custom finders it may have any."""
    places = list(folders(python))
    if user_site:
        places += _packages(os.path.expanduser("~/.local/lib/python*"))
    if not any(os.path.exists(os.path.join(place, "os.py")) for place in places):
        return False
    if module in sys.stdlib_module_names or any(module in names(place) for place in places):
        return False
    hooks = (path for place in places for path in glob(f"{escape(place)}/*.pth"))
    return not any(_EDITABLE.search(_text(path)) for path in hooks)


def names(folder: str) -> frozenset[str]:
    try:
        return _names(folder, os.stat(folder).st_mtime_ns)
    except OSError:
        return frozenset()


@lru_cache(maxsize=256)
def _names(folder: str, changed: int) -> frozenset[str]:
    found = set()
    with os.scandir(folder) as entries:
        for _, entry in zip(range(MAX_NAMES), entries, strict=False):
            name = entry.name.partition(".")[0]
            if not name.isidentifier() or name in ("__pycache__", "__init__"):
                continue
            if entry.name.endswith(_ENDINGS) or (name == entry.name and _is_package(entry.path)):
                found.add(name)
    return frozenset(found)


def _is_package(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, f"__init__{ending}")) for ending in _ENDINGS)


def _homes(python: str) -> Iterator[tuple[str, bool]]:
    """The folders above `bin` along the interpreter's links, and whether their packages count. An environment ends
    them, with its base Python."""
    path = os.path.abspath(python)
    for _ in range(_MAX_LINKS):
        home = os.path.dirname(os.path.dirname(path))
        yield home, True
        settings = os.path.join(home, "pyvenv.cfg")
        if os.path.isfile(settings):
            values = dict(_SETTING.findall(_text(settings)))
            base = os.path.dirname(values.get("home", "").strip())
            yield base, values.get("include-system-site-packages", "").strip().lower() == "true"
            return
        try:
            path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
        except OSError:
            return


def _libraries(home: str) -> list[str]:
    kinds = ((below, library, name) for below in _HOMES for library in _LIBRARIES for name in ("python*", "pypy*"))
    return [os.path.normpath(path) for kind in kinds for path in glob(os.path.join(escape(home), *kind, ""))]


def _packages(library: str) -> list[str]:
    found = [path for kind in ("site", "dist") for path in glob(f"{library}/{kind}-packages")]
    for place in tuple(found):
        for path in glob(f"{escape(place)}/*.pth"):
            added = (os.path.normpath(os.path.join(place, line.strip())) for line in _text(path).splitlines())
            found += [one for one in added if os.path.isdir(one)]
    return found


def _text(path: str) -> str:
    """The beginning of a plain file, without NUL; empty: unreadable."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would keep us waiting for its writer
    except OSError:
        return ""
    try:
        content = os.read(descriptor, MAX_BYTES) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)
    return content.decode("utf-8", "replace").replace("\0", "\n")


PROBING_SECONDS = 10.0
ATTEMPTS = 3
LISTING_SECONDS = 120.0
MAX_PROBING_BYTES = 20_000_000
_GONE_SECONDS = 2.0
_KILLED = 128


# A run that was killed or did not end tells nothing: it is repeated, and a night is not begun on a guess.
def probing_trouble(argv: Sequence[str]) -> str:
    """Why the command fails here, in a line; empty: it works. Raises MachineShort if that cannot be found out."""
    for _ in range(ATTEMPTS):
        try:
            with storage_errors(argv[0]):
                code, said = _tried(argv)
        except FileNotFoundError:
            return f"{argv[0]} is not installed"
        except OSError as error:
            return str(error)
        if code == 0:
            return ""
        if 0 < code <= _KILLED:
            lines = said.decode("utf-8", "replace").strip().splitlines()
            return lines[-1][:300] if lines else f"it ends with exit code {code}"
    raise MachineShort(f"cannot tell whether {argv[0]} works here: {ATTEMPTS} times it was killed or did not end")


def _tried(argv: Sequence[str]) -> tuple[int, bytes]:
    child = subprocess.Popen(
        argv,
        env={**process_environment(), "PATH": own_path(os.getcwd())},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        _, said = child.communicate(timeout=PROBING_SECONDS)
        return child.returncode, said
    except subprocess.TimeoutExpired:
        child.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # it waits for a disk, and nobody waits for it
            child.communicate(timeout=_GONE_SECONDS)
        return -1, b""


def output_of(argv: Sequence[str], folder: str) -> tuple[str, str]:
    """(output in `folder`; error or empty). Stopped after LISTING_SECONDS."""
    try:
        done = subprocess.run(
            argv, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=LISTING_SECONDS, check=False
        )
    except FileNotFoundError:
        return "", f"{argv[0]} is not installed"
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", str(error)[:300]
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    text = done.stdout[:MAX_PROBING_BYTES].decode("utf-8", "replace")
    if done.returncode == 0 or text.strip():
        return text, ""
    return "", said[-1][:300] if said else f"it ends with exit code {done.returncode}"
