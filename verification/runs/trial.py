"""Both models in one runtime: run the samples, collect the differences, reach a verdict."""

import math
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import field, replace
from typing import Any, Literal

import ml_dtypes
import numpy as np
import onnx

from ...facts.named_dimensions import Minima
from ...ir.lazy import lazy_property
from ...ir.option_names import by
from ...ops.departures import in_message
from ...records import record
from ...reference.signature import (
    Signature,
    is_static,
    ordered,
    random_operators,
    recurrent_operators,
    reseeded,
    unfixed_operators,
)
from ...runtimes.session import Feeds
from ...runtimes.source import Source, new_fault
from ...runtimes.workers import RuntimeFailure, Worker
from .adversarial_inputs import perturb
from .body_outputs import uncopied, with_copies
from .comparison import EXACT, Difference, Tolerance, combine, compare, is_float
from .input_generator import Sample
from .perturbation import nudge
from .shrink import shrunk
from .verdict import OutputDifference, Status, Verdict

_REPEATS = 16  # runs of a random model to see an output change
_PATIENCE = 20.0  # time limit of an adversarial sample, relative to the quickest plain one
_LEAST_PATIENCE = 2.0  # seconds
_PERTURBED = 2  # number of perturbed runs
_PERTURBED_FIXED = 4  # with those of inputs that stay: the largest number would become an infinity
_PERTURBED_EXACT = 6  # the same where a threshold may have been hit on purpose
_MOST_RERUNS = 96  # perturbed runs; then numbers of separating samples are not compared
_MOST_VOID = 8  # limit of candidates of a sample that another runtime may refuse
_JUMP = 2.0**10  # least move of an element at a discontinuity, relative to the median one
_ROUNDED = 16.0  # allowed multiple of the effect of one rounding of the inputs
_ROUNDED_PLAIN = 4.0  # the same on plain samples, for one rounding of each result
_LEAST_ACCURATE = 2.0**-10  # limit of excused errors, relative to a plain sample's largest value
_APPROXIMATED = 4 * 2.0**-23  # twice the error measured for activations of RNN, GRU and LSTM
_SHRINKING = 10.0  # seconds for shrinking an input; a slow model keeps a larger one
_MINIMIZED = "the minimized input"
_RUNTIMES_FACTOR = 16.0  # two runtimes round differently in every operator, not only in folded ones


@record(frozen=True)
class Pair:
    """The original and the rewrite."""

    before: Source
    after: Source
    _variants: dict[object, Source] = field(default_factory=dict, init=False, compare=False)

    def copying_outputs(self) -> "Pair":
        """The pair with copies where onnxruntime makes none, unless the rewrite brings them in."""
        # Where the rewrite has more of them than the original, they are its own fault and must
        # show.
        counts = [len(uncopied(source.proto)) for source in (self.before, self.after)]
        if not counts[0] or counts[1] > counts[0]:
            return self
        sources = (self.before, self.after)
        return Pair(*[source.replaced(with_copies(source.proto)) for source in sources])

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
        """True if the original has random operators."""
        return bool(random_operators(self.before.proto))

    @lazy_property
    def slack(self) -> float:
        """The absolute tolerance of RNN, GRU and LSTM where only one model has them. onnxruntime
        approximates their activations."""
        counts = [recurrent_operators(source.proto) for source in (self.before, self.after)]
        return 0.0 if counts[0] == counts[1] else _APPROXIMATED

    @lazy_property
    def overflows_otherwise(self) -> bool:
        """True if only one model has an operator that chooses weights or an order.

        A weight may be 0, and kernels disagree on whether 0 times an infinity counts: for Resize,
        onnxruntime 1.32 and onnx.reference do so by mode, and the specification is silent. A sine
        of pi is 0 or 1e-16, and a product of many factors overflows in one order only.
        """
        before, after = (unfixed_operators(source.proto) for source in (self.before, self.after))
        return any(after[op_type] != count for op_type, count in before.items())

    @lazy_property
    def departs(self) -> bool:
        """True if onnxruntime departs from the specification at more nodes of the original."""
        counts = [in_message(source.proto) for source in (self.before, self.after)]
        return counts[0] > counts[1]

    @lazy_property
    def draws_otherwise(self) -> bool:
        """True if the models draw by other operators.

        No specification fixes the numbers of a seed: each runtime, and each operator in it, has its
        own.
        """
        one, other = (random_operators(source.proto) for source in (self.before, self.after))
        return one != other

    @lazy_property
    def ordered(self) -> Source | None:
        """The original with an order where it leaves one open, or None."""
        source = self._variant("ordered", lambda: ordered(self.before.proto))
        return None if source is self.before else source

    def nudged(self, seed: int) -> Source:
        """The original with perturbed results, or as it is."""
        return self._variant(("nudged", seed), lambda: nudge(self.before.proto, seed))

    def drawn_again(self, number: int) -> Source:
        """The original for another draw; with other seeds where those mean nothing."""
        if not self.draws_otherwise:
            return self.before
        return self._variant(("seed", number), lambda: reseeded(self.before.proto, number))

    def _variant(self, key: object, build: Callable[[], onnx.ModelProto | None]) -> Source:
        source = self._variants.get(key)
        if source is None:
            proto = build()
            source = self.before if proto is None else self.before.replaced(proto)
            self._variants[key] = source
        return source

    @property
    def sources(self) -> tuple[Source, ...]:
        """All models that a runtime may have loaded."""
        return (self.before, self.after, *self._variants.values())

    def feeds_after(self, feeds: Feeds) -> Feeds:
        """The part of the original's feeds that the rewrite accepts."""
        names = {*self.after_signature.inputs, *self.after_signature.defaults}
        return {name: value for name, value in feeds.items() if name in names}


@record(frozen=True)
class Accepted:
    """A sample that the original accepted, and its outputs.

    Attributes:
        label: as in `Sample`.
        outputs: the outputs of the original.
        adversarial: as in `Sample`.
        exact: as in `Sample`.
        is_drawn: true if another input may stand for it.
    """

    label: str
    feeds: Feeds
    outputs: list[Any]
    adversarial: bool = False
    exact: bool = False
    is_drawn: bool = False


class Trial:
    """Both models in one runtime.

    Args:
        pair: the models.
        keep: keep the samples that the original accepted, with its outputs.
        other: another runtime, to confirm differences on adversarial samples.

    Attributes:
        accepted: the samples that the original accepted, if `keep`.
        status: the verdict so far.
        output_names: the outputs, in order.
        beyond_runtime: true if the runtime, rather than a model or the inputs, is at fault for a
            missing verdict: another runtime may do better.
        timed_out: true if the original was too slow on a sample; no further one is tried.
        differing: the first input on which the models differ, with the original's outputs.
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
        self.differing: Accepted | None = None
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
        self._fault = ""
        self._reruns = 0  # runs of the original with other rounding
        self.output_names = pair.before_signature.outputs
        self._differences = [Difference() for _ in self.output_names]
        self._samples = ["" for _ in self.output_names]
        self._unstable: list[set[str]] = [set() for _ in self.output_names]

    def run(self, samples: Iterator[Sample]) -> None:
        """Run the samples until there is a verdict."""
        for sample in samples:
            if sample.exact and self._differing:
                continue  # nothing more to find
            self._try(sample)
            if self.reason or self.timed_out:
                return
        if not self._compared:
            reason = self._notes.pop() if self._notes else "there was no input to run on"
            self._stop("not verified", reason, beyond_runtime=True)

    def _try(self, sample: Sample) -> None:
        """Compare on the first candidate of a sample that no other runtime refuses."""
        void: list[Accepted] = []
        # A difference on a drawn input that another runtime refuses is a difference of kernels, not
        # of models: the next candidate is tried, but not without end.
        while len(void) < _MOST_VOID:
            accepted = self._adversarial(sample) if sample.adversarial else self._original(sample)
            if accepted is None:
                break
            outcome = self._rewrite(replace(accepted, is_drawn=not sample.essential))
            if outcome == "compared":
                if self._keep:
                    self.accepted.append(accepted)
                return
            if outcome == "differs":
                void.append(accepted)
        # Every candidate was void. The first one is judged as it is, or the sample would count as
        # equal without a comparison.
        if void and not sample.adversarial:
            self._rewrite(void[0])

    def verdict(self) -> Verdict:
        """The verdict on all samples run."""
        if self._fault:
            return Verdict.invalid(self._fault, runtimes=(self.runtime,))
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
            feeds=self.differing.feeds if self.differing and status == "different" else None,
        )

    def minimize(self, after: Signature, fixed: Collection[str], minima: Minima) -> None:
        """Shrink the input on which the models differ, and show their difference there.

        Args:
            after: the signature of the rewrite with the sizes that samples have.
            fixed: inputs whose values must stay.
            minima: minimum sizes of named dimensions.
        """
        if self.differing is None or self._pair.random:
            return
        first, deadline = self.differing, time.perf_counter() + _SHRINKING
        judges: list[Trial] = []

        def is_telling(feeds: Feeds) -> bool:
            judge = self._judged(replace(first, label=_MINIMIZED, feeds=feeds))
            # A smaller input that fails where the first one differed shows another fault than that
            # reported.
            if judge is None or bool(judge.reason) != bool(self.reason):
                return False
            if judge.differing is not None and time.perf_counter() < deadline:
                judges.append(judge)
                return True
            return False

        shrunk(first.feeds, is_telling, self._pair.before_signature, after, fixed, minima=minima)
        if judges:
            self._adopt(judges[-1])

    def _judged(self, accepted: Accepted) -> "Trial | None":
        """The trial of one input; None if the original does not accept it."""
        judge = Trial(self._worker, self._pair, self._tolerance, other=self._other)
        judge._unstable = self._unstable
        try:
            outputs = self._worker.run(self._pair.before, accepted.feeds, fresh=self._pair.random)
        except RuntimeFailure:
            return None
        is_drawn = accepted.is_drawn and accepted.adversarial  # or each smaller input runs twice
        judge._rewrite(replace(accepted, outputs=outputs, is_drawn=is_drawn))
        return judge

    def _adopt(self, judge: "Trial") -> None:
        """Show the difference on another input."""
        self.differing, self.reason = judge.differing, judge.reason
        for number, part in enumerate(judge._differences):
            if part.kind:
                # Totals stay those of all samples; only the example is that of the small input.
                mine = self._differences[number]
                self._differences[number] = replace(mine, kind=part.kind, first=part.first)
                self._samples[number] = _MINIMIZED

    @property
    def unstable(self) -> set[str]:
        """The outputs that change between runs of the original."""
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
        difference = self._differences[number]
        unstable = "not deterministic" if self._unstable[number] else "equal"
        status = "different" if difference.kind else unstable
        name, sample = self.output_names[number], self._samples[number]
        return OutputDifference(name, status, difference, sample)  # type: ignore[arg-type]

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
                # A timeout or a crash is no matter of the drawn values: another draw would meet it
                # again.
                if error.reason != "failed":
                    break
                continue
            self._refused += refused
            self._quickest = min(self._quickest, time.perf_counter() - start)
            return Accepted(sample.label, feeds, outputs)
        if failure is None:  # no candidate is left
            return None
        reason = f"the original does not run on {sample.label}: {failure}"
        if not sample.essential:
            reason += self._remedy()
        self.timed_out = failure.reason == "timed out"
        # Excessive time or memory is the same in another runtime.
        too_much = failure.reason in ("timed out", "out of memory")
        # After a compared sample the verdict rests on that one, and this is a note.
        hopeless = failure.reason != "failed" and not self._compared
        if sample.essential or hopeless:
            self._stop("not verified", reason, beyond_runtime=not too_much)
        else:
            self._notes.append(reason)
        return None

    def _remedy(self) -> str:
        """The advice for inputs where no random one fits."""
        inputs = self._pair.before_signature.inputs.items()
        open_ = [n for n, t in inputs if t.HasField("tensor_type") and not is_static(t.tensor_type)]
        name = next(iter(open_), None)
        shape = "" if name is None else by(f"--sample-shape {name}=...")
        sizes = f"sizes that it accepts with {shape}, or " if shape else ""
        return f"; pass {sizes}inputs with {by('--inputs FILE.npz')}"

    def _adversarial(self, sample: Sample) -> Accepted | None:
        """As `_original`, but failures and timeouts have no effect."""
        if not self._compared or self._gave_up:
            return None
        patience = self._worker.timeout
        # Special values may slow kernels down (denormal floats) or let a loop run for long; they
        # may not use up the time for the plain samples.
        self._worker.timeout = min(patience, max(_LEAST_PATIENCE, _PATIENCE * self._quickest))
        try:
            for feeds in sample.candidates:
                try:
                    outputs = self._worker.run(self._pair.before, feeds, fresh=self._pair.random)
                    return Accepted(sample.label, feeds, outputs, True, sample.exact)
                except RuntimeFailure as error:
                    self._gave_up = error.reason != "failed"
                    if self._gave_up:
                        break
        finally:
            self._worker.timeout = patience
        return None

    def _rewrite(self, accepted: Accepted) -> Literal["compared", "differs", "fails"]:
        """Run the rewrite on an accepted sample, and compare. It "differs" or "fails" without
        effect on a drawn input that another runtime refuses."""
        # Inputs with bound values may be gone from the rewrite.
        feeds = self._pair.feeds_after(accepted.feeds)
        try:
            outputs = self._worker.run(self._pair.after, feeds, fresh=self._pair.random)
        except RuntimeFailure as error:
            if self._is_refused(accepted):
                return "fails"
            self._blame(accepted, error)
            return "compared"
        parts = [
            compare(b, a, self._tolerance) for b, a in zip(accepted.outputs, outputs, strict=True)
        ]
        if any(part.kind for part in parts):
            parts = self._put_in_order(accepted, outputs, parts)
            self._repeat(accepted, parts)
            # The order matters: an open order and randomness are properties of the original, while
            # rounding is judged by its size and would excuse both.
            if not self._tolerance.is_exact:
                parts = self._excuse_rounding(accepted, outputs, parts)
            if not self._differing and self._differs(parts):  # one difference is enough
                confirmed = self._confirm(accepted, outputs, parts)
                if confirmed is None:
                    return "differs"
                parts = confirmed
        self._compared.append(accepted.label)
        for number, part in enumerate(parts):
            if part.kind in self._unstable[number]:
                continue
            if part.kind:
                self._differing.add(accepted.label)
            if part.kind and not self._differences[number].kind:
                self._samples[number] = accepted.label
                if self.differing is None:
                    self.differing = accepted
            self._differences[number] = combine([self._differences[number], part])
        return "compared"

    def _differs(self, parts: Sequence[Difference]) -> bool:
        return any(part.kind not in ("", *self._unstable[n]) for n, part in enumerate(parts))

    def _is_refused(self, accepted: Accepted) -> bool:
        """Test whether the original fails on a drawn input in another runtime.

        A kernel need not look at indices where there is no element, or at axes that it reads twice.
        """
        if not accepted.is_drawn or self._other is None:
            return False
        worker = self._other()
        try:
            worker.run(self._pair.before, accepted.feeds, fresh=self._pair.random)
        except RuntimeFailure as error:
            return error.reason == "failed"
        finally:
            worker.forget(self._pair.before)
        return False

    def _blame(self, accepted: Accepted, failure: RuntimeFailure) -> None:
        """Record a failure of the rewrite: its fault, unless the runtime refuses a valid model."""
        # Lack of memory says nothing of results; a difference found before remains the verdict.
        if failure.reason == "out of memory":
            if not any(difference.kind for difference in self._differences):
                self._stop("not verified", f"of the rewrite, {failure}")
        elif failure.reason != "unsupported":
            reason = (
                f"the rewrite does not run on {accepted.label}, where the original does: {failure}"
            )
            self.differing = accepted
            self._stop("different", reason)
        elif new_fault(self._pair.before, self._pair.after) or failure.calls_invalid:
            self._fault = self._pair.after.fault or str(failure)
            self._stop("different", f"the rewrite is not a valid model: {self._fault}")
        else:
            self._stop("not verified", f"of the rewrite, {failure}", beyond_runtime=True)

    def _put_in_order(
        self, accepted: Accepted, outputs: Sequence[Any], parts: list[Difference]
    ) -> list[Difference]:
        """Excuse what comes in the one order where the original leaves it open."""
        source = self._pair.ordered
        if source is None:
            return parts
        try:
            before = self._worker.run(source, accepted.feeds, fresh=self._pair.random)
        except RuntimeFailure:
            return parts
        others = [compare(b, a, self._tolerance) for b, a in zip(before, outputs, strict=True)]
        # All outputs must agree together: each of them alone might come in an order of its own.
        return parts if any(other.kind for other in others) else others

    def _repeat(self, accepted: Accepted, parts: Sequence[Difference]) -> None:
        """Excuse outputs that differ in the same way between runs of the original."""
        open_questions = {n for n, part in enumerate(parts) if part.kind not in self._unstable[n]}
        open_questions = {n for n in open_questions if parts[n].kind}
        # An original without random operators may still vary: parallel sums, or memory that a
        # kernel does not initialize. One repetition shows that in most cases.
        for number in range(1, 1 + (_REPEATS if self._pair.random else 1)):
            if not open_questions:
                return
            source = self._pair.drawn_again(number)
            try:
                repeat = self._worker.run(source, accepted.feeds, fresh=True)
            except RuntimeFailure as error:
                self._notes.append(f"the original did not run a second time: {error}")
                return
            for number in list(open_questions):
                own = compare(accepted.outputs[number], repeat[number], EXACT)
                # The kind alone: a random output whose shape also differs in the rewrite stays a
                # difference.
                if own.kind == parts[number].kind:
                    self._unstable[number].add(own.kind)
                    open_questions.discard(number)

    def _excuse_rounding(
        self, accepted: Accepted, outputs: Sequence[Any], parts: Sequence[Difference]
    ) -> list[Difference]:
        """Excuse differences as small as those of the original under perturbation.

        Far from zero, or after a long sum, two right forms may differ as much.
        """
        if not accepted.adversarial and not any(_is_near(part) for part in parts):
            return list(parts)
        # Further perturbed runs would cost more than the samples themselves; values are then not
        # judged, but types and shapes are.
        if accepted.exact and self._reruns >= _MOST_RERUNS:
            return [p if p.kind != "values" else Difference(total=p.total) for p in parts]
        moved: list[list[Any]] = []
        most = _PERTURBED_FIXED if accepted.adversarial else _PERTURBED
        for seed in range(_PERTURBED_EXACT if accepted.exact else most):
            others = self._rerun_rounded(accepted, seed)
            if isinstance(others, RuntimeFailure):
                if not accepted.adversarial:
                    return list(parts)
                self._notes.append(
                    f"the original runs on {accepted.label}, but not near them: {others}"
                )
                return [Difference(total=part.total) for part in parts]
            moved.append(others)
            # Fewer runs underestimate how far the original moves.
            if len(moved) < _PERTURBED:
                continue
            together = zip(accepted.outputs, outputs, parts, *moved, strict=True)
            beyond = [
                self._beyond(before, after, part, near, accepted)
                for before, after, part, *near in together
            ]
            if not any(part.kind for part in beyond):
                break
        return beyond

    def _rerun_rounded(self, accepted: Accepted, seed: int) -> list[Any] | RuntimeFailure:
        """Run the original with perturbed inputs and results. Results stay where the runtime does
        not support the perturbed model."""
        self._reruns += 1
        failure: RuntimeFailure | None = None
        # Perturbed results need nodes that some runtimes lack; perturbed inputs alone run
        # everywhere.
        for source in dict.fromkeys((self._pair.nudged(seed), self._pair.before)):
            keeps = (accepted.exact or seed >= _PERTURBED) and source is not self._pair.before
            feeds = accepted.feeds if keeps else perturb(accepted.feeds, seed)
            try:
                return self._worker.run(source, feeds, fresh=self._pair.random)
            except RuntimeFailure as error:
                failure = error
        assert failure is not None
        return failure

    def _confirm(
        self, accepted: Accepted, outputs: Sequence[Any], parts: list[Difference]
    ) -> list[Difference] | None:
        """Keep differences that another runtime confirms. Kernels differ in special cases, such as
        an infinity at an absent bound or a NaN in a TopK, and where onnxruntime departs from the
        specification. Returns None for a drawn input that the other one refuses."""
        if self._other is None:
            return parts
        if not (accepted.adversarial or self._pair.departs):
            return None if self._is_refused(accepted) else parts
        worker = self._other()
        judge = Trial(worker, self._pair, self._tolerance)
        try:
            before = worker.run(self._pair.before, accepted.feeds, fresh=self._pair.random)
        except RuntimeFailure as error:
            return None if accepted.is_drawn and error.reason == "failed" else parts
        # In the other runtime, with the outputs that the original has there.
        judge._rewrite(replace(accepted, outputs=before, is_drawn=False))
        if not judge.reason and any(part.kind == "values" for part in judge._differences):
            # Each may be wrong of its own elements: onnxruntime's LSTM, GRU and RNN (1.32) compute
            # numbers of a NaN, and the reference overflows where terms come in another order.
            after = worker.run(self._pair.after, self._pair.feeds_after(accepted.feeds))
            rows = zip(accepted.outputs, outputs, parts, before, after, strict=True)
            parts = [self._without_nan_of_both(*row) for row in rows]
        for source in self._pair.sources:
            worker.forget(source)
        if judge.reason:
            return parts
        pairs = list(zip(parts, judge._differences, strict=True))
        if any(part.kind and not other.kind for part, other in pairs):
            self._notes.append(f"on {accepted.label}, {self.runtime} alone tells the two apart")
        return [part if other.kind else other for part, other in pairs]

    def _without_nan_of_both(
        self, before: Any, after: Any, part: Difference, *others: Any
    ) -> Difference:
        """The difference in elements of which another runtime has a number before or after."""
        if part.kind != "values" or not all(isinstance(other, np.ndarray) for other in others):
            return part
        if not is_float(before.dtype) or any(other.shape != before.shape for other in others):
            return part
        is_nan = np.isnan(others[0]) & np.isnan(others[1])
        return compare(before, np.where(is_nan, before, after), self._tolerance)

    def _beyond(
        self, before: Any, after: Any, part: Difference, near: Sequence[Any], accepted: Accepted
    ) -> Difference:
        """The difference in values beyond the effect of perturbations.

        Args:
            before: an output of the original.
            after: the same of the rewrite.
            near: the same output of perturbed originals.
        """
        adversarial = accepted.adversarial
        if part.kind != "values":
            return part
        distances = [compare(before, other, EXACT) for other in near]
        # A perturbed original of another shape or type: the input lies at a decision (a size, an
        # index).
        if any(distance.kind not in ("", "values") for distance in distances):
            return Difference(total=part.total) if adversarial else part
        if not isinstance(before, np.ndarray) or not is_float(before.dtype):
            if accepted.exact and isinstance(before, np.ndarray):
                steady = np.all([before == other for other in near], axis=0)
                return compare(before, np.where(steady, after, before), self._tolerance)
            # Distances of integers have no meaning.
            moves = any(distance.kind for distance in distances)
            return Difference(total=part.total) if adversarial and moves else part
        unsteady = np.any([_is_special_elsewhere(before, other) for other in near], axis=0)
        if accepted.exact:
            unsteady |= _jumps(before, near)
        if adversarial and (self._tolerance.reals or self._pair.overflows_otherwise):
            # Which order of operations overflows is no difference over the reals.
            unsteady |= ~(np.isfinite(before) & np.isfinite(after))
        steady = [np.where(unsteady, before, other) for other in near]
        moved = max(compare(before, other, EXACT).max_abs for other in steady)
        slack = _ROUNDED * moved
        if not adversarial:
            finite = np.abs(before[np.isfinite(before)])
            most = _LEAST_ACCURATE * float(finite.max(initial=0.0))
            slack = min(_ROUNDED_PLAIN * moved, most)
        slack = max(slack, self._tolerance.slack)
        after = np.where(unsteady, before, after)
        return compare(before, after, replace(self._tolerance, slack=slack))


def _jumps(before: Any, near: Sequence[Any]) -> Any:
    """The mask of elements that move far more than most: they stand at a discontinuity."""
    if not before.size:
        return np.zeros(before.shape, bool)
    with np.errstate(all="ignore"):
        moves = np.max([np.abs(other - before) for other in near], axis=0)
        numbers = np.where(np.isfinite(moves), moves, 0)
        # A sum of one large value and zeros moves by the rounding of the large one alone.
        largest = np.abs(np.where(np.isfinite(before), before, 0)).max()
        limits = ml_dtypes.finfo(before.real.dtype)  # type: ignore[no-untyped-call]
        rounding = float(largest) * float(limits.eps)
        return numbers > _JUMP * max(float(np.median(numbers)), rounding)


def _is_special_elsewhere(before: Any, other: Any) -> Any:
    """The mask of NaN and infinities that differ between two arrays."""
    same = (before == other) | (np.isnan(before) & np.isnan(other))
    return ~same & ~(np.isfinite(before) & np.isfinite(other))


def _is_near(part: Difference) -> bool:
    """Test whether floats differ in their values by finite amounts."""
    first = part.first
    is_float = first is not None and isinstance(first.before, float | complex)
    return part.kind == "values" and is_float and math.isfinite(part.max_abs)


def disagreements(
    first: Trial, second: Trial, tolerance: Tolerance
) -> tuple[OutputDifference, ...]:
    """The outputs of the original in which two runtimes disagree on the same inputs."""
    loose = replace(tolerance, factor=_RUNTIMES_FACTOR)
    others = {accepted.label: accepted for accepted in second.accepted}
    unstable = first.unstable | second.unstable
    differences: dict[str, OutputDifference] = {}
    for accepted in first.accepted:
        if accepted.label not in others or accepted.adversarial:
            continue  # runtimes may differ on adversarial inputs
        pairs = zip(accepted.outputs, others[accepted.label].outputs, strict=True)
        for output, (one, two) in zip(first.output_names, pairs, strict=True):
            part = compare(one, two, loose)
            if part.kind and output not in differences and output not in unstable:
                differences[output] = OutputDifference(output, "different", part, accepted.label)
    return tuple(differences.values())
