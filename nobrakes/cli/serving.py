"""The servers, as commands: MCP, and the pages."""

from typing import Annotated

from typer import Argument, Option

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import one_line
from ..wording.times import spoken
from .output import Output, said, write
from .screen import table


def mcp(
    workspace: Annotated[bool, Option("--workspace", help="Your projects and coding tools, for a chat agent.")] = False,
    session: Annotated[str, Option("--session", help="With --workspace: the name of the chat agent's session.")] = "",
    http: Annotated[bool, Option("--http", help="With --workspace: by HTTP on this machine, until Ctrl-C.")] = False,
    port: Annotated[int | None, Option("--port", min=1, max=65535, help="With --http: the port; 7118.")] = None,
) -> Output:
    """The operations as an MCP server on stdin and stdout, until stdin ends. An MCP client starts it.

    Inside an attempt (NOBRAKES_TOKEN is set) it offers what `nobrakes agent …` does, for the attempt's own bead. In
    your own agent's session it reads the board and files drafts, and changes nothing else. With --workspace a chat
    agent works on your projects: you confirm one, once in a session, before any coding tool runs. A session has a name,
    so that it finds its project again. By --http each client has a token of its own: `nobrakes mcp client add NAME`.

    Example: claude mcp add nobrakes -- nobrakes mcp --workspace --session phone
    """
    if not workspace:
        if session or http or port is not None:
            raise UsageError(
                "--session, --http and --port go with --workspace", "nobrakes mcp --workspace --session NAME"
            )
        from ..mcp_server.server import serve

        serve()
        return said(None, "")
    if http:
        if session:
            raise UsageError("over HTTP each call names its session", "Leave --session out.")
        from ..mcp_server import over_http

        over_http.serve(port, write)
        return said(None, "")
    from ..mcp_server.server import serve_workspace
    from ..operations.projects.confirming import require_word
    from ..operations.projects.workspace import opened

    opened()  # what is wrong with it is said before a client waits
    serve_workspace(require_word(session or "chat"))
    return said(None, "")


def client(
    words: Annotated[
        list[str] | None, Argument(metavar="WORDS", help="`add NAME`, `revoke NAME`; nothing: list them.")
    ] = None,
) -> Output:
    """Who may reach your workspace by HTTP: each chat client has a name and a token, good for those tools alone.

    `add NAME` prints a new token, once. `revoke NAME` ends it at once, also for a client that is connected.

    Example: nobrakes mcp client add phone
    """
    from ..operations.projects import clients

    match words or []:
        case []:
            found = clients.listed()
            rows = [
                (one.name, spoken(one.made_at), _used(one.used_at), "revoked" if one.revoked_at else "")
                for one in found
            ]
            return Output(
                plain(found),
                lambda screen: table(("CLIENT", "MADE", "USED", "TOKEN"), rows, screen) or "no client has a token",
            )
        case ["add", name]:
            token = clients.add(name)
            return said({"client": name, "token": token}, f"the token of {one_line(name)}, shown this once:\n{token}")
        case ["revoke", name]:
            clients.revoke(name)
            return said({"client": name}, f"the token of {one_line(name)} is good for nothing any more")
        case other:
            given = one_line(" ".join(other))[:40]
            raise UsageError(
                f"'{given}' is nothing that mcp client can do", "For example: nobrakes mcp client add phone"
            )


def _used(at: float | None) -> str:
    return "never" if at is None else spoken(at)


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
