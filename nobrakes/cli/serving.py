"""The servers, as commands: MCP, and the pages."""

from typing import Annotated

from typer import Option

from .output import Output, said, write


def mcp() -> Output:
    """The operations as an MCP server on stdin and stdout, until stdin ends. An MCP client starts it.

    Inside an attempt (NOBRAKES_TOKEN is set) it offers what `nobrakes agent …` does, for the attempt's own bead. In
    your own agent's session it reads the board and files drafts, and changes nothing else.

    Example: claude mcp add nobrakes -- nobrakes mcp
    """
    from ..mcp_server.server import serve

    serve()
    return said(None, "")


def web(
    open_browser: Annotated[bool, Option("--open", help="Open it in your browser.")] = False,
    port: Annotated[int | None, Option("--port", min=1, max=65535, help="The port; 7117, or a free one.")] = None,
    code: Annotated[bool, Option("--code", help="A new code for the server that runs, and its picture.")] = False,
    lan: Annotated[bool, Option("--lan", help="Let others in your network reach the login page.")] = False,
    host: Annotated[str, Option("--host", help="The name in the address; with --lan this machine's address.")] = "",
    tls_cert: Annotated[str, Option("--tls-cert", metavar="FILE", help="A certificate: then it is https.")] = "",
    tls_key: Annotated[str, Option("--tls-key", metavar="FILE", help="Its key.")] = "",
    token_file: Annotated[
        str, Option("--token-file", metavar="FILE", help="Write a token for scripts there, while it serves.")
    ] = "",
) -> Output:
    """The pages of all your repositories, in a browser or on a phone, until Ctrl-C. They do what the commands do.

    It listens on this machine alone. The link that it prints has a code, which is good once and for two minutes.

    Example: nobrakes web --open
    """
    from ..web import server

    options = server.Options(port, host, lan, open_browser, code, tls_cert, tls_key, token_file, path=_begin_at)
    server.serve(server.as_set(options), write, _picture)
    return said(None, "")


def _begin_at() -> str:
    """The page of the repository around the current folder, which is known from now on; else the first page."""
    from .. import paths
    from ..operations.machine_wide import registry

    found = paths.find()
    if found is None or registry.register_here(found.root):
        return "/"
    from ..web.opening import word_of

    word = word_of(found.root)
    return f"/r/{word}/" if word else "/"


def _picture(link: str) -> None:
    """The link as a picture that a phone reads, where a terminal shows it."""
    import sys

    if sys.stdout.isatty():
        import segno

        segno.make(link, error="l").terminal(compact=True)
