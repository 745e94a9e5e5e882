"""Running a kernel on constants: at once where that is quick, elsewhere where nobody can tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx

from ..ir import Array, Node
from ..limits import current, limit
from ..ops import rules_of
from ..reference.errors import EvaluationError

CALL = 5_000
"""Steps that a call of a kernel takes, whatever it computes."""

_AT_ONCE = limit("counted_apart")

Kernel = Callable[[list[Any]], list[Any]]
Message = Callable[[], tuple[onnx.NodeProto, Mapping[str, int]]]
"""Gives a node as it is written, and the opsets in which it is."""


def computed(
    node: Node, arrays: list[Any], most: int, kernel: Kernel, message: Message
) -> list[Any] | None:
    """The results of a kernel; None where that is too much, it fails, or runtimes may disagree.

    Args:
        node: whose kernel it is.
        arrays: one for each input, None where it is left out.
        most: how many elements may come out.
        kernel: computes it in this process.
        message: the same for another process.
    """
    rules, governor = rules_of(node.op), current()
    if not rules.growth(node, arrays) <= most:
        return None
    steps = CALL + rules.work(node, arrays)
    is_known = math.isfinite(steps)
    if is_known and not governor.may_work(steps, node):
        return None
    try:
        at_once = is_known and steps <= _AT_ONCE
        results = kernel(arrays) if at_once else _apart(node, arrays, message)
    except EvaluationError:
        return None
    return results if results and rules.is_settled(node, arrays, results) else None


def _apart(node: Node, arrays: Sequence[Any], message: Message) -> list[Any] | None:
    """The same in a process that is ended when it takes longer than there are seconds left.

    Raises:
        EvaluationError: it fails.
    """
    from ..runtimes.isolated_op import Apart
    from ..runtimes.workers import RuntimeFailure

    governor = current()
    seconds = governor.may_wait(node)
    if not seconds:
        return None
    try:
        results, spent = governor.helper(Apart).run(*message(), arrays, seconds)
    except RuntimeFailure as failure:
        if failure.reason == "timed out":
            governor.wait(math.inf, node)
        else:
            governor.refuse(node, f"ended its process: {failure}")
        return None
    governor.wait(spent, node)
    return results


def size_of(array: Array) -> int:
    """The bytes that an array holds, those of its texts included."""
    if array.dtype.hasobject:
        return array.nbytes + sum(len(str(text)) for text in array.reshape(-1))
    return array.nbytes
