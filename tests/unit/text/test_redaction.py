"""What is blacked out wherever words of agents and tools are kept. No secret stands here whole: each is put together."""

import json
import random
import re
import string
import time

import pytest

from nobrakes.text.cleaning import redacted
from nobrakes.text.redaction import BLACK, SHAPES, Redactor, redact, secret_values, secrets_in

CHANCE = random.Random(12)
DASHES = "-" * 5


def letters(count: int, of: str = string.ascii_letters + string.digits) -> str:
    return "aB3" + "".join(CHANCE.choice(of) for _ in range(count - 3))


def block(kind: str, lines: int = 25) -> str:
    body = "\n".join(letters(64, string.ascii_letters + string.digits + "+/") for _ in range(lines))
    return f"{DASHES}BEGIN {kind}{DASHES}\n{body}\nab12==\n{DASHES}END {kind}{DASHES}"


KEYS = {
    "stripe": "sk_" + "live_" + letters(24),
    "stripe of tests": "rk_" + "test_" + letters(24),
    "stripe webhook": "whsec" + "_" + letters(32),
    "hugging face": "hf" + "_" + letters(34),
    "npm": "npm" + "_" + letters(36),
    "pypi": "pypi" + "-AgEIcHlwaS5vcmc" + letters(60),
    "slack": "xox" + "b-12345678901-" + letters(24),
    "slack webhook": "hooks.slack" + ".com/services/T00000000/B00000000/" + letters(24),
    "aws": "AK" + "IA" + "ABCDEFGH12345678",
    "aws for a time": "AS" + "IA" + "ABCDEFGH12345678",
    "github": "gh" + "p_" + letters(36),
    "github oauth": "gh" + "o_" + letters(36),
    "github fine": "github" + "_pat_" + letters(22) + "_" + letters(59),
    "gitlab": "gl" + "pat-" + letters(20),
    "google": "AI" + "za" + letters(35),
    "google oauth": "ya" + "29." + letters(60),
    "anthropic": "sk-" + "ant-api03-" + letters(80),
    "openai": "sk-" + "proj-" + letters(80),
    "openai of old": "sk-" + letters(48),
    "jwt": "ey" + "J" + letters(20) + ".ey" + "J" + letters(30) + "." + letters(40),
    "sendgrid": "SG" + "." + letters(22) + "." + letters(43),
    "vault": "hv" + "s." + letters(30),
}
HEX, SMALL = string.hexdigits[:16], string.ascii_lowercase + string.digits


def some(count: int, of: str = string.ascii_letters + string.digits) -> str:
    return "".join(CHANCE.choice(of) for _ in range(count))


def uuid() -> str:
    return "-".join(some(count, HEX) for count in (8, 4, 4, 4, 12))


CAPITALS = string.ascii_uppercase + string.digits
KEYS |= {
    "1password": "A" + "3-" + "-".join(some(count, CAPITALS) for count in (6, 6, 5, 5, 5, 5)),
    "1password short": "A" + "3-" + "-".join(some(count, CAPITALS) for count in (6, 11, 5, 5, 5)),
    "1password account": "ops" + "_ey" + "J" + some(260),
    "adobe": "p8" + "e-" + some(32),
    "airtable": "pa" + "t" + some(14) + "." + some(64, HEX),
    "alibaba": "LT" + "AI" + some(20),
    "artifactory": "AK" + "Cp" + some(69),
    "artifactory reference": "cm" + "Vmd" + some(59),
    "atlassian": "ATA" + "TT3" + some(186),
    "bedrock": "AB" + "SK" + some(120),
    "bedrock short": "bedrock-" + "api-key-" + some(60),
    "aws bearer": "AB" + "IA" + some(16, CAPITALS),
    "aws context": "AC" + "CA" + some(16, CAPITALS),
    "azure": some(3) + "8" + "Q~" + some(34),
    "buildkite": "bk" + "ua_" + some(40, HEX),
    "circleci": "CCI" + "PAT_" + some(22) + "_" + some(40, HEX),
    "clickhouse": "4b" + "1d" + some(38),
    "clojars": "CLO" + "JARS_" + some(60, SMALL),
    "cloudflare": "v1" + ".0-" + some(24, HEX) + "-" + some(146, HEX),
    "contentful": "CF" + "PAT-" + some(43),
    "defined": "dn" + "key-" + some(26) + "-" + some(52),
    "doppler": "dp" + ".pt." + some(43),
    "duffel": "duf" + "fel_live_" + some(43),
    "dynatrace": "dt" + "0c01." + some(24) + "." + some(64),
    "easypost": "EZ" + "AK" + some(54),
    "easypost of tests": "EZ" + "TK" + some(54),
    "facebook": "EA" + "AC" + some(120),
    "figma": "fi" + "gd_" + some(40),
    "flutterwave": "FLW" + "SECK_TEST-" + some(32, HEX) + "-X",
    "fly": "fo" + "1_" + some(43),
    "fly macaroon": "fm" + "2_" + some(120),
    "frame.io": "fi" + "o-u-" + some(64),
    "gitlab runner": "GR" + "1348941" + some(20),
    "gitlab flags": "gl" + "ffct-" + some(20),
    "gitlab session": "_gitlab" + "_session=" + some(32, SMALL),
    "grafana of old": "ey" + "JrIjoi" + some(80),
    "harness": "pa" + "t." + some(22) + "." + some(24) + "." + some(20),
    "heroku": "HR" + "KU-AA" + some(58),
    "hubspot": "pa" + "t-na1-" + uuid(),
    "infracost": "ic" + "o-" + some(32),
    "langsmith": "ls" + "v2_pt_" + some(32, HEX) + "_" + some(10, HEX),
    "artifactory of old": "AK" + "C" + some(9) + "a1b2",
    "artifactory password": "AP" + "6" + some(30) + "a1b",
    "aws of old": "A3" + "TX" + some(16, string.ascii_uppercase + string.digits),
    "discord bot": "M" + some(23) + "." + some(6) + "." + some(27),
    "discord bot of an application": "N" + some(25) + "." + some(6) + "." + some(38),
    "openai service": "sk" + "-svc-" + some(20) + "T3Blbk" + "FJ" + some(20),
    "jwt without a signature": "ey" + "JhbGciOiJub25lIn0.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0",
    "jwt with an empty signature": "ey" + "JhbGciOiJub25lIn0.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0.",
    "mailchimp of letters": some(32, SMALL) + "-u" + "s13",
    "twilio account": "A" + "C" + some(32, SMALL),
    "twilio of letters": "S" + "K" + some(32, SMALL),
    "mailchimp": some(32, HEX) + "-u" + "s12",
    "mailgun": "ke" + "y-" + some(32, HEX),
    "mapbox": "sk" + ".ey" + "J" + some(60) + "." + some(22),
    "teams": "webhook.office" + f".com/webhookb2/{uuid()}@{uuid()}/Incoming" + f"Webhook/{some(32, HEX)}/{uuid()}",
    "netlify": "nf" + "p_" + some(40),
    "new relic insert": "NR" + "II-" + some(32),
    "new relic browser": "NR" + "JS-" + some(19, HEX),
    "notion": "nt" + "n_" + some(11, string.digits) + some(35),
    "nvidia": "nv" + "api-" + some(64),
    "octopus": "AP" + "I-" + some(26, CAPITALS),
    "openshift": "sha" + "256~" + some(43),
    "perplexity": "pp" + "lx-" + some(48),
    "plaid": "acc" + "ess-sandbox-" + uuid(),
    "planetscale": "psc" + "ale_tkn_" + some(43),
    "planetscale password": "psc" + "ale_pw_" + some(43),
    "postman": "PM" + "AK-" + some(24, HEX) + "-" + some(34, HEX),
    "prefect": "pn" + "u_" + some(36),
    "pulumi": "pu" + "l-" + some(40, HEX),
    "readme": "rd" + "me_" + some(70, SMALL),
    "scalingo": "tk" + "-us-" + some(48),
    "brevo": "xkey" + "sib-" + some(64, HEX) + "-" + some(16),
    "sentry": "sntr" + "yu_" + some(64, HEX),
    "settlemint": "sm" + "_pat_" + some(16),
    "shippo": "ship" + "po_test_" + some(40, HEX),
    "sonar": "sq" + "p_" + some(40, SMALL),
    "sourcegraph": "sg" + "p_" + some(40, HEX),
    "square of now": "EA" + "AA" + some(60),
    "supabase": "sb" + "p_" + some(40, HEX),
    "tailscale": "tsk" + "ey-auth-" + some(12) + "-" + some(32),
    "terraform": "atl" + "asv1." + some(67),
    "twilio": "S" + "K" + some(32, HEX),
    "typeform": "tf" + "p_" + some(59),
    "yandex": "AQ" + "VN" + some(36),
    "yandex iam": "t" + "1." + some(40) + "." + some(86),
}
NAMED = {
    "aws secret": ("AWS_SECRET" + "_ACCESS_KEY=", letters(38) + "/+"),
    "bearer": ("Author" + "ization: Bearer ", letters(12)),
    "basic": ("Proxy-Author" + "ization: Basic ", "dXNlcjp" + "wYXNz"),
    "small": ("author" + "ization: token ", letters(40)),
    "digest": ("Author" + "ization: Digest ", "username=Mufasa, response=6629fae49393a05397450978507c4ef1"),
    "cookie": ("Cookie: ", "session=" + letters(20) + "; theme=" + letters(9)),
    "set-cookie": ("Set-Cookie: ", "id=" + letters(20)),
    "npm of old": ("//registry.npmjs.org/:_auth" + "Token=", "743b294a-cd03-11ec-9d64-0242ac120002"),
    "cloudant key": ("cl_api" + "_key = '", "vcafqbpbguqkgypkzplvbmjy"),
    "cloudant password": ("cloudant_pass" + "word: ", "0a1b2c3d" * 8),
    "called": ("std::string sec" + 'ret("', letters(16)),
    "array": ("db_pass" + '[25] = "', letters(16)),
    "unequal": ("my_pass" + "word !== '", letters(16)),
    "the same": ("my_pass" + "word === '", letters(16)),
    "spanish": ("contrase" + "ña: ", letters(16)),
    "url": ("postgres://me:", "hun" + "ter2"),
    "assigned": ("DB_PASS" + "WORD=", "hun" + "ter2-x"),
    "quoted": ('"api_' + 'key": "', letters(24)),
    "token": ("deploy_to" + "ken: ", letters(24)),
    "option": ("tool --to" + "ken ", letters(24)),
    "npmrc": ("//registry.example/:_auth" + "Token=", letters(24)),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_is_known_by_its_shape(name: str) -> None:
    for around in ("{}", "before {} after", "x={};", '"{}"', "\\n{}\\n", "\x1b[32m{}\x1b[0m", "({})"):
        text = around.format(KEYS[name])
        assert KEYS[name] not in redact(text) and BLACK in redact(text), around
        assert KEYS[name] not in redacted(text), f"the quick look finds all that there is, {around}"
        assert any(found.sure for found in secrets_in(text)), around


@pytest.mark.parametrize("name", NAMED)
def test_a_value_is_known_by_what_stands_before_it(name: str) -> None:
    before, secret = NAMED[name]
    after = "@host/x" if name == "url" else ""
    assert redact(f"{before}{secret}{after}\nnext") == f"{before}{BLACK}{after}\nnext"
    assert redacted(f"{before}{secret}{after}") == f"{before}{BLACK}{after}"
    assert not all(found.sure for found in secrets_in(f"{before}{secret}{after}"))


@pytest.mark.parametrize(
    "text",
    [
        "commit 0123456789abcdef0123456789abcdef01234567",
        "run 550e8400-e29b-41d4-a716-446655440000 of 12",
        "sha256:" + "ab12" * 16,
        '"integrity": "sha512-' + "aB3+" * 21 + '=="',
        "the task-0123456789abcdef0123456789 is skipped, sk-short is not",
        "nobrakes/text/redaction.py:12: token = response.token.value2",
        '{"input_tokens": 123456789012345678, "max_tokens": 4096, "cache_key": "0123456789abcdef0123456789abcdef"}',
        "password: ${DB_PASSWORD_OF_2026} token: <your-token-here-12345>",
        "Authorization: is required for this endpoint to work",
        "https://example.com:8080/a@b and git@example.com:me/x.git and ssh://git@example.com/x",
        "x = secrets.token_hex(8); key = make_key_for_version_2(other_key_17)",
        "password: secret, passwords and tokens: 12 passed",
        "session_token = 550e8400-e29b-41d4-a716-446655440000",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == text and redacted(text) == text


KINDS = ("RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK", "ENCRYPTED PRIVATE KEY")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("before", ["", "   12\t", "2026-01-01 INFO ", "> ", "+"])
def test_a_private_key_printed_line_by_line_goes_and_what_follows_stays(kind: str, before: str) -> None:
    whole = block(kind)
    redactor = Redactor()
    said = [redactor.feed(f"{before}{line}\n") for line in ["first", *whole.split("\n"), "last: src/Shop/Basket2.py"]]
    text = "".join(said)
    assert not [line for line in whole.split("\n") if line in text]
    assert said[0] == f"{before}first\n" and said[-1] == f"{before}last: src/Shop/Basket2.py\n"


def test_a_private_key_in_json_leaves_json() -> None:
    value = {"type": "result", "text": f"it is\n{block('RSA PRIVATE KEY')}\nand this", "ok": True}
    once = json.dumps(value)
    assert json.loads(redact(once)) == {"type": "result", "text": f"it is\n{BLACK}\nand this", "ok": True}
    twice = json.loads(json.loads(redact(json.dumps(once))))
    assert twice["text"] == f"it is\n{BLACK}\nand this"


def test_a_private_key_that_is_told_in_events_one_a_line() -> None:
    rows = [json.dumps({"delta": line + "\n"}) for line in block("PRIVATE KEY").split("\n")]
    redactor = Redactor()
    told = "".join(json.loads(redactor.feed(row + "\n"))["delta"] for row in rows)
    assert not [line for line in block("PRIVATE KEY").split("\n")[1:-2] if line in told]
    assert set(told.replace(BLACK, "").split()) <= {"ab12=="}


def test_who_only_speaks_of_a_block_loses_no_more_than_its_name() -> None:
    text = (
        f"look for {DASHES}BEGIN PRIVATE KEY{DASHES} in the files\nnobrakes/core/text/redaction.py\ndone\n"
        + "word " * 40
    )
    assert redact(text) == f"look for {BLACK} in the files\nnobrakes/core/text/redaction.py\ndone\n" + "word " * 40


def test_a_block_without_an_end_is_over_when_nothing_of_it_comes() -> None:
    text = f"{DASHES}BEGIN PRIVATE KEY{DASHES}\n" + "a plain line\n" * 20 + letters(70) + "\n"
    assert redact(text).endswith(text[-71:])


def test_values_of_the_environment() -> None:
    given = {"MY_TOKEN": "correct horse", "DB_PASSWORD": "short", "HOME": "/home/you-and-me", "A_KEY": "a/b/c/d/e"}
    values = secret_values(given.items())
    assert values == {"correct horse", "a/b/c/d/e"}
    assert (
        redact('correct horse, "a\\/b\\/c\\/d\\/e", /home/you-and-me', values)
        == f'{BLACK}, "{BLACK}", /home/you-and-me'
    )


def test_a_text_is_cut_through_no_secret() -> None:
    secret = KEYS["github"]
    for gap in range(60):
        text = "x " * 5000 + secret + " " + "y" * (4096 - gap)
        at = Redactor().cut(text, 4096)
        assert not 10000 < at < 10000 + len(secret)
        redactor = Redactor()
        assert secret not in redactor.feed(text[:at]) + redactor.feed(text[at:])


def test_every_shape_has_a_value_that_only_it_knows() -> None:
    known = {
        kind for value in KEYS.values() for kind, mark, shape in SHAPES if mark in value and re.search(shape, value)
    }
    assert {kind for kind, *_ in SHAPES[43:]} <= known and len(SHAPES) >= 43 + 24


EVIL = {
    "marks": "".join(f"{mark} " * 8_000 for _, mark, _ in SHAPES),
    "marks at once": "".join(mark * 2_000 for _, mark, _ in SHAPES),
    "runs after marks": "\n".join(mark + "a1" * 8_000 for _, mark, _ in SHAPES),
    "hexadecimal": ("-us Q~ " + "a1b2" * 20) * 12_000,
    "dashes": "-" * 10**6 + " pass",
    "prefixes": "sk-" * 300_000,
    "jwt": ("ey" + "J") * 300_000,
    "jwt with dots": ("ey" + "Jaaaaaaaa.") * 90_000,
    "urls": "://a:" * 200_000,
    "assignments": "token=" * 160_000,
    "quotes": 'token="' * 140_000,
    "begins": f"{DASHES}BEGIN " * 90_000,
    "blocks": f"{DASHES}BEGIN PRIVATE KEY{DASHES}" * 30_000,
    "backslashes": f"{DASHES}BEGIN PRIVATE KEY{DASHES}" + "\\" * 10**6,
    "headers": "authorization: digest " * 45_000,
    "logins": "login a password " * 60_000,
    "cookies": "cookie: a=" * 100_000,
    "blanks": "token" + " " * 10**6,
    "names": "secret_access_key" * 60_000,
    "options": "--a-b-c-token " * 70_000,
    "openai": "sk-" * 300_000 + "T3BlbkFJ",
    "dots": "Ma1.a1a1a1." * 90_000,
    "artifactory": "AKC" * 300_000,
    "one run": "aB3" * 330_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", EVIL)
def test_the_time_grows_with_the_text_and_no_faster(name: str) -> None:
    began = time.process_time()
    redact(EVIL[name])
    Redactor().cut(EVIL[name], 4096)
    assert time.process_time() - began < 4, "a megabyte takes a fraction of a second"
