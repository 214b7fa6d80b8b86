# WORKERS workers that take the next number up to BEADS and do `bead NUMBER`, for $beads, $workers and the $work of a script.
: >"$work/lock"
: >"$work/next"
: >"$work/counter"

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
