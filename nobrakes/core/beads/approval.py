"""The word by which a person accepts what was asked for. Imports nothing, since agents ask all night."""

APPROVE = "approve"


def is_approval(resolution: str) -> bool:
    """Whether a person's decision accepts what was asked for."""
    return resolution == APPROVE or resolution.startswith(f"{APPROVE}: ")
