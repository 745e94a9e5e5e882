"""The base of Loop, Scan and If as operators of onnx's evaluator."""

from typing import Any

import onnx
from onnx.reference.op_run import OpRun

from ..ir.subgraph_arity import fed_inputs
from .bodies import Body, label, opset_of
from .element_types import ElementTypes
from .errors import EvaluationError


class ControlFlow(OpRun):
    """Base of the operators that run bodies; usable by onnx's own evaluator too."""

    def __init__(self, onnx_node: onnx.NodeProto, run_params: dict[str, Any]) -> None:
        super().__init__(onnx_node, run_params)
        self.place = label(onnx_node)
        self.opsets: dict[str, int] = run_params["opsets"]
        self.element_types: ElementTypes | None = run_params.get("element_types")
        functions = () if self.element_types is None else self.element_types.functions
        feed_count = fed_inputs(onnx_node.op_type, len(onnx_node.input), opset_of(self.opsets)) or 0
        self.bodies = {
            a.name: Body(getattr(self, a.name), self.opsets, feed_count, functions)
            for a in onnx_node.attribute
            if a.type == onnx.AttributeProto.GRAPH
        }

    def need_context(self) -> bool:
        """Bodies capture outer values."""
        return True

    def run(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Run the operator; an error of it, or from within its body, names this node."""
        try:
            outputs: tuple[Any, ...] = super().run(*args, **kwargs)  # type: ignore[no-untyped-call]
        except (EvaluationError, TypeError) as error:
            # onnx makes a TypeError of a value of another kind, such as a list for a tensor.
            raise EvaluationError(f"{self.place}: {error}") from error
        return outputs

    def _check_and_fix_outputs(self, res: tuple[Any, ...]) -> tuple[Any, ...]:
        # onnx's own check refuses None, the value of an empty optional.
        return res
