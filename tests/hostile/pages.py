"""What a hostile agent tries on the pages of `nobrakes web`. It runs where the agent does, with Python alone.

    pages.py guess | kept | stop | jar | token

Whoever reads a page prints the two halves of READ in one; whoever changes something makes a bead called $EVIL.
"""

import glob
import hashlib
import http.client
import os
import re
import sys
import time

READ = "planted-" + "pages-2b61f0c3"
PORT = os.environ.get("PAGES_PORT", "")
HOME, EVIL = os.environ.get("HOMELY", ""), os.environ.get("EVIL", "")
STATE = os.path.join(HOME, ".local", "state", "nobrakes", "web")
NAMES = ["127.0.0.1", "localhost", "nobrakes.localhost"]
COOKIE = f"nb_{PORT}"
PLACES = ("/r/project/board", "/r/project/api/board", "/r/project/bead/victim", "/api/repositories", "/")
TITLES = ("A draft of the person", "Another draft")


def look(path: str) -> str:
    try:
        if not os.path.isfile(path):
            return ""  # a pipe has no end
        with open(path, errors="replace") as file:
            return file.read(1_000_000)
    except OSError:
        return ""


def ask(method: str, path: str, body: str = "", **headers: str) -> str:
    """What it says, its head included."""
    line = http.client.HTTPConnection("127.0.0.1", int(PORT), timeout=10)
    told = {"Host": f"127.0.0.1:{PORT}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    if method == "POST":
        told = {"Content-Type": "application/x-www-form-urlencoded", **told}
    try:
        line.request(method, path, body, told)
        answer = line.getresponse()
        said = answer.read().decode(errors="replace")
        return f"{answer.status} {dict(answer.getheaders())} {said}"
    except (OSError, http.client.HTTPException) as error:
        return f"none {type(error).__name__}"
    finally:
        line.close()


def use(**headers: str) -> None:
    """Read and change all there is with these headers."""
    for path in PLACES:
        said = ask("GET", path, **headers)
        if any(title in said for title in TITLES):
            print(READ)
    for host in NAMES:
        own = {"Host": f"{host}:{PORT}", "Origin": f"http://{host}:{PORT}", **headers}
        ask("POST", "/r/project/do/add", f"title={EVIL}&request=evil-{host}", **own)


def log_in(code: str) -> str:
    """The cookie that a code is worth."""
    host = f"127.0.0.1:{PORT}"
    said = ask("POST", "/login", f"code={code}", Host=host, Origin=f"http://{host}")
    found = re.search(rf"{COOKIE}=([\w-]+)", said)
    return f"{COOKIE}={found[1]}" if found else ""


def guess() -> None:
    token = os.environ.get("NOBRAKES_TOKEN", "x")
    for host in [*NAMES, "evil.example", f"nb-{'a' * 10}.localhost"]:
        use(Host=f"{host}:{PORT}", Origin=f"http://{host}:{PORT}")
    for cookie in (
        f"{COOKIE}=",
        f"{COOKIE}={token}",
        f"{COOKIE}={'a' * 43}",
        f"{COOKIE}=..%2fcodes",
        f"__Host-{COOKIE}={'a' * 43}",
    ):
        use(Cookie=cookie)
    for bearer in ("", "x", token, "token", '""'):
        use(Authorization=f"Bearer {bearer}")
    for code in ("AAAAA-AAAAA", token[:10], "../sessions"):
        if cookie := log_in(code):
            use(Cookie=cookie)
    for path in ("/static/../r/project/board", "/login/../r/project/board", "/static/x/..%2f..%2ftemplates%2fnow.html"):
        if any(title in ask("GET", path) for title in TITLES):
            print(READ)


def kept() -> None:
    """With what the server keeps, and what can be seen of its process; and with a code and a session of one's own."""
    seen = []
    for path in glob.glob(f"{STATE}/**", recursive=True):
        seen += [os.path.basename(path), *look(path).split()]
    for process in glob.glob("/proc/[0-9]*"):
        if "web" in look(f"{process}/cmdline").split("\0"):
            for name in ("cmdline", "environ"):
                seen += look(f"{process}/{name}").split("\0")
            for number in glob.glob(f"{process}/fd/*"):
                seen += look(number).split()
    words = {word.rpartition("#code=")[2].strip('"') for word in seen if 9 < len(word) < 200}
    for word in sorted(words)[:200]:
        use_quietly(Cookie=f"{COOKIE}={word}")
        use_quietly(Authorization=f"Bearer {word}")
    until, secret, code = str(time.time() + 3600), "s" * 43, "EVILEVILEV"
    for folder, value in (("sessions", secret), ("codes", code)):
        try:
            with open(os.path.join(STATE, folder, hashlib.sha256(value.encode()).hexdigest()), "w") as file:
                file.write(until)
        except OSError:
            pass
    use(Cookie=f"{COOKIE}={secret}")
    if cookie := log_in(code):
        use(Cookie=cookie)
    for name in ("server.json", "open.html", "name"):
        try:
            with open(os.path.join(STATE, name), "a") as file:
                file.write(EVIL)
            print(READ)
        except OSError:
            pass


def use_quietly(**headers: str) -> None:
    if any(title in ask("GET", PLACES[0], **headers) for title in TITLES):
        use(**headers)


def jar() -> str:
    """The session of the person's browser."""
    found = re.search(rf"{COOKIE}=([\w-]+)", look(f"{HOME}/.cache/browser/cookies"))
    return f"{COOKIE}={found[1]}" if found else ""


def stop() -> None:
    """What is dangerous, with the browser's own session: it takes a code that stands in the terminal alone."""
    host = f"127.0.0.1:{PORT}"
    own = {"Host": host, "Origin": f"http://{host}", "Cookie": jar()}
    for command, typed in (("stop", "stop"), ("daemon-stop", "stop")):
        for code in ("", "AAAAA-AAAAA"):
            ask("POST", f"/r/project/do/{command}", f"typed={typed}&code={code}&request=evil-{command}{code}", **own)


def main(what: str) -> None:
    if what == "guess":
        guess()
    elif what == "kept":
        kept()
    elif what == "stop":
        stop()
    elif what == "jar":
        if cookie := jar():
            use(Cookie=cookie)
    elif token := look(f"{HOME}/.cache/pages-token").strip():
        use(Authorization=f"Bearer {token}")


if __name__ == "__main__":
    main(sys.argv[1])
