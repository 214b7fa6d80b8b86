"""The real `glab` where it is installed; else a stand-in that asks over HTTP, and prints, as that was seen to do (1.53.0)."""

import os
import shutil
import sys
from pathlib import Path

_STAND_IN = """\
import argparse, os, ssl, sys, urllib.error, urllib.request

host, token = os.environ.get("GITLAB_HOST", "gitlab.com"), os.environ.get("GITLAB_TOKEN", "")
known = os.path.join(os.environ["HOME"], ".config", "glab-cli", "config.yml")


def fail(words):
    print(words, file=sys.stderr)
    sys.exit(1)


if sys.argv[1:] == ["--version"]:
    print("Current glab version: 1.53.0")
    sys.exit()
if sys.argv[1:3] == ["auth", "status"]:
    asked = sys.argv[4]
    if not os.path.exists(known) or asked not in open(known).read():
        fail(f"x {asked} has not been authenticated with glab. Run `glab auth login --hostname {asked}` to authenticate.")
    print(f"{asked}\\n  Logged in to {asked} as robot", file=sys.stderr)
    sys.exit()
parser = argparse.ArgumentParser()
parser.add_argument("command", choices=["api"])
parser.add_argument("path")
parser.add_argument("--method", default="GET")
parser.add_argument("--header", action="append", default=[])
parser.add_argument("--input")
parser.add_argument("--include", action="store_true", required=True)
given = parser.parse_args()
headers = {"User-Agent": "glab/1.53.0", **({"Private-Token": token} if token else {})}
headers |= {name: value.strip() for name, _, value in (one.partition(":") for one in given.header)}
body = None
if given.input is not None:
    assert given.input == "-"
    body = sys.stdin.buffer.read()
    headers.setdefault("Content-Type", "")
asked = urllib.request.Request(f"https://{host}/api/v4/{given.path}", body, headers, method=given.method)
try:
    answer = urllib.request.urlopen(asked, context=ssl.create_default_context(), timeout=60)
except urllib.error.HTTPError as error:
    answer = error
except OSError as error:
    fail(f"Get {asked.full_url}: dial tcp: {error}")
text, is_json = answer.read(), "json" in answer.headers.get("Content-Type", "")
print(f"HTTP/1.1 {answer.status} {answer.reason}")
for name, value in sorted(answer.headers.items()):
    print(f"{name}: {value}", end="\\r\\n")
print(end="\\r\\n", flush=True)
if answer.status >= 400 and is_json and text.startswith(b'{"message": ['):
    fail("json: cannot unmarshal array into Go struct field .Message of type string")
sys.stdout.buffer.write(text)
sys.stdout.flush()
if answer.status > 299:
    fail(f"glab: HTTP {answer.status}")
"""


def path_with_glab(folder: Path) -> str:
    """A PATH with a glab on it."""
    path = os.environ["PATH"]
    if shutil.which("glab"):
        return path
    made = folder / "programs" / "glab"
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text(f"#!{sys.executable} -IS\n{_STAND_IN}")
    made.chmod(0o755)
    return f"{made.parent}{os.pathsep}{path}"
