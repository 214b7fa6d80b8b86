"""No sandbox: the agent may do whatever the human's account may do. Said loudly, wherever agents are started."""


def describe() -> str:
    """The warning that run, daemon and doctor show once."""
    return (
        "agents run without a sandbox: they can read and write everything that your account can, also outside of "
        "their workspace. The Reviewer still checks whatever they hand in; for the rest, use an account, a container "
        "or a virtual machine of their own."
    )
