"""What a yes to sprints was given for: the brief, the checks and the caps, each as a digest. Pure.

Another brief, other checks or other caps are asked about again. A box that was ticked is no other brief.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from ..checks.contract import Check
from ..limits.caps import Caps
from .placing import unticked

BRIEF = "CLAUDE.md"
COPIES = (BRIEF, "AGENTS.md")
"""The brief, and the same for agents that read another name."""


def terms(brief: str, contract: Sequence[Check], caps: Caps) -> dict[str, str]:
    """The digests by name."""
    checks = json.dumps([asdict(check) for check in contract], sort_keys=True)
    return {
        "brief": _digest(unticked(brief).strip()),
        "checks": _digest(checks),
        "caps": _digest(json.dumps(asdict(caps), sort_keys=True)),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
