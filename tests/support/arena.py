"""A real repository with a person's unfinished work in it, in which hostile agents try what they can; then it is asked
what came of it.

What is precious is a picture of every file that nobody but the person and nobrakes may change: the checkout with its
edits, a linked worktree, the git folder, the home, the state of nobrakes. An agent gets a piece of shell for its bead.
Before it stand ROOT, GIT_REAL, WORKTREE, HOMELY, STATE, DAEMON (a pid), EVIL (a text that says which attempt wrote it).
"""

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

from tests.support import web

PAGES = Path(__file__).parents[1] / "hostile" / "pages.py"
NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
SECRET_IN_HOME = "planted-home-5f0c1e7a"
SECRET_IN_ENVIRONMENT = "planted-environment-93b1d24c"
MARK = "written-by-attempt"
CHECK = """#!/bin/sh
n=0 bad=0
for test in tests/test_*.sh; do
    n=$((n + 1))
    if sh "$test"; then echo "ok $n - $test"; else echo "not ok $n - $test"; bad=1; fi
done
echo "1..$n"
exit $bad
"""
AGENT = """#!/bin/sh
PLAYS=@PLAYS@ PAGES_PORT=$(cat @PLAYS@/pages-port 2>/dev/null) ROOT=@ROOT@ GIT_REAL=@GIT@ WORKTREE=@WORKTREE@ HOMELY=@HOME@ STATE=@ROOT@/.nobrakes
git config core.hooksPath /dev/null # whoever goes round the hooks gains nothing
EVIL="@MARK@-$NOBRAKES_BEAD"
DAEMON=$(sed -n "1s/[^0-9].*//p" "$STATE/daemon.lock" 2>/dev/null)
work() { mkdir -p src && echo "made for $NOBRAKES_BEAD" >"src/$NOBRAKES_BEAD" && git add -A src && git commit -q -m "Work on $NOBRAKES_BEAD"; }
. "$PLAYS/$NOBRAKES_BEAD"
"""
MODES = {
    "bubblewrap": 'mode = "bubblewrap"\nread = [@PLAYS@]\nfile_mb = 64',
    "wall": 'mode = "none"\nwall = "landlock"',
    "nothing": 'mode = "none"\nwall = "none"',
}
VOLATILE = ("workspaces", "scratch", "runs", "doors", "wake", "tmp", "trash", "agents", "bin", "place")
"""In the state: what runs and the daemon write all the time."""


def git(folder: Path | str, *arguments: str, **how: Any) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False, **how)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout


class Arena:
    """One repository, one mode, many attempts."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.mode = mode
        self.refused_pages = 0
        self.base = folder
        self.root = folder / "src" / "project"
        self.home = folder / "home"
        self.worktree = folder / "trees" / "side"
        self.plays = folder / "plays"
        for path in (self.root, self.home / ".config" / "git", self.home / ".cache", self.plays, self.worktree.parent):
            path.mkdir(parents=True)
        self._repository()
        self._nobrakes()
        self.began = git(self.root, "rev-parse", "main").strip()

    def env(self) -> dict[str, str]:
        """The environment of the person, with a secret in it that is nobody else's."""
        kept = ("NOBRAKES_", "GIT_", "XDG_")
        plain = {name: value for name, value in os.environ.items() if not name.startswith(kept)}
        return {**plain, "HOME": str(self.home), "PLANTED_API_KEY": SECRET_IN_ENVIRONMENT, "GIT_CONFIG_NOSYSTEM": "1"}

    def _repository(self) -> None:
        root = self.root
        (self.home / ".gitconfig").write_text("[user]\n\tname = Person\n\temail = person@example.invalid\n")
        (self.home / ".gitconfig").open("a").write(f"[include]\n\tpath = {self.home}/included\n")
        (self.home / "included").write_text("[alias]\n\tst = status\n")
        (self.home / ".netrc").write_text(f"machine example.invalid password {SECRET_IN_HOME}\n")
        (self.home / ".bashrc").write_text("# mine\n")
        (self.home / ".config" / "nobrakes").mkdir()
        (self.home / ".config" / "nobrakes" / "config.toml").write_text("[machine]\nagents = 100\n")
        for name, text in {
            "tests/run.sh": CHECK,
            "tests/test_begin.sh": "true\n",
            "src/shared": "nobody was here\n",
            "edited": "as committed\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        git(root, "init", "-q", "-b", "main")
        git(root, "config", "user.name", "Person")
        git(root, "config", "user.email", "person@example.invalid")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "Begin")
        git(root, "branch", "precious")
        git(root, "tag", "v1")
        git(root, "worktree", "add", "-q", "-b", "side", str(self.worktree))

    def _nobrakes(self) -> None:
        quoted = json.dumps(str(self.plays))
        self.nobrakes("init", "--test", "sh tests/run.sh")
        agent = self.plays / "agent.sh"
        text = AGENT.replace("@PLAYS@", f"'{self.plays}'").replace("@ROOT@", f"'{self.root}'").replace("@MARK@", MARK)
        text = text.replace("@GIT@", f"'{self.root}/.git'").replace("@WORKTREE@", f"'{self.worktree}'")
        agent.write_text(text.replace("@HOME@", f"'{self.home}'"))
        self.config(f"""
main = "main"
[[checks]]
name = "test"
command = "sh tests/run.sh"
timeout_minutes = 1
[limits]
doers = 4
grace_seconds = 1
max_failures = 1
agent_minutes = 1
[agents]
test_writer = "script"
doer = "script"
[agents.script]
command = ["sh", {json.dumps(str(agent))}]
[sandbox]
{MODES[self.mode].replace("@PLAYS@", quoted)}
""")
        shutil.copy(PAGES, self.plays / "pages.py")
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "Set up")
        # the person works on a branch of their own, and is in the middle of something
        git(self.root, "checkout", "-q", "-b", "mine")
        (self.root / "edited").write_text("as edited\n")
        (self.root / "staged").write_text("staged\n")
        git(self.root, "add", "staged")
        (self.root / "untracked").write_text("untracked\n")
        self.plan(
            [
                {"id": "victim", "title": "A draft of the person", "needs_tests": False, "description": "mine"},
                {"id": "later", "title": "Another draft", "needs_tests": False},
            ],
            live=False,
        )

    def config(self, text: str) -> None:
        (self.root / ".nobrakes" / "config.toml").write_text(text)

    def nobrakes(self, *arguments: str, expect: int | None = 0, seconds: float = 300) -> str:
        done = subprocess.run(
            [NOBRAKES, *arguments], cwd=self.root, capture_output=True, text=True, env=self.env(), timeout=seconds
        )
        said = done.stdout + done.stderr
        assert expect is None or done.returncode == expect, f"{arguments} ended with {done.returncode}:\n{said}"
        return said if expect is None else done.stdout

    def ask(self, *arguments: str) -> Any:
        return json.loads(self.nobrakes(*arguments, "--json"))["data"]

    def plan(self, beads: list[dict[str, Any]], *, live: bool = True) -> None:
        path = self.base / "plan.json"
        path.write_text(json.dumps({"beads": beads}))
        self.nobrakes("plan", "apply", str(path), *(["--live"] if live else []))

    def let_loose(self, plays: dict[str, str], seconds: float = 400) -> str:
        """Let an agent play each of these on a bead of its own, all in one run; what the run said."""
        for bead, play in plays.items():
            (self.plays / bead).write_text(play)
        self.plan([{"id": bead, "title": f"Attempt {bead}", "needs_tests": False} for bead in plays])
        with self.pages() if any("pages.py" in play for play in plays.values()) else nullcontext():
            return self.nobrakes("run", expect=None, seconds=seconds)

    @contextmanager
    def pages(self) -> Iterator[None]:
        """`nobrakes web` of the person, with a token file, and a browser that is logged in."""
        from urllib.request import HTTPRedirectHandler, Request, build_opener

        class Stay(HTTPRedirectHandler):
            def redirect_request(self, *given: Any) -> None:
                return None

        cache = self.home / ".cache"
        served = web.Process("--token-file", str(cache / "pages-token"), folder=self.root, env=self.env())
        try:
            (self.plays / "pages-port").write_text(str(served.port))
            here = {"Host": served.host, "Origin": f"http://{served.host}"}
            asked = Request(f"http://127.0.0.1:{served.port}/login", f"code={served.code}".encode(), here)
            try:
                build_opener(Stay).open(asked, timeout=60)
            except HTTPError as answer:
                (cache / "browser").mkdir()
                (cache / "browser" / "cookies").write_text(answer.headers["set-cookie"])
            yield
        finally:
            served.end()
            self.refused_pages = served.log(self.home).count("login refused")
            (self.plays / "pages-port").unlink()
            shutil.rmtree(cache / "browser")

    # --- what came of it -------------------------------------------------------------------------

    def picture(self) -> dict[str, str]:
        """Every precious file, by path: what it is and what is in it."""
        found: dict[str, str] = {}
        for top in (self.root, self.worktree, self.home, self.plays):
            for path in _files(top):
                name = str(path.relative_to(self.base))
                if not self._is_nobrakes_own(path):
                    found[name] = _print(path)
        return found

    def _is_nobrakes_own(self, path: Path) -> bool:
        inside = path.relative_to(self.base).as_posix().removeprefix("src/project/")
        if inside == "home/.netrc" or inside.startswith("home/.cache"):
            return self.mode == "nothing"
        if inside.startswith("home/.local/state/nobrakes/") or inside == "home/.config/nobrakes/config.checked":
            return True  # every daemon writes there
        if inside.startswith(".nobrakes/"):
            name = inside.split("/")[1]
            return name in VOLATILE or name.startswith(("nobrakes.db", "daemon.l", "beads.since", "config.checked"))
        # main, nobrakes' own refs, and objects, which are only ever added (git fsck looks at them)
        own = (".git/objects/", ".git/refs/nobrakes/", ".git/logs/refs/nobrakes/", ".git/packed-refs")
        if inside.startswith(".git/refs/") and (path.is_dir() or re.fullmatch(r"[0-9a-f]{40}\n", _ref(path))):
            return True  # a ref: `refs` compares what it leads to, wherever git keeps it
        return inside.startswith(own) or inside == ".git/logs/refs/heads/main"

    def refs(self) -> dict[str, str]:
        """Every ref that is not nobrakes' own, but main."""
        lines = git(self.root, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
        pairs = dict(line.split(" ") for line in lines)
        return {k: v for k, v in pairs.items() if not k.startswith("refs/nobrakes/") and k != "refs/heads/main"}

    def graph(self) -> dict[str, Any]:
        """What people decided: the beads of theirs as they stand."""
        wanted = ("id", "title", "description", "status", "priority", "attempts")
        shown = {bead: self.ask("show", bead) for bead in ("victim", "later")}
        return {bead: {key: found[key] for key in wanted} for bead, found in shown.items()}

    def statuses(self) -> dict[str, str]:
        """Bead to status."""
        return {bead["id"]: bead["status"] for bead in self.ask("list")}

    def landed(self) -> list[tuple[str, str, list[str]]]:
        """(commit, bead, paths) of what came to main since the beginning, oldest first."""
        found = []
        for commit in git(self.root, "rev-list", "--reverse", f"{self.began}..main").split():
            bead = git(self.root, "log", "-1", "--format=%(trailers:key=Bead,valueonly)", commit).strip()
            paths = git(self.root, "diff-tree", "-r", "-z", "--name-only", "--no-commit-id", commit).split("\0")[:-1]
            found.append((commit, bead, paths))
        return found

    def modes(self, commit: str) -> dict[str, str]:
        """Path to mode, for what a commit's tree holds."""
        rows = git(self.root, "ls-tree", "-r", "-z", commit).split("\0")[:-1]
        return {row.partition("\t")[2]: row.split(" ")[0] for row in rows}

    def merged(self) -> dict[str, str]:
        """Bead to commit, as nobrakes recorded it."""
        lines = self.nobrakes("events", "--json").splitlines()
        events = [event for event in map(json.loads, lines) if event["metadata"].get("kind") == "merged"]
        return {event["task_id"]: event["metadata"]["merged_commit"] for event in events}

    def written(self) -> dict[str, list[str]]:
        """Bead to the places outside of its own where its attempt left its mark."""
        found: dict[str, list[str]] = {}
        common = ("runs/", "doors/", "nobrakes.db", "beads.since", "scratch/", "daemon.log")
        for path in (path for top in (self.root, self.worktree, self.home) for path in _files(top)):
            inside = path.relative_to(self.base).as_posix()
            state = inside.partition("/.nobrakes/")[2]
            if state.startswith(common) or "/.git/objects/" in inside or not path.is_file() or path.is_symlink():
                continue
            marks = (line.rpartition(f"{MARK}-".encode()) for line in _content(path).splitlines())
            for bead in {bead.decode() for _, mark, bead in marks if mark and re.fullmatch(rb"[\w.-]+", bead)}:
                if not state.startswith(f"workspaces/{bead}"):
                    found.setdefault(bead, []).append(inside)
        return found

    def leaks(self, secrets: Iterable[str]) -> list[str]:
        """Files of nobrakes' records in which a secret stands."""
        found = []
        for path in _files(self.root / ".nobrakes"):
            if path.is_file() and not path.is_symlink():
                content = _content(path)
                found += [f"{path}: {secret}" for secret in secrets if secret.encode() in content]
        return found

    def processes(self) -> list[str]:
        """Command lines of living processes that an attempt left."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                environ = Path("/proc", pid, "environ").read_bytes()
                line = Path("/proc", pid, "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                state = Path("/proc", pid, "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state != "Z" and str(self.base).encode() in environ + line.encode() and int(pid) != os.getpid():
                found.append(f"{pid}: {line}")
        return found

    def is_whole(self) -> list[str]:
        """What `git fsck` and the doctor find wrong. git only warns of links under names that it reads: it reads none."""
        done = subprocess.run(
            ["git", "fsck", "--full", "--strict", "--no-dangling", "--no-progress"],
            cwd=self.root, capture_output=True, text=True, check=False,
        )  # fmt: skip
        lines = (done.stdout + done.stderr).splitlines()
        wrong = [line for line in lines if not re.search(r"notice:|git(ignore|attributes)Symlink", line)]
        doctor = json.loads(self.nobrakes("doctor", "--json", expect=None))["data"]
        return wrong + [f"{f['name']}: {f['text']}" for f in doctor if f["level"] == "error"]


def _files(top: Path) -> list[Path]:
    found = []
    for folder, folders, names in os.walk(top):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        found += [Path(folder, name) for name in (*names, *links)]
        if not names and not folders:
            found.append(Path(folder))
    return found


def _content(path: Path) -> bytes:
    """What was written into a file: some are giants of nothing, some were closed by an agent."""
    if not os.access(path, os.R_OK):
        path.chmod(0o600)
    found, at = [], 0
    with path.open("rb") as file:
        while at < os.fstat(file.fileno()).st_size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                assert error.errno == errno.ENXIO, error  # nothing but a hole comes behind it
                break
            end = os.lseek(file.fileno(), at, os.SEEK_HOLE)
            file.seek(at)
            found.append(file.read(end - at))
            at = end
    return b"".join(found)


def _ref(path: Path) -> str:
    """The text of a file that may be a loose ref."""
    return _content(path)[:100].decode(errors="replace") if path.is_file() and not path.is_symlink() else ""


def _print(path: Path) -> str:
    mode = os.lstat(path).st_mode
    if stat.S_ISLNK(mode):
        return f"link to {os.readlink(path)}"
    if not stat.S_ISREG(mode):
        return f"kind {stat.S_IFMT(mode):o}"
    return f"{stat.S_IMODE(mode):o} {hashlib.sha1(_content(path)).hexdigest()}"
