"""Templates of bodies that replace all nodes of one form.

The first node of a form is replaced on opaque constants, which record whether a decision reads
their elements. Without such a read, the body serves all nodes with other elements; constants that
depend on those of the node are computed anew for each.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import onnx

from ..analysis.constants.equal import content_key
from ..facts.fact import Fact, is_named
from ..facts.polynomial import Dimension
from ..facts.types import FLOATS, IEEE_FLOATS
from ..ir import Graph, Node, Operator, Template, Tensor, Value
from ..ir.copying import dims_of, without_symbols
from ..ir.opaque import OpaqueTensor, Reads, recompute, transparent
from ..ir.read_names import named_tensors
from ..version_converter.constants import Constants
from ..version_converter.subgraph_extraction import Cut, Gap, as_input, decided_tensor
from ..version_converter.types import Types


class NodeForm(NamedTuple):
    """Key of all properties of a node that decide its replacement.

    Attributes:
        like: all but the elements of float constants.
        exact: all.
        tensors: the constants among the values that the node reads, each value once.
        results: the outputs that others read.
    """

    like: Hashable
    exact: Hashable
    tensors: tuple[Tensor | None, ...]
    reads: list[Value]
    results: list[Value]

    def read(self) -> None:
        """Record that a decision reads the elements of its constants."""
        for tensor in self.tensors:
            if isinstance(tensor, OpaqueTensor):
                tensor.read()


class OpaqueConstants(Constants):
    """Constants, with a record of reads of float elements.

    Args:
        types: the source of static shapes.
        constants: the constants without a record.
        note: the record.
    """

    def __init__(self, types: Types, constants: Constants, note: Reads) -> None:
        self._types = types
        self._constants = constants
        self._note = note

    def tensor(self, value: Value) -> Tensor | None:
        """Return the tensor of a value; None where constants do not decide it."""
        tensor = self._constants.tensor(value)
        if tensor is None or tensor.elem_type not in FLOATS:
            return tensor
        return OpaqueTensor(tensor, (self._note,))


class Forms:
    """Forms of the nodes of one model that legalization replaces.

    Args:
        within: the operators that the model helps to replace, and the labels of ways.
        constants: the constants among its values.
    """

    def __init__(self, within: tuple[str, ...], types: Types, constants: Constants) -> None:
        self._within = within
        self._types = types
        self._constants = constants
        self._operators: dict[Operator, Hashable] = {}
        self._tensors: dict[Tensor, tuple[Hashable, Tensor | None]] = {}

    def of(self, node: Node) -> NodeForm | None:
        """Collect the properties that decide the replacement of a node without bodies.

        Returns:
            its form; None where more may decide.
        """
        graph = node.parent
        operators = self._operators
        if node.op not in operators:
            operators[node.op] = _operator_key(node.op)
        operator = operators[node.op]
        if operator is None or any(v is not None and v.pinned for v in node.outputs):
            return None
        names: dict[str, int] = {}
        reads: dict[Value, int] = {}
        wiring = [None if v is None else reads.setdefault(v, len(reads)) for v in node.inputs]
        tensors: list[Tensor | None] = []
        kinds: list[Hashable] = []
        floats: list[Tensor] = []
        for value in reads:
            tensor = decided_tensor(value, self._types, self._constants)
            tensors.append(tensor)
            if tensor is None:
                # Symbols are numbered across all values: it may need two sizes to be equal.
                kinds.append(_value_key(value, self._types, names))
                continue
            if tensor not in self._tensors:
                is_float = tensor.elem_type in FLOATS
                self._tensors[tensor] = (
                    _constant_key(tensor),
                    transparent(tensor) if is_float else None,
                )
            kind, plain = self._tensors[tensor]
            kinds.append(kind)
            if plain is not None:
                floats.append(plain)
        uses = [v is not None and graph.is_used(v) for v in node.outputs]
        declared = [v and v.info and _type_key(v.info.type, names) for v in node.outputs]
        version = graph.root.opset()
        like = (self._within, version, operator, *wiring, *kinds, *uses, *declared)
        results = [v for v, is_used in zip(node.outputs, uses, strict=True) if v and is_used]
        return NodeForm(like, (like, *floats), tuple(tensors), [*reads], results)


def _operator_key(op: Operator) -> Hashable:
    """Compute the key of an operator; None where it names values or devices."""
    extra = op.extra
    if named_tensors(op) or (extra is not None and extra.device_configurations):
        return None
    attributes = [m.SerializeToString(deterministic=True) for m in op.attributes.values()]
    return op.qualname, *attributes, extra is None


def _constant_key(tensor: Tensor) -> Hashable:
    if tensor.elem_type in FLOATS:
        return tensor.elem_type, tensor.dims, tensor.is_sparse, tensor.is_readable
    return content_key(tensor) or transparent(tensor)


def _value_key(value: Value, types: Types, names: dict[str, int]) -> Hashable:
    """Compute the key of a value's type, as `_type_key` does."""
    fact = types.fact(value)
    if fact is None or fact.other is not None or fact.shape is None:
        return _type_key(types.of(value), names)
    sizes = [dim.value for dim in fact.shape]
    if None not in sizes:
        return fact.elem_type, *sizes
    return fact.elem_type, *[_size_key(dim, names) for dim in fact.shape]


def _size_key(dim: Dimension, names: dict[str, int]) -> Hashable:
    if dim.value is not None or not is_named(dim):
        return dim.value
    return str(names.setdefault(str(dim), len(names)))


def _type_key(type_: onnx.TypeProto | None, names: dict[str, int]) -> Hashable:
    """Compute a key of a type, in which symbols count by position only.

    Args:
        names: the symbols of types before it; those of this one are added.
    """
    if type_ is None:
        return None
    bare = onnx.TypeProto()
    bare.CopyFrom(type_)
    for dim in dims_of(bare):
        if dim.dim_param:
            dim.dim_param = str(names.setdefault(dim.dim_param, len(names)))
    return bare.SerializeToString(deterministic=True)


class BodyTemplate:
    """A template of the body that replaces nodes of one form.

    Args:
        cut: a node with its replaced scratch model; it must not be put in place itself.
        note: of the constants that the node reads.
        summary: the operators in its place, in words.

    Attributes:
        body: the body, with names for the last replaced node.
        size: the number of its nodes.
        summary: the operators in its place, in words.
        keeps_facts: true if inference finds as much of its results as of those of the node.
    """

    def __init__(self, cut: Cut, note: Reads, summary: str) -> None:
        (node,) = cut.nodes
        self.body = cut.scratch.graph
        facts = cut.facts()
        self.keeps_facts = None not in facts
        self._fact = facts[0] if len(facts) == 1 and _is_whole(facts[0]) else None
        self._imports = cut.scratch.opset_imports
        self._note = note
        self._sources = [value.constant for value in cut.outside.values()]
        read = cut.as_inputs()
        self._arguments: list[int | Tensor] = [cut.reads.index(read[v]) for v in self.body.inputs]
        self._last = _last_node(self.body)
        for graph in list(cut.scratch.graphs()):
            for value, tensor in list(graph.initializers.items()):
                if isinstance(tensor, OpaqueTensor):
                    self._take_out(graph, value, tensor)
        pairs = zip(self._arguments, self.body.inputs, strict=True)
        needed = {argument for argument, value in pairs if self.body.is_used(value)}
        self._unread = [at for at in range(len(cut.reads)) if at not in needed]
        nodes = list(self.body.nodes())
        self.size, self.summary = len(nodes), summary
        values = [value for each in nodes for value in each.outputs if value is not None]
        # A copy has the name of the node that it replaces in place of this one's.
        self._label, self._extra = node.label, node.op.extra
        self._results = [value.name for value in cut.results]
        self._copied = [
            value
            for each in nodes
            for value in each.outputs
            if value is not None and each is not self._last
        ]
        makers = [(value, value.producer) for value in self._copied]
        self._names = [(self._split(v.name), self._split(m.name)) for v, m in makers if m]
        self._copiers: dict[Graph, Template] = {}
        self._computed: dict[tuple[Tensor | None, ...], dict[int, Tensor] | None] = {}
        self._placed: dict[tuple[Graph, Tensor], Value] = {}
        # A symbol names a size of the first node; the sizes of another one differ.
        for value in values:
            if value.info is not None:
                value.info = without_symbols(value.info)
        for value in self.body.outputs:
            value.info = None  # inherits from the replaced values

    def _take_out(self, graph: Graph, value: Value, tensor: OpaqueTensor) -> None:
        """Turn a constant that depends on those of the node into an input."""
        if graph is self.body and self._note in tensor.notes:
            as_input(graph, value)
            self._arguments.append(tensor)
        else:
            graph.replace_uses(value, graph.add_initializer(value.name, tensor.read()))
            graph.remove_initializer(value)

    def fill(self, node: Node, form: NodeForm, types: Types) -> bool:
        """Replace a node by a copy.

        Args:
            form: the form of the node, equal to that of the first one.

        Returns:
            False where a constant cannot be computed, so that nothing was done.
        """
        # All are computed before anything changes.
        if form.tensors not in self._computed:
            self._computed[form.tensors] = self._computed_from(form.tensors)
        computed = self._computed[form.tensors]
        if computed is None:
            return False
        graph = node.parent
        reads = form.reads
        arguments = [
            reads[argument]
            if type(argument) is int
            else self._placed_in(graph, computed[position], node, self.body.inputs[position].name)
            for position, argument in enumerate(self._arguments)
        ]
        copier = self._copiers.get(graph)
        if copier is None or not copier.is_whole:
            copier = self._copiers[graph] = Template(self.body, graph, last=self._last)
        copies = copier.instantiate(arguments)
        self._describe(copier, node)
        unread = [form.reads[at] for at in self._unread]
        gap = Gap(graph, [node], types, unread, form.results)
        if self._last is not None:
            op, name = self._operator(self._last.op, node), self._split(self._last.name)
            node.name = _joined(node.label, name)
            gap.rewrite(op, copies, self._imports, self._fact)
            return True
        names = zip(self.body.outputs, copies, self._results, gap.results, strict=True)
        for value, copy, first, result in names:
            if value.name == first:
                copy.name = result.name
        gap.fill(copies, arguments, self._imports)
        return True

    def _computed_from(self, tensors: Sequence[Tensor | None]) -> dict[int, Tensor] | None:
        """The constants that depend on those of a node, by position; None if one cannot be."""
        pairs = zip(self._sources, tensors, strict=True)
        sources = {source: tensor for source, tensor in pairs if source is not None}
        computed: dict[int, Tensor] = {}
        for position, argument in enumerate(self._arguments):
            if isinstance(argument, Tensor):
                tensor = recompute(argument, self._note, sources)
                if tensor is None or tensor.dims != argument.dims:
                    return None
                computed[position] = tensor
        return computed

    def _placed_in(self, graph: Graph, tensor: Tensor, node: Node, name: str) -> Value:
        """The initializer of a constant, one for all nodes of a graph."""
        value = self._placed.get((graph, tensor))
        if value is None or value.graph is not graph:
            value = graph.add_initializer(_joined(node.label, self._split(name)), tensor)
            self._placed[graph, tensor] = value
        return value

    def _split(self, name: str) -> tuple[bool, str]:
        """Split the label of the first node from a name; return whether it begins with it."""
        is_own = bool(self._label) and name.startswith(self._label)
        return is_own, name[len(self._label) :] if is_own else name

    def _describe(self, copier: Template, node: Node) -> None:
        """Give the nodes of a copy names and metadata of the node that it replaces."""
        label, has_extra = node.label, self._extra is not None
        for copy, (own, name) in zip(copier.copies_of(self._copied), self._names, strict=True):
            maker = None if copy is None else copy.producer
            if copy is None or maker is None:
                continue
            copy.name, maker.name = _joined(label, own), _joined(label, name)
            if has_extra and (op := self._operator(maker.op, node)) is not maker.op:
                copier.into.set_operator(maker, op)

    def _operator(self, op: Operator, node: Node) -> Operator:
        """Return the operator of a copy, with the metadata of the replaced node."""
        if self._extra is None or op.extra is not self._extra or op.extra is node.op.extra:
            return op
        return Operator(op.op_type, op.attributes, op.domain, op.overload, node.op.extra)


def _is_whole(fact: Fact | None) -> bool:
    """Test for floats of static sizes, of which nothing else is known."""
    if fact is None or fact.elem_type not in IEEE_FLOATS or not fact.shape:
        return False
    return fact.content is None and all(dim.value is not None for dim in fact.shape)


def _joined(label: str, name: tuple[bool, str]) -> str:
    """Join the rest of a split name to another label."""
    return label + name[1] if name[0] else name[1]


def _last_node(body: Graph) -> Node | None:
    """Return the node that alone computes the only output of a body; None without such a node.

    The replaced node can become this one, and stay where its readers read it.
    """
    if len(body.outputs) != 1 or body.annotations:
        return None
    (result,) = body.outputs
    node = result.producer
    if node is None or node.outputs != (result,) or node.bodies or result.pinned:
        return None
    if node.is_op("Identity"):
        return None  # its operand serves the readers
    return node if list(body.users(result)) == [body] else None
