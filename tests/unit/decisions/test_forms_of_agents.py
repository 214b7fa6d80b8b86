"""What is asked when an agent cannot go on."""

import pytest

from nobrakes.decisions import forms
from nobrakes.errors import UsageError


def test_the_agents_options_come_first_then_guidance_and_rest() -> None:
    found = forms.form(forms.form_of(["use v1: slower; costs a day", "Pause the bead: mine"], ["use v1"], "404"))
    assert found.labels() == ["use v1", "give guidance", "pause the bead"], "nobrakes' own label is not the agent's"
    assert (found.priority, found.recommended, found.context) == (1, ("use v1",), "404")
    assert forms.judge(found, "ask the other team") == "give guidance: ask the other team"
    assert forms.form(forms.form_of()).labels() == ["give guidance", "pause the bead"]


def test_what_makes_no_form_is_refused() -> None:
    for options, recommended in ((["a", "A"], []), (["a"], ["b"]), (["a"] * 12, [])):
        with pytest.raises(UsageError):
            forms.form_of(options, recommended)
