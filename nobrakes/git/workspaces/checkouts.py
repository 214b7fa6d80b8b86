"""The commands that make a private checkout: a child runs them, as quickly as git and the disk allow.

1. The repository's skeleton is written by hand: no template, no hooks, no remote, one ref or none. What is left for
   git is one `read-tree`, which writes the files. Its folders are made when the commands are asked for, where nothing
   lies yet: six calls of the system in the place of a process.
2. The shell script is fixed; paths, names and ids reach it as arguments and are never read as shell.
3. A workspace is made beside its place and renamed into it, so a killed run leaves no half of one. Running the
   commands again finishes or repeats the work.
4. A workspace has copies of our hooks, and shares nothing with the others; whatever a set-up puts beside them
   (pre-commit) or in their place (core.hooksPath, as husky does) works as in any clone.
5. Everything is an object id: no branch name is ever resolved twice while main moves on.
"""

import os
from collections.abc import Mapping

from ...ports.git import Argv
from ..filtered_checkouts import NO_FILTERS, Through
from ..location import Place
from ..messages import Person

MAKING = "~making"
INDEX = "~index"
"""What is put behind a workspace's name for files beside it; no bead's id has a tilde."""

OURS = "nobrakes"
"""The name by which a run's wrapper knows a script of ours, and runs it by itself (host.runs.wrapper)."""

_KEPT_SETTINGS = ("core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode")

_SCRIPT = """\
set -eu
path=$1 at=$2 commit=$3 branch=$4 objects=$5 shallow=$6 config=$7 index=$8 head=$9 begun=${10} hooks=${11}
attributes=${12}
shift 12
if [ "$at" != "$path" ] && [ -d "$path" ]; then exit 0; fi
# what is written first is there already: an earlier run of this was cut off
if [ -z "$begun" ] || [ -e "$at/.git/config" ]; then
    if [ -e "$at" ] || [ -L "$at" ]; then
        if [ ! -L "$at" ]; then chmod -R u+rwx -- "$at"; fi
        rm -rf -- "$at"
    fi
    mkdir -p -- "$at/.git/objects/info" "$at/.git/objects/pack" "$at/.git/refs/heads/${branch%/*}" "$at/.git/hooks"
    if [ -d "$hooks" ]; then cp -p -- "$hooks"/* "$at/.git/hooks"; fi
fi
cd -- "$at/.git"
printf '%s' "$config" >config
printf '%s\\n' "$objects" >objects/info/alternates
if [ -n "$branch" ]; then
    printf 'ref: refs/heads/%s\\n' "$branch" >HEAD
    printf '%s\\n' "$head" >"refs/heads/$branch"
else
    printf '%s\\n' "$commit" >HEAD
fi
if [ -n "$shallow" ]; then cp -- "$shallow" shallow; fi
if [ -n "$attributes" ]; then mkdir -p info && printf '%s' "$attributes" >info/attributes; fi
cd ..
unset GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_CONFIG GIT_CONFIG_COUNT \\
    GIT_CONFIG_PARAMETERS GIT_COMMON_DIR GIT_NAMESPACE GIT_CEILING_DIRECTORIES GIT_SHALLOW_FILE GIT_REPLACE_REF_BASE
export GIT_DIR=.git GIT_WORK_TREE=. GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null GIT_ATTR_NOSYSTEM=1 \\
    GIT_NO_REPLACE_OBJECTS=1
# eight writers are eight processes: worth their start from some thousand files on
git "$@" -c core.hooksPath=/dev/null -c core.attributesFile=/dev/null -c checkout.workers=8 \\
    -c checkout.thresholdForParallelism=2000 read-tree -m -u "$commit"
# git reads files again that are of the index's own second, and would take what a filter wrote for an edit
if [ "$#" -gt 0 ]; then sleep 1.1 && touch .git/index; fi
if [ -n "$index" ]; then cp -p -- .git/index "$index"; fi
if [ "$at" != "$path" ]; then mv -- "$at" "$path"; fi
"""

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


def mending(
    place: Place,
    path: str,
    commit: str,
    branch: str,
    person: Person,
    tip: str,
    hooks: str,
    through: Through = NO_FILTERS,
) -> tuple[Argv, ...]:
    """The commands that put a kept workspace back on its branch, whatever the last worker left it on.

    `tip`: where the branch belongs, when the last worker committed beside it; "": it is where it belongs.
    Its configuration and hooks are ours again, with the next worker's name, and killed git commands' locks are gone.
    The files stay as they are. Only for a clone in which nothing runs: the child runs them, once, before its agent.
    """
    config = _config(place.settings, len(commit), person, through)
    return (("sh", "-c", _MENDING, OURS, path, config, branch, tip, hooks),)


def making(
    place: Place,
    path: str,
    commit: str,
    *,
    branch: str = "",
    head: str = "",
    person: Person | None = None,
    index: str = "",
    hooks: str = "",
    through: Through = NO_FILTERS,
) -> tuple[Argv, ...]:
    """The commands that check `commit` out at `path`: on `branch` for a worker, or detached.

    `head`: where the branch is; what `commit` has beyond it is then staged, and not committed.
    `index`: where a copy of the index is kept, out of the agent's reach. `hooks`: the folder of its hooks.
    """
    at = path + MAKING if branch else path
    config = _config(place.settings, len(commit), person, through)
    words = (
        path,
        at,
        commit,
        branch,
        place.objects,
        place.shallow,
        config,
        index,
        head,
        _begin(at, branch, hooks),
        hooks,
        through.attributes,
        *through.options,
    )
    return (("sh", "-c", _SCRIPT, OURS, *words),)


def _begin(at: str, branch: str, hooks: str) -> str:
    """Make the skeleton's folders where nothing lies; "": the commands have to, and say why if they cannot."""
    try:
        os.makedirs(at)
        for folder in ("", "objects", "objects/info", "objects/pack", "refs", "refs/heads"):
            os.mkdir(os.path.join(at, ".git", folder))
        if branch:
            os.makedirs(os.path.join(at, ".git", "refs", "heads", os.path.dirname(branch)))
            os.mkdir(os.path.join(at, ".git", "hooks"))
            _copy(hooks, os.path.join(at, ".git", "hooks"))
    except OSError:
        return ""
    return "begun"


def _copy(hooks: str, folder: str) -> None:
    """Our hooks into a folder that is ours; none where nobody put them into theirs yet."""
    for name in os.listdir(hooks) if os.path.isdir(hooks) else ():
        with open(os.path.join(hooks, name), "rb") as file:
            content = file.read()
        descriptor = os.open(os.path.join(folder, name), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o755)
        with open(descriptor, "wb") as file:
            file.write(content)


def _config(settings: Mapping[str, str], width: int, person: Person | None, through: Through) -> str:
    core = {key.partition(".")[2]: settings[key] for key in _KEPT_SETTINGS if key in settings}
    sections: list[tuple[str, dict[str, str]]] = [
        ("core", {"repositoryformatversion": "0", "bare": "false", "logallrefupdates": "true", **core}),
        ("gc", {"auto": "0"}),
        ("maintenance", {"auto": "false"}),
        ("commit", {"gpgsign": "false"}),
    ]
    if width == 64:
        sections[0][1]["repositoryformatversion"] = "1"
        sections.append(("extensions", {"objectformat": "sha256"}))
    if person is not None:
        sections.append(("user", {"name": person.name, "email": person.email}))
    rows = []
    for section, values in sections:
        rows.append(f"[{section}]")
        rows += [f"\t{key} = {_value(value)}" for key, value in values.items()]
    for name, own in sorted(through.filters.items()):
        rows.append(f"[filter {_value(name)}]")
        rows += [f"\t{key} = {_value(value)}" for key, value in own.items()]
    return "\n".join(rows) + "\n"


def _value(text: str) -> str:
    """A value in git's configuration syntax."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
