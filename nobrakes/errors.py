"""Every error a person can meet: the class is its message and its exit code.

1. A subclass names one situation; `code` is stable and documented in docs/reference/errors.md.
2. `hint` says what to do next and never names a destructive command.
3. Anything that is not a NobrakesError is a bug and exits with 70.
"""


class NobrakesError(Exception):
    """Something a person can act on. `str(error)` is the message, `hint` the next step."""

    code = 1
    hint = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        if hint:
            self.hint = hint

    @property
    def whole(self) -> str:
        return f"{str(self).rstrip('.')}. {self.hint}" if self.hint else str(self)


class UsageError(NobrakesError):
    """The command line is wrong."""

    code = 2


class NotARepository(NobrakesError):
    """The folder is not in a git repository."""

    code = 10
    hint = "Go to your repository, or create one with `git init`, then run `nobrakes init`."


class ForeignRepository(NobrakesError):
    """The repository or its .nobrakes belongs to another account, which could run programs as you."""

    code = 53


class NotInitialised(NobrakesError):
    """The repository has no .nobrakes folder."""

    code = 11
    hint = "Run `nobrakes init` in this repository."


class ConfigError(NobrakesError):
    """config.toml cannot be read or has an unknown key or a wrong value."""

    code = 12
    hint = "Fix .nobrakes/config.toml. `nobrakes config` shows every setting and its default."


class PlanError(NobrakesError):
    """A plan file is not valid. Nothing was written."""

    code = 13
    hint = "Fix the plan file, then apply the file again. `nobrakes plan example` shows the format."


class Deadlock(NobrakesError):
    """Beads that wait for each other in a circle. Nothing was written."""

    code = 14
    hint = "Remove one of the named dependencies."


class BadBead(NobrakesError):
    """A bead's field has a value that is not allowed."""

    code = 15


class NoSuchBead(NobrakesError):
    """No bead has this id."""

    code = 16
    hint = "`nobrakes list` shows the beads."


class NotAllowed(NobrakesError):
    """The bead's status does not allow this."""

    code = 17


class Stale(NobrakesError):
    """The attempt that made this call has ended; another attempt may have the bead."""

    code = 18
    hint = "Stop working: this attempt has ended."


class StoreBroken(NobrakesError):
    """The database is corrupt, of an unknown version or cannot be read."""

    code = 20
    hint = "`nobrakes doctor` shows what it can repair. The snapshot and git still have the beads."


class StoreNewer(StoreBroken):
    """A newer nobrakes wrote the database. It is intact, and nothing was changed."""

    code = 79
    hint = "Update nobrakes. The database is intact and was not changed."


class StoreReadOnly(NobrakesError):
    """The database or its folder cannot be written."""

    code = 21
    hint = "Check the permissions of .nobrakes and that the file system is not mounted read-only."


class DiskFull(NobrakesError):
    """No space is left for the database, a log or a workspace. Nothing was lost."""

    code = 22
    hint = "Free some space. nobrakes then resumes the work."


class MachineShort(NobrakesError):
    """The machine is out of files, processes or memory, or a disk reports errors."""

    code = 50
    hint = "Fix the cause named above; nobrakes then resumes, and no work was lost. `ulimit -a` shows your limits."


class DaemonRunning(NobrakesError):
    """A daemon already works in this repository."""

    code = 23
    hint = "`nobrakes daemon status` shows the daemon; `nobrakes daemon stop` stops it."


class RepositoryReplaced(NobrakesError):
    """Another repository or database replaced this daemon's. The daemon ended and changed neither."""

    code = 80
    hint = "Start nobrakes in the repository where you want to continue. nobrakes then resumes the agents' work."


class DaemonNotRunning(NobrakesError):
    """No daemon works in this repository."""

    code = 24
    hint = "Start a daemon with `nobrakes daemon start`, or run agents in the foreground with `nobrakes run`."


class GitTooOld(NobrakesError):
    """git is older than what the Reviewer needs (2.38)."""

    code = 25
    hint = "Install git 2.38 or newer."


class GitFailed(NobrakesError):
    """A git command failed unexpectedly."""

    code = 26


class GitUnusable(NobrakesError):
    """git does not work in this repository: its configuration cannot be read, or it can no longer sign."""

    code = 84
    hint = "Find the setting with `git config --list --show-origin`, and fix it. nobrakes waits until git works."


class ObjectsAway(GitFailed):
    """A partial clone lacks objects, and its remote does not give them."""

    said = ""  # by git, all of it
    code = 85
    hint = "Make the remote reachable. Then `git fetch --refetch --no-filter` fetches the missing objects."


class RefsBroken(GitFailed):
    """A line of git's packed-refs file is broken, so git does not work."""

    code = 83


class Tampered(GitFailed):
    """Somebody replaced a workspace or its git folder, so nobrakes does not trust it."""

    code = 34


class TooLarge(Tampered):
    """A workspace is larger than the limits in config.toml allow."""

    code = 47


class FileTooLarge(GitFailed):
    """A file of a commit is too large to read."""

    code = 48


class NoAnswer(NobrakesError):
    """A process that nobrakes talks with (git, mostly) hung and was ended. Nothing was lost."""

    code = 46
    hint = "nobrakes resumes automatically. The usual cause is a disk or a network file system that hangs."


class StopCut(NobrakesError):
    """A stop took too long and was aborted. The log names what was left; nothing was lost."""

    code = 49
    hint = "The next start resumes the work."


class NoMain(NobrakesError):
    """The main branch does not exist yet."""

    code = 27
    hint = "Create a first commit, or set `main` in .nobrakes/config.toml."


class NoAgent(NobrakesError):
    """The agent CLI named in config.toml is not installed."""

    code = 28


class NotAnswered(NobrakesError):
    """Nobody answered an agent's question in the time that it waited (`nobrakes agent ask --wait`)."""

    code = 82
    hint = "The question stays open. Do what does not need the answer, or end as blocked: the next attempt gets it."


class NoSuchEscalation(NobrakesError):
    """No escalation has this number."""

    code = 29
    hint = "`nobrakes escalations` shows the open escalations."


class NoSuchSession(NobrakesError):
    """No session has this number."""

    code = 55
    hint = "`nobrakes sessions` shows the open sessions."


class NoSuchFeature(NobrakesError):
    """No feature has this id."""

    code = 63
    hint = "`nobrakes forge list` shows the features."


class NothingToUndo(NobrakesError):
    """There is no step that can be undone."""

    code = 30


class StoreBusy(NobrakesError):
    """Another process keeps the database locked. Nothing was written."""

    code = 31
    hint = "Try again. If this repeats, find the program that holds .nobrakes/nobrakes.db open."


class AgentFailed(NobrakesError):
    """The agent CLI of a conversation failed. Its proposals are saved."""

    code = 32
    hint = "See the output above. Start again with `nobrakes shape`, or continue with `nobrakes shape --continue`."


class NotProven(NobrakesError):
    """The commit that would become main does not pass the checks. Main did not move."""

    code = 33
    hint = "First undo the later merges that need this change, or plan a bead that removes it."


NO_SANDBOX = "your settings require a sandbox, but bubblewrap does not work on this machine: {}"
NO_WALL = "your settings require a wall, but Landlock does not work on this machine: {}"


class NoSandbox(ConfigError):
    """config.toml requires a sandbox or wall that does not work here, or opens a folder that must stay closed."""

    code = 36
    hint = (
        "Install bubblewrap (`bwrap`) and allow user namespaces, or set sandbox.mode and sandbox.wall in "
        '.nobrakes/config.toml to "auto" to run without them.'
    )


class MissingExtra(ConfigError):
    """This command needs an extra of the package that is not installed."""

    code = 61
    hint = "Install the extra with the package, for example `pip install 'nobrakes[notify]'`."


class DoorClosed(NobrakesError):
    """nobrakes did not answer on an agent's channel. The message is stored; nobrakes reads it after its next start."""

    code = 37
    hint = "Continue with your work. You need not send the message again."


class Unsettled(NobrakesError):
    """`run` ended, and something still needs a person, or waits for a time."""

    code = 40
    hint = "`nobrakes status` shows why the beads wait, and what to type."


class Hindered(NobrakesError):
    """Something stops all work, so `nobrakes run` or the daemon did not start. Nothing was changed."""

    code = 62
    hint = "`nobrakes status` shows everything that stops the work, and what to type."


class Unproven(NobrakesError):
    """Main and its evidence do not match."""

    code = 43
    hint = "Each line above names one problem. `nobrakes review BEAD` shows the evidence of one bead."


class NoEvidence(NobrakesError):
    """The repository holds no evidence of this bead."""

    code = 44
    hint = (
        "Only merges have evidence. A clone fetches it: git fetch origin refs/nobrakes/evidence:refs/nobrakes/evidence"
    )


class PlaceUnusable(NobrakesError):
    """Your state or settings folder for all repositories is missing, or other accounts can write to it."""

    code = 60
    hint = "Fix the problem named above. If you move these files away, nobrakes starts again with new, empty ones."


class ChecksFailed(NobrakesError):
    """A check did not pass in an agent's workspace (`nobrakes agent test`)."""

    code = 54
    hint = "The checks' output is above."


class ChannelFailed(NobrakesError):
    """A channel of `[notify]` did not accept a message."""

    code = 58
    hint = "`nobrakes notify list` shows each channel and its last error."


class ServerEnded(NobrakesError):
    """The project's server ended at the start of a preview. Its output tells why."""

    code = 81


class NoProject(NobrakesError):
    """No project is confirmed for the session, or no project has this name. No coding tool can run."""

    code = 74
    hint = "`nobrakes project list` shows the projects; `nobrakes project use NAME` confirms one for a session."


class ProjectExists(NobrakesError):
    """A project with this name exists already. Nothing was changed."""

    code = 75


class OnlyByRequest(GitFailed):
    """With review.land = "pull_request" only merged pull requests change main. Nothing was committed."""

    code = 76
    hint = "Merge the change into main as your team does. nobrakes continues with the merged main."


class TakenOver(NobrakesError):
    """Another machine took over the work of this repository. Nothing lands from here, and no agent starts."""

    code = 86
    hint = "`nobrakes takeover` takes the work back to this machine."


class HostUnavailable(NobrakesError):
    """The code host is not available now. As far as nobrakes knows, this request changed nothing there.

    `wait`: seconds until the next try. `needs_person`: a person must fix the cause. `paced`: nobrakes waits because it
    has made too many requests."""

    code = 77
    hint = "nobrakes tries again automatically. `nobrakes status` shows what is waiting for the code host."

    def __init__(
        self, message: str, hint: str = "", wait: float = 60.0, needs_person: bool = False, paced: bool = False
    ) -> None:
        super().__init__(message, hint)
        self.wait = wait
        self.needs_person = needs_person
        self.paced = paced


class HostRefused(NobrakesError):
    """The code host refused the request."""

    code = 78
    hint = "The code host's message is above. Fix the cause there. nobrakes tries again automatically."
