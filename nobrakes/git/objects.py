"""Objects and refs as git stores them, read by one lasting `git cat-file --batch-command`; trees and refs written.

1. A question costs no process; objects never change, so small answers are cached.
2. If the process dies, the question is repeated once with another; one that hangs is NoAnswer (see conversation).
3. A large folder is one long text of which a change touches little: a tree is parsed only where it differs from the
   most similar known one.
"""

import itertools
import mmap
import os
import re
import stat
import sys
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

from ..errors import GitFailed, NoMain
from ..records import frozen
from ..walking import Beyond, walk
from . import command_line
from .command_line import DURABLE, Conversation, Line
from .location import Place

FOLDER = "040000"
FILE = "100644"
EXECUTABLE = "100755"
LINK = "120000"
MODULE = "160000"


@frozen
class Entry:
    """What a path is in a tree: git's octal mode and the object."""

    mode: str
    id: str


@frozen
class Stored:
    """A tree with its bytes. `starts`: the offset of each entry, and the end. `is_plain`: `tree_content` would produce
    the same bytes; git also reads other forms."""

    raw: bytes
    width: int
    entries: Mapping[str, Entry]
    starts: list[int]
    is_plain: bool


_ENTRIES = {width: re.compile(rb"([0-7]{1,6}) ([^\0]*)\0([\0-\xff]{%d})" % width, re.DOTALL) for width in (20, 32)}
_ENCODING, _ERRORS = sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()


def _parsed(raw: bytes, width: int) -> tuple[list[tuple[str, Entry]], list[int]]:
    """The entries in order, and their ends. ValueError: git versions read some modes differently."""
    entries, ends, end = [], [], 0
    for mode, name, oid in _ENTRIES[width].findall(raw):
        end += len(mode) + len(name) + 2 + width
        ends.append(end)
        plain = _MODES.get(mode) or _MODES.setdefault(mode, _plain_mode(int(mode, 8)))
        entries.append((name.decode(_ENCODING, _ERRORS), Entry(plain, oid.hex())))
    if end != len(raw):
        raise ValueError(f"{raw[:20]!r} is not a tree")
    return entries, ends


_MODES: dict[bytes, str] = {}
"""Bounded by the texts of six octal digits; five are in use."""


def _plain_mode(mode: int) -> str:
    """The mode as git reads it; old trees hold more permission bits than the one that counts."""
    if stat.S_ISREG(mode):
        return EXECUTABLE if mode & 0o100 else FILE
    return LINK if stat.S_ISLNK(mode) else FOLDER if stat.S_ISDIR(mode) else MODULE


def stored(raw: bytes, width: int, like: Stored | None = None) -> Stored:
    """Parse a tree, reusing the equal parts of `like`. ValueError: not a tree."""
    if like is None or like.width != width or not like.is_plain:
        entries, ends = _parsed(raw, width)
        whole = dict(entries)
        return Stored(raw, width, whole, [0, *ends], tree_content(whole) == raw)
    first, last, end = _between(like, raw)
    begin = like.starts[first]
    try:
        fresh, ends = _parsed(raw[begin:end], width)
    except ValueError:  # what both end with begins inside of an entry: a name may end like another entry
        return stored(raw, width)
    gone, _ = _parsed(like.raw[begin : like.starts[last]], width)
    found = dict(like.entries)
    for name, _ in gone:
        del found[name]
    found.update(fresh)
    by = len(raw) - len(like.raw)
    after = like.starts[last + 1 :]
    starts = like.starts[: first + 1] + [begin + one for one in ends] + ([one + by for one in after] if by else after)
    if len(found) != len(starts) - 1:  # a name stands twice, and git takes the later one
        return stored(raw, width)
    made = Stored(raw, width, found, starts, like.is_plain and tree_content(dict(fresh)) == raw[begin:end])
    around = range(max(0, first - 1), min(first + len(fresh) + 1, len(starts) - 1))
    places = [_place_at(made, number) for number in around]
    return made if places == sorted(places) else Stored(raw, width, found, starts, False)


def differing(one: Stored, other: Stored) -> set[str]:
    """The names that differ between the trees or are in only one of them."""
    if one.width != other.width or not (one.is_plain and other.is_plain):
        return {*one.entries, *other.entries}
    first, last, end = _between(one, other.raw)
    before = dict(_parsed(one.raw[one.starts[first] : one.starts[last]], one.width)[0])
    try:
        after = dict(_parsed(other.raw[one.starts[first] : end], one.width)[0])
    except ValueError:  # as in `stored`
        return {*one.entries, *other.entries}
    return {name for name in {**before, **after} if before.get(name) != after.get(name)}


def _between(like: Stored, raw: bytes) -> tuple[int, int, int]:
    first = bisect_right(like.starts, _common_prefix(like.raw, raw)) - 1
    first = min(first, len(like.starts) - 1)
    begin = like.starts[first]
    longest = min(len(like.raw), len(raw)) - begin  # what both begin with is not counted again from the end
    last = bisect_left(like.starts, len(like.raw) - _common_suffix(like.raw, raw, longest))
    return first, last, len(raw) - (len(like.raw) - like.starts[last])


def _common_prefix(one: bytes, other: bytes) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(one: bytes, other: bytes, most: int) -> int:
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low


def tree_content(entries: Mapping[str, Entry]) -> bytes:
    return b"".join(_content(name, entry) for name, entry in sorted(entries.items(), key=_place))


def _content(name: str, entry: Entry) -> bytes:
    return entry.mode.lstrip("0").encode() + b" " + os.fsencode(name) + b"\0" + bytes.fromhex(entry.id)


def _place(item: tuple[str, Entry]) -> bytes:
    return os.fsencode(item[0]) + (b"/" if item[1].mode == FOLDER else b"")  # git sorts a folder as its paths


def changed(tree: Stored, entries: Mapping[str, Entry]) -> bytes:
    """The tree as git stores it, with these entries added or replaced."""
    if not tree.is_plain:
        return tree_content({**tree.entries, **entries})
    without: set[int] = set()
    added: dict[int, list[tuple[bytes, bytes]]] = {}
    for name, entry in entries.items():
        if (old := tree.entries.get(name)) is not None:
            without.add(_index_of(tree, _place((name, old))))
        place = _place((name, entry))
        added.setdefault(_index_of(tree, place), []).append((place, _content(name, entry)))
    made, end = [], 0
    for number in sorted({*without, *added}):
        made.append(tree.raw[end : tree.starts[number]])
        made += [content for _, content in sorted(added.get(number, ()))]
        end = tree.starts[number + 1] if number in without else tree.starts[number]
    return b"".join([*made, tree.raw[end:]])


def _index_of(tree: Stored, place: bytes) -> int:
    low, high = 0, len(tree.starts) - 1
    while low < high:
        middle = (low + high) // 2
        if _place_at(tree, middle) < place:
            low = middle + 1
        else:
            high = middle
    return low


def _place_at(tree: Stored, number: int) -> bytes:
    mode, _, name = tree.raw[tree.starts[number] : tree.starts[number + 1] - tree.width - 1].partition(b" ")
    return name + (b"/" if mode == b"40000" else b"")


T = TypeVar("T")

_REMEMBERED = 4096
_REMEMBERED_TREES = 64
_BATCH = 400
"""Questions before an answer is read."""
_LARGE_TREE = 200
"""Trees of at least so many entries keep their bytes, so that similar ones parse faster."""
_LARGE_TREES = 8


@frozen
class Commit:
    """A commit as stored. `author` is the full line: name, address, seconds, zone; `at`: the committer's time."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: str
    message: str
    at: float


class Objects:
    """The objects of one repository."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._git = Conversation(["cat-file", "--batch-command", "-z"])
        self._lock = threading.Lock()
        self._commits: dict[str, Commit] = {}
        self._trees: dict[str, Mapping[str, Entry]] = {}
        self._large: dict[str, Stored] = {}

    def close(self) -> None:
        self._git.close()

    def forget(self) -> None:
        with self._lock:
            self._commits.clear()
            self._trees.clear()
            self._large.clear()

    def _ask(self, question: bytes) -> tuple[str, str, bytes] | None:
        """(object id, type, content) of `contents NAME`; (…, …, size in digits) of `info NAME`; None: missing. Raises
        NoAnswer."""
        return self._talk(partial(_exchange, question), question)

    def _talk(self, talk: Callable[[Line], T], about: bytes) -> T:
        for last in (False, True):
            try:
                return self._git.hold(talk, self.place.git_dir, self.place.plumbing)
            except (OSError, EOFError):
                if last:
                    self.place.require_usable()
                    raise GitFailed(f"git cat-file does not answer about {os.fsdecode(about)[:100]}") from None
        raise AssertionError("unreachable")

    def present(self, oids: Sequence[str]) -> set[str]:
        """Those of these object ids that the repository has."""

        def talk(line: Line) -> set[str]:
            found: set[str] = set()
            for start in range(0, len(oids), _BATCH):
                some = oids[start : start + _BATCH]
                line.say(b"".join(b"info %s\0" % oid.encode() for oid in some))
                found.update(oid for oid in some if not line.line().endswith(b" missing\n"))
            return found

        return self._talk(talk, b"many objects")

    def find(self, name: str) -> tuple[str, str] | None:
        """(object id, type) of the object with this name; None: missing."""
        oid = name.removesuffix("^{commit}")
        known = self._commits.get(oid)
        if known is not None and known.id == oid:  # any other name may stand for something else by now
            return oid, "commit"
        answer = self._ask(b"info " + os.fsencode(name))
        return None if answer is None else answer[:2]

    def size(self, name: str) -> int | None:
        answer = self._ask(b"info " + os.fsencode(name))
        return None if answer is None else int(answer[2])

    def content(self, name: str) -> bytes | None:
        answer = self._ask(b"contents " + os.fsencode(name))
        return None if answer is None else answer[2]

    def small(self, oid: str, most: int) -> tuple[str, bytes] | None:
        """The type and content of an object of at most `most` bytes; None: missing, or larger."""
        size = self.size(oid)
        answer = None if size is None or size > most else self._ask(b"contents " + os.fsencode(oid))
        return answer and answer[1:]

    def is_whole(self, commit: str, known: str) -> bool:
        asked = ["rev-list", "--objects", "--quiet", commit, f"^{known}", "--"]
        return self.place.run(asked, expect=(0, 128)).code == 0

    def stored_commit(self, commit: str) -> bytes | None:
        answer = self._ask(b"contents " + os.fsencode(commit))
        return answer[2] if answer is not None and answer[1] == "commit" else None

    def commit(self, commit: str) -> Commit:
        """Raises GitFailed if there is no such commit."""
        if (known := self._commits.get(commit)) is not None:
            return known
        answer = self._ask(b"contents " + os.fsencode(commit) + b"^{commit}")
        if answer is None:
            raise GitFailed(f"the repository has no commit {commit[:64]}")
        return self._learn(commit, parse_commit(answer[0], answer[2]))

    def learn_commit(self, commit: str, content: bytes) -> None:
        self._learn(commit, parse_commit(commit, content))

    def _learn(self, name: str, found: Commit) -> Commit:
        if len(self._commits) >= _REMEMBERED:
            self._commits.clear()
        self._commits[name] = found
        return found

    def entries(self, tree: str) -> Mapping[str, Entry] | None:
        """A folder's entries by name; `tree` is any name of a tree. None: missing, or not a folder."""
        if (known := self._trees.get(tree)) is not None:
            return known
        if (large := self._large.get(tree)) is not None:
            return large.entries
        answer = self._ask(b"contents " + os.fsencode(tree))
        if answer is None or answer[1] != "tree":
            return None
        try:
            return self.learn_tree(answer[0], answer[2]).entries
        except ValueError:
            raise GitFailed(f"the tree {answer[0]} cannot be read") from None

    def learn_tree(self, tree: str, raw: bytes) -> Stored:
        with self._lock:
            likely = [one for one in self._large.values() if abs(len(one.raw) - len(raw)) * 4 < len(raw)]
            found = stored(raw, len(tree) // 2, likely[-1] if likely else None)
            if len(found.entries) >= _LARGE_TREE:
                _keep(self._large, tree, found, _LARGE_TREES)
            else:
                _keep(self._trees, tree, found.entries, _REMEMBERED_TREES)
        return found

    def large(self, tree: str) -> Stored | None:
        return self._large.get(tree)

    def differing(self, one: str, other: str) -> set[str] | None:
        """The names that differ in two cached large trees; None: not cached."""
        before, after = self._large.get(one), self._large.get(other)
        return None if before is None or after is None else differing(before, after)

    def entry(self, commit: str, path: str) -> Entry | None:
        folder, _, name = path.rpartition("/")
        entries = self.entries(f"{commit}:{folder}" if folder else self._root(commit))
        return None if entries is None else entries.get(name)

    def _root(self, commit: str) -> str:
        known = self._commits.get(commit)
        return f"{commit}^{{tree}}" if known is None else known.tree


def _keep(known: dict[str, T], name: str, found: T, most: int) -> None:
    if len(known) >= most:
        del known[next(iter(known))]  # the one that was read first
    known[name] = found


def _exchange(question: bytes, line: Line) -> tuple[str, str, bytes] | None:
    line.say(question + b"\0")
    head = line.line()
    words = head[:-1].rsplit(b" ", 2)
    # "<name> missing", "<name> ambiguous": a name may hold spaces and line breaks, but never ends a good head
    if len(words) != 3 or not words[2].isdigit():
        while not head.endswith((b" missing\n", b" ambiguous\n")):
            head = line.line()
        return None
    content = line.read(int(words[2]) + 1)[:-1] if question.startswith(b"contents") else words[2]
    return words[0].decode("ascii"), words[1].decode("ascii"), content


def parse_commit(commit: str, raw: bytes) -> Commit:
    """Parse a commit as git does; undecodable bytes of the message are replaced. The tree line comes first, the parents
    right after it: git ignores later ones."""
    head, _, message = raw.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    tree = first.removeprefix(b"tree ").decode("ascii", "replace") if first.startswith(b"tree ") else ""
    own = list(itertools.takewhile(lambda line: line.startswith(b"parent "), lines))
    parents = tuple(line.removeprefix(b"parent ").decode("ascii", "replace") for line in own)
    others = lines[len(own) :]
    author = _header(others, b"author ").decode("utf-8", "replace")
    encoding = _header(others, b"encoding ").decode("ascii", "replace").strip().lower()
    text = message.decode(encoding if _KNOWN_ENCODING.fullmatch(encoding) else "utf-8", "replace")
    at = seconds(_header(others, b"committer ").decode("utf-8", "replace"))
    return Commit(commit, tree, parents, author, text, at)


_KNOWN_ENCODING = re.compile(
    r"utf-?8|(?:us-)?ascii|latin-?1|iso-8859-(?:[1-9]|1[0134567])|(?:windows-|cp)125[0-8]|koi8-[ru]"
)
"""Encodings of messages that are decoded. Some of Python's others fail or are slow."""


def seconds(line: str) -> float:
    """The time in an author's or committer's line, or on its own; 0.0: unreadable."""
    found = re.match(r" *(\d{1,18})\b", line.rpartition(">")[2], re.ASCII)
    return float(found[1]) if found else 0.0


def _header(lines: list[bytes], name: bytes) -> bytes:
    return next((line.removeprefix(name) for line in lines if line.startswith(name)), b"")


Found = list[tuple[str, str]]


# There is a packed line for each bead that was ever done: git sorts them and says so in the first line; else all are
# looked through.
def packed_refs_below(git_dir: str, prefix: str) -> Found | None:
    """(ref, object id) of the packed refs with this prefix, in order; None: the repository stores refs differently."""
    if os.path.isdir(os.path.join(git_dir, "reftable")):
        return None
    wanted = os.fsencode(prefix)
    try:
        with open(os.path.join(git_dir, "packed-refs"), "rb") as file:
            if not os.fstat(file.fileno()).st_size:
                return []
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
                return _found(lines, wanted)
    except FileNotFoundError:
        return []


def at(git_dir: str, ref: str) -> str | None:
    """The object id in the packed ref; None: no such ref, or refs are stored differently."""
    return dict(packed_refs_below(git_dir, ref) or ()).get(ref)


def _found(lines: mmap.mmap, wanted: bytes) -> Found:
    head = lines[: lines.find(b"\n") + 1]
    is_sorted = head.startswith(b"#") and b" sorted " in head.replace(b"\n", b" ")
    place = _first(lines, len(head), wanted) if is_sorted else 0
    found: Found = []
    while place < len(lines):
        line, place = _line(lines, place)
        oid, _, name = line.partition(b" ")
        if name.startswith(wanted) and not line.startswith(b"#"):
            found.append((os.fsdecode(name), oid.decode("ascii", "replace")))
        elif is_sorted and name > wanted:
            break
    return sorted(found)


def _first(lines: mmap.mmap, low: int, wanted: bytes) -> int:
    """The offset of the first line whose name is not before the wanted one; lines begin at `low`."""
    high = len(lines)
    while low < high:
        begin = lines.rfind(b"\n", low, (low + high) // 2) + 1 or low
        while begin > low and lines[begin] == ord("^"):
            begin = lines.rfind(b"\n", low, begin - 1) + 1 or low
        line, end = _line(lines, begin)
        if line.partition(b" ")[2] < wanted and not line.startswith(b"^"):
            low = end
        elif line.startswith(b"^"):
            low = end  # what it belongs to stands before all that is left
        else:
            high = begin
    return low


def _line(lines: mmap.mmap, begin: int) -> tuple[bytes, int]:
    end = lines.find(b"\n", begin)
    end = len(lines) if end < 0 else end
    return lines[begin:end], end + 1


OWN = "refs/nobrakes"
INCOMING = f"{OWN}/incoming"
ARCHIVE = f"{OWN}/archive"

LOOSE = 100
"""Loose archived refs before they are packed."""
_OID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)*\Z")


def is_oid(text: str) -> bool:
    return _OID.match(text) is not None


def own_ref(name: str) -> str:
    """refs/nobrakes/<name>. Raises GitFailed for a name that git would refuse or read differently."""
    if not _NAME.match(name) or ".." in name or any(part.endswith((".lock", ".")) for part in name.split("/")):
        raise GitFailed(f"'{name[:80]}' cannot be part of a ref's name")
    return f"{OWN}/{name}"


def loose(git_dir: str, ref: str) -> str | None:
    """The object id in a loose ref's file; None: no such file, or other content."""
    try:
        with open(os.path.join(git_dir, ref), encoding="ascii", errors="replace") as file:
            text = file.read(80).strip()
    except OSError:
        return None
    return text if is_oid(text) else None


def known(git_dir: str, ref: str) -> str | None:
    """The object id in the ref's own file or the packed refs; None: git has to be asked."""
    found = loose(git_dir, ref)
    if found is not None or os.path.lexists(os.path.join(git_dir, ref)):
        return found
    packed = at(git_dir, ref)
    return packed if packed is not None and is_oid(packed) else None


def read(place: Place, ref: str) -> str | None:
    if (found := known(place.git_dir, ref)) is not None:
        return found
    answer = place.run(["rev-parse", "--verify", "--quiet", "--end-of-options", ref], expect=(0, 1))
    return answer.text if answer.code == 0 else None


def main(place: Place) -> str:
    """Raises NoMain."""
    found = next((commit for ref in (place.ref, *place.before) if (commit := read(place, ref)) is not None), None)
    if found is None:
        raise NoMain(f"the branch '{place.branch}' does not exist yet")
    return found


# nobrakes writes refs below refs/nobrakes/, main, and refs/heads/relay/; nothing else. A loose file that holds an
# object id is the truth, then what is packed; anything else is asked of git. The file comes first: packing writes the
# other before it goes.
def swap(place: Place, ref: str, new: str, old: str, why: str) -> bool:
    """Move the ref from `old` to `new`; False: it is somewhere else. Raises GitFailed."""
    place.in_place()
    try:
        place.run([*DURABLE, "update-ref", "-m", why, "--no-deref", ref, new, old])
    except GitFailed:
        if read(place, ref) != old:
            return False
        raise
    return True


def is_gone(git_dir: str, ref: str) -> bool:
    """Whether the ref surely does not exist, so that no process is needed to remove it."""
    if os.path.lexists(os.path.join(git_dir, ref)):
        return False
    packed = packed_refs_below(git_dir, ref)
    return packed is not None and all(name != ref for name, _ in packed)


def update(place: Place, wanted: dict[str, str | None]) -> None:
    """Set refs of our own (None removes) in one transaction; nothing when all are so already. On return they are on
    disk: the objects may then be removed elsewhere."""
    lines = []
    for ref, commit in wanted.items():
        if not ref.startswith(f"{OWN}/"):
            raise GitFailed(f"{ref} is not a ref of nobrakes")
        # remove the file of a ref of ours that holds no object id, as a power cut leaves it: git refuses to write it
        path = os.path.join(place.git_dir, ref)
        if os.path.lexists(path) and not os.path.isdir(path) and loose(place.git_dir, ref) is None:
            os.unlink(path)
        if commit is None:
            if not is_gone(place.git_dir, ref):
                lines.append(f"delete {ref}\n")
        elif loose(place.git_dir, ref) != commit:  # what a person packed may not be on the disk
            lines.append(f"update {ref} {commit}\n")
    if lines and not place.transactions.commit(lines, place.git_dir, place.plumbing):
        place.run([*DURABLE, "update-ref", "--no-deref", "--stdin"], stdin="".join(lines).encode())


def broken(place: Place, in_depth: bool) -> list[tuple[str, str, str]]:
    """Our refs that lead nowhere: name, reason, object. Nothing is changed. Raises RefsBroken. `in_depth`: also those
    whose commit lacks objects beside main's."""
    below(place)  # git itself reads every line, whoever's it is: RefsBroken
    found: list[tuple[str, str, str]] = []
    named: dict[str, str] = dict(packed_refs_below(place.git_dir, f"{OWN}/") or ())
    for folder, _, names in os.walk(os.path.join(place.git_dir, OWN)):
        for name in names:
            ref = os.path.relpath(os.path.join(folder, name), place.git_dir)
            oid = loose(place.git_dir, ref)
            if oid is not None:
                named[ref] = oid
            elif not name.endswith(".lock"):
                named.pop(ref, None)
                found.append((ref, "the ref's file contains no object id", ""))
    for ref in [ref for ref, oid in named.items() if not is_oid(oid)]:
        found.append((ref, f"the ref's line in packed-refs is broken: {named.pop(ref)[:60]}", ""))
    asked = "".join(f"{oid}\n" for oid in named.values()).encode()
    said = place.run(["cat-file", "--batch-check"], stdin=asked).text.split("\n") if asked else []
    gone = [ref for ref, line in zip(named, said, strict=True) if line.endswith(" missing")]
    found += [(ref, f"the ref's object {named[ref][:12]} is missing", named.pop(ref)) for ref in gone]
    if in_depth and named and "extensions.partialclone" not in place.settings:  # there a remote has the others
        holed = set(_holed(place, list(named.values())))
        found += [(ref, f"objects of {oid[:12]} are missing", oid) for ref, oid in named.items() if oid in holed]
    return sorted(found)


def _holed(place: Place, commits: list[str]) -> list[str]:
    asked = "".join(f"{commit}\n" for commit in commits) + f"^{main(place)}\n"
    answer = place.run(["rev-list", "--objects", "--quiet", "--stdin"], stdin=asked.encode(), expect=(0, 128))
    if answer.code == 0 or len(commits) == 1:
        return commits if answer.code else []
    half = len(commits) // 2
    return [*_holed(place, commits[:half]), *_holed(place, commits[half:])]


def move(place: Place, ref: str, new: str, old: str | None) -> bool:
    """Move a ref of our own from `old` (None: missing) to `new`; False: it is somewhere else."""
    place.in_place()
    line = f"update {ref} {new} {old}\n" if old else f"create {ref} {new}\n"
    if place.transactions.commit([line], place.git_dir, place.plumbing):
        return True
    try:
        place.run([*DURABLE, "update-ref", "--no-deref", "--stdin"], stdin=line.encode())
    except GitFailed:
        present = read(place, ref)
        if present in (old, None) and present != new:
            raise
        return present == new
    return True


def names_in(place: Place, folder: str) -> list[str]:
    """The names directly in a folder of refs, without a process where refs are files."""
    path = os.path.join(place.git_dir, folder)
    own = os.listdir(path) if os.path.isdir(path) else ()
    packed = packed_refs_below(place.git_dir, f"{folder}/")
    if packed is None:
        return [ref for ref, _ in below(place, f"{folder}/")]
    return sorted({name for name, _ in packed} | {f"{folder}/{name}" for name in own if not name.endswith(".lock")})


def pack(place: Place) -> None:
    """Pack refs when more than LOOSE archived ones lie in files of their own. Before git 2.43 all refs are packed. No
    ref changes; the packed file is on disk before the loose ones go."""
    folder = os.path.join(place.git_dir, ARCHIVE)
    try:
        loose_ones = sum(len(names) for _, _, _, names in walk(folder))
    except (OSError, Beyond):
        loose_ones = 0 if not os.path.isdir(folder) else LOOSE + 1
    if loose_ones > LOOSE:
        only = ["--include", f"{ARCHIVE}/*"] if command_line.version() >= (2, 43) else ["--all"]
        place.run([*DURABLE, "pack-refs", *only])


def newest_first(place: Place, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """These refs by the date of their commits, without those whose commit is gone."""
    if not pairs:
        return []
    asked = ["rev-list", "--no-walk=unsorted", "--ignore-missing", "--timestamp", "--stdin"]
    said = place.run(asked, stdin="".join(f"{oid}\n" for _, oid in pairs).encode()).text.splitlines()
    dates = {oid: int(date) for date, _, oid in (line.partition(" ") for line in said)}
    known = [(dates[oid], ref, oid) for ref, oid in pairs if oid in dates]
    return [(ref, oid) for _, ref, oid in sorted(known, reverse=True)]


def below(place: Place, *prefixes: str) -> list[tuple[str, str]]:
    """(ref, object id) below the prefixes, by name."""
    asked = ["for-each-ref", "--format=%(refname)%00%(objectname)"]
    pairs = []
    for line in place.run([*asked, *prefixes]).text.split("\n"):
        ref, _, commit = line.partition("\0")
        if commit:
            pairs.append((ref, commit))
    return pairs
