"""Whether what was pushed is on main: by the commit that the host names, or by what the base contains."""

import contextlib
from dataclasses import replace

from ...core.errors import GitFailed
from ...core.pulls.pull import PullRequest
from ...ports.git import Git

_LINE = 500
"""So many commits of the base are looked through, where no host tells what is merged."""
_SLACK = 2.0
"""So many seconds a commit that brings a request may seem older than it: git's times are whole seconds."""


def is_on_main(git: Git, commit: str) -> bool:
    """Whether main contains the commit, as far as main is known here."""
    return bool(commit) and git.has(commit) and git.contains(commit, git.main())


def with_base(git: Git, pull: PullRequest) -> PullRequest:
    """The merged request; where it was to be built anew, with what its head stands on as the base it was proven on."""
    if pull.base:
        return pull
    made = git.made(pull.merged_as)
    fork = git.fork(made.parents[0], pull.head) if made is not None and made.parents else None
    return replace(pull, base=fork or pull.head)


def brought_since(git: Git, base: str, head: str, merged: str) -> str:
    """After which commit main got what `base`..`head` brings, where people merged it as its commits, the last of which
    is `merged`; empty: it came by that commit alone.
    """
    made, count = git.made(merged), len(git.line(head, base))
    if made is None or len(made.parents) != 1 or count < 2:
        return ""
    line = git.line(merged, base if git.contains(base, merged) else None)[:count]
    if len(line) < count or not line[-1].parents:  # it came with what it stacked on, before what it was proven on
        return ""
    content, before = git.content(base, head), line[-1].parents[0]
    is_one = git.content(made.parents[0], merged) == content
    return "" if is_one or git.content(before, merged) != content else before


def in_base(git: Git, pull: PullRequest) -> str:
    """The commit by which the base got what was pushed, also squashed or rebased; empty: it did not."""
    main = git.main()
    since = pull.base if pull.base and git.has(pull.base) and git.contains(pull.base, main) else None
    if main == since:
        return ""
    line = git.line(main, since)[:_LINE]
    if git.contains(pull.head, main):
        return next((made.commit for made in reversed(line) if git.contains(pull.head, made.commit)), "")
    content = git.content(pull.base, pull.head) if since else ""
    for made in line:
        with contextlib.suppress(GitFailed):
            if made.trailer("Bead") == pull.bead and made.at >= pull.opened_at - _SLACK:
                return made.commit
            if content and made.parents and git.content(made.parents[0], made.commit) == content:
                return made.commit
    return ""
