"""How long changes wait until they land, on a virtual clock, with one validator and with several, and what that costs.

Every change of a queue (merge_queue.py) waits from the beginning, and a run takes 1. What is validated, published and
blamed is the shipped decider's word, and how many changes stand on one another is what `review.queue` lets on.
A run whose prefix somebody was taken out of is ended, and its validator is free.
"""

import heapq
import statistics
from collections.abc import Sequence

from merge_queue import Queue

from nobrakes.checks.contract import Verdict
from nobrakes.review.queue import Pace, Rules, at_once, decide, red

Tree = tuple[int, ...]


def landed(queue: Queue, validators: int, every: bool) -> tuple[list[float], int]:
    """When each change landed, and how many runs there were."""
    rules = Rules(validators=validators, every_commit_green=every)
    waiting, main, times = list(range(queue.size)), list[int](), list[float]()
    known: dict[Tree, Verdict] = {(): Verdict.GREEN}
    running: list[tuple[float, Tree]] = []
    now, pace, runs = 0.0, Pace(), 0
    while waiting:
        train = waiting[: at_once(rules, pace)]
        trees = [tuple(main + train[:place]) for place in range(len(train) + 1)]
        running = [(end, tree) for end, tree in running if tree in trees]
        begun = {tree for _, tree in running}
        verdicts = [Verdict.RUNNING if tree in begun else known.get(tree, Verdict.UNKNOWN) for tree in trees]
        move = decide(verdicts, validators - len(running), every, 0 if every else pace.together)
        for number in move.validate:
            running.append((now + 1, trees[number]))
            pace, runs = pace.ran(), runs + 1
        if move.blame:
            waiting.remove(train[move.blame - 1])
            pace = pace.blamed()
        if move.publish:
            main += train[: move.publish]
            times += [now] * move.publish
            del waiting[: move.publish]
            pace = pace.landed(move.publish)
        if not (move.validate or move.blame or move.publish):
            heapq.heapify(running)
            now = running[0][0]
            while running and running[0][0] == now:
                tree = heapq.heappop(running)[1]
                known[tree] = Verdict.GREEN if queue.is_good(tree) else red(1)
    return times, runs


def mean(queues: Sequence[Queue], validators: int, every: bool) -> list[float]:
    """The mean time of each queue's changes until they landed."""
    return [statistics.mean(landed(queue, validators, every)[0]) for queue in queues]
