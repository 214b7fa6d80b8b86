"""Every command: its words, where it lives, its one line of help. The one list that help, docs and tests read.

1. A command's module is imported when the command is called, and not before.
2. `changes`: the command changes something, so an agent (NOBRAKES_TOKEN is set) may not use it.
3. `journey` is where a person would look for it; the overview and `--help` are grouped by it.
4. Whoever types an old name (OLD_NAMES) is told the new one.
"""

from typing import NamedTuple

FORGE = "Forge: plan the work"
BOARD = "Board: see where things are"
DESK = "Decision Desk: what waits for you"
BREAKER = "Breaker Box: start, stop, mend"
AGENTS = "For agents"
JOURNEYS = (FORGE, BOARD, DESK, BREAKER, AGENTS)


class Entry(NamedTuple):
    """One command. `words` is what a person types; `target` is module:function below nobrakes.cli."""

    words: str
    target: str
    journey: str
    help: str
    changes: bool = False
    hidden: bool = False
    streams: bool = False  # with --json it prints JSON lines instead of one envelope


COMMANDS: tuple[Entry, ...] = (
    Entry("init", "config:init", FORGE, "Set nobrakes up in this repository.", changes=True),
    Entry("config", "config:config", FORGE, "The settings in force; set, get or unset one."),
    Entry("config set", "config:set_value", FORGE, "Change one setting, and no other line.", changes=True),
    Entry("config get", "config:get", FORGE, "Show one setting, or a table of them."),
    Entry("config unset", "config:unset", FORGE, "Let a setting's default hold again.", changes=True),
    Entry("add", "beads:add", FORGE, "Add a bead.", changes=True),
    Entry("edit", "beads:edit", FORGE, "Change a bead's title, texts, priority or epic.", changes=True),
    Entry("depend", "beads:depend", FORGE, "Make a bead wait for another one.", changes=True),
    Entry("undepend", "beads:undepend", FORGE, "Take a dependency away.", changes=True),
    Entry("plan apply", "plans:apply", FORGE, "Make the graph what a plan file says.", changes=True),
    Entry("plan example", "plans:example", FORGE, "Print a plan file to start from."),
    Entry("propose", "plans:propose", FORGE, "File the beads of a plan as drafts, for approval.", changes=True),
    Entry("shape", "features:shape", FORGE, "Plan together with the Shaper, in its own session.", changes=True),
    Entry("reshape", "features:reshape", FORGE, "Plan the next increment from what was escalated.", changes=True),
    Entry("commit-strategy", "plans:commit_strategy", FORGE, "Approve what was proposed.", changes=True),
    Entry("forge new", "features:new", FORGE, "Begin a feature: an idea that is planned with you.", changes=True),
    Entry("forge edit", "features:edit", FORGE, "Change what is said of a feature.", changes=True),
    Entry("forge change", "features:change", FORGE, "Ask for a change of a feature's plan.", changes=True),
    Entry("forge discuss", "features:discuss", FORGE, "Ask a feature's Shaper about a step of its plan.", changes=True),
    Entry("forge pause", "features:pause", FORGE, "Begin no turn of a feature any more.", changes=True),
    Entry("forge resume", "features:resume", FORGE, "Go on with a feature.", changes=True),
    Entry("forge cancel", "features:cancel", FORGE, "End a feature's turn at once; it is paused.", changes=True),
    Entry("forge rollback", "features:rollback", FORGE, "Take all of a feature back, from main too.", changes=True),
    Entry("forge archive", "features:archive", FORGE, "Hide a feature from lists.", changes=True),
    Entry("forge list", "features:list_features", BOARD, "Your features: where each is."),
    Entry("forge show", "features:show", BOARD, "One feature: its plan, its reviews, what is collected."),
    Entry("forge scan", "features:scan", BOARD, "What is left to do, as comments of the code say it."),
    Entry("forge sign-off", "features:sign_off", FORGE, "Sign a feature's plan off.", changes=True),
    Entry("forge checkpoint", "features:checkpoint", FORGE, "Bring what was collected to the plan.", changes=True),
    Entry("session start", "sessions:start", FORGE, "Talk with an agent that reads and changes nothing.", changes=True),
    Entry("session say", "sessions:say", FORGE, "Say something to a session.", changes=True),
    Entry("session show", "sessions:show", FORGE, "One session with all that was said in it."),
    Entry("session stop", "sessions:stop", FORGE, "Stop what a session does now.", changes=True),
    Entry("session end", "sessions:end", FORGE, "End a session.", changes=True),
    Entry("project list", "projects:list_projects", BOARD, "The projects of your workspace."),
    Entry("project new", "projects:new", FORGE, "Make a project: a repository with its brief.", changes=True),
    Entry("project use", "projects:use", FORGE, "Confirm the project that a session works on.", changes=True),
    Entry("project show", "projects:show", BOARD, "One project: its brief, its status, its criteria."),
    Entry("project status", "projects:status", BOARD, "Every project, and every chat agent's session."),
    Entry("project whats-next", "projects:whats_next", BOARD, "What does not fit together in a project."),
    Entry("project run", "projects:run", FORGE, "Say yes to some sprints of a project.", changes=True),
    Entry("project schedule", "projects:schedule", FORGE, "Have sprints begin at a time.", changes=True),
    Entry("project continue", "projects:go_on", BREAKER, "Let unfinished projects go on.", changes=True),
    Entry("project archive", "projects:archive", BREAKER, "Hide a project; nothing is removed.", changes=True),
    Entry("relay", "sessions:relay", FORGE, "Let an agent work in a clone, and get a branch.", changes=True),
    Entry("sessions", "sessions:sessions", BOARD, "The open sessions with agents."),
    Entry("status", "views:status", BOARD, "The whole repository on one screen."),
    Entry("board", "views:board", BOARD, "The beads in columns, by where they are."),
    Entry("list", "beads:list_beads", BOARD, "List beads, filtered."),
    Entry("show", "beads:show", BOARD, "One bead with everything about it."),
    Entry("ready", "beads:ready", BOARD, "What can be worked on now, and why the rest cannot."),
    Entry("graph", "views:graph", BOARD, "Draw what waits for what."),
    Entry("forge reviews", "features:reviews", BOARD, "The reviews of a feature's plan."),
    Entry("history", "beads:history", BOARD, "One bead from its beginning to its end."),
    Entry("review", "review:review", BOARD, "The latest reviews; with a bead, the evidence of its merges."),
    Entry("verify", "review:verify", BOARD, "Check main against its evidence, from git alone."),
    Entry("flakes", "review:flakes", BOARD, "Checks and tests that failed and passed on the same tree."),
    Entry("repositories", "machine:repositories", BOARD, "Your repositories, and what waits in each.", changes=True),
    Entry("diff", "beads:diff", BOARD, "What a bead changes: its branch, or what its merge changed on main."),
    Entry("watch", "sessions:watch", BOARD, "Follow an agent live, by its name or its bead.", streams=True),
    Entry("events", "sessions:events", BOARD, "Everything that happened, in order.", streams=True),
    Entry("escalations", "decisions:escalations", DESK, "What waits for your decision, the most urgent first."),
    Entry("escalation", "decisions:escalation", DESK, "One escalation with its evidence."),
    Entry("answer", "decisions:answer", DESK, "Answer a question; its bead goes on.", changes=True),
    Entry("resolve", "decisions:resolve", DESK, "Decide an escalation.", changes=True),
    Entry("retry", "beads:retry", DESK, "Send a bead back to agents, with a clean count.", changes=True),
    Entry("take", "beads:take", DESK, "Work on a bead yourself, in a worktree of your own.", changes=True),
    Entry("hand-in", "beads:hand_in", DESK, "Hand your work on a bead to the Reviewer.", changes=True),
    Entry("quarantine", "review:quarantine", DESK, "Let a flaky test or check fail for a time.", changes=True),
    Entry("hold", "beads:hold", DESK, "Keep a bead from being worked on.", changes=True),
    Entry("release", "beads:release", DESK, "Let a held bead go on.", changes=True),
    Entry("defer", "beads:defer", DESK, "Keep agents from a bead until a time.", changes=True),
    Entry("cancel", "beads:cancel", DESK, "Give a bead up; its work is archived.", changes=True),
    Entry("done", "beads:done", DESK, "Mark a bead as done by hand.", changes=True),
    Entry("reopen", "beads:reopen", DESK, "Bring a done or cancelled bead back.", changes=True),
    Entry("undo", "doctor:undo", DESK, "Take back the last step, or the one with this number.", changes=True),
    Entry("archive", "doctor:archive", DESK, "List what is archived; remove what was merged long ago.", changes=True),
    Entry("run", "daemon:running_run", BREAKER, "Work in the foreground until everything is settled.", changes=True),
    Entry("daemon start", "daemon:start", BREAKER, "Work in the background.", changes=True),
    Entry("daemon stop", "daemon:stop", BREAKER, "End the daemon and its agents, in order.", changes=True),
    Entry("daemon status", "daemon:status", BREAKER, "Whether a daemon works here."),
    Entry(
        "daemon restart", "daemon:restart", BREAKER, "Replace the daemon with a new one; agents go on.", changes=True
    ),
    Entry("daemon install", "daemon:install", BREAKER, "Have a dead daemon started again.", changes=True),
    Entry("daemon uninstall", "daemon:uninstall", BREAKER, "Take its watchdog away again.", changes=True),
    Entry("daemon watch", "daemon:watch", BREAKER, "One look of the watchdog.", changes=True),
    Entry("daemon run", "daemon:run", BREAKER, "The daemon itself, in the foreground.", changes=True, hidden=True),
    Entry("notify test", "machine:test", BREAKER, "Send a test notice through each channel.", changes=True),
    Entry("notify list", "machine:show", BREAKER, "The channels: what waits, what was sent, what failed."),
    Entry("notify secret", "machine:secret", BREAKER, "Store a channel's address or token.", changes=True),
    Entry("pause", "daemon:pause", BREAKER, "Start nothing new; what runs goes on.", changes=True),
    Entry("resume", "daemon:resume", BREAKER, "Start new work again.", changes=True),
    Entry("stop", "daemon:breaker_stop", BREAKER, "Stop the agents, or one of them; their work is kept.", changes=True),
    Entry("set", "daemon:set_limits", BREAKER, "Change limits while it runs.", changes=True),
    Entry("providers", "daemon:providers", BREAKER, "Which providers refuse; which caps are reached.", changes=True),
    Entry("pr list", "review:show_all", BREAKER, "The pull requests that wait for people."),
    Entry("pr show", "review:show", BREAKER, "A bead's pull request."),
    Entry("pr open", "review:view", BREAKER, "Let a pull request be opened; show it in the browser.", changes=True),
    Entry("pr sync", "review:sync", BREAKER, "Look at all pull requests now.", changes=True),
    Entry("machine", "machine:machine", BREAKER, "What all your repositories may do together.", changes=True),
    Entry("doctor", "doctor:doctor", BREAKER, "Look for what is broken, and mend what can be mended."),
    Entry("version", "doctor:version", BREAKER, "The versions of nobrakes and Python, and the platform."),
    Entry("help", "main:help", BREAKER, "The help of a command, or of all."),
    Entry("prompt", "features:prompt", AGENTS, "What the next agent on this bead would be given."),
    Entry("web", "machine:web", BOARD, "Everything in a browser, and on a phone.", changes=True, streams=True),
    Entry("mcp", "machine:mcp", AGENTS, "The operations as an MCP server on stdin and stdout.", streams=True),
    Entry("mcp client", "machine:client", AGENTS, "Who may reach your workspace by HTTP.", changes=True),
    Entry("agent bead", "agent:bead", AGENTS, "Your bead, its criteria, and what people answered."),
    Entry("agent attempts", "agent:attempts", AGENTS, "What earlier attempts on your bead left."),
    Entry("agent whats-next", "agent:whats_next", AGENTS, "What to do next, by the facts."),
    Entry("agent log", "agent:log", AGENTS, "Write a line into the bead's log."),
    Entry("agent progress", "agent:progress", AGENTS, "Say how far you are."),
    Entry("agent test", "agent:test", AGENTS, "Run the project's checks in your workspace."),
    Entry("agent notify", "agent:notify", AGENTS, "Tell the person something, without waiting."),
    Entry("agent ask", "agent:ask", AGENTS, "Ask the person a question, and wait a while for the answer."),
    Entry("agent blocked", "agent:blocked", AGENTS, "Say that nothing goes on without the person."),
    Entry("agent request-review", "agent:request_review", AGENTS, "Have your plan approved before you begin."),
    Entry("agent escalate", "agent:escalate", AGENTS, "Suggest work that is outside your bead."),
    Entry("agent answer", "agent:answer", AGENTS, "Read the answer to a question."),
    Entry("agent document", "agent:document", AGENTS, "Hand in for the documents of your sprint."),
    Entry("agent propose", "agent:propose", AGENTS, "Propose the beads of your feature's plan."),
    Entry("agent plan", "agent:plan", AGENTS, "The plan of your feature as it lies now."),
    Entry("agent plan-ready", "agent:plan_ready", AGENTS, "Say that your feature's plan is whole."),
    Entry("agent review", "agent:review", AGENTS, "Give your review of the work that you read."),
    Entry("agent finding", "agent:finding", AGENTS, "Say what is wrong with the plan that you review."),
    Entry("agent done", "agent:done", AGENTS, "Hand in: how it ended, and what the next one should know."),
)

OLD_NAMES = {"reviews": "review", "log": "history --transcript", "gates": "providers"}

FIRST = (
    ("init", "set nobrakes up in this repository"),
    ("shape", "plan together with an agent; or write a plan: plan example, plan apply"),
    ("commit-strategy", "approve the plan: nothing runs before"),
    ("run", "let the agents work until everything is settled"),
    ("status", "see where everything is, and what waits for you"),
)
"""What a first day takes, in its order: (the command, why)."""

GROUPS = {
    "config": (FORGE, "The settings in force; set, get or unset one."),
    "plan": (FORGE, "Plan files: apply one, or print an example."),
    "forge": (FORGE, "Features: from an idea to an approved plan, and to main."),
    "session": (FORGE, "Sessions: conversations with agents, beside the beads."),
    "project": (FORGE, "Projects: repositories of your own in one workspace."),
    "daemon": (BREAKER, "The daemon in the background."),
    "notify": (BREAKER, "Notices: the channels that reach you, and their secrets."),
    "pr": (BREAKER, "Pull requests, where people merge."),
    "mcp": (AGENTS, "The operations as an MCP server; who may reach it by HTTP."),
    "agent": (AGENTS, "What an agent may say about its own bead."),
}


def entry(words: str) -> Entry:
    """The command with these words; KeyError."""
    for found in COMMANDS:
        if found.words == words:
            return found
    raise KeyError(words)
