"""Conversions with what they need: copies of functions, and rewrites of constructs in the way.

    to 10:  s = SequenceConstruct (x, y)   SequenceAt is unknown there   ->   rewritten, again:
            b = SequenceAt (s, one)                                           b = Identity (y)

What an opset cannot hold is known only once a conversion has failed, and a failed one leaves its
model half converted. So each attempt begins with a new copy.
"""

import time
from collections.abc import Callable
from typing import ClassVar

from ..ir import Model
from ..ir.lazy import lazy_property
from ..passes import Pass, PassContext, Progress, Remark
from ..passes.base import Part, current_watcher
from ..passes.manager.pipeline import Timing
from ..records import field, record, replace
from .convert import convert
from .defined_operators import write_definitions
from .differences import Differences, Snapshot
from .errors import ConversionError
from .function_copies import copy_for_types
from .unblock import PIPELINES, unblock

CONVERT = "convert"
"""Name of the conversion among passes."""


@record(frozen=True)
class Convert(Pass):
    """The conversion as a pass, for watchers."""

    name: ClassVar[str] = CONVERT
    adds: ClassVar[tuple[str, ...]] = ("Loop", "Scan", "If")
    # Functions: straightening what it writes in one inlines its calls where they decide types.
    changes: ClassVar[tuple[Part, ...]] = ("inputs", "opsets", "functions")
    opset: int
    ir_version: int | None = None
    progress: Progress | None = None
    remarks: list[Remark] = field(default_factory=list, compare=False)

    def run(self, model: Model, context: PassContext) -> bool:
        """Convert the model."""
        convert(model, self.opset, self.ir_version, self.progress, remarks=self.remarks)
        self.remarks.extend(write_definitions(model))
        return True

    def __str__(self) -> str:
        return f"{self.name} to opset {self.opset}"


@record
class Converted:
    """Converted model.

    Attributes:
        before: its opset before.
        operators: its operators before.
        lists: whether it could list constants among its inputs before.
        remarks: what had to be rewritten or copied for it.
        notes: what exceeded a limit.
        seconds: the time that it took.
    """

    model: Model
    before: int
    operators: Snapshot = field(repr=False)
    lists: bool
    remarks: tuple[Remark, ...] = ()
    notes: tuple[Remark, ...] = ()
    seconds: float = 0.0

    @property
    def timing(self) -> Timing:
        """The time that it took."""
        return Timing(CONVERT, self.seconds)

    @lazy_property
    def differences(self) -> Differences:
        """The operators that the conversion has changed."""
        return Differences(self.operators, Snapshot(self.model))


@record(frozen=True)
class Conversion:
    """Conversion of a model, with what it needs.

    Attributes:
        start: returns the model, each time anew.
        ir_version: the IR version; by default that of the opset.
        rewrites: rewrite constructs that the opset cannot hold.
        progress: called now and then.
        watches: let watchers see the result.
    """

    start: Callable[[], Model]
    ir_version: int | None = None
    rewrites: bool = True
    progress: Progress | None = None
    watches: bool = True

    def to(self, opset: int) -> Converted:
        """Convert the model to an opset.

        Raises:
            ConversionError: nodes cannot be carried over.
        """
        model = self.start()
        result = Converted(model, model.opset(), Snapshot(model), model.allows_overrides)
        started, stuck = time.perf_counter(), None
        try:
            result.remarks = self._convert(model, opset)
        except ConversionError as error:
            if not self.rewrites:
                raise
            stuck = error
        if stuck is not None:  # outside of the handler, which would keep the first attempt alive
            copied = self._with_copies(opset, stuck)
            result.model, result.remarks = copied or self._straightened(opset, stuck)
        result.seconds = time.perf_counter() - started
        return result

    def nearest(self, error: ConversionError) -> int | None:
        """Return the opset nearest to the target that the model reaches; None for its own."""
        source, tried = self.start().opset(), set[int]()
        # Trials are not for watchers.
        attempt = replace(self, watches=False)
        while error.failures:
            nearest = error.last_reached()
            if nearest == source or nearest in tried:
                return None
            tried.add(nearest)
            try:
                attempt.to(nearest)
            except ConversionError as nearer:
                error = nearer
            else:
                return nearest
        return None

    def _convert(self, model: Model, opset: int) -> tuple[Remark, ...]:
        """Convert a model, and return remarks."""
        step = Convert(opset, self.ir_version, self.progress)
        watcher = current_watcher() if self.watches else None
        if watcher is not None:
            watcher.before(step, model)
        step.run(model, PassContext())
        if watcher is not None:
            watcher.after(step, model, True)
        return tuple(step.remarks)

    def _with_copies(
        self, opset: int, stuck: ConversionError
    ) -> tuple[Model, tuple[Remark, ...]] | None:
        """Convert with a copy of a function for each type of its calls; None where that is not
        enough."""
        model = self.start()
        remarks = copy_for_types(model, stuck.failures)
        if not remarks:
            return None
        try:
            remarks += self._convert(model, opset)
        except ConversionError:
            return None
        return model, tuple(remarks)

    def _straightened(self, opset: int, stuck: ConversionError) -> tuple[Model, tuple[Remark, ...]]:
        """Rewrite the constructs at which a first conversion failed, and convert again."""
        first: ConversionError | None = None
        for passes in PIPELINES:
            model = self.start()
            remarks, reasons = unblock(model, stuck.failures, passes)
            if not remarks:
                raise first or stuck.explained(reasons)
            try:
                remarks += self._convert(model, opset)
            except ConversionError as error:
                first = first or error.explained(reasons)
                if error.places() <= stuck.places():
                    break
            else:
                return model, tuple(remarks)
        assert first is not None
        raise first
