#!/bin/sh
# The git work of BEADS no-op beads in a plain shell script: what the pipeline is measured against.
# usage: pipeline.sh REPOSITORY BEADS WORKERS
#
# WORKERS workers take the next number and do, for each bead, the git work that nobrakes does for it, no more:
#   clone      main's id; a private clone by hand (objects borrowed), its files by read-tree, a copy of its index
#   agent      one file written, git add, git commit
#   take in    pack-objects | unpack-objects --strict into the repository, a ref that keeps the head
#   land       under one lock, as in a merge queue: what the branch changes (diff-tree), where it left main
#              (merge-base), a check in a fresh checkout of the branch, merge-tree, commit-tree, a check in a fresh
#              checkout of the result if its tree is another one, update-ref of main from the old commit to the new
#   clean up   what was not committed (git add -A and write-tree with an index and a git folder of our own), the
#              archive ref in place of the ref that kept the head, the clone removed
# nobrakes asks some of these of a process that goes on answering, or by reading objects and files; that is its own
# affair.
# Events, journals, prompts, logs and supervision have no counterpart here: they are what is paid for.
set -eu
repo=$1 beads=$2 workers=$3
work=$repo/.floor
export GIT_AUTHOR_NAME=f GIT_AUTHOR_EMAIL=f@f.invalid GIT_COMMITTER_NAME=f GIT_COMMITTER_EMAIL=f@f.invalid
mkdir -p "$work"

. "${0%/*}/floor.sh"

bead() { # NUMBER
    ws=$work/ws-$1
    base=$(git -C "$repo" rev-parse refs/heads/main)
    clone "$ws" "$base" "bead-$1"
    cp -p "$ws/.git/index" "$ws~index"
    (cd "$ws" && echo "$1" >"file-$1" && git add -A && git commit -q -m "bead $1")
    read -r head <"$ws/.git/refs/heads/bead-$1"
    printf '%s\n--not\n%s\n' "$head" "$base" |
        GIT_ALTERNATE_OBJECT_DIRECTORIES="$ws/.git/objects" \
            git -C "$repo" pack-objects --revs --stdout -q --window=0 --threads=1 |
        git -C "$repo" unpack-objects -q --strict
    git -C "$repo" update-ref "refs/floor/incoming/$1" "$head"
    (
        flock 9
        land "$1" "$base" "$head"
    ) 9<"$work/lock"
    clean_up "$1" "$head"
}

. "${0%/*}/workers.sh"
