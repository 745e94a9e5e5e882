"""What the drawn models are made of: typed values, and scopes that name them and collect nodes.

Elements are small integers in every element type, so that all results are exact: each value
carries a bound on its magnitude, and the operators that could leave it clamp.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar

import numpy as np
from hypothesis import strategies as st
from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    helper,
    numpy_helper,
)

FLOAT, DOUBLE = TensorProto.FLOAT, TensorProto.DOUBLE
INT32, INT64, BOOL = TensorProto.INT32, TensorProto.INT64, TensorProto.BOOL
DTYPES = {FLOAT: np.float32, INT64: np.int64, BOOL: np.bool_, DOUBLE: np.float64, INT32: np.int32}
# A value beyond this is clamped, and not read before; sums and products then stay below 2**24.
LIMIT = 1000

T = TypeVar("T")
integers = cache(st.integers)  # to make a strategy takes longer than to draw from it

CONSTRUCTS = ("Loop", "If", "Scan")

Dim = int | str | None  # a number, a symbol (always at least 1), or unknown
Shape = tuple[Dim, ...] | None  # None: the rank is unknown
Draw = Callable[[st.SearchStrategy[Any]], Any]


@dataclass(frozen=True)
class Value:
    """What the generator knows of a name. `known`: decided without any run-time input."""

    name: str
    type: int
    shape: Shape
    bound: int
    known: bool = False
    known_shape: bool = True
    literal: int | None = None  # the content of a constant of one element
    sequence: bool = False
    least: int = 0  # a sequence holds at least this many tensors

    @property
    def fixed(self) -> bool:
        """Whether every dimension is a number."""
        return self.shape is not None and all(isinstance(d, int) for d in self.shape)

    @property
    def single(self) -> bool:
        return self.shape is not None and all(d == 1 for d in self.shape)

    @property
    def size(self) -> int:
        """The number of elements; for a shape that varies, more than it can reach."""
        return int(np.prod(self.shape, dtype=int)) if self.fixed else 1000


@dataclass(frozen=True)
class Options:
    """What a drawn model may hold; see `strategies.models`."""

    opset: int
    ir_version: int
    static_only: bool = False
    shadowing: bool = False
    functions: bool = True
    sequences: bool = True
    scans: bool = True
    shapes: bool = True
    whiles: bool = True
    symbolic: bool = True
    overridable: bool = True
    faults: bool = False
    max_depth: int = 3
    max_nodes: int = 40


@dataclass
class Context:
    """One model under construction."""

    draw: Draw
    options: Options
    constructs: "Sequence[Callable[[Scope], object]]" = ()
    functions: list[FunctionProto] = field(default_factory=list)
    lengths: list[tuple[Value, Dim]] = field(default_factory=list)  # valid sequence_lens
    nodes: int = 0

    @property
    def types(self) -> list[int]:
        return list(DTYPES)[: 5 if self.options.opset >= 12 else 3]

    def room(self) -> bool:
        return self.nodes < self.options.max_nodes


def type_proto(value: Value, declare: bool = True) -> Any:
    """The ONNX type of a value; without its shape unless `declare`."""
    shape = value.shape if declare and not value.sequence else None
    tensor = helper.make_tensor_type_proto(value.type, shape)
    return helper.make_sequence_type_proto(tensor) if value.sequence else tensor


def value_info(value: Value, declare: bool = True) -> ValueInfoProto:
    return helper.make_value_info(value.name, type_proto(value, declare))


def constant_value(array: np.ndarray, type: int) -> Value:
    bound = int(np.abs(array.astype(int)).max(initial=0))
    content = int(array.item()) if array.size == 1 else None
    return Value("", type, array.shape, bound, known=True, literal=content)


class Scope:
    """A graph under construction and its view of the outer ones.

    A name is the first of v0, v1, ... that is not visible, so bodies, their siblings and what
    follows a construct reuse each other's names.
    """

    def __init__(self, context: Context, parent: "Scope | None" = None, *, depth: int = 0) -> None:
        self.context, self.parent = context, parent
        self.draw, self.options = context.draw, context.options
        self.depth = depth if parent is None else parent.depth + 1
        self.in_function = parent is not None and parent.in_function
        self.attribute: int | None = parent.attribute if parent else None  # of the function, "k"
        self.iterations = (
            1 if parent is None else parent.iterations
        )  # times that the body runs in all
        self.next = 0 if parent is None else parent.next
        self.inside: set[str] = set()  # the names that bodies here have used
        self.bodies: list[Scope] = []  # of the construct that is being drawn
        self.within: list[set[str]] = []  # the names used in the bodies of each construct
        self.after: dict[str, frozenset[int]] = {}  # the constructs that a value depends on
        self.own: dict[str, Value] = {}
        self.captured: set[str] = set()  # outer names that may not be shadowed here any more
        self.reads: set[str] = set()  # those of them that nodes here or in bodies do read
        self.nodes: list[NodeProto] = []
        self.inputs: list[ValueInfoProto] = []
        self.initializers: list[TensorProto] = []
        self.listed: list[ValueInfoProto] = []  # those of the initializers that are inputs too

    def child(self, iterations: int = 1) -> "Scope":
        inner = Scope(self.context, self)
        self.bodies.append(inner)
        inner.iterations *= max(iterations, 1)
        return inner

    @property
    def opset(self) -> int:
        return self.options.opset

    def visible(self) -> list[Value]:
        """Every value that a node here may read, the newest first; the inner name wins."""
        outer = self.parent.visible() if self.parent else []
        own = [v for v in reversed(self.own.values()) if v.bound <= LIMIT]
        return [*own, *(v for v in outer if v.name not in self.own)]

    def find(self, accept: Callable[[Value], bool]) -> list[Value]:
        return [v for v in self.visible() if accept(v)]

    def number(self, low: int, high: int) -> int:
        """A drawn integer; without a draw where there is no choice."""
        return low if low == high else int(self.draw(integers(low, high)))

    def pick(self, values: Sequence[T]) -> T:
        """One of the values; shrinks to the first."""
        return values[self.number(0, len(values) - 1)]

    def choose(self, values: Sequence[Value]) -> Value:
        """Draw one of the values, and keep its name from being shadowed here from now on."""
        return self.use(self.pick(values))

    def use(self, value: Value, reads: bool = False) -> Value:
        """Note that a node here will read the value, or does."""
        scope: Scope | None = self
        while scope is not None and value.name not in scope.own:
            scope.captured.add(value.name)
            if reads:
                scope.reads.add(value.name)
            scope = scope.parent
        return value

    def flip(self, one_in: int = 2) -> bool:
        """True once in `one_in` draws; shrinks to False."""
        return bool(self.number(0, one_in - 1) == one_in - 1)

    def hiding(self) -> str:
        """For a body's input or initializer: perhaps a name that hides an outer value."""
        if self.options.shadowing and self.parent and self.flip():
            taken = self.own.keys() | self.captured
            ready = self.parent.find(lambda v: not v.sequence and v.name not in taken)
            outer = [v.name for v in ready]
            if outer:
                return str(self.pick(outer))
        return ""

    def fresh(self, before: frozenset[int] = frozenset()) -> str:
        """A new name, perhaps one that the body of a construct before has used.

        Only a construct that the node depends on: onnxruntime orders nodes in its own way, and
        refuses a body's name that is an output of a node it puts earlier ("name-after-body").
        """
        while self.sees(f"v{self.next}"):
            self.next += 1
        number = self.next
        others = [names for i, names in enumerate(self.within) if i not in before]
        while self.sees(f"v{number}") or any(f"v{number}" in names for names in others):
            number += 1
        return f"v{number}"

    def sees(self, name: str) -> bool:
        return name in self.own or (self.parent is not None and self.parent.sees(name))

    def unused(self) -> str:
        """A new name that no body here has used so far.

        An initializer is visible in them all, whatever the order, and onnxruntime makes one of
        each Constant node (KNOWN_FAULTS, "constant-after-body").
        """
        number = self.next
        while f"v{number}" in self.inside or self.sees(f"v{number}"):
            number += 1
        return f"v{number}"

    def add(self, value: Value) -> Value:
        self.own[value.name] = value
        outer = self.parent
        while outer is not None:
            outer.inside.add(value.name)
            outer = outer.parent
        return value

    def emit(
        self, op: str, inputs: Sequence[Value | None], outputs: Sequence[Value], **attributes: Any
    ) -> list[Value]:
        """Append a node; `outputs` say everything but the names."""
        names = [self.use(v, reads=True).name if v else "" for v in inputs]
        before = self.close(names)
        # A sequence can be copied, where its name could not be an output's, from opset 14.
        reuse = op != "Constant" and not (op in CONSTRUCTS and self.flip())
        reuse = reuse and (self.opset >= 14 or not any(v.sequence for v in outputs))
        values = []
        for v in outputs:
            name = self.fresh(before) if reuse else self.unused()
            values.append(self.add(replace(v, name=name)))
            self.after[name] = before
        self.nodes.append(helper.make_node(op, names, [v.name for v in values], **attributes))
        self.context.nodes += op != "Constant"
        return values

    def close(self, names: list[str]) -> frozenset[int]:
        """The constructs here that a node of these inputs comes after, itself included."""
        read = set(names)
        before: frozenset[int] = frozenset()
        if self.bodies:
            read |= {name for body in self.bodies for name in body.reads}
            before = frozenset([len(self.within)])
            self.within.append({n for body in self.bodies for n in (*body.own, *body.inside)})
            self.bodies = []
        return before.union(*(self.after.get(name, ()) for name in read))

    def node(
        self,
        op: str,
        inputs: Sequence[Value],
        result: Value,
        *,
        known: bool | None = None,
        **attributes: Any,
    ) -> Value:
        """An ordinary operator with one output, decided when its inputs are."""
        decided = all(v.known for v in inputs) if known is None else known
        shaped = result.fixed or all(v.known_shape for v in inputs)
        result = replace(result, known=decided, known_shape=shaped, literal=None)
        return self.emit(op, inputs, [result], **attributes)[0]

    def constant(self, data: Any, type: int) -> Value:
        """A Constant node or, where one is legal, an initializer."""
        array = np.asarray(data, DTYPES[type])
        value = constant_value(array, type)
        floats_only = self.opset < 9 and type != FLOAT  # Constant-1
        if self.allows_initializers and (floats_only or self.flip()):
            return self.initializer(array, value)
        if floats_only:
            return self.emit("Cast", [self.constant(array, FLOAT)], [value], to=type)[0]
        if self.opset >= 12 and type == INT64 and array.ndim == 0 and self.flip():
            return self.emit("Constant", [], [value], value_int=array.item())[0]
        return self.emit("Constant", [], [value], value=numpy_helper.from_array(array))[0]

    def attribute_constant(self) -> Value:
        """The function's attribute, by reference."""
        assert self.attribute is not None
        value = Value("", INT64, (), self.attribute, True, literal=self.attribute)
        value = self.emit("Constant", [], [value])[0]
        self.nodes[-1].attribute.add(name="value_int", ref_attr_name="k").type = AttributeProto.INT
        return value

    @property
    def allows_initializers(self) -> bool:
        return self.parent is not None or not self.in_function

    def initializer(self, array: Any, value: Value) -> Value:
        name = (self.options.faults and self.hiding()) or self.unused()
        value = self.add(replace(value, name=name))
        self.initializers.append(numpy_helper.from_array(array, value.name))
        if self.options.ir_version < 4:
            # Every initializer has to be an input too, in a body after those that the node feeds.
            self.listed.append(value_info(value))
        return value

    def input(self, value: Value, declare: bool = True, name: str = "") -> Value:
        """A formal input of a body, or (with its name) of the model."""
        value = self.add(replace(value, name=name or self.hiding() or self.fresh()))
        self.inputs.append(value_info(value, declare))
        return value

    def as_output(self, value: Value, node_only: bool = False, copy: bool = False) -> Value:
        """`value`, through an Identity (a `copy`) unless it can be an output itself.

        The checker wants this graph to define it. And onnx's shape inference takes the declared
        type of an output also for an equal name in a body, though that is another value.
        """
        made = value.name in self.own and value.name not in self.inside and not copy
        if node_only and made:
            made = any(value.name in node.output for node in self.nodes)
        if made:
            return value
        result = replace(value, name=self.unused(), literal=None)
        self.nodes.append(
            helper.make_node("Identity", [self.use(value, reads=True).name], [result.name])
        )
        return self.add(result)

    def graph(self, name: str, outputs: Sequence[Value], declare: bool = True) -> GraphProto:
        infos = []
        if not self.in_function and self.flip(3):  # see KNOWN_FAULTS, "function-value-info"
            inputs = (*self.inputs, *self.listed)
            told = {v.name for v in inputs} | {v.name for v in outputs} | self.inside
            told |= {v.name for v in self.initializers}
            infos = [value_info(v) for v in self.own.values() if v.fixed and v.name not in told]
        return helper.make_graph(
            self.nodes,
            name,
            [*self.inputs, *self.listed],
            [value_info(v, declare) for v in outputs],
            self.initializers,
            value_info=infos,
        )
