"""Many beads, one in five of them bad, each in one of many ways: main stays green, and each is told for what it is.

NOBRAKES_BEADS says how many; each way comes up at least once.
"""

import os
from pathlib import Path

import pytest

from tests.support.scripted import Scripted

BEADS = int(os.environ.get("NOBRAKES_BEADS", "30"))
MENDED = "git rm -qrf --ignore-unmatch src/wrong src/early src/none src/killer; work"
RUN = """
n=0 bad=0
[ ! -e src/none ] || { echo 1..0; exit 0; }
for test in tests/test_*.sh; do
    [ ! -e src/early ] || [ $n -lt 1 ] || break
    n=$((n + 1))
    if sh "$test"; then echo "ok $n - $test"; else echo "not ok $n - $test"; bad=1; fi
done
[ ! -e src/killer ] || kill -9 $$
echo "1..$n"
exit $bad
"""

# what the Doer does in its first turn, and the outcome of the attempt that it is told by
WAYS: dict[str, tuple[str, str]] = {
    "fails a test": ("mkdir -p src; touch src/wrong; commit Wrong", "failed_review"),
    "runs fewer tests": ("mkdir -p src; touch src/early; commit Early", "failed_review"),
    "runs no test": ("mkdir -p src; touch src/none; commit None", "broken_checks"),
    "kills the check": ("mkdir -p src; touch src/killer; commit Killer", "broken_checks"),
    "changes a test": ("echo true >tests/test_more.sh; work", "boundary"),
    "changes the plan": ("mkdir -p .nobrakes; echo >.nobrakes/config.toml; git add -Af; commit Config", "boundary"),
    "links out of the repository": ("ln -s /etc/passwd link; work", "boundary"),
    "brings a repository along": (
        "git init -q inner; git -C inner -c user.name=x -c user.email=x@x.invalid commit -q --allow-empty -m x; work",
        "boundary",
    ),
    "rewrites its branch": ("work; git config core.hooksPath x; git checkout -q --orphan new; commit New; git branch -qf $(git branch --list '*bead*' "
                            "--format='%(refname:short)') new; git checkout -q -; ", "boundary"),
    "changes a gate": ("printf 'test:\\n' >Makefile; work", "checks_changed"),
    "does nothing": ("true", "no_work"),
    "gives up": ("echo 'NOBRAKES: FAILED'", "gave_up_tests"),
}  # fmt: skip


@pytest.mark.parametrize(
    "review",
    [
        pytest.param("validators = 2", marks=pytest.mark.slow),
        pytest.param("every_commit_green = false", marks=pytest.mark.night),
    ],
)
def test_every_bad_bead_is_told_for_what_it_is_and_main_stays_green(tmp_path: Path, review: str) -> None:
    size = max(BEADS, 5 * len(WAYS))
    project = Scripted(tmp_path, doers=4, more=f"[review]\n{review}\n")
    (project.folder / "tests" / "run.sh").write_text(RUN)
    (project.folder / "tests" / "test_wrong.sh").write_text("[ ! -e src/wrong ]\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "Tests that notice")
    bad: dict[str, str] = {}
    for number in range(0, size, 5):
        way = list(WAYS)[number // 5 % len(WAYS)]
        bad[f"b{number}"] = way
        project.does(f"b{number}", WAYS[way][0], turn=1)
        project.does(f"b{number}", MENDED)
    beads = [f"b{number}" for number in range(size)]
    project.add(*beads)
    project.nobrakes("run", expect=None)
    for _ in range(4):
        asked = project.open()
        if not asked:
            break
        for one in asked:
            project.nobrakes("resolve", str(one["id"]), "--retry")
        project.nobrakes("run", expect=None)
    seen = {}
    for bead, way in bad.items():
        outcomes = [attempt["outcome"] for attempt in project.show(bead)["attempts"]]
        seen[way] = WAYS[way][1] in outcomes or outcomes
    assert seen == dict.fromkeys(bad.values(), True)
    # what makes the checks break is a person's to look at, and is never merged for being asked about again
    held = {bead for bead, way in bad.items() if WAYS[way][1] == "broken_checks"}
    assert sorted(project.landed().values()) == sorted(set(beads) - held), "none is lost, none lands twice"
    assert {(one["bead"], one["type"]) for one in project.open()} == {(bead, "broken_checks") for bead in held}
    project.assert_main_is_green_at_every_commit(tmp_path / "scratch")
    good = set(beads) - bad.keys()
    assert not [one for one in good if project.show(one)["failures"]], "nobody is blamed for another's work"
