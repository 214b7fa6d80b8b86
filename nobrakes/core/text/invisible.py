"""What is taken out of untrusted text: escapes, controls, and characters that change others and are not seen."""

import re

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
    """The text without them: see core.text.cleaning.

    `joiners`: what joins letters and emoji stays, where it can do that.
    """
    text = _BREAKS.sub("\n", text)
    text = _UNSEEN.sub("", _ESCAPES.sub("", text))
    if joiners:
        text = _JOINERS.sub(lambda run: run[0] if _JOINING.match(text, run.start()) else "", text)
    else:
        text = _JOINERS.sub("", text)
    return _SURROGATES.sub("\ufffd", text)


def escaped(json_text: str) -> str:
    """JSON text with every character that is not seen as the escape that JSON has for it; it means the same."""
    return _ESCAPED.sub(_escape, json_text)


def _escape(match: "re.Match[str]") -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
