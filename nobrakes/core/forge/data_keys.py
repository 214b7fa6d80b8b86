"""What a feature keeps in its `data`: written by daemon.forge alone, and read by what decides about planning."""

SEEN = "seen"  # the last turn that was dealt with
HELD = "held"  # why its session begins no turn: an About
ASKED = "asked"  # the questions of nobrakes, by About
NUDGED = "nudged"  # how often in a row it was told to go on
WARNED = "warned"  # the `turn_at` for which a person was told of the expiry
TALK = "talk"  # {"stage", "round"}: where the agent's conversation began
CONTEXT = "context"  # how full that is
ALLOWED = "allowed_usd"  # what its Shaper may cost, where a person let it cost more
LEFT = "left"  # how much waited for its session when a person said: only look at it
TOLD = "told"  # the keys of what it was told by TellShaper
