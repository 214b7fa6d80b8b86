"""What a hostile agent tries in order to be too much: a row an attack on memory, time, disk, descriptors or patience.

Each must be bounded, told and over: its bead ends in one way or another, the daemon lives, and an honest bead lands after
it. Sizes are small, since the tests lower the limits (LIMITS): what counts is that there is one.
"""

LIMITS = "max_failures = 1\nmax_file_mb = 1\nmax_new_mb = 4\nmax_paths = 500\nmax_depth = 30"
"""Takes the place of `max_failures = 1` in config.toml."""

PUT = """python3 -S - <<"PY"
import hashlib, os, subprocess, zlib
def put(kind, body, size=None):
    whole = kind + b" %d\\0" % len(body) + body
    oid = hashlib.sha1(whole).hexdigest()
    os.makedirs(f".git/objects/{oid[:2]}", exist_ok=True)
    stored = whole if size is None else kind + b" %d\\0" % size + body
    open(f".git/objects/{oid[:2]}/{oid[2:]}", "wb").write(zlib.compress(stored, 1))
    return bytes.fromhex(oid)
def land(mode, oid, message="flood"):
    git = lambda *a: subprocess.check_output(["git", *a]).strip()
    rows = git("ls-tree", "HEAD").splitlines()
    rows.append(mode + b" " + {b"040000": b"tree"}.get(mode, b"blob") + b" " + oid.hex().encode() + b"\\tzz")
    top = subprocess.run(["git", "mktree", "--missing"], input=b"\\n".join(rows) + b"\\n", stdout=-1).stdout.strip()
    git("update-ref", "HEAD", git("commit-tree", "-p", "HEAD", "-m", message, top.decode()).decode())
"""
DEEP = '''python3 -S -c "import os
for i in range(3000): os.mkdir('d'); os.chdir('d')"'''
COMMIT = "git add -A; git commit -q -m flood"

FLOODS: dict[str, str] = {
    # objects
    "objects-nested": PUT
    + 't = put(b"tree", b"100644 x\\0" + put(b"blob", b"x"))\nfor _ in range(3000): t = put(b"tree", b"40000 d\\0" + t)\nland(b"040000", t)\nPY',
    "objects-without-end": PUT
    + 'b = put(b"blob", b"x")\nt = put(b"tree", b"".join(b"100644 f%d\\0" % n + b for n in range(10)))\nfor _ in range(9): t = put(b"tree", b"".join(b"40000 d%d\\0" % n + t for n in range(10)))\nland(b"040000", t)\nPY',
    "objects-wide": PUT
    + 'b = put(b"blob", b"x")\nland(b"040000", put(b"tree", b"".join(b"100644 f%06d\\0" % n + b for n in range(20000))))\nPY',
    "objects-that-swell": PUT + 'land(b"100644", put(b"blob", bytes(1000000), 10 ** 13))\nPY',
    "objects-of-zeros": PUT + 'land(b"100644", put(b"blob", bytes(60000000)))\nPY',
    "objects-in-heaps": PUT + 'for n in range(25000): put(b"blob", b"%d" % n)\nPY\nwork',
    "message-without-end": "work; head -c 3000000 /dev/zero | tr '\\0' m >m; git commit -q --amend -F m; rm m",
    "pack-of-garbage": "work; mkdir -p .git/objects/pack; head -c 100000 /dev/urandom >.git/objects/pack/pack-x.pack; head -c 100000 /dev/urandom >.git/objects/pack/pack-x.idx",
    "pack-corrupted": 'work; git repack -a -d -q; for f in .git/objects/pack/*.pack; do chmod u+w "$f"; printf garbage | dd of="$f" bs=1 seek=40 conv=notrunc 2>/dev/null; done',
    "pack-index-sparse": "work; mkdir -p .git/objects/pack; truncate -s 60M .git/objects/pack/pack-y.idx .git/objects/pack/pack-y.pack",
    "graph-of-garbage": "work; mkdir -p .git/objects/info; head -c 100000 /dev/urandom >.git/objects/info/commit-graph; head -c 100000 /dev/urandom >.git/objects/pack/multi-pack-index",
    # the git folder
    "branches-by-the-thousand": 'work; head=$(git rev-parse HEAD); i=0; { echo "# pack-refs with: peeled fully-peeled sorted"; while [ $i -lt 100000 ]; do echo "$head refs/heads/b$i"; i=$((i+1)); done; } >.git/packed-refs',
    "packed-refs-sparse": "work; truncate -s 60M .git/packed-refs",
    "branch-sparse": 'work; truncate -s 60M ".git/refs/heads/$NOBRAKES_BRANCH"',
    "index-sparse": "work; truncate -s 60M .git/index",
    "index-is-a-pipe": "work; rm .git/index; mkfifo .git/index",
    "head-is-a-pipe": "work; rm .git/HEAD; mkfifo .git/HEAD",
    "git-is-a-pipe": "work; mv .git moved; mkfifo .git",
    "git-is-a-loop": "work; mv .git moved; ln -s .git .git",
    "alternates-are-a-pipe": "work; rm .git/objects/info/alternates; mkfifo .git/objects/info/alternates",
    "settings-include-themselves": 'work; printf "[include]\\n\\tpath = config\\n\\tpath = pipe\\n" >>.git/config; mkfifo .git/pipe',
    "log-sparse": "work; truncate -s 60M .git/logs/HEAD",
    # the work tree
    "files-nested": f"work; {DEEP}",
    "files-committed-deep": f'd=src; for i in $(seq 60); do d=$d/d; done; mkdir -p "$d"; echo x >"$d/x"; {COMMIT}',
    "files-by-the-thousand": f"mkdir -p src; for i in $(seq 3000); do echo $i >src/$i; done; {COMMIT}",
    "files-left-by-the-thousand": "work; for i in $(seq 3000); do echo $i >$i; done",
    "file-giant": f"mkdir -p src; head -c 5000000 /dev/zero >src/zeros; {COMMIT}",
    "file-sparse": "work; truncate -s 60M sparse",
    "path-without-end": 'work; n=$(head -c 250 /dev/zero | tr "\\0" n); for i in $(seq 30); do mkdir "$n" && cd "$n" || break; done; echo x >x',
    "pipes-and-sockets": "mkfifo pipe; python3 -S -c \"import socket; socket.socket(socket.AF_UNIX).bind('s')\"; work",
    "links-in-a-circle": f"mkdir -p src; ln -s a src/b; ln -s b src/a; ln -s . src/here; ln -s self src/self; {COMMIT}",
    "link-to-zeros": f"mkdir -p src; ln -s /dev/zero src/zero; {COMMIT}",
    "folders-closed": "work; mkdir -p shut/inner; echo x >shut/inner/x; chmod 000 shut/inner shut",
    "names-that-hide": f'mkdir -p src; echo x >"$(printf "src/a\\nb")"; echo x >"$(printf "src/\\342\\200\\256c")"; echo x >"$(printf "src/\\377")"; {COMMIT}',
    "ignored-by-force": 'work; i=0; while [ $i -lt 20000 ]; do echo "**/a*b*c*d*e*$i*f*g"; i=$((i+1)); done >.gitignore',
    "written-all-the-time": "work; (while :; do echo x >>grows; done) & work",
    # what it says
    "output-without-end": "timeout 3 yes; work",
    "complaints-without-end": "timeout 3 yes >&2; work",
    "line-without-end": "head -c 50000000 /dev/zero | tr '\\0' x; work",
    "hand-off-sparse": 'work; truncate -s 60M "$NOBRAKES_HANDOFF"',
    # its door and its own folders
    "door-nested": f'work; cd "${{NOBRAKES_DOOR:-.}}/in" && {DEEP}',
    "door-flooded": 'work; cd "${NOBRAKES_DOOR:-.}/in" && for i in $(seq 3000); do echo "{}" >"$(printf %x $i)-1-$(printf %x $i).json"; done',
    "door-giant": 'work; cd "${NOBRAKES_DOOR:-.}/in" && truncate -s 60M 1-1-1.json && mkfifo 1-1-2.json; ln -s /dev/zero 1-1-3.json; mkdir 1-1-4.json',
    "run-folder-nested": f'work; cd "$(dirname "$NOBRAKES_HANDOFF")" && {DEEP}',
}
FEW = (
    "objects-nested",
    "objects-without-end",
    "file-giant",
    "files-nested",
    "door-nested",
    "door-flooded",
    "head-is-a-pipe",
)
