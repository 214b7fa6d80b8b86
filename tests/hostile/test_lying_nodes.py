"""A node that lies about what came of a run: forged objects, clones that would run programs, and parcels that lead out.

Each row is a bead whose work the node replaces. Nothing of it is run at home, written elsewhere or merged, each attempt
has an end of its own, and the honest bead beside them is merged.
"""

import json
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from nobrakes.fleet import parcel
from tests.support.liar import Answer, Asked, Liar, LiedTo, entry, liar
from tests.support.scripted import until

pytestmark = [pytest.mark.slow]

Forger = Callable[["Scene", str, bytes], bytes]
"""From the workspace's place and the true parcel: what is sent after it."""
HOOKS = ("post-checkout", "pre-commit", "reference-transaction", "post-index-change", "update", "pre-receive")
PROGRAMS = (
    "core.fsmonitor",
    "core.sshCommand",
    "core.alternateRefsCommand",
    "core.editor",
    "core.pager",
    "diff.external",
)
CHANGES = r"objects/|logs/|refs/|packed-refs|index|ORIG_HEAD|nobrakes"
"""What nobrakes itself writes in the repository's git folder and in a home."""


class Scene:
    """The project and what is precious beside it."""

    def __init__(self, folder: Path) -> None:
        self.precious = folder / "precious"
        self.precious.mkdir()
        (self.precious / "letter").write_text("mine")
        self.trap = folder / "trap.sh"
        self.trap.write_text(f'#!/bin/sh\necho "$0 $*" >>{self.precious}/ran\ncat\n')
        self.trap.chmod(0o755)
        self.project = LiedTo(folder, limits="max_failures = 1")
        self.project.git("config", "user.nickname", "me")
        self.git = self.project.folder / ".git"

    def picture(self) -> dict[str, str]:
        """Every precious file, and every file of the repository's git folder but its objects."""
        found = {}
        for top in (self.precious, self.git, Path(os.environ["HOME"])):
            for path in sorted(top.rglob("*")):
                inner = str(path.relative_to(top))
                if path.is_file() and not re.match(CHANGES, inner):
                    found[str(path)] = path.read_text(errors="replace")
        return found


def all_objects(found: bytes, place: str, content: bytes) -> bytes:
    names = re.findall(rf'"({re.escape(place)}/\.git/objects/../[0-9a-f]{{38}})"'.encode(), found)
    assert names, "the work had no loose object"
    return b"".join(entry(name.decode(), content=content) for name in names)


def forged_objects(_: Scene, place: str, found: bytes) -> bytes:
    evil = b"evil"
    return all_objects(found, place, zlib.compress(b"blob %d\0" % len(evil) + evil))


def corrupt_pack(_: Scene, place: str, found: bytes) -> bytes:
    name = f"{place}/.git/objects/pack/pack-{'1' * 40}"
    return (
        all_objects(found, place, b"")
        + entry(f"{name}.pack", content=b"PACK\0\0\0\2\0\0\0\1" + b"x" * 60)
        + entry(f"{name}.idx", content=b"\xfftOc\0\0\0\2" + b"\0" * 1100)
    )


def alternates(leads: str) -> Forger:
    def forge(scene: Scene, place: str, _: bytes) -> bytes:
        where = leads.format(git=scene.git, precious=scene.precious)
        return entry(f"{place}/.git/objects/info/alternates", content=where.encode() + b"\n")

    return forge


def settings(scene: Scene, place: str, _: bytes) -> bytes:
    trap = scene.trap
    lines = [f"[{name.partition('.')[0]}]\n\t{name.partition('.')[2]} = {trap}\n" for name in PROGRAMS]
    lines += [f"[core]\n\thooksPath = {scene.precious}\n", f"[alias]\n\tstatus = !{trap}\n\tlog = !{trap}\n"]
    lines += [f'[filter "evil"]\n\tclean = {trap}\n\tsmudge = {trap}\n\tprocess = {trap}\n\trequired = true\n']
    lines += [f"[uploadpack]\n\tpackObjectsHook = {trap}\n[include]\n\tpath = {scene.precious}/letter\n"]
    config = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n" + "".join(lines)
    return entry(f"{place}/.git/config", content=config.encode()) + entry(
        f"{place}/.git/info/attributes", content=b"* filter=evil diff=evil merge=evil\n"
    )


def hooks(scene: Scene, place: str, _: bytes) -> bytes:
    words = scene.trap.read_bytes()
    return b"".join(entry(f"{place}/.git/hooks/{name}", content=words, mode=0o755) for name in HOOKS)


def other_worktree(scene: Scene, place: str, _: bytes) -> bytes:
    words = f"[core]\n\tworktree = {scene.precious}\n\tbare = false\n[extensions]\n\tworktreeConfig = true\n"
    return entry(f"{place}/.git/config", content=words.encode()) + entry(
        f"{place}/.git/config.worktree", content=f"[core]\n\tfsmonitor = {scene.trap}\n".encode()
    )


def at(path: str, kind: str, leads: str) -> Forger:
    """One entry in the clone, which leads elsewhere."""

    def forge(scene: Scene, place: str, _: bytes) -> bytes:
        where = leads.format(git=scene.git, precious=scene.precious, trap=scene.trap)
        return entry(
            os.path.join(place, path.format(branch=f"task/bead-{os.path.basename(place)}")), kind, where.encode()
        )

    return forge


def through(name: str, leads: str, inner: str) -> Forger:
    """A link out, and a file below it."""

    def forge(scene: Scene, place: str, _: bytes) -> bytes:
        where = leads.format(git=scene.git, precious=scene.precious)
        return entry(f"{place}/{name}", "link", where.encode()) + entry(f"{place}/{name}/{inner}", content=b"theirs")

    return forge


def raw(words: bytes) -> Forger:
    return lambda _, place, found: words.replace(b"@PLACE@", place.encode())


def named(path: str, kind: str = "file") -> Forger:
    """One entry with this whole name."""
    return lambda scene, place, _: entry(
        path.format(place=place, precious=scene.precious, up="../" * 30), kind, b"theirs"
    )


MERGED = "merged"
NO_WORK = "the agent reported that it is done, but its branch has no new commit"
BORROWS = "the workspace takes git objects from another repository"
UNUSABLE = "its node failed: its answer cannot be used"
FORGED: dict[str, tuple[Forger, str]] = {
    "objects-of-other-content": (forged_objects, "is not a commit"),
    "objects-that-are-none": (lambda _, place, found: all_objects(found, place, b"garbage"), "is missing"),
    "corrupt-pack": (corrupt_pack, "is missing"),
    "alternates-to-etc": (alternates("/etc"), BORROWS),
    "alternates-to-yours": (alternates("{precious}\n{git}/objects"), BORROWS),
    "settings-that-run": (settings, MERGED),
    "hooks-that-run": (hooks, MERGED),
    "worktree-elsewhere": (other_worktree, MERGED),
    "git-is-a-file": (at(".git", "file", "gitdir: {git}\n"), NO_WORK),
    "git-is-a-link": (at(".git", "link", "{git}"), NO_WORK),
    "commondir": (at(".git/commondir", "file", "{git}\n"), MERGED),
    "gitdir-file": (at(".git/gitdir", "file", "{precious}\n"), MERGED),
    "branch-is-a-link": (at(".git/refs/heads/{branch}", "link", "{git}/refs/heads/main"), NO_WORK),
    "branch-is-a-folder": (at(".git/refs/heads/{branch}", "folder", ""), NO_WORK),
    "branch-is-an-option": (at(".git/refs/heads/{branch}", "file", "--upload-pack={trap}\n"), NO_WORK),
    "refs-are-a-link": (at(".git/refs", "link", "{git}/refs"), NO_WORK),
    "head-is-a-link": (at(".git/HEAD", "link", "{git}/HEAD"), MERGED),
    "index-of-garbage": (at(".git/index", "file", "DIRC\0\0\0\2garbage"), MERGED),
    "index-is-a-link": (at(".git/index", "link", "{git}/index"), MERGED),
    "through-a-link": (through("way", "{precious}", "letter"), MERGED),
    "through-git": (through(".git/way", "{git}", "config"), MERGED),
    "through-two-links": (through("src", "{precious}/..", "precious/letter"), MERGED),
    "another-beads-clone": (named(".nobrakes/workspaces/honest/src/honest"), MERGED),
    "your-checkout": (named("shared"), MERGED),
    "your-state": (named(".nobrakes/config.toml"), MERGED),
    "your-git": (named(".git/hooks/pre-commit"), MERGED),
    "absolute": (named("{precious}/letter"), UNUSABLE),
    "up": (named("{place}/{up}etc/nobrakes-was-here"), UNUSABLE),
    "newline": (named("{place}/src/a\nb"), MERGED),
    "no-name-of-a-file": (named("{place}/src/\ud800"), UNUSABLE),
    "other-bytes": (named("{place}/src/\udcff"), MERGED),
    "too-deep": (named("{place}/" + "d/" * 1900 + "end"), UNUSABLE),
}
"""What a node adds to a bead's work, and what its last attempt says of it."""
FEW = ("objects-of-other-content", "settings-that-run", "git-is-a-link", "through-git", "alternates-to-yours")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def node(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Liar]:
    with liar(scene.project, monkeypatch, tmp_path / "node") as made:
        yield made


def forging(scene: Scene, asked: Asked, answer: Answer) -> Answer:
    said, body = answer
    if asked.call == "collect" and asked.bead in FORGED and said["over"]:
        body += FORGED[asked.bead][0](scene, asked.place, body)
    return said, body


@pytest.mark.parametrize(
    "beads", [pytest.param(FEW, id="few"), pytest.param(FORGED, id="all", marks=pytest.mark.night)]
)
def test_forged_work_runs_nothing_writes_nothing_elsewhere_and_is_not_merged(
    scene: Scene, node: Liar, beads: Sequence[str]
) -> None:
    project, before = scene.project, scene.picture()
    node.lie = lambda asked, answer: forging(scene, asked, answer)
    project.add(*beads, "honest")
    ended = project.nobrakes("run", expect=None)
    ends = {bead: project.show(bead)["attempts"][-1]["detail"] for bead in beads}
    assert {bead: said for bead, said in ends.items() if FORGED[bead][1] not in said} == {}
    assert scene.picture() == before
    assert project.status("honest") == "done", ended.stdout
    merged = {bead for bead in (*beads, "honest") if project.status(bead) == "done"}
    assert merged == {"honest", *(bead for bead in beads if FORGED[bead][1] == MERGED)}
    files = project.git("ls-tree", "-r", "--name-only", "main", "src").split()
    assert files == sorted(f"src/{bead}" for bead in merged)
    assert all(project.git("show", f"main:{path}") == f"made for {path[4:]}\n" for path in files)
    assert project.git("show", "main:shared") == "nobody was here\n"
    assert set(project.landed().values()) == merged
    assert not os.path.lexists("/etc/nobrakes-was-here") and not (scene.precious / "ran").exists()
    assert [one for one in project.open() if one["type"] == "nobrakes_failed"] == []
    project.git("fsck", "--no-dangling", "--no-progress")
    project.nobrakes("verify")


REPLAY = """
case $turn in
1) nobrakes agent log 'I am the first'; exit 3 ;;
*) nobrakes agent log 'I am the second'; until [ -e "$BOOK/go" ]; do sleep 0.05; done; work ;;
esac
"""


def requests_of(asked: Asked, answer: Answer) -> dict[str, bytes]:
    """The requests to this machine in the news of a command, by their paths."""
    said, body = answer
    if asked.call != "exchange":
        return {}
    news = parcel.entries(body[said["out"] + said["err"] :])
    return {path: content for path, _, _, content in news if "/in/" in path}


def test_a_request_of_an_ended_attempt_is_refused_when_it_is_sent_again(scene: Scene, node: Liar) -> None:
    project = scene.project
    project.configure("max_failures = 1", "max_failures = 3")
    old: list[bytes] = []
    sent: list[str] = []

    def lie(asked: Asked, answer: Answer) -> Answer:
        said, body = answer
        for path, content in requests_of(asked, answer).items():
            if asked.attempt == "1":
                old.append(content)
            elif old and not sent:
                sent.append(path.replace(".json", "0.json"))
                body += b"".join(entry(sent[0], content=one) for one in old)
        return said, body

    node.lie = lie
    project.does("one", REPLAY)
    project.add("one")
    with project.running() as run:
        until(lambda: sent, what=lambda: project.show("one"))
        answer = until(lambda: answered(project, sent[0]), what=lambda: sent)
        project.flag("go").touch()
        said, _ = run.communicate(timeout=60)
    assert any(b"I am the first" in one for one in old)
    assert json.loads(answer)["error"][0] == "Stale"
    logged = [
        text for one in project.events("logged") for text in ("first", "second") if f"I am the {text}" in str(one)
    ]
    assert logged == ["first", "second"], project.events("logged")
    assert project.outcomes("one") == ["failed", "completed"], said


def answered(project: LiedTo, request: str) -> str:
    """What was answered to the request."""
    path = project.folder / request.replace("/in/", "/out/")
    return path.read_text() if path.exists() else ""


SHIPPED = (
    "CI",
    "GIT_EDITOR",
    "GIT_TERMINAL_PROMPT",
    "HOME",
    "LANG",
    "LC_ALL",
    "PATH",
    "PYTHONNOUSERSITE",
    "SHELL",
    "TERM",
)
SECRETS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GITHUB_TOKEN")


def test_a_node_sees_the_repository_the_prompt_and_the_runs_own_environment(
    scene: Scene, node: Liar, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = scene.project
    for name in SECRETS:
        monkeypatch.setenv(name, f"planted-{name}")
    Path(os.environ["HOME"], ".netrc").write_text("planted-home")
    project.config.write_text(project.config.read_text() + "# planted-config\n")
    (project.folder / "notes").write_text("planted-untracked")
    project.add("one", description="The wanted words")
    project.plan([{"id": "two", "title": "planted-title", "description": "planted-text", "needs_tests": False}])
    project.nobrakes("hold", "two")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done"
    sent = b"".join(json.dumps(one.words).encode() + one.body for one in node.asked)
    assert b"The wanted words" in sent
    assert set(re.findall(rb"planted-\w+|SQLite format 3", sent)) == set()
    prepared = [parcel.entries(one.body[one.words["words"] :]) for one in node.asked if one.call == "prepare"]
    paths = {path for found in prepared for path, *_ in found if "/.git/" not in path}
    ours = r"\.nobrakes/(bin(/nobrakes|/hooks(/[\w-]+)?)?|runs/\d+-agent/(own(/handoff\.md)?|prompt\.md))"
    theirs = r"\.nobrakes/(workspaces/one|scratch/\d+-check\d)(/\.git)?"
    assert [path for path in sorted(paths) if not re.fullmatch(f"{ours}|{theirs}", path)] == []
    executed = [
        json.loads(one.body[: one.words["words"]])["environment"] for one in node.asked if one.call == "execute"
    ]
    names = [name for found in executed for name in found if not name.startswith("NOBRAKES_")]
    assert set(names) <= {*SHIPPED, "SSL_CERT_DIR", "SSL_CERT_FILE"}
    tokens = {found["NOBRAKES_TOKEN"] for found in executed if "NOBRAKES_TOKEN" in found}
    assert len(executed) == 3 and len(tokens) == 1, "one agent, and checks without a token"
