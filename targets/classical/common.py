"""Conditions and constants that decompositions of classical operators share."""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
from onnx import TensorProto

from ...facts.types import PLAIN_FLOATS, PLAIN_INTEGERS, PLAIN_NUMBERS
from ...ir import Array, Value
from ...records import entry
from ...version_converter.engine import Decomposition
from ...version_converter.node_draft import NodeDraft

CLASSICAL: dict[str, Decomposition] = {}
"""Decompositions by operator, with its domain."""
_COMPARES_ALL = 12
"""The first opset with LessOrEqual and with Equal for floats."""


def decomposes(op_type: str) -> Callable[[Decomposition], Decomposition]:
    """Register a decomposition of an operator of ai.onnx.ml. It refuses before it adds any node."""
    return entry(CLASSICAL, f"ai.onnx.ml.{op_type}")


def require_comparisons(draft: NodeDraft) -> None:
    """Check that the opset compares floats in every way.

    Raises:
        Refused: it does not.
    """
    if draft.source < _COMPARES_ALL:
        draft.refuse(f"opset {draft.source} cannot compare floats in every way; 12 can")


def require_rows(draft: NodeDraft) -> None:
    """Check that input 0 is a matrix, with an observation in each row.

    Raises:
        Refused: it may be anything else.
    """
    if draft.required_rank("rows of features") != 2:
        draft.refuse(f"its input is of rank {draft.rank()}, not rows of features")


def floats(draft: NodeDraft) -> Value:
    """Input 0 as 32-bit floats, in which onnxruntime computes.

    Raises:
        Refused: it holds doubles, texts, or values of an unknown type.
    """
    elem_type = draft.required_elem_type(0, "arithmetic of features")
    if elem_type != TensorProto.FLOAT and elem_type not in PLAIN_INTEGERS:
        draft.refuse("clients disagree about the precision of its features")
    return draft.as_type(draft.data, TensorProto.FLOAT)


def kind(draft: NodeDraft, index: int = 0) -> str:
    """The kind of numbers in an input: "f" for floats, "i" for integers.

    Raises:
        Refused: it holds anything else.
    """
    elem_type = draft.required_elem_type(index, "a choice of its attributes")
    if elem_type not in PLAIN_NUMBERS:
        draft.refuse("it holds neither floats nor integers")
    return "f" if elem_type in PLAIN_FLOATS else "i"


def numbers(draft: NodeDraft, name: str, dtype: Any = np.float32) -> Array:
    """The numbers of a list attribute; none where it is absent."""
    return np.array(draft.attribute(name) or (), dtype)


def row(draft: NodeDraft, values: Array | Sequence[Any], label: str) -> Value:
    """A new constant of some numbers."""
    return draft.const(np.asarray(values), label)


def refuse_unread(draft: NodeDraft, what: str) -> NoReturn:
    """Refuse a form about which the specification and onnxruntime disagree."""
    draft.refuse(f"clients disagree about {what}")
