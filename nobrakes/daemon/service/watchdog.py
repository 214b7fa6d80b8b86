"""One look of the watchdog: a daemon that is wanted and gone is started again, once the network and a provider answer.

1. An account has one watchdog. It is called from outside (a timer of systemd, cron, a person), looks at all the
   account's repositories and ends. How long it waits for each is in one file of the person's own place. It asks no
   model, and sends no key.
2. What `daemon start` refuses, it refuses, too; a start that failed is tried again like a network that is down.
"""

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from ...beads.model import Role
from ...config.user import OVERRIDE, is_in_a_run, make, user_place
from ...errors import ConfigError, DaemonRunning, NobrakesError, PlaceUnusable, UsageError
from ...files import storage_errors, write_atomic
from ...host import locks, versions
from ...machine.registry import own_settings
from ...paths import Paths
from ...records import frozen
from ..deciders import Facts, Waiting, after_failure, at_rest, still_waits
from . import control

if TYPE_CHECKING:
    from ...agents.adapter import Adapter
    from ...config.settings import Config
    from ...store import Store


Reach = Callable[[Sequence[str]], Mapping[str, str]]
"""By address: why it does not answer; empty: it does."""


@frozen
class Looked:
    """`started`: the pid of a new daemon. `down`: what did not answer, or why a start failed. `until`: the next check;
    0: at the next look."""

    said: str
    started: int | None = None
    down: tuple[str, ...] = ()
    until: float = 0.0


def look(
    store: "Store",
    paths: Paths,
    config: "Config",
    env: Mapping[str, str],
    require: Callable[[], None] = lambda: None,
    reach: Reach = versions.reach,
) -> Looked:
    """Check this repository once. `require` raises where `daemon start` refuses. Raises PlaceUnusable, ConfigError."""
    file = _file(paths)
    if resting := at_rest(_facts(store, paths)):
        with suppress(FileNotFoundError):
            os.unlink(file)
        return Looked(resting)
    now, waiting = store.now(), _read(file)
    if still_waits(waiting, now):
        return Looked("it is too early for the next check", until=waiting.until)
    own = own_settings().watchdog
    asked = {"the network": own.network, "the provider": own.provider or providers(config, env)}
    answers = reach(list(dict.fromkeys(url for urls in asked.values() for url in urls)))
    if down := [
        f"{what}: {'; '.join(f'{url} ({answers[url]})' for url in urls)}"
        for what, urls in asked.items()
        if urls and all(answers[url] for url in urls)
    ]:
        return _failed("not reachable, so no daemon is started", down, file, waiting, now)
    try:
        require()
        pid = control.start_again(paths, store)
    except DaemonRunning:  # somebody was quicker
        return Looked(at_rest(_facts(store, paths)))
    except NobrakesError as error:
        return _failed("the daemon could not be started", (error.whole,), file, waiting, now)
    if pid is None:
        return Looked(at_rest(replace(_facts(store, paths), works=None)))
    with suppress(FileNotFoundError):
        os.unlink(file)
    return Looked(f"the daemon was not running, so nobrakes started it again (process {pid})", pid)


def _facts(store: "Store", paths: Paths) -> Facts:
    return Facts(control.running(paths), control.is_wanted(store), store.setting(control.PAUSED) is not None)


def _failed(said: str, down: Sequence[str], file: str, waiting: Waiting, now: float) -> Looked:
    after = after_failure(waiting, now)
    make(os.path.dirname(os.path.dirname(file)))
    make(os.path.dirname(file))
    write_atomic(file, json.dumps(asdict(after)).encode())
    return Looked(said, down=tuple(down), until=after.until)


def providers(config: "Config", env: Mapping[str, str]) -> tuple[str, ...]:
    """The providers' addresses of these agents; empty: unknown, as for a script."""
    from ...agents.adapter import Assignment

    nobody = Assignment(
        role=Role.DOER,
        bead="",
        worker="",
        attempt=1,
        prompt="",
        prompt_file="",
        workspace="/",
        folder="/",
        session="",
        resume=False,
        env={**env, "NOBRAKES_HOME": "/"},
        settings=config.agents,
        system_prompt="",
        guard=("true",),
    )
    found: dict[str, None] = {}
    for agent in _agents(config):
        with suppress(ConfigError):
            found.update(dict.fromkeys(agent.launch(nobody).hosts[:1]))  # the others renew logins
    return tuple(found)


def _agents(config: "Config") -> "list[Adapter]":
    from ...agents.known import ADAPTERS, adapter

    names = dict.fromkeys((*config.agents.agent_choice().names(), *config.agents.shaper))
    return [adapter(name) for name in names if name in ADAPTERS]


def _file(paths: Paths) -> str:
    name = sha256(os.fsencode(os.path.realpath(paths.root))).hexdigest()[:16]
    return os.path.join(user_place().state, "watchdog", f"{name}.json")


def _read(file: str) -> Waiting:
    try:
        with open(file, encoding="utf-8") as opened:
            found = json.load(opened)
        return Waiting(int(found["failures"]), float(found["until"]))
    except FileNotFoundError:
        return Waiting()
    except (OSError, ValueError, TypeError, KeyError) as error:  # how long it waits may be in it
        text = f"the watchdog cannot read its waiting time from {file}: {error}"
        raise PlaceUnusable(text, "Move this file away; the next check then starts the daemon.") from None


KEPT = ("PATH", OVERRIDE, "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "SSL_CERT_FILE", "SSL_CERT_DIR")


NAME = "nobrakes-watchdog"
"""Of the units."""
_EARLIER = re.compile(r"nobrakes-.+-[0-9a-f]{8}\.(service|timer)", re.ASCII)
"""Units of earlier versions, which had a watchdog for each repository."""


# A timer looks once a minute; the service is one look that ends, and a daemon that it starts lives on
# (KillMode=process). Units hold no secret. A file that somebody changed since is put beside itself and not removed.
@frozen
class Plan:
    """What `install` does or `uninstall` undoes. `files`: text by path; `commands` follow. `earlier`: units of earlier
    versions, which go. `not_written`: keys of agents that the units lack."""

    files: Mapping[str, str]
    commands: tuple[tuple[str, ...], ...]
    lingers: bool
    not_written: tuple[str, ...] = ()
    by_hand: str = ""
    earlier: tuple[str, ...] = ()


def plan(env: Mapping[str, str]) -> Plan:
    """The account's units. UsageError: a variable cannot be written into one."""
    from ...agents.known import ADAPTERS, adapter

    home = env.get("XDG_CONFIG_HOME") or os.path.join(env.get("HOME", ""), ".config")
    if not os.path.isabs(home):
        raise UsageError("HOME is not set, so nobrakes cannot find your systemd units", "Set HOME, and try again.")
    folder = os.path.join(home, "systemd", "user")
    words = [sys.executable, "-P", "-m", "nobrakes", "daemon", "watch"]
    variables = [f"Environment={_quoted(f'{key}={env[key]}')}" for key in KEPT if env.get(key)]
    service = [
        "[Unit]",
        "Description=nobrakes watchdog",
        "",
        "[Service]",
        "Type=oneshot",
        "WorkingDirectory=%h",
        *variables,
        "ExecStart=" + " ".join(_quoted(word, is_command=True) for word in words),
        "KillMode=process",
        "TimeoutStartSec=120",
    ]
    timer = [
        "[Unit]",
        "Description=nobrakes watchdog, once a minute",
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
    files = {os.path.join(folder, f"{NAME}.{kind}"): _marked("\n".join([*lines, ""])) for kind, lines in made.items()}
    commands = (("daemon-reload",), ("enable", "--now", f"{NAME}.timer"))
    keys = dict.fromkeys(key for name in ADAPTERS for key in adapter(name).credentials)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    earlier = tuple(os.path.join(folder, name) for name in names if _EARLIER.fullmatch(name))
    not_written = tuple(key for key in keys if env.get(key))
    by_hand = f"PATH={shlex.quote(env.get('PATH', os.defpath))} {shlex.join(words)}".replace("%", "\\%")
    return Plan(files, commands, locks.lingers(), not_written, by_hand, earlier)


def install(wanted: Plan) -> None:
    """Write the units and start the timer. Raises NobrakesError (systemd); NotAllowed in a run."""
    _require_systemd(wanted)
    for path, text in wanted.files.items():
        with storage_errors(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        _move_away(path)
        write_atomic(path, os.fsencode(text), 0o644)
    _remove(wanted.earlier)
    _control(wanted.commands)


def uninstall(wanted: Plan) -> tuple[str, ...]:
    """Stop the timer and remove the units; returns the files. A running daemon goes on."""
    _require_systemd(wanted)
    if not (there := installed(wanted)):
        raise UsageError("no watchdog is installed", "`nobrakes daemon install`")
    _remove(there)
    _control((("daemon-reload",),))
    return there


def installed(wanted: Plan) -> tuple[str, ...]:
    return tuple(path for path in (*wanted.files, *wanted.earlier) if os.path.lexists(path))


def _remove(paths: Sequence[str]) -> None:
    """Stop the timers and remove the units."""
    for path in paths:
        if path.endswith(".timer"):
            _control((("disable", "--now", os.path.basename(path)),))
        _move_away(path)
        with suppress(FileNotFoundError), storage_errors(path):
            os.unlink(path)


def _control(commands: tuple[tuple[str, ...], ...]) -> None:
    for words in commands:
        code, said = locks.control(*words)
        if code:
            raise NobrakesError(f"systemctl --user {' '.join(words)} failed with exit code {code}: {said}", "")


def _require_systemd(wanted: Plan) -> None:
    if is_in_a_run():
        raise NobrakesError("agents and checks cannot install the watchdog", "")
    if lacking := locks.why_not():
        hint = f"Use another timer, such as this line of a crontab:\n* * * * * {wanted.by_hand}"
        raise NobrakesError(f"systemd cannot run the watchdog: {lacking}", hint)


def _marked(text: str) -> str:
    """The text below a line with its digest, which identifies our files."""
    digest = sha256(os.fsencode(text)).hexdigest()[:16]
    return f"# Written by nobrakes ({digest}): `nobrakes daemon uninstall` takes it away.\n{text}"


def _move_away(path: str) -> None:
    """Keep a file that `install` did not write beside itself."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            found = file.read()
    except FileNotFoundError:
        return
    if found != _marked(found.partition("\n")[2]):
        with storage_errors(path):
            os.replace(path, f"{path}.before")


def _plain(text: str) -> str:
    if not text.isprintable() or text != text.strip() or text.endswith("\\"):
        raise UsageError(f"{text!r} cannot be written into a systemd unit", "Change the value, then try again.")
    return text.replace("%", "%%")


def _quoted(text: str, is_command: bool = False) -> str:
    escaped = _plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped.replace("$", "$$") if is_command else escaped}"'
