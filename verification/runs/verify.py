"""Verification by running an original and its rewrite on the same inputs."""

import itertools
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from typing import Any

import onnx

from ...display import OnProgress, silent
from ...facts.named_dimensions import Minima
from ...ir import ModelSource
from ...ir.errors import ModelError
from ...records import record
from ...reference.signature import Signature, all_nodes, mismatches
from ...runtimes.feeds import check_feeds, read_feeds
from ...runtimes.session import Feeds
from ...runtimes.source import Source, new_fault
from ...runtimes.workers import RuntimeName, Worker, Workers
from .comparison import Tolerance
from .input_generator import Drawer, DrawError, Sample
from .options import RuntimeChoice, VerifyOptions, has_onnxruntime
from .sample_shapes import narrow_signature, require_minima
from .separators import Separators, id_ranges
from .shape_inputs import steering_inputs
from .trial import Pair, Trial, disagreements
from .verdict import GIVEN_SAMPLE, Verdict

_log = logging.getLogger(__name__)

_SIZE_OF_RUNS = 3000
"""Limit of nodes and kilobytes that all separating samples run together."""
_LEAST_SEPARATING = 2
_MOST_SEPARATING = 28

_ELEMENTS_OF_RUNS = 1 << 27
"""Limit of elements of inputs of fixed sizes that all samples draw together, but for the first."""


def run(
    before: ModelSource,
    after: ModelSource,
    options: VerifyOptions,
    *,
    bound: Mapping[str, Any] | None = None,
    base_dir: str | PathLike[str] | None = None,
    workers: Workers | None = None,
    on_progress: OnProgress = silent,
    minimized: bool = False,
    over_reals: bool = False,
    trusted: bool = False,
) -> Verdict:
    """Run both models, and compare their outputs; the arguments are those of `verify`.

    Args:
        minimized: shrink an input on which outputs differ.
        over_reals: the rewrite claims equality of real numbers: where results overflow, or turn at
            a threshold, it may differ.
        trusted: run no separating samples, which break what the caller vouches for.

    Raises:
        SampleShapeError: a shape for samples does not fit its input.
        FeedError: given inputs do not fit the original or cannot be read.
        LoadError: a model cannot be read.
        ModelError: the original is not well formed.
    """
    start = time.perf_counter()
    pair = Pair(Source(before, base_dir), Source(after, base_dir))
    pair.before.require_well_formed()
    fixed = check_feeds(bound or {}, pair.before.proto, partial=True)
    verdict = _early_verdict(pair, fixed)
    if verdict is None:
        pair = pair.copying_outputs()
        try:
            signature = narrow_signature(
                pair.before_signature, pair.after_signature, options.sample_shapes
            )
            most = 0 if trusted or options.atol is not None else _separating(pair)
            inputs = _inputs(pair, signature, options, fixed, most, exact=not over_reals)
            with ExitStack() as stack:
                pool = workers or stack.enter_context(Workers())
                slack = pair.slack if options.atol is None else 0.0
                tolerance = Tolerance(options.rtol, options.atol, slack=slack, reals=over_reals)
                shrinking = (signature, fixed, options.minima) if minimized else None
                trials = _Trials(pair, pool, tolerance, options.timeout, on_progress, shrinking)
                verdict = _verdict(trials, inputs, options.runtime)
        except DrawError as error:
            verdict = Verdict("not verified", str(error))
    return replace(verdict, seconds=time.perf_counter() - start)


def _early_verdict(pair: Pair, bound: Feeds) -> Verdict | None:
    """The verdict on models that need not or cannot be run; None on others."""
    try:
        pair.after.require_well_formed()
    except ModelError as error:
        return Verdict.invalid(str(error))
    fault = new_fault(pair.before, pair.after)
    if fault:
        return Verdict.invalid(fault)
    # A default that cannot be read may be a constant of the rewrite, and has no value in `bound`.
    frozen = pair.before_signature.defaults if pair.before.unreadable else {}
    problems = mismatches(pair.before_signature, pair.after_signature, {**bound, **frozen})
    if problems:
        return Verdict("different", f"the signatures differ: {'; '.join(problems)}")
    unreadable = pair.before.unreadable or pair.after.unreadable
    return Verdict("not verified", unreadable) if unreadable else None


Inputs = Callable[[], Iterator[Sample]]


def _inputs(
    pair: Pair,
    after: Signature,
    options: VerifyOptions,
    bound: Feeds,
    most_separating: int,
    exact: bool,
) -> Inputs:
    """Return a function that generates samples for `after`, anew for each runtime."""
    if options.feeds is None:
        steering = steering_inputs(pair.before.proto) | steering_inputs(pair.after.proto)
        minima = options.minima
        drawer = Drawer(pair.before_signature, after, bound, options.seed, steering, minima)
        room = max(_ELEMENTS_OF_RUNS // _fixed_elements(pair.before_signature), 1)
        plain = options.plain_samples if options.samples else min(options.plain_samples, room)
        # An absolute tolerance holds for ordinary magnitudes.
        most_adversarial = min(plain, max(room - plain - 1, 0)) if options.atol is None else 0
        most_separating = min(most_separating, max(room - plain - most_adversarial, 0))
        separators = Separators.of(pair.before.proto, pair.after.proto)
        ids = id_ranges(pair.before.proto)
        return lambda: itertools.chain(
            drawer.samples(plain),
            drawer.adversarial(most_adversarial),
            drawer.separating(most_separating, separators, ids, exact),
        )
    feeds = read_feeds(options.feeds, pair.before.proto, bound)
    require_minima(pair.before_signature, feeds, options.minima)
    return lambda: (
        Sample(f"{GIVEN_SAMPLE} {n}", iter([feed]), essential=True) for n, feed in enumerate(feeds)
    )


def _separating(pair: Pair) -> int:
    """The number of separating samples: fewer for large models, on which each takes longer."""
    size = sum(_size(source.proto) for source in (pair.before, pair.after))
    return min(max(_SIZE_OF_RUNS // size, _LEAST_SEPARATING), _MOST_SEPARATING)


def _fixed_elements(signature: Signature) -> int:
    """The number of elements of the largest input, where open sizes are 1."""
    shapes = [type_.tensor_type.shape.dim for type_ in signature.inputs.values()]
    return max([math.prod(max(dim.dim_value, 1) for dim in dims) for dims in shapes], default=1)


def _size(model: onnx.ModelProto) -> int:
    """The number of nodes in all graphs and functions, and of kilobytes of the model."""
    graphs = (model.graph.node, *(function.node for function in model.functions))
    return 1 + sum(len(list(all_nodes(nodes))) for nodes in graphs) + model.ByteSize() // 1024


@record(frozen=True)
class _Trials:
    """Trials of one verification, with their common parameters."""

    pair: Pair
    workers: Workers
    tolerance: Tolerance
    timeout: float | None
    on_progress: OnProgress
    shrinking: tuple[Signature, Feeds, Minima] | None = None
    """The rewrite's signature, bound inputs and minimum sizes, to shrink a differing input."""

    def run(self, runtime: RuntimeName, samples: Iterator[Sample], keep: bool = False) -> Trial:
        worker = self.workers.get(runtime, self.timeout)
        trial = Trial(worker, self.pair, self.tolerance, keep, self._other_than(runtime))
        trial.run(self._with_progress(samples, runtime))
        if self.shrinking is not None and trial.differing is not None:
            self.on_progress("verifying", "a smaller input", 0, 0)
            trial.minimize(*self.shrinking)
        for source in self.pair.sources:
            worker.forget(source)
        return trial

    def _with_progress(self, samples: Iterator[Sample], runtime: RuntimeName) -> Iterator[Sample]:
        """The samples, with a progress report before each."""
        for number, sample in enumerate(samples):
            _log.debug("%s: %s", runtime, sample.label)
            self.on_progress("verifying", f"{runtime}: {sample.label}", number, 0)
            yield sample

    def _other_than(self, runtime: RuntimeName) -> Callable[[], Worker] | None:
        if runtime == "onnxruntime":
            return lambda: self.workers.get("reference", self.timeout)
        if has_onnxruntime():
            return lambda: self.workers.get("onnxruntime", self.timeout)
        return None


def _verdict(trials: _Trials, inputs: Inputs, runtime: RuntimeChoice) -> Verdict:
    if runtime == "both":
        return _both(trials, inputs)
    if runtime != "auto":
        return trials.run(runtime, inputs()).verdict()
    if has_onnxruntime():
        first = trials.run("onnxruntime", inputs())
        if not first.beyond_runtime:
            return first.verdict()
        reason = first.reason
    else:
        reason = "onnxruntime is not installed"
    verdict = trials.run("reference", inputs()).verdict()
    note = f"the reference was used, because {reason}"
    return replace(verdict, notes=(note, *verdict.notes))


def _both(trials: _Trials, inputs: Inputs) -> Verdict:
    """Run both runtimes on the same inputs, to separate faults of runtimes and rewrite."""
    first = trials.run("onnxruntime", inputs(), keep=True)
    if first.timed_out and not first.accepted:
        return first.verdict()
    same = (
        Sample(r.label, iter([r.feeds]), adversarial=r.adversarial, exact=r.exact)
        for r in first.accepted
    )
    second = trials.run("reference", same if first.accepted else inputs(), keep=True)
    one, two = first.verdict(), second.verdict()
    notes = tuple(f"onnxruntime: {note}" for note in one.notes)
    notes += tuple(f"reference: {note}" for note in two.notes)
    differences = disagreements(first, second, trials.tolerance)
    if "not verified" in (one.status, two.status):
        blind, seeing = (one, two) if one.status == "not verified" else (two, one)
        notes = (f"{blind.runtimes[0]} returned no verdict: {blind.reason}", *notes)
        return replace(seeing, notes=notes, disagreements=differences)
    worse, better = (one, two) if one.status == "different" else (two, one)
    reason = worse.reason
    if worse.status != better.status:
        reason = f"under {worse.runtimes[0]} only (equal under {better.runtimes[0]}): {reason}"
    runtimes = (*one.runtimes, *two.runtimes)
    return replace(worse, reason=reason, runtimes=runtimes, disagreements=differences, notes=notes)
