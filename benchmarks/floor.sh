# What the scripts that nobrakes is measured against have in common, for $repo with its $work; see pipeline.sh.

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

uncommitted() { # CLONE HEAD NUMBER: prints the ref to make, if something was not committed
    own=$1~own
    mkdir -p "$own/refs" "$own/objects"
    printf 'ref: refs/heads/none\n' >"$own/HEAD"
    printf '[core]\n\trepositoryformatversion = 0\n' >"$own/config"
    cp -p "$1~index" "$own/index"
    (
        cd "$1"
        export GIT_DIR="$own" GIT_WORK_TREE=. GIT_INDEX_FILE="$own/index" GIT_OBJECT_DIRECTORY="$repo/.git/objects"
        git add -A
        tree=$(git write-tree)
        [ "$tree" = "$(git rev-parse "$2^{tree}")" ] ||
            printf 'update refs/floor/wip/%s %s\n' "$3" "$(git commit-tree "$tree" -p "$2" -m "bead $3")"
    )
    rm -rf "$own"
}

land() { # NUMBER BASE HEAD
    main=$(git -C "$repo" rev-parse refs/heads/main)
    git -C "$repo" merge-base "$main" "$3" >/dev/null
    git -C "$repo" diff-tree -r -z --raw --no-renames "$2" "$3" >/dev/null
    validate "$3" "$1"
    tree=$(git -C "$repo" merge-tree --write-tree "$main" "$3")
    new=$(git -C "$repo" commit-tree "$tree" -p "$main" -m "bead $1")
    [ "$tree" = "$(git -C "$repo" rev-parse "$3^{tree}")" ] || validate "$new" "$1"
    git -C "$repo" update-ref refs/heads/main "$new" "$main"
}

clean_up() { # NUMBER HEAD
    ws=$work/ws-$1
    {
        uncommitted "$ws" "$2" "$1"
        printf 'update refs/floor/archive/%s %s\ndelete refs/floor/incoming/%s\n' "$1" "$2" "$1"
    } | git -C "$repo" update-ref --stdin
    rm -rf "$ws" "$ws~index"
}
