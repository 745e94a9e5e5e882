"""Export of our pipelines as passes of onnx_ir."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx_ir
import onnx_ir.passes

from ..driver.branch_choices import Branches
from ..driver.options import Passes, RewriteOptions
from ..driver.rewrite import Rewrite
from ..driver.specialize import Values
from ..driver.trip_bounds import Maxima
from ..facts.named_dimensions import Dims, Shapes
from ..ir import to_proto
from ..ir.bridge.conversion import Exchange, move_content
from ..ir.gc_pause import paused_collector
from ..ir.io.onnx_ir_model import base_dir_of
from ..passes import Pipeline, Remark
from ..verification.mismatch import MismatchError, require_compared
from ..verification.runs.options import VerifyOptions


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
    **options: Any,
) -> StraightlinePass:
    """Wrap our passes as one of onnx_ir, for `onnx_ir.passes.Sequential`.

    Args:
        passes: as for `straightline.transform`.
        values: values of inputs, which leave the signature.
        shapes: shapes of inputs.
        dims: sizes of named dimensions.
        assume_max: the most trips of Loops that you vouch for.
        assume: the branches of Ifs that you vouch for.
        freeze_initializers: take inputs that have a default as constants.
        verify: prove or compare the outputs before the model is changed; this copies the weights
            where the models have to be run.
        options: options of the passes.

    Raises:
        PassOptionError: there is no such pass or option.
    """
    frozen: dict[str, Any] = {"freeze_initializers": freeze_initializers, **options}
    pipeline = RewriteOptions.of(passes=passes, **frozen).pipeline
    bindings = {"values": values, "shapes": shapes, "dims": dims}
    bindings |= {"assume_max": assume_max, "assume": assume}
    return StraightlinePass(pipeline, bindings, verify)


class StraightlinePass(onnx_ir.passes.InPlacePass):
    """A pipeline of ours that changes a model of onnx_ir in place.

    The model object stays, and its graph and functions are made anew where anything changed. Names
    of values, metadata, and what passes noted in `meta` under these names stay; the tensors of
    initializers are the same objects.

    Args:
        pipeline: the passes.
        known: `values`, `shapes`, `dims`, `assume_max` and `assume`, as for `as_onnx_ir_pass`.
        verify: whether, or how, the outputs are compared first.

    Attributes:
        remarks: of the last run: what was rewritten, and why anything was kept.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        known: Mapping[str, Any] | None = None,
        verify: bool | Mapping[str, Any] = False,
    ) -> None:
        super().__init__()
        self.pipeline = pipeline
        self.options = RewriteOptions.of(passes=pipeline, **(known or {}))
        self.verification = VerifyOptions.of(verify)
        self.remarks: tuple[Remark, ...] = ()

    @paused_collector
    def call(self, model: onnx_ir.Model) -> onnx_ir.passes.PassResult:
        """Rewrite the model.

        Raises:
            straightline.Error: it is not well formed, what is known does not fit it, or the outputs
                differ; the model is as it was.
        """
        exchange = Exchange()
        mine = exchange.from_onnx_ir(model)
        rewriting = Rewrite(mine, self.options)
        bound = rewriting.bind(mine)
        fixed: dict[str, Any] = {"bound": bound, "shapes": rewriting.fixed_shapes(mine)}
        self.options.assumptions.assume(mine)
        result = self.pipeline.apply(mine)
        self.remarks = result.remarks
        options = self.options
        bindings = options.values, options.shapes, options.dims, options.assumptions
        if not result.changed and not any(bindings):
            return onnx_ir.passes.PassResult(model, False)
        rebuilt = exchange.to_onnx_ir(mine)
        if self.verification is not None:
            from ..verification import compare

            protos = to_proto(model), to_proto(rebuilt)
            fixed |= {"base_dir": base_dir_of(model), "exactness": self.pipeline.exactness}
            verdict = compare(*protos, self.verification, **fixed)
            if verdict.differs:
                raise MismatchError(verdict, "")
            require_compared(verdict, "the rewrite", self.verification.prove is True)
        move_content(model, rebuilt)
        return onnx_ir.passes.PassResult(model, True)

    def __repr__(self) -> str:
        return f"StraightlinePass({self.pipeline})"
