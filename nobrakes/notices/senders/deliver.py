"""`python -m nobrakes.notices.senders.deliver`: send one message. 0: the channel took it.

1. What to send comes as JSON on stdin; nothing of it is in the arguments or the environment.
2. Whoever started it ends it when it takes too long; should that one be gone, an alarm of the system does.
3. A way that is another program takes this process's place, so its exit code is the answer.
"""

import json
import signal
import sys

from ...errors import NobrakesError
from .channels import WAYS

LONGEST_SECONDS = 330
"""After the longest time that a setting allows."""


def main() -> int:
    """Send what stdin says."""
    if hasattr(signal, "alarm"):
        signal.alarm(LONGEST_SECONDS)
    asked = json.loads(sys.stdin.buffer.read())
    channel = asked["channel"]
    try:
        WAYS[channel["type"]](channel, asked["secret"], asked["message"])
    except NobrakesError as error:
        sys.stderr.write(error.whole)
        return 1
    except OSError as error:
        sys.stderr.write(f"{error.strerror or type(error).__name__}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
