"""TOML of others: what tomllib would read for minutes, or not at all, is a ValueError before it begins."""

import tomllib

import pytest

from nobrakes.text import toml

MANY = ".".join(["a"] * 66)
QUOTED = " . ".join(['"."', "'\"'", '"\\"."'] * 22)


@pytest.mark.parametrize(
    "text",
    [
        f"{MANY} = 1",
        f"[tool.x]\n{MANY}=1",
        f"[{MANY}]\nx = 1",
        f"[[ {MANY} ]]",
        f"{QUOTED} = 1",
        f"\t{QUOTED}\t= 1",
        f"x = {{y = 1, {MANY} = 1}}",
        f"x = [\n'a', {{{QUOTED} = 1}}]",
        f'x = ["""\n", """, {{{MANY} = 1}}]',
        f"x = '''\n''' # \"\ny = {{\"\" = '.', {QUOTED} = 1}}",
        "#" + "x" * toml.MAX_CHARACTERS,
    ],
)
def test_what_takes_long_is_refused_before_it_is_parsed(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []
    monkeypatch.setattr(tomllib, "loads", parsed.append)
    with pytest.raises(ValueError, match=r"more than 64 dots|longer than 200,000"):
        toml.loads(text)
    assert parsed == []


@pytest.mark.parametrize("text", ["x = " + "[" * 5_000, "x = " + "{a = " * 5_000, "x = " + "1" * 5_000, "x", "\0"])
def test_what_cannot_be_read_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        toml.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{'.'.join(['a'] * 65)} = 1",
        f"[{'.'.join(['a'] * 65)}]\n{'.'.join(['b'] * 65)} = 1",
        f'x = "{"." * 1_000}" # {". " * 1_000}',
        f'"{"a b. " * 100}".{"x" * 1_000} = "{"one two. " * 1_000}"',
        'x = """\n' + "a line.\n" * 1_000 + '"""',
    ],
)
def test_other_text_is_read_as_tomllib_reads_it(text: str) -> None:
    assert toml.loads(text) == tomllib.loads(text)
