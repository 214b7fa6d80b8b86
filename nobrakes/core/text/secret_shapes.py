"""The shapes of secrets, as tables: what each is called, the mark that it cannot be without, the pattern.

A shape begins with plain letters, so that a text is searched for them and nothing is tried anywhere else; what stands
before it is looked at by redaction.py. No pattern can be tried at each place of a run of characters that it takes.
"""

import re

Shape = tuple[str, str, "re.Pattern[str]"]

_W = "A-Za-z0-9_-"
_A = "A-Za-z0-9"


def _shape(kind: str, mark: str, pattern: str) -> Shape:
    return kind, mark, re.compile(pattern)


SHAPES: tuple[Shape, ...] = (
    _shape("Anthropic key", "sk-ant-", rf"sk-ant-[{_W}]{{16,}}"),
    _shape("OpenAI key", "sk-", rf"sk-(?:proj|svcacct|admin|or|None)-[{_W}]{{16,}}"),
    _shape("API key", "sk-", rf"sk-[{_A}]{{20,}}"),
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
        rf"eyJ(?:(?<![{_W}]eyJ)|(?<=\\[nrt]eyJ)|(?<=[0-9\[]meyJ))[{_W}]{{8,}}\.eyJ[{_W}]{{8,}}\.[{_W}]{{8,}}",
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
)

_Q = r"(?:\\{0,3}[\"'])?"
_REST = r"[^\r\n\"'\\]"
_IS = rf"{_Q}[ \t]{{0,8}}(?:=>|:=|==?|:)[ \t]{{0,8}}"
_VALUE = r"(?:\"([^\"\\\r\n]{6,2000})\"|'([^'\\\r\n]{6,2000})'|\\{0,3}[\"']?([^\s\"'\\,;<>(){}\[\]|&`]{6,4000}))"
_SCHEMES = "basic|bearer|token|apikey|api-key|bot|negotiate|ntlm|dpop|sso-key|key"
_LONG = "digest|hawk|oauth|aws4-hmac-sha256|signature"
_TURN = r"(?:[_-](?:live|test|prod|dev|base|v?[0-9]{1,2}))?"

Named = tuple[str, tuple[str, ...], "re.Pattern[str]", int]


def _named(names: str) -> "re.Pattern[str]":
    """`NAME=value`, `"name": "value"`, and `--name value`, whose `gap` says that it counts only behind dashes."""
    return re.compile(rf"(?i)(?:{names}){_TURN}(?:{_IS}|(?P<gap>[ \t]{{1,4}})){_VALUE}")


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
    (
        "netrc",
        ("login",),
        re.compile(r"(?i)login\s{1,9}[^\s]{1,200}\s{1,9}password\s{1,9}([^\s\"'\\]{1,200})"),
        0,
    ),
    (
        "password",
        ("passw", "passphrase", "_pass", "-pass", "_pwd"),
        _named("passw(?:or)?d|passphrase|[_-]pass|_pwd"),
        6,
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
"""(kind, how it begins in small letters, pattern, the fewest characters of a value that must look random; 0: any)."""
