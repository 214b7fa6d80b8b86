"""What is taken out of untrusted text: escapes, characters that are not seen, and secrets."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import log2
from typing import NamedTuple

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"  # the short ones
)
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_NOT_SEEN = (
    "\x00-\x08\x0e-\x1f\x7f-\x9f"
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u2800"
    "\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tags and selectors: text that only a model reads
)
_UNSEEN = re.compile(f"[{_NOT_SEEN}]")
_JOINING = re.compile("(?<=[#*0-9\x80-\U0010ffff])[\u200c\u200d\ufe0e\ufe0f]{1,2}(?![\u200c\u200d\ufe0e\ufe0f])")
_JOINERS = re.compile("[\u200c\u200d\ufe0e\ufe0f]+")
_ESCAPED = re.compile(f"[{_NOT_SEEN}\u200c\u200d\u2028\u2029\ufe0e\ufe0f\ud800-\udfff]")
_SURROGATES = re.compile("[\ud800-\udfff]")


def removed(text: str, joiners: bool = True) -> str:
    """As text.cleaning promises. `joiners`: keep effective joiners of letters and emoji."""
    text = _BREAKS.sub("\n", text)
    text = _UNSEEN.sub("", _ESCAPES.sub("", text))
    if joiners:
        text = _JOINERS.sub(lambda run: run[0] if _JOINING.match(text, run.start()) else "", text)
    else:
        text = _JOINERS.sub("", text)
    return _SURROGATES.sub("\ufffd", text)


def escaped(json_text: str) -> str:
    return _ESCAPED.sub(_escape, json_text)


def _escape(match: "re.Match[str]") -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


# A secret is sure by its own shape (`ghp_…`, a private key's block), or guessed by what stands before it (`token=`): a
# guess must look random. Only the secret itself goes, and never a quote or half of an escape: what was JSON stays JSON.
# A block that is printed line by line is found by a `Redactor`. Every pattern is bounded, or takes a run of characters
# at once: the time grows with the text and no faster.
# A shape is a name, the mark that it cannot be without, and the pattern. It begins with plain letters, so that a text
# is searched for them and nothing is tried anywhere else. No pattern can be tried at each place of a run that it takes.
Shape = tuple[str, str, str]

_W = "A-Za-z0-9_-"
_A = "A-Za-z0-9"
_FREE = rf"(?:(?<![.~{_W}])|(?<=\\[nrt])|(?<=[0-9\[]m))"
"""Before a shape without own letters: not within a word, so that a long word is tried once."""


def _shape(kind: str, mark: str, pattern: str) -> Shape:
    return kind, mark, pattern  # compiled when its mark is met: most never are


SHAPES: tuple[Shape, ...] = (
    _shape("Anthropic key", "sk-ant-", rf"sk-ant-[{_W}]{{16,}}"),
    _shape("OpenAI key", "sk-", rf"sk-(?:proj|svcacct|admin|or|None)-[{_W}]{{16,}}"),
    _shape("API key", "sk-", rf"sk-[{_A}]{{20,}}"),
    _shape("OpenAI key", "T3BlbkFJ", rf"sk-[{_W}]{{20,60}}?T3BlbkFJ[{_W}]{{20,}}"),
    _shape("Stripe key", "sk_", rf"sk_(?:live|test|prod)_[{_A}]{{10,}}"),
    _shape("Stripe key", "rk_", rf"rk_(?:live|test|prod)_[{_A}]{{10,}}"),
    _shape("Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=_-]{16,}"),
    _shape("Hugging Face token", "hf_", rf"hf_[{_A}]{{24,}}"),
    _shape("Hugging Face token", "api_org_", rf"api_org_[{_A}]{{24,}}"),
    _shape("npm token", "npm_", rf"npm_[{_A}]{{24,}}"),
    _shape("PyPI token", "pypi-", rf"pypi-(?:AgE[{_W}]{{16,}}|[{_W}]{{50,}})"),
    _shape("Slack token", "xox", r"xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
    _shape("Slack token", "xapp-", rf"xapp-[0-9]-[{_A}-]{{10,}}"),
    _shape("Slack webhook", "hooks.slack.com", rf"hooks\.slack\.com\\?/[a-z]{{4,12}}(?:\\?/|[{_W}]){{20,}}"),
    _shape(
        "Discord webhook",
        "/webhooks/",
        rf"discord(?:app)?\.com/api(?:/v[0-9]{{1,2}})?/webhooks/[0-9]{{10,25}}/[{_W}]{{30,}}",
    ),
    _shape("Discord token", ".", rf"[MNO][{_W}]{{23,25}}\.[{_W}]{{6}}\.[{_W}]{{27,40}}(?![{_W}])"),
    _shape("AWS key id", "AKIA", r"AKIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _shape("AWS key id", "ASIA", r"ASIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _shape("GitHub token", "gh", rf"gh[pousr]_[{_A}]{{20,}}"),
    _shape("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    _shape("GitLab token", "gl", rf"gl(?:pat|dt|rt|ptt|cbt|soat|ft|imt|agent|oas)-[.{_W}]{{20,}}"),
    _shape("Google key", "AIza", rf"AIza[{_W}]{{35}}"),
    _shape("Google token", "ya29.", rf"ya29\.[.{_W}]{{20,}}"),
    _shape("Google client secret", "GOCSPX-", rf"GOCSPX-[{_W}]{{20,}}"),
    _shape("Google refresh token", "1//0", rf"1//0[{_W}]{{30,}}"),
    _shape(
        "JWT",
        "eyJ",
        rf"eyJ(?:(?<![{_W}]eyJ)|(?<=\\[nrt]eyJ)|(?<=[0-9\[]meyJ))[{_W}]{{8,}}\.eyJ[{_W}]{{8,}}(?:\.[{_W}]*)?",
    ),
    _shape("SendGrid key", "SG.", rf"SG\.[{_W}]{{16,}}\.[{_W}]{{16,}}"),
    _shape("DigitalOcean token", "_v1_", r"do[opr]_v1_[a-f0-9]{40,}"),
    _shape("Databricks token", "dapi", r"dapi[a-f0-9]{32}(?![0-9a-f])"),
    _shape("Vault token", "hv", rf"hv[sbr]\.[{_W}]{{20,}}"),
    _shape("Docker token", "dckr_", rf"dckr_[a-z]{{3}}_[{_W}]{{20,}}"),
    _shape("Shopify token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _shape("Telegram token", ":AA", rf"[0-9]{{8,10}}:AA[{_W}]{{32,}}"),
    _shape("Groq key", "gsk_", rf"gsk_[{_A}]{{30,}}"),
    _shape("xAI key", "xai-", rf"xai-[{_A}]{{40,}}"),
    _shape("Replicate token", "r8_", rf"r8_[{_A}]{{30,}}"),
    _shape("Grafana token", "gl", rf"gl(?:sa|c)_[{_A}+/=_]{{30,}}"),
    _shape("Linear key", "lin_api_", rf"lin_api_[{_A}]{{30,}}"),
    _shape("RubyGems key", "rubygems_", r"rubygems_[a-f0-9]{40,}"),
    _shape("Square token", "sq0", rf"sq0[a-z]{{3}}-[{_W}]{{20,}}"),
    _shape("New Relic key", "NRAK-", r"NRAK-[A-Z0-9]{20,}"),
    _shape("Azure key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/=]{40,}"),
    _shape("age key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{40,}"),
    _shape("1Password secret key", "A3-", r"A3-[A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}"),
    _shape("1Password token", "ops_eyJ", rf"ops_eyJ[{_A}+/]{{200,}}={{0,3}}"),
    _shape("Adobe client secret", "p8e-", rf"p8e-[{_A}]{{32}}(?![{_A}])"),
    _shape("Airtable token", "pat", rf"pat[{_A}]{{14}}\.[a-f0-9]{{64}}"),
    _shape("Alibaba key id", "LTAI", rf"LTAI[{_A}]{{17,20}}(?![{_A}])"),
    _shape("Artifactory key", "AKC", rf"AKC(?=[{_A}]{{0,80}}[0-9])(?=[{_A}]{{0,80}}[a-z])[{_A}]{{10,}}"),
    _shape("Artifactory password", "AP", rf"AP[0-9A-F](?=[{_A}]{{0,40}}[0-9])(?=[{_A}]{{0,40}}[a-z])[{_A}]{{31,}}"),
    _shape("Artifactory token", "cmVmd", rf"cmVmd[{_A}]{{59}}(?![{_A}])"),
    _shape("Atlassian token", "ATATT3", rf"ATATT3[={_W}]{{100,}}"),
    _shape("AWS Bedrock key", "ABSK", rf"ABSK[{_A}+/]{{100,}}={{0,2}}"),
    _shape("AWS Bedrock key", "bedrock-api-key-", rf"bedrock-api-key-[{_A}+/=]{{30,}}"),
    _shape("AWS key id", "ABIA", r"ABIA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _shape("AWS key id", "ACCA", r"ACCA[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _shape("AWS key id", "A3T", r"A3T[0-9A-Z]{17}(?![0-9A-Za-z])"),
    _shape("Azure client secret", "Q~", rf"{_FREE}[{_A}_~.]{{3}}[0-9]Q~[.~{_W}]{{31,34}}(?![.~{_W}])"),
    _shape("Buildkite token", "bkua_", r"bkua_[a-f0-9]{40}"),
    _shape("CircleCI token", "CCIP", rf"CCIP(?:AT|RJ)_[{_A}]{{10,40}}_[a-f0-9]{{40}}"),
    _shape("ClickHouse key", "4b1d", rf"4b1d[{_A}]{{38}}(?![{_A}])"),
    _shape("Clojars token", "CLOJARS_", rf"CLOJARS_[{_A}]{{60}}"),
    _shape("Cloudflare origin key", "v1.0-", r"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}"),
    _shape("Contentful token", "CFPAT-", rf"CFPAT-[{_W}]{{40,}}"),
    _shape("Defined Networking key", "dnkey-", rf"dnkey-[={_W}]{{26}}-[={_W}]{{52}}"),
    _shape("Doppler token", "dp.", rf"dp\.(?:pt|st|ct|sa|scim|audit)\.[.{_W}]{{40,}}"),
    _shape("Duffel token", "duffel_", rf"duffel_(?:test|live)_[={_W}]{{43}}"),
    _shape("Dynatrace token", "dt0", rf"dt0[a-z][0-9]{{2}}\.[{_A}]{{24}}\.[{_A}]{{64}}"),
    _shape("EasyPost key", "EZ", rf"EZ[AT]K[{_A}]{{54}}"),
    _shape("Facebook token", "EAA", rf"EAA[MC][{_A}]{{100,}}"),
    _shape("Figma token", "figd_", rf"figd_[{_W}]{{38,}}"),
    _shape("Flutterwave key", "FLWSECK", rf"FLWSECK(?:_TEST)?-[{_A}]{{12,}}(?:-X)?"),
    _shape("Fly.io token", "fo1_", rf"fo1_[{_W}]{{43}}"),
    _shape("Fly.io token", "fm", rf"fm(?:1[ar]|2)_[{_A}+/]{{100,}}={{0,3}}"),
    _shape("Frame.io token", "fio-u-", rf"fio-u-[={_W}]{{64}}"),
    _shape("GitLab runner token", "GR1348941", rf"GR1348941[{_W}]{{20,}}"),
    _shape("GitLab feature flag token", "glffct-", rf"glffct-[{_W}]{{20,}}"),
    _shape("GitLab session", "_gitlab_session=", r"_gitlab_session=[0-9a-z]{32}"),
    _shape("Grafana key", "eyJrIjoi", rf"eyJrIjoi[{_A}]{{60,}}={{0,3}}"),
    _shape("Harness key", "at.", rf"[ps]at\.[{_W}]{{22}}\.[{_A}]{{24}}\.[{_A}]{{20}}"),
    _shape("Heroku key", "HRKU-", rf"HRKU-AA[{_W}]{{58}}"),
    _shape("HubSpot token", "pat-", r"pat-(?:na|eu)[0-9]-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}"),
    _shape("Infracost key", "ico-", rf"ico-[{_A}]{{32}}(?![{_A}])"),
    _shape("LangSmith key", "lsv2_", r"lsv2_[a-z]{2}_[a-f0-9]{32}_[a-f0-9]{10}"),
    _shape("Mailchimp key", "-us", rf"{_FREE}[a-z0-9]{{32}}-us[0-9]{{1,2}}(?![{_A}])"),
    _shape("Mailgun key", "key-", r"key-[a-f0-9]{32}(?![0-9A-Za-z])"),
    _shape("Mapbox token", "sk.eyJ", rf"sk\.eyJ[{_W}]{{20,}}\.[{_W}]{{16,}}"),
    _shape(
        "Teams webhook",
        "webhook.office.com",
        r"webhook\.office\.com/webhookb2/[a-f0-9-]{36}@[a-f0-9-]{36}/IncomingWebhook/[a-f0-9]{32}/[a-f0-9-]{36}",
    ),
    _shape("Netlify token", "nfp_", rf"nfp_[{_A}]{{36,}}"),
    _shape("New Relic key", "NRII-", rf"NRII-[{_W}]{{32}}"),
    _shape("New Relic key", "NRJS-", r"NRJS-[a-f0-9]{19}"),
    _shape("Notion token", "ntn_", rf"ntn_[0-9]{{11}}[{_A}]{{35}}"),
    _shape("NVIDIA key", "nvapi-", rf"nvapi-[{_W}]{{60,}}"),
    _shape("Octopus Deploy key", "API-", r"API-[A-Z0-9]{26}(?![A-Z0-9])"),
    _shape("OpenShift token", "sha256~", rf"sha256~[{_W}]{{43}}"),
    _shape("Perplexity key", "pplx-", rf"pplx-[{_A}]{{40,}}"),
    _shape(
        "Plaid token",
        "access-",
        r"access-(?:sandbox|development|production)-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}",
    ),
    _shape("PlanetScale secret", "pscale_", rf"pscale_(?:tkn|oauth|pw)_[.={_W}]{{32,64}}"),
    _shape("Postman key", "PMAK-", r"PMAK-[a-fA-F0-9]{24}-[a-fA-F0-9]{34}"),
    _shape("Prefect key", "pn", rf"pn[ub]_[{_A}]{{36}}"),
    _shape("Pulumi token", "pul-", r"pul-[a-f0-9]{40}"),
    _shape("ReadMe key", "rdme_", r"rdme_[a-z0-9]{70}"),
    _shape("Scalingo token", "tk-us-", rf"tk-us-[{_W}]{{48}}"),
    _shape("Brevo key", "xkeysib-", rf"xkeysib-[a-f0-9]{{64}}-[{_A}]{{16}}"),
    _shape("Sentry token", "sntry", rf"sntry[su]_[{_A}+/=_]{{40,}}"),
    _shape("SettleMint token", "sm_", rf"sm_[aps]at_[{_A}]{{16}}(?![{_A}])"),
    _shape("Shippo token", "shippo_", r"shippo_(?:live|test)_[a-fA-F0-9]{40}"),
    _shape("Sonar token", "sq", r"sq[upa]_[a-z0-9]{40}"),
    _shape("Sourcegraph token", "sgp_", r"sgp_(?:(?:[a-fA-F0-9]{16}|local)_)?[a-fA-F0-9]{40}"),
    _shape("Square token", "EAAA", rf"EAAA[{_W}]{{22,60}}"),
    _shape("Supabase token", "sbp_", r"sbp_[a-f0-9]{40}"),
    _shape("Tailscale key", "tskey-", rf"tskey-[a-z]{{2,12}}-[{_A}]{{8,}}-[{_A}]{{16,}}"),
    _shape("Terraform token", "atlasv1.", rf"atlasv1\.[={_W}]{{60,70}}"),
    _shape("Twilio key", "SK", r"SK[0-9a-z]{32}(?![0-9A-Za-z])"),
    _shape("Twilio account", "AC", r"AC[0-9a-z]{32}(?![0-9A-Za-z])"),
    _shape("Typeform token", "tfp_", rf"tfp_[.={_W}]{{40,}}"),
    _shape("Yandex key", "AQVN", rf"AQVN[{_W}]{{35,38}}(?![{_W}])"),
    _shape("Yandex token", "t1.", rf"t1\.[{_W}]{{10,}}={{0,2}}\.[{_W}]{{86}}={{0,2}}"),
)

_Q = r"(?:\\{0,3}[\"'])?"
_REST = r"[^\r\n\"'\\]"
_IS = rf"{_Q}[ \t]{{0,8}}(?:=>|:=|={{1,3}}|!==?|:)[ \t]{{0,8}}"
_VALUE = r"(?:\"([^\"\\\r\n]{6,2000})\"|'([^'\\\r\n]{6,2000})'|\\{0,3}[\"']?([^\s\"'\\,;<>(){}\[\]|&`]{6,4000}))"
_SCHEMES = "basic|bearer|token|apikey|api-key|bot|negotiate|ntlm|dpop|sso-key|key"
_LONG = "digest|hawk|oauth|aws4-hmac-sha256|signature"
_TURN = r"(?:[_-](?:live|test|prod|dev|base|v?[0-9]{1,2}))?"

Named = tuple[str, tuple[str, ...], "re.Pattern[str]", int]


def _named(names: str) -> "re.Pattern[str]":
    """`NAME=value`, `"name": "value"`, `name("value")`, and `--name value` (`gap`), which needs dashes."""
    return re.compile(
        rf"(?i)(?:{names}){_TURN}(?:(?:\[[0-9]{{0,4}}\])?{_IS}|\((?=[\"'])|(?P<gap>[ \t]{{1,4}})){_VALUE}"
    )


NAMED: tuple[Named, ...] = (
    (
        "authorization",
        ("authorization", "x-auth-token"),
        re.compile(
            rf"(?i)(?:authorization|x-auth-token){_IS}{_Q}"
            rf"(?:(?:{_LONG})[ \t]{{1,4}}({_REST}{{6,4000}})"
            rf"|(?:{_SCHEMES})[ \t]{{1,4}}([^\s\"'\\]{{6,8000}})|([^\s\"'\\]{{16,8000}}))"
        ),
        0,
    ),
    ("bearer", ("bearer ",), re.compile(r"(?i)bearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{20,8000})"), 20),
    ("cookie", ("cookie",), re.compile(rf"(?i)cookie{_IS}{_Q}([A-Za-z0-9_.%-]{{1,200}}={_REST}{{4,8000}})"), 0),
    ("netrc", ("login",), re.compile(r"(?i)login\s{1,9}[^\s]{1,200}\s{1,9}password\s{1,9}([^\s\"'\\]{1,200})"), 0),
    (
        "password",
        ("passw", "passphrase", "_pass", "-pass", "_pwd", "contrase"),
        _named("passw(?:or)?d|passphrase|[_-]pass|_pwd|contrase[nñ]a"),
        6,
    ),
    ("npm token", ("_authtoken",), re.compile(rf"(?i)_authtoken{_IS}{_Q}([A-Za-z0-9_=+/-]{{16,400}})"), 0),
    (
        "Cloudant key",
        ("cloudant", "cl_", "cl-"),
        re.compile(
            rf"(?i)cl(?:oudant)?[_-](?:api)?[_-]?(?:key|pwd|pw|password|pass|token){_IS}{_Q}"
            rf"([0-9a-f]{{64}}|[a-z]{{24}})(?![{_A}])"
        ),
        0,
    ),
    (
        "secret",
        ("secret", "api", "access", "auth", "private", "signing", "encryption", "master", "credential"),
        _named(
            "secret(?:[_-]?(?:access[_-]?)?key)?|(?:api|access|auth|private|signing|encryption|master)[_-]?key|"
            "auth|credentials?"
        ),
        12,
    ),
    ("token", ("token",), _named("token"), 16),
    ("key", ("_key", "-key"), _named("[_-]key"), 16),
    (
        "AWS secret",
        ("secret",),
        re.compile(rf"(?i)secret[_-]?(?:access[_-]?)?key{_IS}{_Q}([A-Za-z0-9/+=]{{40}})(?![A-Za-z0-9/+=])"),
        1,
    ),
)
"""(kind, lower-case beginnings, pattern, minimal characters of a random-looking value; 0: any)."""

BLACK = "[secret]"
SHORTEST = 8
"""Shorter values of variables are not secrets, and would remove ordinary words."""
MAX_LINES = 1_000
STRANGE_LINES = 10
"""Foreign lines that end a block without an end mark."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|COOKIE|_AUTH", re.IGNORECASE)
_BEFORE = re.compile(r"(?:^|[^A-Za-z0-9_-]|\\[nrtbf]|[0-9\[]m|%[0-9A-Fa-f]{2})\Z")
_BEGIN = re.compile(
    r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,4}(?:PRIVATE KEY(?: BLOCK)?|PGP MESSAGE) ?-{4,5}|Private-Lines: [0-9]{1,4}"
)
_END = re.compile(
    r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,4}(?:PRIVATE KEY(?: BLOCK)?|PGP MESSAGE) ?-{4,5}|Private-MAC: [0-9a-f]{1,80}"
)
_RUN = re.compile(r"(?:\\{1,4}[nrt/]|[A-Za-z0-9+/=]){24,}")
_BODY = re.compile(r"\s*[A-Za-z0-9+/]{1,100}={0,3}\s*\Z")
_TAIL = re.compile(r"(?<=[\s>|+:])[A-Za-z0-9+/]{1,80}={1,2}(?=\s*\Z)")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_HASH = re.compile(r"(?:[a-z0-9]{1,10}[:-])?[0-9a-f]{7,128}\Z")
_NAMES = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+\Z", re.ASCII)
_FLAG = re.compile(r"(?:^|[^-])--(?:[A-Za-z]{1,20}-){0,3}\Z")
_AGAIN = re.compile(r"(?:\[secret\]){2,}")
_WORD = re.compile(r"[A-Za-z0-9_.+/=~:@%-]{14,}")
"""A secret of known shape is within such a word, with its mark."""
_compiled = lru_cache(maxsize=None)(re.compile)
_PARTS = re.compile(r"[-_./:@+=]")


class Found(NamedTuple):
    """A secret: kind and place. `sure`: by its own shape, not by its context."""

    kind: str
    begin: int
    end: int
    sure: bool


def secrets_in(text: str) -> tuple[Found, ...]:
    """The secrets in order, without nested ones; a block's at its beginning."""
    found = [Found("private key", match.start(), match.end(), True) for match in _blocks(text)]
    found += _by_shape(text)
    found += _by_name(text)
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.begin, -one.end)):
        if kept and one.begin < kept[-1].end:
            if one.end > kept[-1].end:
                kept[-1] = kept[-1]._replace(end=one.end, sure=kept[-1].sure or one.sure)
            continue
        kept.append(one)
    return tuple(kept)


def secret_values(environment: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(value for name, value in environment if len(value) >= SHORTEST and _SECRET_NAME.search(name))


def redact(text: str, values: Iterable[str] = ()) -> str:
    return Redactor(values).feed(text)


class Redactor:
    """Removes secrets from text in pieces, which end with a line or at `cut`."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = _pattern(frozenset(values))
        self._left = 0
        self._strange = 0

    def feed(self, text: str) -> str:
        """The piece without its secrets."""
        if self._values is not None:
            text = self._values.sub(BLACK, text)
        if self._left or next(_blocks(text), None):
            text = "\n".join(self._line(line) for line in text.split("\n"))
        parts, end = [], 0
        for one in secrets_in(text):
            parts += [text[end : one.begin], BLACK]
            end = one.end
        return "".join([*parts, text[end:]]) if parts else text

    def cut(self, text: str, keep: int) -> int:
        """Where a text without line ends may be cut: `keep` characters or more before its end, through no secret."""
        place = max(1, len(text) - keep)
        least = max(1, place - keep)
        end = next((at for at in range(place, least, -1) if not _in_word(text[at - 1])), place)
        near = max(0, end - keep)
        across = [one for one in secrets_in(text[near:]) if near + one.begin < end < near + one.end]
        values = self._values.finditer(text, near) if self._values is not None else ()
        begins = [near + one.begin for one in across] + [m.start() for m in values if m.start() < end < m.end()]
        return max(1, min([end, *begins]))

    def _line(self, line: str) -> str:
        done: list[str] = []
        whole = True
        while True:
            if not self._left:
                if (begun := _BEGIN.search(line)) is None:
                    return _AGAIN.sub(BLACK, "".join([*done, line]))
                done += [line[: begun.start()], BLACK]
                self._left, self._strange, whole = MAX_LINES, 0, False
                line = line[begun.end() :]
            if (ended := _END.search(line)) is None:
                return _AGAIN.sub(BLACK, "".join([*done, self._inside(line, whole)]))
            done += [self._inside(line[: ended.start()], False), BLACK]
            self._left = 0
            line = line[ended.end() :]

    def _inside(self, line: str, whole: bool) -> str:
        """A block's line, or the part of a line that belongs to it."""
        self._left -= 1
        if not line.strip():
            return line
        if whole and self._strange == 0 and _BODY.match(line):
            return BLACK
        black = _RUN.sub(_mixed, line)
        if whole and self._strange == 0:
            black = _TAIL.sub(BLACK, black)
        self._strange = 0 if black != line else self._strange + 1
        if self._strange > STRANGE_LINES:
            self._left = 0
        return black


@lru_cache(maxsize=16)
def _pattern(values: frozenset[str]) -> "re.Pattern[str] | None":
    """None: no value is long enough."""
    known = {value for value in values if len(value) >= SHORTEST}
    known |= {value.replace("/", "\\/") for value in known}  # as some JSON has it
    words = "|".join(re.escape(value) for value in sorted(known, key=lambda v: (-len(v), v)))
    return re.compile(words) if words else None


def _blocks(text: str) -> Iterator["re.Match[str]"]:
    return _BEGIN.finditer(text) if "BEGIN " in text or "Private-Lines" in text else iter(())


def _mixed(match: "re.Match[str]") -> str:
    """A key's body mixes letter cases and digits; paths and hashes mostly do not."""
    run = match[0]
    mixed = any(c.isdigit() for c in run) and any(c.isupper() for c in run) and any(c.islower() for c in run)
    return BLACK if mixed else run


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "_-+/=."


def _by_shape(text: str) -> Iterator[Found]:
    words = "\n".join(_WORD.findall(text))
    for kind, mark, pattern in SHAPES:
        if mark not in words:
            continue
        for match in _compiled(pattern).finditer(text):
            if _BEFORE.search(text[max(0, match.start() - 4) : match.start()]):
                yield Found(kind, match.start(), match.end(), True)


def _by_name(text: str) -> Iterator[Found]:
    """Secrets known by their context: the last matching group."""
    if "://" in text or ":\\/\\/" in text:
        for match in _IN_URL.finditer(text):
            if _is_given(match[1]):
                yield Found("password in a URL", match.start(1), match.end(1), False)
    folded = text.translate(_SMALL)
    for kind, marks, pattern, least in NAMED:
        for match in _matches(folded, marks, pattern, text):
            group = match.lastindex or 0
            begin, end = match.span(group)
            called = text[end : end + 1] in ("(", "[")
            if not called and (_looks_right(kind, match[group], least) if least else _is_given(match[group])):
                yield Found(kind, begin, end, False)


_IN_URL = re.compile(r":\\?/\\?/[^\s/@:\"'\\<>]{0,256}:([^\s/@\"'\\<>]{1,256})@")
_SMALL = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def _matches(folded: str, marks: tuple[str, ...], pattern: "re.Pattern[str]", text: str) -> Iterator["re.Match[str]"]:
    """Fits of the pattern at one of its marks; continues after each fit."""
    for mark in marks:
        at = folded.find(mark)
        while at >= 0:
            match = pattern.match(text, at)
            gap = match is not None and "gap" in pattern.groupindex and match["gap"] is not None
            if match is not None and (not gap or _FLAG.search(text[max(0, at - 40) : at])):
                yield match
                at = folded.find(mark, max(at + 1, match.end()))
            else:
                at = folded.find(mark, at + 1)


def _looks_right(kind: str, value: str, least: int) -> bool:
    if kind in ("key", "token") and _UUID.match(value):
        return False
    if kind == "key" and _HASH.match(value):
        return False
    if kind == "AWS secret":
        return any(c.isupper() for c in value) and any(c.islower() for c in value)
    return _is_given(value) and looks_random(value, least)


def _is_given(value: str) -> bool:
    return value[0] not in "$%{<*[" and BLACK not in value and not set(value) <= set("*x.X-_")


def looks_random(value: str, least: int) -> bool:
    """Whether a value of at least `least` characters is not a word, name, number or path."""
    value = value[:512]
    if len(value) < least or value[0] in "/~." or _NAMES.match(value) or any(c.isspace() for c in value):
        return False
    if not (any(c.isdigit() for c in value) and any(c.isalpha() for c in value)):
        return False
    if all(part.isalpha() or part.isdigit() or len(part) <= 3 for part in _PARTS.split(value)):
        return False
    return _entropy(value) >= (2.5 if least < 16 else 3.0)


def _entropy(value: str) -> float:
    """In bits per character."""
    counts = [value.count(character) for character in set(value)]
    return -sum(n / len(value) * log2(n / len(value)) for n in counts)
