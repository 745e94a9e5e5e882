"""One conversion, from the model given to the verified result."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any, ClassVar

from ..display import OnProgress, silent
from ..ir import Array, Model, load
from ..ir.gc_pause import paused_collector
from ..ir.lazy import lazy_property
from ..limits import governed
from ..passes import Pass, PassContext, Progress, Remark
from ..passes.manager.instrumentation import current_watcher
from ..passes.manager.pipeline import notes
from ..passes.utils.declarations import CorrectDeclarations
from ..verification.mismatch import MismatchError
from ..version_converter import ConversionError, convert
from ..version_converter.differences import Differences, Written
from ..version_converter.unblock import PIPELINES, straighten_constructs
from .rewrite import Rewriting, Rewritten

if TYPE_CHECKING:
    from ..runtimes.workers import Workers
    from ..verification.runs.options import VerifyOptions
    from ..verification.runs.verdict import Verdict


CONVERT = "convert"
"""What the conversion is called where passes are."""


@dataclasses.dataclass(frozen=True)
class _Convert(Pass):
    """The conversion as those see it who watch passes."""

    name: ClassVar[str] = CONVERT
    opset: int
    ir_version: int | None
    progress: Progress

    def run(self, model: Model, context: PassContext) -> bool:
        """Convert the model."""
        convert(model, self.opset, self.ir_version, self.progress)
        return True

    def __str__(self) -> str:
        return f"{self.name} to opset {self.opset}"


@dataclasses.dataclass(frozen=True)
class Conversion:
    """One conversion: a model with the options of the conversion, and passes that run first.

    Attributes:
        given: the model and the options.
        on_progress: called now and then during long work.
    """

    given: Rewriting
    on_progress: OnProgress = silent

    @paused_collector
    def run(self) -> Converted:
        """Convert a copy.

        Raises:
            Error: the model cannot be read, is not well formed, or what is set does not fit it.
            ConversionError: nodes cannot be carried over; it tells how far the model comes.
        """
        try:
            with governed(), notes() as noted:
                converted = self.carried(self._opset)
            return dataclasses.replace(converted, noted=tuple(noted))
        except ConversionError as error:
            raise error.reaching(self._nearest(error)) from error

    @property
    def _opset(self) -> int:
        assert self.given.options.opset is not None
        return self.given.options.opset

    def carried(self, target: int) -> Converted:
        """The model in an opset, straightened where it must be.

        Raises:
            ConversionError: nodes cannot be carried over.
        """
        given = self._start()
        before, written = given.model.opset(), Written(given.model)
        started = time.perf_counter()
        stuck, straightened = None, tuple[Remark, ...]()
        try:
            self._convert(given.model, target)
        except ConversionError as error:
            if not self.given.options.rewrite:
                raise
            stuck = error
        if stuck is not None:
            given, straightened = self._straightened(target, stuck)
        return Converted(self, given, before, written, time.perf_counter() - started, straightened)

    def _convert(self, model: Model, target: int) -> None:
        """Convert a model; who watches is told, unless it is only tried how far it comes."""
        step = _Convert(target, self.given.options.ir_version, self._tell)
        watcher = current_watcher() if target == self._opset else None
        if watcher is not None:
            watcher.before(step, model)
        step.run(model, PassContext())
        if watcher is not None:
            watcher.after(step, model, True)

    def _straightened(
        self, target: int, stuck: ConversionError
    ) -> tuple[Rewritten, tuple[Remark, ...]]:
        """The model in an opset after what a first conversion failed at was rewritten, and how."""
        first: ConversionError | None = None
        for passes in PIPELINES:
            given = self._start()
            remarks, kept = straighten_constructs(given.model, stuck.failures, passes)
            if not remarks:
                raise first or stuck.explained(kept)
            try:
                self._convert(given.model, target)
            except ConversionError as error:
                first = first or error.explained(kept)
                if error.places() <= stuck.places():
                    break
            else:
                return given, tuple(remarks)
        assert first is not None
        raise first

    def _nearest(self, error: ConversionError) -> int | None:
        """The opset nearest to the target that the model reaches, which is tried; None where it
        does not leave its own."""
        source, tried = self._start().model.opset(), set[int]()
        while error.failures:
            nearest = error.last_reached()
            if nearest == source or nearest in tried:
                return None
            tried.add(nearest)
            try:
                self.carried(nearest)
            except ConversionError as nearer:
                error = nearer
            else:
                return nearest
        return None

    def _start(self) -> Rewritten:
        """The model as the conversion is given it, each time anew: one that fails leaves it half
        converted."""
        if not self.given.has_passes:
            return self.given.run()
        made = self._rewritten
        return dataclasses.replace(
            made, result=dataclasses.replace(made.result, model=load(made.model))
        )

    @lazy_property
    def _rewritten(self) -> Rewritten:
        """What the passes make of the model, which takes its time."""

        def tell(what: str, done: int, total: int) -> None:
            self.on_progress("rewriting", what, done, total)

        return self.given.run(tell)

    def _tell(self, what: str, done: int, total: int) -> None:
        self.on_progress("converting", what, done, total)


@dataclasses.dataclass(frozen=True)
class Converted:
    """What a conversion made.

    Attributes:
        conversion: what was asked for.
        rewritten: what the passes before it made; its model is the one that was converted.
        opset_before: the opset of the original.
        written: what its nodes said.
        seconds: the time that the conversion itself took.
        straightened: what had to be rewritten for it, and why.
        noted: what was over a budget.
    """

    conversion: Conversion
    rewritten: Rewritten
    opset_before: int
    written: Written = dataclasses.field(repr=False)
    seconds: float = 0.0
    straightened: tuple[Remark, ...] = ()
    noted: tuple[Remark, ...] = ()

    @lazy_property
    def differences(self) -> Differences:
        """Which operators the conversion has changed."""
        return Differences(self.written, Written(self.model))

    @property
    def model(self) -> Model:
        """The converted model."""
        return self.rewritten.model

    @property
    def bound(self) -> dict[str, Array]:
        """The values of the inputs that the model no longer has."""
        return self.rewritten.bound

    def _corrected(self, context: PassContext) -> bool:
        """Correct false declarations; another opset may infer what the original's did not."""
        return CorrectDeclarations().correct(self.model, context)

    def verify(
        self,
        options: VerifyOptions,
        *,
        workers: Workers | None = None,
        on_progress: OnProgress = silent,
        loaded: bool = False,
    ) -> Verdict:
        """Compare with the original.

        Raises:
            MismatchError: the outputs differ.
        """
        from ..verification import compare

        given = self.conversion.given
        shared: dict[str, Any] = {"workers": workers, "on_progress": on_progress}
        known: dict[str, Any] = {"bound": self.bound, "shapes": self.rewritten.shapes}
        known |= {"base_dir": given.base_dir, "loaded": loaded}
        verdict = compare(given.original, self.model, options, **known, **shared)
        if verdict.differs and self._corrected(context := PassContext()):
            verdict = compare(given.original, self.model, options, **known, **shared)
            notes = (*verdict.notes, *map(str, context.remarks))
            verdict = dataclasses.replace(verdict, notes=notes)
        verdict = given.trusted(verdict, options, workers)
        if verdict.differs:
            given.run().verify(options, **shared)  # names the pass, if it is one's fault
            raise MismatchError(verdict, f"that converts to opset {self.model.opset()}")
        return verdict
