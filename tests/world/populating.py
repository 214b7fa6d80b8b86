"""Who is in a simulated world beside its daemon: the plan that it begins with, and what its people do there.

Each has dice of its own, drawn by the seed's words: who is not in a world changes nothing in its story.
"""

import random
from dataclasses import replace
from typing import Protocol

from nobrakes.config.settings import Config
from nobrakes.ports import Ports
from nobrakes.store import Store

from . import approving, by_epics, by_hand, features, reading
from .at_the_host import AtTheHost
from .checkout import Staging, uses_the_index
from .fake_git import FakeGit
from .fake_remote import SharedFakeGit
from .feature_agents import FeatureAgents
from .features import Features
from .filtering import SEALED, SECRET
from .graph import random_graph
from .people import ME, People
from .questions import Questions
from .rates import Rates
from .rewriting import Rewriting, how_often
from .scene import Approved, Scene
from .talking import Talking
from .undoing import Undoing, some_have_it, with_plans


class World(Protocol):
    """What is filled with people: as much of a simulated world as they need to know of."""

    seed: int
    rates: Rates
    rng: random.Random
    config: Config
    store: Store
    git: FakeGit
    ports: Ports
    people: People
    scene: Scene
    questions: Questions | None
    features: Features | None
    at_the_host: AtTheHost | None


def fill(world: World, beads: int) -> None:
    """The plan that is there, and who looks before what is merged."""
    seed, rates = world.seed, world.rates
    planned, dependencies = random_graph(world.rng, beads)
    if rates.epics:
        planned = by_epics.gathered(planned, seed)
    asking = with_plans(planned, seed) if rates.people else planned  # where nobody is, nobody approves
    if often := approving.how_often(seed, rates.approvals) if rates.people else 0.0:
        asking = approving.with_labels(asking, seed)
        approvals = approving.Approving(world.people, seed)
        world.scene.approved = Approved()
        world.people.also(8 * often, approvals.decide)
        world.people.also(1 * often, approvals.send_back)
        world.people.also(0.5 * often, approvals.unlabel)
        world.people.also(2 * often, approvals.get_in_the_way)
    if often := rates.readings if rates.people else 0.0:
        world.config = world.scene.config = reading.settings(seed, world.config)
        world.scene.readers = reading.Readers(world.store, seed, rates.fail)
        world.people.also(8 * often, world.scene.readers.decide)
        world.people.also(1 * often, world.scene.readers.end_one)
    if rates.filters:
        sealed = {**world.git.objects.tree_of(world.git.head), SECRET: f"{SEALED}a password"}
        world.git.put_on_main(world.git.objects.commit(sealed, (world.git.head,), "sealed", "human", 0.0).id)
    world.store.put(asking, dependencies, ME)


def people_at_work(world: World, talking: Talking) -> None:
    """Who works by hand, undoes, talks with agents, answers them, plans features, and merges requests."""
    seed, rates = world.seed, world.rates
    if world.scene.requested is not None:
        world.at_the_host = AtTheHost(world.people, world.scene.requested, lambda: world.config, seed)
        world.at_the_host.acts(rates.requests)
    if often := rates.hands:
        hands = by_hand.ByHands(world.people, world.scene, world.git, seed)
        world.people.also(3 * often, hands.take)
        world.people.also(4 * often, hands.hand_in)
        world.people.also(3 * often, hands.retry)
    if some_have_it(seed, "undo") and world.scene.requested is None:
        undoing = Undoing(replace(world.ports, store=world.store, git=world.git), world.git, world.rng)
        world.people.also(5, undoing.last_step)
        world.people.also(3, undoing.a_merge)
        world.people.at_the_end.append(undoing.finish)
    if some_have_it(seed, "talks") and rates.people:
        world.people.also(4, talking.begin)
        world.people.also(4, talking.say)
        world.people.also(1, talking.end)
        world.people.also(1, talking.stop)
    if often := rates.questions or (rates.people and some_have_it(seed, "questions")):
        world.scene.has_questions = True
        world.questions = Questions(world.store, world.scene, seed, ME)
        world.people.also(6 * often, world.questions.answer)
        world.people.also(6 * often, world.questions.take_back)
    if often := features.how_often(seed, rates.features, rates.crash) if _plans_features(world) else 0.0:
        world.config = world.scene.config = features.settings(seed, world.config)
        agents = FeatureAgents(world.store, seed, rates.fail)
        world.features = Features(world.people, lambda: world.config, world.ports.paths, seed, agents, often)
        world.scene.features = world.features


def _plans_features(world: World) -> bool:
    return bool(world.rates.people) and world.scene.requested is None


def people_at_main(world: World) -> None:
    """Who rewrites main, and who stages and commits."""
    seed, rates = world.seed, world.rates
    if world.scene.requested is not None:
        return  # main is the host's
    if isinstance(world.git, SharedFakeGit) and rates.protects:
        world.people.also(20, world.git.mend)
        world.people.at_the_end.append(world.git.leave_open)
    if often := how_often(world.git, seed, rates.rewrites):
        rewriting = Rewriting(world.git, world.rng)
        world.people.also(4 * often, rewriting.prune)
        world.people.also(2 * often, rewriting.amend)
        world.people.also(1 * often, rewriting.reset)
    if often := uses_the_index(world.git.is_shared(), seed, rates.staging):
        staging = Staging(world.git.checkout, world.git, random.Random(f"{seed} staging"))
        world.people.also(4 * often, staging.stage)
        world.people.also(2 * often, staging.commit)
        world.people.also(1 * often, staging.unstage)
        world.people.also(1 * often, staging.leave)
        world.people.also(1 * often, staging.come_back)
        world.people.at_the_end.append(staging.finish)
