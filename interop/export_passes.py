"""Export of our pipelines as passes of onnx_ir."""

from collections.abc import Mapping
from typing import Any

import onnx_ir
import onnx_ir.passes

from ..driver.assumptions import Branches, Maxima
from ..driver.job import Request
from ..driver.option_fields import Passes
from ..driver.options import RewriteOptions
from ..driver.specialize import Values
from ..facts.named_dimensions import Dims, Shapes, minima_of
from ..ir import Model, to_proto
from ..ir.bridge.conversion import Exchange, move_content
from ..ir.gc_pause import paused_collector
from ..ir.io.onnx_ir_model import base_dir_of
from ..ir.lazy import lazy_property
from ..passes import PassContext, Pipeline, Remark, Result
from ..passes.manager.undo import BINDING, Task, probing, settle
from ..passes.vetoes import NONE, isolated, warn_of
from ..records import record, replace
from ..verification.mismatch import require_compared
from ..verification.runs.options import Unproved, VerifyOptions


def as_onnx_ir_pass(
    passes: Passes = None,
    *,
    values: Values | None = None,
    shapes: Shapes | None = None,
    dims: Dims | None = None,
    assume_max: Maxima | None = None,
    assume: Branches | None = None,
    freeze_initializers: bool = False,
    verify: bool | Mapping[str, Any] = False,
    unproved: Unproved = "samples",
    **options: Any,
) -> "StraightlinePass":
    """Wrap our passes as one of onnx_ir, for `onnx_ir.passes.Sequential`.

    Args:
        passes: as for `straightline.transform`.
        values: values of inputs, which leave the signature.
        shapes: shapes of inputs.
        dims: sizes of named dimensions; `{"N": ">=1"}` assumes a minimum size.
        assume_max: the most iterations of Loops that you vouch for.
        assume: the branches of Ifs that you vouch for.
        freeze_initializers: take inputs that have a default as constants.
        verify: prove or compare the outputs before the model is changed; this copies the weights
            where the models have to be run.
        unproved: the treatment of an open proof, as in `straightline.transform`.
        options: options of the passes.

    Raises:
        PassOptionError: there is no such pass or option.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> import onnx_ir
        >>> taken = onnx_ir.from_proto(sl.ir.to_proto(model))
        >>> sl.interop.as_onnx_ir_pass()(taken).modified
        False
    """
    frozen: dict[str, Any] = {"freeze_initializers": freeze_initializers, **options}
    pipeline = RewriteOptions.of(passes=passes, **frozen).pipeline
    bindings = {"values": values, "shapes": shapes, "dims": dims}
    bindings |= {"assume_max": assume_max, "assume": assume}
    return StraightlinePass(pipeline, bindings, verify, unproved)


@record(frozen=True)
class _Attempt:
    """One run of the passes.

    Attributes:
        exchange: the tensors that both models share.
        result: the rewritten model.
        fixed: what a comparison must know of the inputs.
    """

    exchange: Exchange
    result: Result[Model]
    fixed: Mapping[str, Any]

    @lazy_property
    def rebuilt(self) -> onnx_ir.Model:
        """The rewritten model as one of onnx_ir."""
        return self.exchange.to_onnx_ir(self.result.model)


class StraightlinePass(onnx_ir.passes.InPlacePass):
    """A pipeline of ours that changes a model of onnx_ir in place.

    The model object stays, and its graph and functions are made anew where anything changed. Names
    of values, metadata, and what passes noted in `meta` under these names stay; the tensors of
    initializers are the same objects.

    Args:
        pipeline: the passes.
        known: `values`, `shapes`, `dims`, `assume_max` and `assume`, as for `as_onnx_ir_pass`.
        verify: the comparison of the outputs before the model is changed.
        unproved: the treatment of an open proof, as in `straightline.rewrite`.

    Attributes:
        remarks: of the last run: what was rewritten, and why anything was kept.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> import onnx_ir
        >>> converted = onnx_ir.from_proto(sl.ir.to_proto(model))
        >>> sl.interop.as_onnx_ir_pass()(converted).modified
        False
    """

    def __init__(
        self,
        pipeline: Pipeline,
        known: Mapping[str, Any] | None = None,
        verify: bool | Mapping[str, Any] = False,
        unproved: Unproved = "samples",
    ) -> None:
        super().__init__()
        self.pipeline = pipeline
        self.options = RewriteOptions.of(passes=pipeline, **(known or {}))
        self.verification = VerifyOptions.of(verify, unproved)
        self.remarks: tuple[Remark, ...] = ()

    @paused_collector
    def call(self, model: onnx_ir.Model) -> onnx_ir.passes.PassResult:
        """Rewrite the model.

        Raises:
            straightline.Error: it is not well formed, what is known does not fit it, or the outputs
                differ, and no construct can be kept for that; the model is as it was.

        Warns:
            FaultWarning: a pass failed or changed the outputs at a construct, which stays.
        """
        attempt, vetoes = isolated(lambda: self._attempt(model), NONE)
        options, verification = self.options, self.verification
        bindings = options.values, options.shapes, options.dims, options.assumptions
        if not attempt.result.changed and not any(bindings):
            self._tell(attempt)
            return onnx_ir.passes.PassResult(model, False)
        if verification is not None:
            minima = minima_of(options.dims)
            verification = replace(verification, minima=minima)
            task = self._task(model, attempt.fixed, verification)
            attempt, verdict = settle(task, attempt, vetoes)
            require_compared(verdict, "the rewrite", verification.prove is True)
        self._tell(attempt)
        move_content(model, attempt.rebuilt)
        return onnx_ir.passes.PassResult(model, True)

    def _tell(self, attempt: _Attempt) -> None:
        self.remarks = attempt.result.remarks
        warn_of(self.remarks)

    def _attempt(self, model: onnx_ir.Model, run: PassContext | None = None) -> _Attempt:
        exchange = Exchange()
        mine = exchange.from_onnx_ir(model)
        rewriting = Request(mine, self.options)
        fixed: dict[str, Any] = {"bound": rewriting.bind(mine), "base_dir": base_dir_of(model)}
        fixed |= {"shapes": rewriting.fixed_shapes(mine), "exactness": self.pipeline.exactness}
        self.options.assumptions.assume(mine)
        result = self.pipeline.apply(mine, run=run)
        return _Attempt(exchange, result, fixed)

    def _task(
        self, model: onnx_ir.Model, fixed: Mapping[str, Any], options: VerifyOptions
    ) -> Task[_Attempt]:
        from ..verification import compare

        original = to_proto(model)
        return Task(
            rerun=lambda vetoes: isolated(lambda: self._attempt(model), vetoes)[0],
            compare=lambda one: compare(original, to_proto(one.rebuilt), options, **fixed),
            watch=lambda observe, vetoes: isolated(
                lambda: self._attempt(model, observe(BINDING)), vetoes
            ),
            probe=probing(original, options, fixed),
            only_proved=options.unproved == "keep",
        )

    def __repr__(self) -> str:
        return f"StraightlinePass({self.pipeline})"
