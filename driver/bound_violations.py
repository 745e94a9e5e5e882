"""Search for inputs that violate the assumptions that a caller vouches for.

A copy of the original is guarded: in the iteration after the last allowed one, or on the way to the
other branch, it reads an element that does not exist, and stops. So endless Loops end, and a Loop
or If is watched in every graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import onnx

from ..ir import Array, BaseDir, Model, ModelSource, Node, Operator
from ..ops.builder import Builder
from ..runtimes.session import Feeds
from ..runtimes.source import Source
from ..runtimes.workers import RuntimeFailure, Workers
from ..verification import with_sample_shapes
from ..verification.mismatch import feeds_text
from ..verification.runs.input_generator import Drawer, DrawError
from ..verification.runs.many_iterations import long_running
from ..verification.runs.options import VerifyOptions, has_onnxruntime
from ..verification.runs.sample_shapes import narrow_signature
from ..verification.runs.shape_inputs import steering_inputs
from ..verification.runs.trial import Pair
from ..verification.runs.verify import run
from .assumptions import Assumptions, Claim, assumed_ifs, assumed_loops

_MARK = "violated_assumption_"
_LARGEST = 1 << 20
"""A larger maximum is not guarded: it takes an array of that size."""
_LONGER = 4
"""Trip count to exceed where an If is watched: its condition may count as Loops do."""
_PATIENCE = 10.0
"""Seconds that a run may take while inputs are looked for; one that takes longer is the last."""


class Violation(NamedTuple):
    """An input that violates an assumption.

    Attributes:
        claim: the assumption.
        feeds: the input.
        steering: the names of the inputs that decide control flow, which are shown first.
    """

    claim: Claim
    feeds: Feeds
    steering: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The input in a line."""
        return feeds_text(self.feeds, self.steering)


class Search:
    """Search for inputs that violate assumptions.

    Args:
        original: the model.
        guarded: a copy with its inputs bound, which is guarded here.
        assumptions: what is watched.
        options: those of a verification.
        bound: the values of the inputs that the copy no longer has.
        base_dir: the folder of the external data of models in memory.
        workers: child processes to use again.
    """

    def __init__(
        self,
        original: ModelSource,
        guarded: Model,
        assumptions: Assumptions,
        options: VerifyOptions,
        *,
        bound: Mapping[str, Array],
        base_dir: BaseDir,
        workers: Workers | None,
    ) -> None:
        self._bound, self._workers = bound, workers
        self._guards = guard(guarded, assumptions)
        self._options = with_sample_shapes(original, options, bound)
        shared: dict[str, Any] = {"bound": bound, "base_dir": base_dir, "workers": workers}
        self._verdict = partial(run, original, guarded, self._options, **shared, trusted=True)
        self._pair = Pair(Source(original, base_dir), Source(guarded, base_dir))
        self._steering = tuple(sorted(steering_inputs(self._pair.before.proto)))

    def on_samples(self, differing: Feeds | None) -> Violation | None:
        """Return a sample of the comparison that violates one.

        Args:
            differing: an input on which the outputs differ, if any; the samples here are others.
        """
        if not self._guards:
            return None
        verdict = self._verdict()
        if verdict.status == "different" and verdict.feeds is not None:
            violation = self._told(verdict.reason, verdict.feeds)
            if violation is not None:
                return violation
        return None if differing is None else self._first([differing])

    def further(self) -> Violation | None:
        """Return an input drawn to violate one; None where the caller gives inputs."""
        if not self._guards or self._options.feeds is not None:
            return None
        return self._first(self._drawn())

    def _first(self, candidates: Iterable[Feeds]) -> Violation | None:
        """Return the first input that violates one."""
        with ExitStack() as stack:
            workers = self._workers or stack.enter_context(Workers())
            runtime, timeout = self._options.runtime, self._options.timeout
            if runtime not in ("onnxruntime", "reference"):
                runtime = "onnxruntime" if has_onnxruntime() else "reference"
            worker = workers.get(runtime, min(timeout or _PATIENCE, _PATIENCE))
            try:
                for feeds in candidates:
                    try:
                        worker.run(self._pair.after, self._pair.feeds_after(feeds))
                    except RuntimeFailure as error:
                        violation = self._told(str(error), feeds)
                        if violation is not None or error.reason != "failed":
                            return violation
            except DrawError:
                pass  # the verdict says so
            finally:
                worker.forget(self._pair.after)
        return None

    def _drawn(self) -> Iterator[Feeds]:
        pair, options = self._pair, self._options
        after = narrow_signature(pair.before_signature, pair.after_signature, options.sample_shapes)
        settings = self._bound, options.seed, self._steering, options.minima
        drawer = Drawer(pair.before_signature, after, *settings)
        for most in dict.fromkeys(claim.most or _LONGER for claim in self._guards):
            yield from long_running(drawer, self._steering, most)

    def _told(self, reason: str, feeds: Feeds) -> Violation | None:
        """Return the input of a failure, if a guard failed."""
        mark = re.search(rf"{_MARK}(\d+)", reason)
        if mark is None:
            return None
        own = {name: value for name, value in feeds.items() if name not in self._bound}
        return Violation(self._guards[int(mark[1])], own, self._steering)


def guard(model: Model, assumptions: Assumptions) -> list[Claim]:
    """Guard a model: it fails where an assumption does not hold.

    Args:
        model: is changed in place.
        assumptions: what is watched.

    Returns:
        the guarded assumptions, in order.

    Raises:
        AssumptionError: the model has no such construct.
    """
    loops = assumed_loops(model, assumptions.maxima)
    ifs = assumed_ifs(model, assumptions.branches)
    claims = [claim for claim in assumptions.claims() if (claim.most or 0) <= _LARGEST]
    for number, claim in enumerate(claims):
        mark = f"{_MARK}{number}"
        if claim.most is None:
            _guard_branch(ifs[claim.path], assumptions.branches[claim.path], mark)
        else:
            _guard(loops[claim.path], claim.most, mark)
    return claims


def _guard_branch(node: Node, branch: str, name: str) -> None:
    """Read an element of a list of one: the first where the branch runs, else the second."""
    graph, condition = node.graph, node.input(0)
    assert graph is not None
    assert condition is not None
    emit = Builder(graph)
    condition = emit.scalar(condition, "condition")
    other = emit.add("Not", [condition], "other") if branch == "then" else condition
    index = emit.add("Cast", [other], "index", to=onnx.TensorProto.INT64)
    allowed = emit.constant(np.ones(1, bool), "allowed")
    inside = emit.apply(Operator.make("Gather"), [allowed, index], name, name)
    # Runtimes drop a Gather that nothing reads.
    graph.set_input(node, 0, emit.add("And", [condition, inside], "watched"))


def _guard(loop: Node, most: int, name: str) -> None:
    body = loop.body("body")
    emit = Builder(body)
    number = emit.scalar(body.inputs[0], "number")
    # No element has the number `most`, so one iteration more than that fails.
    allowed = emit.constant(np.ones(most, bool), "allowed")
    inside = emit.apply(Operator.make("Gather"), [allowed, number], name, name)
    goes_on = emit.add("And", [body.outputs[0], inside], "goes_on")
    body.set_outputs([goes_on, *body.outputs[1:]])
