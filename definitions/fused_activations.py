"""Activations that attributes of fused operators name."""

from collections.abc import Sequence

from .case import Unfit

_NAMED = {
    "Celu": ("alpha",),
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "Relu": (),
    "Selu": ("alpha", "gamma"),
    "Sigmoid": (),
    "Softplus": (),
    "Softsign": (),
    "Tanh": (),
    "ThresholdedRelu": ("alpha",),
}
"""Activations that ONNX has as operators, with the attributes that take their parameters."""


def activation(name: str | None, parameters: Sequence[float | None], x: str, y: str) -> str:
    """Nodes that apply an activation to a value.

    Args:
        name: the activation; None or an empty text for none.
        parameters: its parameters in order; None for one that the node lacks.
        x: the value.
        y: the name of the result.

    Raises:
        Unfit: there is no such activation, or a parameter is missing.
    """
    values = [value for value in parameters if value is not None]
    if not name:
        return f"{y} = Identity ({x})"
    if name == "Clip":
        low, high = _of(name, values, 2)
        return f"{y} = Clip <min = {low!r}, max = {high!r}> ({x})"
    if name == "ParametricSoftplus":
        alpha, beta = _of(name, values, 2)
        return f"inner = Mul ({x}, {beta!r}) plus = Softplus (inner) {y} = Mul (plus, {alpha!r})"
    if name == "ScaledTanh":
        alpha, beta = _of(name, values, 2)
        return f"inner = Mul ({x}, {beta!r}) bent = Tanh (inner) {y} = Mul (bent, {alpha!r})"
    if name == "HardSwish":
        return f"""gate = HardSigmoid <alpha = {1 / 6!r}, beta = 0.5> ({x})
            {y} = Mul ({x}, gate)"""
    if name not in _NAMED:
        raise Unfit(f"its activation '{name}' is unknown")
    attributes = zip(_NAMED[name], _of(name, values, len(_NAMED[name])), strict=True)
    words = ", ".join(f"{attribute} = {value!r}" for attribute, value in attributes)
    return f"{y} = {name} {f'<{words}> ' if words else ''}({x})"


def _of(name: str, values: Sequence[float], count: int) -> Sequence[float]:
    if len(values) < count:
        raise Unfit(f"its activation '{name}' lacks a parameter")
    return values[:count]
