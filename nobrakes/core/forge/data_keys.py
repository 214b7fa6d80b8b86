"""What a feature keeps in its `data` (Store.note_feature), each key with its one writer's words, and what a turn notes.

The deciders of core.forge read them; daemon.forge, operations.shapers and operations.forging write them.
"""

# --- its Shaper's session --------------------------------------------------------------------------------------------
SEEN = "seen"  # the last turn that was dealt with
HELD = "held"  # why its session begins no turn: an About
ASKED = "asked"  # the questions of nobrakes, by About
NUDGED = "nudged"  # how often in a row it was told to go on
WARNED = "warned"  # the `turn_at` for which a person was told of the expiry
TALK = "talk"  # {STAGE, ROUND}: where the agent's conversation began
CONTEXT = "context"  # how full that is
ALLOWED = "allowed_usd"  # what its Shaper may cost, where a person let it cost more
LEFT = "left"  # how much waited for its session when it failed, expired, or a person said: only look
TOLD = "told"  # the turn after which it was told to go on last

# --- reviews of its plan ---------------------------------------------------------------------------------------------
REVISING = "revising"  # whether the Shaper works decisions into the plan; plan-ready takes it away
CLOSED_ROUND = "closed_round"  # the last round that was told as ended
REVIEWS_USD = "review_usd"  # what its reviews may cost, where a person raised it
FORGIVEN = "go_on_round"  # the round after which a person said: go on, although no reviewer came through
SIGN_OFF_ASKED = "sign_off_asked"  # the version of the plan of which a person was told that they may sign it off
SINCE = "rounds_since"  # the last round before the plan was opened anew: later ones are counted from 1 again
ENOUGH = "reviews_closed"  # a person said that no more rounds begin
SIGNED = "signed_off"  # a person's yes to a version (core.forge.rounds.SignOff); a plan that is changed needs another

# --- while it is built -----------------------------------------------------------------------------------------------
CHECKPOINT_ASKED = "checkpoint_asked"  # a person asked for a checkpoint
SUGGESTED = "suggested_upto"  # the last suggestion that was looked at
SCANNED = "scanned"  # by bead, the merge that was looked at
ROLLBACK = "rollback"  # {"by", "bead"}: who asked for its rollback, and the bead that does it

# --- in a turn's data, and in TALK -----------------------------------------------------------------------------------
STAGE, ROUND = "stage", "round"  # where the feature was when it began
