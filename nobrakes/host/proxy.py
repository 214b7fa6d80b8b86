"""Runs a command without network, except for a few hosts: `python -I -S host/proxy.py LOG HOSTS SERVES -- ARGV…`.

1. The sandbox's own network has no route. Its first program (sandbox.inside) opens a loopback socket there and passes
   it out through NOBRAKES_PROXY; its connections are served here.
2. HOSTS are comma-separated `name:port`. CONNECT and http:// requests to exactly these are served, others get 403.
   Names are resolved here only.
3. All of a name's addresses must be public, since its owner could name this machine, its network or its metadata
   service; others must be in HOSTS too, beside the name (e.g. `localhost`). The checked address is the one connected
   to.
4. Refusals are written to LOG, each once.
5. HTTPS_PROXY is used if set; that proxy then resolves names.
6. The exit code is the command's (128 + N for signal N); signals are passed on to it.
7. Standard library only: it outlives the daemon that started it.
8. SERVES is empty, or `PORT:FOLDER`: the command serves people at this port, and is killed when the folder is gone. In
   a network of its own, connections to this machine's loopback go through NOBRAKES_SERVES to the port inside. The
   sandbox gets a pipe for each, never the connection: a program could use that to reach this machine's network. A byte
   from inside means that the port took it; the first one is noted beside LOG, in the file ANSWERED.
"""

import base64
import contextlib
import ipaddress
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from urllib.parse import unquote, urlsplit

CHANNEL = "NOBRAKES_PROXY"
SERVES = "NOBRAKES_SERVES"
ANSWERED = "answered"
LOOK_SECONDS = 0.5
HEAD = 64 * 1024
BLOCK = 256 * 1024
SECONDS = 30.0
AT_ONCE = 256
MAX_HOSTS = 100
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\]")
_LOCAL = ("localhost", "127.0.0.1", "::1")
_CARRIES = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "::/96")))
"""Networks whose last four bytes are an IPv4 address, like `::ffff:0:0/96` and 6to4."""
_PROTOCOLS = ipaddress.ip_network("192.0.0.0/24")
_LOCAL_USE = ipaddress.ip_network("64:ff9b:1::/48")


class Refused(Exception):
    """The status and message to the client."""


class Proxy:
    """Takes the connections of one sandbox."""

    def __init__(self, log: str, hosts: "list[str]") -> None:
        self._log = log
        self._hosts = hosts
        self._refused: set[str] = set()
        self._lock = threading.Lock()
        self._slots = threading.Semaphore(AT_ONCE)

    def serve(self, channel: socket.socket) -> None:
        """Wait for the passed socket, and serve its connections forever."""
        with channel:
            _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
        if not descriptors:
            return  # the sandbox could not be made
        listener = socket.socket(fileno=descriptors[0])
        while True:
            self._slots.acquire()
            client, _ = listener.accept()
            threading.Thread(target=self._take, args=(client,), daemon=True).start()

    def _take(self, client: socket.socket) -> None:
        try:
            with client:
                client.settimeout(SECONDS)
                try:
                    host, port, greeting, first = self._asked(*_head(client))
                    server = _connected(host, port, self._hosts)
                except Refused as refusal:
                    status, text = refusal.args
                    body = f"{text}\n".encode()
                    kind = f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
                    client.sendall(f"HTTP/1.1 {status}\r\n{kind}".encode() + body)
                    return
                with server:
                    client.sendall(greeting)
                    server.sendall(first)
                    _pump(client, server)
        except OSError:
            pass  # one of the two has gone
        finally:
            self._slots.release()

    def _asked(self, head: bytes, rest: bytes) -> "tuple[str, int, bytes, bytes]":
        line, _, fields = head.partition(b"\r\n")
        try:
            method, target, version = line.decode("ascii").split(" ")
            if method == "CONNECT":
                name, _, number = target.rpartition(":")
                path = ""
            else:
                url = urlsplit(target)
                if url.scheme != "http" or "@" in url.netloc:
                    raise ValueError(target)
                number = str(url.port or 80)
                name = url.netloc if url.port is None else url.netloc.rpartition(":")[0]
                path = target.partition("://")[2][len(url.netloc) :] or "/"
            if not _HOST.fullmatch(name) or not number.isdigit() or not 0 < int(number) < 65536:
                raise ValueError(target)
        except ValueError:
            raise Refused("400 Bad Request", "this is not a request to a proxy") from None
        place = f"{name.lower()}:{int(number)}"
        if place not in self._hosts:
            self._note(place)
            known = ", ".join(self._hosts) or "no host"
            why = f"nobrakes: this agent or check may not reach {place}, only {known}. A person can allow the host "
            raise Refused("403 Forbidden", why + "in sandbox.hosts of .nobrakes/config.toml.")
        host = name.lower().strip("[]")
        if method == "CONNECT":
            return host, int(number), b"HTTP/1.1 200 Connection established\r\n\r\n", rest
        kept = [field for field in fields.split(b"\r\n") if not re.match(rb"(?i)(proxy-[a-z]+|connection):", field)]
        start = f"{method} {path} {version}\r\n".encode()
        return host, int(number), b"", start + b"\r\n".join([*kept, b"Connection: close"]) + b"\r\n\r\n" + rest

    def _note(self, place: str) -> None:
        with self._lock:
            if place not in self._refused and len(self._refused) < MAX_HOSTS:
                self._refused.add(place)
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
                with contextlib.suppress(OSError), open(os.open(self._log, flags, 0o600), "w") as file:
                    file.write(f"{place}\n")


def _head(client: socket.socket) -> "tuple[bytes, bytes]":
    said = b""
    while b"\r\n\r\n" not in said:
        block = client.recv(HEAD)
        said += block
        if not block or len(said) > HEAD:
            raise Refused("400 Bad Request", "this is not a request to a proxy")
    head, _, rest = said.partition(b"\r\n\r\n")
    return head, rest


def is_public(address: str) -> bool:
    """Whether the address is globally routed, and carries no other kind."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, ipaddress.IPv6Address):
        if found.teredo is not None:
            return False
        inner = [one for one in (found.ipv4_mapped, found.sixtofour) if one is not None]
        if any(found in network for network in _CARRIES):
            inner.append(ipaddress.IPv4Address(int(found) & 0xFFFFFFFF))
        if found in _LOCAL_USE or found.is_site_local or not all(map(_is_global, inner)):
            return False
        if inner:
            return True
    return _is_global(found)


def _is_global(found: "ipaddress.IPv4Address | ipaddress.IPv6Address") -> bool:
    if found.version == 4 and found in _PROTOCOLS:
        return False
    return found.is_global and not (found.is_multicast or found.is_reserved or found.is_unspecified)


def _own_addresses(found: "list[str]") -> "set[str]":
    """Those that belong to this machine: only these can be bound."""
    own = set()
    for address in found:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as tried:
            tried.bind((address, 0))
            own.add(address)
    return own


def addresses(host: str, port: int, allowed: "list[str]") -> "list[str]":
    """A name's addresses, looked up once and validated, unless literal or in `allowed`. Raises Refused, OSError."""
    with contextlib.suppress(ValueError):
        return [str(ipaddress.ip_address(host))]
    if host == "localhost":
        return ["127.0.0.1", "::1"]
    found = list(dict.fromkeys(str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
    own = _own_addresses(found)
    inside = [
        address
        for address in found
        if (address in own or not is_public(address))
        and not {f"{address}:{port}", f"[{address}]:{port}"} & set(allowed)
    ]
    if inside:
        raise Refused(
            "403 Forbidden",
            f"nobrakes: {host} has the address {inside[0]}, which is not public. A person can allow "
            "the address in sandbox.hosts of .nobrakes/config.toml.",
        )
    return found


def _directly(host: str, port: int, allowed: "list[str]") -> socket.socket:
    """Connects only to validated addresses. Raises Refused, OSError."""
    failed: OSError = OSError("the name has no address")
    for address in addresses(host, port, allowed):
        try:
            return socket.create_connection((address, port), SECONDS)
        except OSError as error:
            failed = error
    raise failed


def _connected(host: str, port: int, allowed: "list[str]") -> socket.socket:
    """Connects through this machine's proxy, if any."""
    further = "" if host in _LOCAL else os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy") or ""
    try:
        if not further:
            return _directly(host, port, allowed)
        with contextlib.suppress(socket.gaierror):  # there names may be known to the proxy alone
            addresses(host, port, allowed)
        url = urlsplit(further if "://" in further else f"http://{further}")
        if url.scheme != "http" or not url.hostname:
            raise Refused("502 Bad Gateway", "HTTPS_PROXY of this machine is not an http:// address")
        server = socket.create_connection((url.hostname, url.port or 80), SECONDS)
        place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        asked = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n"
        if url.username is not None:
            word = base64.b64encode(f"{unquote(url.username)}:{unquote(url.password or '')}".encode()).decode()
            asked += f"Proxy-Authorization: Basic {word}\r\n"
        server.sendall(f"{asked}\r\n".encode())
        said = b""
        while not said.endswith(b"\r\n\r\n"):  # byte by byte: what follows belongs to the connection
            byte = server.recv(1)
            said += byte
            if not byte or len(said) > HEAD:
                raise Refused("502 Bad Gateway", "the proxy of this machine did not answer")
        if said.split(b" ", 2)[1:2] != [b"200"]:
            answer = said.split(b"\r\n", 1)[0].decode("ascii", "replace")
            raise Refused("502 Bad Gateway", f"the proxy of this machine answered: {answer}")
        return server
    except OSError as error:
        raise Refused("502 Bad Gateway", f"nobrakes cannot reach {host}:{port}: {error}") from None


def _pump(client: socket.socket, server: socket.socket) -> None:
    for one in (client, server):
        one.settimeout(None)
    other = {client: server, server: client}
    sockets = {one.fileno(): one for one in other}
    waits = select.poll()  # unlike select, it takes descriptors of any number
    for number in sockets:
        waits.register(number, select.POLLIN)
    while sockets:
        for number, _ in waits.poll():
            one = sockets[number]
            if block := one.recv(BLOCK):
                other[one].sendall(block)
            else:
                waits.unregister(number)
                del sockets[number]
                other[one].shutdown(socket.SHUT_WR)


def let_in(listener: socket.socket, channel: socket.socket, seen: str) -> None:
    """Bring the listener's connections to the sandbox, forever."""
    while True:
        client, _ = listener.accept()
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(channel, [b"."], [theirs.fileno()])
        threading.Thread(target=_carry, args=(client, ours, seen), daemon=True).start()


def _carry(client: socket.socket, ours: socket.socket, seen: str) -> None:
    with client, ours, contextlib.suppress(OSError):  # one of the two has gone
        if ours.recv(1):
            with open(seen, "a"):
                pass
            _pump(client, ours)


def run(log: str, hosts: "list[str]", serves: str, argv: "list[str]") -> int:
    """Run `argv` and serve its sandbox; returns its exit code."""
    here, there = socket.socketpair()
    inward, inside = socket.socketpair()
    port, _, folder = serves.partition(":")
    channels = {CHANNEL: there} if hosts else {}
    try:
        if port.isdigit() and int(port):
            listener = socket.create_server(("127.0.0.1", int(port)))
            threading.Thread(
                target=let_in, args=(listener, inward, os.path.join(os.path.dirname(log), ANSWERED)), daemon=True
            ).start()
            channels[SERVES] = inside
        os.environ.update({name: str(one.fileno()) for name, one in channels.items()})
        if SERVES in channels:
            os.environ[SERVES] += f":{port}"
        numbers = tuple(one.fileno() for one in channels.values())
        child = subprocess.Popen(argv, pass_fds=numbers, process_group=0 if folder else None)
    except OSError as error:
        print(f"{argv[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126
    for stop in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(stop, signal.SIG_IGN)  # after the start: the command must hear them
    there.close()
    inside.close()
    if hosts:
        threading.Thread(target=Proxy(log, hosts).serve, args=(here,), daemon=True).start()
    if folder:
        while child.poll() is None and os.path.isdir(folder):
            time.sleep(LOOK_SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)  # also what it started beside itself
    code = child.wait()
    return 128 - code if code < 0 else code


if __name__ == "__main__":
    _, log, hosts, serves, _, *argv = sys.argv
    sys.exit(run(log, [one for one in hosts.split(",") if one], serves, argv))
