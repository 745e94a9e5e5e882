"""Facts of terms: type, sizes, and the content of small integer tensors.

Equal facts are one object, so that shape inference runs once for a head and its facts, however many
iterations of a loop apply it.
"""

import dataclasses
import functools
from collections.abc import Hashable, Mapping, Sequence

import onnx

from ....analysis.shapes.inference import ShapeInference
from ....analysis.shapes.node_transfer import NodeFacts
from ....analysis.shapes.onnx_inference_cache import Kind, OnnxFacts
from ....definitions import is_foreign
from ....facts.fact import FOLLOWED, UNKNOWN, Fact, Shape, constant_fact
from ....facts.polynomial import Dimension
from ....ir import Graph, Model, Node, Operator, Tensor, Value
from ....ops import rules_of
from ....ops.elementwise import Elementwise
from ....ops.rules import KeepsShape
from .free_variables import Sizes
from .size_keys import size_key
from .term import Args, Head, Term


class _HeadFacts(OnnxFacts):
    """Inference by onnx for the nodes of one head after another.

    Attributes:
        head: the head of the next node; it keeps the element types beyond a proof.
    """

    head: Head

    def kind(self, node: Node, op: Operator) -> Kind:
        """The key of nodes with equal outputs for equal inputs. All but the head is known beyond a
        proof, with the operator."""
        return self.head, len(node.outputs), self.head.opset

    def elem_types(self, node: Node, inputs: Sequence[Fact], kind: Kind) -> tuple[int, ...]:
        key = kind[1], *[fact.elem_type for fact in inputs]
        types = self.head.elem_types.get(key)
        if types is None:
            types = self.head.elem_types[key] = super().elem_types(node, inputs, kind)
        return types


_IR_VERSION = 10


@functools.lru_cache(maxsize=1 << 8)
def _model_of(imports: tuple[tuple[str, int], ...]) -> Model:
    """Model without nodes of some opsets, for all proofs."""
    model = Model(onnx.ModelProto(ir_version=_IR_VERSION))
    model.opset_imports = dict(imports)
    return model


_NOTHING: set[str] = set()
_INFERRED_WITH = {"TopK": 2}
"""Number of outputs without which onnx infers nothing, by operator."""
_SHOWN = 64
"""Constants of so many elements are shown to onnx's inference, which may read sizes from them."""


class TermFacts:
    """Inference of the facts of a head's outputs from the facts of its arguments.

    Attributes:
        empty: the identities of the facts of tensors that certainly have no elements.
        declared: names of sizes in the types of the model inputs.
        new: symbols of sizes that the last inference introduced.
    """

    def __init__(self, symbols: Sizes) -> None:
        self.symbols = symbols
        self.empty: set[int] = set()
        self.declared: set[str] = set()
        self.new: set[str] = set()
        self._same: dict[Hashable, Fact] = {}
        self._inferred: dict[Hashable, list[Fact]] = {}
        self._of_sizes: dict[Hashable, list[Fact]] = {}
        self._nodes: dict[Hashable, Node] = {}
        self._by_imports: dict[int, tuple[Mapping[str, int], Graph]] = {}
        self._onnx_facts = _HeadFacts(_model_of(()), symbols)
        self._node_facts = NodeFacts(symbols, self._onnx_facts)

    def one(self, fact: Fact) -> Fact:
        """Unique object for all facts equal to this one; each constant has its own."""
        content = fact.content
        elements = None if content is None else (content.shape, tuple(content.reshape(-1)))
        other = None if fact.other is None else fact.other.SerializeToString(deterministic=True)
        key = (fact.elem_type, fact.shape, elements, other, fact.count)
        unique = self._same.get(key)
        if unique is None:
            self.symbols.remember(fact.shape)
            copy = Fact(fact.elem_type, fact.shape, content, fact.other, fact.count)
            unique = self._same[key] = self.note(copy)
        return unique

    def own(self, tensor: Tensor) -> Fact:
        """Fact of a constant: an object of its own, so that it identifies the constant."""
        return self.note(constant_fact(tensor))

    def note(self, fact: Fact) -> Fact:
        """Return the same fact, and record one of a tensor without elements."""
        if is_empty(fact):
            self.empty.add(id(fact))
        return fact

    def known(self, head: Head, args: Args, count: int) -> list[Fact] | None:
        """Cached facts of a head's outputs, where those of the arguments determine them."""
        self.new = _NOTHING
        return self._inferred.get(_key(head, args, count))

    def infer(
        self, head: Head, args: Args, tensors: Mapping[Term, Tensor], count: int
    ) -> list[Fact]:
        """Facts of the outputs of a head without bodies that are not cached.

        Args:
            count: how many outputs there are.
        """
        direct = self._of_elements_alike(head, args, count)
        if direct is not None:
            unique = self._inferred[_key(head, args, count)] = [self.one(direct)]
            return unique
        facts = [UNKNOWN if arg is None else arg.fact for arg in args]
        constants = {
            i: tensors[arg]
            for i, arg in enumerate(args)
            if arg is not None and arg in tensors and tensors[arg].size <= _SHOWN
        }
        inferred = self._infer(head, facts, args, constants, count)
        self.new = _symbols(inferred)
        if self.new:
            self.new -= _symbols(facts)
        by_facts = not self.new
        if self.new:
            inferred = self._of_equal_sizes(head, args, inferred)
        if self.new and any(fact.other is not None for fact in facts):
            inferred = self._of_elements(inferred)
        unique = [self.one(fact) for fact in inferred]
        if by_facts:  # else equal facts do not suffice for equal sizes
            self._inferred[_key(head, args, count)] = unique
        return unique

    def _of_elements_alike(self, head: Head, args: Args, count: int) -> Fact | None:
        """Fact of an elementwise operator without inference. Its output has the shape of its
        largest operand; None where inference must say more."""
        assert head.op is not None
        rules = rules_of(head.op)
        if count != 1 or not rules.elementwise or "broadcast" in head.op.attributes:
            return None
        facts = [UNKNOWN if arg is None else arg.fact for arg in args]
        (elem_type,) = head.elem_types.get((1, *[fact.elem_type for fact in facts]), (0,))
        # Of types whose elements it follows, as they may be sizes, inference says more
        # than a shape.
        if not elem_type or elem_type in FOLLOWED or not all(fact.elem_type for fact in facts):
            return None
        shape = None
        if type(rules).shapes is Elementwise.shapes:
            shape = largest([fact.shape for fact in facts])
        elif type(rules).shapes is KeepsShape.shapes:
            shape = facts[0].shape
        return None if shape is None else Fact(elem_type, shape)

    def _of_equal_sizes(self, head: Head, args: Args, facts: list[Fact]) -> list[Fact]:
        """Facts with the new sizes of an earlier node that certainly has the same ones."""
        if any(fact.content is not None or fact.other is not None for fact in facts):
            return facts
        key = size_key(head, args, len(facts), self.symbols)
        if key is None:
            return facts
        if key not in self._of_sizes:
            self._of_sizes[key] = facts
            for name in self.new:
                self.symbols.steady(name)
        else:
            self.new = _NOTHING
        return self._of_sizes[key]

    def _of_elements(self, facts: Sequence[Fact]) -> list[Fact]:
        """Facts of elements of a sequence, with fresh sizes. Each element may have sizes of its
        own, whatever the type of the sequence names them, unless a model input has the name too."""
        own = {name: self.symbols.fresh() for name in sorted(self.new - self.declared)}
        self.new = {name for dim in own.values() for name in dim.symbols}
        return [_rename(fact, own) for fact in facts]

    def _infer(
        self,
        head: Head,
        facts: Sequence[Fact],
        args: Args,
        constants: Mapping[int, Tensor],
        count: int,
    ) -> list[Fact]:
        node = self.node(head, args, constants, max(count, _INFERRED_WITH.get(head.name, 1)))
        assert head.op is not None
        if is_foreign(head.op):
            model = _model_of(tuple(sorted(head.imports.items())))
            inference = ShapeInference(model, symbols=self.symbols)
            return inference.infer(node, facts)[:count]
        self._onnx_facts.head = head
        return self._node_facts.infer(node, facts, head.op)[:count]

    def elem_types(self, head: Head, types: Sequence[int | None], count: int) -> tuple[int, ...]:
        """Element types of a head's outputs for operands of any shape; 0 where onnx needs it.

        Args:
            head: an operator without bodies.
            types: element types of the operands, None for an absent one.
            count: how many outputs there are.
        """
        results = head.elem_types.get((count, *[elem_type or 0 for elem_type in types]))
        if results is not None:
            return results
        node = self.node(head, types, {}, count)
        self._onnx_facts.head = head
        facts = [UNKNOWN if elem_type is None else Fact(elem_type) for elem_type in types]
        return self._onnx_facts.elem_types(node, facts, self._onnx_facts.kind(node, node.op))

    def node(
        self, head: Head, args: Sequence[object | None], constants: Mapping[int, Tensor], count: int
    ) -> Node:
        """Node that applies a head, in a graph of its opsets; cached without constants."""
        form = head, count, *[arg is None for arg in args]
        node = None if constants else self._nodes.get(form)
        if node is None:
            node = self._new_node(head, args, constants, count)
            if not constants:
                self._nodes[form] = node
        return node

    def _new_node(
        self, head: Head, args: Sequence[object | None], constants: Mapping[int, Tensor], count: int
    ) -> Node:
        assert head.op is not None
        values = [
            None if arg is None else Value(f"i{i}", constant=constants.get(i))
            for i, arg in enumerate(args)
        ]
        node = Node(head.op, values, [f"o{i}" for i in range(count)])
        node.graph = self._graph(head.imports)
        return node

    def _graph(self, imports: Mapping[str, int]) -> Graph:
        """Graph for nodes of these opsets, cached by the identity of the mapping."""
        entry = self._by_imports.get(id(imports))
        if entry is None:
            entry = imports, _model_of(tuple(sorted(imports.items()))).graph
            # The entry holds the mapping, so that no other one can get its identity.
            self._by_imports[id(imports)] = entry
        return entry[1]


def _key(head: Head, args: Args, count: int) -> Hashable:
    """Cache key of a head and the facts of its arguments. A constant, from which onnx may read
    sizes, has a fact of its own."""
    return head, count, *[arg and arg.fact for arg in args]


def largest(shapes: Sequence[Shape | None]) -> Shape | None:
    """Shape among these with which all others certainly broadcast to it; None if there is none."""
    whole = max(shapes, key=lambda shape: len(shape or ()))
    for shape in shapes:
        if shape is None or whole is None:
            return None
        if shape is not whole and shape != whole[len(whole) - len(shape) :]:
            pairs = zip(reversed(shape), reversed(whole), strict=False)
            if not all(size.value == 1 or size == dim for size, dim in pairs):
                return None
    return whole


def is_empty(fact: Fact) -> bool:
    """Test whether a tensor certainly has no elements: its type and shape determine it."""
    if not fact.elem_type or fact.shape is None:
        return False
    return any(dim.value == 0 for dim in fact.shape)


def _rename(fact: Fact, names: Mapping[str, Dimension]) -> Fact:
    if fact.shape is None:
        return fact
    return dataclasses.replace(fact, shape=tuple([dim.replaced(names) for dim in fact.shape]))


def _symbols(facts: Sequence[Fact]) -> set[str]:
    symbols: set[str] = set()
    for fact in facts:
        for dim in fact.shape or ():
            if dim.value is None:
                symbols |= dim.symbols
        if fact.content is not None:
            for element in fact.content.reshape(-1):
                if element is not None and not isinstance(element, bool) and element.value is None:
                    symbols |= element.symbols
    return symbols
