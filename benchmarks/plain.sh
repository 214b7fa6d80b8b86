#!/bin/sh
# What somebody would write who had an evening: BEADS no-op beads, each in a clone of its own and in bubblewrap.
# usage: plain.sh REPOSITORY BEADS WORKERS [SLEEP]
#
# The fewest git commands that reach the same refs (main, and an archive ref for each bead): clone, add and commit by the
# agent, pull --rebase, push. One check for each bead, on top of main, in the clone itself, under one lock. Agent and
# check each run in a sandbox. No events, journals, prompts, logs, supervision, evidence; nothing survives a kill.
set -eu
repo=$1 beads=$2 workers=$3 sleep=${4:-0}
work=$repo/.plain
export GIT_AUTHOR_NAME=f GIT_AUTHOR_EMAIL=f@f.invalid GIT_COMMITTER_NAME=f GIT_COMMITTER_EMAIL=f@f.invalid
mkdir -p "$work"

inside() { # CLONE COMMAND
    bwrap --unshare-all --die-with-parent --ro-bind / / --dev /dev --proc /proc --ro-bind "$repo" "$repo" \
        --bind "$1" "$1" --chdir "$1" sh -c "$2"
}

bead() { # NUMBER
    ws=$work/ws-$1
    git clone -q --shared --branch main "$repo" "$ws"
    inside "$ws" "sleep $sleep && echo $1 >file-$1 && git add -A && git commit -q -m 'bead $1'"
    (
        flock 9
        git -C "$ws" pull -q --rebase
        inside "$ws" true
        git -C "$ws" push -q origin HEAD:main "HEAD:refs/plain/archive/$1"
    ) 9<"$work/lock"
    rm -rf "$ws"
}

. "${0%/*}/workers.sh"
