"""A command that runs against nobrakes' own scripted model, in a network of its own.

Run as a program with a spec (JSON: scripts, argv, env, cwd, stdin, stdout, stderr, log, seconds, own_network) it serves
nobrakes.loopback, runs argv with `{port}` in env filled in, and exits with the command's code. `log` gets each main
request.
"""

import json
import socket
import struct
import subprocess
import sys

from nobrakes.loopback import Scripts, serve


def _loopback_up() -> None:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        up_and_running = 0x1 | 0x40
        fcntl.ioctl(sock, 0x8914, struct.pack("16sh14x", b"lo", up_and_running))  # SIOCSIFFLAGS


def main(path: str) -> int:
    """Serve and run what the spec says."""
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    if spec["own_network"]:
        _loopback_up()
    scripts = Scripts(spec["scripts"])
    port = serve(scripts, spec.get("port", 0)).server_port
    env = {key: value.replace("{port}", str(port)) for key, value in spec["env"].items()}
    with open(spec["stdin"], "rb") as stdin, open(spec["stdout"], "wb") as out, open(spec["stderr"], "wb") as err:
        code = subprocess.run(
            spec["argv"], env=env, cwd=spec["cwd"], stdin=stdin, stdout=out, stderr=err, timeout=spec["seconds"]
        ).returncode
    with open(spec["log"], "w", encoding="utf-8") as file:
        json.dump(scripts.requests, file)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
