"""Why main waits is read from what git and its remotes print, and each cause says what ends it."""

from pathlib import Path

import pytest

from nobrakes.review.waits import WAITS, Cause, Land, Landing, cause_of, first_words, next_look, why
from tests.support.tables import failing

PUSHED = "error: failed to push some refs to 'https://example.org/x.git'"
REJECTED = "!\tabc:refs/heads/main\t[remote rejected] (pre-receive hook declined)"

SAID = (
    (
        "remote: error: GH006: Protected branch update failed.\nremote: error: Commits must have valid signatures.",
        Cause.SIGNATURES,
    ),
    (
        "remote: Gitea: Branch main requires signed commits\n ! [remote rejected] main -> main (pre-receive hook declined)",
        Cause.SIGNATURES,
    ),
    ("remote: error: GH013: x\nremote: - Commit message must match a given regex pattern: ^PROJ-", Cause.CONTENT),
    (
        "remote: error: GH013: x\nremote: - Commit author email must match a given regex pattern: @corp.example",
        Cause.CONTENT,
    ),
    (
        "remote: error: GH013: x\nremote: - File path restrictions: changes to .github/workflows are restricted",
        Cause.CONTENT,
    ),
    (
        "remote: error: File big.bin is 120.00 MB; this exceeds GitHub's file size limit of 100.00 MB\nremote: error: GH001: Large files detected.",
        Cause.CONTENT,
    ),
    (
        "remote: GitLab: Commit message does not follow the pattern '^JIRA'\n ! [remote rejected] main -> main (pre-receive hook declined)",
        Cause.CONTENT,
    ),
    (
        "remote: GitLab: File name id_rsa was prohibited by the pattern\n ! [remote rejected] main -> main (pre-receive hook declined)",
        Cause.CONTENT,
    ),
    (
        "remote: GitLab: Author 'a@b' is not a member of team\n ! [remote rejected] main -> main (pre-receive hook declined)",
        Cause.CONTENT,
    ),
    (
        "remote: GitLab: You cannot push commits for 'x@y'. You can only push commits if the committer email is one of your own verified emails.",
        Cause.CONTENT,
    ),
    ("remote: error: VS403654: The push was rejected because one or more files exceed the limit", Cause.CONTENT),
    ("remote: error: VS403656: The push was rejected because commit includes author email not matching", Cause.CONTENT),
    (
        " ! [remote rejected] main -> main (refusing to allow an OAuth App to create or update workflow `.github/workflows/ci.yml` without `workflow` scope)",
        Cause.ACCESS,
    ),
    (
        "remote: GitLab: You are not allowed to push code to this project.\nfatal: Could not read from remote repository.",
        Cause.ACCESS,
    ),
    ("remote: Gitea: User permission denied for writing.\nfatal: Could not read from remote repository.", Cause.ACCESS),
    (
        "ERROR: The 'o' organization has an IP allow list enabled, and your IP address is not permitted to access this resource.\nfatal: Could not read from remote repository.",
        Cause.ACCESS,
    ),
    ("remote: TF401027: You need the Git 'GenericContribute' permission to perform this action.", Cause.ACCESS),
    (
        "remote: GitLab: The project you were looking for could not be found or you don't have permission to view it.\nfatal: Could not read from remote repository.",
        Cause.ACCESS,
    ),
    ("remote: Gitea: branch main is protected from force push", Cause.PROTECTED),
    ("remote: Gitea: branch main is protected from changing file .github/x", Cause.PROTECTED),
    (
        "remote: Permission denied to update branch main.\nremote: You can only push to branch via pull request\n ! [remote rejected] main -> main (pre-receive hook declined)",
        Cause.PROTECTED,
    ),
    (
        "remote: error: branch is locked; this branch is read-only\n ! [remote rejected] main -> main (pre-receive hook declined)",
        Cause.PROTECTED,
    ),
    (
        "remote: An error occurred (AccessDenied): You don't have permission to push changes to this branch",
        Cause.PROTECTED,
    ),
    ("remote: error: cannot push to a mirror repository: it is a read only mirror", Cause.PROTECTED),
    ("remote: GitLab: 500: Internal\nremote: GitLab is not responding", Cause.SILENT),
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
    ("Host key verification failed.", Cause.TRUST),
    ("ERROR: The key you are authenticating with has been marked as read only.", Cause.ACCESS),
    ("ERROR: Repository not found.\nfatal: Could not read from remote repository.", Cause.MISSING),
    ("fatal: '/nowhere.git' does not appear to be a git repository", Cause.MISSING),
    ("fatal: couldn't find remote ref refs/heads/main", Cause.MISSING),
    ("fatal: unable to access 'https://example.org/': Could not resolve host: example.org", Cause.SILENT),
    ("ssh: connect to host example.org port 22: Connection timed out", Cause.SILENT),
    ("fatal: the remote end hung up unexpectedly", Cause.SILENT),
    ("fatal: unable to access 'https://h.org/certificate-manager.git/': Could not resolve host: h.org", Cause.SILENT),
    ("fatal: unable to access 'https://h.org/certificate.git/': error: 403", Cause.ACCESS),
    ("fatal: unable to access 'https://h.org/a/account-locked.git/': Could not resolve host: h.org", Cause.SILENT),
    ("fatal: unable to access 'https://h.org/git-lfs.git/': Could not resolve host: h.org", Cause.SILENT),
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
    # what a remote cannot store, for another reason than its space
    (
        "error: remote unpack failed: unpack-objects abnormal exit\n! [remote rejected] main (unpacker error)",
        Cause.REMOTE_FAULT,
    ),
    (
        "remote: error: insufficient permission for adding an object to repository database ./objects\n"
        "remote: fatal: failed to write object\nerror: remote unpack failed: unpack-objects abnormal exit\n"
        "! [remote rejected] main -> main (unpacker error)",
        Cause.REMOTE_FAULT,
    ),
    (
        "error: remote unpack failed: unable to create temporary object directory\n! [remote rejected] main (unpacker error)",
        Cause.REMOTE_FAULT,
    ),
    (
        "remote: error: cannot lock ref 'refs/heads/main': Unable to create '/x/main.lock': Permission denied",
        Cause.REMOTE_FAULT,
    ),
    (
        "remote: error: object 5a: zeroPaddedFilemode: contains zero-padded file modes\nremote: fatal: fsck error in packed object\n! [remote rejected] main (unpacker error)",
        Cause.CONTENT,
    ),
    (
        "remote: fatal: sha1 file '<stdout>' write error: Out of diskspace\n! [remote rejected] main (unpacker error)",
        Cause.REMOTE_DISK,
    ),
    (
        "remote: Your push has been rejected because this repository has exceeded its size limit of 10 GB",
        Cause.REMOTE_DISK,
    ),
    (
        "remote: GitLab: Your push to this repository would exceed the storage limit of 5 GiB\n" + REJECTED,
        Cause.REMOTE_DISK,
    ),
    (
        "batch response: This repository is over its data quota. Purchase more data packs to restore access.",
        Cause.REMOTE_DISK,
    ),
    ("batch response: This repository exceeded its LFS budget. The account should increase it.", Cause.REMOTE_DISK),
    # what time heals, whoever says it
    ("remote: Internal Server Error\n! [remote rejected] main -> main (Internal Server Error)", Cause.SILENT),
    ("remote: fatal error in commit_refs\n! [remote rejected] main -> main (failure)", Cause.SILENT),
    ("remote: GitLab: Internal API unreachable\n" + REJECTED, Cause.SILENT),
    ("fatal: remote error: GitLab is currently unable to handle this request due to load.", Cause.SILENT),
    ("fatal: unable to access 'https://x/': The requested URL returned error: 503", Cause.SILENT),
    ("remote: Too many requests. Try again later\nfatal: unable to access 'https://x/': error: 429", Cause.SILENT),
    ("! [remote rejected] main -> main (failed to update ref)", Cause.REMOTE_LOCK),
    (
        "remote: error: cannot lock ref 'refs/heads/main': is at 1a but expected 2b\n! [remote rejected] (failed to update ref)",
        Cause.REMOTE_LOCK,
    ),
    ("! [rejected]        main -> main (non-fast-forward)\nerror: failed to push some refs", Cause.RACES),
    ("! [rejected]        main -> main (fetch first)", Cause.RACES),
    ("! [rejected] main (stale info)", Cause.RACES),
    ("remote: error: denying non-fast-forward refs/heads/main (you should pull first)", Cause.RACES),
    # what this machine does not trust
    ("@@@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @@@\nHost key verification failed.", Cause.TRUST),
    ("fatal: unable to access 'https://x/': SSL certificate problem: self signed certificate", Cause.TRUST),
    (
        "fatal: unable to access 'https://x/': server certificate verification failed. CAfile: none CRLfile: none",
        Cause.TRUST,
    ),
    (
        "fatal: unable to access 'https://x/': SSL: no alternative certificate subject name matches target host name",
        Cause.TRUST,
    ),
    ("Unable to negotiate with 192.0.2.1 port 22: no matching host key type found. Their offer: ssh-rsa", Cause.TRUST),
    ("fatal: detected dubious ownership in repository at '/srv/x.git'", Cause.TRUST),
    # who is not let in
    ("Received disconnect from 192.0.2.1 port 22:2: Too many authentication failures", Cause.ACCESS),
    ("ERROR: The `acme` organization has enabled or enforced SAML SSO.", Cause.ACCESS),
    ("ERROR: You're using an RSA key with SHA-1, which is no longer allowed.", Cause.ACCESS),
    ("Bad owner or permissions on ~/.ssh/config", Cause.ACCESS),
    ("fatal: unable to access 'https://x/': Received HTTP code 407 from proxy after CONNECT", Cause.ACCESS),
    ("batch response: Authentication required: Authorization error: https://x/info/lfs/locks/verify", Cause.ACCESS),
    ("ERROR: This repository was archived so it is read-only.", Cause.PROTECTED),
    (
        "remote: This repository was archived so it is read-only.\nfatal: unable to access 'https://x/': error: 403",
        Cause.PROTECTED,
    ),
    # what is not there
    ("fatal: https://x/y.git/info/refs not valid: is this a git repository?", Cause.NOT_GIT),
    (
        "fatal: unable to update url base from redirection:\n  asked for: https://x\n   redirect: https://x/login",
        Cause.NOT_GIT,
    ),
    (
        "remote: GitLab: The project you were looking for could not be found or you don't have permission.",
        Cause.MISSING,
    ),
    ("fatal: No such remote 'origin'", Cause.MISSING),
    # what a commit holds
    (
        "remote: GitLab: You are attempting to check in one or more blobs which exceed the 100MiB limit\n" + REJECTED,
        Cause.CONTENT,
    ),
    ("error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413", Cause.CONTENT),
    ("remote: error: GH007: Your push would publish a private email address.", Cause.CONTENT),
    ("remote: error: GH008: Your push referenced at least 1 unknown Git LFS object:", Cause.STORED),
    (
        "LFS object not found (missing) data.bin (77ab)\nhint: Your push was rejected due to missing local objects.",
        Cause.STORED,
    ),
    ("Unable to find source for object 77ab (try running `git lfs fetch --all`)", Cause.STORED),
    # hooks by another name
    ("! [remote rejected] main -> refs/for/main (missing Change-Id in message footer)", Cause.HOOK),
    ("! [remote rejected] main (email address a@b.example is not registered in your account)", Cause.HOOK),
    ("remote: this hassle ends with titles\n" + REJECTED, Cause.HOOK),
    # locks and rights are not one
    ("fatal: Unable to create '/r/.git/index.lock': Permission denied", Cause.UNWRITABLE),
    ("fatal: Unable to create '/r/.git/refs/heads/main.lock': Read-only file system", Cause.UNWRITABLE),
    ("fatal: Unable to create '/r/.git/index.lock': No space left on device", Cause.DISK),
    ("error: insufficient permission for adding an object to repository database .git/objects", Cause.UNWRITABLE),
    ("error: unable to create file aux.c: Invalid argument", Cause.NAMES),
    ("error: unable to create file deep/x: File name too long", Cause.NAMES),
    ("error: invalid path 'con.txt'", Cause.NAMES),
    # programs that git needs, and objects
    ("error: cannot run ssh: No such file or directory\nfatal: unable to fork", Cause.PROGRAM),
    ("git: 'lfs' is not a git command. See 'git --help'.", Cause.PROGRAM),
    ("fatal: unable to find remote helper for 'codecommit'", Cause.PROGRAM),
    ("git-lfs filter-process: 1: git-lfs: not found\nfatal: the remote end hung up unexpectedly", Cause.FILTER),
    ("Error downloading object: data.bin (77ab): Smudge error: [404] Object does not exist", Cause.FILTER),
    ("error: inflate: data stream error\nerror: unable to read sha1 file of src/a (5a5a)", Cause.DAMAGED),
    ("fatal: bad object HEAD\nfatal: remote did not send all necessary objects", Cause.DAMAGED),
    ("error: object file .git/objects/5a/5a is empty\nfatal: loose object 5a5a is corrupt", Cause.DAMAGED),
    ("error: bad signature 0x00000000\nfatal: index file corrupt", Cause.DAMAGED),
    ("error: Your local changes to the following files would be overwritten by merge:", Cause.EDITS),
    ("error: Entry 'src/app.py' not uptodate. Cannot merge.", Cause.EDITS),
    ("error: Untracked working tree file 'new' would be overwritten by merge.", Cause.UNTRACKED),
    # faults of the remote, and what is there in git's place
    ("fatal: bad config line 1 in file ./config\nfatal: Could not read from remote repository.", Cause.REMOTE_FAULT),
    ("fatal: remote error: words that no row knows", Cause.REMOTE_FAULT),
    ("words that no row knows\nfatal: the remote end hung up unexpectedly", Cause.REMOTE_FAULT),
    ("fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access", Cause.SILENT),
    ("remote: /usr/bin/env: 'python3': No such file or directory\n" + REJECTED, Cause.REMOTE_FAULT),
    ("remote: hooks/pre-receive: 3: node: not found\n" + REJECTED, Cause.REMOTE_FAULT),
    ("remote: Traceback (most recent call last):\nremote: KeyError\n" + REJECTED, Cause.REMOTE_FAULT),
    ("fatal: unable to access 'https://x/': The requested URL returned error: 451", Cause.REMOTE_FAULT),
    ("fatal: unable to access 'https://x/': The requested URL returned error: 511", Cause.NOT_GIT),
    ("fatal: unable to access 'https://x/': error:0A00010B:SSL routines::wrong version number", Cause.NOT_GIT),
    ("fatal: protocol error: bad line length character: Welc", Cause.NOT_GIT),
    ("fatal: unable to access 'https://x/': CONNECT tunnel failed, response 407", Cause.ACCESS),
    ("fatal: unable to access 'x': URL using bad/illegal format or missing URL", Cause.MISSING),
    ("Bad port '99999'\nfatal: Could not read from remote repository.", Cause.MISSING),
    ("Unable to negotiate with 192.0.2.1 port 22: no matching key exchange method found.", Cause.TRUST),
    ("~/.ssh/config: line 3: Bad configuration option: x\nfatal: Could not read from remote", Cause.PROGRAM),
    ("error: RPC failed; HTTP 507 curl 22 The requested URL returned error: 507", Cause.REMOTE_DISK),
    ("This account is currently not available.\nfatal: Could not read from remote repository.", Cause.ACCESS),
    ("This service allows sftp connections only.\nfatal: Could not read from remote repository.", Cause.NOT_GIT),
    (
        "fatal: unrecognized command 'git-receive-pack'\nfatal: Could not read from remote repository.",
        Cause.REMOTE_FAULT,
    ),
    ("remote: words that no row knows", Cause.UNKNOWN),
    ("", Cause.UNKNOWN),
)


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("fatal: unable to access 'https://x/': The requested URL returned error: 413", Cause.REMOTE_FAULT),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 507", Cause.REMOTE_FAULT),
        ("error: object 5a is corrupt\nfatal: Could not read from remote repository.", Cause.REMOTE_FAULT),
        ("fatal: bad object HEAD\nfatal: remote did not send all necessary objects", Cause.DAMAGED),
        ("ERROR: This repository was archived so it is read-only.", Cause.PROTECTED),
    ],
)
def test_what_is_only_asked_of_a_remote_is_not_refused_as_a_push(said: str, cause: Cause) -> None:
    assert cause_of(said, is_push=False) is cause


def test_a_cause_is_read_from_what_is_printed() -> None:
    def look(row: tuple[str, Cause]) -> None:
        said, cause = row
        assert cause_of(said) is cause
        assert cause_of(f"To example.org:x.git\n{said}\n{PUSHED}") is cause, "whatever git prints around it"

    assert failing(SAID, look) == []


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
    by_persons |= {Cause.OLD_LOCK, Cause.MAIN_RED, Cause.AHEAD, Cause.PARTED, Cause.BY_REQUEST}
    assert set(WAITS) == set(Cause)
    assert {cause for cause, row in WAITS.items() if not row.remedy} == by_persons, "these say it where they are seen"
    assert all("--force" not in row.remedy and "--hard" not in row.remedy for row in WAITS.values())
    asked_at_once = {cause for cause, row in WAITS.items() if not row.passes and not row.asked}
    assert {Cause.PROTECTED, Cause.HOOK, Cause.ACCESS, Cause.FILTER, Cause.UNKNOWN} <= asked_at_once
    assert "forbid this push" in why(Cause.PROTECTED, "origin/main rejected the push: GH006: no.")


def test_what_does_not_pass_is_looked_at_less_and_less_often() -> None:
    assert [next_look(Cause.PROTECTED, lasts) for lasts in (0, 60, 300, 5000)] == [60, 60, 300, 900]
    assert next_look(Cause.EDITS, 5000) == 5, "a person at work does not wait for it"


def test_merging_by_requests_is_no_way_out_where_it_is_set() -> None:
    for cause in (Cause.PROTECTED, Cause.SIGNATURES, Cause.HOOK):
        said = why(cause, "origin rejected the push: no.")
        assert "review.land pull_request" in said
        fitting = why(cause, "origin rejected the push: no.", by_request=True)
        assert "review.land" not in fitting and said.startswith(fitting[:-1]) and fitting.endswith("."), fitting


def test_the_page_lists_each_cause_with_its_words() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reliability.md").read_text()
    for cause, row in WAITS.items():
        healed = "yes" if row.passes else "no"
        assert cause is Cause.NONE or f"| `{cause}` | {row.words} | {healed} | " in page, cause


def test_what_moved_or_was_lost_waits_for_nothing() -> None:
    """Else a main at the remote was asked about once a minute, whatever `review.poll_seconds` said."""
    assert Land(Landing.MOVED).wait == Land(Landing.LOST).wait == 0.0
    assert Land(Landing.BLOCKED, "why").wait > 0 < Land(Landing.BLOCKED, "why", Cause.DISK).wait
