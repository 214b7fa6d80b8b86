#!/bin/sh
# The git work of BEADS no-op beads in a plain shell script: what the pipeline is measured against.
# usage: pipeline.sh REPOSITORY BEADS WORKERS
#
# Each worker takes the next number, makes a private clone, lets "the agent" commit a file in it, takes the commit
# in, and lands it: validate the branch in a fresh checkout, rebase, validate the rebased tree if it is another one,
# compare-and-swap main, archive the branch, remove the clone. Landings are one at a time, as a merge queue's are.
set -eu
repo=$1 beads=$2 workers=$3
work=$repo/.floor
export GIT_AUTHOR_NAME=f GIT_AUTHOR_EMAIL=f@f.invalid GIT_COMMITTER_NAME=f GIT_COMMITTER_EMAIL=f@f.invalid
mkdir -p "$work"
: >"$work/lock"
: >"$work/next"
: >"$work/counter"

clone() { # PATH COMMIT [BRANCH]
    mkdir -p "$1/.git/objects/info" "$1/.git/objects/pack" "$1/.git/refs/heads"
    printf '[core]\n\trepositoryformatversion = 0\n\tbare = false\n' >"$1/.git/config"
    printf '%s\n' "$repo/.git/objects" >"$1/.git/objects/info/alternates"
    if [ -n "${3:-}" ]; then
        printf 'ref: refs/heads/%s\n' "$3" >"$1/.git/HEAD"
        printf '%s\n' "$2" >"$1/.git/refs/heads/$3"
    else
        printf '%s\n' "$2" >"$1/.git/HEAD"
    fi
    (cd "$1" && git read-tree -m -u "$2")
}

validate() { # COMMIT NAME
    clone "$work/scratch-$2" "$1"
    (cd "$work/scratch-$2" && sh -c true)
    rm -rf "$work/scratch-$2"
}

bead() { # NUMBER
    base=$(git -C "$repo" rev-parse refs/heads/main)
    clone "$work/ws-$1" "$base" "bead-$1"
    (cd "$work/ws-$1" && echo "$1" >"file-$1" && git add -A && git commit -q -m "bead $1")
    head=$(cat "$work/ws-$1/.git/refs/heads/bead-$1")
    printf '%s\n--not\n%s\n' "$head" "$base" |
        GIT_ALTERNATE_OBJECT_DIRECTORIES="$work/ws-$1/.git/objects" \
            git -C "$repo" pack-objects --revs --stdout -q --window=0 --threads=1 |
        git -C "$repo" unpack-objects -q --strict
    git -C "$repo" update-ref "refs/floor/incoming/$1" "$head"
    (
        flock 9
        git -C "$repo" diff-tree -r -z --raw --no-renames "$base" "$head" >/dev/null
        validate "$head" "$1"
        main=$(git -C "$repo" rev-parse refs/heads/main)
        tree=$(git -C "$repo" merge-tree --write-tree "$main" "$head")
        new=$(git -C "$repo" commit-tree "$tree" -p "$main" -m "bead $1")
        git -C "$repo" update-ref "refs/floor/candidate/$1" "$new"
        [ "$tree" = "$(git -C "$repo" rev-parse "$head^{tree}")" ] || validate "$new" "$1"
        git -C "$repo" update-ref refs/heads/main "$new" "$main"
    ) 9<"$work/lock"
    printf 'update refs/floor/archive/%s %s\ndelete refs/floor/incoming/%s\ndelete refs/floor/candidate/%s\n' \
        "$1" "$head" "$1" "$1" | git -C "$repo" update-ref --stdin
    rm -rf "$work/ws-$1"
}

worker() {
    while :; do
        number=$(
            exec 8<"$work/counter"
            flock 8
            echo x >>"$work/next"
            wc -l <"$work/next"
        )
        [ "$number" -le "$beads" ] || break
        bead "$number"
    done
}

n=0
while [ "$n" -lt "$workers" ]; do
    worker &
    n=$((n + 1))
done
wait
