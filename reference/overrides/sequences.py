"""Sequence and optional operators that onnx.reference gets wrong.

An optional is its value, or None; onnx.reference wraps it in a list that OptionalGetElement
does not support off, and refuses None as a result. Its SequenceInsert puts an element meant for
the end first, and its SequenceMap forgets outer values.
"""

from typing import Any

from onnx.reference.op_run import OpRun

from ..bodies import one_element
from ..control_flow import ControlFlow
from ..errors import EvaluationError


class _MayBeNone(OpRun):
    def _check_and_fix_outputs(self, res: tuple[Any, ...]) -> tuple[Any, ...]:
        return res


class Optional(_MayBeNone):
    """Optional (15): an optional that holds the input, or nothing."""

    def _run(self, value: Any = None, **_options: Any) -> tuple[Any, ...]:
        return (value,)


class OptionalGetElement(_MayBeNone):
    """OptionalGetElement (15, 18): what the optional holds."""

    def _run(self, value: Any = None) -> tuple[Any, ...]:
        if value is None:
            raise EvaluationError("the optional is empty")
        return (value,)


class Identity(Optional):
    """Identity, of an empty optional too. Values are never changed in place: no copy."""


class SequenceInsert(OpRun):
    """SequenceInsert (11): positions ``-n .. n``; ``n``, the default, is the end."""

    def _run(self, sequence: Any, tensor: Any, position: Any = None) -> tuple[Any, ...]:
        count = len(sequence)
        at = count if position is None else int(one_element(position, 0, "the position"))
        if not -count <= at <= count:
            raise EvaluationError(f"position {at} is outside -{count}..{count}")
        split = at + count if at < 0 else at
        return ([*sequence[:split], tensor, *sequence[split:]],)


class SequenceMap(ControlFlow):
    """SequenceMap (17): the body on each element; other inputs go along or stay as they are."""

    def _run(
        self, sequence: Any, *others: Any, context: Any = None, attributes: Any = None, **_: Any
    ) -> tuple[Any, ...]:
        body = self.bodies["body"]
        run = body.bind(context, attributes)
        if any(isinstance(o, list) and len(o) != len(sequence) for o in others):
            raise EvaluationError("the input sequences differ in length")
        results = [
            run([element, *(o[i] if isinstance(o, list) else o for o in others)])
            for i, element in enumerate(sequence)
        ]
        return tuple([result[k] for result in results] for k in range(body.output_count))
