"""Where tools behind the wall keep their caches: in places of their own, or where the settings let them."""

import os

import pytest

from nobrakes.sandbox.system_paths import caches, variables

CACHES = {"XDG_CACHE_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR", "GOCACHE", "npm_config_cache", "CARGO_HOME", "GOPATH",
          "GRADLE_USER_HOME", "PNPM_HOME", "YARN_GLOBAL_FOLDER", "MAVEN_OPTS"}  # fmt: skip


def test_no_cache_is_the_persons_whatever_the_environment_names(tmp_path):
    home = str(tmp_path / "me")
    named = {"HOME": home, "CARGO_HOME": f"{home}/crates", "UV_CACHE_DIR": f"{home}/uv", "MAVEN_OPTS": "-Xmx1g"}
    found = caches("/own", named, ())
    assert set(found) >= CACHES
    maven = found.pop("MAVEN_OPTS")
    assert all(path.startswith("/own/") for path in found.values())
    assert maven == f"-Xmx1g -Dmaven.repo.local=/own/.m2/repository -Dmaven.repo.local.tail={home}/.m2/repository"


@pytest.mark.parametrize(
    ("let_in", "persons"),
    [
        ("crates", {"CARGO_HOME": "crates"}),
        ("crates/registry", {"CARGO_HOME": "crates"}),
        (".cache/uv", {"UV_CACHE_DIR": ".cache/uv"}),
        ("go/pkg/mod", {"GOPATH": "go"}),
        (".cache", {"XDG_CACHE_HOME": ".cache", "PIP_CACHE_DIR": ".cache/pip", "UV_CACHE_DIR": ".cache/uv",
                    "GOCACHE": ".cache/go-build"}),
    ],
)  # fmt: skip
def test_what_the_settings_let_in_is_the_persons(tmp_path, let_in, persons):
    home = tmp_path / "me"
    environment = {"HOME": str(home), "CARGO_HOME": str(home / "crates")}
    found = caches("/own", environment, (str(home / let_in),))
    assert {name: path for name, path in found.items() if path.startswith(str(home))} == {
        name: str(home / place) for name, place in persons.items()
    }
    assert "MAVEN_OPTS" not in caches("/own", environment, (str(home / ".m2" / "repository"),))


def test_maven_is_told_nothing_that_its_start_script_would_split():
    assert "MAVEN_OPTS" not in caches("/own place", {"HOME": "/home/me"}, ())


def test_checks_are_told_of_the_persons_crates_only_where_nothing_keeps_them_from_it(tmp_path):
    for name in (".cargo", "go", ".rustup"):
        (tmp_path / name).mkdir()
    environment, own = {"HOME": str(tmp_path)}, os.path.join("/run", "home")
    free = variables(own, environment)
    assert (free["CARGO_HOME"], free["GOPATH"]) == (str(tmp_path / ".cargo"), str(tmp_path / "go"))
    walled = variables(own, environment, ())
    assert (walled["CARGO_HOME"], walled["GOPATH"]) == (f"{own}/.cargo", f"{own}/go")
    assert walled["RUSTUP_HOME"] == str(tmp_path / ".rustup"), "a toolchain is read"
    assert walled["HOME"] == own and walled["XDG_CACHE_HOME"] == f"{own}/.cache"
    let_in = variables(own, environment, (str(tmp_path / ".cargo"),))
    assert let_in["CARGO_HOME"] == str(tmp_path / ".cargo")
