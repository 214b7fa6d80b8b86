"""The watchdog's units of systemd, for one repository: what they say, and putting them in place or taking them away.

1. A timer looks once a minute, and soon after the account's services begin; the service is one look that ends. A daemon
   that it starts lives on beside it (KillMode=process).
2. Units are made of paths and of variables that hold no secret. A key of the environment is never written down.
3. A file that somebody changed since, as its first line tells, is not removed but put beside itself.
"""

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

from ..core.errors import NobrakesError, UsageError
from ..host import systemd
from ..host.files import storage_errors, write_atomic
from ..place import OVERRIDE, is_in_a_run

KEPT = ("PATH", OVERRIDE, "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR")
"""What a service has to know of the environment, as it is when it is installed."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What `install` does, or `uninstall` undoes. `files` is the text by path; `commands` are typed afterwards.

    `not_written`: keys that agents have in this environment, and a daemon that is started by the units has not.
    """

    name: str
    files: Mapping[str, str]
    commands: tuple[tuple[str, ...], ...]
    lingers: bool
    not_written: tuple[str, ...] = ()
    by_hand: str = ""


def name_of(root: str) -> str:
    """What the units of the repository are called."""
    whole = os.path.realpath(root)
    word = re.sub(r"[^A-Za-z0-9]+", "-", os.path.basename(whole)).strip("-")[:40] or "repository"
    return f"nobrakes-{word}-{sha256(os.fsencode(whole)).hexdigest()[:8]}"


def plan(root: str, env: Mapping[str, str], keys: tuple[str, ...] = (), user: bool = False) -> Plan:
    """The units for the repository. UsageError: its path, or a variable, cannot be written into one."""
    name, folder = name_of(root), _folder(env)
    words = [sys.executable, "-P", "-m", "nobrakes", "daemon", "watch", *(["--user"] if user else [])]
    variables = [f"Environment={_quoted(f'{key}={env[key]}')}" for key in KEPT if env.get(key)]
    service = [
        "[Unit]",
        f"Description=nobrakes watchdog of {_plain(root)}",
        "",
        "[Service]",
        "Type=oneshot",
        f"WorkingDirectory={_plain(root)}",
        *variables,
        "ExecStart=" + " ".join(_quoted(word, is_command=True) for word in words),
        "KillMode=process",
        "TimeoutStartSec=120",
    ]
    timer = [
        "[Unit]",
        f"Description=nobrakes watchdog of {_plain(root)}, once a minute",
        "",
        "[Timer]",
        "OnStartupSec=20",
        "OnCalendar=minutely",
        "AccuracySec=10",
        "",
        "[Install]",
        "WantedBy=timers.target",
    ]
    made = {"service": service, "timer": timer}
    files = {os.path.join(folder, f"{name}.{kind}"): _marked("\n".join([*lines, ""])) for kind, lines in made.items()}
    commands = (("daemon-reload",), ("enable", "--now", f"{name}.timer"))
    not_written = tuple(key for key in keys if env.get(key))
    return Plan(name, files, commands, systemd.lingers(), not_written, _by_hand(root, words, env))


def install(wanted: Plan) -> None:
    """Write the units and start the timer. NobrakesError: systemd is not there, or refuses; NotAllowed in a run."""
    _require_systemd(wanted)
    for path, text in wanted.files.items():
        with storage_errors(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        _put_aside(path)
        write_atomic(path, os.fsencode(text), 0o644)
    _control(wanted.commands)


def uninstall(wanted: Plan) -> tuple[str, ...]:
    """Stop the timer and take the units away; the files that are gone. A daemon that works goes on."""
    _require_systemd(wanted)
    there = [path for path in wanted.files if os.path.lexists(path)]
    if not there:
        raise UsageError(f"no watchdog is installed for this repository ({wanted.name})", "`nobrakes daemon install`")
    _control((("disable", "--now", f"{wanted.name}.timer"),))
    for path in there:
        _put_aside(path)
        with suppress(FileNotFoundError), storage_errors(path):
            os.unlink(path)
    _control((("daemon-reload",),))
    return tuple(there)


def installed(wanted: Plan) -> bool:
    """Whether the files are there."""
    return all(os.path.exists(path) for path in wanted.files)


def _control(commands: tuple[tuple[str, ...], ...]) -> None:
    for words in commands:
        code, said = systemd.control(*words)
        if code:
            raise NobrakesError(f"systemctl --user {' '.join(words)} ended with {code}: {said}", "")


def _require_systemd(wanted: Plan) -> None:
    if is_in_a_run():
        raise NobrakesError("an agent or a check installs nothing", "")
    lacking = systemd.why_not()
    if lacking:
        hint = f"Let anything else look once a minute, such as this line of a crontab:\n* * * * * {wanted.by_hand}"
        raise NobrakesError(f"the watchdog's units cannot be used: {lacking}", hint)


def _marked(text: str) -> str:
    """The text below a first line that says whose it is, and by whose digest it is known again."""
    digest = sha256(os.fsencode(text)).hexdigest()[:16]
    return f"# Written by nobrakes ({digest}): `nobrakes daemon uninstall` takes it away.\n{text}"


def _put_aside(path: str) -> None:
    """Keep a file that is not as any `install` wrote it beside itself."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            found = file.read()
    except FileNotFoundError:
        return
    if found != _marked(found.partition("\n")[2]):
        with storage_errors(path):
            os.replace(path, f"{path}.before")


def _folder(env: Mapping[str, str]) -> str:
    home = env.get("XDG_CONFIG_HOME") or os.path.join(env.get("HOME", ""), ".config")
    if not os.path.isabs(home):
        raise UsageError("HOME is not set, so nobody knows whose units are meant", "Set HOME, and try again.")
    return os.path.join(home, "systemd", "user")


def _by_hand(root: str, words: list[str], env: Mapping[str, str]) -> str:
    """The same as a line for a crontab, whose commands find no program but the system's."""
    import shlex

    line = f"cd {shlex.quote(root)} && PATH={shlex.quote(env.get('PATH', os.defpath))} {shlex.join(words)}"
    return line.replace("%", "\\%")


def _plain(text: str) -> str:
    """For a line that takes no quotes. UsageError: it cannot be on one."""
    if not text.isprintable() or text != text.strip() or text.endswith("\\"):
        raise UsageError(f"{text!r} cannot be written into a unit of systemd", "Use a folder without such characters.")
    return text.replace("%", "%%")


def _quoted(text: str, is_command: bool = False) -> str:
    """One word in quotes, as systemd reads them."""
    escaped = _plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped.replace("$", "$$") if is_command else escaped}"'
