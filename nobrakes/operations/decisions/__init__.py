"""What a person decides on: one view of an escalation with all that is needed for it, and the ways to decide it."""
