"""The user's own file of secrets, which lies outside of every repository: names, and the address or token of each.

1. It is `secrets.toml` in the user's folder of settings, and holds nothing but NAME = "value".
2. It is read only where nobody else could read or write it: a plain file of this user with mode 0600.
3. A secret is in no message, no error and no command line.
"""

import os
import re
import stat
from collections.abc import Mapping

from ..core.errors import ConfigError, NotAllowed, UsageError
from ..place import make, user_place
from ..replacing import replacing

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
MOST = 4096
"""Characters of a secret."""


def secrets_path() -> str:
    """The user's file of secrets. NotAllowed for an agent or a check, PlaceUnusable."""
    return os.path.join(user_place().settings, "secrets.toml")


def secret(name: str) -> str:
    """The secret of this name; ConfigError where there is none, or where others could read the file."""
    found = _read(secrets_path()).get(name)
    if found is None:
        raise ConfigError(f"there is no secret '{name[:64]}'", f"`nobrakes notify secret {name[:64]}` takes it in.")
    return found


def keep(name: str, value: str) -> str:
    """Write the secret into the file; its path. UsageError for what is none, ConfigError where others read the file."""
    if not NAME.fullmatch(name):
        raise UsageError(
            "the name of a secret has letters, digits, - and _", "For example: nobrakes notify secret phone"
        )
    value = value.strip()
    if not value or not value.isprintable() or len(value) > MOST:
        raise UsageError(f"a secret is one line of at most {MOST} characters", "Give it on stdin, or when asked.")
    path = secrets_path()
    known = {**_read(path), name: value} if os.path.lexists(path) else {name: value}
    make(os.path.dirname(path))
    text = "".join(f"{key} = {_quoted(known[key])}\n" for key in sorted(known))
    try:
        with replacing(path, 0o600) as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise NotAllowed(f"{path} cannot be written: {error.strerror or error}", "Look whose folder it is.") from None
    return path


def _quoted(text: str) -> str:
    import json

    return json.dumps(text, ensure_ascii=False)


def _read(path: str) -> Mapping[str, str]:
    import tomllib

    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}", _HINT) from None
    with os.fdopen(descriptor, "rb") as file:
        _require_private(path, os.fstat(descriptor))
        try:
            found = tomllib.loads(file.read().decode())
        except ValueError:  # the error would quote the line
            raise ConfigError(f"{path} is not valid TOML", 'Each line of it is NAME = "value".') from None
    if not all(isinstance(value, str) for value in found.values()):
        raise ConfigError(f"{path} holds more than names and texts", 'Each line of it is NAME = "value".')
    return found


_HINT = "It has to be a plain file of yours with mode 0600."


def _require_private(path: str, found: os.stat_result) -> None:
    if not hasattr(os, "getuid"):
        return  # Windows: the folder of the user is closed to others by its access list
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ConfigError(f"{path} may be read or changed by others, so no secret is taken from it", _HINT)
