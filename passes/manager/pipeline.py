"""Pipelines: passes in order, on a copy of the caller's model."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ...facts.notions import Equality, weakest
from ...ir import Model, ModelSource, Node, base_dir_of, in_kind, load, read
from ...ir.gc_pause import collector_pause, paused_collector
from ...ir.kinds import KindError
from ...limits import current, governed
from ...records import record, replace
from ..base import Pass, PassContext, Progress, current_watcher
from ..cleanup.freeze_initializers import FreezeInitializers, frozen_defaults
from ..new_nodes import NewNodes, onnx_import
from ..remarks import Remark, kept_constructs, notion_of
from ..simplify.apply_rules import uses_trusted_rules
from ..utils.declarations import note_false_sizes
from ..utils.fixpoint import finish, run_passes
from ..vetoes import NONE, StrictError, Vetoes, current_vetoes, isolated, warn_of
from .registry import DEFAULT_PASSES

if TYPE_CHECKING:
    import onnx

    from ...ir.io.model_source import MessageSource
    from ...verification.runs.options import Unproved, Verify, VerifyOptions
    from ...verification.runs.verdict import Verdict

M = TypeVar("M")


@record(frozen=True)
class Timing:
    """The time of one pass, all its runs together, in seconds."""

    pass_name: str
    seconds: float


@record(frozen=True)
class Result(Generic[M]):
    """The result of a pipeline.

    Attributes:
        model: the rewritten model, of the original's kind.
        changed: true after a change.
        remarks: the remarks of the passes.
        timings: the time of each pass.
        verdict: the comparison with the original's outputs; None without one.
        vetoes: constructs that passes had to leave alone.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> result = sl.Pipeline([]).run(model)
        >>> result.changed, result.kept
        (False, ())
    """

    model: M
    changed: bool
    remarks: tuple[Remark, ...]
    timings: tuple[Timing, ...]
    verdict: Verdict | None = None
    vetoes: Vetoes = NONE

    @property
    def kept(self) -> tuple[Remark, ...]:
        """The remarks on constructs that stay."""
        return tuple(remark for remark in self.remarks if remark.action == "kept")


@record(frozen=True)
class Pipeline:
    """Passes in order.

    Args:
        passes: the passes.
        repeat: run them to a fixed point.

    >>> from straightline.passes import InlineIfs, Pipeline, UnrollLoops
    >>> print(Pipeline([UnrollLoops(max_trips=64), InlineIfs()]))
    unroll-loops{max_trips=64},inline-ifs
    """

    passes: Sequence[Pass]
    repeat: bool = False

    def __post_init__(self) -> None:
        if other := [one for one in self.passes if not isinstance(one, Pass)]:
            raise KindError(f"Pipeline: {other[0]!r} is not a pass; parse text with parse_pipeline")

    @overload
    def run(
        self, model: Model, *, strict: bool = ..., verify: Verify = ..., unproved: Unproved = ...
    ) -> Result[Model]: ...
    @overload
    def run(
        self,
        model: MessageSource,
        *,
        strict: bool = ...,
        verify: Verify = ...,
        unproved: Unproved = ...,
    ) -> Result[onnx.ModelProto]: ...
    @overload
    def run(
        self,
        model: ModelSource,
        *,
        strict: bool = ...,
        verify: Verify = ...,
        unproved: Unproved = ...,
    ) -> Result[Any]: ...
    @paused_collector
    def run(
        self,
        model: ModelSource,
        *,
        strict: bool = False,
        verify: Verify = "proof",
        unproved: Unproved = "samples",
    ) -> Result[Any]:
        """Rewrite a copy of the model; the caller's object is never changed.

        Args:
            model: a path, bytes, `onnx.ModelProto`, `onnx_ir.Model` or `straightline.ir.Model`.
            strict: raise for a construct that a pass keeps, and for a fault of a pass.
            verify: as in `straightline.rewrite`.
            unproved: as in `straightline.rewrite`.

        Raises:
            LoadError, ModelError: the model cannot be read or is not well formed.
            StrictError: `strict` is set and a pass kept a construct, or raised an exception.
            MismatchError: (`verify`) the outputs differ, and no construct can be kept for that.

        Warns:
            FaultWarning: a pass failed at a construct, which stays.
        """
        from ...verification.runs.options import VerifyOptions

        options = VerifyOptions.of(verify, unproved)
        original = read(model)

        def rerun(vetoes: Vetoes) -> Result[Model]:
            # A new copy each time, as passes change the model in place.
            result, vetoes = isolated(lambda: self.apply(load(original)), vetoes, strict=strict)
            return replace(result, vetoes=vetoes)

        result = rerun(NONE)
        if options is not None:
            result = self._verified(original, result, options, rerun, strict)
        if strict:
            require_all_rewritten(result.remarks)
        warn_of(result.remarks)
        output: Any = in_kind(result.model, model)
        return replace(result, model=output)

    @property
    def exactness(self) -> Equality:
        """Weakest notion of equality that its passes claim."""
        return weakest(each.exactness for each in self.passes)

    def _verified(
        self,
        original: ModelSource,
        result: Result[Model],
        options: VerifyOptions,
        rerun: Callable[[Vetoes], Result[Model]],
        strict: bool,
    ) -> Result[Model]:
        """Compare with the original, and undo what that refutes.

        Raises:
            MismatchError: the outputs differ, and no construct can be kept for that.
            NotVerifiedError: a proof is demanded, and there is none.
        """
        from ...verification import compare
        from ...verification.mismatch import require_compared
        from .undo import BINDING, Task, compared, probing, settle

        fixed: dict[str, Any] = {
            "base_dir": base_dir_of(original),
            "exactness": notion_of(result.remarks, self.exactness),
        }
        if any(pass_.name == FreezeInitializers.name for pass_ in self.passes):
            # The result is equal for these values of the inputs only.
            fixed["bound"] = frozen_defaults(load(original))
        if uses_trusted_rules(result.remarks):
            options = options.with_runs()
        task = Task(
            rerun=rerun,
            compare=lambda other: compared(
                lambda: compare(original, other.model, options, loaded=True, **fixed), other.model
            ),
            watch=lambda observe, vetoes: isolated(
                lambda: self.apply(load(original), run=observe(BINDING)), vetoes
            ),
            probe=probing(original, options, fixed),
            only_proved=options.unproved == "keep",
            strict=strict,
        )
        result, verdict = settle(task, result, result.vetoes)
        require_compared(verdict, "the rewrite", options.prove is True)
        return replace(result, verdict=verdict)

    def apply(
        self,
        model: Model,
        progress: Progress | None = None,
        *,
        trial: bool = False,
        run: PassContext | None = None,
    ) -> Result[Model]:
        """Rewrite an IR model in place.

        Args:
            model: the model.
            progress: the callback of progress.
            trial: log at DEBUG only, and notify no watcher.
            run: the context, with its own watcher, if any; a new one if None.

        Raises:
            EmissionError: a pass emitted a node that its opset does not support.
        """
        context = PassContext() if run is None else run
        instrumentation = context.instrumentation
        if run is None:
            instrumentation.progress = progress
            instrumentation.watcher = None if trial else current_watcher()
        instrumentation.log_level = logging.DEBUG if trial else logging.INFO
        instrumentation.new_nodes = NewNodes(model) if self.passes and not trial else None
        context.default_passes = DEFAULT_PASSES
        with collector_pause(), governed(), notes() as extra, onnx_import(model):
            note_false_sizes(model, context)
            changed = run_passes(self.passes, model, context, self.repeat)
            finish(model, context, changed)
        if changed and instrumentation.new_nodes is not None:
            instrumentation.new_nodes.require_conformance()
        timings = tuple(Timing(name, spent) for name, spent in context.meter.seconds.items())
        remarks = (*context.remarks, *extra, *current_vetoes().remarks(model))
        return Result(model, changed, remarks, timings)

    def __str__(self) -> str:
        return ",".join(str(pass_) for pass_ in self.passes)


@contextlib.contextmanager
def notes() -> Iterator[list[Remark]]:
    """Collect remarks on exceeded limits; the list is complete after the block."""
    remarks: list[Remark] = []
    before = dict(current().refused)
    yield remarks
    for why, (place, count) in current().refused.items():
        if before.get(why) != (place, count) and isinstance(place, Node):
            more = f" (and {count - 1} more)" if count > 1 else ""
            remarks.append(Remark("budget", place.op_type, place.path, "noted", f"{why}{more}"))


def require_all_rewritten(remarks: Sequence[Remark]) -> None:
    """Raise for the first construct that stays.

    Raises:
        StrictError: a construct stays.
    """
    remaining = list(kept_constructs(remarks).values())
    if remaining:
        more = f" (and {len(remaining) - 1} more)" if len(remaining) > 1 else ""
        raise StrictError(f"{remaining[0].brief}{more}")
