"""Both models in one runtime: run the samples, collect the differences, reach a verdict."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import onnx

from ...ir.lazy import lazy_property
from ...ir.option_names import by
from ...reference.signature import Signature, has_random_operators, is_static, recurrent_operators
from ...runtimes.session import Feeds
from ...runtimes.source import Source
from ...runtimes.workers import RuntimeFailure, Worker
from .adversarial_inputs import perturbed
from .comparison import EXACT, Difference, Tolerance, combine, compare, is_float
from .input_generator import Sample
from .perturbation import nudged
from .verdict import OutputDifference, Status, Verdict

_REPEATS = 16  # how often a random model is run again to see an output change
_PATIENCE = 20.0  # a strained sample may take this many times as long as the quickest plain one
_LEAST_PATIENCE = 2.0  # seconds
_PERTURBED = 2  # how often inputs are rounded otherwise
_ROUNDED = 16.0  # a right form may be off by this many times what one rounding of the inputs does
_ROUNDED_PLAIN = 4.0  # the same on plain samples, and what one rounding of each result does
_LEAST_ACCURATE = 2.0**-10  # of the largest value that a plain sample gives, no more is excused
_APPROXIMATED = 4 * 2.0**-23  # activations of RNN, GRU and LSTM were found off by half as much
_RUNTIMES_FACTOR = 16.0  # two runtimes round differently in every operator, not only in folded ones


@dataclass(frozen=True)
class Pair:
    """The original and the rewrite."""

    before: Source
    after: Source
    _nudged: dict[int, Source] = field(default_factory=dict, init=False, compare=False)

    @lazy_property
    def before_signature(self) -> Signature:
        """The inputs and outputs of the original."""
        return Signature.of(self.before.proto)

    @lazy_property
    def after_signature(self) -> Signature:
        """The inputs and outputs of the rewrite."""
        return Signature.of(self.after.proto)

    @lazy_property
    def random(self) -> bool:
        """Whether the original draws random numbers."""
        return has_random_operators(self.before.proto)

    @lazy_property
    def slack(self) -> float:
        """How far results may be off, small as they are, where one model has RNN, GRU or LSTM in
        the place of what the other has: onnxruntime approximates their activations."""
        counts = [recurrent_operators(source.proto) for source in (self.before, self.after)]
        return 0.0 if counts[0] == counts[1] else _APPROXIMATED

    def nudged(self, seed: int) -> Source:
        """The original with results moved by a unit in the last place, or as it is."""
        known = self._nudged.get(seed)
        if known is None:
            proto = nudged(self.before.proto, seed)
            known = self.before if proto is None else self.before.replaced(proto)
            self._nudged[seed] = known
        return known

    @property
    def sources(self) -> tuple[Source, ...]:
        """All models that a runtime may have loaded."""
        return (self.before, self.after, *self._nudged.values())

    def feeds_after(self, feeds: Feeds) -> Feeds:
        """The part of the original's feeds that the rewrite takes."""
        taken = {*self.after_signature.inputs, *self.after_signature.defaults}
        return {name: value for name, value in feeds.items() if name in taken}


@dataclass(frozen=True)
class Accepted:
    """A sample that the original accepted, and its outputs."""

    label: str
    feeds: Feeds
    outputs: list[Any]
    strained: bool = False


class Trial:
    """Both models in one runtime.

    Args:
        worker: the runtime.
        pair: the models.
        tolerance: how far values may be off.
        keep: keep the samples that the original accepted, with its outputs.
        other: another runtime, asked where a strained sample seems to tell the models apart.

    Attributes:
        accepted: the samples that the original accepted, where they are kept.
        status: the verdict so far.
        reason: why.
        output_names: the outputs, in order.
        beyond_runtime: whether the runtime, rather than a model or the inputs, is at fault for a
            missing verdict, so that another runtime may do better.
        timed_out: whether the original was too slow on a sample; no further one is tried.
        differing: the first input on which the models differ.
    """

    def __init__(
        self,
        worker: Worker,
        pair: Pair,
        tolerance: Tolerance,
        keep: bool = False,
        other: Callable[[], Worker] | None = None,
    ) -> None:
        self.runtime = worker.runtime
        self.accepted: list[Accepted] = []
        self.status: Status = "equal"
        self.reason = ""
        self.beyond_runtime = False
        self.timed_out = False
        self.differing: Feeds | None = None
        self._worker = worker
        self._pair = pair
        self._keep = keep
        self._other = other
        self._tolerance = tolerance
        self._compared: list[str] = []
        self._differing: set[str] = set()
        self._notes: list[str] = []
        self._refused = 0
        self._quickest = math.inf  # seconds for a plain sample; the first one loads the model
        self._gave_up = False
        self.output_names = pair.before_signature.outputs
        self._found = [Difference() for _ in self.output_names]
        self._samples = ["" for _ in self.output_names]
        self._unstable: list[set[str]] = [set() for _ in self.output_names]

    def run(self, samples: Iterator[Sample]) -> None:
        """Go through the samples until a verdict stands."""
        for sample in samples:
            accepted = self._strained(sample) if sample.strained else self._original(sample)
            if accepted is not None:
                if self._keep:
                    self.accepted.append(accepted)
                self._rewrite(accepted)
            if self.reason or self.timed_out:
                return
        if not self._compared:
            reason = self._notes.pop() if self._notes else "there was no input to run on"
            self._stop("not verified", reason, beyond_runtime=True)

    def verdict(self) -> Verdict:
        """The verdict on the samples that were run."""
        status, reason = self.status, self.reason
        outputs = tuple(self._output(number) for number in range(len(self.output_names)))
        if not reason:
            status, reason = self._conclusion(outputs)
        notes = list(self._notes)
        if self._refused:
            notes.append(f"the original failed on {self._refused} drawn inputs; others were drawn")
        return Verdict(
            status,
            reason,
            (self.runtime,),
            tuple(self._compared),
            outputs if self._compared else (),
            notes=tuple(notes),
            feeds=self.differing if status == "different" else None,
        )

    @property
    def unstable(self) -> set[str]:
        """The outputs in which the original does not repeat itself."""
        return {n for n, kinds in zip(self.output_names, self._unstable, strict=True) if kinds}

    def _conclusion(self, outputs: Sequence[OutputDifference]) -> tuple[Status, str]:
        number = len(self._compared)
        count = f"on {number} sample{'s' if number > 1 else ''}"
        by_status = {
            status: ", ".join(f"'{o.name}'" for o in outputs if o.status == status)
            for status in ("equal", "different", "not deterministic")
        }
        if by_status["different"]:
            of_all = f"on {len(self._differing)} of {count[3:]}" if number > 1 else count
            return "different", f"the rewrite differs in {by_status['different']} {of_all}"
        if not by_status["not deterministic"]:
            return "equal", f"all outputs agree {count}"
        reason = f"by type and shape only, as not deterministic: {by_status['not deterministic']}"
        if not by_status["equal"]:
            return "not verified", reason
        return "equal", f"{by_status['equal']} agree {count}; {reason}"

    def _output(self, number: int) -> OutputDifference:
        found = self._found[number]
        unstable = "not deterministic" if self._unstable[number] else "equal"
        status = "different" if found.kind else unstable
        return OutputDifference(self.output_names[number], status, found, self._samples[number])  # type: ignore[arg-type]

    def _stop(self, status: Status, reason: str, beyond_runtime: bool = False) -> None:
        self.status, self.reason, self.beyond_runtime = status, reason, beyond_runtime

    def _original(self, sample: Sample) -> Accepted | None:
        """The first candidate that the original accepts."""
        failure: RuntimeFailure | None = None
        refused = 0
        for feeds in sample.candidates:
            start = time.perf_counter()
            try:
                outputs = self._worker.run(self._pair.before, feeds, fresh=self._pair.random)
            except RuntimeFailure as error:
                failure, refused = error, refused + 1
                if error.reason != "failed":
                    break
                continue
            self._refused += refused
            self._quickest = min(self._quickest, time.perf_counter() - start)
            return Accepted(sample.label, feeds, outputs)
        reason = f"the original does not run on {sample.label}: {failure}"
        if not sample.essential:
            reason += self._way_out()
        self.timed_out = failure is not None and failure.reason == "timed out"
        # What takes too much here takes too much elsewhere.
        too_much = failure is not None and failure.reason in ("timed out", "out of memory")
        hopeless = failure is not None and failure.reason != "failed" and not self._compared
        if sample.essential or hopeless:
            self._stop("not verified", reason, beyond_runtime=not too_much)
        else:
            self._notes.append(reason)
        return None

    def _way_out(self) -> str:
        """What the user can give where nothing that was drawn fits."""
        open_ = (n for n, t in self._pair.before_signature.inputs.items() if not _is_sized(t))
        name = next(open_, None)
        shape = "" if name is None else by(f"--sample-shape {name}=...")
        sizes = f"sizes that it takes with {shape}, or " if shape else ""
        return f"; give {sizes}inputs with {by('--inputs FILE.npz')}"

    def _strained(self, sample: Sample) -> Accepted | None:
        """As `_original`, but what fails here or takes long says nothing."""
        if not self._compared or self._gave_up:
            return None
        patience = self._worker.timeout
        self._worker.timeout = min(patience, max(_LEAST_PATIENCE, _PATIENCE * self._quickest))
        try:
            for feeds in sample.candidates:
                try:
                    outputs = self._worker.run(self._pair.before, feeds, fresh=self._pair.random)
                    return Accepted(sample.label, feeds, outputs, strained=True)
                except RuntimeFailure as error:
                    self._gave_up = error.reason != "failed"
                    if self._gave_up:
                        break
        finally:
            self._worker.timeout = patience
        return None

    def _rewrite(self, accepted: Accepted) -> None:
        """Run the rewrite on what the original accepted, and compare."""
        feeds = self._pair.feeds_after(accepted.feeds)
        try:
            outputs = self._worker.run(self._pair.after, feeds, fresh=self._pair.random)
        except RuntimeFailure as error:
            self._blame(accepted, error)
            return
        self._compared.append(accepted.label)
        parts = [
            compare(b, a, self._tolerance) for b, a in zip(accepted.outputs, outputs, strict=True)
        ]
        if any(part.kind for part in parts):
            self._repeat(accepted, parts)
            parts = self._allow_for_rounding(accepted, outputs, parts)
            if accepted.strained:
                parts = self._confirm(accepted, parts)
        for number, part in enumerate(parts):
            if part.kind in self._unstable[number]:
                continue
            if part.kind:
                self._differing.add(accepted.label)
            if part.kind and not self._found[number].kind:
                self._samples[number] = accepted.label
                if self.differing is None:
                    self.differing = accepted.feeds
            self._found[number] = combine([self._found[number], part])

    def _blame(self, accepted: Accepted, failure: RuntimeFailure) -> None:
        """The rewrite gave no outputs: a fault of it, unless the runtime refuses a valid model."""
        if failure.reason == "out of memory":
            if not any(found.kind for found in self._found):
                self._stop("not verified", f"of the rewrite, {failure}")
        elif failure.reason != "unsupported":
            reason = (
                f"the rewrite does not run on {accepted.label}, where the original does: {failure}"
            )
            self.differing = accepted.feeds
            self._stop("different", reason)
        elif self._pair.after.fault:
            reason = f"the rewrite is not a valid model: {self._pair.after.fault}"
            self._stop("different", reason)
        else:
            self._stop("not verified", f"of the rewrite, {failure}", beyond_runtime=True)

    def _repeat(self, accepted: Accepted, parts: Sequence[Difference]) -> None:
        """Excuse the outputs in which the original differs from itself in the same way."""
        open_questions = {n for n, part in enumerate(parts) if part.kind not in self._unstable[n]}
        open_questions = {n for n in open_questions if parts[n].kind}
        for _ in range(_REPEATS if self._pair.random else 1):
            if not open_questions:
                return
            try:
                again = self._worker.run(self._pair.before, accepted.feeds, fresh=True)
            except RuntimeFailure as error:
                self._notes.append(f"the original did not run a second time: {error}")
                return
            for number in list(open_questions):
                own = compare(accepted.outputs[number], again[number], EXACT)
                if own.kind == parts[number].kind:
                    self._unstable[number].add(own.kind)
                    open_questions.discard(number)

    def _allow_for_rounding(
        self, accepted: Accepted, outputs: Sequence[Any], parts: Sequence[Difference]
    ) -> list[Difference]:
        """Excuse what is no more than the original moves by when it is rounded otherwise.

        Far from zero, or after a long sum, a right form may differ from another as much.
        """
        if not accepted.strained and not any(_is_near(part) for part in parts):
            return list(parts)
        moved: list[list[Any]] = []
        for seed in range(_PERTURBED):
            others = self._rounded_otherwise(accepted, seed)
            if isinstance(others, RuntimeFailure):
                if not accepted.strained:
                    return list(parts)
                self._notes.append(
                    f"the original runs on {accepted.label}, not close to them: {others}"
                )
                return [Difference(total=part.total) for part in parts]
            moved.append(others)
        together = zip(accepted.outputs, outputs, parts, *moved, strict=True)
        return [
            self._beyond(before, after, part, near, accepted.strained)
            for before, after, part, *near in together
        ]

    def _rounded_otherwise(self, accepted: Accepted, seed: int) -> list[Any] | RuntimeFailure:
        """The outputs of the original where inputs and results move by a unit in the last place; of
        inputs alone where the runtime does not take the nudged model."""
        feeds = perturbed(accepted.feeds, seed)
        failure: RuntimeFailure | None = None
        for source in dict.fromkeys((self._pair.nudged(seed), self._pair.before)):
            try:
                return self._worker.run(source, feeds, fresh=self._pair.random)
            except RuntimeFailure as error:
                failure = error
        assert failure is not None
        return failure

    def _confirm(self, accepted: Accepted, parts: list[Difference]) -> list[Difference]:
        """What another runtime finds different, too: of what is special (an infinity at a bound
        that is absent, a NaN in a TopK) each version of a kernel may have its own idea."""
        if self._other is None or not any(part.kind for part in parts):
            return parts
        worker = self._other()
        judge = Trial(worker, self._pair, self._tolerance)
        try:
            outputs = worker.run(self._pair.before, accepted.feeds, fresh=self._pair.random)
        except RuntimeFailure:
            return parts
        judge._rewrite(replace(accepted, outputs=outputs))
        for source in self._pair.sources:
            worker.forget(source)
        if judge.reason:
            return parts
        pairs = list(zip(parts, judge._found, strict=True))
        if any(part.kind and not found.kind for part, found in pairs):
            self._notes.append(f"on {accepted.label}, {self.runtime} alone tells the two apart")
        return [part if found.kind else found for part, found in pairs]

    def _beyond(
        self, before: Any, after: Any, part: Difference, near: Sequence[Any], strained: bool
    ) -> Difference:
        """What is left of a difference in values.

        Args:
            before: an output of the original.
            after: the same of the rewrite.
            part: how they differ.
            near: the same output of the original, rounded otherwise.
            strained: whether the inputs strain the model.
        """
        if part.kind != "values":
            return part
        distances = [compare(before, other, EXACT) for other in near]
        if any(found.kind not in ("", "values") for found in distances):
            return Difference(total=part.total) if strained else part
        if not isinstance(before, np.ndarray) or not is_float(before.dtype):
            # Where a whole number becomes another one, distances tell nothing.
            moves = any(found.kind for found in distances)
            return Difference(total=part.total) if strained and moves else part
        unsteady = np.any([_is_special_elsewhere(before, other) for other in near], axis=0)
        steady = [np.where(unsteady, before, other) for other in near]
        moved = max(compare(before, other, EXACT).max_abs for other in steady)
        slack = _ROUNDED * moved
        if not strained:
            finite = np.abs(before[np.isfinite(before)])
            most = _LEAST_ACCURATE * float(finite.max(initial=0.0))
            slack = min(_ROUNDED_PLAIN * moved, most)
        slack = max(slack, self._tolerance.slack)
        after = np.where(unsteady, before, after)
        return compare(before, after, replace(self._tolerance, slack=slack))


def _is_special_elsewhere(before: Any, other: Any) -> Any:
    """Where one of two arrays holds a NaN or an infinity, and the other something else."""
    same = (before == other) | (np.isnan(before) & np.isnan(other))
    return ~same & ~(np.isfinite(before) & np.isfinite(other))


def _is_near(part: Difference) -> bool:
    """Whether floats differ in their values, none of them without a bound."""
    first = part.first
    is_float = first is not None and isinstance(first.before, float | complex)
    return part.kind == "values" and is_float and math.isfinite(part.max_abs)


def _is_sized(proto: onnx.TypeProto) -> bool:
    return not proto.HasField("tensor_type") or is_static(proto.tensor_type)


def disagreements(
    first: Trial, second: Trial, tolerance: Tolerance
) -> tuple[OutputDifference, ...]:
    """The outputs of the original in which two runtimes disagree on the same inputs."""
    loose = replace(tolerance, factor=_RUNTIMES_FACTOR)
    others = {accepted.label: accepted for accepted in second.accepted}
    unstable = first.unstable | second.unstable
    found: dict[str, OutputDifference] = {}
    for accepted in first.accepted:
        if accepted.label not in others or accepted.strained:
            continue  # on strained inputs each runtime may have its own way
        pairs = zip(accepted.outputs, others[accepted.label].outputs, strict=True)
        for output, (one, two) in zip(first.output_names, pairs, strict=True):
            part = compare(one, two, loose)
            if part.kind and output not in found and output not in unstable:
                found[output] = OutputDifference(output, "different", part, accepted.label)
    return tuple(found.values())
