"""What is taken out of untrusted text: escapes, controls, and characters that change others and are not seen."""

import re

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"  # the short ones
)
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f"
    "\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # direction and invisible
    "\U000e0000-\U000e007f]"  # tags: text that only a model reads
)
_SURROGATES = re.compile("[\ud800-\udfff]")


def removed(text: str) -> str:
    """The text without them: see core.cleaning.clean."""
    text = _BREAKS.sub("\n", text)
    return _SURROGATES.sub("\ufffd", _UNSEEN.sub("", _ESCAPES.sub("", text)))
