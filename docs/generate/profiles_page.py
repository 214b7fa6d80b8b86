"""docs/reference/agent-profiles.md: the shipped profiles with the results of their tests, and the keys of a profile."""

from dataclasses import fields
from typing import get_args

from docs.generate.pages import row
from nobrakes.abilities import CHECKS
from nobrakes.config import profiles
from nobrakes.config.profiles import Fact, Kind, Line, Part, Profile, Proof, Trial

_INTRO = """# Agent profiles

A profile is a TOML file that describes an agent's program. nobrakes starts the program, gives it the prompt, reads its
output and continues its session as the profile says. [How to add your own](../how-to/agent-profiles.md).

## Profiles that come with nobrakes

The conformance test runs the real program with a scripted model on the loopback. `ok`: passed. `-`: the program cannot
do this, or nobody can see it: without permissions of its own (`deny`) an agent is restrained only by the sandbox or the
wall, and nobrakes does not start it if neither works. "By every release": the project's CI runs the test; the other
tests ran once, by hand, on that day. On that day each agent of this table also took a bead to main in the sandbox.
"""
_NOT_TRIED = """
## Profiles that nobody has tried

nobrakes ships these profiles, but never ran their programs. They may need changes. Each row shows what stopped the
test.
"""
_KEYS = """
## Keys of a profile

A path such as `part.state.0.text` leads into an event. These words in braces are filled in: `{prompt}` (the role and
the task), `{task}` (a file with both), `{role}` (a file with the role; then the prompt lacks the role), `{workspace}`,
`{home}` (a folder of this run), `{state}` (a folder of this bead, which later attempts see), `{session}`, `{model}`,
`{address}` (`base_url`), `{server}` (the program of nobrakes' MCP server; its argument is `mcp`), and `{permitted}` (a
command that the agent may run unconfined; the word or key that contains it is repeated for each). nobrakes does not
change any other word in braces.
"""
_TEXTS = {
    "title": "The name that people know.",
    "program": "The command, found on PATH.",
    "install": "What to type to install it.",
    "credentials": "Environment variables with keys that the agent gets.",
    "hosts": 'Addresses that it may reach with `sandbox.network = "provider"`, unless `base_url` is set.',
    "login": "Your login files (`~/…`), each with its place in the run. In a sandbox, the agent gets copies.",
    "login_command": "What to type to log in.",
    "instructions": "Globs of the agent's instructions and settings in a repository. nobrakes protects these files.",
    "output": '"text", or "events": one JSON object in each line. A line of text is the event `{line = …}`.',
    "lines": "What an event means: see below.",
    "says": "Sentences of errors by the [ending](outcomes.md) that they mean, such as `rate_limited`. Case is ignored. "
    "After exit code 0, a sentence counts only at the beginning of one of the last lines.",
    "launch": "Parts of the command line, environment and files: see below.",
    "proof": "The last test. nobrakes continues sessions only of this version, or of one that you tested.",
    "trial": "How the test's scripted model speaks to the agent. Without it, the agent cannot be tested.",
    "Part.when": f"All of these must hold: {', '.join(f'`{one}`' for one in get_args(Fact))}.",
    "Part.arguments": "Words of the command line, in the order of the parts.",
    "Part.environment": "Environment variables.",
    "Part.json": "JSON files in `{home}`, by path. Several parts may add to a file.",
    "Part.text": "Text files in `{home}`, by path.",
    "Part.stdin": "true: the task is the program's input.",
    "Line.kind": f"What the event is: {', '.join(f'`{one}`' for one in get_args(Kind))}.",
    "Line.when": "Paths with the values that they must have.",
    "Line.each": "The path of a list. The rule then applies to each member, which paths call `item`.",
    "Line.text": "The path of the text, the session's id, the cost in dollars, or a tool's input.",
    "Line.name": "The path of a tool's name.",
    "Line.command": "The path of the shell command of a tool call.",
    "Line.id": "The path of the call's id.",
    "Line.failed": "The path of a value that is empty or false if the tool call worked.",
    "Line.tokens": "Paths of the counts since the event before.",
    "Proof.version": "The tested version.",
    "Proof.date": "The day of the test.",
    "Proof.by": '"ci" or "hand".',
    "Proof.checks": "The results.",
    "Proof.why": "Why there was no test.",
    "Trial.path": "What follows the address: `/v1` for OpenAI's APIs, empty for Anthropic's and Google's.",
    "Trial.model": "The name of the model.",
    "Trial.variables": "Environment variables, such as a dummy key.",
    "Trial.shell": "The tool that runs `{command}`, and its input; or the words of a model without tools.",
    "Trial.write": "The tool that writes `{text}` to `{file}` in `{workspace}`, and its input; or such words.",
    "Trial.done": "The tool that ends the work, and its input, if words alone do not end it.",
    "Trial.is_plain": "true: the agent's requests name no tools.",
}


def profiles_page() -> str:
    """docs/reference/agent-profiles.md."""
    found = {name: one for name in profiles.shipped() if (one := profiles.find(name)) is not None}
    out = [_INTRO, row("name", "agent", "install", "proof", *CHECKS), "|---" * (4 + len(CHECKS)) + "|"]
    for name, one in found.items():
        if one.trial is not None:
            cells = [
                ("ok" if one.proof.checks[check] else "failed") if check in one.proof.checks else "-"
                for check in CHECKS
            ]
            out.append(row(f"`{name}`", one.title, f"`{one.install}`", one.proof.told(), *cells))
    out += [_NOT_TRIED, row("name", "agent", "install", "why"), "|---|---|---|---|"]
    out += [
        row(f"`{name}`", one.title, f"`{one.install}`", one.proof.why)
        for name, one in found.items()
        if one.trial is None
    ]
    out.append(_KEYS)
    for heading, kind in (
        ("", Profile),
        ("[[launch]]", Part),
        ("[[lines]]", Line),
        ("[proof]", Proof),
        ("[trial]", Trial),
    ):
        out += [f"### {heading}\n"] if heading else []
        out += [row("key", "what it is"), "|---|---|"]
        names = [one.name for one in fields(kind)]
        out += [row(f"`{name}`", _TEXTS[f"{kind.__name__}.{name}" if heading else name]) for name in names] + [""]
    return "\n".join(out).rstrip() + "\n"
