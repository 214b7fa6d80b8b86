"""Git's filters (`filter=`): agents' work comes through them, or not at all.

1. Which paths are filtered is git's own answer, by the attributes of the commits concerned and the person's.
2. Agents' clones have no filters, so their commits are plain. Git LFS is done by hand (lfs). Others run only if the
   settings name them: the person's command, in a sandbox without network, in an empty folder. Filtered blobs are
   remembered under refs/nobrakes/filtered and pass unchanged.
3. What main has passes unchanged; any other plain blob is refused with the reason.
4. A person is asked about clear text that would land beside its filter (`laid_open`): whole files, lines, and words
   with digits, in every commit. Other encodings are not detected.
"""

import contextlib
import hashlib
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property

from .. import US
from ..agents.limits import Sizes
from ..errors import GitFailed, NobrakesError
from ..globs import matches
from ..paths import which
from ..records import frozen
from ..text.cleaning import one_line
from . import command_line, history, lfs, lfs_filter, objects
from .command_line import CHECKOUT, inherited
from .history import raw, tree_changes
from .location import Place
from .objects import EXECUTABLE, FILE, LINK, Commit, Objects
from .port import ABSENT, NOWHERE, Argv, Change, Conflict, Rules

REF = f"{objects.OWN}/filtered"
_NAMED = re.compile(r"(?:^|\s)filter=(\S+)")
_FILES = (FILE, EXECUTABLE)
_SECONDS = 60.0
_WHO = f"{US} 0 +0000"


class Refused(Exception):
    """A blob cannot come through its filter; `str(error)` says why, and what to type. `barred`: where a person can
    allow it, the filter's name and the commands to type; empty: the work is wrong."""

    def __init__(self, why: str, *barred: str) -> None:
        super().__init__(why)
        self.barred = barred


class FilterFailed(Refused):
    """An allowed filter fails: a fault of the machine, not of the work."""


def allowing(setting: str, name: str) -> str:
    return f"nobrakes config set git.{setting} {shlex.quote(f'+{name}')}"


class Attributes:
    """Which paths are under a filter, as git itself answers."""

    def __init__(self, place: Place, objects: Objects) -> None:
        self.place = place
        self.objects = objects
        self._known: dict[str, list[tuple[str, str, bytes]]] = {}

    def names(self, commit: str) -> frozenset[str]:
        personal = self.info_attributes(), _read(self._persons_file), _read(_SYSTEM)
        texts = [*(content for _, _, content in self.files(commit)), *personal]
        return frozenset(name for text in texts for name in _NAMED.findall(os.fsdecode(text)))

    def under(self, commits: Iterable[str], paths: Collection[str]) -> dict[str, str]:
        """Each path under a filter in one of the commits; the first such commit counts."""
        found: dict[str, str] = {}
        for commit in commits:
            if paths and self.names(commit):
                found = {**self._asked(commit, paths), **found}
        return found

    def _asked(self, commit: str, paths: Collection[str]) -> dict[str, str]:
        with tempfile.TemporaryDirectory(prefix="nobrakes-filters-") as folder:
            env = {**CHECKOUT, "GIT_DIR": self.place.git_dir, "GIT_WORK_TREE": self.place.git_dir}
            env["GIT_INDEX_FILE"] = os.path.join(folder, "index")
            rows = b"".join(
                f"{FILE} {oid}\t".encode() + os.fsencode(path) + b"\0" for path, oid, _ in self.files(commit)
            )
            self._git(["update-index", "-z", "--index-info"], env, rows)
            asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
            words = self._git(["check-attr", "--cached", "-z", "--stdin", "filter"], env, asked).records
        pairs = zip(words[::3], words[2::3], strict=True)
        return {path: name for path, name in pairs if name not in ("unspecified", "unset", "set")}

    def _git(self, arguments: list[str], env: Mapping[str, str], stdin: bytes) -> command_line.Answer:
        return command_line.run(arguments, cwd=self.place.git_dir, env=env, stdin=stdin)

    def files(self, commit: str) -> list[tuple[str, str, bytes]]:
        if commit not in self._known:
            like = next((one for one in self._known if not history.differ(self.objects, one, commit)), None)
            found = self._known[like] if like else list(history.files(self.place, self.objects, commit))
            self._known = {**dict(list(self._known.items())[-3:]), commit: found}
        return self._known[commit]

    def info_attributes(self) -> bytes:
        return _read(os.path.join(self.place.git_dir, "info", "attributes"))

    @cached_property
    def _persons_file(self) -> str:
        env = {**CHECKOUT, "GIT_DIR": self.place.git_dir}
        asked = ["config", "--type=path", "--get", "core.attributesFile"]
        home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.environ.get("HOME", ""), ".config")
        named = command_line.run(asked, cwd=self.place.git_dir, env=env, expect=(0, 1)).text
        return named or os.path.join(home, "git", "attributes")


class Filters(Attributes):
    """The filters of one repository, and what comes through them."""

    def __init__(self, place: Place, objects: Objects, rules: Rules | None = None) -> None:
        super().__init__(place, objects)
        self.is_on = rules is not None
        self.rules = rules or Rules()

    @cached_property
    def clear_text(self) -> "ClearText":
        return ClearText(self)

    def work_filters(self, commits: Iterable[str], paths: Collection[str]) -> dict[str, str]:
        return self.under(commits, paths) if self.is_on else {}

    def changes(
        self, base: str, head: str, found: Sequence[Change], differ: Iterable[tuple[str, ...]]
    ) -> tuple[Change, ...]:
        """The changes, each with the reason why it cannot come through its path's filter; empty where it can."""
        after = {path: (before, oid) for path, before, mode, _, oid in differ if mode in _FILES}
        names = self.work_filters((base, head), after)
        whys = {path: self._why_not(name, path, *after[path], base) for path, name in names.items()}
        reasons = ((one, whys.get(one.path, ("", ()))) for one in found)
        return tuple(replace(one, unfiltered=why, barred=barred) for one, (why, barred) in reasons)

    def barred_at(self, commit: str, globs: Iterable[str], paths: Collection[str]) -> tuple[Change, ...]:
        """The changes at these globs that a person's filter rules bar."""
        found: list[Change] = []
        for glob in globs:
            held = [path for path in paths if matches(path, (glob,))]
            under = self.work_filters((commit,), held or [glob])
            made = [self._would_change(name, path, path in paths) for path, name in under.items() if name != lfs.NAME]
            found += made if len(made) == len(held or [glob]) and all(one.barred for one in made) else []
        return tuple(found)

    def _would_change(self, name: str, path: str, is_there: bool) -> Change:
        change = Change(path, FILE if is_there else ABSENT, FILE)
        try:
            self.command(name, path, change.before)
        except Refused as error:
            return replace(change, unfiltered=str(error), barred=error.barred)
        return change

    def _why_not(self, name: str, path: str, before: str, blob: str, main: str) -> tuple[str, tuple[str, ...]]:
        try:
            if self.passes(name, blob, main) is None:
                self.command(name, path, before)
        except Refused as error:
            return str(error), error.barred
        return "", ()

    def filtered_tree(self, tree: str, onto: str, head: str) -> str | Conflict:
        """The tree in which the changes from `onto` to `head` have come through their filters."""
        differ = tree_changes(self.objects, self.objects.commit(onto).tree, tree)
        after = {path: (before, mode, oid) for path, before, mode, _, oid in differ if mode in _FILES}
        made, refused = {}, {}
        for path, name in self.work_filters((onto, head), after).items():
            before, mode, blob = after[path]
            try:
                through = self.passes(name, blob, onto) or self._through(name, path, before, blob)
            except FilterFailed as error:
                return Conflict((path,), failed=f"{path}: {error}")
            except Refused as error:
                refused[path] = Change(path, before, mode, unfiltered=str(error), barred=error.barred)
                continue
            if through != blob:
                made[path] = (mode, through)
        if refused:
            why = [one for _, one in sorted(refused.items())]
            return Conflict(tuple(sorted(refused)), "\n".join(f"{one.path}: {one.unfiltered}" for one in why), (*why,))
        return self._changed(tree, made) if made else tree

    def refuse(self, commit: str, paths: Collection[str]) -> None:
        """Raises GitFailed if a path that nobrakes writes itself is under a filter."""
        for path, name in self.work_filters((commit,), paths).items():
            raise GitFailed(
                f"git's filter '{name}' applies to {path}, but nobrakes needs the file unfiltered",
                f"Put `{path.partition('/')[0]}/** -filter` at the end of .gitattributes, then commit.",
            )

    def came_through(self, base: str, head: str) -> None:
        """Record that `head`'s changes already came through the filters: a person's own git made them."""
        differ = tree_changes(self.objects, self.objects.commit(base).tree, self.objects.commit(head).tree)
        after = {path: oid for path, _, mode, _, oid in differ if mode in _FILES}
        self._remember({(name, after[path]): after[path] for path, name in self.under((base, head), after).items()})

    def passes(self, name: str, blob: str, main: str) -> str | None:
        """The blob after the filter if it is already known; None: unknown. Raises Refused."""
        if name == lfs.NAME:
            content, folder = self.objects.content(blob), lfs.store(self.place)
            pointer = lfs.parse(content or b"")
            if content and pointer is None:
                return self._written(lfs.keep(folder, content).content)
            if pointer is not None and not lfs.has(folder, pointer) and not self._has(main, lfs.NAME, blob):
                raise Refused(f"the file is a Git LFS pointer, but its content {pointer.oid[:12]} is missing locally")
            return blob
        tip = objects.read(self.place, REF)
        known = None if tip is None else self.objects.entry(tip, _key(name, blob))
        if known is not None:
            return known.id
        return blob if self._has(main, name, blob) else None

    def _has(self, main: str, name: str, blob: str) -> bool:
        rows = self.place.run(["ls-tree", "-r", "-z", main]).records
        paths = [row.partition("\t")[2] for row in rows if row.partition("\t")[0].endswith(f" blob {blob}")]
        return name in self.under((main,), paths).values()

    def _through(self, name: str, path: str, before: str, blob: str) -> str:
        command = self.command(name, path, before)
        made = self._written(self.run(name, command, self.objects.content(blob) or b""))
        self._remember({(name, blob): made, (name, made): made})
        return made

    def shown(self, name: str) -> str:
        """The smudge command that agents may see; empty: they see what git stores."""
        if name not in self.rules.run or name not in self.rules.show or self.configured(name, "process"):
            return ""
        return self.configured(name, "smudge")

    def command(self, name: str, path: str, before: str) -> str:
        """The filter's configured command. Refused: it may not run, or there is none. `before`: the path's mode before;
        a file that was unreadable cannot be rebuilt."""
        found, is_new = self.configured(name, "clean"), before == ABSENT
        settings = {"filters": self.rules.run, **({} if is_new else {"clear_text": self.rules.show})}
        types = [f"git config {shlex.quote(f'filter.{name}.clean')} …"] if not found else []
        types += [allowing(setting, name) for setting, names in settings.items() if name not in names]
        if types or not (is_new or self.shown(name)):
            why = "which nobrakes may not run"
            if name in self.rules.run:
                why = "and agents do not see its decrypted text" if found else f"but filter.{name}.clean is not set"
            how = " and ".join(f"`{command}`" for command in types)
            how = f"a person can allow it: {how}, then a restart" if how else "the filter has no plain smudge command"
            raise Refused(f"git stores the file through the filter '{name}', {why}: {how}", name, *types)
        return found.replace("%f", shlex.quote(path))

    def configured(self, name: str, what: str) -> str:
        env = {**CHECKOUT, "GIT_DIR": self.place.git_dir}
        asked = ["config", "--get", f"filter.{name}.{what}"]
        return command_line.run(asked, cwd=self.place.git_dir, env=env, expect=(0, 1)).text

    def run(self, name: str, command: str, content: bytes) -> bytes:
        try:
            code, out, error = run(self.rules.confine(("sh", "-c", command)), self.environment(), content)
        except NobrakesError as refused:
            raise FilterFailed(f"nobrakes cannot run the filter '{name}': {refused} {refused.hint}") from None
        if code != 0:
            raise FilterFailed(f"the filter '{name}' exited with code {code}: {one_line(error)[-300:] or 'no message'}")
        return out

    def environment(self) -> dict[str, str]:
        """What a filter sees: the person's environment and repository, without their files."""
        given = {name: value for name, value in CHECKOUT.items() if not name.startswith("GIT_CONFIG")}
        here = {"GIT_DIR": self.place.git_dir, "GIT_WORK_TREE": NOWHERE, "GIT_INDEX_FILE": f"{NOWHERE}/index"}
        return {**inherited(given), **given, **here}

    def _written(self, content: bytes) -> str:
        return self.place.run(["hash-object", "-w", "--no-filters", "--stdin"], stdin=content).text

    def _changed(self, tree: str, made: Mapping[str, tuple[str, str]]) -> str:
        with self._index() as env:
            self.place.run(["read-tree", tree], env=env)
            return self._with(made, env)

    def _remember(self, found: Mapping[tuple[str, str], str]) -> None:
        while found:
            tip = objects.read(self.place, REF)
            with self._index() as env:
                if tip is not None:
                    self.place.run(["read-tree", tip], env=env)
                tree = self._with({_key(*one): (FILE, made) for one, made in found.items()}, env)
            content = f"tree {tree}\nauthor {_WHO}\ncommitter {_WHO}\n\nWhat git's filters made\n"
            commit = self.place.commits.write(content.encode(), self.place.git_dir, self.place.plumbing)
            if tip == commit or objects.move(self.place, REF, commit, tip):
                return

    def _with(self, made: Mapping[str, tuple[str, str]], env: Mapping[str, str]) -> str:
        rows = b"".join(f"{mode} {oid}\t".encode() + os.fsencode(path) + b"\0" for path, (mode, oid) in made.items())
        self.place.run(["update-index", "-z", "--index-info"], env=env, stdin=rows)
        return self.place.run(["write-tree"], env=env).text

    @contextlib.contextmanager
    def _index(self) -> Iterator[Mapping[str, str]]:
        with tempfile.TemporaryDirectory(prefix="nobrakes-filters-") as folder:
            yield {"GIT_INDEX_FILE": os.path.join(folder, "index")}


class ClearText:
    """Content that would reach main in clear although git stores it through a filter."""

    def __init__(self, filters: Filters) -> None:
        self.filters, self.place, self.objects = filters, filters.place, filters.objects
        self._hides: dict[tuple[str, str, bool], frozenset[int]] = {}

    def laid_open(self, base: str, head: str, commits: Sequence[Commit]) -> list[str]:
        """One line for each place where these commits may expose filtered content; empty: none."""
        shown = {name: self.filters.shown(name) for name in self.filters.names(base)}
        if not (self.filters.is_on and (shown or self.filters.names(head))):
            return []
        parted = (row.partition("\t") for row in self.place.run(["ls-tree", "-r", "-z", base]).records)
        blobs = {path: row.split()[2] for row, _, path in parted if row.startswith(_FILES)}
        is_same = not any(shown.values()) and self.filters.files(base) == self.filters.files(head)
        asked = self._gone(base, head) if is_same else blobs
        filtered = self.filters.under((base,), [path for path in asked if path in blobs])
        found = [*self._let_go(filtered, head), *self._moved_out(filtered, blobs, base, head)]
        secret: dict[int, tuple[str, str]] = {}
        for path, name in filtered.items():
            try:
                hidden = self._hidden(name, path, blobs[path], shown[name], True) if shown.get(name) else ()
            except Refused as error:
                found.append(f"the decrypted text of {path} is unreadable, and the branch may have a copy: {error}")
            else:
                secret |= dict.fromkeys(hidden, (name, path))
        return found + self._copied(secret, base, head, commits)

    def _let_go(self, filtered: Mapping[str, str], head: str) -> Iterator[str]:
        after = self.filters.under((head,), filtered)
        for name in sorted(set(filtered.values())):
            free = sorted(path for path in filtered if filtered[path] == name and after.get(path) != name)
            if free:
                more = f" and {len(free) - 1} more" if free[1:] else ""
                yield f"the branch removes the filter '{name}' from {free[0]}{more}"

    def _moved_out(self, filtered: Mapping[str, str], blobs: Mapping[str, str], base: str, head: str) -> Iterator[str]:
        new = {
            path: oid for path, was, mode, _, oid in raw(self.objects, base, head) if was == ABSENT and mode in _FILES
        }
        names = self.filters.under((base, head), new)
        for path in (path for path in self._gone(base, head) if path in filtered):
            pointer = lfs.parse(self.objects.content(blobs[path]) or b"") if filtered[path] == lfs.NAME else None
            for beside in (one for one in new if names.get(one) != filtered[path]):
                is_alike = _stem(beside) == _stem(path) or new[beside] == blobs[path]
                if is_alike or self._is_content(new[beside], pointer):
                    yield f"{beside} is new; {path}, which git stores through the filter '{filtered[path]}', is gone"

    def _gone(self, base: str, head: str) -> list[str]:
        return [path for path, _, mode, _, _ in raw(self.objects, base, head) if mode not in _FILES]

    def _is_content(self, blob: str, pointer: lfs.Pointer | None) -> bool:
        if pointer is None or self.objects.size(blob) != pointer.size:
            return False
        return hashlib.sha256(self.objects.content(blob) or b"").hexdigest() == pointer.oid

    def _copied(self, secret: dict[int, tuple[str, str]], base: str, head: str, commits: Sequence[Commit]) -> list[str]:
        rows = [row for commit in commits for row in raw(self.objects, (*commit.parents, base)[0], commit.id)]
        names = self.filters.under((base, head), {path for path, *_ in rows})
        for path, _, mode, _, blob in rows:
            if path in names and names[path] != lfs.NAME and mode in _FILES:
                secret |= dict.fromkeys(self._brought(names[path], path, blob, base), (names[path], path))
        hits: dict[str, set[bytes]] = {}

        def look(where: str, own: str, new: set[bytes]) -> None:
            found = {one for one in new if secret.get(hash(one), (own,))[0] != own}
            hits[where] = hits.get(where, set()) | found

        for path, before, mode, old, blob in rows if secret else ():
            if mode in (*_FILES, LINK):
                name = os.fsencode(path) if before == ABSENT else b""
                new = _pieces(self._text(blob)) | _pieces(name)
                look(path, names.get(path, "") if mode in _FILES else "", new - _pieces(self._text(old)))
        for commit in commits if secret else ():
            look(f"the message of {commit.id[:12]}", "", _pieces(os.fsencode(commit.message)))
        public = self._public(base, set().union(*hits.values()))
        told = ((where, sorted(pieces - public)) for where, pieces in hits.items())
        of = {where: secret[hash(pieces[0])] for where, pieces in told if pieces}
        return [
            f"{where} contains text of {path}, which git stores through the filter '{name}'"
            for where, (name, path) in of.items()
        ]

    def _brought(self, name: str, path: str, blob: str, base: str) -> Collection[int]:
        try:
            shown = self.filters.shown(name)
            if self.filters.passes(name, blob, base) == blob:
                return self._hidden(name, path, blob, shown, True) if shown else ()
            return self._hidden(name, path, blob, self.filters.command(name, path, ABSENT), False)
        except Refused:  # nobody can tell what it hides: all of it
            return {hash(one) for one in _pieces(self._text(blob))}

    def _hidden(self, name: str, path: str, blob: str, command: str, is_kept: bool) -> frozenset[int]:
        """Hashes of the pieces that only its clear text has. `is_kept`: the blob is the filter's output."""
        key = (name, blob, is_kept)
        if key not in self._hides:
            content = self.objects.content(blob) or b""
            made = self.filters.run(name, command.replace("%f", shlex.quote(path)), content)
            clear, kept = (made, content) if is_kept else (content, made)
            self._hides[key] = frozenset(map(hash, _pieces(clear) - _pieces(kept)))
        return self._hides[key]

    def _public(self, base: str, pieces: Collection[bytes]) -> set[bytes]:
        asked = b"\n".join(one for one in pieces if b"\n" not in one)
        if not asked:
            return set()
        found = self.place.run(["grep", "-h", "-I", "-F", "--no-textconv", "-f", "-", base], stdin=asked, expect=(0, 1))
        return {one for one in pieces if one in found.out}

    def _text(self, blob: str) -> bytes:
        content = self.objects.content(blob) or b""
        pointer = lfs.parse(content)
        if pointer is None or pointer.size > Sizes().file or not lfs.has(lfs.store(self.place), pointer):
            return content
        with open(lfs.path(lfs.store(self.place), pointer.oid), "rb") as file:
            return file.read()


_SYSTEM = "/etc/gitattributes"

_SHORTEST = 8
"""Minimal bytes of a line or word that identifies a text; for a whole file half of that."""
_WORD = re.compile(rb"[^\s\"'`=:,;()\[\]{}<>|]{%d,}" % _SHORTEST)


def _pieces(content: bytes) -> set[bytes]:
    lines = {line.strip() for line in content.splitlines()}
    words = {one for one in _WORD.findall(content) if re.search(rb"\d", one) and re.search(rb"[A-Za-z]", one)}
    found = {one for one in lines if len(one) >= _SHORTEST and re.search(rb"\w{3}", one)} | words
    return found | {content.strip()} if len(content.strip()) >= _SHORTEST // 2 else found


def _stem(path: str) -> str:
    return path.rpartition("/")[2].strip(".").partition(".")[0].casefold()


def _key(name: str, blob: str) -> str:
    return f"{hashlib.sha256(os.fsencode(name)).hexdigest()[:16]}/{blob}"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(1_000_000)
    except OSError:
        return b""


def run(argv: Argv, env: Mapping[str, str], content: bytes) -> tuple[int, bytes, str]:
    """Run a confined filter: (exit code, output, messages). Raises GitFailed."""
    out: list[bytes] = []
    try:
        process = command_line.begin(argv, "/", env)
    except OSError as failed:
        raise GitFailed(f"{argv[0]} cannot run: {failed.strerror}") from None
    said = command_line.exchange(process, content, _SECONDS, out.append)
    if said is None:
        raise GitFailed(f"the filter did not end in {_SECONDS:g} seconds")
    return process.returncode, b"".join(out), said.decode("utf-8", "replace")


NAME = ".gitignore"
NEW = "nobrakes-new"
LARGEST = 1_000_000
SHOWN = 20


# Compared are all files of both trees and, beside each kind of file in a folder, a new one of that kind. `dist/` hides
# nothing where none lies.
def told(place: Place, objects: Objects, changes: tuple[Change, ...], base: str, head: str) -> tuple[Change, ...]:
    """The changes, those of ignore files with the paths that they hide."""
    if not any(_is_one(change.path) for change in changes):
        return changes
    listed = place.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", base]).records
    there = {*listed, *(change.path for change in changes if change.after != ABSENT)}
    asked = there | {_beside(path) for path in there}
    files = {path for path in there if _is_one(path)}
    hidden = _ignored(place, objects, head, files, asked) - _ignored(place, objects, base, files, asked)
    shown = tuple(sorted(hidden, key=lambda path: (path not in there, path))[:SHOWN])
    return tuple(replace(change, hidden=shown) if _is_one(change.path) else change for change in changes)


def _is_one(path: str) -> bool:
    return path.rpartition("/")[2].casefold() == NAME


def _beside(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/{NEW}{os.path.splitext(name)[1]}".lstrip("/")


def _ignored(place: Place, objects: Objects, commit: str, files: Iterable[str], asked: set[str]) -> set[str]:
    with tempfile.TemporaryDirectory(prefix="nobrakes-ignored-", dir=place.git_dir) as folder:
        for path in files:
            entry = objects.entry(commit, path)
            if entry is None or entry.mode not in (FILE, EXECUTABLE):
                continue  # a link is not followed by git either
            size = objects.size(entry.id)
            content = objects.content(entry.id) if size is not None and size <= LARGEST else b"*\n"
            whole = os.path.join(folder, path)
            os.makedirs(os.path.dirname(whole), exist_ok=True)
            with open(whole, "wb") as file:
                file.write(content or b"")
        question = b"".join(os.fsencode(path) + b"\0" for path in sorted(asked))
        words = ["check-ignore", "--no-index", "-z", "--stdin"]
        return set(place.run(words, env={"GIT_WORK_TREE": folder}, stdin=question, expect=(0, 1)).records)


_OFF = {"clean": "", "smudge": "", "process": "", "required": "false"}
_LFS = {"clean": "git-lfs clean -- %f", "smudge": "git-lfs smudge -- %f", "process": "git-lfs filter-process"}
_UNSET = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_ATTR_NOSYSTEM")


# What Git LFS keeps lies in our checkouts whole, from the repository's own store; what nobody fetched is a pointer. Any
# other filter is off in a clone: agents see clear text only of those that the settings name, by the person's own
# command, confined.
@frozen
class Through:
    """`options`: of the git that writes the files. `filters`: name -> its settings in the checkout. `attributes`: those
    that lie in no commit."""

    options: tuple[str, ...] = ()
    filters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    attributes: str = ""


NO_FILTERS = Through()


def through(filters: Filters, commit: str) -> Through:
    """How the files of this commit come into a checkout."""
    names = filters.names(commit) if filters.is_on else frozenset()
    if not names:
        return NO_FILTERS
    options: list[str] = []
    own: dict[str, Mapping[str, str]] = dict.fromkeys(names, _OFF)
    for name in sorted(names):
        command = _shown(filters, name)
        if name == lfs.NAME:
            served = (sys.executable, "-I", "-S", lfs_filter.__file__, lfs.store(filters.place))
            options += ["-c", f"filter.lfs.process={shlex.join(served)}"]
        elif command:
            options += ["-c", f"filter.{name}.smudge={command}", "-c", f"filter.{name}.required=true"]
            own[name] = {key: value for key, value in _OFF.items() if key != "process"}  # git would ask only that
    if lfs.NAME in names and which("git-lfs"):
        own[lfs.NAME] = {**_LFS, "required": "true"}
    return Through(tuple(options), own, os.fsdecode(filters.info_attributes()))


def _shown(filters: Filters, name: str) -> str:
    found = filters.shown(name)
    if not found:
        return ""
    try:
        confined = filters.rules.confine(("sh", "-c", found.replace("%f", '"$1"'), "sh"))
    except NobrakesError:
        return ""  # the doctor says that there is no sandbox
    here = (f"GIT_DIR={filters.place.git_dir}", f"GIT_WORK_TREE={NOWHERE}", f"GIT_INDEX_FILE={NOWHERE}/index")
    without = [word for variable in _UNSET for word in ("-u", variable)]
    return f"{shlex.join(['env', *without, *here, *confined])} %f"


def fetch_lfs_objects(filters: Filters, clone: str, main: str, head: str, sizes: Sizes) -> None:
    """Copy the Git LFS contents of the changed files from an agent's clone."""
    if not os.path.isdir(os.path.join(clone, ".git", lfs.NAME)):
        return
    objects, folder = filters.objects, lfs.store(filters.place)
    left = sizes.new
    for _, _, mode, _, blob in raw(objects, main, head, sizes):
        size = objects.size(blob) if mode in (FILE, EXECUTABLE) else None
        pointer = lfs.parse(objects.content(blob) or b"") if size is not None and size < lfs.LARGEST_POINTER else None
        if pointer is not None and pointer.size <= min(left, sizes.file) and not lfs.has(folder, pointer):
            left -= pointer.size
            lfs.take(folder, clone, pointer)
