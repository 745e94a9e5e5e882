"""If, by the specification (operator If, versions 1 to 25)."""

from typing import Any

from .bodies import one_element
from .control_flow import ControlFlow
from .errors import EvaluationError


class If(ControlFlow):
    """If: the outputs of the branch that the condition, one element of any rank, selects."""

    def _run(
        self, cond: Any = None, *, context: Any = None, attributes: Any = None, **_options: Any
    ) -> tuple[Any, ...]:
        if cond is None:
            raise EvaluationError("the condition is absent")
        condition = one_element(cond, 0, "the condition").item()
        branch = self.bodies["then_branch" if condition else "else_branch"]
        if branch.output_count != len(self.onnx_node.output):
            raise EvaluationError(
                f"has {len(self.onnx_node.output)} outputs, its branch "
                f"{branch.graph.name!r} has {branch.output_count}"
            )
        return tuple(branch.bind(context, attributes)([]))
