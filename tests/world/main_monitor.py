"""The canary in the simulation: what the promises know of it, and when it is let rest so that a run can end."""

import json
import random
from dataclasses import replace

from nobrakes.config.settings import Config
from nobrakes.daemon.model import WATCH
from nobrakes.review.main_monitor import Phase, Watch
from nobrakes.store import Store

from .scene import Scene


def watch_of(store: Store) -> Watch:
    """How far it is."""
    text = store.setting(WATCH)
    return Watch.of(json.loads(text)) if text else Watch()


def with_canary(config: Config, seed: int) -> Config:
    """The settings of a run; one in four has a canary. It looks for ever, so that a world which only steps has none."""
    hours = random.Random(f"{seed} canary").choice([0, 0, 0, 0.2])
    return replace(config, review=replace(config.review, main_check_hours=hours)) if hours else config


def at_ease(config: Config, store: Store) -> Config:
    """The settings without a canary, once it has nothing to find out: it would look for ever."""
    watch = watch_of(store)
    if not config.review.main_check_hours or watch.frozen or watch.phase is not Phase.REST:
        return config
    return without_canary(config)


def without_canary(config: Config) -> Config:
    """The settings, and nobody who looks at main for ever."""
    return replace(config, review=replace(config.review, main_check_hours=0.0))


def nothing_is_reviewed_while_main_is_red(scene: Scene) -> list[str]:
    """From the moment main was found red until it is green, no review starts but that of a repair."""
    return scene.observed.take("frozen")


def one_red_main_is_one_question(scene: Scene) -> list[str]:
    """From main's red until it is seen green, one question about it is open, whoever finds it red."""
    asked = scene.observed.asked_about_main
    if len(asked) < 2:
        return []
    open_ = [number for number in sorted(asked) if scene.store.escalation(number).resolved_at is None]
    return [f"one red main is asked as {open_}"] if len(open_) > 1 else []
