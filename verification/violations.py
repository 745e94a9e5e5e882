"""Search for inputs that violate assumptions of a caller.

A guarded copy of the original reads an element that does not exist, and stops, where an assumption
is violated: in the iteration after the last allowed one, or on the way to the other branch. So
endless Loops end, and a Loop or If is watched in every graph.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple

from ..ir import Array, BaseDir, Model, ModelSource
from ..runtimes.session import Feeds
from ..runtimes.source import Source
from ..runtimes.workers import RuntimeFailure, Workers
from .mismatch import MARK, Claim, feeds_text
from .runs.input_generator import Drawer, DrawError
from .runs.many_iterations import long_running
from .runs.options import VerifyOptions, has_onnxruntime
from .runs.sample_shapes import narrow_signature
from .runs.shape_inputs import steering_inputs
from .runs.trial import Pair
from .runs.verify import run

_LONGER = 4
"""Trip count to exceed where an If is watched: its condition may count as Loops do."""
_PATIENCE = 10.0
"""Seconds that a run may take while inputs are looked for; one that takes longer is the last."""


class Violation(NamedTuple):
    """An input that violates an assumption.

    Attributes:
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
        guarded: a copy with its inputs bound and a guard for each claim, named by `MARK`.
        options: those of a verification, with the shapes of samples.
        bound: the values of the inputs that the copy no longer has.
        base_dir: the folder of the external data of models in memory.
        workers: child processes to use again.
    """

    def __init__(
        self,
        original: ModelSource,
        guarded: Model,
        claims: Sequence[Claim],
        options: VerifyOptions,
        *,
        bound: Mapping[str, Array],
        base_dir: BaseDir,
        workers: Workers | None,
    ) -> None:
        self._bound, self._workers, self._claims, self._options = bound, workers, claims, options
        shared: dict[str, Any] = {"bound": bound, "base_dir": base_dir, "workers": workers}
        self._verdict = partial(run, original, guarded, self._options, **shared, trusted=True)
        self._pair = Pair(Source(original, base_dir), Source(guarded, base_dir))
        self._steering = tuple(sorted(steering_inputs(self._pair.before.proto)))

    def on_samples(self, differing: Feeds | None) -> Violation | None:
        """Return a sample of the comparison that violates one.

        Args:
            differing: an input on which the outputs differ, if any; the samples here are others.
        """
        if not self._claims:
            return None
        verdict = self._verdict()
        if verdict.status == "different" and verdict.feeds is not None:
            violation = self._told(verdict.reason, verdict.feeds)
            if violation is not None:
                return violation
        return None if differing is None else self._first([differing])

    def further(self) -> Violation | None:
        """Return an input drawn to violate one; None where the caller gives inputs."""
        if not self._claims or self._options.feeds is not None:
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
        for most in dict.fromkeys(claim.most or _LONGER for claim in self._claims):
            yield from long_running(drawer, self._steering, most)

    def _told(self, reason: str, feeds: Feeds) -> Violation | None:
        """Return the input of a failure, if a guard failed."""
        mark = re.search(rf"{MARK}(\d+)", reason)
        if mark is None:
            return None
        own = {name: value for name, value in feeds.items() if name not in self._bound}
        return Violation(self._claims[int(mark[1])], own, self._steering)
