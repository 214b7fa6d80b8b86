"""The person's own files, outside of every repository: config.toml, and secrets by their names.

1. Secrets are in `secrets.toml` in the user's folder of settings, which holds nothing but NAME = "value".
2. It is read only where nobody else could read or write it: a plain file of this user with mode 0600.
3. A secret is in no message, no error and no command line.
"""

import json
import os
import re
import stat
import sys
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Annotated, Any, Literal

from .. import __version__
from ..agents.limits import MachineLimits
from ..errors import ConfigError, NotAllowed, PlaceUnusable, StoreReadOnly, UsageError
from ..files import write_atomic
from ..records import frozen
from ..text import toml
from . import values
from .settings import validated
from .values import FULL_PATH, FULL_PATHS, WEB_ADDRESSES, Rule, Section, section

# The person's own place, above all repositories: a folder of settings, and one of state that only this account reads.
#
# 1. They lie where the system wants them (platformdirs: XDG_CONFIG_HOME and XDG_STATE_HOME on Linux), or both below
#    NOBRAKES_USER_HOME.
# 2. An agent, a check, and whatever these start are refused: by NOBRAKES_TOKEN and NOBRAKES_RUN here, and by the
#    sandbox and the wall, which keep both folders shut (host.confine).
# 3. A folder that is another account's, or that others may write, is not used: whoever writes there would decide what
#    may start. Its way down from the root is the system's business.
# 4. A home that is not said, not there, or another account's is nobody's place; a file there that is a link, or that
#    others may write, is not opened.
# 5. The first writer creates what is missing. A reading command creates only the time of a visit (machine.registry).

OVERRIDE = "NOBRAKES_USER_HOME"
_NAME = "nobrakes"


@frozen
class UserPlace:
    """The two folders, existing or not."""

    settings: str
    state: str

    @property
    def config(self) -> str:
        return os.path.join(self.settings, "config.toml")

    @property
    def database(self) -> str:
        return os.path.join(self.state, "user.db")

    @property
    def home(self) -> str:
        """The person's own repository for sessions without another."""
        return os.path.join(self.state, "home")

    @property
    def daemons(self) -> str:
        """One locked file for each living daemon."""
        return os.path.join(self.state, "daemons")


def is_in_a_run() -> bool:
    return "NOBRAKES_TOKEN" in os.environ or "NOBRAKES_RUN" in os.environ


def user_place() -> UserPlace:
    """This account's place. NotAllowed in a run; PlaceUnusable without a home."""
    if is_in_a_run():
        raise NotAllowed("an agent or a check cannot use the data that this machine's repositories share")
    if own := os.environ.get(OVERRIDE):
        place = UserPlace(os.path.join(own, "config"), os.path.join(own, "state"))
    else:
        _require_home()
        try:
            place = UserPlace(_folder("config", ".config"), _folder("state", ".local/state"))
        except RuntimeError as error:  # HOME is not set, and nobody knows the account
            raise PlaceUnusable(f"this account has no home folder: {error}") from None
    for folder in (place.settings, place.state):
        if not os.path.isabs(folder):
            raise PlaceUnusable(f"this account has no home folder: {folder} is not an absolute path")
    return place


def _folder(kind: str, below: str) -> str:
    """Ours among the account's: on Linux by the XDG Base Directory Specification, for which no library is loaded.
    RuntimeError: no home."""
    if sys.platform == "linux":
        named, home = os.environ.get(f"XDG_{kind.upper()}_HOME", ""), os.environ.get("HOME", "")
        return os.path.join(named if os.path.isabs(named) else os.path.join(_home(home), below), _NAME)
    import platformdirs

    return str(getattr(platformdirs, f"user_{kind}_dir")(_NAME, False))


def _home(named: str) -> str:
    if os.path.isabs(named):
        return named
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        raise RuntimeError("HOME is not set, and the system does not know this account") from None


def _require_home() -> None:
    """PlaceUnusable without a home, or with another account's. No home is guessed or created."""
    if os.environ.get("XDG_CONFIG_HOME") and os.environ.get("XDG_STATE_HOME"):
        return
    home = os.environ.get("HOME", "")
    if os.name != "posix":
        return
    if not home:
        raise PlaceUnusable("HOME is not set, so nobrakes cannot find your home folder")
    try:
        found = os.stat(home)
    except OSError as error:
        raise PlaceUnusable(f"the home {home[:200]} cannot be inspected: {error.strerror}") from None
    if found.st_uid != os.geteuid():
        raise PlaceUnusable(f"the home {home[:200]} belongs to another account (number {found.st_uid})")


READS, ENTERS, CHANGES = os.R_OK, os.X_OK, os.R_OK | os.W_OK


def _require_rights(path: str, rights: int) -> None:
    """PlaceUnusable if this process lacks the rights: closed is not unset."""
    if not os.access(path, rights, effective_ids=os.access in os.supports_effective_ids):
        what = "read or change" if rights & os.W_OK else "read"
        raise PlaceUnusable(f"your account may not {what} {path}", f"Check the permissions: ls -ld {path}")


def require_own(path: str, rights: int = READS) -> None:
    """PlaceUnusable for an existing file that is not plain or that others may write."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise PlaceUnusable(f"{path} cannot be inspected: {error.strerror}") from None
    if not stat.S_ISREG(found.st_mode):
        raise PlaceUnusable(f"{path} is not a plain file", "Move the path away; nobrakes creates the file itself.")
    if found.st_uid != os.geteuid():
        raise PlaceUnusable(f"{path} belongs to another account (number {found.st_uid})")
    if found.st_mode & 0o022:
        raise PlaceUnusable(f"other accounts can write {path}", f"Remove the write permission: chmod go-w {path}")
    _require_rights(path, rights)


def default_workspace() -> str:
    """The default folder of projects, below the account's data. Raises NotAllowed, PlaceUnusable."""
    user_place()
    if own := os.environ.get(OVERRIDE):
        return os.path.join(own, "workspace")
    return os.path.join(_folder("data", ".local/share"), "workspace")


def folders() -> tuple[str, ...]:
    """The existing folders' real paths, closed to every run."""
    try:
        place = user_place()
    except (NotAllowed, PlaceUnusable):
        return ()
    found = (os.path.realpath(path) for path in (place.settings, place.state))
    return tuple(path for path in dict.fromkeys(found) if os.path.isdir(path))


def require_safe(folder: str, rights: int = ENTERS) -> bool:
    """Whether the folder exists. PlaceUnusable if others could change its content."""
    try:
        found = os.stat(folder)
    except FileNotFoundError:
        if os.path.islink(folder):  # of a disk that is not there, say: what it holds cannot be known
            raise PlaceUnusable(f"{folder} is a link to {os.readlink(folder)[:200]}, which does not exist") from None
        return False
    except OSError as error:
        raise PlaceUnusable(f"{folder} cannot be inspected: {error.strerror}") from None
    if not stat.S_ISDIR(found.st_mode):
        raise PlaceUnusable(f"{folder} is not a folder", "Move the path away; nobrakes creates the folder itself.")
    if found.st_uid != os.geteuid():
        raise PlaceUnusable(f"{folder} belongs to another account (number {found.st_uid})")
    if found.st_mode & 0o022:
        raise PlaceUnusable(f"other accounts can write {folder}", f"Remove the write permission: chmod go-w {folder}")
    _require_rights(folder, rights)
    return True


def make(folder: str) -> None:
    """Create the folder and its parents, closed to others. Raises PlaceUnusable."""
    try:
        if not require_safe(folder):
            os.makedirs(os.path.dirname(folder), exist_ok=True)
            os.mkdir(folder, 0o700)
        elif os.stat(folder).st_mode & 0o077:
            os.chmod(folder, os.stat(folder).st_mode & 0o700)  # whoever closed it to themselves meant that
    except FileExistsError:
        require_safe(folder)
    except OSError as error:
        raise PlaceUnusable(f"{folder} cannot be created: {error.strerror}") from None


NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
MAX_SECRET = 4096


def secrets_path() -> str:
    """Raises NotAllowed for an agent or check, PlaceUnusable."""
    return os.path.join(user_place().settings, "secrets.toml")


def secret(name: str) -> str:
    """ConfigError: missing, or others could read the file."""
    if (found := _read(secrets_path()).get(name)) is None:
        raise ConfigError(f"there is no secret '{name[:64]}'", f"Type `nobrakes notify secret {name[:64]}`.")
    return found


def keep(name: str, value: str) -> str:
    """Store the secret; returns its file. UsageError: it is invalid; ConfigError: others could read the file."""
    if not NAME.fullmatch(name):
        hint = "For example: nobrakes notify secret phone"
        raise UsageError("the name of a secret may contain only letters, digits, - and _", hint)
    if not (value := value.strip()) or not value.isprintable() or len(value) > MAX_SECRET:
        raise UsageError(f"a secret must be one line of 1 to {MAX_SECRET} characters", "Use stdin or the prompt.")
    path = secrets_path()
    known = {**_read(path), name: value} if os.path.lexists(path) else {name: value}
    make(os.path.dirname(path))
    text = "".join(f"{key} = {json.dumps(known[key], ensure_ascii=False)}\n" for key in sorted(known))
    try:
        write_atomic(path, text.encode())
    except StoreReadOnly as error:
        raise NotAllowed(str(error), "Check the owner of the file's folder.") from None
    return path


def _read(path: str) -> Mapping[str, str]:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}", _HINT) from None
    with os.fdopen(descriptor, "rb") as file:
        _require_private(path, os.fstat(descriptor))
        try:
            found = toml.loads(file.read().decode())
        except ValueError:  # the error would quote the line
            raise ConfigError(f"{path} is not valid TOML", 'Each line must be NAME = "value".') from None
    if not all(isinstance(value, str) for value in found.values()):
        raise ConfigError(f"{path} contains values other than text", 'Each line must be NAME = "value".')
    return found


_HINT = "The file must be a regular file that you own, with mode 0600."


def _require_private(path: str, found: os.stat_result) -> None:
    if not hasattr(os, "getuid"):
        return  # Windows: the folder of the user is closed to others by its access list
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ConfigError(f"other users can read or change {path}, so nobrakes reads no secret from it", _HINT)


# A file that is missing sets nothing. pydantic judges a text once, as it does for a repository's (config.settings). One
# setting is changed by editing its line; every other line, and every comment, stays as it was.
HINT = "Fix the limit in that file. `nobrakes machine` shows the limits, and `nobrakes machine set agents=3` sets one."
TABLE = "machine"


@section
class MachineSettings(Section):
    """What all repositories of this person may do together on this machine. Unset: no limit. `session_roots`: folders
    below which a page may start a session in any repository."""

    agents: Annotated[int, Rule(ge=1, le=4096)] | None = None
    usd_per_day: Annotated[float, Rule(gt=0)] | None = None
    tokens_per_day: Annotated[int, Rule(gt=0)] | None = None
    session_roots: Annotated[tuple[str, ...], FULL_PATHS] = ()

    def limits(self) -> MachineLimits:
        return MachineLimits(self.agents, self.usd_per_day, self.tokens_per_day)


@section
class WebSettings(Section):
    """How `nobrakes web` serves, where neither an option nor a variable says otherwise."""

    port: Annotated[int, Rule(ge=1, le=65535)] | None = None
    host: str = ""
    log_dir: Annotated[str, FULL_PATH] = ""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    editor: Literal["vscode", "vscodium", "cursor", "windsurf", "zed", "idea", "none"] = "vscode"


@section
class WorkspaceSettings(Section):
    """The folder of the person's projects. Unset: below this account's data (`nobrakes project list`)."""

    folder: Annotated[str, FULL_PATH] = ""


@section
class WatchdogSettings(Section):
    """Addresses tried before a daemon restarts; one answer of each list suffices. Empty `provider`: the agents'."""

    network: Annotated[tuple[str, ...], WEB_ADDRESSES] = ("https://one.one.one.one", "https://dns.google")
    provider: Annotated[tuple[str, ...], WEB_ADDRESSES] = ()


@section
class UserConfig(Section):
    """Every setting of a person."""

    machine: MachineSettings = MachineSettings()
    web: WebSettings = WebSettings()
    workspace: WorkspaceSettings = WorkspaceSettings()
    watchdog: WatchdogSettings = WatchdogSettings()


NAMES = tuple(field.name for field in fields(MachineSettings))


def load_user(path: str) -> UserConfig:
    """ConfigError names the file, key and allowed values."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        return UserConfig()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}", HINT) from None
    known = values.recall(path, text, _judge())
    if isinstance(known, dict):
        kinds: dict[str, Any] = {field.name: type(field.default) for field in fields(UserConfig)}
        return UserConfig(**{name: kinds[name](**_lists(table)) for name, table in known.items()})
    found = parse_user(text, path)
    values.keep(path, text, _judge(), asdict(found))
    return found


def _lists(table: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in table.items()}


def parse_user(text: str, where: str) -> UserConfig:
    try:
        found = toml.loads(text)
    except ValueError as error:
        raise ConfigError(f"{where} is not valid TOML: {error}", HINT) from None
    try:
        return validated(UserConfig, found)
    except ConfigError as error:
        raise ConfigError("\n".join(f"{where}: {line}" for line in str(error).splitlines()), HINT) from None


def _judge() -> str:
    code = os.stat(__file__)
    return f"{__version__} {code.st_mtime_ns} {code.st_size}"


def limits_of(words: Mapping[str, str]) -> dict[str, Any]:
    """`default` becomes the default. ConfigError names the mistake and all settings."""
    usual = asdict(MachineSettings())
    try:
        given = {name: usual.get(name) if word == "default" else _value(name, word) for name, word in words.items()}
        checked = asdict(validated(MachineSettings, given, "is not a known limit"))
    except ConfigError as error:
        raise ConfigError(str(error), f"The limits are: {', '.join(NAMES)}. {HINT}") from None
    return {name: checked[name] for name in words}


def _value(name: str, word: str) -> Any:
    if isinstance(getattr(MachineSettings(), name, None), tuple):
        return tuple(part.strip() for part in word.split(",") if part.strip())
    try:
        return int(word) if word.isdigit() else float(word)
    except ValueError:
        raise ConfigError(f"{name[:40]}: '{word[:40]}' is neither a number nor `default`") from None


def edited(text: str, changes: Mapping[str, Any], where: str) -> str:
    """The text with these settings of [machine]; a default removes one. Raises ConfigError."""
    from . import editing

    parse_user(text, where)
    for name, value in changes.items():
        path, plain = (TABLE, name), [*value] if isinstance(value, tuple) else value
        text = editing.with_value(text, path, plain, where) if value else editing.without(text, path, "", where)
    parse_user(text, where)
    return text
