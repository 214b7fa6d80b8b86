"""In real shells: the completion of each, and the man page."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.release.conftest import ROOT, outside

BIN = Path(sys.executable).parent
ASKS = {
    "bash": 'source "$1"; COMP_WORDS=(nobrakes {0}); COMP_CWORD={1}; _nobrakes_completion nobrakes; echo "${{COMPREPLY[@]}}"',
    "zsh": 'compdef() {{ :; }}; source "$1"; _arguments() {{ print -r -- "$@"; }}; words=(nobrakes {0}); CURRENT={2};'
    " _nobrakes_completion",
    "fish": 'source $argv[1]; complete -C "nobrakes {0}"',
}
"""What a shell is told to do: source the script, and complete the words."""


@pytest.mark.parametrize("shell", ASKS)
@pytest.mark.parametrize(
    ("words", "offered"),
    [("sho", "show"), ("agent ask --ch", "--checkbox"), ("ready --e", "--explain"), ("plan ap", "apply")],
)
def test_a_shell_completes(shell: str, words: str, offered: str, tmp_path: Path) -> None:
    env = outside(tmp_path, PATH=f"{BIN}:/usr/bin:/bin")
    script = tmp_path / "script"
    made = subprocess.run([BIN / "nobrakes", "--show-completion", shell], env=env, check=True, capture_output=True)
    script.write_bytes(made.stdout)
    count = len(words.split())
    asked = ASKS[shell].format(words, count, count + 1)
    how = ["--no-config", "-c", asked] if shell == "fish" else ["-c", asked, shell]
    done = subprocess.run([shell, *how, script], env=env, capture_output=True, text=True, timeout=60)
    assert offered in done.stdout and done.stderr == "", done


def test_the_man_page_is_well_formed() -> None:
    page = ROOT / "docs" / "reference" / "nobrakes.1"
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page], capture_output=True, text=True)
    assert done.stdout == "" and done.returncode == 0
