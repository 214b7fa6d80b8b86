"""Makes a workspace or a checkout, as a program (programs): `make …`, or `mend …` for a kept workspace.

1. A clone is made beside its place and renamed into it, so a killed run leaves no half of one, and the same words again
   finish the work.
2. Paths, names and ids are words, never parts of a script. Everything is an object id: no branch name is resolved twice
   while main moves on.
3. git reads no configuration but the clone's own, and runs no hooks.
"""

import os
import sys
import time

from ...paths import process_environment

_NOT_INHERITED = (
    "INDEX_FILE OBJECT_DIRECTORY ALTERNATE_OBJECT_DIRECTORIES CONFIG CONFIG_COUNT CONFIG_PARAMETERS COMMON_DIR"
    " NAMESPACE CEILING_DIRECTORIES SHALLOW_FILE REPLACE_REF_BASE"
)
"""GIT_… variables."""
_ENVIRONMENT = {
    "GIT_DIR": ".git",
    "GIT_WORK_TREE": ".",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
}
_OPTIONS = ("-c", "core.hooksPath=/dev/null", "-c", "core.attributesFile=/dev/null")
_NEXT_SECOND = 1.1
MANY_FILES = 1000
"""A workspace with so many files is handed over a second later, so that git does not read each file again."""

_MENDING = """\
set -eu
cd -- "$1/.git"
chmod -R u+rwX -- .
find . -name '*.lock' -prune -exec rm -rf -- {} +
rm -rf -- config HEAD
printf '%s' "$2" >config
printf 'ref: refs/heads/%s\\n' "$3" >HEAD
# what is written by these names must not be written to where a link leads
for part in refs refs/heads "refs/heads/${3%/*}"; do
    if [ -L "$part" ]; then rm -f -- "$part"; fi
done
if [ -n "$4" ]; then
    mkdir -p -- "refs/heads/${3%/*}"
    rm -rf -- "refs/heads/$3"
    printf '%s\\n' "$4" >"refs/heads/$3"
fi
if [ -L hooks ] || [ ! -d hooks ]; then rm -rf -- hooks && mkdir hooks; fi
if [ -d "$5" ]; then
    from=$5
    set --
    for hook in "$from"/*; do set -- "$@" "hooks/${hook##*/}"; done
    rm -rf -- "$@"
    cp -p -- "$from"/* hooks
fi
"""


class _Failed(Exception):
    """A program ended with this code, and said why."""


def make_or_mend(words: "list[str]") -> int:
    """The program `checkout`."""
    try:
        if words[0] == "mend":
            _run("sh", "-c", _MENDING, "mend", *words[1:])
        else:
            _make(*words[1:])
    except _Failed as failed:
        return int(failed.args[0])
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr, flush=True)
        return 1
    return 0


def _make(
    path: str,
    at: str,
    commit: str,
    branch: str,
    objects: str,
    shallow: str,
    config: str,
    index: str,
    head: str,
    hooks: str,
    attributes: str,
    *options: str,
) -> None:
    if at != path and os.path.isdir(path):
        return
    if os.path.lexists(at):  # of an earlier run that was cut off
        if not os.path.islink(at):
            _run("chmod", "-R", "u+rwx", "--", at)
        _run("rm", "-rf", "--", at)
    ref = f"refs/heads/{branch}"
    for folder in ("objects/info", "objects/pack", os.path.dirname(ref), "hooks"):
        os.makedirs(os.path.join(at, ".git", folder))
    os.chdir(os.path.join(at, ".git"))
    for name in os.listdir(hooks) if os.path.isdir(hooks) else ():
        _copy(os.path.join(hooks, name), os.path.join("hooks", name))
    _write("config", config)
    _write("objects/info/alternates", f"{objects}\n")
    _write("HEAD", f"ref: {ref}\n" if branch else f"{commit}\n")
    if branch:
        _write(ref, f"{head}\n")
    if shallow:
        _copy(shallow, "shallow")
    if attributes:
        os.makedirs("info", exist_ok=True)
        _write("info/attributes", attributes)
    os.chdir(os.pardir)
    _run("git", *options, *_OPTIONS, "read-tree", "-m", "-u", commit)
    if options or (branch and _files_in(".git/index") >= MANY_FILES):
        # git reads files again that are of the index's own second: it would take what a filter wrote for an edit, and
        # `git add` would store a copy of each file, as the sandbox keeps it from touching the packs that hold them
        time.sleep(_NEXT_SECOND)
        os.utime(".git/index")
    if index:
        _copy(".git/index", index)
    if at != path:
        os.rename(at, path)


def _files_in(index: str) -> int:
    with open(index, "rb") as file:
        return int.from_bytes(file.read(12)[8:])  # after a signature and a version of four bytes each


def _run(*argv: str) -> None:
    environment = process_environment()
    if argv[0] == "git":
        for name in _NOT_INHERITED.split():
            environment.pop(f"GIT_{name}", None)
        environment.update(_ENVIRONMENT)
    child = os.posix_spawnp(argv[0], argv, environment)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        raise _Failed(128 - code if code < 0 else code)


def _write(path: str, text: str) -> None:
    with open(path, "wb") as file:
        file.write(os.fsencode(text))


def _copy(source: str, target: str) -> None:
    """With its mode and times."""
    with open(source, "rb") as file:
        content, status = file.read(), os.fstat(file.fileno())
    with open(target, "wb") as file:
        file.write(content)
        os.fchmod(file.fileno(), status.st_mode & 0o7777)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
