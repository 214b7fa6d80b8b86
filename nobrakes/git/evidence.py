"""The chain of evidence: one commit a record under refs/nobrakes/evidence, its parent the record before.

1. The record is in the commit's text, and its tree is empty: a record is one object and one move of the ref.
2. The chain is read by its commits alone. Each is hashed again, so that an object file that was changed is seen.
3. A merge's record is looked for no further back than where the chain ended when its review began. For the others the
   chain is read once and then remembered, as far as the ref goes on from what was seen.
"""

import hashlib
from collections.abc import Iterator, Mapping

from ..core.errors import GitFailed
from ..core.evidence.record import PERSON, Entry, Made, Value, about, date, message
from . import packing, refs
from .location import Place
from .messages import trailers_of
from .objects import Objects

REF = f"{refs.OWN}/evidence"
_TRIES = 20
_FORMAT = "%H%x01%T%x01%P%x01%ct%x01%an <%ae>%x01%s%x01%(trailers:only,unfold,separator=%x01)"


class Chain:
    """The evidence of one repository."""

    def __init__(self, place: Place, objects: Objects) -> None:
        self.place = place
        self.objects = objects
        self._seen: str | None = None
        self._about: dict[str, str] = {}
        self._empty = ""

    def tip(self) -> str | None:
        """The newest commit of the chain."""
        return refs.read(self.place, REF)

    def entries(self, tip: str | None, until: str | None = None) -> Iterator[Entry]:
        """The commits from `tip` back, without `until` and what stands before it."""
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
        """Put the record at the end, unless there is one about the same commit; the record's commit."""
        for _ in range(_TRIES):
            tip = self.tip()
            known = self._known(record, tip)
            if known is not None:
                return known
            made = self._held(record, tip)
            if refs.move(self.place, REF, made, tip):
                return made
        raise GitFailed("evidence is written faster than nobrakes can add to it", "Try again in a moment.")

    def _known(self, record: Value, tip: str | None) -> str | None:
        """The commit that keeps a record about the same in the chain that ends at `tip`."""
        subject, anchor = about(record), record.get("anchor")
        if anchor:  # the chain ended there before what the record is about was made
            near = self.entries(tip, anchor)
            return next((entry.commit for entry in near if entry.about == subject), None)
        self._learn(tip)
        return self._about.get(subject)

    def _learn(self, tip: str | None) -> None:
        """What has a record in the chain that ends at `tip`."""
        fresh = [(entry.about, entry.commit, entry.parents) for entry in self.entries(tip, self._seen)]
        if self._seen is not None and (tip is None or (fresh and self._seen not in fresh[-1][2])):
            self._about = {}  # the chain is another one than before: all of it was read just now
        # of two about the same commit the first counts
        for subject, commit, _ in reversed(fresh):
            self._about.setdefault(subject, commit)
        self._seen = tip

    def hold(self, records: Mapping[str, Value]) -> None:
        """Keep records outside of the chain, each on its candidate: what a chain without them will need."""
        made = {name: self._held(record, record["candidate"]["commit"]) for name, record in records.items()}
        refs.update(self.place, {refs.own_ref(name): commit for name, commit in made.items()})

    def held(self, name: str) -> Value | None:
        """The record that was kept under this name; None: there is none, or it cannot be read."""
        commit = refs.read(self.place, refs.own_ref(name))
        entry = self._entry(commit) if commit is not None else None
        return entry.record if entry is not None and not entry.problem() else None

    def _held(self, record: Value, parent: str | None) -> str:
        """The commit of the record, which no `git gc` takes before it has a ref."""
        return packing.held(self.place, lambda: self._write(record, parent), lambda made: [made], parent)

    def _write(self, record: Value, parent: str | None) -> str:
        self._empty = self._empty or self.place.run(["mktree"], stdin=b"").text
        who = f"{PERSON} {date(record)}"
        above = (f"parent {parent}",) if parent else ()
        lines = [f"tree {self._empty}", *above, f"author {who}", f"committer {who}", "", ""]
        text = "\n".join(lines) + message(record)
        return self.place.commits.write(text.encode("utf-8"), self.place.git_dir, self.place.plumbing)

    # --- what it is compared with ----------------------------------------------------------------

    def made(self, name: str) -> Made | None:
        """The commit that `name` stands for; None: there is none."""
        found = self.objects.find(f"{name}^{{commit}}")
        if found is None:
            return None
        commit = self.objects.commit(found[0])
        author, text = commit.author.rpartition("> ")[0] + ">", commit.message
        return Made(commit.id, commit.tree, commit.parents, _subject(text), author, trailers_of(text))

    def line(self, tip: str, since: str | None = None) -> tuple[Made, ...]:
        """`tip` and its first parents, newest first, down to `since`."""
        asked = ["log", "-z", "--first-parent", "--no-show-signature", "--no-decorate", "--no-color"]
        rows = self.place.run([*asked, f"--format={_FORMAT}", tip, *([f"^{since}"] if since else []), "--"]).out
        return tuple(_made(row) for row in rows.decode("utf-8", "replace").split("\0") if row.strip())


def _subject(text: str) -> str:
    return text.lstrip("\n").partition("\n")[0]


def _made(row: str) -> Made:
    commit, tree, parents, at, author, subject, *trailers = row.strip("\n").split("\x01")
    pairs = (trailer.partition(":") for trailer in trailers if trailer.strip())
    said = tuple((key, value.strip()) for key, _, value in pairs)
    return Made(commit, tree, tuple(parents.split()), subject, author, said, float(at))
