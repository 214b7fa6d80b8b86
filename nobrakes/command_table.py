"""Every command: its words, module and one line of help. The one list that help, docs and tests read.

1. A command's module is imported only when it is called.
2. `changes`: ATOMIC, STEPS or UNKEYED for commands that change something; agents (NOBRAKES_TOKEN is set) may not use
   them.
3. `journey` groups the overview and `--help`, which show FIRST and SHOWN; `nobrakes help --all` shows all under their
   nouns (NOUNS).
4. Old names (OLD_NAMES) lead to the new one.
5. A command for every surface is a function of a subject's `commands`: first the app and the actor, then the inputs,
   each with type and Field, from which CLI options and page forms are made. It returns a record (JSON) and text; a page
   shows line one.
6. If its text needs layout, a function of cli/ prints it (PRINTED), and takes the inputs as `**given`.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from importlib import import_module
from inspect import Parameter as Given
from inspect import signature
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, get_args

from .records import frozen

CommandFunction = Callable[..., tuple[Any, str]]
WORD, NOTE, TEXT = 200, 4000, 200_000
"""Characters of an id or name, a title or note, a description or plan."""


@frozen
class Field:
    """`options`: as typed; without, it is positional. `most`: characters that a page may send. `reads_stdin`: on the
    command line `-` means standard input. `choices`: each is an option on the command line, with its meaning; one is
    given. `one_of`: its possible words, which a page offers. `joined`: a page sends several, joined by commas. `keyed`:
    a page sends NAME.KEY for each KEY=VALUE. `least`, `greatest`: of a number. `hidden`: help leaves it out. The
    command line adds to `help` what only it can do."""

    help: str
    options: tuple[str, ...] = ()
    metavar: str = ""
    most: int = WORD
    reads_stdin: bool = False
    choices: Mapping[str, str] = field(default_factory=dict)
    one_of: tuple[str, ...] = ()
    joined: bool = False
    keyed: bool = False
    least: int | None = None
    greatest: int | None = None
    hidden: bool = False


@frozen
class Parameter:
    """A command's argument. `type`: str, int, float, bool, or a tuple of one of them."""

    name: str
    type: Any
    field: Field
    default: Any

    def is_required(self) -> bool:
        return self.default is Given.empty

    def given(self) -> Given:
        """As `parameters_of` reads it."""
        return Given(self.name, Given.KEYWORD_ONLY, default=self.default, annotation=Annotated[self.type, self.field])


def parameters_of(function: Callable[..., Any], after: int = 2) -> tuple[Parameter, ...]:
    """Its parameters after the first ones, which a command for every surface gets from its caller."""
    found = list(signature(function).parameters.values())[after:]
    return tuple(_parameter(one) for one in found if one.kind is not Given.VAR_KEYWORD)


def _parameter(one: Given) -> Parameter:
    type_, field = get_args(one.annotation)
    if isinstance(type_, UnionType):
        type_ = next(kind for kind in get_args(type_) if kind is not NoneType)
    return Parameter(one.name, type_, field, one.default)


FORGE = "Forge: plan the work"
BOARD = "Board: see the state of the work"
DESK = "Decision Desk: decide what waits for you"
BREAKER = "Breaker Box: start, stop, repair"
AGENTS = "For agents"
JOURNEYS = (FORGE, BOARD, DESK, BREAKER, AGENTS)

ATOMIC = "atomic"
"""The command changes only the store; its key (`--request`) is in the same transaction."""
STEPS = "steps"
UNKEYED = "unkeyed"
"""The command begins a database, talk, server or run: it may repeat, and takes no key."""


class Entry(NamedTuple):
    """One command. `words`: as typed; `target`: module:function below nobrakes.cli, or of a subject's `commands`."""

    words: str
    target: str
    journey: str
    help: str
    changes: str = ""
    hidden: bool = False
    streams: bool = False  # with --json it prints JSON lines instead of one envelope

    @property
    def at_home(self) -> bool:
        return self.words in AT_HOME

    @property
    def cli(self) -> str:
        return PRINTED.get(self.words, "")

    @property
    def subject(self) -> str:
        return self.cli or self.target.partition(":")[0].removesuffix(".commands")

    def command(self) -> CommandFunction | None:
        """The function for every surface; None: only the command line has it."""
        module, name = self.target.split(":")
        return getattr(import_module(f"nobrakes.{module}"), name) if module.endswith(".commands") else None


PRINTED = {
    **dict.fromkeys(("config set", "config unset"), "config"),  # a terminal changes every setting
    **dict.fromkeys(("plan apply", "propose", "commit-strategy"), "plans"),  # files, colours, a question before the yes
    **dict.fromkeys(("project new", "project archive", "project continue"), "projects"),  # they need no repository
    **dict.fromkeys(("project run", "project schedule"), "projects"),  # by its name; a question before the yes
    "pr open": "review",  # it opens the browser
    "forge rollback": "features",  # without --yes it shows what would happen
    **dict.fromkeys(("daemon start", "providers"), "daemon"),  # what stops work, as wide as the screen
}
"""Commands for every surface whose text a function of the same name in cli/ prints."""
AT_HOME = frozenset(
    (
        *("answer", "answers", "daemon restart", "daemon start", "daemon status", "daemon stop"),
        *("escalation", "escalations", "relay", "resolve", "session end", "session hand-in"),
        *("session say", "session show", "session start", "session stop", "sessions", "watch"),
    )
)
"""The commands that take --user."""
ANYWHERE = frozenset(("demo", "help", "machine", "mcp", "project", "repositories", "version", "web"))
"""First words of commands that do the same in every folder."""

COMMANDS: tuple[Entry, ...] = (
    Entry("init", "config:init", FORGE, "Set up nobrakes in this repository.", UNKEYED),
    Entry("demo", "config:demo", FORGE, "Build an example program in a new repository, without an agent.", UNKEYED),
    Entry("config", "config:config", FORGE, "Show the settings; set, get or unset a setting."),
    Entry("config set", "config.commands:set_value", FORGE, "Change one setting, and no other line.", UNKEYED),
    Entry("config get", "config:get", FORGE, "Show one setting, or a table of them."),
    Entry("config unset", "config.commands:unset", FORGE, "Reset a setting to its default.", UNKEYED),
    Entry("add", "beads.commands:add", FORGE, "Add a bead.", ATOMIC),
    Entry("edit", "beads.commands:edit", FORGE, "Change a bead's title, texts, priority or epic.", ATOMIC),
    Entry("depend", "beads.commands:depend", FORGE, "Make a bead wait until another bead is done.", ATOMIC),
    Entry("undepend", "beads.commands:undepend", FORGE, "Remove a dependency.", ATOMIC),
    Entry("plan apply", "decisions.commands:apply", FORGE, "Add a plan, a task list or issues as drafts.", ATOMIC),
    Entry("plan example", "plans:example", FORGE, "Print an example of a plan file."),
    Entry("sync beads", "plans:sync_beads", FORGE, "Keep a file of Beads and the beads here in step.", STEPS),
    Entry("propose", "decisions.commands:propose", FORGE, "Add a plan's beads as drafts, for your approval.", ATOMIC),
    Entry("shape", "features:shape", FORGE, "Plan with the Shaper, an agent that asks you questions.", UNKEYED),
    Entry("reshape", "features:reshape", FORGE, "Plan the next step with the Shaper, using escalations.", UNKEYED),
    Entry(
        "commit-strategy",
        "decisions.commands:commit_strategy",
        FORGE,
        "Approve drafts and proposed changes.",
        STEPS,
    ),
    Entry(
        "forge new", "features.commands:new", FORGE, "Start a feature: an idea that an agent plans with you.", ATOMIC
    ),
    Entry("forge edit", "features.commands:edit", FORGE, "Change a feature's title, description or criteria.", ATOMIC),
    Entry("forge change", "features.commands:change", FORGE, "Ask for a change to a feature's plan.", ATOMIC),
    Entry(
        "forge discuss", "features.commands:discuss", FORGE, "Ask a feature's Shaper about a step of its plan.", ATOMIC
    ),
    Entry("forge pause", "features.commands:pause", FORGE, "Pause a feature: its agent starts no new turn.", ATOMIC),
    Entry("forge resume", "features.commands:resume", FORGE, "Resume a feature.", ATOMIC),
    Entry(
        "forge cancel", "features.commands:cancel", FORGE, "Stop a feature's agents now; the feature is paused.", ATOMIC
    ),
    Entry("forge rollback", "features.commands:rollback", FORGE, "Undo a whole feature, including its merges.", ATOMIC),
    Entry("forge archive", "features.commands:archive", FORGE, "Hide a feature from lists.", ATOMIC),
    Entry("forge list", "features:list_features", BOARD, "List your features, each with its stage."),
    Entry("forge show", "features:show", BOARD, "Show a feature: its plan, reviews and collected items."),
    Entry("forge scan", "features:scan", BOARD, "List `TODO` comments in the code that a feature starts from."),
    Entry("forge sign-off", "features.commands:sign_off", FORGE, "Approve a feature's plan after its reviews.", ATOMIC),
    Entry("forge answer", "features.commands:answer", FORGE, "Answer a `TODO` comment in a feature's files.", ATOMIC),
    Entry(
        "forge checkpoint", "features.commands:checkpoint", FORGE, "Add collected items to a feature's plan.", ATOMIC
    ),
    Entry("session start", "sessions.commands:start", FORGE, "Talk with an agent, or let it work (--works).", STEPS),
    Entry("session say", "sessions.commands:say", FORGE, "Send a message to a session.", STEPS),
    Entry("session show", "sessions:show", FORGE, "Show a session with all its messages."),
    Entry("session stop", "sessions.commands:stop", FORGE, "Stop the current turn of a session.", STEPS),
    Entry("session hand-in", "sessions.commands:hand_in", FORGE, "Hand a session's branch to the Reviewer.", STEPS),
    Entry("session end", "sessions.commands:end", FORGE, "End a session.", STEPS),
    Entry("project list", "projects:list_projects", BOARD, "List your projects."),
    Entry("project new", "projects.commands:new", FORGE, "Create a project: a repository with a brief.", STEPS),
    Entry("project use", "projects:use", FORGE, "Confirm the project that a session works on.", STEPS),
    Entry("project show", "projects:show", BOARD, "Show a project: its brief, its status, its criteria."),
    Entry("project status", "projects:status", BOARD, "Show every project, and every chat agent's session."),
    Entry(
        "project whats-next", "projects:whats_next", BOARD, "List contradictions in a project's documents and commits."
    ),
    Entry("project run", "projects.commands:run", FORGE, "Approve the next sprints of a project.", STEPS),
    Entry("project schedule", "projects.commands:schedule", FORGE, "Start sprints of a project at set times.", STEPS),
    Entry("project continue", "projects.commands:go_on", BREAKER, "Start the daemons of unfinished projects.", STEPS),
    Entry("project archive", "projects.commands:archive", BREAKER, "Hide a project; nothing is removed.", STEPS),
    Entry("relay", "sessions:relay", FORGE, "Let an agent work in any repository, in a clone of its own.", STEPS),
    Entry("sessions", "sessions:sessions", BOARD, "List the open sessions with agents."),
    Entry("status", "views:status", BOARD, "Show the state of the repository on one screen."),
    Entry("board", "views:board", BOARD, "Show the beads in columns, by state."),
    Entry("list", "beads:list_beads", BOARD, "List beads, all or filtered."),
    Entry("show", "beads:show", BOARD, "Show everything about one bead."),
    Entry("ready", "beads:ready", BOARD, "List beads that can start now; --explain shows why others cannot."),
    Entry("graph", "views:graph", BOARD, "Draw which beads wait for which."),
    Entry("forge reviews", "features:reviews", BOARD, "Show the reviews of a feature's plan."),
    Entry("history", "beads:history", BOARD, "Show everything that happened to a bead."),
    Entry("review", "review:review", BOARD, "Show the latest reviews; with a bead, the evidence of its merges."),
    Entry("verify", "review:verify", BOARD, "Check that the evidence of the merges on main is valid."),
    Entry("flakes", "review:flakes", BOARD, "List checks and tests that both failed and passed on the same files."),
    Entry("repositories", "account:repositories", BOARD, "List your repositories, with what needs you.", STEPS),
    Entry("diff", "beads:diff", BOARD, "Show what a bead changes: its branch, or its merge on main."),
    Entry("watch", "sessions:watch", BOARD, "Follow an agent at work, by its name or its bead.", streams=True),
    Entry("events", "sessions:events", BOARD, "List everything that happened, in order.", streams=True),
    Entry("escalations", "decisions:escalations", DESK, "List what needs your decision, the most urgent first."),
    Entry("escalation", "decisions:escalation", DESK, "Show one escalation: what happened, and your choices."),
    Entry("answer", "decisions.commands:answer", DESK, "Answer a question, so that its bead continues.", ATOMIC),
    Entry("answers", "decisions.commands:answers", DESK, "Answer several questions in one step.", ATOMIC),
    Entry("resolve", "decisions.commands:resolve", DESK, "Decide an escalation.", ATOMIC),
    Entry("approve", "decisions.commands:approve", DESK, "Approve one item, or list what needs approval.", STEPS),
    Entry("retry", "beads.commands:retry", DESK, "Retry a bead; its failure count starts at zero.", ATOMIC),
    Entry("send-back", "beads.commands:send_back", DESK, "Send a bead's work back, with comments on lines.", ATOMIC),
    Entry("take", "beads:take", DESK, "Work on a bead yourself, in a worktree of your own.", STEPS),
    Entry("preview start", "review.commands:start", DESK, "Try a bead's work: start the project's server.", STEPS),
    Entry("preview stop", "review.commands:stop", DESK, "Stop the preview of a bead.", STEPS),
    Entry("preview show", "review:preview", DESK, "Show the output of a bead's preview, or list previews."),
    Entry("hand-in", "beads:hand_in", DESK, "Hand your work on a bead to the Reviewer.", STEPS),
    Entry("quarantine", "decisions.commands:quarantine", DESK, "Ignore failures of a flaky test or check.", ATOMIC),
    Entry("hold", "beads.commands:hold", DESK, "Hold a bead, so that no agent starts on the bead.", ATOMIC),
    Entry("release", "beads.commands:release", DESK, "Release a held bead.", ATOMIC),
    Entry("defer", "beads.commands:defer", DESK, "Start a bead only after a given time.", ATOMIC),
    Entry("cancel", "beads.commands:cancel", DESK, "Cancel a bead; its work is archived.", ATOMIC),
    Entry("done", "beads.commands:done", DESK, "Mark a bead as done by hand.", ATOMIC),
    Entry("reopen", "beads.commands:reopen", DESK, "Reopen a done or cancelled bead.", ATOMIC),
    Entry("undo", "doctor:undo", DESK, "Undo the last step, a step by its number, or a merge.", STEPS),
    Entry("archive", "doctor:archive", DESK, "List archived work; remove what was merged long ago.", STEPS),
    Entry("run", "daemon:running_run", BREAKER, "Run agents in the foreground until nothing is left to do.", UNKEYED),
    Entry("daemon start", "daemon.commands:start", BREAKER, "Run agents in the background.", STEPS),
    Entry("daemon stop", "daemon.commands:stop_daemon", BREAKER, "Stop the daemon and its agents.", STEPS),
    Entry("daemon status", "daemon:status", BREAKER, "Show whether a daemon is running here."),
    Entry("daemon restart", "daemon.commands:restart", BREAKER, "Restart the daemon; its agents keep working.", STEPS),
    Entry("daemon install", "daemon:install", BREAKER, "Restart the daemon automatically when it dies.", STEPS),
    Entry("daemon uninstall", "daemon:uninstall", BREAKER, "Remove the automatic restart of the daemon.", STEPS),
    Entry("takeover", "daemon:takeover", BREAKER, "Continue the work of another machine here.", STEPS),
    Entry("daemon watch", "daemon:watch", BREAKER, "Check once whether the daemon needs a restart.", STEPS),
    Entry("daemon run", "daemon:run", BREAKER, "Run the daemon itself, in the foreground.", UNKEYED, hidden=True),
    Entry("notify test", "account:test", BREAKER, "Send a test notice through each channel.", STEPS),
    Entry("notify list", "account:show", BREAKER, "List the channels and their waiting, sent and failed notices."),
    Entry("notify secret", "account:secret", BREAKER, "Store a channel's address or token.", STEPS),
    Entry("pause", "daemon.commands:pause", BREAKER, "Pause: no new work starts; running agents continue.", ATOMIC),
    Entry("resume", "daemon.commands:resume", BREAKER, "Resume work after a pause or a stop.", ATOMIC),
    Entry("stop", "daemon.commands:stop", BREAKER, "Stop all agents, or one agent; their work is saved.", ATOMIC),
    Entry("set", "daemon.commands:set_limits", BREAKER, "Change limits while agents are running.", ATOMIC),
    Entry(
        "providers",
        "daemon.commands:providers",
        BREAKER,
        "Show which providers refuse requests, and which caps are reached.",
        ATOMIC,
    ),
    Entry("pr list", "review:show_all", BREAKER, "List the pull requests that people have to review or merge."),
    Entry("pr show", "review:show", BREAKER, "Show a bead's pull request."),
    Entry(
        "pr open",
        "review.commands:view",
        BREAKER,
        "Allow nobrakes to open a pull request; show it in the browser.",
        STEPS,
    ),
    Entry("pr sync", "review.commands:sync", BREAKER, "Check all pull requests now.", STEPS),
    Entry("sync github", "review.commands:sync_github", FORGE, "Make drafts of GitHub issues; comment back.", STEPS),
    Entry("machine", "account:machine", BREAKER, "Show or set the limits that all your repositories share.", STEPS),
    Entry(
        "merge-snapshot", "plans:merge_snapshot", BREAKER, "Merge two versions of the snapshot, for git.", hidden=True
    ),
    Entry("fleet", "fleet.commands:show", BREAKER, "Show the nodes on which agents and checks run.", UNKEYED),
    Entry("fleet drain", "fleet.commands:drain", BREAKER, "Start no new run on a node.", STEPS),
    Entry("fleet resume", "fleet.commands:resume", BREAKER, "Start runs on a drained node again.", STEPS),
    Entry("doctor", "doctor:doctor", BREAKER, "Find and repair what is broken."),
    Entry("agent-profile list", "doctor:profile_list", BREAKER, "List the agents that have a profile."),
    Entry(
        "agent-profile test", "doctor:profile_test", BREAKER, "Test an agent of a profile with a scripted model.", STEPS
    ),
    Entry("agent-profile add", "doctor:profile_add", BREAKER, "Add a profile of your own to your settings.", STEPS),
    Entry("version", "doctor:version", BREAKER, "Show the versions of nobrakes and Python, and the platform."),
    Entry("help", "parsing:help", BREAKER, "Show the help of a command; with --all, list every command."),
    Entry("prompt", "features:prompt", AGENTS, "Print the prompt that the next agent on a bead would get."),
    Entry("web", "account:web", BOARD, "Open the web interface for all your repositories.", UNKEYED, streams=True),
    Entry("mcp", "account:mcp", AGENTS, "Serve nobrakes' tools over MCP, on stdin and stdout.", streams=True),
    Entry("mcp client", "account:client", AGENTS, "Add or revoke chat clients of your projects (HTTP).", STEPS),
    Entry("agent bead", "agent:bead", AGENTS, "Show your bead, its criteria, and people's answers."),
    Entry("agent attempts", "agent:attempts", AGENTS, "Show the notes of earlier attempts on your bead."),
    Entry("agent whats-next", "agent:whats_next", AGENTS, "Show your next step, based on plan, questions and commits."),
    Entry("agent log", "agent:log", AGENTS, "Write a line into your bead's log."),
    Entry("agent progress", "agent:progress", AGENTS, "Report your progress."),
    Entry("agent test", "agent:test", AGENTS, "Run the project's checks in your workspace."),
    Entry("agent notify", "agent:notify", AGENTS, "Send the person a notice, without waiting."),
    Entry("agent ask", "agent:ask", AGENTS, "Ask the person a question, and wait a while for the answer."),
    Entry("agent blocked", "agent:blocked", AGENTS, "Report that you cannot continue without the person."),
    Entry("agent request-review", "agent:request_review", AGENTS, "Have your plan approved before you begin."),
    Entry("agent escalate", "agent:escalate", AGENTS, "Suggest work that is outside your bead."),
    Entry("agent answer", "agent:answer", AGENTS, "Read the answer to a question."),
    Entry("agent document", "agent:document", AGENTS, "Hand in text for the documents of your sprint."),
    Entry("agent propose", "agent:propose", AGENTS, "Propose the beads of your feature's plan."),
    Entry("agent plan", "agent:plan", AGENTS, "Show your feature's current plan."),
    Entry("agent plan-ready", "agent:plan_ready", AGENTS, "Report that your feature's plan is complete."),
    Entry("agent review", "agent:review", AGENTS, "Hand in your code review."),
    Entry("agent finding", "agent:finding", AGENTS, "Report a problem in the plan that you review."),
    Entry("agent done", "agent:done", AGENTS, "Hand in your work, with a note for the next agent."),
)

EXAMPLES = {
    "fleet drain": "node2",
    "fleet resume": "node2",
    "init": '--agent codex --test "pytest -q" --lint "ruff check ."',
    "demo": "nobrakes-demo",
    "config set": "review.merge rebase",
    "config get": "limits.doers",
    "config unset": "caps.day.usd",
    "add": '"Parse the header" -p 1 --needs nb-1 --accept "bad headers raise BadHeader"',
    "edit": 'nb-7 --priority 0 --title "Parse the header strictly"',
    "depend": "nb-7 nb-3",
    "undepend": "nb-7 nb-3",
    "plan apply": "plan.yaml --dry-run",
    "plan example": "> plan.yaml",
    "sync beads": "--dry-run",
    "propose": "ideas.md --dry-run",
    "shape": "--print",
    "commit-strategy": "--dry-run",
    "forge new": '"Support Windows" -d "The tool runs on Windows 11" --file src/paths.py',
    "forge edit": 'nb-k3f9q2 --title "Support Windows 11"',
    "forge change": 'nb-k3f9q2 "Leave the installer out"',
    "forge discuss": 'nb-k3f9q2 "Why two steps?" --step nb-9',
    "forge pause": "nb-k3f9q2",
    "forge resume": "nb-k3f9q2 --fresh",
    "forge cancel": "nb-k3f9q2",
    "forge rollback": "nb-k3f9q2 --yes",
    "forge archive": "nb-k3f9q2",
    "forge list": "--state active",
    "forge show": "nb-k3f9q2 --as timeline",
    "forge scan": "nb-k3f9q2",
    "forge sign-off": "nb-k3f9q2 --take-risk",
    "forge answer": 'nb-k3f9q2 3 "Do it in this feature"',
    "forge checkpoint": "nb-k3f9q2",
    "session start": '"What would it take to support Windows?"',
    "session say": '1 "And macOS?"',
    "session show": "1",
    "session stop": "1",
    "session hand-in": "1",
    "session end": "1",
    "project new": 'my-app --objective "A shop that sells tea" --criterion "An order can be paid"',
    "project use": "my-app --session phone",
    "project show": "my-app",
    "project whats-next": "my-app",
    "project run": "my-app --sprints 3",
    "project schedule": "my-app --at 03:00 --days mon,thu --zone Europe/Berlin",
    "project continue": "my-app",
    "project archive": "my-app",
    "relay": '~/code/shop "Fix the failing test of the basket"',
    "status": "--json | jq .data.counts",
    "board": "--live",
    "list": "--status needs_doer --status doing",
    "show": "nb-7",
    "ready": "--explain nb-7",
    "graph": "--format svg -o graph.svg",
    "forge reviews": "nb-k3f9q2",
    "history": "nb-7",
    "review": "nb-3",
    "verify": "v1.0..main",
    "flakes": "--check unit",
    "diff": "nb-3 --stat",
    "watch": "nb-7",
    "events": "--follow --public | jq -r .event",
    "escalations": "--all",
    "escalation": "4",
    "answer": '4 "Use UTC everywhere"',
    "answers": '4="Use UTC everywhere" 5=yes 6=1,2',
    "approve": "",
    "resolve": '3 --retry --note "The fixture was wrong; it is fixed"',
    "send-back": "nb-7 --comment 'src/a.py:12=Use the helper'",
    "retry": 'nb-7 --note "The fixture is fixed"',
    "take": "nb-7",
    "hand-in": "nb-7 --from my-branch",
    "preview start": "nb-7",
    "preview stop": "nb-7",
    "preview show": "nb-7",
    "quarantine": 'unit "pkg/net/TestSlow" --reason "times out on CI, nb-12 fixes it"',
    "hold": 'nb-7 --reason "The format is not decided"',
    "release": "nb-7",
    "defer": "nb-7 8h",
    "cancel": 'nb-7 --reason "No longer needed"',
    "done": 'nb-7 --reason "Done by hand"',
    "reopen": 'nb-7 --reason "It came back"',
    "run": "--doers 2",
    "daemon install": "--yes",
    "daemon uninstall": "--yes",
    "notify test": "phone",
    "notify secret": "phone",
    "stop": 'nb-7 --hold "I rewrite the description first"',
    "set": "doers=8 idle_minutes=20",
    "providers": "open anthropic",
    "pr list": "--all",
    "pr show": "shop-3",
    "pr open": "shop-3",
    "sync github": "--label ready --repository team/shop",
    "machine": "set agents=3 usd_per_day=20",
    "merge-snapshot": "base.jsonl ours.jsonl theirs.jsonl",
    "doctor": "--repair counters",
    "agent-profile test": "opencode",
    "agent-profile add": "my-agent.toml",
    "help": "plan apply",
    "prompt": "nb-7 --role doer",
    "web": "--open",
    "mcp": "--workspace --session phone",
    "mcp client": "add phone",
    "agent log": '"The parser is done; the writer still lacks CRLF"',
    "agent progress": '--step 2 --of 5 "The header is parsed"',
    "agent test": "unit",
    "agent notify": '"The parser is done"',
    "agent ask": '"Which one?" --option "Postgres: what we have" --option "SQLite: simpler; costs a move"',
    "agent blocked": '"The API has no such endpoint" --option "Use v1: slower" --recommend "Use v1"',
    "agent request-review": '"First the header, then the body"',
    "agent escalate": '"Colours would help" --severity warning',
    "agent answer": "4",
    "agent document": '"SQLite, not Postgres: one file, no server" --kind decision',
    "agent propose": "- < plan.yaml",
    "agent review": "'{\"findings\": []}'",
    "agent finding": '"Logins are not limited" --impact "Passwords are guessed" --category security',
    "agent done": 'completed --summary "The header parser, with its errors"',
}
"""Arguments in a command's help and reference."""

OLD_NAMES = {"reviews": "review", "log": "history --transcript", "gates": "providers", "decisions": "escalations"}

FIRST = (
    ("init", "set nobrakes up in this repository"),
    ("shape", "plan with an agent; or bring your own: plan FILE, plan example"),
    ("approve", "approve the plan; agents start only after this"),
    ("run", "run agents until there is nothing left to do"),
    ("status", "see the state of the work and what is waiting for you"),
)
"""A first day's commands in order: (command, why)."""

_WEEK = "add plan config show watch web escalations escalation answer resolve undo daemon stop doctor"
SHOWN = frozenset(_WEEK.split())
"""Further commands of a first week."""

NOUNS = {
    "plans": "Plans",
    "beads": "Beads",
    "features": "Features",
    "projects": "Projects",
    "views": "Overview",
    "decisions": "Questions and decisions",
    "review": "Reviews, evidence and pull requests",
    "daemon": "Running",
    "fleet": "Nodes",
    "sessions": "Sessions, agents at work and events",
    "config": "Settings",
    "account": "This machine, notices, the web and MCP",
    "doctor": "Undo and repair",
    "parsing": "Help",
    "agent": "For agents",
}
"""Headings of subjects in `nobrakes help --all`, in order."""

GROUPS = {
    "config": (FORGE, "Show the settings; set, get or unset a setting."),
    "plan": (FORGE, "Add a plan, tasks or issues: `plan FILE`; print an example."),
    "forge": (FORGE, "Features: plan an idea with an agent, then build it."),
    "session": (FORGE, "Sessions: talk with an agent, without a bead."),
    "project": (FORGE, "Projects: your repositories in one projects folder."),
    "daemon": (BREAKER, "The daemon, which runs agents in the background."),
    "fleet": (BREAKER, "Nodes: the other machines on which agents and checks run."),
    "notify": (BREAKER, "Manage the channels that send you notices, and their secrets."),
    "preview": (DESK, "Try a bead's work: run the project's server in its workspace."),
    "sync": (FORGE, "Share beads with other tools."),
    "pr": (BREAKER, "Pull requests that nobrakes opens and people merge."),
    "agent-profile": (BREAKER, "Agents with a profile: list, test, and add your own."),
    "mcp": (AGENTS, "The MCP server, and the clients that may use it over HTTP."),
    "agent": (AGENTS, "Commands for agents, about their own bead."),
}


def example(entry: Entry) -> str:
    return f"nobrakes {entry.words} {EXAMPLES.get(entry.words, '')}".rstrip()


def entry(words: str) -> Entry:
    """Raises KeyError."""
    for found in COMMANDS:
        if found.words == words:
            return found
    raise KeyError(words)


def typed_anywhere(text: str, root: str) -> str:
    """The text, with commands about the repository at `root` as people type them in any folder."""
    import re  # rarely needed here

    from .paths import typed_in

    words = "|".join(sorted({one.words.split()[0] for one in COMMANDS} - ANYWHERE))
    typed = rf"(?<!&& )\bnobrakes (?=(?:{words})(?![-\w]))"
    return re.sub(typed, lambda _: typed_in(root, "nobrakes "), text)
