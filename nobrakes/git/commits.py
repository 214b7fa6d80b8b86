"""Committing a few files on main by plumbing: no hook, no checkout, whatever else the human's worktree holds.

1. Contents that main has already are no commit.
2. One `fast-import` writes blobs, trees and the commit and moves main, if main is still an ancestor: when it moved
   meanwhile the commit is made anew on what it is now. Large blobs are written before: what fast-import is given is
   compressed twice, for a pack and out of it.
3. In a worktree of main only the index entries of these paths follow, where they were main's; files stay as they are.
   One that is behind main is brought along before (landing).
"""

import contextlib
import hashlib
import os
from collections.abc import Mapping

from ..core.errors import GitFailed
from ..ports.git import Message
from . import commands, in_place, refs
from .filters import Filters
from .landing import standing, worktrees
from .landing.local import Lander
from .landing.worktrees import Worktree
from .location import Place
from .messages import Person, compose, person
from .objects import Objects
from .signing import Signer
from .tree_content import EXECUTABLE, FILE, Entry

_TRIES = 5
MADE = f"{refs.OWN}/made"
"""What is about to be signed, before it is main's."""
QUICK = ("-c", "core.compression=1", "-c", "fastimport.unpackLimit=0")
"""git packs these objects again, and better, when it collects garbage; here somebody waits. fast-import holds its pack
until its ref is there, as `packing` does."""

Files = Mapping[str, bytes | None]


class Committer:
    """Commits files on main."""

    def __init__(
        self,
        place: Place,
        objects: Objects,
        lander: Lander,
        filters: Filters | None = None,
        signer: Signer | None = None,
    ) -> None:
        self.signer = signer or Signer(place)
        self.filters = filters or Filters(place, objects)
        self.place = place
        self.objects = objects
        self.lander = lander

    def commit_files(self, files: Files, message: Message) -> str | None:
        """Commit these contents (None removes) on main; None: nothing differed."""
        for path in files:
            _require_path(path)
        for _ in range(_TRIES):
            main = refs.main(self.place)
            before = {path: self.objects.entry(main, path) for path in files}
            wanted = {path: content for path, content in files.items() if self._differs(before[path], content)}
            if not wanted:
                return None
            self.filters.refuse(main, [path for path, content in wanted.items() if content is not None])
            commit = self._commit(main, before, wanted, message)
            if commit is not None:
                return commit
        raise GitFailed("main moves faster than nobrakes can commit on it", "Try again in a moment.")

    def write_files(self, onto: str, files: Mapping[str, bytes], message: Message, ref: str) -> str | None:
        """Commit these contents on `onto` under a ref of ours, whatever it held; None: nothing differed."""
        for path in files:
            _require_path(path)
        before = {path: self.objects.entry(onto, path) for path in files}
        wanted = {path: content for path, content in files.items() if self._differs(before[path], content)}
        if not wanted:
            return None
        self.filters.refuse(onto, list(wanted))
        answer = self.place.run(
            [*QUICK, "fast-import", "--quiet", "--force", "--date-format=raw"],
            stdin=_stream(ref, onto, before, wanted, message, self.signer.who),
        )
        return answer.text

    def _differs(self, entry: Entry | None, content: bytes | None) -> bool:
        if entry is None or content is None:
            return entry is not None or content is not None
        return entry.mode not in (FILE, EXECUTABLE) or blob_id(content, len(entry.id)) != entry.id

    def _commit(self, main: str, before: Mapping[str, Entry | None], files: Files, message: Message) -> str | None:
        with contextlib.ExitStack() as stack:
            holders = []
            for holder in worktrees.of_main(self.place):
                if holder.under_way() in ("a rebase", "a rebase or `git am`"):
                    raise GitFailed(f"a rebase of main is under way in {holder.path}", "Finish it, then try again.")
                session = in_place.who(holder.path)
                if session is not None:
                    what = f"session {session.session} works in place in {holder.path}, where main is checked out"
                    raise GitFailed(what, f"`{session.ending}` ends it; then try again.")
                if not stack.enter_context(worktrees.locked(holder)):
                    raise GitFailed(f"another git command works in {holder.path}", "Try again when it has ended.")
                behind = self.lander.stand(holder, main)
                if behind is not None:
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
                if refs.main(self.place) != main:
                    return None
                raise commands.failure(["git", "fast-import"], answer.code, answer.error)
            commit = answer.text
            if is_signed:
                commit = self.signer.signed(self.objects.stored_commit(commit) or b"") or commit
                moved = refs.swap(self.place, self.place.ref, commit, main, "nobrakes: commit")
                refs.update(self.place, {MADE: None})
                if not moved:
                    return None
            for holder in holders:
                self._refresh(holder, before, commit, files)
                standing.write(holder, commit)
            return commit

    def _refresh(self, holder: Worktree, before: Mapping[str, Entry | None], commit: str, files: Files) -> None:
        """Bring the index entries along that were still main's."""
        asked = ["ls-files", "-s", "-z", "--", *(f":(literal,top){path}" for path in files)]
        staged: dict[str, tuple[str, str]] = {}
        for record in commands.run(asked, cwd=holder.path, env=holder.env).records:
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
            commands.run(["update-index", "-z", "--index-info"], cwd=holder.path, env=holder.env, stdin=b"".join(lines))
            commands.run(["update-index", "-q", "--refresh"], cwd=holder.path, env=holder.env, expect=(0, 1))
            worktrees.publish(holder)


def blob_id(content: bytes, digits: int) -> str:
    """The object id that git gives a file's content, in a repository with ids of so many digits."""
    digest = (hashlib.sha1 if digits == 40 else hashlib.sha256)(b"blob %d\0" % len(content))
    digest.update(content)
    return digest.hexdigest()


def _stream(
    ref: str,
    main: str,
    before: Mapping[str, Entry | None],
    files: Files,
    message: Message,
    who: Person,
) -> bytes:
    """What fast-import reads; it answers with the commit's id."""
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
    """A path in fast-import's quoting: every byte that could end or change it as octal."""
    quoted = b"".join(bytes([c]) if 0x20 < c < 0x7F and c not in b'"\\' else b"\\%03o" % c for c in os.fsencode(path))
    return b'"' + quoted + b'"'


def _require_path(path: str) -> None:
    parts = path.split("/")
    if not path or "\0" in path or any(part in ("", ".", "..") or part.casefold() == ".git" for part in parts):
        raise GitFailed(f"'{path[:80]}' is not a path that can be committed")
