"""Reports are what the check wrote, read from its own files alone."""

import os
from pathlib import Path

import pytest

from nobrakes.host.runs import wrapper
from nobrakes.host.runs.wrapper import kept, read


@pytest.fixture
def top(tmp_path: Path) -> Path:
    made = tmp_path / "checkout"
    (made / "app" / "out" / "deep").mkdir(parents=True)
    return made


def test_what_matches_is_read_in_the_order_of_its_path(top: Path) -> None:
    for name in ("out/b.xml", "out/a.xml", "out/deep/c.xml", "out/note.txt"):
        (top / "app" / name).write_text(name)
    assert read(str(top), "app", "out/**/*.xml", 0).texts == ("out/a.xml", "out/b.xml", "out/deep/c.xml")
    assert read(str(top), "app", "out/*.xml", 0).texts == ("out/a.xml", "out/b.xml")
    assert read(str(top), "", "*.xml", 0).texts == ("out/a.xml", "out/b.xml", "out/deep/c.xml")
    assert read(str(top), "app", "none/*.xml", 0).texts == ()


def test_what_was_there_before_the_check_is_no_result_of_it(top: Path) -> None:
    old, fresh = top / "app" / "committed.xml", top / "app" / "fresh.xml"
    old.write_text("passed")
    while not fresh.exists() or fresh.stat().st_ctime <= old.stat().st_ctime:
        fresh.write_text("failed")
    begun = fresh.stat().st_ctime
    os.utime(fresh, (1, 1))  # a program can set this time, and not the one that counts
    assert read(str(top), "app", "*.xml", begun).texts == ("failed",)


def test_a_folder_that_is_not_there_holds_none(top: Path) -> None:
    (top / "file").write_text("no folder")
    for folder in ("missing", "file", "app/missing"):
        assert read(str(top), folder, "*.xml", 0) == wrapper.Reports()


def test_no_link_is_followed_out_of_the_checkout(top: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "a.xml").write_text("secret")
    (top / "app" / "file.xml").symlink_to(secret / "a.xml")
    (top / "app" / "folder").symlink_to(secret)
    (top / "linked").symlink_to(secret)
    os.mkfifo(top / "app" / "pipe.xml")
    assert read(str(top), "", "*.xml", 0).texts == ()
    assert read(str(top), "linked", "*.xml", 0).trouble == "the folder linked is a link"


def test_too_much_is_told_and_not_cut_short(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        (top / f"{number}.xml").write_text("x" * 10)
    for name, most in (("MAX_BYTES", 35), ("MAX_FILES", 3), ("MAX_ENTRIES", 3)):
        with monkeypatch.context() as patch:
            patch.setattr(wrapper, name, most)
            found = read(str(top), "", "*.xml", 0)
            assert found.trouble and found.texts == ()
    assert len(read(str(top), "", "*.xml", 0).texts) == 4


def test_what_was_read_is_read_again_when_the_checkout_is_gone(top: Path, tmp_path: Path) -> None:
    (top / "a.xml").write_text("a")
    keep = str(tmp_path / "test.reports")
    first = kept(str(top), "", "*.xml", 0, keep)
    (top / "a.xml").unlink()
    assert kept(str(top), "", "*.xml", 0, keep) == first and first.texts == ("a",)
