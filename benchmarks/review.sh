#!/bin/sh
# The git work of reviewing BEADS beads one by one in a plain shell script: what a review is measured against.
# usage: review.sh REPOSITORY BEADS
#
# REPOSITORY/.floor holds each bead's private clone (ws-N) and the copy of its index (ws-N~index); its head is kept by
# refs/floor/incoming/N. What is done, and why just that: pipeline.sh, "land" and "clean up".
set -eu
repo=$1 beads=$2 work=$1/.floor
export GIT_AUTHOR_NAME=f GIT_AUTHOR_EMAIL=f@f.invalid GIT_COMMITTER_NAME=f GIT_COMMITTER_EMAIL=f@f.invalid

. "${0%/*}/floor.sh"

base=$(git -C "$repo" rev-parse refs/heads/main)
number=1
while [ "$number" -le "$beads" ]; do
    head=$(git -C "$repo" rev-parse "refs/floor/incoming/$number")
    land "$number" "$base" "$head"
    clean_up "$number" "$head"
    number=$((number + 1))
done
