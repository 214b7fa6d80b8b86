"""Whether what was pushed is on main: by the commit that the host names, or by what the base contains."""

import contextlib

from ...core.errors import GitFailed
from ...core.pulls.pull import PullRequest
from ...ports import Git

_LINE = 500
"""So many commits of the base are looked through, where no host tells what is merged."""
_SLACK = 2.0
"""So many seconds a commit that brings a request may seem older than it: git's times are whole seconds."""


def is_on_main(git: Git, commit: str) -> bool:
    """Whether main contains the commit, as far as main is known here."""
    return bool(commit) and git.has(commit) and git.contains(commit, git.main())


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
