"""Run an original and its rewrite on the same inputs and compare every output."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, get_args

from ..ir import ModelSource
from ..ir.errors import Error
from .compare import Tolerance
from .draw import Drawer, DrawError, Feeds, Sample
from .feeds import Given, check_feeds, read_feeds
from .runtimes import RuntimeName, Worker, has_onnxruntime
from .signature import mismatches
from .source import Source
from .trial import Pair, Trial, disagreements
from .verdict import Verdict

RuntimeChoice = Literal["auto", "onnxruntime", "reference", "both"]


class VerifyError(Error):
    """An option of the verification is out of range."""


def verify(
    before: ModelSource,
    after: ModelSource,
    *,
    feeds: Given | None = None,
    runtime: RuntimeChoice = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    samples: int = 3,
    seed: int = 0,
    timeout: float | None = None,
    bound: Mapping[str, Any] | None = None,
    base_dir: str | PathLike[str] | None = None,
) -> Verdict:
    """Whether two models give the same outputs.

    Args:
        before: the original: a path, bytes, ModelProto, onnx_ir.Model or straightline.ir.Model.
        after: the rewrite.
        feeds: inputs to run on: a dict by name, a list of them, an `.npz` file, or a folder in
            ONNX's test-data layout. Without them inputs are drawn.
        runtime: "onnxruntime", "reference" (exact, slow), "both", or "auto": onnxruntime where it
            is installed and runs the original, else the reference.
        rtol: relative tolerance for floats of all types; see `compare.Tolerance` for the default.
        atol: absolute tolerance for floats of all types.
        samples: how many plain samples are drawn; overridable initializers add more.
        seed: the same seed draws the same inputs.
        timeout: seconds for loading one model or running it once; 300 without.
        bound: values of inputs that the rewrite no longer has.
        base_dir: the folder of the external data of models given in memory.

    Raises:
        VerifyError: an option is out of range.
        FeedError: given inputs do not fit the original or cannot be read.
        LoadError: a model cannot be read.
    """
    _check_options(runtime, rtol, atol, samples, timeout)
    start = time.perf_counter()
    pair = Pair(Source(before, base_dir), Source(after, base_dir))
    fixed = check_feeds(bound or {}, pair.before.proto, partial=True)
    problems = mismatches(pair.before_signature, pair.after_signature, fixed)
    if problems:
        verdict = Verdict("different", "; ".join(problems))
    else:
        try:
            inputs = _inputs(pair, feeds, fixed, samples, seed)
            verdict = _verdict(pair, inputs, runtime, Tolerance(rtol, atol), timeout)
        except DrawError as error:
            verdict = Verdict("not verified", str(error))
    return replace(verdict, seconds=time.perf_counter() - start)


def _check_options(
    runtime: str, rtol: float | None, atol: float | None, samples: int, timeout: float | None
) -> None:
    if runtime not in get_args(RuntimeChoice):
        choices = ", ".join(get_args(RuntimeChoice))
        raise VerifyError(f"unknown runtime '{runtime}'; choose one of {choices}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is not None and not value >= 0:
            raise VerifyError(f"{name} is {value}; it must be 0 or more")
    if samples < 1:
        raise VerifyError(f"samples is {samples}; it must be 1 or more")
    if timeout is not None and not timeout > 0:
        raise VerifyError(f"timeout is {timeout}; it must be more than 0 seconds")


Inputs = Callable[[], Iterator[Sample]]


def _inputs(pair: Pair, given: Given | None, bound: Feeds, samples: int, seed: int) -> Inputs:
    """The samples, as a function because each runtime goes through them anew."""
    if given is None:
        drawer = Drawer(pair.before_signature, pair.after_signature, bound, seed)
        return lambda: drawer.samples(samples)
    feeds = read_feeds(given, pair.before.proto, bound)
    return lambda: (Sample(f"given sample {n}", iter([feed])) for n, feed in enumerate(feeds))


def _verdict(
    pair: Pair, inputs: Inputs, runtime: RuntimeChoice, tolerance: Tolerance, timeout: float | None
) -> Verdict:
    with ExitStack() as stack:

        def trial(name: RuntimeName, samples: Iterator[Sample]) -> Trial:
            worker = stack.enter_context(Worker(name, timeout))
            found = Trial(worker, pair, tolerance)
            found.run(samples)
            return found

        if runtime == "both":
            return _both(trial, inputs, tolerance)
        if runtime != "auto":
            return trial(runtime, inputs()).verdict()
        if not has_onnxruntime():
            note = "onnxruntime is not installed; the reference ran both models"
            verdict = trial("reference", inputs()).verdict()
            return replace(verdict, notes=(note, *verdict.notes))
        first = trial("onnxruntime", inputs())
        if not first.beyond_runtime:
            return first.verdict()
        second = trial("reference", inputs()).verdict()
        note = f"the reference ran both models, because {first.reason}"
        return replace(second, notes=(note, *second.notes))


def _both(
    trial: Callable[[RuntimeName, Iterator[Sample]], Trial], inputs: Inputs, tolerance: Tolerance
) -> Verdict:
    """Run both runtimes on the same inputs; tell a fault of a runtime from one of the rewrite."""
    first = trial("onnxruntime", inputs())
    same = (Sample(run.label, iter([run.feeds])) for run in first.runs)
    second = trial("reference", same if first.runs else inputs())
    one, two = first.verdict(), second.verdict()
    notes = tuple(f"onnxruntime: {note}" for note in one.notes)
    notes += tuple(f"reference: {note}" for note in two.notes)
    found = disagreements(first, second, tolerance)
    if "not verified" in (one.status, two.status):
        blind, seeing = (first, two) if one.status == "not verified" else (second, one)
        note = f"{blind.runtime} gave no verdict: {blind.verdict().reason}"
        return replace(seeing, notes=(note, *notes), disagreements=found)
    reason = one.reason
    if one.status != two.status:
        names = ("onnxruntime", "reference")
        differs, agrees = names if one.status == "different" else names[::-1]
        worse = one if one.status == "different" else two
        reason = f"under {differs} only ({agrees} finds them equal): {worse.reason}"
        one = worse
    return replace(
        one, reason=reason, runtimes=("onnxruntime", "reference"), disagreements=found, notes=notes
    )
