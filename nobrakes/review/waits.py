"""The causes for which main cannot move: each with its message, its fix, and whether waiting helps.

1. One table for all waits of landing and pushing. Who sees a cause gives it, or it is read from git's words
   (`cause_of`); unknown words are the remote's fault if the remote said them, else UNKNOWN.
2. Passing causes are retried for `passes` seconds before a person is asked; others are asked at once, or after `asked`
   seconds if the person is probably working on it.
3. Retries continue, less and less often.
"""

import re
from enum import StrEnum
from math import inf

from ..records import frozen

PASSES = 300.0
"""Seconds to wait for a silent remote before a person is asked."""
LOCK_PASSES = 60.0
"""Age up to which an index.lock is taken for a running git command."""
AT_WORK = 900.0
"""Seconds to wait for a person's edits before asking; a notice is enough until then."""
MAX_SECONDS = 900.0
_LINES = 3
_SHOWN = 500


class Cause(StrEnum):
    """Why main waits."""

    NONE = ""
    EDITS = "edits"
    UNTRACKED = "untracked"
    UNDER_WAY = "under_way"
    SESSION = "session"
    BEHIND = "behind"
    LOCK = "lock"
    OLD_LOCK = "old_lock"
    FILTER = "filter"
    UNWRITABLE = "unwritable"
    DISK = "disk"
    MAIN_RED = "main_red"
    PROTECTED = "protected"
    SIGNATURES = "signatures"
    CONTENT = "content"
    HOOK = "hook"
    ACCESS = "access"
    MISSING = "missing"
    EMPTY = "empty"
    NOT_GIT = "not_git"
    SILENT = "silent"
    REMOTE_LOCK = "remote_lock"
    REMOTE_DISK = "remote_disk"
    REMOTE_FAULT = "remote_fault"
    TRUST = "trust"
    STORED = "stored"
    PROGRAM = "program"
    DAMAGED = "damaged"
    NAMES = "names"
    SHALLOW = "shallow"
    ADDRESSES = "addresses"
    AHEAD = "ahead"
    PARTED = "parted"
    BY_REQUEST = "by_request"
    RACES = "races"
    TAKEN_OVER = "taken_over"
    UNKNOWN = "unknown"


CHECKOUT_CAUSES = frozenset({Cause.EDITS, Cause.UNTRACKED, Cause.UNDER_WAY, Cause.SESSION, Cause.BEHIND})
"""Caused and ended by a person in a checkout of main."""
FILE_CAUSES = frozenset({Cause.EDITS, Cause.UNTRACKED})
"""These block only work on the same files."""
PUSH_CAUSES = frozenset({Cause.SIGNATURES, Cause.CONTENT, Cause.HOOK, Cause.REMOTE_DISK, Cause.RACES})
"""Only a push meets these: similar words in other answers mean another fault."""


@frozen
class Wait:
    """A cause that keeps main from moving. `words`: in short. `remedy`: what ends it; empty: the caller says so.
    Seconds: `passes`: it may end by itself; `asked`: until a person is asked; `again`: between the first polls."""

    words: str
    remedy: str = ""
    passes: float = 0.0
    asked: float = 0.0
    again: float = 60.0


_BY_REQUEST = "`nobrakes config set review.land pull_request` lets people merge at the remote instead."

WAITS: dict[Cause, Wait] = {
    Cause.NONE: Wait("nothing"),
    Cause.EDITS: Wait("a checkout of main has uncommitted edits to files of the merge", asked=AT_WORK, again=5.0),
    Cause.UNTRACKED: Wait("a checkout of main has untracked files at paths of the merge", asked=AT_WORK, again=5.0),
    Cause.UNDER_WAY: Wait("a merge, rebase or cherry-pick is open in a checkout of main", asked=AT_WORK, again=5.0),
    Cause.SESSION: Wait("a session is working in a checkout of main", asked=AT_WORK, again=5.0),
    Cause.BEHIND: Wait("a checkout of main is behind main and cannot be updated", asked=AT_WORK, again=5.0),
    Cause.LOCK: Wait("another git command holds a lock in this repository", passes=LOCK_PASSES, again=5.0),
    Cause.OLD_LOCK: Wait("a git command left a lock file in this repository", again=5.0),
    Cause.FILTER: Wait(
        "a git filter fails on a file",
        "Install the filter's program, or run it by hand: `git config --get-regexp '^filter'` names the program.",
        again=5.0,
    ),
    Cause.UNWRITABLE: Wait(
        "git cannot write a file in this repository",
        "Give this account permission to write the file. The merge then continues.",
        again=5.0,
    ),
    Cause.DISK: Wait("the disk of this machine is full", "Free some disk space. The merge then continues.", again=5.0),
    Cause.MAIN_RED: Wait("main is red", asked=inf, again=5.0),
    Cause.PROTECTED: Wait(
        "the remote's rules forbid this push to main",
        f"Allow this account to push to main in the remote's rules. Or: {_BY_REQUEST}",
    ),
    Cause.SIGNATURES: Wait(
        "the remote accepts only signed commits",
        f"At the remote, exempt the commits of nobrakes from that rule. Or: {_BY_REQUEST}",
    ),
    Cause.CONTENT: Wait(
        "the remote rejects the content of a commit",
        "`nobrakes diff BEAD` shows the content. Allow it at the remote, or send the bead back: `nobrakes retry BEAD`.",
    ),
    Cause.HOOK: Wait(
        "a hook of the remote refuses the push",
        f"Fix what the hook's message reports, or change the hook at the remote. Or: {_BY_REQUEST}",
    ),
    Cause.ACCESS: Wait(
        "the remote denies this account access",
        "Set up git's login for the remote: `git push --dry-run` in this folder has to work without a prompt.",
    ),
    Cause.MISSING: Wait(
        "the remote or its branch does not exist",
        "`git remote -v` shows the address: correct it, or create the branch there. The merge then continues.",
        passes=PASSES,
    ),
    Cause.EMPTY: Wait("the remote has no branch", "Push main to the remote. The merge then continues."),
    Cause.NOT_GIT: Wait(
        "the remote's address does not lead to a git server",
        "Open the address that `git remote -v` shows in a browser. Correct the address, or log in to the network or "
        "proxy that answers.",
        passes=PASSES,
    ),
    Cause.SILENT: Wait("the remote does not answer", "nobrakes tries again automatically.", passes=PASSES),
    Cause.REMOTE_LOCK: Wait(
        "another push holds a lock at the remote",
        "nobrakes pushes again. If the lock stays, a killed push left it: move the lock file away at the remote.",
        passes=PASSES,
    ),
    Cause.REMOTE_DISK: Wait(
        "the remote's disk or quota is full", "Free space at the remote or raise the limit. The merge then continues."
    ),
    Cause.REMOTE_FAULT: Wait(
        "the remote has an internal error",
        "Check the remote's disk, settings, hooks, objects and file permissions. The merge then continues.",
    ),
    Cause.TRUST: Wait(
        "this machine does not trust the remote",
        "`git ls-remote` in this folder has to work without a prompt. Check the remote's host key, certificate or "
        "owner, and configure git to trust it.",
    ),
    Cause.STORED: Wait(
        "a Git LFS file is missing in this repository",
        "Type `git lfs fetch --all`. If the server has no copy, the file's author has to push it to Git LFS again.",
    ),
    Cause.PROGRAM: Wait(
        "git cannot run a program that it needs",
        "Install the program that git's message names, here or at the remote. Or correct git's setting: `git config "
        "--list --show-origin` shows all settings.",
    ),
    Cause.DAMAGED: Wait(
        "git objects in this repository are damaged or missing",
        "`git fsck` lists the objects. Copy the objects from another clone. The merge then continues.",
    ),
    Cause.NAMES: Wait(
        "git cannot use a file or branch name, here or at the remote",
        "A branch cannot also be a folder of branches, and some disks refuse names that differ only in case: "
        "rename the file or branch.",
    ),
    Cause.SHALLOW: Wait(
        "part of the history is missing (shallow clone)",
        "Type `git fetch --unshallow` to fetch the whole history. The merge then continues.",
    ),
    Cause.ADDRESSES: Wait("the remote has several addresses", "Keep only one address. The merge then continues."),
    Cause.AHEAD: Wait("your local main has commits that the remote lacks", asked=AT_WORK),
    Cause.PARTED: Wait("your local main and the remote's main have diverged", asked=AT_WORK),
    Cause.BY_REQUEST: Wait("only merged pull requests may change main", asked=AT_WORK),
    Cause.RACES: Wait("main changes too fast to merge", "nobrakes tries again automatically.", passes=PASSES),
    Cause.TAKEN_OVER: Wait(
        "another machine took over this work", "`nobrakes takeover` takes the work back to this machine.", asked=inf
    ),
    Cause.UNKNOWN: Wait("git refuses", "Fix what git's message reports. The merge then continues."),
}
"""docs/reliability.md lists them."""


class Landing(StrEnum):
    """The result of moving main."""

    MOVED = "moved"  # main is the new commit now
    LOST = "lost"  # main is somewhere else than expected
    BLOCKED = "blocked"  # a checked-out main has edits that would be lost, or the remote does not take it


@frozen
class Land:
    """The result of `Lands.land`; when BLOCKED, `reason` tells a person what to do and `cause` is a key of
    WAITS. `may_have_landed`: BLOCKED here, but it may be at the remote and cannot be called back."""

    landing: Landing
    reason: str = ""
    cause: Cause = Cause.NONE
    may_have_landed: bool = False

    @property
    def wait(self) -> float:
        """Seconds before the next try; 0 unless BLOCKED."""
        return WAITS[self.cause].again if self.landing is Landing.BLOCKED else 0.0

    @property
    def timeout(self) -> float:
        """Seconds in which it may pass by itself; then a person has to look."""
        return WAITS[self.cause].passes


def _http(statuses: str) -> str:
    return rf"(error:|\bhttp( code)?|response) ({statuses})\b"


_SIGNS: tuple[tuple[str, Cause], ...] = (
    (
        r"internal (server error|api)|commit_refs|unable to handle this request|(service|temporarily) unavailable|"
        r"bad gateway|down for maintenance|too many requests|is not responding|"
        r"^(killed|terminated|aborted|segmentation fault)\b",
        Cause.SILENT,
    ),
    (
        r"(verified|valid) signature|must be signed|unsigned commit|commit.{0,40}not signed|gpg.{0,30}required|"
        r"requires? signed",
        Cause.SIGNATURES,
    ),
    (
        r"(storage|repository size|its size) (limit|quota)|data quota|lfs budget|"
        r"exceed.{0,20}(?<!file )(size|storage) limit of|"
        rf"remote: .*(no space left|out of disk|quota)|remote unpack failed.*(space|quota)|{_http('507')}",
        Cause.REMOTE_DISK,
    ),
    (r"GH008|due to missing|unable to find source for object|lfs object not found", Cause.STORED),
    (
        rf"GH001|GH007|large files? detected|exceeds? .{{0,40}}(file size|size limit|\d limit)|blobs? which exceed|"
        r"maximum (allowed|file) size|push cannot contain secrets|secret(s)? (detected|found)|pack exceeds|"
        rf"file.{{0,20}}too large|{_http('413')}|entity too large|fsck error|VS40365\d|must match a given|"
        r"not follow the pattern|prohibited by the pattern|file path restriction|is not a member of team|"
        r"cannot push commits for",
        Cause.CONTENT,
    ),
    (
        r"without `\w+` scope|push code to this project|permission denied for writing|ip allow list|TF401027|"
        r"don't have permission to view",
        Cause.ACCESS,
    ),
    (
        r"GH0\d\d|GL-HOOK-ERR|TF40\d{4}|protected branch|branch is protected|repository rule|"
        r"not allowed to (force )?push|was archived|\bbranch \S+ is protected|branch is (locked|read-only)|"
        r"(denied to update|permission to push changes to this) branch|push to branch via pull|read.only mirror|"
        r"push(es)? to .{0,60}(not (allowed|permitted)|prohibited|denied)|prohibited by gerrit|branch permission|"
        r"changes must be made through a (pull|merge) request|pull request is required|denying update|deny update|"
        r"refusing to update checked out branch|branch is currently checked out",
        Cause.PROTECTED,
    ),
    (
        r"(cannot (run|exec|spawn) .{0,200}hooks/|hooks/\S+ died of)|missing necessary objects|on the remote side|"
        r"remote: .*(exec format error|bad interpreter|hooks/.*: (not found|permission denied)|"
        r"\benv: .*no such file|fatal: bad object|traceback \(most recent)",
        Cause.REMOTE_FAULT,
    ),
    (
        r"hook declined|pre-receive hook|update hook|post-receive hook|aborted by hook|ref updates? forbidden|"
        r"missing change-id|is not registered in your account",
        Cause.HOOK,
    ),
    (
        r"directory/file conflict|D/F conflict|exists; cannot create|cannot lock ref '[^']+': '[^']+' exists|"
        r"refname conflict|differ(s)? only in case|case-insensitive|funny refname|"
        r"unable to create file .*(invalid argument|name too long|illegal byte)|invalid path '",
        Cause.NAMES,
    ),
    (
        r"remote: .*(unable to create|insufficient permission|cannot lock ref).*(permission|read-only|denied|database)|"
        r"remote unpack failed|unpacker error|remote: .*unable to (open|write)|unable to migrate objects|"
        r"\[remote rejected\] \(unable to",
        Cause.REMOTE_FAULT,
    ),
    (
        r"host key verification failed|host identification has changed|no matching host key|dubious ownership|"
        r"no matching (cipher|key exchange|mac)|certificate",
        Cause.TRUST,
    ),
    (
        r"authentication failed|could not read (username|password)|permission denied \(|permission to .{0,100} denied|"
        rf"access denied|invalid (username|credentials)|terminal prompts disabled|{_http('40[1237]')}|"
        r"not authorized|authori[sz]ation error|read[- ]only (access|deploy)|key.{0,60}read.only|"
        r"write access to repository not granted|too many authentication failures|saml sso|"
        r"account.{0,40}(suspended|not available|locked|expired|disabled)|"
        r"RSA key with SHA-1|bad owner or permissions",
        Cause.ACCESS,
    ),
    (
        r"is this a git repository|from redirection|invalid content-type|unexpected tls packet|wrong version number|"
        r"record.too.long|packet length too long|http/0\.9|weird server reply|bad line length|"
        rf"invalid server response|sftp connections only|not provide shell access|{_http('405|406|415|511')}",
        Cause.NOT_GIT,
    ),
    (
        r"repository .{0,200}(not found|does not exist)|does not appear to be a git repository|no such remote|"
        r"couldn't find remote ref|not a git repository|could not be found|redirects followed|no path specified|"
        rf"bad port|\burl\b.{{0,40}}(malformed|bad|illegal|rejected)|{_http('404|410')}",
        Cause.MISSING,
    ),
    (r"(smudge|clean) filter|smudge error|external filter|git-lfs|filter-process", Cause.FILTER),
    (
        r"cannot run |is not a git command|unable to find remote helper|command not found|: \d+: .{1,200}: not found|"
        r"bad configuration option",
        Cause.PROGRAM,
    ),
    (
        r"unable to read (tree|sha1|object)|bad object|did not send all necessary|object .{0,80} (is )?corrupt|"
        r"object file .{0,200} is empty|index file (corrupt|smaller)|missing (blob|tree|commit) ",
        Cause.DAMAGED,
    ),
    (r"untracked working tree file|would lose untracked", Cause.UNTRACKED),
    (r"would be overwritten|not uptodate|not up to date", Cause.EDITS),
    (r"non-fast-forward|fetch first|stale info", Cause.RACES),
    (_http(r"4(?!08|25|29)\d\d|501|505|506|508"), Cause.REMOTE_FAULT),
    (
        r"could not resolve|couldn't connect|connection (refused|reset|timed out|closed)|network is unreachable|"
        r"no route to host|operation timed out|did not answer|early eof|unable to access|"
        r"rpc failed|unexpected disconnect|\b(ssl|tls|gnutls)|broken pipe|kex_exchange|bytes of (length|body)|"
        rf"temporarily|timeout|{_http('4..|5..')}",
        Cause.SILENT,
    ),
    (r"shallow update not allowed|shallow file", Cause.SHALLOW),
    (r"no space left|disk quota exceeded", Cause.DISK),
    (
        r"remote: .*(cannot lock ref|unable to create .*\.lock)|failed to (update ref|lock)|\[remote rejected\].*lock",
        Cause.REMOTE_LOCK,
    ),
    (
        r"permission denied|read-only file system|operation not permitted|insufficient permission|"
        r"unable to (create file|unlink|write)",
        Cause.UNWRITABLE,
    ),
    (r"unable to create '.*\.lock'|cannot lock ref|index\.lock|another git process", Cause.LOCK),
)

_ENDED = re.compile(r"(the remote end hung up unexpectedly|could not read from remote repository|remote error:)", re.I)
_NOISE = re.compile(
    r"(error: failed to push some refs|error: external filter|To |hint:|Done$|Everything up-to-date|ok$|"
    r"(fatal: )?Could not read from remote repository|Please make sure you have the correct access|"
    r"and the repository exists|error: atomic push failed|"
    r"Make sure you configure|remote: Resolving deltas|remote: Processing changes|remote: (Counting|Compressing|Total)|"
    r"warning: )",
    re.IGNORECASE,
)
_FRONT = re.compile(r"^((remote|error|fatal):(\s+|$))+", re.IGNORECASE)
_REJECTED = re.compile(r"^!.*?\[[^\]]*\] ?\(?(.*?)\)?$")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

_ADDRESS = re.compile(r"(?<!\w)\w++://[^\s'\"]+")


def cause_of(said: str, is_push: bool = True) -> Cause:
    """The cause in git's words; UNKNOWN: no row matches. The first row counts."""
    flags, said = re.IGNORECASE | re.MULTILINE, _ADDRESS.sub("", said)
    cause = next((cause for sign, cause in _SIGNS if re.search(sign, said, flags)), Cause.UNKNOWN)
    ended = _ENDED.search(said) is not None
    if cause is Cause.UNKNOWN and ended:
        return Cause.REMOTE_FAULT if first_words(_ENDED.sub("", said)) else Cause.SILENT
    if not is_push and (cause in PUSH_CAUSES or (cause is Cause.DAMAGED and ended)):
        return Cause.REMOTE_FAULT
    return cause


def first_words(said: str) -> str:
    """The first lines with the error, joined; empty: none."""
    lines = [_CONTROL.sub(" ", line).strip() for line in said.split("\n")]
    told = [_FRONT.sub("", line).strip() for line in lines if not _NOISE.match(line) and not line.startswith("!")]
    told = [line for line in told if any(one.isalnum() for one in line)]
    if not told:  # all that there is: the reason in brackets behind the ref
        told = [found[1] for line in lines if (found := _REJECTED.match(line)) and found[1]]
    return " ".join(dict.fromkeys(told[:_LINES]))[:_SHOWN]


def why(cause: Cause, what: str, by_request: bool = False) -> str:
    """What happened, why, and the fix. `by_request`: people merge there already."""
    row = WAITS[cause]
    said = what if cause in (Cause.UNKNOWN, Cause.SILENT) or row.words in what else f"{what} ({row.words})"
    remedy = row.remedy.replace(f" Or: {_BY_REQUEST}", "") if by_request else row.remedy
    return f"{said.rstrip('.')}. {remedy}".strip()


def next_look(cause: Cause, lasts: float) -> float:
    """Seconds until an unresolved cause of this age is polled again."""
    again = WAITS[cause].again
    return again if WAITS[cause].asked else min(MAX_SECONDS, max(again, lasts))
