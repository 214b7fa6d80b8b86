"""Two tracks of progress that know nothing of each other: what an agent claims, and what it has committed.

1. Commits are a fact, steps are a claim; nothing is decided by the claim.
2. A claim that runs more than AHEAD steps before the commits is doubted: work that is not committed is lost work.

Imports nothing, since agents claim all night.
"""

AHEAD = 2
MOST_STEPS = 1000
WORK_TYPES = ("implementation", "testing", "refactoring")
"""What an agent may say that it is at."""


def doubt(step: "int | None", commits: "int | None") -> str:
    """What speaks against the claim; empty where nothing does, or where nobody can count."""
    if step is None or commits is None or step - commits <= AHEAD:
        return ""
    plural = "commit" if commits == 1 else "commits"
    return f"it claims step {step} with {commits} {plural}: what is not committed does not count"
