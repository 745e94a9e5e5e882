"""Guarded evaluation of kernels: in this process if cheap, in another one if unbounded."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx

from ..ir import Array, Node
from ..limits import current, limit
from ..ops import agrees, rules_of
from ..reference.errors import EvaluationError

CALL = 5_000
"""The steps of any call of a kernel."""

_AT_ONCE = limit("counted_apart")

Kernel = Callable[[list[Any]], list[Any]]
Message = Callable[[], tuple[onnx.NodeProto, Mapping[str, int]]]
"""Makes the message of a node and its opset imports."""


def run_kernel(
    node: Node, arrays: list[Any], most: int, kernel: Kernel, message: Message
) -> list[Any] | None:
    """Run a kernel; None where it costs too much, fails, or runtimes may disagree.

    Args:
        node: the node of the kernel.
        arrays: one for each input, None for an absent one.
        most: the limit of output elements.
        kernel: runs in this process.
        message: the node for another process.
    """
    rules, governor = rules_of(node.op), current()
    # Put like this, it stops at NaN, too.
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
    return results if results and agrees(node, arrays, results) else None


def _apart(node: Node, arrays: Sequence[Any], message: Message) -> list[Any] | None:
    """Run a node in another process with a timeout.

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
    """The size of an array in bytes, including its strings."""
    if array.dtype.hasobject:
        return array.nbytes + sum(len(str(text)) for text in array.reshape(-1))
    return array.nbytes
