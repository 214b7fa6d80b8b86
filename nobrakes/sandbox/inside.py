"""The first program inside a sandbox: it sets the limits, restores signals, and becomes the wanted program.

If somebody outside serves it (host.proxy), it opens the way there on the sandbox's loopback and says so. If it serves
people itself, it leaves a process that connects them with its port.

Run by path with `python -I -S`: standard library only, no import of nobrakes, and nothing slow, as it precedes every
command of a run (`signal` alone would double its time).
"""

import _signal  # type: ignore[import-not-found]
import os
import resource
import sys

LIMITS = {
    "data": resource.RLIMIT_DATA,
    "nproc": resource.RLIMIT_NPROC,
    "fsize": resource.RLIMIT_FSIZE,
    "nofile": resource.RLIMIT_NOFILE,
    "cpu": resource.RLIMIT_CPU,
}


def limit(word: str) -> None:
    """Set one `name=number`; 0 leaves it. Never raises a limit."""
    name, _, number = word.partition("=")
    kind, wanted = LIMITS[name], int(number)
    if wanted:
        _, hard = resource.getrlimit(kind)
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))


def open_way(channel: int) -> None:
    """Pass a listening socket through the channel, and set it as the proxy."""
    import socket

    with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
        with socket.socket(fileno=channel) as out:
            socket.send_fds(out, [b"."], [listener.fileno()])
        proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        os.environ[name] = os.environ[name.lower()] = proxy
    os.environ["NODE_USE_ENV_PROXY"] = "1"


def let_in(channel: int, port: int) -> None:
    """Leave a process that connects each pipe from the channel with this port of the sandbox."""
    if os.fork():
        os.close(channel)
        return
    import contextlib
    import socket
    import threading

    def copy(one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while block := one.recv(65536):
                other.sendall(block)
            other.shutdown(socket.SHUT_WR)

    def carry(pipe: socket.socket) -> None:
        with pipe:
            for host in ("127.0.0.1", "::1"):
                with contextlib.suppress(OSError), socket.create_connection((host, port)) as server:
                    pipe.sendall(b"+")
                    back = threading.Thread(target=copy, args=(server, pipe), daemon=True)
                    back.start()
                    copy(pipe, server)
                    back.join()
                    return

    with socket.socket(fileno=channel) as come:
        while (found := socket.recv_fds(come, 1, 1))[0]:
            threading.Thread(target=carry, args=(socket.socket(fileno=found[1][0]),), daemon=True).start()
    os._exit(0)


def main(words: "list[str]") -> int:
    """Limits, `--`, then the command; returns only if it cannot start."""
    split = words.index("--")
    channel = os.environ.pop("NOBRAKES_PROXY", "")
    if channel:
        open_way(int(channel))
    serves = os.environ.pop("NOBRAKES_SERVES", "")
    if serves:
        let_in(*map(int, serves.split(":")))
    for word in words[:split]:
        limit(word)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
    command = words[split + 1 :]
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
