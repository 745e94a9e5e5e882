"""The activations of RNN, GRU and LSTM, and their attributes."""

from collections.abc import Sequence
from typing import Any

from ...ir import Node
from ...ops.composite import ACTIVATIONS, DIRECTIONS, PARAMETERS, text_of
from .weights import Unfit

Function = tuple[str, float, float]
"""The name of an activation, and its two parameters, 0 for a missing one."""

_DISPUTED = ("Affine", "ScaledTanh", "ThresholdedRelu")
"""The activations whose parameters default to 0 in onnxruntime."""

OVERFLOWING = "Softplus"
"""The activation that overflows in onnxruntime's kernels of RNN, GRU and LSTM.

They compute log (1 + exp (x)), which is infinite for x above 88, unlike its operator Softplus.
"""

LINEAR: Function = ("Affine", 1.0, 0.0)
"""No activation."""


_LOSING_NAN = ("Relu", "HardSigmoid")
"""The activations that turn NaN into 0 in onnxruntime's RNN; GRU and LSTM clamp all operands."""


def loses_nan(op_type: str, functions: Sequence[Function]) -> bool:
    """Test whether onnxruntime's kernel may turn a NaN into a number."""
    return op_type != "RNN" or any(kind in _LOSING_NAN for kind, *_ in functions)


def attributes_of(op_type: str, functions: Sequence[Function]) -> dict[str, Any]:
    """The attributes for activations; empty for the operator's defaults."""
    names = tuple(kind for kind, *_ in functions)
    if names == ACTIVATIONS[op_type]:
        return {}
    attributes: dict[str, Any] = {"activations": list(names)}
    for name, position in (("activation_alpha", 1), ("activation_beta", 2)):
        values = [f[position] for f in functions if len(PARAMETERS[f[0]]) >= position]
        if values:
            attributes[name] = values
    return attributes


def functions_of(node: Node) -> list[Function]:
    """The activations of a node, direction by direction.

    Raises:
        Unfit: unknown activations; the message continues a sentence about the node.
    """
    directions = len(directions_of(node))
    names = node.attribute("activations") or ACTIVATIONS[node.op_type] * directions
    if len(names) != len(ACTIVATIONS[node.op_type]) * directions:
        raise Unfit(f"has {len(names)} activations for {directions} directions")
    kinds = {kind.lower(): kind for kind in PARAMETERS}
    parameters = [list(node.attribute(f"activation_{name}") or ()) for name in ("alpha", "beta")]
    functions: list[Function] = []
    for name in names:
        text = text_of(name)
        kind = kinds.get(text.lower())
        if kind is None:
            raise Unfit(f"has the activation {text}, which ONNX does not know")
        own = [0.0, 0.0]
        for position, default in enumerate(PARAMETERS[kind]):
            if kind in _DISPUTED and not parameters[position]:
                raise Unfit(
                    f"omits parameters of {kind}, for which runtimes have other defaults than ONNX"
                    " says; write activation_alpha and activation_beta"
                )
            own[position] = float(parameters[position].pop(0)) if parameters[position] else default
        functions.append((kind, own[0], own[1]))
    return functions


def directions_of(node: Node) -> tuple[bool, ...]:
    """The directions of a node, each true for backward.

    Raises:
        Unfit: an unknown direction.
    """
    text = text_of(node.attribute("direction", b"forward"))
    if text not in DIRECTIONS:
        raise Unfit(f"has the direction {text}, which ONNX does not know")
    return DIRECTIONS[text]
