"""Untrusted text made safe to show, and short. Imports nothing: what agents say all night goes through it."""

_PRINTED = frozenset(map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0)))
_PRINTED |= frozenset(map(chr, (*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
"""What Python calls printable, and nobody sees."""
MARKS = (
    "sk- sk_ rk_ whsec_ hf_ api_org_ npm_ pypi- xox xapp- slack discord akia asia ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ "
    "glpat gldt glrt glptt glcbt glsoat glft glimt glagent gloas glsa_ glc_ aiza ya29. gocspx 1//0 eyj sg. _v1_ dapi "
    "hv dckr_ shp :aa gsk_ xai- r8_ lin_api_ rubygems_ sq0 nrak- accountkey age-secret begin private-lines :// :\\/ "
    "a3- p8e- ltai akc a3t cmvmd atatt3 absk abia acca q~ bkua_ ccip 4b1d clojars_ v1.0- cfpat- dp. duffel_ dt0 ezak "
    "eztk eaam eaac eaaa figd_ flwseck fo1_ fm1 fm2_ fio-u- gr1348941 glffct- _gitlab_ hrku- ico- lsv2_ "
    "webhook.office nfp_ nrii- nrjs- ntn_ nvapi- api- sha256~ pplx- access- pscale_ pmak- pnu_ pnb_ pul- rdme_ "
    "tk-us- xkeysib- sntry sm_ shippo_ squ_ sqp_ sqa_ sgp_ sbp_ tskey- atlasv1. tfp_ aqvn t1. "
    "authorization x-auth bearer cookie login pass pwd contrase secret key auth credential token"
)
"""In small letters: without one of them, and without a word of LONG characters, a text holds no secret."""
LONG = 34
"""Some shapes begin as ordinary words do; none of those is shorter."""


def clean(text: str) -> str:
    """The text without terminal escapes, direction and invisible characters; of controls, only tab and newline stay."""
    if is_seen(text):
        return text  # nearly all text
    from .invisible import removed

    return removed(text)


def only_seen(text: str) -> str:
    """The text as `clean` gives it, also without what joins letters and emoji: a model reads what a person sees."""
    if is_seen(text):
        return text
    from .invisible import removed

    return removed(text, joiners=False)


def is_seen(text: str) -> bool:
    """Whether a person sees every character; False for some text of which that is true."""
    if not text.replace("\n", "").replace("\t", "").isprintable():
        return False
    return text.isascii() or _PRINTED.isdisjoint(text)


MOST_TEXT = 1_000_000
"""Characters of one argument."""


def unusable(text: str) -> str:
    """Why a text cannot be taken as an argument; empty: it can."""
    if "\0" in text:
        return "has a NUL byte"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "is not valid UTF-8"
    return f"has {len(text):,} characters; {MOST_TEXT:,} is the most" if len(text) > MOST_TEXT else ""


def redacted(text: str) -> str:
    """The text without keys, tokens and passwords: core.text.redaction, which is asked only where there may be some."""
    small = text.lower()
    if not any(mark in small for mark in MARKS.split()) and all(len(word) < LONG for word in text.split()):
        return text
    from .redaction import redact

    return redact(text)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, the beginning and the end of the text where it is longer."""
    if len(text) <= limit:
        return text
    mark = " […] "
    if limit <= len(mark) + 1:
        return text[:limit]
    head = (limit - len(mark)) * 2 // 3
    tail = limit - len(mark) - head
    return text[:head] + mark + text[-tail:]
