"""The eight journeys: what a person types in each, and the page that shows what that prints.

1. They are played in one shop, in the order of JOURNEYS; `before` waits until what the next command shows is there.
2. `played` gives the page's text. What differs from play to play is masked; what differs from machine to machine is
   shown, and `comparable` takes it out.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from shlex import join

from tests.support.scripted import until
from tests.support.shop import Shop

Before = Callable[[Shop], None]
MAX_COMMANDS = 5
"""Commands of one journey."""


def at_once(_: Shop) -> None:
    """Nothing is waited for."""


@dataclass(frozen=True)
class Command:
    """`nobrakes WORDS`; at the text `waits`, `act` is done and the keys are pressed that it gives."""

    words: tuple[str, ...]
    before: Before = at_once
    waits: str = ""
    act: Callable[[Shop], str] = lambda _: ""


@dataclass(frozen=True)
class Journey:
    """A title, a sentence or two for people, and the commands."""

    title: str
    text: str
    commands: tuple[Command, ...]


def yes(_: Shop) -> str:
    """What a person types who agrees."""
    return "y\n"


def asked(shop: Shop) -> None:
    """The agent on the receipt has asked, and stopped."""
    until(lambda: _status(shop, "receipt") == "escalated", 120, lambda: shop.ask("status"))


def at_work(bead: str, says: str) -> Before:
    """An agent works on the bead, has said this, and waits until it is let."""

    def is_so(shop: Shop) -> bool:
        return says in str(shop.ask("status")) + str(shop.ask("history", bead, "--transcript"))

    return lambda shop: until(
        lambda: is_so(shop), 120, lambda: (shop.ask("status"), shop.ask("history", bead, "--transcript"))
    )


def _status(shop: Shop, bead: str) -> str:
    return str(shop.ask("show", bead)["status"])


RECEIPT = at_work("receipt", "wrote the files of receipt/code")
VOUCHERS = at_work("vouchers", "reading what a voucher is")

JOURNEYS = (
    Journey(
        "Set nobrakes up in a repository",
        "The repository is a small shop in Python. nobrakes detects the test command and reports what is missing.",
        (
            Command(("init",), waits="[y/N]: ", act=yes),
            Command(("config", "--check"), before=Shop.configure),
            Command(("doctor",)),
        ),
    ),
    Journey(
        "The Forge: from a plan to live beads",
        "A plan file contains three beads, which are drafts until you approve them. After that, you start the daemon.",
        (
            Command(("plan", "apply", "plan.yaml")),
            Command(("commit-strategy",), waits="[y/N]: ", act=yes),
            Command(("daemon", "start")),
        ),
    ),
    Journey(
        "The Board: the state of the work, and the life of a bead",
        "Some time later, one bead is done at the second attempt, and another bead is waiting for your answer.",
        (
            Command(("status",), before=asked),
            Command(("graph",)),
            Command(("history", "discount")),
        ),
    ),
    Journey(
        "The Decision Desk: what only you can decide",
        "The agent on the bead `receipt` asked a question and ended, so the agent costs nothing while you sleep.",
        (
            Command(("escalations",)),
            Command(("escalation", "1")),
            Command(("answer", "1", "Yes: it prints only its total, 0.")),
        ),
    ),
    Journey(
        "Is it running, and what is it doing?",
        "The next agent on the bead has your answer and is working.",
        (
            Command(("daemon", "status"), before=RECEIPT),
            Command(("status",)),
            Command(("doctor",)),
        ),
    ),
    Journey(
        "Watch an agent work",
        "Type `watch` with the name of an agent or a bead. Ctrl-C ends `watch`, but does not stop the agent.",
        (Command(("watch", "receipt"), waits="wrote the files", act=lambda shop: shop.let("receipt")),),
    ),
    Journey(
        "What was merged, what was sent back, and why",
        "nobrakes shows the output of the tests, the evidence of a merge, and the merged changes.",
        (
            Command(("review",), before=VOUCHERS),
            Command(("review", "receipt")),
            Command(("diff", "receipt")),
        ),
    ),
    Journey(
        "The Breaker Box: pause, change, stop, start",
        "nobrakes saves a stopped agent's work, and the next agent continues from there.",
        (
            Command(("pause",)),
            Command(("set", "doers=2")),
            Command(("resume",)),
            Command(("daemon", "stop")),
            Command(("daemon", "start")),
        ),
    ),
)

HEAD = """# Eight journeys

This page shows what you type for each task, and what a terminal of 80 columns shows. A test plays all eight journeys
with every change of nobrakes, in one repository from top to bottom; a script plays the agent. Times, process numbers
and commit ids on this page are replaced by fixed values.
"""
DEVELOPERS = re.compile(r"^warning  start-up |^ +to repair: nobrakes doctor --repair compile$")
"""What doctor says of a checkout that is worked on, and of no installed nobrakes."""
CUT = 60
"""So much of a line that was cut is always shown."""
OF_MACHINES = (
    re.compile(r"^(ok|warning|error) +(git|owner|sandbox|start-up|wall) .*$"),
    re.compile(r"^.*(bubblewrap|Landlock).*$"),
    re.compile(r"^[ ^~|]+$"),
    re.compile(r"^.*File \".*$"),
)
"""Lines that say what machine it is, which Python, or how it writes a traceback."""


def played(shop: Shop) -> str:
    """Play them all; the page."""
    out = [HEAD]
    for number, journey in enumerate(JOURNEYS, 1):
        out += [f"## {number}. {journey.title}\n\n{journey.text}\n\n```"]
        out += ["\n\n".join(_shown(shop, command) for command in journey.commands), "```\n"]
    return "\n".join(line for line in "\n".join(out).split("\n") if not DEVELOPERS.match(line))


def _shown(shop: Shop, command: Command) -> str:
    command.before(shop)
    done = shop.type(command.words, command.waits, lambda: command.act(shop))
    code = f"\n(exit code {done.code})" if done.code else ""
    return f"$ nobrakes {join(command.words)}\n{shop.masked(done.text).strip()}{code}"


def comparable(page: str) -> list[str]:
    """The page's lines without what a machine says of itself; what took longer made a
    column wider, and let less of a line be shown.
    """
    kept = (line for line in page.splitlines() if not any(pattern.match(line) for pattern in OF_MACHINES))
    narrow = (re.sub(r"(?<=\S) {2,}", "  ", line) for line in kept)
    return [f"{line[:CUT]}…" if line.endswith("…") else line for line in narrow]
