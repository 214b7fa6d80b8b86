"""What `init` and `doctor` say of a person's git settings that mean something for the work of nobrakes."""

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from ...core.errors import NobrakesError
from ...git import lfs, person_settings
from ...git.filters import Filters
from ...git.location import Place
from ...git.objects import Objects
from ...git.signing import Signer, Signing
from ...git.workspaces import fill

if TYPE_CHECKING:
    from ...config.settings import Config


def told(root: str, config: "Config") -> Iterator[str]:
    """One text for each setting that nobrakes does not follow as the person's own git does, with what to type."""
    hooks = person_settings.hooks(root)
    if hooks is not None:
        yield (
            f"git runs your hooks {', '.join(hooks.names)} from {hooks.folder}, and nobrakes commits, merges and "
            "pushes without hooks: what they demand belongs into a check of .nobrakes/config.toml"
        )
    if person_settings.is_outside_the_cone(root):
        yield (
            "the sparse checkout leaves out .nobrakes: the settings are read from main, and git may remove the "
            "database there; keep it with: git sparse-checkout add .nobrakes"
        )
    for path, commit in fill.links(root):
        trouble = fill.why_not(path, commit, root)
        if trouble:
            yield f"checks and agents cannot have all of main: {trouble}"
    yield from signing(root, config)
    yield from _filters(root, config)


def signing(root: str, config: "Config") -> Iterator[str]:
    """Why the commits of nobrakes are not signed, where they should be."""
    trouble = Signer(Place(root, "HEAD"), Signing(config.git.sign, config.git.committer)).trouble
    if trouble:
        by_request = ""
        if config.review.land != "pull_request":
            by_request = ", or, where a remote demands signatures, let people merge: nobrakes config set review.land "
            by_request += "pull_request"
        yield (
            f"your commits are signed, and nobrakes cannot sign its own without asking you: {trouble}. "
            "`git config user.signingkey` names the key. One that asks for a passphrase needs an agent that holds it"
            f"{by_request}"
        )


def _filters(root: str, config: "Config") -> Iterator[str]:
    place = Place(root, "HEAD")
    with closing(Objects(place)) as objects:
        filters = Filters(place, objects)
        try:
            head = place.head()
        except NobrakesError:
            return  # nothing is committed, so nothing is under a filter
        if not filters.names(head):
            return
        paths = place.run(["ls-tree", "-r", "-z", "--name-only", head]).records
        under = filters.under((head,), paths)
        for name, count in sorted(Counter(under.values()).items()):
            files = f"{count} file{'s' if count > 1 else ''}"
            if name == lfs.NAME:
                yield _lfs(filters, head, [path for path in under if under[path] == name], files)
            else:
                yield _filter(filters, name, files, config)


def _lfs(filters: Filters, head: str, paths: list[str], files: str) -> str:
    text = f"{files} of main are kept by Git LFS: agents and checks see their content"
    if not shutil.which("git-lfs"):
        text += "; git-lfs is not installed, so nothing is fetched from a remote or pushed to it"
    folder, entries = lfs.store(filters.place), (filters.objects.entry(head, path) for path in paths)
    pointers = [lfs.parse(filters.objects.content(one.id) or b"") for one in entries if one is not None]
    missing = sum(1 for one in pointers if one is not None and not lfs.has(folder, one))
    return text + (f"; of {missing} the content is not here: git lfs fetch" if missing else "")


def _filter(filters: Filters, name: str, files: str, config: "Config") -> str:
    text = f"git keeps {files} of main through the filter '{name}'"
    if not filters.configured(name, "clean"):
        return f"{text}, and your git settings have no filter.{name}.clean: no work may change them"
    if name not in config.git.filters:
        return f"{text}, which nobrakes does not run: no work may change them. nobrakes config set git.filters {name}"
    if name not in config.git.clear_text:
        return (
            f"{text}: it is run for new files, and agents and checks do not see the clear text of what is there. "
            f"nobrakes config set git.clear_text {name}"
        )
    return f"{text}: it is run, confined, for what agents make, and agents and checks see the clear text"
