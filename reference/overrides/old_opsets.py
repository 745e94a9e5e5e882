"""Operators whose older versions mean something else than onnx.reference's only class for them."""

import math
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference.op_run import OpRun
from onnx.reference.ops import load_op

from ..errors import EvaluationError
from .resizing import Resize


def with_version_defaults(node: onnx.NodeProto, schema: Any) -> onnx.NodeProto:
    """``node`` with the attribute defaults of its own version written out.

    onnx.reference fills absent attributes from the newest version of the operator; where that
    has another default (Softmax's axis: 1, then -1), the node must say what its version means.
    """
    newest = onnx.defs.get_schema(schema.name, schema.domain).attributes
    operandnt = {attribute.name for attribute in node.attribute}
    missing = [
        own.default_value
        for name, own in schema.attributes.items()
        if name not in operandnt
        and name in newest
        and own.default_value.type
        and own.default_value != newest[name].default_value
    ]
    if schema.name == "RoiAlign" and schema.since_version < 16:
        # The attribute came with version 16, and not with the behaviour of version 10.
        mode = "coordinate_transformation_mode"
        missing.append(helper.make_attribute(mode, "output_half_pixel"))
    if not missing:
        return node
    complete = onnx.NodeProto()
    complete.CopyFrom(node)
    complete.attribute.extend(missing)
    return complete


class _Coerced:
    """Before version 13, Softmax and its kin normalise over all axes from ``axis`` on."""

    axis: int

    def __init__(self, onnx_node: onnx.NodeProto, run_params: dict[str, Any]) -> None:
        super().__init__(onnx_node, run_params)  # type: ignore[call-arg]
        self.first_axis: int | None = None
        if run_params["opsets"].get("", 13) < 13:
            self.first_axis, self.axis = self.axis, 1

    def _run(self, X: Any, **options: Any) -> Any:
        if self.first_axis is None:
            return super()._run(X, **options)  # type: ignore[misc]
        axis = self.first_axis % max(X.ndim, 1)
        rows = math.prod(X.shape[:axis])
        flat = X.reshape(rows, math.prod(X.shape[axis:]))
        (result,) = super()._run(flat)  # type: ignore[misc]
        return (result.reshape(X.shape),)


class _LogSoftmax(load_op("", "LogSoftmax")):  # type: ignore[misc]
    """onnx.reference takes the logarithm of Softmax, which is -inf where Softmax underflows."""

    def _run(self, X: Any) -> tuple[Any, ...]:
        if X.size == 0:
            return (X,)
        shifted = X - X.max(axis=self.axis, keepdims=True)
        total = np.log(np.exp(shifted).sum(axis=self.axis, keepdims=True))
        return ((shifted - total).astype(X.dtype),)


class _Resampling(OpRun):
    """Upsample (7, 9) and Resize 10: Resize 11 with asymmetric coordinates.

    Version 10 does not say how `nearest` rounds. onnx's own test and onnxruntime round down along
    an axis that grows and up along one that shrinks.
    """

    mode: str

    def __init__(self, onnx_node: onnx.NodeProto, run_params: dict[str, Any]) -> None:
        super().__init__(onnx_node, run_params)
        self.resize = {r: Resize(self._node(r), run_params) for r in ("floor", "ceil")}

    def _node(self, rounding: str) -> onnx.NodeProto:
        return helper.make_node(
            "Resize",
            ["x", "", "scales"],
            ["y"],
            mode=self.mode,
            coordinate_transformation_mode="asymmetric",
            nearest_mode=rounding,
        )

    def _run(self, x: Any, scales: Any = None, **options: Any) -> tuple[Any, ...]:
        operand = options.get("scales") if scales is None else scales
        if operand is None:
            raise EvaluationError("the scales are absent")
        factors = np.asarray(operand, np.float32).reshape(-1)
        shrinking = factors < 1
        for rounding, own in (("floor", ~shrinking), ("ceil", shrinking)):
            if own.any():
                scales = np.where(own, factors, np.float32(1))
                (x,) = self.resize[rounding].run(x, None, scales)  # type: ignore[no-untyped-call]
        return (x,)


class _BatchNormalization(OpRun):
    """BatchNormalization before 14: inference if only ``Y`` is asked for (6: if ``is_test``).

    onnx.reference mixes the statistics of the batch in, which is training.
    """

    def _run(
        self, x: Any, scale: Any, bias: Any, mean: Any, var: Any, **options: Any
    ) -> tuple[Any, ...]:
        inference = options.get("is_test", 0) or self.run_params["opsets"].get("", 7) >= 7
        if len(self.onnx_node.output) > 1 or not inference:
            raise EvaluationError("training mode before version 14 is not implemented")
        if not options.get("spatial", 1):
            raise EvaluationError("spatial=0 is not implemented")
        return (_normalized(x, scale, bias, mean, var, options["epsilon"]),)


def _normalized(x: Any, scale: Any, bias: Any, mean: Any, var: Any, epsilon: float) -> Any:
    """Normalize by given statistics; scaled first, as in onnx.reference, large numbers overflow."""
    channels = (-1, *(1,) * (x.ndim - 2))
    deviation = np.sqrt(var + np.asarray(epsilon, var.dtype)).reshape(channels)
    centered = (x - mean.reshape(channels)) / deviation
    return centered * scale.reshape(channels) + bias.reshape(channels)


class _MixedNormalization(load_op("", "BatchNormalization", 14)):  # type: ignore[misc]
    """BatchNormalization from opset 14 on: several types are normalized in the widest, where
    onnx.reference adds epsilon in the type of the variance."""

    def _run(self, *operands: Any, **options: Any) -> tuple[Any, ...]:
        types = {each.dtype for each in operands}
        wide = np.float64 if np.dtype(np.float64) in types else np.float32
        wider = [each.astype(wide) for each in operands] if len(types) > 1 else operands
        if not options.get("training_mode"):
            x, scale, bias, mean, var = wider
            result = _normalized(x, scale, bias, mean, var, options["epsilon"])
            return (result.astype(operands[0].dtype),)
        results = super()._run(*wider, **options)
        kinds = (operands[0].dtype, operands[3].dtype, operands[3].dtype)
        return tuple([each.astype(kind) for each, kind in zip(results, kinds, strict=False)])


def _older_than(
    version: int, op_type: str, older: type[OpRun], newer: type[OpRun] | None = None
) -> type[OpRun]:
    """Dispatch to ``older`` below opset ``version``, else to ``newer`` or onnx's own class."""

    def make(cls: Any, onnx_node: onnx.NodeProto, run_params: dict[str, Any]) -> OpRun:
        opset = run_params["opsets"].get("", version)
        chosen = older if opset < version else newer or load_op("", op_type, opset)
        instance: OpRun = chosen(onnx_node, run_params)
        return instance

    return type(op_type, (OpRun,), {"__new__": make})


OLDER_OPERATORS: tuple[type[OpRun], ...] = (
    type("Softmax", (_Coerced, load_op("", "Softmax")), {}),
    type("LogSoftmax", (_Coerced, _LogSoftmax), {}),
    type("Hardmax", (_Coerced, load_op("", "Hardmax")), {}),
    _older_than(14, "BatchNormalization", _BatchNormalization, _MixedNormalization),
    _older_than(11, "Resize", _Resampling, Resize),
    _older_than(10, "Upsample", _Resampling),
    # These two were only widened or renamed: the newer class computes the older version.
    _older_than(19, "DequantizeLinear", load_op("", "DequantizeLinear", 19)),
    _older_than(11, "Scatter", load_op("", "ScatterElements")),
)
