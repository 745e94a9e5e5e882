"""The activations that RNN, GRU and LSTM have, and how their attributes write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir import Node
from .weights import Unfit

Function = tuple[str, float, float]
"""The name of an activation, and its two parameters, 0 where it has none."""

_PARAMETERS: dict[str, tuple[float, ...]] = {
    "Sigmoid": (),
    "Tanh": (),
    "Relu": (),
    "Softsign": (),
    "Softplus": (),
    "Affine": (1.0, 0.0),
    "ScaledTanh": (1.0, 1.0),
    "LeakyRelu": (0.01,),
    "ThresholdedRelu": (1.0,),
    "Elu": (1.0,),
    "HardSigmoid": (0.2, 0.5),
}
"""The activations that the operators have, with what their parameters are if they are left out."""

_DISPUTED = ("Affine", "ScaledTanh", "ThresholdedRelu")
"""Left out, the parameters of these are 0 in onnxruntime."""

_DEFAULTS = {"GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh"), "RNN": ("Tanh",)}

OVERFLOWING = "Softplus"
"""onnxruntime's kernels of RNN, GRU and LSTM compute it as log (1 + exp (x)), which is infinite for
x above 88; its operator Softplus is not."""

LINEAR: Function = ("Affine", 1.0, 0.0)
"""No activation."""


_LOSING_NAN = ("Relu", "HardSigmoid")
"""Of these an RNN of onnxruntime makes 0 of NaN. GRU and LSTM clamp whatever they activate."""


def loses_nan(op_type: str, functions: Sequence[Function]) -> bool:
    """Whether onnxruntime's kernel may make a number of a NaN."""
    return op_type != "RNN" or any(kind in _LOSING_NAN for kind, *_ in functions)


def is_supported(kind: str) -> bool:
    """Whether the operators have an activation."""
    return kind in _PARAMETERS


def attributes_of(op_type: str, functions: Sequence[Function]) -> dict[str, Any]:
    """The attributes that write activations; none where they are those that the operator takes."""
    names = tuple(kind for kind, *_ in functions)
    if names == _DEFAULTS[op_type]:
        return {}
    attributes: dict[str, Any] = {"activations": list(names)}
    for name, position in (("activation_alpha", 1), ("activation_beta", 2)):
        given = [f[position] for f in functions if len(_PARAMETERS[f[0]]) >= position]
        if given:
            attributes[name] = given
    return attributes


def functions_of(node: Node) -> list[Function]:
    """The activations of a node, those of one direction after those of the other.

    Raises:
        Unfit: they are not known; the message ends a sentence that begins with the node.
    """
    directions = len(directions_of(node))
    names = node.attribute("activations") or _DEFAULTS[node.op_type] * directions
    if len(names) != len(_DEFAULTS[node.op_type]) * directions:
        raise Unfit(f"has {len(names)} activations for {directions} directions")
    kinds = {kind.lower(): kind for kind in _PARAMETERS}
    given = [list(node.attribute(f"activation_{name}") or ()) for name in ("alpha", "beta")]
    functions: list[Function] = []
    for name in names:
        text = name.decode() if isinstance(name, bytes) else str(name)
        kind = kinds.get(text.lower())
        if kind is None:
            raise Unfit(f"has the activation {text}, which ONNX does not know")
        own = [0.0, 0.0]
        for position, default in enumerate(_PARAMETERS[kind]):
            if kind in _DISPUTED and not given[position]:
                raise Unfit(
                    f"leaves out parameters of {kind}, for which runtimes take others than ONNX"
                    " says; write activation_alpha and activation_beta"
                )
            own[position] = float(given[position].pop(0)) if given[position] else default
        functions.append((kind, own[0], own[1]))
    return functions


def directions_of(node: Node) -> tuple[bool, ...]:
    """For each direction of a node whether it goes backward.

    Raises:
        Unfit: there is no such direction.
    """
    given = node.attribute("direction", b"forward")
    text = given.decode() if isinstance(given, bytes) else str(given)
    known = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
    if text not in known:
        raise Unfit(f"has the direction {text}, which ONNX does not know")
    return known[text]
