"""Above one repository: `notify`, `repositories`, `machine`, secrets, and the servers of MCP and of the pages."""

import sys
from typing import TYPE_CHECKING, Annotated

from ..command_table import Field
from ..errors import ChannelFailed, NotAllowed, UsageError
from ..text.cleaning import age, count, cut, one_line, pad, spoken
from .outcome import Output, looked_at, opened, said, write
from .screen import Screen, table
from .views import machine_lines

if TYPE_CHECKING:
    from ..machine.registry import MachineView
    from ..notices.model import Delivery
    from ..notices.service import ChannelView, NotifyView


LISTED = 12


def test(
    channel: Annotated[str | None, Field("One channel (default: all).", metavar="CHANNEL")] = None,
) -> Output:
    """Send a test notice through each channel now. The command fails if a channel does not accept the notice."""
    from ..notices import service as notices_service

    with opened() as app:
        found = notices_service.try_out(app.config.notify, app.paths, channel, app.store.now())
    failed = [one.channel for one in found if one.error]

    def text(screen: Screen) -> str:
        rows = [f"{one.channel}: {one_line(one.error) if one.error else 'accepted the notice'}" for one in found]
        return "\n".join(screen.paint(row, "red") if one.error else row for one, row in zip(found, rows, strict=True))

    data = {"channels": [{"channel": one.channel, "sent": not one.error, "error": one.error} for one in found]}
    wrong = ChannelFailed(f"{count(len(failed), 'channel')} rejected the test notice: {', '.join(failed)}")
    return Output(data, text, wrong if failed else None)


def show() -> Output:
    """List the channels, each with its waiting notices, the notice sent last, and failed notices."""
    from ..notices import service as notices_service

    with looked_at() as app:
        found = notices_service.view(app.store, app.config.notify)
    return Output(found, lambda screen: "\n".join(_page(found, screen)))


def _page(found: "NotifyView", screen: Screen) -> list[str]:
    if not found.channels:
        return ["no channel is configured: add a table [notify.channels.NAME] to .nobrakes/config.toml"]
    lines = [line for channel in found.channels for line in _channel(channel, found.now, screen)]
    if found.deliveries:
        lines += ["", screen.paint("notices, the newest first", "bold")]
        lines += [cut(_row(one, found.now), screen.width) for one in found.deliveries[:LISTED]]
    return lines


def _channel(one: "ChannelView", now: float, screen: Screen) -> list[str]:
    takes = "everything" if "*" in one.kinds else ", ".join(one.kinds)
    least = "" if one.severity == "info" else f", from {one.severity} on"
    lines = [f"{screen.paint(one.name, 'bold')} ({one.type}): {takes}{least}"]
    if one.trouble:
        lines.append(screen.paint(f"  the channel does not work: {one_line(one.trouble)}", "red"))
    if one.waiting:
        when = f", the next try in {age(one.next_at - now)}" if one.next_at is not None and one.next_at > now else ""
        lines.append(f"  {count(one.waiting, 'message')} waiting{when}")
    if one.last is not None:
        error = f": {one_line(one.last.error)}" if one.last.error else ""
        lines.append(f"  last: {one.last.state.value} {age(now - (one.last.ended_at or now))} ago{error}")
    return lines


def _row(one: "Delivery", now: float) -> str:
    when = f"in {age(one.due_at - now)}" if one.ended_at is None and one.due_at > now else "now"
    if one.ended_at is not None:
        when = f"{age(now - one.ended_at)} ago"
    tries = f", {count(one.tries, 'try', 'tries')}" if one.tries > 1 else ""
    error = f" ({one_line(one.error)})" if one.error and one.state.value != "sent" else ""
    return f"{pad(one.channel, 12)} {pad(one.state.value, 9)} {pad(when, 10)} {one_line(one.notice.text)}{tries}{error}"


def secret(name: Annotated[str, Field("The `secret` of a channel in config.toml.", metavar="NAME")]) -> Output:
    """Store a channel's address or token, from stdin or typed invisibly, in a private file in your settings
    folder, outside every repository."""
    from ..config.user import keep

    path = keep(name, _asked(name))
    return said({"name": name, "path": path}, f"the secret {one_line(name)} is stored in {path}")


def _asked(name: str) -> str:
    if not sys.stdin.isatty():
        return sys.stdin.read(100_000)
    from getpass import getpass

    try:
        return getpass(f"the secret {one_line(name)}: ")
    except EOFError:
        raise NotAllowed("no secret was given", "Type the secret, or pass it on stdin.") from None


NOT_KNOWN = "a repository no longer listed"


def machine(
    words: Annotated[
        list[str] | None, Field("`set agents=3 usd_per_day=20` (default: show the limits).", metavar="WORDS")
    ] = None,
) -> Output:
    """Show the limits that all repositories on this machine share, and how much each repository uses. `set NAME=VALUE
    …` changes them in your own settings: agents (at the same time), usd_per_day, tokens_per_day. The value `default`
    removes a limit. Days begin at 00:00 UTC. Without them, only each repository's own limits apply.

    `set session_roots=FOLDER,FOLDER` names the folders of your repositories. The pages can start sessions in them, also
    where nobrakes is not set up.
    """
    from ..machine import registry

    match words or []:
        case []:
            found = registry.view()
        case ["set", *pairs] if pairs:
            found = registry.set_limits(dict(_pair(word) for word in pairs))
        case other:
            given = one_line(" ".join(other))[:40]
            hint = "For example: nobrakes machine set agents=3 usd_per_day=20"
            raise UsageError(f"'{given}' is not an action of `nobrakes machine`", hint)
    return Output(found, lambda screen: _machine(found, screen))


def _pair(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign:
        raise UsageError(f"'{one_line(word)[:40]}' is not NAME=VALUE", "For example: nobrakes machine set agents=3")
    return name, value


def _machine(found: "MachineView", screen: Screen) -> str:
    limits = machine_lines(found, screen) or ["no limit is set for all repositories together"]
    rows = [(one.path or NOT_KNOWN, str(one.agents), f"{one.usd:.6g}", str(one.tokens)) for one in found.repositories]
    shares = ["", table(("REPOSITORY", "AGENTS", "USD TODAY", "TOKENS TODAY"), rows, screen)] if rows else []
    shares += [f"pages start sessions in {one_line(', '.join(found.session_roots))}"] if found.session_roots else []
    return "\n".join([*limits, *shares, f"the daily limits start again from zero at {spoken(found.day_ends_at)}"])


def repositories(
    words: Annotated[list[str] | None, Field("`forget PATH` (default: list them).", metavar="WORDS")] = None,
) -> Output:
    """List the repositories in which you use nobrakes, and what waits for you in each. `forget PATH` removes one from
    the list and changes nothing in it. It comes back when nobrakes works there again."""
    from ..machine import registry

    match words or []:
        case []:
            from ..decisions.service.all_blockers import for_you

            found = registry.repositories(for_you)
        case ["forget", path]:
            whole = registry.forget(path)
            return said({"path": whole}, f"{one_line(whole)} is no longer listed; its files are unchanged")
        case other:
            given = one_line(" ".join(other))[:40]
            hint = "For example: nobrakes repositories forget PATH"
            raise UsageError(f"'{given}' is not an action of `nobrakes repositories`", hint)

    def text(screen: Screen) -> str:
        rows = [
            (
                one.name if one.is_own else one.path,
                one.state,
                "?" if one.for_you is None else str(one.for_you),
                spoken(one.seen_at),
            )
            for one in found
        ]
        listed = table(("REPOSITORY", "STATE", "FOR YOU", "SEEN"), rows, screen)
        return listed or "no repository is known yet: run `nobrakes init` in a repository"

    return Output(found, text)


def mcp(
    workspace: Annotated[bool, Field("Serve your projects to a chat agent.", ("--workspace",))] = False,
    session: Annotated[str, Field("With --workspace: the name of the chat agent's session.", ("--session",))] = "",
    http: Annotated[bool, Field("With --workspace: serve HTTP on this machine, until Ctrl-C.", ("--http",))] = False,
    port: Annotated[
        int | None, Field("With --http: the port. Default 7118.", ("--port",), least=1, greatest=65535)
    ] = None,
) -> Output:
    """Serve the operations over MCP on stdin and stdout, until stdin ends. An MCP client starts it.

    Inside an attempt (NOBRAKES_TOKEN is set) it offers what `nobrakes agent …` does, for the attempt's own bead. In
    your own agent's session it reads the Board and files drafts, and changes nothing else.

    With --workspace a chat agent works on your projects: you confirm one, once in a session, before any coding tool
    runs. A session has a name, so that it finds its project again. For --http: `nobrakes mcp client add NAME`."""
    if not workspace:
        if session or http or port is not None:
            raise UsageError("--session, --http and --port need --workspace", "nobrakes mcp --workspace --session NAME")
        from ..mcp_server import serve

        serve()
        return said(None, "")
    if http:
        if session:
            raise UsageError("--http and --session cannot be combined", "Leave --session out: each call names one.")
        from .. import mcp_server

        mcp_server.serve_http(port, write)
        return said(None, "")
    from ..mcp_server import serve_workspace
    from ..projects.service.projects_folder import opened as projects_opened
    from ..projects.service.projects_folder import require_word

    projects_opened()  # what is wrong with it is said before a client waits
    serve_workspace(require_word(session or "chat"))
    return said(None, "")


def client(
    words: Annotated[
        list[str] | None, Field("`add NAME` or `revoke NAME` (default: list them).", metavar="WORDS")
    ] = None,
) -> Output:
    """List the chat clients that can reach your projects by HTTP. Each has a name, and a token for those tools only.
    `add NAME` prints a new token, once. `revoke NAME` ends it immediately, also for a connected client."""
    from ..projects.service import coding

    match words or []:
        case []:
            found = coding.clients_listed()
            rows = [
                (
                    one.name,
                    spoken(one.made_at),
                    spoken(one.used_at) if one.used_at else "never",
                    "revoked" if one.revoked_at else "",
                )
                for one in found
            ]
            return Output(
                found,
                lambda screen: table(("CLIENT", "MADE", "USED", "TOKEN"), rows, screen) or "no client has a token",
            )
        case ["add", name]:
            token = coding.add(name)
            return said({"client": name, "token": token}, f"the token of {one_line(name)}, shown only now:\n{token}")
        case ["revoke", name]:
            coding.revoke(name)
            return said({"client": name}, f"the token of {one_line(name)} is revoked")
        case other:
            given = one_line(" ".join(other))[:40]
            raise UsageError(
                f"'{given}' is not an action of `nobrakes mcp client`", "For example: nobrakes mcp client add phone"
            )


def web(
    open_browser: Annotated[bool, Field("Open the web interface in your browser.", ("--open",))] = False,
    port: Annotated[
        int | None, Field("The port (default: 7117, or a free port).", ("--port",), least=1, greatest=65535)
    ] = None,
    code: Annotated[bool, Field("Print a new code and QR code for the running server.", ("--code",))] = False,
    lan: Annotated[bool, Field("Let other machines in your network reach the login page.", ("--lan",))] = False,
    host: Annotated[str, Field("The host name in the address; with --lan this machine's address.", ("--host",))] = "",
    tls_cert: Annotated[str, Field("A TLS certificate, to serve over https.", ("--tls-cert",), metavar="FILE")] = "",
    tls_key: Annotated[str, Field("A file with the key of the certificate.", ("--tls-key",), metavar="FILE")] = "",
    token_file: Annotated[
        str, Field("Write a token for scripts to this file while the server runs.", ("--token-file",), metavar="FILE")
    ] = "",
) -> Output:
    """Open the web pages of all your repositories, in a browser or on a phone. It runs until Ctrl-C. The pages do what
    the commands do. Only this machine can connect. The printed link works once, for two minutes."""
    from ..web import server

    options = server.Options(port, host, lan, open_browser, code, tls_cert, tls_key, token_file, path=_begin_at)
    server.serve(server.as_set(options), write, _picture)
    return said(None, "")


def _begin_at() -> str:
    """The page of the current repository, which it registers; else the first page."""
    from .. import paths
    from ..machine import registry

    if (found := paths.find()) is None or registry.register_here(found.root):
        return "/"
    from ..machine.web_state import word_of

    word = word_of(found.root)
    return f"/r/{word}/" if word else "/"


def _picture(link: str) -> None:
    if sys.stdout.isatty():
        import segno

        segno.make(link, error="l").terminal(compact=True)
