"""Loop, by the specification (operator Loop, versions 1 to 25)."""

from typing import Any

import numpy as np

from .bodies import Array, Body, BoundBody, one_element
from .control_flow import ControlFlow
from .errors import EvaluationError


class Loop(ControlFlow):
    """Loop with every input mode: trip count and condition each given or absent.

    Where the condition input is absent the specification ignores the condition the body
    returns; :class:`BreakingLoop` honours it.
    """

    honours_absent_cond = False

    def _run(
        self,
        M: Any = None,
        cond: Any = None,
        *carried: Any,
        context: Any = None,
        attributes: Any = None,
        **_options: Any,
    ) -> tuple[Any, ...]:
        body = self.bodies["body"]
        scans = self._scan_count(body, len(carried))
        keep = np.array(True) if cond is None else np.asarray(cond)
        honoured = cond is not None or self.honours_absent_cond
        if M is None and not honoured:
            raise EvaluationError(
                "neither a trip count nor a condition ends it; "
                "break_without_cond=True stops on the body's condition"
            )
        limit = None if M is None else int(one_element(M, 0, "the trip count"))
        values, elements = self._iterate(
            body.bind(context, attributes), limit, keep, honoured, list(carried)
        )
        outputs = [
            self._collect(body, 1 + len(carried) + i, elements[i] if elements else [])
            for i in range(scans)
        ]
        return (*values, *outputs)

    def _iterate(
        self, run: BoundBody, limit: int | None, keep: Any, honoured: bool, values: list[Any]
    ) -> tuple[list[Any], list[list[Any]]]:
        """Final carried values, and per scan output the elements of all iterations."""
        count = len(values)
        index_rank, keep_rank = run.body.declared_rank(0), run.body.declared_rank(1)
        elements: list[list[Any]] = [[] for _ in range(run.body.output_count - 1 - count)]
        iteration = 0
        keep = one_element(keep, keep_rank, "the condition")
        while (limit is None or iteration < limit) and (not honoured or keep.item()):
            index = np.full((1,) * index_rank, iteration, dtype=np.int64)
            produced, *rest = run([index, keep, *values])
            keep = one_element(produced, keep_rank, "the body's condition")
            values = rest[:count]
            for collected, element in zip(elements, rest[count:], strict=True):
                collected.append(element)
            iteration += 1
        return values, elements

    def _scan_count(self, body: Body, carried: int) -> int:
        if len(body.input_names) != carried + 2 or body.output_count < carried + 1:
            raise EvaluationError(
                f"{carried} carried values need a body of {carried + 2} inputs and at least "
                f"{carried + 1} outputs, it has {len(body.input_names)} and {body.output_count}"
            )
        return body.output_count - 1 - carried

    def _collect(self, body: Body, index: int, elements: list[Any]) -> Array:
        types = self.element_types
        # Where there was no iteration, type and sizes are those that a runtime infers.
        inferred = None if types is None or elements else types.of(self.onnx_node, index)
        return body.stacked(index, elements, inferred=inferred)


class BreakingLoop(Loop):
    """Loop that also stops on the body's condition where the condition input is absent.

    So does onnxruntime, and models exported from Python's ``break`` count on it.
    """

    honours_absent_cond = True


# onnx finds the operator by the name of the class.
BreakingLoop.__name__ = "Loop"
