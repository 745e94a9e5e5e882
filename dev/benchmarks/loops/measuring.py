"""How long models take to load and to run: processor time, measured in turns, so that a busy
machine disturbs all of them alike."""

import gc
import statistics
import time
from collections.abc import Callable, Sequence

import onnx

from .case import Arrays
from .runtimes import OpenSession, Session

Times = list[list[float]]
"""Seconds, a row for each round."""
_MOST_ROUNDS = 60
_SAMPLE = 0.002
"""Seconds that a sample takes at least: what is shorter is run several times."""


def load_times(session: OpenSession, one: bytes, other: bytes, seconds: float) -> Times:
    """Times in which sessions are made of two models, a pair for each round."""
    session(one)
    return in_turns([lambda: session(one), lambda: session(other)], seconds, [1, 1])


def run_times(one: Session, other: Session, feeds: Arrays, seconds: float) -> Times:
    """Times in which two sessions run, a pair for each round."""
    calls = [lambda: one.run(None, feeds), lambda: other.run(None, feeds)]
    counts = []
    for call in calls:
        call()
        once = min(_timed(call, 1) for _ in range(3))
        counts.append(max(1, round(_SAMPLE / once)))
    return in_turns(calls, seconds, counts)


def in_turns(calls: Sequence[Callable[[], object]], seconds: float, counts: Sequence[int]) -> Times:
    """The times of calls, round after round, every other round from the last to the first.

    Args:
        calls: what is timed.
        seconds: when to stop, once there are three rounds; one is enough where that alone takes
            ten times as long.
        counts: how often each is called for one time.
    """
    rounds: Times = []
    gc.collect()
    started = time.perf_counter()
    while len(rounds) < _MOST_ROUNDS:
        spent = time.perf_counter() - started
        if rounds and spent > seconds and (len(rounds) >= 3 or spent > 10 * seconds):
            break
        order = range(len(calls))
        times = {i: _timed(calls[i], counts[i]) for i in (order, reversed(order))[len(rounds) % 2]}
        rounds.append([times[index] for index in order])
    return rounds


def _timed(call: Callable[[], object], count: int) -> float:
    """Processor time, which others on the machine disturb least; all work is on one thread."""
    started = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - started) / count


def ratio(times: Times) -> float:
    """How many times faster the second is: the median over the rounds."""
    return statistics.median(one / other for one, other in times)


def graphs(graph: onnx.GraphProto) -> list[onnx.GraphProto]:
    """A graph and all bodies in it."""
    found = [graph]
    for inner in found:
        found += [a.g for node in inner.node for a in node.attribute if a.HasField("g")]
    return found


def count_nodes(model: onnx.ModelProto) -> int:
    """The nodes of a model, with those of its bodies."""
    return sum(len(graph.node) for graph in graphs(model.graph))


def loops_left(model: onnx.ModelProto) -> int:
    """How many loops a model has."""
    kinds = ("Loop", "Scan", "SequenceMap")
    return sum(node.op_type in kinds for graph in graphs(model.graph) for node in graph.node)
