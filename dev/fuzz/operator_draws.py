"""The choices of which nodes for tests of operators are made: types, shapes, special values."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

OLDEST = 7
TEXTS = [
    "",
    "a",
    "B",
    "ab c",
    "a.b",
    "é",
    "1.5",
    "-0",
    "nan",
    "-inf",
    "INF",
    "1e400",
    "0x10",
    " 1 ",
    "7",
]
_TYPES = {
    f"tensor({TensorProto.DataType.Name(n).lower()})": n for n in TensorProto.DataType.values()
}
_UNRUN = {TensorProto.COMPLEX64, TensorProto.COMPLEX128, TensorProto.UNDEFINED}


@dataclasses.dataclass(frozen=True)
class Case:
    """One node with its operands.

    Attributes:
        node: the node; input `i{n}` is operand n, output `o{n}` result n.
        opset: the version of the default domain.
        operands: one for each input, None where it is left out.
    """

    node: onnx.NodeProto
    opset: int
    operands: list[Any]

    def __str__(self) -> str:
        given = ", ".join(
            "-" if a is None else f"{a.dtype}{list(a.shape)} {a.tolist()}" for a in self.operands
        )
        text = onnx.printer.to_text(self.node)
        return f"opset {self.opset}: {text} on {given}"


class Draw:
    """The choices of one case.

    Args:
        rng: makes them.
        schema: the operator's.
        kind: which values operands have: "plain", "special", "extreme", "equal" or "empty".
    """

    def __init__(self, rng: np.random.Generator, schema: Any, opset: int, kind: str) -> None:
        self.rng, self.schema, self.opset, self.kind = rng, schema, opset, kind
        self._types: dict[str, int] = {}

    def choice(self, options: Any) -> Any:
        options = list(options)
        return options[int(self.rng.integers(len(options)))]

    def flag(self) -> int:
        return int(self.rng.integers(2))

    def elem_type(self, position: int) -> int:
        """The element type of an input, the same for all that share a type parameter."""
        text = self.schema.inputs[min(position, len(self.schema.inputs) - 1)].type_str
        if text not in self._types:
            self._types[text] = self.choice(self.allowed(text))
        return self._types[text]

    def allowed(self, text: str) -> list[int]:
        """The element types of a type parameter, or the one that a type is."""
        listed = [
            c.allowed_type_strs for c in self.schema.type_constraints if c.type_param_str == text
        ]
        names = listed[0] if listed else [text]
        return [_TYPES[n] for n in names if _TYPES.get(n, 0) not in _UNRUN and n in _TYPES]

    def shape(self, least: int = 0, most: int = 3) -> tuple[int, ...]:
        rank = int(self.rng.integers(least, most, endpoint=True))
        sizes = (0, 1, 2, 3) if self.kind == "empty" else (1, 2, 3, 9)
        return tuple(int(self.rng.choice(sizes)) for _ in range(rank))

    def x(self, position: int = 0, shape: tuple[int, ...] | None = None) -> np.ndarray:
        """An operand of the type that the schema has there."""
        return self.of(self.elem_type(position), self.shape() if shape is None else shape)

    def of(self, elem_type: int, shape: tuple[int, ...]) -> np.ndarray:
        values = pool(elem_type, self.kind)
        if self.kind == "equal":
            values = [self.choice(values) for _ in range(2)]
        made = np.empty(
            shape,
            helper.tensor_dtype_to_np_dtype(elem_type)
            if elem_type != TensorProto.STRING
            else object,
        )
        flat = made.reshape(-1)
        for place in range(flat.size):
            flat[place] = self.choice(values)
        return made

    def small(
        self, low: int, high: int, shape: tuple[int, ...], dtype: Any = np.int64
    ) -> np.ndarray:
        return self.rng.integers(low, high, size=shape, endpoint=True).astype(dtype)


@functools.cache
def pool(elem_type: int, kind: str) -> list[Any]:
    """Values of an element type."""
    if elem_type == TensorProto.STRING:
        return TEXTS
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    if dtype == np.bool_:
        return [np.bool_(False), np.bool_(True)]
    if dtype.kind in "iu" or "int" in dtype.name:
        info: Any = ml_dtypes.iinfo(dtype)
        low, high = int(info.min), int(info.max)
        plain = [v for v in (0, 1, 2, 3, 5, -1, -2, -3) if low <= v <= high]
        extreme = [
            low,
            high,
            low + 1,
            high - 1,
            high // 2 + 1,
            0,
            1,
            max(low, -1),
            2,
            3,
            min(high, 64),
            min(high, 100),
        ]
        return [np.array(v).astype(dtype)[()] for v in (plain if kind == "plain" else extreme)]
    limits: Any = ml_dtypes.finfo(dtype)
    plain = [0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, -3.0, 3.25, 0.125, 7.0]
    tiny, most, normal = (float(v) for v in (limits.smallest_subnormal, limits.max, limits.tiny))
    extreme = [
        most,
        -most,
        tiny,
        -tiny,
        normal,
        -0.0,
        3e9,
        -3e9,
        300.0,
        127.5,
        128.5,
        -128.5,
        255.5,
        65504.0,
        2.0**31,
        2.0**63,
        -(2.0**63),
        88.8,
        -104.0,
        1e-8,
        0.49999997,
        1e20,
        2.5,
        -1.5,
    ]
    special = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.5, 2.0]
    listed = {"plain": plain, "empty": plain, "extreme": extreme}.get(kind, special)
    if kind == "equal":
        listed = [*special, *plain]
    with np.errstate(all="ignore"):
        made = list(np.array(listed, np.float64).astype(dtype))
    if kind == "special" and dtype.kind == "f":  # a signalling NaN with a payload
        bits = np.array(limits.max, dtype).view(f"u{dtype.itemsize}") + 2
        made.append(bits.view(dtype)[()])
    return made


Family = Callable[[Draw], tuple[list[Any], dict[str, Any]] | tuple[list[Any], dict[str, Any], int]]
FAMILIES: dict[str, Family] = {}


def draws(names: str) -> Callable[[Family], Family]:
    """Let a family draw for operators."""

    def register(family: Family) -> Family:
        for name in names.split():
            FAMILIES[name] = family
        return family

    return register


def attributes(draw: Draw, **options: Any) -> dict[str, Any]:
    """Some of the attributes, those that the version has, or none."""
    return {
        n: draw.choice(v) for n, v in options.items() if n in draw.schema.attributes and draw.flag()
    }
