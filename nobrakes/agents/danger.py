"""Tool calls that look dangerous: what a person is alerted to while an agent works. It stops nothing.

1. Only tool calls count; text, file contents and searches do not. Command lines are parsed as a shell would
   (agents.shell), so quoted words are not commands; unparsable ones are not judged further.
2. Patterns are what cannot be undone, leaves the machine, or takes rights; git can restore the rest. Misses and false
   alerts are counted in tests/support/danger_calls.py.
"""

import re
from collections.abc import Sequence
from itertools import accumulate

from .shell import SHELLS, Call, calls, plain, scripts

MAX_DEPTH = 4
_INTERPRETERS = SHELLS | {"python", "python3", "perl", "ruby", "node", "php"}
_FETCHERS = frozenset(("curl", "wget", "fetch"))
_DECODERS = frozenset(("base64", "xxd", "openssl"))
_RIGHTS = frozenset(("sudo", "su", "doas", "pkexec"))
_CLIS = frozenset(("claude", "codex", "gemini"))
_ELEVATED = (
    "--dangerously-skip-permissions",
    "--dangerously-bypass-approvals-and-sandbox",
    "--yolo",
    "bypassPermissions",
)
_STOPS = frozenset(("shutdown", "reboot", "halt", "poweroff"))
_DISKS = frozenset(("fdisk", "sfdisk", "parted", "wipefs", "blkdiscard"))
_PUBLISHES: dict[str, tuple[tuple[str, ...], ...]] = {
    "npm": (("publish",), ("unpublish",)),
    "pnpm": (("publish",),),
    "yarn": (("publish",), ("npm", "publish")),
    "twine": (("upload",),),
    "cargo": (("publish",),),
    "gem": (("push",),),
    "docker": (("push",), ("system", "prune"), ("volume", "rm"), ("volume", "prune")),
    "terraform": (("apply",), ("destroy",)),
    "tofu": (("apply",), ("destroy",)),
    "pulumi": (("up",), ("destroy",)),
    "kubectl": (("delete",), ("apply",), ("drain",)),
    "helm": (("uninstall",), ("upgrade",), ("install",)),
    "aws": (("s3", "rm"), ("s3", "rb"), ("ec2", "terminate-instances"), ("rds", "delete-db-instance")),
    "gcloud": (("projects", "delete"), ("sql", "instances", "delete"), ("run", "deploy"), ("app", "deploy")),
    "gh": (("pr", "merge"), ("release", "create"), ("release", "delete"), ("repo", "delete")),
    "fly": (("deploy",),),
    "flyctl": (("deploy",),),
    "vercel": (("deploy",), ("--prod",)),
    "netlify": (("deploy",),),
    "redis-cli": (("flushall",), ("flushdb",)),
    "dropdb": ((),),
    "nobrakes": tuple(
        (word,) for word in ("resolve", "approve", "answer", "commit-strategy", "undo", "daemon", "pause", "config")
    ),
}
"""By program: subcommands that publish, or delete what git does not have."""
_GIT_LOSES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("push", ("-f", "--force", "--force-with-lease", "--mirror", "--delete", "-d")),
    ("reflog", ("expire", "delete")),
    ("filter-branch", ()),
    ("update-ref", ("-d",)),
)
_SECRET = re.compile(
    r"(?:^|[/~=@\s'\"])(?:\.ssh/(?:id_\w+|identity)(?!\.pub)\b(?!\.pub)|\.aws/credentials|\.netrc|\.git-credentials|"
    r"\.docker/config\.json|\.kube/config|\.config/gh/hosts\.yml|\.gnupg/|\.claude/\.credentials\.json|\.codex/auth\.json)"
    r"|^/etc/shadow$"
)
_SENT_FILE = re.compile(r"@[^@\n]*\.(?:env|pem|key)\b|@[^@\n]*credentials")
_FORK_BOMB = re.compile(r":\s*\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:")
_SQL = re.compile(
    r"\b(?:drop\s+(?:database|table|schema)|truncate\s+(?:table\s+)?\w|delete\s+from\s+\S+\s*(?:;|$)|dropDatabase\()",
    re.I,
)
_SQL_CLIENTS = frozenset(("psql", "mysql", "mariadb", "mongosh", "mongo", "sqlcmd"))
_HOME = frozenset(("~", "$HOME", "${HOME}"))
_OWN_FILES = (".bashrc", ".profile", ".bash_profile", ".zshrc", ".ssh/authorized_keys", ".ssh/config", ".gitconfig")
_HERE = (".", "*", "./", "./*")
_BROAD = frozenset(
    ("python", "python3", "node", "java", "nobrakes", "postgres", "claude", "codex", "gemini", "sshd", "dockerd", "-u")
)
"""Programs whose end by name hits more than the agent's own processes."""
_REMOVERS = frozenset(("rm", "shred"))


def command_danger(text: str, own: str = "", depth: int = 0) -> str:
    """Why a command line is dangerous; empty: no known reason. `own`: its own folder."""
    text = text.replace(own.rstrip("/") + "/", "./") if own else text
    if _FORK_BOMB.search(text):
        return "it starts copies of itself without end (a fork bomb)"
    try:
        found = calls(text)
    except ValueError:
        return ""
    before = ""
    for call in found:
        words = plain(call.words)
        program = words[0].rpartition("/")[2] if words else ""
        if why := _call_danger(program, words[1:], call, before, depth):
            return why
        before = "env" if program == "printenv" or call.words == ["env"] else program or before
    return ""


def file_danger(path: str, writes: bool) -> str:
    """Why reading or writing this file is dangerous; empty: no known reason."""
    if writes:
        return _target_danger(path)
    return f"it reads a secret: {path}" if _SECRET.search(path) else ""


def tool_danger(tool: str, what: str, own: str = "") -> str:
    """As command_danger and file_danger, for a tool's name and first argument."""
    name = tool.lower()
    if name in ("bash", "shell", "run_shell_command", "exec_command", "command_execution", "execute"):
        return command_danger(what, own)
    if name in ("write", "edit", "multiedit", "notebookedit", "write_file", "replace"):
        return file_danger(what, True)
    return file_danger(what, False) if name in ("read", "read_file") else ""


def _call_danger(program: str, rest: list[str], call: Call, before: str, depth: int) -> str:
    if why := next(filter(None, map(_target_danger, call.writes)), ""):
        return why
    if not program:
        return ""
    if program in _RIGHTS:
        return f"it uses the rights of another account: {program}"
    if depth < MAX_DEPTH:
        inner = scripts(program, rest, call.documents)
        why = next((found for text in inner if (found := command_danger(text, depth=depth + 1))), "")
        if why:
            return why
    return (
        _fed(program, rest, "" if call.documents else before)
        or _secret_danger(program, rest, before)
        or _removal_danger(program, rest)
        or _machine_danger(program, rest)
        or _other_danger(program, rest)
    )


def _fed(program: str, rest: list[str], before: str) -> str:
    """What was fetched or decoded, and is run unseen."""
    takes = before in _FETCHERS or before in _DECODERS
    operands = [word for word in rest if not word.startswith("-")]
    if program in _INTERPRETERS and takes and not operands and "-c" not in rest and "-m" not in rest:
        return f"it runs the output of {before}, which nobody can check before"
    if program in SHELLS | {"eval", "source", "."} and any(word.startswith("$") for word in operands[:1]):
        is_told = program != "eval" or operands == ["$"]
        return "it runs another command's output, which nobody can check before" if is_told else ""
    return ""


def _secret_danger(program: str, rest: list[str], before: str) -> str:
    secret = next((word for word in rest if _SECRET.search(word)), "")
    if secret and program not in ("ls", "chmod", "stat", "test", "[", "echo", "printf", "git", "grep", "rg"):
        return f"it reads a secret: {secret}"
    if program in _FETCHERS | {"nc", "ncat", "scp", "rsync"}:
        if before == "env" and any("@-" in word for word in rest):
            return "it sends all its environment variables"
        sent = next((word for word in rest if _SENT_FILE.search(word)), "")
        return f"it sends a file that may be secret: {sent}" if sent else ""
    return ""


def _flags(rest: list[str], letters: str, words: Sequence[str]) -> bool:
    return any(word in words or (word[:1] == "-" and word[:2] != "--" and set(letters) & set(word)) for word in rest)


def _removal_danger(program: str, rest: list[str]) -> str:
    operands = [word for word in rest if not word.startswith("-")]
    if program in _REMOVERS and (program == "shred" or _flags(rest, "rR", ("--recursive",))):
        worst = next((word for word in operands if _is_far(word)), "")
        return f"it removes files outside its workspace: {worst}" if worst else ""
    if program in ("chmod", "chown", "chgrp") and _flags(rest, "R", ("--recursive",)):
        worst = next((word for word in operands[1:] if _is_far(word) and word not in _HERE), "")
        return f"it changes permissions of files outside its workspace: {worst}" if worst else ""
    if program == "find" and ("-delete" in rest or "rm" in rest):
        worst = next((word for word in operands[:1] if _is_far(word) and word not in _HERE), "")
        return f"it removes files outside its workspace: {worst}" if worst else ""
    if program == "mv":
        return next((why for word in operands if (why := _target_danger(word))), "")
    if program in ("tee", "cp", "install", "ln"):
        return _target_danger(operands[-1]) if operands else ""
    return ""


def _is_far(word: str) -> bool:
    """Whether a path may leave the workspace: root, home, parent, git's own folder, an unset variable."""
    bare = word.rstrip("/*.")
    if word in _HERE or _leaves(word) or word.rstrip("/") == ".git" or word.startswith(".git/"):
        return True
    if word.startswith(("/tmp/", "/var/tmp/", "/dev/shm/", "$TMPDIR/", "$")):
        return bare in _HOME or (word.startswith("$") and word.endswith(("/", "/*"))) or word.startswith("$HOME/")
    return word.startswith(("/", "~")) or bare in _HOME


def _leaves(word: str) -> bool:
    steps = (0 if part in ("", ".") else -1 if part == ".." else 1 for part in word.split("/"))
    return any(depth < 0 for depth in accumulate(steps))


def _target_danger(path: str) -> str:
    """Why writing to this path is dangerous; empty: no known reason."""
    if path.startswith(("/dev/sd", "/dev/nvme", "/dev/vd", "/dev/disk", "/dev/mapper")):
        return f"it writes directly to a disk: {path}"
    if path.startswith(("/etc/", "/usr/", "/bin/", "/sbin/", "/boot/", "/lib", "/var/spool/cron")):
        return f"it changes a system file: {path}"
    is_home = path.startswith(("~", "$HOME", "${HOME}")) or path.split("/")[:2] in (["", "home"], ["", "root"])
    return f"it changes your own files or settings: {path}" if is_home and path.endswith(_OWN_FILES) else ""


def _machine_danger(program: str, rest: list[str]) -> str:
    if program in _STOPS or (program in ("systemctl", "service") and {"stop", "disable", "poweroff"} & set(rest)):
        return f"it stops the machine or its services: {program}"
    if program in _DISKS or program.startswith("mkfs"):
        return f"it formats or partitions a disk: {program}"
    if program == "dd":
        return next((why for word in rest if word.startswith("of=") and (why := _target_danger(word[3:]))), "")
    if program == "kill" and "-1" in rest[-1:]:
        return "it kills all processes"
    if program in ("killall", "pkill") and _BROAD & set(rest):
        return f"it kills processes by name: {' '.join(rest)[:60]}"
    if program == "crontab" and (rest in ([], ["-"]) or "-r" in rest):
        return "it changes programs that start automatically: crontab"
    if program in ("iptables", "ufw", "setenforce"):
        return f"it opens the machine to others: {program}" if {"-F", "--flush", "disable", "0"} & set(rest) else ""
    return ""


def _other_danger(program: str, rest: list[str]) -> str:
    operands = [word for word in rest if not word.startswith("-")]
    if program in _CLIS:
        if any(word.startswith(_ELEVATED) for word in rest) or "bypassPermissions" in rest:
            return f"it starts an agent that never asks for permission: {program}"
        if operands[:1] in (["exec"], ["e"]) or _flags(rest, "p", ("--print", "--prompt")):
            return f"it starts another agent: {program}"
    for first in _PUBLISHES.get(program, ()):
        if tuple(operands[: len(first)]) == first or (first and first[0].startswith("--") and first[0] in rest):
            return f"it publishes, or deletes irrecoverably: {program} {' '.join(first)}".strip()
    if program == "git":
        for name, options in _GIT_LOSES:
            is_forced = name == "push" and any(word.startswith("+") for word in operands)
            if name in operands[:2] and (not options or is_forced or any(word in options for word in rest)):
                return f"it changes shared data, or removes history: git {name}"
    if program in _SQL_CLIENTS | {"sqlite3"} and any(_SQL.search(word) for word in rest):
        return f"it deletes data: {program}"
    return ""
