"""The MCP server, as a command."""

from .output import Output, said


def mcp() -> Output:
    """The operations as an MCP server on stdin and stdout, until stdin ends. An MCP client starts it.

    Inside an attempt (NOBRAKES_TOKEN is set) it offers what `nobrakes agent …` does, for the attempt's own bead. In
    your own agent's session it reads the board and files drafts, and changes nothing else.

    Example: claude mcp add nobrakes -- nobrakes mcp
    """
    from ..mcp_server.server import serve

    serve()
    return said(None, "")
