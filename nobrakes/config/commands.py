"""Commands on settings for pages. The command line says more of a change (cli.config), and changes every setting."""

import json
from typing import TYPE_CHECKING, Annotated, Any

from ..abilities import CODED
from ..command_table import TEXT, Field
from ..daemon.service import control
from ..events.kinds import Event, Kind
from ..records import plain
from ..text.cleaning import cut, one_line
from .sections import FROM_THE_START

if TYPE_CHECKING:
    from ..app import App
    from ..paths import Paths
    from ..store import Store
    from .setup.changing import Changed, SettingChange

Key = Annotated[str, Field("The setting, such as limits.doers or checks.test.retry.", metavar="KEY")]
Value = Annotated[str, Field("The value; for a list, one entry per line.", metavar="VALUE", most=TEXT)]


def set_value(app: "App", by: str, key: Key, value: Value = "") -> tuple["Changed", str]:
    """Change one setting in .nobrakes/config.toml; all other lines and comments stay. A value that is not allowed is
    refused. A terminal sets what runs a program, opens the sandbox or sends data away."""
    from .setup import changing

    return _change(app, by, key, changing.from_page(app.paths, key, value))


def unset(app: "App", by: str, key: Key) -> tuple["Changed", str]:
    """Remove a setting from .nobrakes/config.toml, so that its default applies again."""
    from .setup import changing

    changing.from_page(app.paths, key, "")
    return _change(app, by, key, None)


def _change(app: "App", by: str, key: str, word: str | None) -> tuple["Changed", str]:
    from .setup import changing

    changed = changing.change(app.paths, [(key, word)])
    record(app.store, changed, by)
    then = "the previous settings stay in force until config.toml is valid" if changed.wrong else since(app.paths, key)
    return changed, "; ".join([*change_lines(changed.changes), then])


def record(store: "Store", changed: "Changed", by: str) -> None:
    if changed.written and not changed.wrong:
        before = {one.key: None if one.was_default else one.before for one in changed.changes}
        after = {one.key: None if one.is_default else one.after for one in changed.changes}
        store.record(Event(Kind.CONFIG_CHANGED, actor=by, data={"before": before, "after": after}))


_STARTS = frozenset(
    {*(f"limits.{name}" for name in FROM_THE_START), "review.land", "review.remote"}
    | {"review.remote_branch", "review.remote_seconds", "review.code_host", "review.code_host_repository"}
    | {"git.filters", "git.clear_text", "git.sign", "git.committer"}
)


def since(paths: "Paths", *keys: str) -> str:
    """When a change takes effect."""
    pid = control.running(paths)
    if _STARTS.isdisjoint(keys):
        return "the change takes effect now" + (f"; the daemon (process {pid}) reads it automatically" if pid else "")
    return "the change takes effect at the next start" + (": nobrakes daemon restart" if pid else "")


def change_lines(changes: "tuple[SettingChange, ...]") -> list[str]:
    out = []
    for one in changes:
        before, after = shown(one.before), shown(one.after)
        if before == after:
            out.append(f"{one.key}: {after}, unchanged")
            continue
        before += " (default)" if one.was_default and one.before is not None else ""
        after += " (default)" if one.is_default and one.after is not None else ""
        out.append(f"{one.key}: {before} -> {after}")
    return out


def shown(value: Any) -> str:
    if isinstance(value, list | tuple) and len(value) == 1 and value[0] in CODED:
        value = value[0]  # one agent is a list of it alone
    return "not set" if value is None else cut(one_line(json.dumps(plain(value), ensure_ascii=False)), 200)
