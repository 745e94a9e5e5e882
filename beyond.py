"""Inputs that make Loops run beyond the maxima that a caller vouches for.

A copy of the original is guarded: in the trip behind the last one that is allowed it reads what is
not there, and stops. So an endless Loop is no danger, and a Loop is watched wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from .assumptions import Maxima, assumed_loops
from .ir import Array, BaseDir, Model, ModelSource, Node, Operator
from .passes.tools.emit import Emitter
from .reference.choices import has_onnxruntime
from .reference.draw import Drawer, DrawError
from .reference.many_trips import long_running
from .reference.runtimes import RuntimeFailure, Worker, Workers
from .reference.sample_shapes import narrowed
from .reference.session import Feeds
from .reference.source import Source
from .reference.steering import steering_inputs
from .reference.trial import Pair
from .reference.verify import verify

_MARK = "beyond_the_maximum_"
_LARGEST = 1 << 20
"""A larger maximum is not guarded: it takes an array of that size."""
_PATIENCE = 10.0
"""Seconds that a run may take while inputs are looked for; one that takes longer is the last."""
_MOST_SHOWN = 4
"""So many inputs are shown, and so many elements of each."""


class Beyond(NamedTuple):
    """An input on which a Loop makes more trips than it was said to make.

    Attributes:
        path: the Loop.
        most: the maximum.
        feeds: the input.
        steering: the names of the inputs that decide about trips, which are shown first.
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
        told = ", ".join(_shown(name, self.feeds[name]) for name in names[:_MOST_SHOWN])
        return told + (f" and {more} more" if more > 0 else "")


class Search:
    """Looks for inputs that go beyond maxima.

    Args:
        original: the model.
        guarded: a copy that was guarded, with the inputs bound that are.
        guards: the Loops that were, in order.
        bound: the values of the inputs that the copy no longer has.
        base_dir: the folder of the external data of models in memory.
        options: those of a verification.
    """

    def __init__(
        self,
        original: ModelSource,
        guarded: Model,
        guards: Sequence[tuple[str, int]],
        bound: Mapping[str, Array],
        base_dir: BaseDir,
        options: Mapping[str, Any],
    ) -> None:
        self._models = original, guarded
        self._guards = guards
        self._bound = bound
        self._base_dir = base_dir
        runs = {n: v for n, v in options.items() if n not in ("prove", "loaded")}
        self._options = {name: value for name, value in runs.items() if value is not None}
        self._pair = Pair(Source(original, base_dir), Source(guarded, base_dir))
        self._steering = tuple(sorted(steering_inputs(self._pair.before.proto)))

    def on_samples(self) -> Beyond | None:
        """A sample that goes beyond, of those on which both models are compared."""
        if not self._guards:
            return None
        found = verify(*self._models, bound=self._bound, base_dir=self._base_dir, **self._options)
        if found.status != "different" or found.feeds is None:
            return None
        return self._told(found.reason, found.feeds)

    def further(self) -> Beyond | None:
        """An input that goes beyond, drawn for that; none is where inputs were given."""
        if not self._guards or "feeds" in self._options:
            return None
        with ExitStack() as stack:
            workers = self._options.get("workers") or stack.enter_context(Workers())
            worker = workers.get(self._runtime(), min(self._timeout(), _PATIENCE))
            try:
                return self._tried(worker)
            except DrawError:
                return None  # the verdict says so
            finally:
                worker.forget(self._pair.after)

    def _tried(self, worker: Worker) -> Beyond | None:
        for feeds in self._drawn():
            try:
                worker.run(self._pair.after, self._pair.feeds_after(feeds))
            except RuntimeFailure as error:
                found = self._told(str(error), feeds)
                if found is not None or error.reason != "failed":
                    return found
        return None

    def _drawn(self) -> Iterator[Feeds]:
        pair, options = self._pair, self._options
        after = narrowed(pair.before_signature, pair.after_signature, options.get("sample_shapes"))
        seed = options.get("seed", 0)
        drawer = Drawer(pair.before_signature, after, self._bound, seed, self._steering)
        for most in dict.fromkeys(most for _, most in self._guards):
            yield from long_running(drawer, self._steering, most)

    def _told(self, reason: str, feeds: Feeds) -> Beyond | None:
        """What a failure says, if a guard was what failed."""
        mark = re.search(rf"{_MARK}(\d+)", reason)
        if mark is None:
            return None
        own = {name: value for name, value in feeds.items() if name not in self._bound}
        return Beyond(*self._guards[int(mark[1])], own, self._steering)

    def _runtime(self) -> Any:
        asked = self._options.get("runtime", "auto")
        if asked in ("onnxruntime", "reference"):
            return asked
        return "onnxruntime" if has_onnxruntime() else "reference"

    def _timeout(self) -> float:
        return float(self._options.get("timeout", _PATIENCE))


def guard_maxima(model: Model, maxima: Maxima) -> list[tuple[str, int]]:
    """Let a model fail where one of its Loops goes beyond its maximum.

    Args:
        model: is changed in place.
        maxima: by the path of the Loop.

    Returns:
        those that are guarded, in order.

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
    emit = Emitter(body)
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
