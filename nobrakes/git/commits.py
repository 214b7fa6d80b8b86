"""Commits that nobrakes makes: their texts and signatures, a few files on main, and the chain of evidence.

The chain of evidence: one commit a record under refs/nobrakes/evidence, its parent the record before.

1. The record is the commit's text, with an empty tree: one object and one move of the ref.
2. Only commits are read, and hashed again, so that changed object files are noticed.
3. A merge's record is searched back to the chain's end at the begin of its review. Otherwise the chain is read once and
   remembered.
"""

import contextlib
import hashlib
import os
import re
import shlex
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial

from .. import EMAIL, NAME, US
from ..errors import GitFailed, GitUnusable, NoAnswer, NobrakesError
from ..paths import process_environment
from ..records import frozen
from ..review.evidence import Entry, Value, about, date, message
from . import command_line, objects, persons, upkeep
from .command_line import ASKING, CHECKOUT
from .filters import Filters, run
from .history import TRAILER
from .landing import standing
from .landing.local import Lander
from .landing.standing import Worktree
from .location import Place
from .objects import EXECUTABLE, FILE, Objects, is_oid, seconds
from .objects import Entry as TreeContentEntry
from .port import Made, Message, Signing

MAX_SUBJECT = 200
MAX_BODY = 60_000

_OURS = {"bead", "reverts-bead", "evidence"}
_PERSON = re.compile(r"(?P<name>[^<>]*)<(?P<email>[^<>\s]+)>\s*\Z")


@frozen
class Person:
    """Who a commit is by."""

    name: str
    email: str


def slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-") or "worker"


def line(text: str, limit: int) -> str:
    joined = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return joined if len(joined) <= limit else joined[: limit - 1].rstrip() + "…"


def person(author: str) -> Person:
    if written := _PERSON.match(author):
        return Person(_name(written["name"]), line(written["email"], 100))
    return worker(author)


def worker(name: str) -> Person:
    return Person(f"{_name(name)} (nobrakes)", f"{slug(name)}@nobrakes.invalid")


def _name(text: str) -> str:
    # git strips these from a name's ends and refuses a name of nothing else
    return line(text.translate(str.maketrans("", "", "<>")), 80).strip(" .,:;\"'\\") or "worker"


# A subject is one line without control characters. Trailers stand in one block at the end; others' trailers of
# nobrakes' names are left out. Nothing depends on the moment or the machine: the same message gives the same bytes.
def compose(message: Message) -> str:
    """The full text of a commit."""
    parts = [line(message.subject, MAX_SUBJECT) or "(no subject)"]
    lines = ["".join(c for c in row if c.isprintable() or c == "\t").rstrip() for row in message.body.splitlines()]
    if body := "\n".join(lines).strip("\n")[:MAX_BODY]:
        parts.append(body)
    return with_trailers("\n\n".join(parts) + "\n", message.trailers)


def with_trailers(text: str, trailers: tuple[tuple[str, str], ...]) -> str:
    """The text with these trailers at its end, without other trailers of the same keys or of nobrakes' own keys."""
    text = text.rstrip("\n")
    rows = [f"{line(key, 60).replace(' ', '-')}: {line(value, 400)}" for key, value in trailers]
    head, parted, last = text.rpartition("\n\n")
    block = last.split("\n") if parted else []
    if not block or not all(TRAILER.match(row) for row in block):
        head, block = text, []
    ours = _OURS | {_key(row) for row in rows}
    rows = [*(row for row in block if _key(row) not in ours), *dict.fromkeys(rows)]
    return head + ("\n\n" + "\n".join(rows) if rows else "") + "\n"


def _key(row: str) -> str:
    return row.partition(":")[0].lower()


FOLDER = "nobrakes-signed"
_SECONDS = 20.0
_SILENT = {"SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "force", "GPG_TTY": "", "DISPLAY": "", "WAYLAND_DISPLAY": ""}


# git signs under the person's settings, and nothing can ask for a passphrase. A signature may hold a moment, so what
# was signed is kept by the id that it had without: the same input is the same commit. It is tried once before anything
# is made; where it worked then and does not now, everything waits, and a person is told.
class Signer:
    """Signs commits of one repository."""

    def __init__(self, place: Place, signing: Signing | None = None) -> None:
        self.place = place
        self.signing = signing or Signing()
        self.who = person(self.signing.who) if self.signing.who else Person(NAME, EMAIL)

    @cached_property
    def is_wanted(self) -> bool:
        if self.signing.how != "auto":
            return self.signing.how == "always"
        return self._read(["config", "--type=bool", "--get", "commit.gpgSign"]) == "true"

    @cached_property
    def key(self) -> str:
        """The person's signing key if no setting names one; empty: git's default."""
        asked = ["config", "--get"]
        if self.signing.who or self._read([*asked, "gpg.format"]) == "ssh" or self._read([*asked, "user.signingKey"]):
            return ""
        name, ends, _ = self._read(["var", "GIT_COMMITTER_IDENT"]).rpartition(">")
        return name + ends

    @cached_property
    def trouble(self) -> str:
        """Why a signature is impossible without prompting; empty: it works or is not wanted."""
        if not self.is_wanted:
            return ""
        if asks := self._asks():
            return asks
        tree = self.place.run(["mktree"], stdin=b"").text
        who = f"{self.who.name} <{self.who.email}> 0 +0000"
        try:
            self._made(f"tree {tree}\nauthor {who}\ncommitter {who}\n\nCan commits be signed?\n".encode())
        except NobrakesError as error:
            return str(error)
        return ""

    def unsigned(self, land: str) -> str:
        """The message to the person about that trouble; empty: none. `land`: the setting review.land."""
        if not self.trouble:
            return ""
        by_request = ""
        if land != "pull_request":
            by_request = ". If the remote requires signatures, let people merge: `nobrakes config set review.land "
            by_request += "pull_request`"
        return (
            f"nobrakes cannot sign its commits: {self.trouble}. Your git settings require signatures. "
            "`git config user.signingkey` shows the key. If the key has a passphrase, add the key to a key agent"
            f"{by_request}"
        )

    def _asks(self) -> str:
        kind = self._read(["config", "--get", "gpg.format"]) or "openpgp"
        names = {"openpgp": ("gpg.openpgp.program", "gpg.program"), "x509": ("gpg.x509.program",)}.get(kind, ())
        program = next(filter(None, (self._read(["config", "--get", name]) for name in names)), "")
        program = program or {"openpgp": "gpg", "x509": "gpgsm"}.get(kind, "")
        if os.path.basename(program) not in ("gpg", "gpg2", "gpgsm"):
            return ""
        key = self.key or self._read(["config", "--get", "user.signingKey"]) or f"{self.who.name} <{self.who.email}>"
        argv = (program, "--pinentry-mode", "error", "--status-fd=2", "-bsau", key)
        try:
            code, _, said = run(argv, {**process_environment(), **_SILENT, "LC_ALL": "C"}, b"Can this be signed?\n")
        except GitFailed as error:
            return str(error)
        if code == 0 and "SIG_CREATED" in said:
            return ""
        if "No pinentry" in said:
            sign = shlex.join([program, "-bsau", key])
            return (
                f"{program} would ask for the passphrase of the key of {key}, which gpg-agent does not remember. Sign "
                f"something yourself (`echo x | {sign}`): gpg-agent then remembers the key for its `default-cache-ttl`"
            )
        words = [row for row in said.splitlines() if row.strip() and not row.startswith("[GNUPG:]")]
        return f"{program} does not sign with the key of {key}: {(words or ['no message'])[-1]}"

    def signed(self, content: bytes) -> str | None:
        """The signed commit of this unsigned content; None: commits are not signed."""
        if not self.is_wanted or self.trouble:
            return None
        name = hashlib.sha256(content).hexdigest()
        path = os.path.join(self.place.git_dir, FOLDER, name[:2], name)
        with suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
            known = file.read(80).strip()
            if is_oid(known) and self.place.run(["cat-file", "-e", known], expect=(0, 1, 128)).code == 0:
                return known
        made = self._made(content)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(f"{path}.{os.getpid()}", "w", encoding="ascii") as new:
            new.write(f"{made}\n")
            new.flush()
            os.fsync(new.fileno())
        os.replace(new.name, path)
        return made

    def _read(self, asked: list[str]) -> str:
        ours = ("GIT_CONFIG", "GIT_COMMITTER", "GIT_AUTHOR")
        env = {name: value for name, value in ASKING.items() if not name.startswith(ours)}
        env["GIT_DIR"] = self.place.git_dir
        return command_line.run(asked, cwd=self.place.git_dir, env=env, expect=(0, 1, 128)).text

    def _made(self, content: bytes) -> str:
        head, _, text = content.partition(b"\n\n")
        rows = [row.partition(" ")[::2] for row in head.decode("utf-8", "replace").split("\n")]
        words = [word for key, value in rows for word in {"tree": (value,), "parent": ("-p", value)}.get(key, ())]
        env = {**CHECKOUT, **_SILENT, "GIT_DIR": self.place.git_dir}
        for key, value in rows:
            if key in ("author", "committer"):
                name, _, rest = value.rpartition(" <")
                email, _, when = rest.partition("> ")
                own = {"NAME": name, "EMAIL": email, "DATE": f"@{when}"}
                env |= {f"GIT_{key.upper()}_{what}": said for what, said in own.items()}
        asked = ["commit-tree", f"-S{self.key}", *words]
        try:
            return command_line.run(asked, cwd=self.place.git_dir, env=env, stdin=text, seconds=_SECONDS).text
        except NoAnswer:
            why = f"no answer in {_SECONDS:g} seconds: {self._asks() or 'the key may need a passphrase'}"
        except GitFailed as error:
            why = self._asks() or str(error)
        hint = "Merges wait for the signature, and no work is lost. nobrakes tries again automatically."
        raise GitUnusable(f"git cannot sign a commit: {why}", hint)


_COMMITS_TRIES = 5
MADE = f"{objects.OWN}/made"
"""A commit about to be signed, before it is main's."""
QUICK = ("-c", "core.compression=1", "-c", "core.bigFileThreshold=1m", "-c", "fastimport.unpackLimit=0")

Files = Mapping[str, bytes | None]
Before = Mapping[str, TreeContentEntry | None]


# A few files on main, whatever else the human's worktree holds: one `fast-import` writes blobs, trees and the commit
# and moves main, if main is still an ancestor; else it is rebuilt. Contents that main has make no commit. Blobs from a
# megabyte on are streamed: fast-import would search all of a large graph for what the file before it has. In a worktree
# of main only the index entries of these paths follow.
class Committer:
    """Commits files on main."""

    def __init__(self, place: Place, objects: Objects, lander: Lander, filters: Filters, signer: Signer) -> None:
        self.signer = signer
        self.filters = filters
        self.place = place
        self.objects = objects
        self.lander = lander

    def commit_files(self, files: Files, message: Message) -> str | None:
        for path in files:
            _require_path(path)
        for _ in range(_COMMITS_TRIES):
            main = objects.main(self.place)
            before = {path: self.objects.entry(main, path) for path in files}
            wanted = {path: content for path, content in files.items() if self._differs(before[path], content)}
            if not wanted:
                return None
            self.filters.refuse(main, [path for path, content in wanted.items() if content is not None])
            if (commit := self._commit(main, before, wanted, message)) is not None:
                return commit
        raise GitFailed("main keeps changing before nobrakes can commit on it", "Try again in a moment.")

    def write_files(self, onto: str, files: Mapping[str, bytes], message: Message, ref: str) -> str | None:
        for path in files:
            _require_path(path)
        before = {path: self.objects.entry(onto, path) for path in files}
        wanted = {path: content for path, content in files.items() if self._differs(before[path], content)}
        if not wanted:
            return None
        self.filters.refuse(onto, list(wanted))
        return self.place.run(
            [*QUICK, "fast-import", "--quiet", "--force", "--date-format=raw"],
            stdin=_stream(ref, onto, before, wanted, message, self.signer.who),
        ).text

    def _differs(self, entry: TreeContentEntry | None, content: bytes | None) -> bool:
        if entry is None or content is None:
            return entry is not None or content is not None
        return entry.mode not in (FILE, EXECUTABLE) or blob_id(content, len(entry.id)) != entry.id

    def _commit(self, main: str, before: Before, files: Files, message: Message) -> str | None:
        with contextlib.ExitStack() as stack:
            holders = []
            for holder in standing.main_worktrees(self.place):
                if holder.under_way() in ("a rebase", "a rebase or `git am`"):
                    raise GitFailed(f"a rebase of main is in progress in {holder.path}", "Finish that rebase first.")
                if (session := persons.who(holder.path)) is not None:
                    what = f"session {session.session} is working in {holder.path}, where main is checked out"
                    raise GitFailed(what, f"`{session.ending}` ends the session; then try again.")
                if not stack.enter_context(standing.locked(holder)):
                    raise GitFailed(f"another git command is running in {holder.path}", "Try again after that command.")
                if (behind := self.lander.stand(holder, main)) is not None:
                    raise GitFailed(f"nothing was committed: {behind.reason}")
                holders.append(holder)
            is_signed = self.signer.is_wanted and not self.signer.trouble
            ref, forced = (MADE, ["--force"]) if is_signed else (self.place.ref, [])
            answer = self.place.run(
                [*QUICK, "fast-import", "--quiet", *forced, "--date-format=raw"],
                stdin=_stream(ref, main, before, files, message, self.signer.who),
                expect=(0, 1),
            )
            if answer.code != 0:
                if objects.main(self.place) != main:
                    return None
                raise command_line.failure(["git", "fast-import"], answer.code, answer.error)
            commit = answer.text
            if is_signed:
                commit = self.signer.signed(self.objects.stored_commit(commit) or b"") or commit
                moved = objects.swap(self.place, self.place.ref, commit, main, "nobrakes: commit")
                objects.update(self.place, {MADE: None})
                if not moved:
                    return None
            for holder in holders:
                self._refresh(holder, before, commit, files)
                standing.write(holder, commit)
            return commit

    def _refresh(self, holder: Worktree, before: Before, commit: str, files: Files) -> None:
        asked = ["ls-files", "-s", "-z", "--", *(f":(literal,top){path}" for path in files)]
        staged: dict[str, tuple[str, str]] = {}
        for record in command_line.run(asked, cwd=holder.path, env=holder.env).records:
            head, _, path = record.partition("\t")
            mode, oid, stage = head.split(" ")
            # an entry in conflict is a human's, like every other difference
            staged[path] = (mode, oid) if stage == "0" else ("conflict", "")
        lines = []
        for path in files:
            old, new = before[path], self.objects.entry(commit, path)
            if staged.get(path) == ((old.mode, old.id) if old else None):
                mode, oid = (new.mode, new.id) if new else ("0", "0" * len(commit))
                lines.append(f"{mode} {oid}\t".encode() + os.fsencode(path) + b"\0")
        if lines:
            command_line.run(
                ["update-index", "-z", "--index-info"], cwd=holder.path, env=holder.env, stdin=b"".join(lines)
            )
            command_line.run(["update-index", "-q", "--refresh"], cwd=holder.path, env=holder.env, expect=(0, 1))
            standing.publish(holder)


def blob_id(content: bytes, digits: int) -> str:
    digest = (hashlib.sha1 if digits == 40 else hashlib.sha256)(b"blob %d\0" % len(content))
    digest.update(content)
    return digest.hexdigest()


def _stream(ref: str, main: str, before: Before, files: Files, message: Message, who: Person) -> bytes:
    when = f"{max(0, int(message.when))} +0000"
    author = person(message.author)
    text = compose(message).encode("utf-8", "replace")
    out = [
        b"feature done\n",
        f"commit {ref}\nmark :1\n".encode(),
        f"author {author.name} <{author.email}> {when}\n".encode("utf-8", "replace"),
        f"committer {who.name} <{who.email}> {when}\n".encode("utf-8", "replace"),
        b"data %d\n%s\n" % (len(text), text),
        f"from {main}\n".encode(),
    ]
    for path, content in sorted(files.items()):
        if content is None:
            out.append(b"D " + _quoted(path) + b"\n")
        else:
            entry = before[path]
            mode = EXECUTABLE if entry is not None and entry.mode == EXECUTABLE else FILE
            out.append(f"M {mode} inline ".encode() + _quoted(path) + b"\n")
            out.append(b"data %d\n%s\n" % (len(content), content))
    out.append(b"\nget-mark :1\ndone\n")
    return b"".join(out)


def _quoted(path: str) -> bytes:
    quoted = b"".join(bytes([c]) if 0x20 < c < 0x7F and c not in b'"\\' else b"\\%03o" % c for c in os.fsencode(path))
    return b'"' + quoted + b'"'


def _require_path(path: str) -> None:
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") or part.casefold() == ".git" for part in parts):
        raise GitFailed(f"'{path[:80]}' is not a path that can be committed")


REF = f"{objects.OWN}/evidence"
_TRIES = 20
_FORMAT = "%H%x01%T%x01%P%x01%ct%x01%an <%ae>%x01%s%x01%(trailers:only,unfold,separator=%x01)"


class Chain:
    """The evidence of one repository."""

    def __init__(self, place: Place, objects: Objects) -> None:
        self.place = place
        self.objects = objects
        self._seen: str | None = None
        self._about: dict[str, str] = {}

    def tip(self) -> str | None:
        return objects.read(self.place, REF)

    def entries(self, tip: str | None, until: str | None = None) -> Iterator[Entry]:
        following, seen = tip, set[str]()
        while following is not None and following != until and following not in seen:
            seen.add(following)
            found = self._entry(following)
            if found is None:
                return
            yield found
            following = found.parents[0] if found.parents else None

    def _entry(self, commit: str) -> Entry | None:
        content = self.objects.stored_commit(commit)
        if content is None:
            return None
        head, _, text = content.partition(b"\n\n")
        rows = [row.partition(" ") for row in head.decode("utf-8", "replace").split("\n")]
        people = {key: value for key, _, value in rows if key in ("author", "committer")}
        parents = tuple(value for key, _, value in rows if key == "parent")
        digest = (hashlib.sha1 if len(commit) == 40 else hashlib.sha256)(b"commit %d\0" % len(content))
        digest.update(content)
        plain = [key for key, _, _ in rows if key not in ("tree", "parent", "author", "committer")]
        return Entry(
            commit,
            parents,
            text.decode("utf-8", "replace"),
            (people.get("author", ""), people.get("committer", "")),
            digest.hexdigest() == commit and not plain,
        )

    def keep(self, record: Value) -> str:
        for _ in range(_TRIES):
            tip = self.tip()
            if (known := self._known(record, tip)) is not None:
                return known
            # where git lost the chain's end, a new one starts: the merge names that end, and verify that it is gone
            made = self._held(record, tip if tip and self.objects.stored_commit(tip) is not None else None)
            if objects.move(self.place, REF, made, tip):
                return made
        raise GitFailed("other processes keep writing records before nobrakes can", "Try again in a moment.")

    def _known(self, record: Value, tip: str | None) -> str | None:
        subject, anchor = about(record), record.get("anchor")
        if anchor:  # the chain ended there before what the record is about was made
            return next((entry.commit for entry in self.entries(tip, anchor) if entry.about == subject), None)
        self._learn(tip)
        return self._about.get(subject)

    def _learn(self, tip: str | None) -> None:
        fresh = [(entry.about, entry.commit, entry.parents) for entry in self.entries(tip, self._seen)]
        if self._seen is not None and (tip is None or (fresh and self._seen not in fresh[-1][2])):
            self._about = {}  # the chain is another one than before: all of it was read just now
        # of two about the same commit the first counts
        for subject, commit, _ in reversed(fresh):
            self._about.setdefault(subject, commit)
        self._seen = tip

    def hold(self, records: Mapping[str, Value]) -> None:
        made = {name: self._held(record, record["candidate"]["commit"]) for name, record in records.items()}
        objects.update(self.place, {objects.own_ref(name): commit for name, commit in made.items()})

    def held(self, name: str) -> Value | None:
        commit = objects.read(self.place, objects.own_ref(name))
        entry = self._entry(commit) if commit is not None else None
        return entry.record if entry is not None and not entry.problem() else None

    def _held(self, record: Value, parent: str | None) -> str:
        make = partial(self._write, record, parent)
        return upkeep.held(self.place, self.objects, make, lambda made: [made], parent)

    def _write(self, record: Value, parent: str | None) -> str:
        empty = self.place.trees.write(b"", self.place.git_dir, self.place.plumbing)
        who = f"{US} {date(record)}"
        above = (f"parent {parent}",) if parent else ()
        text = "\n".join([f"tree {empty}", *above, f"author {who}", f"committer {who}", "", ""]) + message(record)
        return self.place.commits.write(text.encode("utf-8"), self.place.git_dir, self.place.plumbing)

    # --- what it is compared with ----------------------------------------------------------------

    def line(self, tip: str, since: str | None = None) -> tuple[Made, ...]:
        """`tip` and its first parents, newest first, down to `since`."""
        asked = ["log", "-z", "--first-parent", "--no-show-signature", "--no-decorate", "--no-color"]
        rows = self.place.run([*asked, f"--format={_FORMAT}", tip, *([f"^{since}"] if since else []), "--"]).out
        return tuple(_made(row) for row in rows.decode("utf-8", "replace").split("\0") if row.strip())


def _made(row: str) -> Made:
    commit, tree, parents, at, author, subject, *trailers = row.strip("\n").split("\x01")
    pairs = (trailer.partition(":") for trailer in trailers if trailer.strip())
    said = tuple((key, value.strip()) for key, _, value in pairs)
    return Made(commit, tree, tuple(parents.split()), subject, author, said, seconds(at))
