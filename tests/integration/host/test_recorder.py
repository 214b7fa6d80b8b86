"""The recorder, as a process: what an agent says is written down without its secrets, and never without end."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nobrakes.host.runs import recording
from nobrakes.programs import program

KEY = "sk-ant-" + "x" * 40


def run(place: Path, *argv: str, limit: int = 2**26, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(place, *argv, limit=limit), env={"PATH": os.environ["PATH"], **environment}, timeout=60, check=False
    )


def command(place: Path, *argv: str, limit: int = 2**26) -> list[str]:
    files = [str(place / "a.out"), str(place / "a.err")]
    return [*program("recorder", *files, str(limit), "--", *argv)]


def python(text: str) -> tuple[str, ...]:
    return (sys.executable, "-S", "-u", "-c", text)


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


def test_both_streams_are_written_down_and_the_code_is_the_agents(tmp_path: Path) -> None:
    done = run(tmp_path, "sh", "-c", "echo said; echo wrong >&2; printf unended; exit 7")
    assert done.returncode == 7
    assert (tmp_path / "a.out").read_text() == "said\nunended"
    assert (tmp_path / "a.err").read_text() == "wrong\n"
    assert (tmp_path / "a.out").stat().st_mode & 0o777 == 0o600


def test_an_agent_that_is_missing_or_may_not_be_run(tmp_path: Path) -> None:
    assert run(tmp_path, "/nowhere/agent").returncode == 127
    (tmp_path / "plain").write_text("")
    assert run(tmp_path, str(tmp_path / "plain")).returncode == 126
    assert "/nowhere/agent" in (tmp_path / "a.err").read_text()


def test_a_signal_is_told_as_a_shell_tells_it(tmp_path: Path) -> None:
    assert run(tmp_path, "sh", "-c", "kill -9 $$").returncode == 137


@pytest.mark.parametrize(
    "secret",
    [
        "hunter2-hunter2",
        KEY,
        "ghp_" + "a1B2" * 9,
        "AKIA" + "ABCDEFGH12345678",
        "AIza" + "b" * 35,
        "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2",
    ],
)
def test_a_secret_never_reaches_the_disk(tmp_path: Path, secret: str) -> None:
    text = f"import sys; sys.stdout.write('before {secret} after\\n'); sys.stderr.write('{secret}')"
    run(tmp_path, *python(text), SOME_API_KEY="hunter2-hunter2")
    assert (tmp_path / "a.out").read_text() == "before [secret] after\n"
    assert (tmp_path / "a.err").read_text() == "[secret]"


def test_a_secret_that_comes_in_two_pieces_or_across_a_cut_is_found(tmp_path: Path) -> None:
    pieces = (
        "import sys, time\n"
        "sys.stdout.write('x' * (1024 * 1024 - 8) + 'hunter2-'); sys.stdout.flush(); time.sleep(0.2)\n"
        "sys.stdout.write('hunter2' + 'y' * 100)"
    )
    run(tmp_path, *python(pieces), PASSWORD="hunter2-hunter2")
    text = (tmp_path / "a.out").read_text()
    assert "hunter2" not in text
    assert text.endswith("[secret]" + "y" * 100)


def test_ordinary_words_are_left_alone(tmp_path: Path) -> None:
    said = "the task-force risks skipping sk-short and token counts: 12\n"
    run(tmp_path, "printf", "%s", said, TOKEN="the", MY_KEY="")
    assert (tmp_path / "a.out").read_text() == said


def test_a_flood_costs_no_more_than_its_limit_and_the_newest_is_kept(tmp_path: Path) -> None:
    flood = "for i in range(20000): print(f'{i:09d}')"
    run(tmp_path, *python(flood), limit=20000)
    sizes = [(tmp_path / name).stat().st_size for name in ("a.out", "a.out.1")]
    assert max(sizes) <= 10000
    assert (tmp_path / "a.out").read_text().endswith("000019999\n")


def test_what_the_agent_said_last_is_written_though_another_holds_the_pipe(tmp_path: Path) -> None:
    text = "import subprocess; print(subprocess.Popen(['sleep', '1000'], start_new_session=True).pid)"
    assert run(tmp_path, *python(text)).returncode == 0
    holder = int((tmp_path / "a.out").read_text())
    os.kill(holder, signal.SIGKILL)  # it still lived: nobody waited for it


def test_who_goes_on_writing_when_the_agent_has_ended_holds_nothing_up(tmp_path: Path) -> None:
    done = run(tmp_path, "sh", "-c", "yes flood & yes >&2 & sleep 0.2; exit 3", limit=2**20)
    assert done.returncode == 3
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 3 * 2**20


def test_the_agent_hears_the_signal_and_the_recorder_writes_its_last_words(tmp_path: Path) -> None:
    text = (
        "import signal, sys, time\n"
        "def end(*_):\n    print('heard', flush=True); sys.exit(3)\n"
        "signal.signal(signal.SIGTERM, end)\nprint('ready', flush=True)\nwhile True: time.sleep(0.05)"
    )
    process = subprocess.Popen(command(tmp_path, *python(text)), start_new_session=True)
    until(lambda: (tmp_path / "a.out").exists() and "ready" in (tmp_path / "a.out").read_text())
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(20) == 3
    assert (tmp_path / "a.out").read_text() == "ready\nheard\n"


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "a.out").symlink_to(tmp_path / "precious")
    assert run(tmp_path, "echo", "gone").returncode != 0
    assert (tmp_path / "precious").read_text() == "mine"


def passed_on(place: Path, *argv: str, limit: int = 2**26) -> tuple[int, str]:
    with (place / "check.out").open("ab") as out:
        line = [*program("recorder", str(limit), "--", *argv)]
        done = subprocess.run(line, stdout=out, stderr=out, timeout=60, check=False)
    return done.returncode, (place / "check.out").read_text()


def test_what_a_check_says_is_passed_on_as_it_comes(tmp_path: Path) -> None:
    said = f"echo one; echo two >&2; echo {KEY}; printf three; exit 3"
    assert passed_on(tmp_path, "sh", "-c", said) == (3, f"one\ntwo\n{KEY}\nthree")


@pytest.mark.parametrize(("argv", "code"), [(("sh", "-c", "kill -9 $$"), 137), (("/nowhere/check",), 127)])
def test_a_check_without_an_exit(tmp_path: Path, argv: tuple[str, ...], code: int) -> None:
    found, said = passed_on(tmp_path, *argv)
    assert found == code
    assert ("/nowhere/check" in said) == (code == 127)


def test_of_a_check_that_prints_too_much_both_ends_are_kept_and_the_file_is_bounded_while_it_runs(
    tmp_path: Path,
) -> None:
    out, looks = tmp_path / "check.out", tmp_path / "looks"
    text = (
        "import os\nprint('first')\n"
        f"for n in range(3000):\n"
        f"    print('x' * 9999)\n"
        f"    open({str(looks)!r}, 'a').write('%d\\n' % os.stat({str(out)!r}).st_size) if not n % 100 else None\n"
        "print('5 passed')\n"
    )
    code, said = passed_on(tmp_path, *python(text), limit=4_000_000)
    assert code == 0
    assert said.startswith("first\n") and said.endswith("5 passed\n")
    assert max(map(int, looks.read_text().split())) <= 4_000_000 < 30_000_000
    left_out = recording.left_out(said[-2_000_000:])
    assert left_out + len(said.replace(f"\n{recording.LEFT_OUT.format(left_out)}\n", "")) == 30_000_000 + 15
    assert len(said) < 4_000_000 + 256 * 1024
    assert recording.left_out("all of it\n") == 0


def test_who_holds_a_check_s_output_open_is_not_waited_for(tmp_path: Path) -> None:
    began = time.monotonic()
    code, said = passed_on(tmp_path, "sh", "-c", "sleep 30 & echo said")
    assert (code, said) == (0, "said\n") and time.monotonic() - began < 15
