"""The real agent CLIs read what one of them did: a finding is sent back, mended, read again, and it lands.

The model is scripted and on the loopback; nothing of nobrakes or of the CLI is replaced.
"""

import json
from pathlib import Path

import pytest

from tests.acceptance.test_forge_clis import BUILT, OURS, building, marks
from tests.acceptance.test_session_clis import CLIS, field_of, works
from tests.support.real_clis import NOBRAKES

FIRST = "def greet():\n    return 'hello'\n"
MENDED = "def greet(name=''):\n    return f'hello {name}'\n"
READ = {"text": "I read all of it.\n\nNOBRAKES: COMPLETED"}


def reviewing(*findings: dict[str, str]) -> str:
    return f"{OURS} review '{json.dumps({'findings': list(findings)})}'"


@pytest.mark.parametrize("name", [pytest.param(n, marks=marks(n)) for n in CLIS])
def test_what_one_finds_another_mends(tmp_path: Path, name: str) -> None:
    field = field_of(tmp_path, name)
    (field.repository / "tests" / "test_it.py").write_text(
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(True)\n"
    )
    field.run("git", "add", "tests")
    field.run("git", "commit", "-q", "-m", "A test")
    config = field.repository / ".nobrakes" / "config.toml"
    roles = f'[agents]\ntest_writer = "{name}"\ndoer = "{name}"\n'
    config.write_text(config.read_text().replace("[agents]\n", roles) + '\n[review]\ncode_review = "send_back"\n')
    field.run(NOBRAKES, "session", "end", "1")
    field.run(NOBRAKES, "add", "Say hello", "--id", "greet", "--no-tests")
    found = {"category": "edge_cases", "priority": "P1", "path": "hello.py", "text": "Nobody is greeted by name"}
    steps = [
        CLIS[name].shell(building("greet", FIRST)),
        BUILT,
        CLIS[name].shell(reviewing(found)),
        READ,
        CLIS[name].shell(building("greet", MENDED)),
        BUILT,
        CLIS[name].shell(reviewing()),
        READ,
    ]
    sent = [json.dumps(one["body"]) for one in works(field, name, *steps)]
    assert field.run("git", "show", "main:hello.py") == MENDED
    reads = [one for one in sent if "You read a change before it is merged" in one]
    assert "round 1 of at most 3" in reads[0] and "return 'hello'" in reads[0]
    assert "round 2 of at most 3" in reads[-1] and "Nobody is greeted by name" in reads[-1]
    (mends, *_) = [one for one in sent if "Nobody is greeted by name" in one and one not in reads]
    assert "Then another agent reviewed the code" in mends
    record = json.loads(field.run(NOBRAKES, "review", "greet", "--json"))["data"][-1]["record"]["fresh_eyes"]
    assert record["read"] and [len(one["findings"]) for one in record["rounds"]] == [1, 0]
