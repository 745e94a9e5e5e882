"""Conversions: from the model to the verified result."""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ..display import OnProgress, silent
from ..ir import Model, load
from ..ir.gc_pause import paused_collector
from ..ir.lazy import lazy_property
from ..limits import governed
from ..passes import Pass, PassContext, Progress, Remark
from ..passes.base import Part
from ..passes.manager.instrumentation import current_watcher
from ..passes.manager.isolation import isolated
from ..passes.manager.pipeline import notes
from ..passes.utils.declarations import CorrectDeclarations
from ..passes.vetoes import NONE, Vetoes
from ..verification.mismatch import MismatchError, NotVerifiedError
from ..version_converter import ConversionError, convert
from ..version_converter.differences import Differences, Snapshot
from ..version_converter.function_copies import copy_for_types
from ..version_converter.ir_version import keep_constants
from ..version_converter.unblock import PIPELINES, unblock
from .rewrite import Rewrite, RewriteResult

if TYPE_CHECKING:
    import onnx

    from ..runtimes.workers import Workers
    from ..verification.runs.options import VerifyOptions
    from ..verification.runs.verdict import Verdict


CONVERT = "convert"
"""Name of the conversion among passes."""


@dataclasses.dataclass(frozen=True)
class _Convert(Pass):
    """The conversion as a pass, for watchers."""

    name: ClassVar[str] = CONVERT
    adds: ClassVar[tuple[str, ...]] = ("Loop", "Scan", "If")
    # Functions: straightening what it writes in one inlines its calls where they decide types.
    changes: ClassVar[tuple[Part, ...]] = ("inputs", "opsets", "functions")
    opset: int
    ir_version: int | None
    progress: Progress
    remarks: list[Remark] = dataclasses.field(default_factory=list, compare=False)

    def run(self, model: Model, context: PassContext) -> bool:
        """Convert the model."""
        convert(model, self.opset, self.ir_version, self.progress, remarks=self.remarks)
        return True

    def __str__(self) -> str:
        return f"{self.name} to opset {self.opset}"


@dataclasses.dataclass(frozen=True)
class Conversion:
    """One conversion: a model with the options of the conversion, and passes that run first.

    Attributes:
        rewriting: the model and the options.
        on_progress: called now and then during long work.
        vetoes: constructs that the passes leave alone.
    """

    rewriting: Rewrite
    on_progress: OnProgress = silent
    vetoes: Vetoes = NONE

    @paused_collector
    def run(self) -> ConversionResult:
        """Convert a copy.

        Raises:
            Error: the model cannot be read, is not well formed, or what is set does not fit it.
            ConversionError: nodes cannot be carried over; it tells how far the model comes.
        """
        reproduce, strict = self.rewriting.reproduce, self.rewriting.options.strict
        converted, vetoes = isolated(self._run, self.vetoes, reproduce, strict=strict)
        noted = (*converted.noted, *vetoes.remarks(converted.model))
        return dataclasses.replace(converted, noted=noted)

    def _run(self) -> ConversionResult:
        try:
            with governed(), notes() as noted:
                converted = self.convert_to(self._opset)
            return dataclasses.replace(converted, noted=tuple(noted))
        except ConversionError as error:
            raise error.reaching(self._nearest(error)) from error

    @property
    def _opset(self) -> int:
        assert self.rewriting.options.opset is not None
        return self.rewriting.options.opset

    def convert_to(self, target: int) -> ConversionResult:
        """Convert the model to an opset, straightened where it must be.

        Raises:
            ConversionError: nodes cannot be carried over.
        """
        start = self._start()
        before, operators = start.model.opset(), Snapshot(start.model)
        lists = start.model.allows_overrides
        started = time.perf_counter()
        stuck, straightened = None, tuple[Remark, ...]()
        try:
            straightened = self._convert(start.model, target)
        except ConversionError as error:
            if not self.rewriting.options.rewrite:
                raise
            stuck = error
        if stuck is not None:
            copied = self._copied(target, stuck)
            start, straightened = copied or self._straighten(target, stuck)
        seconds = time.perf_counter() - started
        return ConversionResult(
            self, self._finish(start, before, lists), before, operators, seconds, straightened
        )

    def _finish(self, start: RewriteResult, before: int, lists: bool) -> RewriteResult:
        """Run the passes once more, on what the conversion made of the model.

        Args:
            before: the opset of the original.
            lists: the conversion may list constants among the inputs, as the original did not.
        """
        if not self.rewriting.has_passes or start.model.opset() == before:
            return start
        again = self.rewriting.pipeline.apply(start.model, partial(self.on_progress, "rewriting"))
        if lists:
            keep_constants(start.model)
        first = [r for r in start.result.remarks if r.action != "kept" and r not in again.remarks]
        result = dataclasses.replace(
            again,
            changed=start.result.changed or again.changed,
            remarks=(*first, *again.remarks),
            timings=(*start.result.timings, *again.timings),
        )
        return dataclasses.replace(start, result=result)

    def _convert(self, model: Model, target: int) -> tuple[Remark, ...]:
        """Convert a model, and return remarks; watchers see only the conversion to the target."""
        progress = partial(self.on_progress, "converting")
        step = _Convert(target, self.rewriting.options.ir_version, progress)
        watcher = current_watcher() if target == self._opset else None
        if watcher is not None:
            watcher.before(step, model)
        step.run(model, PassContext())
        if watcher is not None:
            watcher.after(step, model, True)
        return tuple(step.remarks)

    def _copied(
        self, target: int, stuck: ConversionError
    ) -> tuple[RewriteResult, tuple[Remark, ...]] | None:
        """Convert again with a copy of a function for each type of its calls; None where that is
        not enough."""
        start = self._start()
        remarks = copy_for_types(start.model, stuck.failures)
        if not remarks:
            return None
        try:
            remarks += self._convert(start.model, target)
        except ConversionError:
            return None
        return start, tuple(remarks)

    def _straighten(
        self, target: int, stuck: ConversionError
    ) -> tuple[RewriteResult, tuple[Remark, ...]]:
        """Rewrite the constructs at which a first conversion failed, and convert again."""
        first: ConversionError | None = None
        for passes in PIPELINES:
            start = self._start()
            remarks, reasons = unblock(start.model, stuck.failures, passes)
            if not remarks:
                raise first or stuck.explained(reasons)
            try:
                remarks += self._convert(start.model, target)
            except ConversionError as error:
                first = first or error.explained(reasons)
                if error.places() <= stuck.places():
                    break
            else:
                return start, tuple(remarks)
        assert first is not None
        raise first

    def _nearest(self, error: ConversionError) -> int | None:
        """Return the opset nearest to the target that the model reaches; None for its own."""
        source, tried = self._start().model.opset(), set[int]()
        while error.failures:
            nearest = error.last_reached()
            if nearest == source or nearest in tried:
                return None
            tried.add(nearest)
            try:
                self.convert_to(nearest)
            except ConversionError as nearer:
                error = nearer
            else:
                return nearest
        return None

    def _start(self) -> RewriteResult:
        """Return the model to convert, each time anew: a failure leaves it half converted."""
        if not self.rewriting.has_passes:
            return self.rewriting.run()
        rewritten = self._rewritten
        return dataclasses.replace(
            rewritten, result=dataclasses.replace(rewritten.result, model=load(rewritten.model))
        )

    @lazy_property
    def _rewritten(self) -> RewriteResult:
        """The result of the passes."""
        return self.rewriting.run(partial(self.on_progress, "rewriting"), self.vetoes)


@dataclasses.dataclass(frozen=True)
class ConversionResult:
    """Result of a conversion.

    Attributes:
        conversion: the request.
        rewritten: the result of the passes before it; its model is the converted one.
        opset_before: the opset of the original.
        operators: the operators of its nodes.
        seconds: the time that the conversion itself took.
        straightened: remarks on constructs that had to be rewritten for it.
        noted: remarks on what exceeded a budget.
    """

    conversion: Conversion
    rewritten: RewriteResult
    opset_before: int
    operators: Snapshot = dataclasses.field(repr=False)
    seconds: float = 0.0
    straightened: tuple[Remark, ...] = ()
    noted: tuple[Remark, ...] = ()

    @lazy_property
    def differences(self) -> Differences:
        """The operators that the conversion has changed."""
        return Differences(self.operators, Snapshot(self.model))

    @property
    def model(self) -> Model:
        """The converted model."""
        return self.rewritten.model

    def verify(
        self,
        options: VerifyOptions,
        *,
        workers: Workers | None = None,
        on_progress: OnProgress = silent,
        loaded: bool = False,
        message: onnx.ModelProto | None = None,
    ) -> tuple[ConversionResult, Verdict]:
        """Compare with the original, and undo what passes before it have spoiled; declarations may
        change, which no `message` shows.

        Raises:
            MismatchError: the outputs differ.
            NotVerifiedError: only what is proved may change, and the conversion is not.
        """
        shared: dict[str, Any] = {"workers": workers, "on_progress": on_progress}
        verdict = self._compare(options, loaded=loaded, **shared)
        keeps = options.unproved == "keep" and not verdict.proved
        if not (verdict.differs or keeps):
            return self, verdict
        conversion = self.conversion
        if conversion.rewriting.has_passes:
            before = conversion.rewriting.run(vetoes=self.rewritten.vetoes)
            settled, _ = before.verify(options, **shared)
            if settled is not before:
                again = dataclasses.replace(conversion, vetoes=settled.vetoes).run()
                verdict = again._compare(options, **shared)
                if not verdict.differs and (verdict.proved or not keeps):
                    return again, verdict
        if verdict.differs:
            raise MismatchError(verdict, f"that converts to opset {self.model.opset()}")
        raise NotVerifiedError(f"the conversion is not proved: {verdict.reason}")

    def _compare(
        self, options: VerifyOptions, *, workers: Workers | None, **settings: Any
    ) -> Verdict:
        rewriting, context = self.conversion.rewriting, PassContext()
        compare = partial(self.rewritten.compare, self.model, options, workers=workers, **settings)
        verdict = compare()
        # Another opset may infer what the original's did not.
        if verdict.differs and CorrectDeclarations().correct(self.model, context):
            verdict = compare()
            notes = (*verdict.notes, *map(str, context.remarks))
            verdict = dataclasses.replace(verdict, notes=notes)
        return rewriting.check_trust(verdict, options, workers)
