"""Search for inputs on which Loops exceed the maxima that a caller vouches for.

A copy of the original is guarded: in the iteration after the last allowed one it reads an element
that does not exist, and stops. So endless Loops end, and a Loop is watched in every graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..ir import Array, BaseDir, Model, ModelSource, Node, Operator
from ..ops.builder import Builder
from ..runtimes.session import Feeds
from ..runtimes.source import Source
from ..runtimes.workers import RuntimeFailure, Workers
from ..verification import with_sample_shapes
from ..verification.runs.input_generator import Drawer, DrawError
from ..verification.runs.many_iterations import long_running
from ..verification.runs.options import VerifyOptions, has_onnxruntime
from ..verification.runs.sample_shapes import narrow_signature
from ..verification.runs.shape_inputs import steering_inputs
from ..verification.runs.trial import Pair
from ..verification.runs.verify import run
from .trip_bounds import Maxima, assumed_loops

_MARK = "beyond_the_maximum_"
_LARGEST = 1 << 20
"""A larger maximum is not guarded: it takes an array of that size."""
_PATIENCE = 10.0
"""Seconds that a run may take while inputs are looked for; one that takes longer is the last."""
_MOST_SHOWN = 4
"""So many inputs are shown, and so many elements of each."""


class Beyond(NamedTuple):
    """An input on which a Loop exceeds its maximum trip count.

    Attributes:
        path: the Loop.
        most: the maximum.
        feeds: the input.
        steering: the names of the inputs that decide trip counts, which are shown first.
    """

    path: str
    most: int
    feeds: Feeds
    steering: tuple[str, ...]

    @property
    def loop(self) -> str:
        """The Loop and its maximum, as the end of a sentence."""
        return f"Loop '{self.path}' run more than {self.most} trip{'' if self.most == 1 else 's'}"

    @property
    def shown(self) -> str:
        """The input in a line."""
        names = sorted(self.feeds, key=lambda name: name not in self.steering)
        more = len(names) - _MOST_SHOWN
        text = ", ".join(_shown(name, self.feeds[name]) for name in names[:_MOST_SHOWN])
        return text + (f" and {more} more" if more > 0 else "")


class Search:
    """Search for inputs that exceed maxima.

    Args:
        original: the model.
        guarded: a copy with its inputs bound, which is guarded here.
        maxima: by the path of the Loop.
        options: those of a verification.
        bound: the values of the inputs that the copy no longer has.
        base_dir: the folder of the external data of models in memory.
        workers: child processes to use again.
    """

    def __init__(
        self,
        original: ModelSource,
        guarded: Model,
        maxima: Maxima,
        options: VerifyOptions,
        *,
        bound: Mapping[str, Array],
        base_dir: BaseDir,
        workers: Workers | None,
    ) -> None:
        self._bound, self._workers = bound, workers
        self._guards = guard_maxima(guarded, maxima)
        self._options = with_sample_shapes(original, options, bound)
        self._verdict = partial(
            run, original, guarded, self._options, bound=bound, base_dir=base_dir, workers=workers
        )
        self._pair = Pair(Source(original, base_dir), Source(guarded, base_dir))
        self._steering = tuple(sorted(steering_inputs(self._pair.before.proto)))

    def on_samples(self) -> Beyond | None:
        """Return a sample of the comparison that exceeds a maximum."""
        if not self._guards:
            return None
        verdict = self._verdict()
        if verdict.status != "different" or verdict.feeds is None:
            return None
        return self._told(verdict.reason, verdict.feeds)

    def further(self) -> Beyond | None:
        """Return an input drawn to exceed a maximum; None where the caller gives inputs."""
        if not self._guards or self._options.feeds is not None:
            return None
        with ExitStack() as stack:
            workers = self._workers or stack.enter_context(Workers())
            runtime, timeout = self._options.runtime, self._options.timeout
            if runtime not in ("onnxruntime", "reference"):
                runtime = "onnxruntime" if has_onnxruntime() else "reference"
            worker = workers.get(runtime, min(timeout or _PATIENCE, _PATIENCE))
            try:
                for feeds in self._drawn():
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
        drawer = Drawer(pair.before_signature, after, self._bound, options.seed, self._steering)
        for most in dict.fromkeys(most for _, most in self._guards):
            yield from long_running(drawer, self._steering, most)

    def _told(self, reason: str, feeds: Feeds) -> Beyond | None:
        """Return the input of a failure, if a guard failed."""
        mark = re.search(rf"{_MARK}(\d+)", reason)
        if mark is None:
            return None
        own = {name: value for name, value in feeds.items() if name not in self._bound}
        return Beyond(*self._guards[int(mark[1])], own, self._steering)


def guard_maxima(model: Model, maxima: Maxima) -> list[tuple[str, int]]:
    """Guard a model: it fails where one of its Loops exceeds its maximum.

    Args:
        model: is changed in place.
        maxima: by the path of the Loop.

    Returns:
        the guarded Loops, in order.

    Raises:
        AssumptionError: as `assume_maxima`.
    """
    loops = assumed_loops(model, maxima)
    few = [(path, int(most)) for path, most in maxima.items() if most <= _LARGEST]
    for number, (path, most) in enumerate(few):
        _guard(loops[path], most, f"{_MARK}{number}")
    return few


def _guard(loop: Node, most: int, name: str) -> None:
    body = loop.body("body")
    emit = Builder(body)
    number = emit.scalar(body.inputs[0], "number")
    allowed = emit.constant(np.ones(most, bool), "allowed")
    inside = emit.apply(Operator.make("Gather"), [allowed, number], name, name)
    goes_on = emit.add("And", [body.outputs[0], inside], "goes_on")
    body.set_outputs([goes_on, *body.outputs[1:]])


def _shown(name: str, value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic) and np.size(value) <= _MOST_SHOWN:
        return f"{name}={np.asarray(value).tolist()}"
    if isinstance(value, np.ndarray):
        return f"{name} of {value.dtype}{list(value.shape)}"
    return f"{name} with {len(value)} parts" if isinstance(value, list) else f"no {name}"
