"""What people at the simulated machine type who answer a question with a form."""

import random

from nobrakes.decisions import forms
from nobrakes.decisions.model import Escalation


def words_for(one: Escalation, dice: random.Random) -> str:
    """What a person types who answers the question well."""
    form = forms.form(one.form)
    labels = form.labels()
    if form.kind == "checkbox":
        some = dice.sample(labels, dice.randint(1, len(labels)))
        return ",".join(forms.typed_as(form, label) for label in some)
    if not labels or form.rest() is not None:
        return f"text {dice.randrange(9)}"
    return dice.choice((forms.typed_as, lambda form, label: label.upper()))(form, dice.choice(labels))
