"""Types of a model's values during its conversion."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import onnx
from google.protobuf.message import Message

from ..analysis.shapes.inference import ShapeInference
from ..analysis.shapes.onnx_inference_cache import OnnxFacts
from ..analysis.shapes.ranks import Ranks
from ..definitions import Expansion
from ..facts.fact import UNKNOWN, Fact, decided, is_settled, vector
from ..facts.polynomial import Dimension
from ..facts.types import IEEE_FLOATS, agreed
from ..ir import Function, Model, Node, Operator, Tensor, Value, normal_domain
from ..ir.lazy import lazy_property
from ..ops.schema_queries import ElementTypes, tensor_text, type_text, version_of_root
from .absent import calls_in


class Types:
    """Types of a model's values, inferred on request.

    A function that is called with different types has values of several types: `every` returns all
    of them, `of` what they have in common.

    While it is in use, nodes change from one version to the next. Types of values stay: `transfer`
    copies them to a replacement.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._versions: dict[Node, int] = {}
        self._pinned: dict[Node, int] = {}
        self._main = ShapeInference(model, version_of=self.version_of, trusts_bodies=True)
        self._elements = ElementTypes(self.version_of)
        self._ranks = Ranks(model, self._inferred_rank)

    # The versions of nodes ----------------------------------------------------------------------

    def version_of(self, node: Node) -> int:
        """The present opset version of a node."""
        if node in self._pinned:
            return self._pinned[node]
        return self._versions.get(node) or version_of_root(node)

    def begin_step(self, nodes: Iterable[Node], version: int) -> None:
        """Record the version of these nodes; all others have that of their graph, or one that makes
        no difference."""
        _ = self._calls  # must be inferred before any node changes
        self._versions = dict.fromkeys(nodes, version)

    def add(self, node: Node, version: int) -> None:
        """Record the version of a new node."""
        self._versions[node] = version

    def pin_version(self, node: Node, version: int) -> None:
        """Record that a node cannot be converted and stays in a version."""
        self._pinned[node] = version

    def mark_converted(self, node: Node) -> None:
        """Record that a node has the version of its graph from now on."""
        self._versions.pop(node, None)

    # What is known ------------------------------------------------------------------------------

    def every(self, value: Value) -> list[onnx.TypeProto]:
        """All types of a value; none where nothing is known."""
        types: list[onnx.TypeProto] = []
        for fact in self._facts(value):
            type_ = fact.type_proto(private=False)
            if type_ is not None and type_ not in types:
                types.append(type_)
        return types

    def of(self, value: Value | None) -> onnx.TypeProto | None:
        """The type of a value, with the dimensions on which all its types agree."""
        types = self.every(value) if value is not None else []
        common = types[0] if types else None
        for type_ in types[1:]:
            common = agreed(common, type_)
        return common

    def texts(self, value: Value) -> list[str]:
        """All types of a value, as schemas write them: "tensor(float)"."""
        elem_type = self._element(value)
        if elem_type is not None:
            return [tensor_text(elem_type)]
        return [text for text in map(type_text, self.every(value)) if text]

    def elem_type(self, value: Value | None) -> int | None:
        """The element type of a tensor; None where it is not known."""
        elem_type = None if value is None else self._element(value)
        if elem_type is not None:
            return elem_type
        type_ = self.of(value)
        return (type_.tensor_type.elem_type or None) if type_ is not None else None

    def _element(self, value: Value) -> int | None:
        """The single element type of a value, from schemas and declarations alone."""
        if self._calls and self._around(value) != (self._main,):
            return None
        return self._elements.of(value)

    def plain_elem_types(self, values: Iterable[Value | None]) -> tuple[int | None, ...]:
        """The element types of tensors from schemas and declarations alone, which is cheap; 0 where
        these lack one, None for an absent value."""
        if not self._calls:
            return self._elements.of_each(values)
        return tuple([None if v is None else self._element(v) or 0 for v in values])

    def shape(self, value: Value | None) -> list[int | None] | None:
        """The dimensions of a tensor, None for those not known; None for an unknown rank."""
        return shape_of(self.of(value))

    def elements(self, value: Value) -> list[Any] | None:
        """The elements of an integer vector, None for unknown ones; None for an unknown vector.
        Each known one is a `Dimension`."""
        facts = self._facts(value)
        return vector(facts[0]) if len(facts) == 1 else None

    def decided(self, value: Value) -> Tensor | None:
        """The tensor of a value that shapes decide; None for other values."""
        fact = self.fact(value)
        array = None if fact is None or fact.content is None else decided(fact)
        return None if array is None else Tensor(array=array)

    def fact(self, value: Value) -> Fact | None:
        """The fact of a value; None where calls of its function have several."""
        inferences = self._around(value)
        return inferences[0].fact(value) if len(inferences) == 1 else None

    def dimensions(self, value: Value | None) -> tuple[Dimension, ...] | None:
        """The dimensions of a tensor with symbols for those not known; None for an unknown rank."""
        facts = [] if value is None else self._facts(value)
        return facts[0].shape if len(facts) == 1 else None

    def rank(self, value: Value | None) -> int | None:
        """The rank of a tensor; None where it is not known."""
        if value is None:
            return None
        if self._calls and self._around(value) != (self._main,):
            return self._inferred_rank(value)
        return self._ranks.of(value)

    def _inferred_rank(self, value: Value) -> int | None:
        """The rank that follows from types and shapes, on which all calls agree."""
        shape = self.shape(value)
        return None if shape is None else len(shape)

    def of_outputs(self, node: Node, op: Operator, version: int) -> list[onnx.TypeProto | None]:
        """The types of a node's outputs with another operator or opset."""
        inputs = [self._main.symbols.fact(self.of(v)) for v in node.inputs]
        untyped = any(v and f is UNKNOWN for v, f in zip(node.inputs, inputs, strict=True))
        if untyped or node.bodies or op.references or normal_domain(op.domain):
            return [None] * len(node.outputs)
        facts = OnnxFacts(self.model, self._main.symbols, lambda _: version)
        return [fact.type_proto(private=False) for fact in facts.of(node, inputs, op)]

    def definition(self, node: Node) -> Expansion | None:
        """The graph that an operator outside of ONNX stands for; None where it has no definition.

        Raises:
            Unfit: no definition covers the node.
        """
        present = next(filter(None, node.outputs))
        graph, inference = node.graph, self._around(present)[0]
        facts = [UNKNOWN if v is None else inference.fact(v) for v in node.inputs]
        outputs = [v if v and graph and graph.is_used(v) else None for v in node.outputs]
        return inference.definition(node, facts, outputs)

    def transfer(self, old: Value, new: Value) -> None:
        """Transfer the facts about a value to its replacement."""
        # A constant has all facts of its own.
        if new.constant is None:
            self.renew(new, self.facts(old))

    def facts(self, value: Value) -> list[tuple[ShapeInference, Fact]]:
        """Return all facts about a value, each with its inference."""
        return [(inference, inference.fact(value)) for inference in self._around(value)]

    def assume(self, value: Value, fact: Fact) -> None:
        """Add the fact of a value in all calls around it."""
        self._ranks.forget(value)
        for inference in self._around(value):
            inference.assume(value, fact)

    def renew(self, value: Value, facts: Sequence[tuple[ShapeInference, Fact]]) -> None:
        """Add facts about an equal value, or about this one before its node was rewritten."""
        self._ranks.forget(value)
        for inference, fact in facts:
            # All is known of a tensor of floats with static sizes.
            if fact.elem_type not in IEEE_FLOATS or not is_settled(fact):
                inference.forget(value)
                fact = _together(inference.fact(value), fact)
            inference.assume(value, fact)

    def _facts(self, value: Value) -> list[Fact]:
        return [inference.fact(value) for inference in self._around(value)]

    # Functions ----------------------------------------------------------------------------------

    def _around(self, value: Value) -> Sequence[ShapeInference]:
        """The inferences of a value: one for each kind of calls of its function."""
        if not self._calls or value.graph is None:
            return (self._main,)
        return self._calls.get(value.graph.root, (self._main,))

    @lazy_property
    def _calls(self) -> dict[Model | Function, list[ShapeInference]]:
        """The inferences inside of each called function, one for calls of the same types. They need
        all nodes in the version of their graph."""
        if not self.model.functions:
            return {}
        inferences: dict[Model | Function, list[ShapeInference]] = {}
        keys: set[Hashable] = set()
        places: list[tuple[Model | Function, ShapeInference]] = [(self.model, self._main)]
        calls = {root: list(calls_in(root, self.model)) for root in self.model.roots()}
        while places:
            root, around = places.pop()
            for call in calls[root]:
                function = self.model.functions[call.op.function_key]
                types = [_type_in(around, value) for value in call.inputs]
                inside = around.inside(call, function, [around.symbols.fact(t) for t in types])
                key = (function, _texts(types), _texts(inside.attributes.values()))
                if key not in keys:
                    keys.add(key)
                    inferences.setdefault(function, []).append(inside)
                    places.append((function, inside))
        return inferences


def _type_in(inference: ShapeInference, value: Value | None) -> onnx.TypeProto | None:
    return None if value is None else inference.fact(value).type_proto(private=False)


def _texts(messages: Iterable[Message | None]) -> tuple[bytes | None, ...]:
    return tuple([None if m is None else m.SerializeToString() for m in messages])


def _together(one: Fact, other: Fact) -> Fact:
    """The union of two facts about one value; the first has precedence."""
    if one.other is not None or other.other is not None:
        return one if one.other is not None else other
    shape = one.shape if one.shape is not None else other.shape
    if one.shape is not None and other.shape is not None and len(one.shape) == len(other.shape):
        pairs = zip(one.shape, other.shape, strict=True)
        shape = tuple([b if a.value is None and b.value is not None else a for a, b in pairs])
    content = one.content if one.content is not None else other.content
    return Fact(one.elem_type or other.elem_type, shape, content)


def shape_text(shape: Sequence[int | None]) -> str:
    """A shape as text, such as "[?, 16]"."""
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def shape_of(type_: onnx.TypeProto | None) -> list[int | None] | None:
    """The dimensions of a tensor type, None for those not known; None for an unknown rank."""
    if type_ is None or not type_.tensor_type.HasField("shape"):
        return None
    dims = type_.tensor_type.shape.dim
    return [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]
