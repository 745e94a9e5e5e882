"""Facts of the outputs of a node from the rules of its operator, checked."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import onnx

from ..facts.bounds import Known, known
from ..facts.fact import FOLLOWED, MAX_CONTENT, Content, Fact, Symbols
from ..facts.magnitudes import Magnitudes
from ..facts.polynomial import Dimension, product
from ..ir import Node
from .rules import Shapes, rules_of


def shapes_of(node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
    """The shapes of a node's outputs, None where onnx's inference is to be asked.

    Args:
        node: a node that is free of references to function attributes.
        inputs: what is known about its inputs.
        symbols: makes symbols for sizes that are not known.
    """
    try:
        return rules_of(node.op).shapes(node, inputs, symbols)
    except (IndexError, TypeError, ValueError):
        # The inputs do not fit each other: the node will fail at run time, if it ever runs.
        return None


def content_of(
    node: Node, inputs: Sequence[Fact], elem_type: int, magnitudes: Magnitudes | None = None
) -> Content | None:
    """The content of a node's first output; None where it is not followed.

    Args:
        node: a node that is free of references to function attributes.
        inputs: what is known about its inputs.
        elem_type: the element type of the output.
        magnitudes: how large sizes may be.
    """
    if elem_type not in FOLLOWED:
        return None
    try:
        content = rules_of(node.op).content(node, inputs)
    except (IndexError, TypeError, ValueError):
        # The inputs do not fit each other: the node will fail at run time, if it ever runs.
        return None
    if content is None or content.size > MAX_CONTENT:
        return None
    magnitudes = magnitudes or Magnitudes()
    certain: Collection[Any] | None = None

    def holds(element: Any) -> bool:
        """Test for an element that the type holds for all sizes; others may have wrapped."""
        nonlocal certain
        if elem_type == onnx.TensorProto.BOOL:
            return isinstance(element, bool)
        if not isinstance(element, Dimension):
            return element is None
        if element.value is None:
            if certain is None:
                certain = _certain(node, inputs, elem_type)
            if element in certain:
                return True
        return magnitudes.hold(element, elem_type)

    elements = content.reshape(-1).tolist()
    sure = [element if holds(element) else None for element in elements]
    if all(map(operator.is_, elements, sure)):
        return content
    result = np.empty(content.shape, object)
    result.reshape(-1)[:] = sure
    return result


def _certain(node: Node, inputs: Sequence[Fact], elem_type: int) -> Collection[Any]:
    """Elements of a type among the inputs, and sizes that the node reads."""
    if node.is_op("Shape", "Size"):
        sizes = inputs[0].shape or ()
        return {*sizes, product(sizes)}
    return {
        element
        for fact in inputs
        if fact.content is not None and fact.elem_type == elem_type
        for element in fact.content.reshape(-1)
    }


def with_counts(node: Node, inputs: Sequence[Fact], outputs: list[Fact]) -> list[Fact]:
    """Facts of a node's outputs, including lengths of sequences.

    Args:
        node: a node that is free of references to function attributes.
        inputs: what is known about its inputs.
        outputs: what is known about its outputs otherwise.
    """
    rules = rules_of(node.op)
    facts = rules.facts(node, inputs)
    if facts is not None:
        return facts
    count = rules.count(node, inputs)
    if count is None or count < 0:
        return outputs
    return [dataclasses.replace(fact, count=count) for fact in outputs]


def known_outputs(node: Node, inputs: Sequence[Known], outputs: Sequence[Fact]) -> list[Known]:
    """Facts and bounds of the outputs of a node."""
    bounds = rules_of(node.op).bounds(node, inputs)
    return [
        known(fact, bounds[index] if index < len(bounds) else None)
        for index, fact in enumerate(outputs)
    ]
