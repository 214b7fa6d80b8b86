"""What agents at the simulated machine ask with a form: its kind, its options, and how urgent it is."""

import random

from nobrakes.decisions import forms

OPTIONS = ("left: the short way; costs a bridge", "right: the long way", "Straight on", "back: costs nothing")


def drawn(dice: random.Random, recommends: float = 0.0) -> forms.Form:
    """A form for a question; `recommends`: how often one of its options is recommended, where it has some."""
    kind = dice.choice(forms.KINDS)
    options = dice.sample(OPTIONS, dice.randint(2, 4)) if kind in forms.CHOICES else []
    names_one = recommends > 0 and options and dice.random() < recommends
    recommended = [options[0].partition(":")[0]] if names_one else []
    return forms.made(kind, options, recommended, priority=dice.choice(forms.PRIORITIES))
