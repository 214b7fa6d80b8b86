"""[review.features.EPIC]: what a feature may say of its requests, and what is refused with a reason."""

from dataclasses import asdict

import pytest

from nobrakes.config.settings import Config, _made, parse
from nobrakes.errors import ConfigError

HEAD = 'main = "main"\n[git]\nbranch_pattern = "work/{id}"\n[review]\nland = "pull_request"\nunit = "epic"\n'


def refused(text: str, head: str = HEAD) -> str:
    with pytest.raises(ConfigError) as mistake:
        parse(head + text, "config.toml")
    return str(mistake.value)


def test_a_feature_says_what_differs_and_is_remembered_as_it_was_judged() -> None:
    config = parse(HEAD + '[review.features.shop]\nunit = "bead"\n[review.features."a.b"]\nbranch = "f/ch-1"\n', "x")
    assert config.review.features["shop"].unit == "bead" and config.review.features["a.b"].branch == "f/ch-1"
    assert _made(Config, asdict(config)) == config


@pytest.mark.parametrize(
    ("branch", "said"),
    [
        ("--upload-pack=x", "is not a valid branch name"),
        ("a b", "is not a valid branch name"),
        ("a..b", "is not a valid branch name"),
        ("a\\u001b[31m", "is not a valid branch name"),
        ("someone:main", "is not a valid branch name"),
        ("refs/heads/main", "not beginning with refs/"),
        ("x" * 201, "at most 200"),
        ("main", "is used already (main)"),
        ("main/x", "folder of the other"),
        ("work/b1", "like the branch of a bead"),
        ("task/bead-b1", "like the branch of a bead"),
        ("feature/cart", "the name of another branch, cart"),
        ("feature/both", "used already (review.features.cart.branch)"),
        ("feature/both/x", "folder of the other"),
    ],
)
def test_a_hostile_or_a_taken_name_of_a_branch_is_refused(branch: str, said: str) -> None:
    told = refused(f'[review.features.cart]\nbranch = "feature/both"\n[review.features.shop]\nbranch = "{branch}"\n')
    assert said in told and "review.features.shop.branch" in told and "\x1b" not in told, told


@pytest.mark.parametrize("epic", ["../x", "", "a b", "-x", "x" * 65])
def test_what_is_no_id_of_an_epic_is_refused(epic: str) -> None:
    assert "is not a valid bead id" in refused(f'[review.features."{epic}"]\nunit = "bead"\n')


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("--upload-pack=x", "is not a valid branch name"),
        ("refs/heads/main", "without refs/ in front"),
        ("x" * 201, "at most 200"),
        ("release,1", "is not allowed"),
        ("work/b1", "like the branch of a bead"),
        ("task/bead-b1", "like the branch of a bead"),
        ("feature/shop", "looks like the branch of an epic's pull request"),
        ("f/ch", "looks like the branch of an epic's pull request"),
    ],
)
def test_a_branch_of_ours_or_a_hostile_name_is_no_base(base: str, said: str) -> None:
    told = refused(f'[review.features.cart]\nbranch = "f/ch"\n[review.features.shop]\nbase = "{base}"\n')
    assert said in told and "review.features.shop.base" in told, told


def test_no_request_has_the_branch_that_others_are_for() -> None:
    tables = '[review.features.shop]\nbase = "release"\n[review.features.cart]\nbranch = "release"\n'
    assert "release' is used already (review.features.shop.base)" in refused(tables)


def test_a_base_of_its_own_holds_and_a_way_of_its_own_is_refused_with_a_reason() -> None:
    same = '[review.features.shop]\nbase = "main"\nland = "pull_request"\n'
    assert parse(HEAD + same, "x").review.features["shop"].base == "main"
    other = parse(HEAD + '[review.features.shop]\nbase = "release/2"\n', "x")
    assert other.review.features["shop"].base == "release/2"
    assert parse(HEAD + '[review.features.shop]\nland = "remote"\n', "x").review.features["shop"].land == "remote"
    told = refused('[review.features.shop]\nland = "local"\n')
    assert '"local" cannot be combined with review.land = "pull_request"' in told and "review.land local" in told
    told = refused('[review.features.shop]\nland = "pull_request"\n', '[review]\nland = "remote"\n')
    assert "for all work" in told and 'land = "remote" for the features that need no pull request' in told
    assert "is not a valid branch name" in refused('[review.features.shop]\nbase = "-x"\n')


def test_what_would_mean_nothing_is_refused() -> None:
    one = '[review.features.shop]\nunit = "bead"\nbranch = "f/x"\n'
    assert "this branch is for a whole epic" in refused(one)
    for land in ("local", "remote"):
        told = refused(one, f'[review]\nland = "{land}"\n')
        assert f'review.land = "{land}"' in told and "config set review.land pull_request" in told
    assert "did you mean branch?" in refused('[review.features.shop]\nbranche = "x"\n')
