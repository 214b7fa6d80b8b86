"""Why main waits is read from what git and its remotes print, and each cause says what ends it."""

import pytest

from nobrakes.review.waits import WAITS, Cause, cause_of, first_words, next_look, why

PUSHED = "error: failed to push some refs to 'https://example.org/x.git'"
REJECTED = "!\tabc:refs/heads/main\t[remote rejected] (pre-receive hook declined)"

SAID = (
    ("remote: error: GH006: Protected branch update failed for refs/heads/main.", Cause.PROTECTED),
    ("remote: error: GH013: Repository rule violations found for refs/heads/main.", Cause.PROTECTED),
    ("remote: - Changes must be made through a pull request.", Cause.PROTECTED),
    ("remote: GitLab: You are not allowed to push code to protected branches on this project.", Cause.PROTECTED),
    ("remote: GL-HOOK-ERR: You are not allowed to push to main", Cause.PROTECTED),
    ("remote: TF402455: Pushes to this branch are not permitted; you must use a pull request.", Cause.PROTECTED),
    ("! [remote rejected] main -> main (prohibited by Gerrit: not permitted: update)", Cause.PROTECTED),
    ("remote: error: denying updates to a hidden ref", Cause.PROTECTED),
    ("remote: error: refusing to update checked out branch: refs/heads/main", Cause.PROTECTED),
    ("remote: error: GH013: x\nremote: - Commits must have verified signatures.", Cause.SIGNATURES),
    ("remote: error: GH001: Large files detected. You may want to try Git LFS", Cause.CONTENT),
    ("remote: error: GH013: x\nremote: - Push cannot contain secrets", Cause.CONTENT),
    ("remote: fatal: pack exceeds maximum allowed size (2.00 GiB)", Cause.CONTENT),
    ("remote: ticket number missing\n" + REJECTED, Cause.HOOK),
    ("! [remote rejected] main -> main (hook declined)", Cause.HOOK),
    ("fatal: ref updates aborted by hook", Cause.HOOK),
    ("fatal: Authentication failed for 'https://example.org/x.git/'", Cause.ACCESS),
    ("fatal: could not read Username for 'https://example.org': terminal prompts disabled", Cause.ACCESS),
    ("git@example.org: Permission denied (publickey).\nfatal: Could not read from remote repository.", Cause.ACCESS),
    ("remote: Permission to a/b.git denied to c.\nfatal: unable to access: error: 403", Cause.ACCESS),
    ("Host key verification failed.", Cause.ACCESS),
    ("ERROR: The key you are authenticating with has been marked as read only.", Cause.ACCESS),
    ("ERROR: Repository not found.\nfatal: Could not read from remote repository.", Cause.MISSING),
    ("fatal: '/nowhere.git' does not appear to be a git repository", Cause.MISSING),
    ("fatal: couldn't find remote ref refs/heads/main", Cause.MISSING),
    ("fatal: unable to access 'https://example.org/': Could not resolve host: example.org", Cause.SILENT),
    ("ssh: connect to host example.org port 22: Connection timed out", Cause.SILENT),
    ("fatal: the remote end hung up unexpectedly", Cause.SILENT),
    ("error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502", Cause.SILENT),
    (
        "remote: error: cannot lock ref 'refs/heads/main': Unable to create '/x/main.lock': File exists.",
        Cause.REMOTE_LOCK,
    ),
    ("remote: fatal: write error: No space left on device", Cause.REMOTE_DISK),
    ("error: cannot lock ref 'refs/heads/feature/x': 'refs/heads/feature' exists; cannot create", Cause.NAMES),
    ("! [remote rejected] feature/x -> feature/x (directory/file conflict)", Cause.NAMES),
    ("! [remote rejected] main -> main (shallow update not allowed)", Cause.SHALLOW),
    ("error: external filter 'git-crypt clean' failed 1\nfatal: a.secret: clean filter 'crypt' failed", Cause.FILTER),
    ("fatal: a.bin: smudge filter lfs failed", Cause.FILTER),
    ("fatal: Unable to create '/r/.git/index.lock': File exists.", Cause.LOCK),
    ("error: unable to create file src/a: Permission denied", Cause.UNWRITABLE),
    ("error: unable to write file src/a: No space left on device", Cause.DISK),
    ("remote: words that no row knows", Cause.UNKNOWN),
    ("", Cause.UNKNOWN),
)


@pytest.mark.parametrize(("said", "cause"), SAID)
def test_a_cause_is_read_from_what_is_printed(said: str, cause: Cause) -> None:
    assert cause_of(said) is cause
    assert cause_of(f"To example.org:x.git\n{said}\n{PUSHED}") is cause, "whatever git prints around it"


def test_of_what_git_prints_the_reason_is_shown() -> None:
    said = "remote: \nremote: error: GH006: Protected branch update failed.\nremote: error: Use a pull request.\n"
    assert (
        first_words(f"{said}{PUSHED}\n{REJECTED}\nTo x") == "GH006: Protected branch update failed. Use a pull request."
    )
    assert first_words(f"To x\n{PUSHED}\n{REJECTED}\nDone") == "pre-receive hook declined"
    assert first_words("remote: ═══════\nremote: \x1b[31mno\x1b[0m\n") == "[31mno [0m", (
        "no control character is passed on"
    )
    assert first_words("\n") == ""


def test_each_cause_says_what_ends_it_and_what_time_does() -> None:
    by_persons = {Cause.NONE, Cause.EDITS, Cause.UNTRACKED, Cause.UNDER_WAY, Cause.SESSION, Cause.BEHIND, Cause.LOCK}
    by_persons |= {Cause.OLD_LOCK, Cause.MAIN_RED, Cause.AHEAD, Cause.PARTED, Cause.BY_REQUEST, Cause.RACES}
    assert set(WAITS) == set(Cause)
    assert {cause for cause, row in WAITS.items() if not row.remedy} == by_persons, "these say it where they are seen"
    assert all("--force" not in row.remedy and "--hard" not in row.remedy for row in WAITS.values())
    asked_at_once = {cause for cause, row in WAITS.items() if not row.passes and not row.asked}
    assert {Cause.PROTECTED, Cause.HOOK, Cause.ACCESS, Cause.FILTER, Cause.UNKNOWN} <= asked_at_once
    assert "protect main" in why(Cause.PROTECTED, "origin/main did not take it: GH006: no.")


def test_what_does_not_pass_is_looked_at_less_and_less_often() -> None:
    assert [next_look(Cause.PROTECTED, lasts) for lasts in (0, 60, 300, 5000)] == [60, 60, 300, 900]
    assert next_look(Cause.EDITS, 5000) == 5, "a person at work does not wait for it"


def test_merging_by_requests_is_no_way_out_where_it_is_set() -> None:
    for cause in (Cause.PROTECTED, Cause.SIGNATURES, Cause.HOOK):
        said = why(cause, "origin did not take it: no.")
        assert "review.land pull_request" in said
        fitting = why(cause, "origin did not take it: no.", by_request=True)
        assert "review.land" not in fitting and said.startswith(fitting[:-1]) and fitting.endswith("."), fitting
