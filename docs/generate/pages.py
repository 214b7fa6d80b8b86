"""The reference pages of settings, events and outcomes, as Markdown, from the values that the program itself uses."""

from collections.abc import Iterator

from docs.generate.event_keys import KEYS
from nobrakes.agents.worker.end import MACHINE_FAULTS, STARTS_AFRESH
from nobrakes.beads.lifecycle import MOVING
from nobrakes.beads.model import TABLE, Outcome, retry_after
from nobrakes.beads.work_status import OUTCOMES
from nobrakes.config.editing import USER, settings
from nobrakes.config.sections import FROM_THE_START, LimitSettings
from nobrakes.config.setup.changing import allowed, known
from nobrakes.config.user import UserConfig
from nobrakes.decisions import table as decisions
from nobrakes.decisions.model import STOPS_BEAD, EscalationType
from nobrakes.decisions.table import ESCALATIONS
from nobrakes.events.catalog import TABLE as KINDS
from nobrakes.events.kinds import Kind


def row(*cells: str) -> str:
    """A line of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _allowed(section: str, name: str) -> str:
    """The values that the setting takes, from its field in nobrakes.config."""
    if section == "checks":
        return allowed(known(f"checks.0.{name}", {"checks": [{}]}).kind)
    return allowed(known(f"{section}.{name}".lstrip("."), {}).kind)


_SETTINGS_INTRO = """# Settings

The settings are in `.nobrakes/config.toml`, tracked by git. `nobrakes init` writes the most important ones there. A
setting takes effect when you save the file. If the file is not valid, the last valid settings stay in force and the
daemon warns you. An unknown key is an error.

- `nobrakes config` prints the settings in force; with `--all` as a file with all comments.
- `nobrakes config --check` validates the file.
- `nobrakes config set limits.doers 2` changes one setting and no other line. `nobrakes config unset` restores the
  default. Name a check by its name: `checks.test.retry`."""


_USER_INTRO = """## Your own settings

These are in `config.toml` in your settings folder, for all repositories (on Linux `~/.config/nobrakes/config.toml`;
NOBRAKES_USER_HOME names another folder). Edit the file yourself. `nobrakes machine set` changes those of
`[machine]`."""


_NO_DEFAULT = {
    "checks.name": "none; for example `{}`",
    "checks.command": "none; for example `{}`",
    "agents.claude.max_budget_usd": "not set; for example `{}`",
    "caps.": "not set; for example `{}`",
    "retention.archive_days": "not set; for example `{}`",
    **{f"notify.channels.phone.{name}": "none; for example `{}`" for name in ("type", "command", "url", "secret")},
}
"""The commented-out lines whose value is an example."""


def settings_page() -> str:
    """docs/reference/settings.md."""
    out = [_SETTINGS_INTRO]
    found = list(settings())
    for section in dict.fromkeys(one.section for one in found):
        heading = "[[checks]]" if section == "checks" else f"[{section}]" if section else "At the top"
        out += ["", f"## {heading}", "", row("setting", "value", "default", "what it does"), "|---|---|---|---|"]
        for one in found:
            if one.section == section:
                key = f"{section}.{one.name}".lstrip(".")
                whole = key if key in _NO_DEFAULT else f"{key.split('.')[0]}."
                default = _NO_DEFAULT.get(whole, "`{}`").format(one.default)
                out.append(row(f"`{one.name}`", _allowed(section, one.name), default, one.comment))
    limits = ", ".join(f"`{name}`" for name in LimitSettings.__dataclass_fields__ if name not in FROM_THE_START)
    out += ["", f"`nobrakes set` changes these limits in a running daemon, until the next change: {limits}."]
    out += ["", _USER_INTRO]
    own = list(settings(USER))
    for section in dict.fromkeys(one.section for one in own):
        out += ["", f"### [{section}]", "", row("setting", "value", "default", "what it does"), "|---|---|---|---|"]
        for one in own:
            if one.section == section:
                kind = known(f"{section}.{one.name}", {}, UserConfig)
                default = f"`{one.default}`" if kind.default is not None else f"not set; for example `{one.default}`"
                out.append(row(f"`{one.name}`", allowed(kind.kind), default, one.comment))
    return "\n".join(out) + "\n"


_EVENTS_INTRO = """# Events

nobrakes records everything that happens as an event, and only an event changes a bead's status. `nobrakes events` lists
the events; with `--json` it prints one object in each line:

```json
{"ts": "2026-01-31T02:10:04.125Z", "event": "doer_spawned", "task_id": "cli", "agent": "nobrakes",
 "metadata": {"seq": 41, "kind": "doer_started", "attempt": 7, "agent": "claude", "model": "",
              "name": "Ada", "number": 1, "role": "doer"}}
```

`ts` is the time in UTC. `event` is the public name of the event, and `metadata.kind` its kind; most kinds are their own
public name. `task_id` is the bead. `agent` is the actor: an agent's name, `nobrakes`, or the person. `metadata.seq` is
the number of the event, which `--after` and `nobrakes undo` take. `metadata.attempt` is the attempt in the database.
The table of keys below explains the other keys of `metadata`.

A kind with a dot (●) changes the bead's status, by the table in [the design](../design.md#the-life-of-a-bead)."""


def events_page() -> str:
    """docs/reference/events.md."""
    out = [_EVENTS_INTRO, "", row("kind", "public name", "what happened", "keys"), "|---|---|---|---|"]
    for kind in Kind:
        found = KINDS[kind]
        name = f"`{kind.value}`" + (" ●" if kind in MOVING else "")
        out.append(
            row(
                name,
                f"`{KINDS[kind].json or kind.value}`",
                found.meaning,
                ", ".join(f"`{key}`" for key in found.keys),
            )
        )
    out += ["", "## Keys", "", row("key", "what it says"), "|---|---|"]
    out += [row(f"`{key}`", KEYS[key]) for key in sorted({key for found in KINDS.values() for key in found.keys})]
    return "\n".join(out) + "\n"


_OUTCOMES_INTRO = """# Outcomes and escalations

This page lists the ways in which an attempt can end, and the consequences of each. The columns have these meanings:

- **counts**: whether the outcome counts as a failure of the bead. After `max_failures` counted failures nobrakes asks
  you (`repeated_failure`) and shows all attempts. Outcomes that do not count are not the bead's fault.
- **next attempt**: "After a while" is {first:.0f} s, then {second:.0f} s, doubling up to {last:.0f} minutes. After
  {faults} such outcomes in a row nobrakes asks you (`broken_environment`). "After the cooldown" means that the provider
  refuses all agents. No agent uses the provider before the reset time that the provider named. If it named none, the
  cooldown lasts as long as the column **cooldown** shows, and twice as long each time; then one agent tries first.
  "When the agent starts again" means that the agent's program fails. If the same outcome occurs on a second bead,
  nobrakes stops starting the agent and asks you once for all beads. If it occurs on only one bead, the bead waits, and
  nobrakes asks you the second time. `nobrakes providers` shows cooldowns and ends them.
- **session**: whether the next attempt continues the agent's session, or starts a new one.
- **reported**: who gets a report. "After your decision" means that no agent starts on the bead before you decide.
- **afresh**: whether nobrakes archives the branch, so that the next attempt starts without it. Otherwise nobrakes keeps
  the branch. If the agent chose to discard its branch, nobrakes archives it too."""


def outcomes_page() -> str:
    """docs/reference/outcomes.md."""
    machine = Outcome.WORKSPACE_FAILED
    out = [
        _OUTCOMES_INTRO.format(
            first=retry_after(machine, 1),
            second=retry_after(machine, 2),
            last=retry_after(machine, 99) / 60,
            faults=MACHINE_FAULTS,
        )
    ]
    heads = ("outcome", "what it means", "counts", "next attempt", "session", "reported", "cooldown", "afresh")
    out += ["", row(*heads), "|" + "---|" * len(heads)]
    for outcome in Outcome:
        then = TABLE[outcome]
        gate = f"{then.gate_seconds:g} s" if then.gate_seconds else ""
        counts, afresh = ("yes" if mark else "" for mark in (then.counts, outcome in STARTS_AFRESH))
        cells = (counts, then.retry.value, then.session.value, then.told.value, gate, afresh)
        out.append(row(f"`{outcome.value}`", OUTCOMES[outcome], *cells))
    out += [
        "",
        "## Escalations",
        "",
        "An escalation is a decision or a message for you. `nobrakes escalations` lists the",
    ]
    out += [
        "open ones. Those with priority P1 come first, those with P3 last, and otherwise the one for which most beads"
    ]
    out += ["wait comes first. `nobrakes escalation N` shows one escalation with its evidence.", ""]
    out += [row("type", "why", "its bead"), "|---|---|---|"]
    for type_ in EscalationType:
        out.append(row(f"`{type_.value}`", ESCALATIONS[type_], "waits" if type_ in STOPS_BEAD else "continues"))
    out += ["", _DECISIONS, "", row("type", "word", "about", "what is done"), "|---|---|---|---|"]
    alike: dict[tuple[tuple[str, str, str], ...], list[str]] = {}
    for type_, words in decisions.TABLE.items():
        alike.setdefault(tuple(_rows(words)), []).append(f"`{type_.value}`")
    for rows, types in alike.items():
        out += [row(", ".join(types), *cells) for cells in rows]
    out += ["", row("asked about", "option", "what is done beside answering"), "|---|---|---|"]
    for asked, options in decisions.OPTIONS.items():
        out += [row(asked, label, effect.value) for label, effect in options.items()]
    return "\n".join(out) + "\n"


def _rows(words: decisions.Rows) -> Iterator[tuple[str, str, str]]:
    """For each word and each of its effects: what is asked about then."""
    for word, ways in words.items():
        done: dict[str, list[str]] = {}
        for about, way in ways.items():
            done.setdefault(way.effect.value, []).append(about.value)
        yield from ((f"`{word}`", ", ".join(what), effect) for effect, what in done.items())


_DECISIONS = """## Decisions

The table shows the effect of each decision. `answer` is `nobrakes answer N`; every other word is an option of
`nobrakes resolve N`. nobrakes refuses a decision that the table does not contain. If several rows match, the one with
the narrowest subject counts. You can also answer a question that has options."""
