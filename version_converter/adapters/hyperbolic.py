"""Sinh, Cosh, Asinh, Acosh, Atanh: hyperbolic functions and their inverses.

- 9: the operators appear.
- 22: bfloat16.
"""

import onnx

from ...ir import Value
from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import scalar

_FLOAT, _DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
_SMALL = 1e-3
"""Limit below which a logarithm loses digits, and three terms of a series are exact as floats."""

_SAME = 1e-9
"""Limit below which the square of a double is nothing beside 1."""

_LEAST = 1e-20
"""Limit below which 1 and a double is 1."""


class _Wide:
    """A node in a wider type, so that rounding errors vanish in the result."""

    def __init__(self, draft: NodeDraft, wide: int) -> None:
        self.own = draft.required_elem_type(0, draft.op_type)
        self.draft, data = draft, draft.data
        # The number of DOUBLE is above that of FLOAT.
        self.type = max(wide, self.own) if self.own in (_FLOAT, _DOUBLE) else wide
        self.x = data if self.own == self.type else draft.emit("Cast", [data], to=self.type)

    def number(self, value: float) -> Value:
        return scalar(self.draft, value, self.type)

    def do(self, op_type: str, *inputs: Value) -> Value:
        return self.draft.emit(op_type, inputs)

    def result(self, value: Value) -> AdapterResult:
        return [value if self.own == self.type else self.draft.emit("Cast", [value], to=self.own)]


def _cosh(wide: _Wide) -> Value:
    """Half of e^|x| plus e^-|x|. The root of e^|x| overflows for no finite result."""
    half, do = wide.number(0.5), wide.do
    root = do("Exp", do("Mul", do("Abs", wide.x), half))
    more = do("Mul", do("Mul", root, half), root)
    less = do("Div", do("Div", half, root), root)
    return do("Add", more, less)


@longer_form(9, "Cosh")
def average_exponentials(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: exponentials."""
    wide = _Wide(draft, _FLOAT)
    return wide.result(_cosh(wide))


@longer_form(9, "Sinh")
def multiply_tanh_and_cosh(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: Tanh times Cosh; exponentials alone would lose all digits next to zero."""
    wide = _Wide(draft, _FLOAT)
    return wide.result(wide.do("Mul", wide.do("Tanh", wide.x), _cosh(wide)))


@longer_form(9, "Acosh")
def add_logarithms(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: log (x) + log (1 + sqrt (1 - 1 / x^2))."""
    wide = _Wide(draft, _DOUBLE)
    one, two, do = wide.number(1.0), wide.number(2.0), wide.do
    inverse = do("Div", one, wide.x)
    root = do("Sqrt", do("Mul", do("Sub", one, inverse), do("Add", one, inverse)))
    far = do("Add", do("Log", wide.x), do("Log", do("Add", one, root)))
    if wide.own != _DOUBLE:
        return wide.result(far)
    # Next to 1 `far` loses digits, and for doubles there is no wider type.
    above = do("Sub", wide.x, one)
    root = do("Mul", do("Sqrt", above), do("Sqrt", do("Add", above, two)))
    part = do("Add", above, root)
    # Where 1 and the part is 1, the logarithm of more would be 0 / 0.
    near = do("Where", do("Less", part, wide.number(_LEAST)), part, _log_of_more(wide, part))
    return wide.result(do("Where", do("Less", wide.x, two), near, far))


@longer_form(9, "Asinh")
def add_signed_logarithms(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: log (|x|) + log (1 + sqrt (1 + 1 / x^2)) with the sign of x."""
    wide = _Wide(draft, _DOUBLE)
    one, do = wide.number(1.0), wide.do
    size = do("Abs", wide.x)
    inverse = do("Div", one, size)
    root = do("Sqrt", do("Add", do("Mul", inverse, inverse), one))
    far = do("Add", do("Log", size), do("Log", do("Add", one, root)))
    if wide.own == _DOUBLE:
        square = do("Mul", size, size)
        below = do("Add", one, do("Sqrt", do("Add", one, square)))
        near = _log_of_more(wide, do("Add", size, do("Div", square, below)))
        far = do("Where", do("Less", size, one), near, far)
        return wide.result(_or_same(wide, size, do("Mul", do("Sign", wide.x), far)))
    signed = do("Mul", do("Sign", wide.x), far)
    return wide.result(_or_series(wide, size, signed, -1 / 6, 3 / 40))


@longer_form(9, "Atanh")
def halve_logarithm(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: half of log ((1 + x) / (1 - x))."""
    wide = _Wide(draft, _DOUBLE)
    one, do = wide.number(1.0), wide.do
    if wide.own == _DOUBLE:
        size = do("Abs", wide.x)
        part = do("Div", do("Add", size, size), do("Sub", one, size))
        far = do("Log", do("Add", one, part))
        near = do("Where", do("Less", part, one), _log_of_more(wide, part), far)
        half = do("Mul", do("Sign", wide.x), wide.number(0.5))
        return wide.result(_or_same(wide, size, do("Mul", half, near)))
    quotient = do("Div", do("Add", one, wide.x), do("Sub", one, wide.x))
    far = do("Mul", do("Log", quotient), wide.number(0.5))
    return wide.result(_or_series(wide, do("Abs", wide.x), far, 1 / 3, 1 / 5))


def _log_of_more(wide: _Wide, part: Value) -> Value:
    """log (1 + part), with the digits that the sum loses (William Kahan)."""
    one, do = wide.number(1.0), wide.do
    more = do("Add", one, part)
    return do("Div", do("Mul", do("Log", more), part), do("Sub", more, one))


def _or_same(wide: _Wide, size: Value, far: Value) -> Value:
    """The number itself next to zero, elsewhere `far`."""
    near = wide.do("Less", size, wide.number(_SAME))
    return wide.do("Where", near, wide.x, far)


def _or_series(wide: _Wide, size: Value, far: Value, third: float, fifth: float) -> Value:
    """The series x (1 + third x^2 + fifth x^4) next to zero, elsewhere `far`."""
    do = wide.do
    square = do("Mul", wide.x, wide.x)
    inner = do("Add", do("Mul", square, wide.number(fifth)), wide.number(third))
    near = do("Mul", wide.x, do("Add", do("Mul", square, inner), wide.number(1.0)))
    return do("Where", do("Less", size, wide.number(_SMALL)), near, far)
