"""Operators that return their operand: neutral elements, equal operands, unchanged shapes."""

from collections.abc import Mapping
from typing import Any

from ....definitions.element_types import UNIVERSE
from ..rules.match import Match
from ..rules.registry import law, laws

laws("""
DivByOne: Remove a division by 1.
    (x[*S]) => (y[*S]) { y = Div (x, 1) }
    (x) => (x)
SubZero: Remove a subtraction of 0 (-0.0 - 0.0 is -0.0, whereas -0.0 + 0.0 is 0.0).
    (x[*S]) => (y[*S]) { y = Sub (x, 0) }
    (x) => (x)
AddZero: Remove an addition of 0 to integers.
    (integers x[*S]) => (y[*S]) { y = Add (x, 0) }
    (x) => (x)
PowOne (reals): Remove a power with exponent 1.
    (floats x[*S]) => (y[*S]) { y = Pow (x, 1) }
    (x) => (x)
AndTrue: Remove a conjunction with true.
    (x[*S]) => (y[*S]) { y = And (x, 1) }
    (x) => (x)
OrFalse: Remove a disjunction with false.
    (x[*S]) => (y[*S]) { y = Or (x, 0) }
    (x) => (x)
MaxOfSame: Remove a maximum of a value and itself.
    (x) => (y) { y = Max (x, x) }
    (x) => (x)
MinOfSame: Remove a minimum of a value and itself.
    (x) => (y) { y = Min (x, x) }
    (x) => (x)
AndOfSame: Remove a conjunction of a value and itself.
    (x) => (y) { y = And (x, x) }
    (x) => (x)
OrOfSame: Remove a disjunction of a value and itself.
    (x) => (y) { y = Or (x, x) }
    (x) => (x)
WhereOfSame: Remove a choice between a value and itself.
    (c[< *S], x[*S]) => (y[*S]) { y = Where (c, x, x) }
    (x) => (x)
WhereTrue: Remove a choice by true.
    (x[*S], z[< *S]) => (y[*S]) { y = Where (1, x, z) }
    (x) => (x)
WhereFalse: Remove a choice by false.
    (x[*S], z[< *S]) => (y[*S]) { y = Where (0, z, x) }
    (x) => (x)
ConcatOfOne: Remove a Concat of one operand.
    (x) => (y) { y = Concat <axis = @a> (x) }
    (x) => (x)
""")


_LAST = 2**63 - 1


def ends_normalization(match: Match) -> bool:
    """Test for the scale or bias of a normalization in steps: runtimes fuse all of it.

    onnxruntime 1.32 takes 1.07 of the time of a CLIP without its unit scales, 0.85 with them.
    """
    node, value = match.nodes[0], match.value("x")
    constants = [v.constant for v in node.inputs if v is not None and v.constant is not None]
    if not any(len(tensor.dims) == 1 and tensor.size > 1 for tensor in constants):
        return False
    product = value.producer
    if node.is_op("Add") and product is not None and product.is_op("Mul"):
        factors = [v for v in product.inputs if v is not None and v.constant is None]
        value = factors[0] if len(factors) == 1 else value
    quotient = value.producer
    divisor = None if quotient is None or not quotient.is_op("Div") else quotient.input(1)
    return divisor is not None and divisor.producer is not None and divisor.producer.is_op("Sqrt")


law(
    "MulByOne: Remove a product with 1.",
    "(x[*S]) => (y[*S]) { y = Mul (x, 1) }",
    "(x) => (x)",
    lambda match: not ends_normalization(match),
)
law(
    "AddMinusZero: Remove an addition of -0.0.",
    "(floats x[*S]) => (y[*S]) { y = Add (x, -0.0) }",
    "(x) => (x)",
    lambda match: not ends_normalization(match),
)
law(
    "AddFloatZero (values): Remove an addition of 0.0, which turns -0.0 into 0.0.",
    "(floats x[*S]) => (y[*S]) { y = Add (x, 0.0) }",
    "(x) => (x)",
    lambda match: not ends_normalization(match),
)
law(
    "ExpandToItself: Remove an Expand to the shape of its operand.",
    "(x[*S], s) => (y[*S]) { y = Expand (x, s) }",
    "(x) => (x)",
    cases=lambda ranks: [{"s": "Shape (x)"}, {"s": (1,) * ranks["S"]}],
)


def _kept_sizes(ranks: Mapping[str, int]) -> list[dict[str, Any]]:
    """The shape of the operand, and constants that keep each size."""
    zeros = (0,) * ranks["S"]
    return [{"s": zeros}, {"s": "Shape (x)"}, *([{"s": (*zeros[:-1], -1)}] if zeros else [])]


law(
    "ReshapeToItself: Remove a Reshape to the shape of its operand.",
    (
        "(x[*S], s) => (y[*S]) { y = Reshape (x, s) }",
        "(x[*S], s) => (y[*S]) { y = Reshape <allowzero = 1> (x, s) }",
    ),
    "(x) => (x)",
    cases=_kept_sizes,
)
law(
    "TileByOne: Remove a Tile that repeats nothing.",
    "(x, s) => (y) { y = Tile (x, @r) }",
    "(x) => (x)",
    lambda match: set(match["r"]) <= {1},
    lambda ranks: [{"r": (1,) * ranks["x"]}],
)
law(
    "TransposeToItself: Remove a Transpose that keeps the order of the axes.",
    "(x) => (y) { y = Transpose <perm = @p> (x) }",
    "(x) => (x)",
    lambda match: match["p"] == tuple(range(len(match["p"]))),
    lambda ranks: [{"p": tuple(range(ranks["x"]))}],
)
law(
    "PadByZero: Remove a Pad that adds nothing.",
    "(x, v) => (y) { y = Pad <pads = @p, mode = @m> (x, v?) }",
    "(x) => (x)",
    lambda match: set(match["p"]) <= {0},
    lambda ranks: [
        {"p": (0,) * (2 * ranks["x"]), "m": mode} for mode in ("constant", "edge", "reflect")
    ],
)


def _cuts_nothing(match: Match) -> bool:
    """Require steps of 1, and ends beyond any size or a constant size."""
    sizes, axes = match.stars["S"], match.axes("a", len(match.stars["S"]))
    if axes is None or set(match["t"]) - {1}:
        return False
    ends = zip(match["e"], axes, strict=True)
    return all(end == _LAST or sizes[axis].value is not None for end, axis in ends)


law(
    "SliceToItself: Remove a Slice that keeps all elements in their order.",
    "(x[*S]) => (y[*S]) { y = Slice <starts=@s, ends=@e, axes=@a, steps=@t> (x) }",
    "(x) => (x)",
    _cuts_nothing,
    lambda ranks: [
        {"s": (0,), "t": (1,), "e": (end,), "a": (axis,)}
        for axis in (range(-1, ranks["S"]) if ranks["S"] else ())
        for end in (_LAST, 9)
    ],
    sizes=("symbols", "numbers"),
)
law(
    "CastToItself: Remove a Cast to the type that a value has.",
    "(x) => (y) { y = Cast <to = @t> (x) }",
    "(x) => (x)",
    lambda match: bool(match.elem_type("x") == match["t"]),
    lambda ranks: [{"t": each} for each in UNIVERSE],
)
law(
    "InferenceDropout: Remove a Dropout in inference.",
    (
        "(x) => (y) { y = Dropout <ratio = @q> (x) }",
        "(x, r) => (y) { y = Dropout (x, r?) }",
        "(x, r) => (y) { y = Dropout (x, r?, 0) }",
    ),
    "(x) => (x)",
    cases=lambda ranks: [{"q": 0.5, "r": 0.5}],
)
