"""Legality of nodes for a target, with reasons."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

import onnx
from onnx import TensorProto

from ..ir import Graph, Model, Node, Operator, Value, normal_domain
from ..ir.attributes import value_of
from ..ir.lazy import lazy_property
from ..ir.option_names import by
from ..ops.schema_queries import default_of, formals, schema_at
from ..version_converter.types import Types
from .forms.operands import is_whole
from .prose_defaults import default_in_prose
from .target import ANY_SHAPE, Form, Target


class Legality:
    """Legality of a model's nodes for a target.

    Args:
        is_part: true for a part of a model, whose inputs may be computed from sizes.
    """

    def __init__(self, target: Target, model: Model, is_part: bool = False) -> None:
        self.target = target
        self.model = model
        self._is_part = is_part
        # The reasons of operators that decide alone, whatever the form of the node.
        self._decided: dict[Operator, str | None] = {}

    @lazy_property
    def types(self) -> Types:
        """The types of the model's values, inferred on request."""
        return Types(self.model)

    @lazy_property
    def _anywhere(self) -> Form | None:
        """The form of every operator; None for one without a condition."""
        return None if self.target.anywhere == Form() else self.target.anywhere

    def unsupported(self) -> dict[Node, str]:
        """The unsupported nodes, each with the reason; outer ones before those inside."""
        graphs = (graph for graph in self._graphs() if not self._lists_all(graph))
        nodes = (node for graph in graphs for node in graph.nodes())
        return {node: reason for node in nodes if (reason := self.reason(node)) is not None}

    def _lists_all(self, graph: Graph) -> bool:
        """Test for operators that the target supports in any form."""
        nodes = {node.op: node for node in graph.unordered_nodes()}
        return all(self.reason(node) is None and op in self._decided for op, node in nodes.items())

    def unwritten_defaults(self) -> Iterator[tuple[Node, dict[str, onnx.AttributeProto]]]:
        """The nodes without attributes that the target needs written, with the defaults."""
        for node in self._nodes_with(lambda form: bool(form.written)):
            forms, schema = self.target.forms[name_of(node)], _schema(node)
            absent = {n: m for f in forms for n, m in self._unwritten(node, f, schema).items()}
            if absent:
                yield node, absent

    def written_defaults(self) -> Iterator[tuple[Node, list[str]]]:
        """The nodes with attributes that the target needs unwritten and that have defaults."""
        for node in self._nodes_with(lambda form: bool(form.unwritten)):
            names = dict.fromkeys(n for f in self.target.forms[name_of(node)] for n in f.unwritten)
            schema = _schema(node)
            values = {n: _attribute(node, n, None) for n in names if n in node.op.attributes}
            # Another value than the default has a meaning, and must stay for all that the client
            # says.
            defaults = [n for n, value in values.items() if value == self._default(node, n, schema)]
            if defaults:
                yield node, defaults

    def absent_outputs(self) -> Iterator[tuple[Node, list[str]]]:
        """The nodes without outputs that the target needs, with the names of all."""
        for node in self._nodes_with(lambda form: bool(form.present)):
            names = _formals(_schema(node))[1]
            if any(_lacks(node, form, names) for form in self.target.forms[name_of(node)]):
                yield node, names

    def _nodes_with(self, has_key: Callable[[Form], bool]) -> Iterator[Node]:
        """The nodes of operators with a key in one of their forms."""
        # Most targets have no such form, and then no node is visited.
        names = {name for name, forms in self.target.forms.items() if any(map(has_key, forms))}
        for node in self._nodes() if names else ():
            if name_of(node) in names:
                yield node

    def constants_to_hoist(self) -> Iterator[Value]:
        """Results of nodes where the target needs constants or initializers."""
        for node in self._nodes_with(lambda form: bool(form.initializers or form.constant)):
            forms = self.target.forms[name_of(node)]
            for name, value in _named_inputs(node, _schema(node)):
                is_other = any(name in form.initializers for form in forms) or (
                    value.constant is None and any(name in form.constant for form in forms)
                )
                if is_other and value.producer is not None:
                    yield value

    def numbers_with_axes(self) -> Iterator[tuple[Node, int]]:
        """Constants of one number with axes that neither the client nor the result needs."""
        for node in self._nodes_with(lambda form: bool(form.scalars)):
            ranks = [self.types.rank(value) or 0 for value in node.inputs]
            formal, forms = _formals(_schema(node))[0], self.target.forms[name_of(node)]
            for index, value in enumerate(node.inputs):
                name, others = _name_at(formal, index), ranks[:index] + ranks[index + 1 :]
                is_wrong = any(name in form.scalars and _has_axes(value) for form in forms)
                # The result keeps its rank only where another operand has as many axes.
                if is_wrong and max(others, default=0) >= ranks[index]:
                    yield node, index

    def late_constants(self) -> Iterator[Node]:
        """Nodes with a constant after a computed operand that the target needs first."""
        for node in self._nodes_with(lambda form: form.constants_first):
            if _has_late_constant(node):
                yield node

    def fused_operands(self) -> Iterator[tuple[Node, int]]:
        """Operands that the client fuses wrongly with the nodes that read them."""
        for node in self._nodes_with(lambda form: bool(form.not_from)):
            places = range(len(node.inputs))
            yield from ((node, index) for index in places if self.is_fused(node, index))

    def is_fused(self, node: Node, index: int) -> bool:
        """Test for an operand that the client fuses wrongly with the node that reads it."""
        name = _name_at(_formals(_schema(node))[0], index)
        forms = self.target.forms.get(name_of(node), ())
        return any(_comes_from(name, node.inputs[index], form) for form in forms)

    def _graphs(self) -> Iterator[Graph]:
        """All graphs of the roots that the target reads."""
        for root in self.model.roots():
            if self.target.functions or root is self.model:
                yield from root.graph.walk()

    def _nodes(self) -> Iterator[Node]:
        for graph in self._graphs():
            yield from graph.nodes()

    def reason(self, node: Node) -> str | None:
        """The reason why a node is unsupported; None where it is supported."""
        if node.op in self._decided:
            return self._decided[node.op]
        # A call has no schema and stands in no list: a client reads functions of the model or does
        # not.
        if node.op.function_key in self.model.functions:
            if self.target.functions:
                return None
            return f"{self.target.name} does not support functions of the model, such as this call"
        name, opset = name_of(node), _opset(node)
        if not self.target.lists(name, opset):
            reason = self._not_listed(name, opset)
            if not self.model.functions:  # whose nodes are of other opsets
                self._decided[node.op] = reason
            return reason
        if self.target.short_integers and any(map(_is_long, node.inputs)) and name != "Slice":
            return f"{self.target.name} supports {name} only with constants of up to 32 bits"
        is_conditional = self.target.short_integers or name in self.target.forms
        has_form = is_conditional or self._anywhere is not None
        if not (has_form or self.model.functions):
            self._decided[node.op] = None
            return None
        misfit = None if self._anywhere is None else self._misfit(node, self._anywhere)
        misfits = [self._misfit(node, form) for form in self.target.forms.get(name, ())]
        # One of the alternatives suffices, beside the form of all operators.
        if misfit is None and misfits and None not in misfits:
            misfit = ", or ".join(dict.fromkeys(why for why in misfits if why is not None))
        return None if misfit is None else f"{self.target.name} supports {name} only {misfit}"

    def _misfit(self, node: Node, form: Form) -> str | None:
        """The first difference of a node from a form; None where it has the form."""
        # The first one is enough for the message; further ones may follow from it.
        why = next(self._misfits(node, form), None)
        return f"{why} ({form.why})" if why is not None and form.why else why

    def _not_listed(self, name: str, opset: int) -> str:
        text = f"{self.target.name} does not support {name}"
        spans = (self.target.operators or {}).get(name)
        if spans is not None:
            text += f" of opset {opset}, only of {' and '.join(map(str, spans))}"
        elif self.target.lacks.get(name):
            first, last = self.target.opsets
            if any(self.target.lists(name, other) for other in range(first, last + 1)):
                text += f" of opset {opset}"
        return text

    def _misfits(self, node: Node, form: Form) -> Iterator[str]:
        """The differences of a node from a supported form."""
        schema = _schema(node)
        for name in self._unwritten(node, form, schema):
            yield f"with {name} written out"
        yield from _wrong_attributes(node, form, schema)
        inputs = list(_named_inputs(node, schema))
        # An input that came with a later opset is not required in this one.
        required = [n for n in form.present if schema is None or n in _formals(schema)[0]]
        yield from (f"with '{name}'" for name in required if name not in dict(inputs))
        yield from (f"with '{name}'" for name in _lacks(node, form, _formals(schema)[1]))
        if form.max_outputs is not None and _count_outputs(node) > form.max_outputs:
            yield f"with {form.max_outputs} output{'s' * (form.max_outputs > 1)}"
        if form.max_inputs is not None and len(node.inputs) > form.max_inputs:
            yield f"with {form.max_inputs} inputs, not {len(node.inputs)}"
        if form.max_uses is not None:
            alike = list(node.parent.nodes_of(node.op_type))
            if alike.index(node) >= form.max_uses:
                yield f"{form.max_uses} time{'s' * (form.max_uses > 1)} in a graph"
        yield from self._wrong_operands(node, form)
        for name, value in inputs:
            yield from self._wrong_values(name, value, form)
        for name, value in inputs:
            if name in form.whole and not is_whole(value, node.outputs[0], self.types):
                yield f"where '{name}' has the shape of the result, or holds one number"
        if form.ranks or form.types:
            for name, value in (*inputs, *_named(node.outputs, _formals(schema)[1])):
                yield from self._wrong_types_at(name, value, form)
        if ANY_SHAPE in form.static:
            unknown = (v for v in node.outputs if v is not None and not self._has_known_shape(v))
            yield from (
                f"where sizes do not depend on data, as those of '{v.name}'" for v in unknown
            )
        has_types = form.element_types is not None or form.lacks_element_types
        if has_types and not node.is_op("Constant"):  # its readers are checked
            yield from self._wrong_types(node, form, schema)

    def _wrong_operands(self, node: Node, form: Form) -> Iterator[str]:
        """The differences of operands and bodies, taken together, from a supported form."""
        if form.same_ranks and not _branches_agree(node, self.types.rank):
            yield "with branches whose outputs have the same ranks"
        if form.same_shapes and not _branches_agree(node, self.types.dimensions):
            yield "with branches whose outputs have the same shapes"
        if form.depthwise and not self._is_depthwise(node):
            yield "with groups of one channel"
        if form.max_tuple is not None and (self._tuple_length(node) or 0) > form.max_tuple:
            yield f"with indices of {form.max_tuple} axes"
        if form.whole_tuples and self._tuple_length(node) != self.types.rank(node.inputs[0]):
            yield "with indices of all axes"
        if form.constants_first and _has_late_constant(node):
            yield "with its constants first"

    def _is_depthwise(self, node: Node) -> bool:
        """Test for a convolution of single channels."""
        weights = self.types.shape(node.inputs[1])
        # Both operators have the channels of one side first, and those of a group of the other.
        return weights is not None and list(weights[:2]) == [node.attribute("group", 1), 1]

    def _tuple_length(self, node: Node) -> int | None:
        """The number of axes that an index of input 1 names."""
        shape = self.types.shape(node.inputs[1])
        return shape[-1] if shape else None

    def _wrong_values(self, name: str, value: Value, form: Form) -> Iterator[str]:
        """The differences of an input from a supported form, but for its type."""
        if name in form.constant and value.constant is None:
            yield f"with a constant '{name}'"
        if name in form.initializers and (value.constant is None or value.producer is not None):
            yield f"with an initializer as '{name}'"
        if name in form.from_sizes and not _comes_from_sizes(value, self._is_part):
            yield f"with a '{name}' that is constant or computed from sizes"
        if name in form.scalars and _has_axes(value):
            yield f"with a scalar as '{name}', where it is one number"
        if name in form.absent:
            yield f"without '{name}'"
        if name in form.computed and value.constant is not None:
            yield f"with a '{name}' that is not a constant"
        # A client that folds sizes knows what follows from them as a constant.
        if name in form.from_data and _comes_from_sizes(value, False):
            yield f"with a '{name}' that is neither constant nor computed from sizes"
        yield from self._wrong_numbers(name, value, form)
        if _comes_from(name, value, form) and value.producer is not None:
            yield f"with a '{name}' that is not a result of {value.producer.op_type}"
        is_static = name in form.static or ANY_SHAPE in form.static
        if is_static and not self._has_known_shape(value):
            yield f"where the shape of '{name}' is known; fix it with {by('--shape')}"
        if form.max_rank is not None and (self.types.rank(value) or 0) > form.max_rank:
            yield f"up to rank {form.max_rank}, and '{name}' has {self.types.rank(value)}"

    def _wrong_numbers(self, name: str, value: Value, form: Form) -> Iterator[str]:
        """The differences of the numbers of an input from a supported form."""
        if name in form.nonnegative and _may_be_negative(value):
            yield f"without negative numbers in '{name}'"
        if name in form.wide and 1 in (self.types.shape(value) or ())[2:]:
            yield f"where no axis of '{name}' after the channels has length 1"
        shape = self.types.shape(value) if name in form.filled else ()
        if shape is None or not all(shape):
            yield f"with numbers in '{name}', which may have none"

    def _has_known_shape(self, value: Value) -> bool:
        shape = self.types.shape(value)
        return shape is not None and None not in shape

    def _wrong_types_at(self, name: str, value: Value, form: Form) -> Iterator[str]:
        """The differences of an input or output from a supported rank and type."""
        rank, ranks = self.types.rank(value), form.ranks.get(name)
        if ranks is not None and rank is not None and rank not in ranks:
            yield f"with '{name}' of rank {_listed(ranks)}, not {rank}"
        number, names = self.types.elem_type(value), form.types.get(name)
        type_ = None if number is None else TensorProto.DataType.Name(number).lower()
        if names is not None and type_ is not None and type_ not in names:
            yield f"with '{name}' of type {' or '.join(names)}, not {type_}"

    def _unwritten(self, node: Node, form: Form, schema: Any) -> dict[str, onnx.AttributeProto]:
        """The defaults of attributes that a form needs written and a node lacks."""
        if schema is None:
            return {}
        absent = [name for name in form.written if name not in node.op.attributes]
        values = {n: self._default(node, n, schema) for n in absent if n in schema.attributes}
        kinds = {name: schema.attributes[name].type.value for name in values}
        return {
            name: onnx.helper.make_attribute(name, value, attr_type=kinds[name])
            for name, value in values.items()
            if value is not None
        }

    def _default(self, node: Node, name: str, schema: Any) -> Any:
        """The default of an attribute, by the schema or by its prose; None where it has none."""
        # The schema of RNN has the activations of two directions for one.
        default = default_in_prose(node, name, self.types)
        return _decoded(default_of(schema, name)) if default is None and schema else default

    def _wrong_types(self, node: Node, form: Form, schema: Any) -> Iterator[str]:
        inputs = [pair for pair in _named_inputs(node, schema) if not _is_place(*pair, schema)]
        outputs = [(v.name, v) for v in node.outputs if v is not None]
        for name, value in [*inputs, *outputs]:
            number = self.types.elem_type(value)
            if number is None:
                continue
            type_ = TensorProto.DataType.Name(number).lower()
            supported = form.element_types
            if type_ in form.lacks_element_types or (
                supported is not None and type_ not in supported
            ):
                yield f"of other element types than {type_}, as '{name}' is"


def _is_long(value: Value | None) -> bool:
    """Test for a constant with integers beyond 32 bits, except bounds of 64."""
    tensor = None if value is None else value.constant
    if tensor is None or tensor.elem_type not in (TensorProto.INT64, TensorProto.UINT64):
        return False
    numbers = tensor.numpy()
    # A client that saturates has the same order of all numbers and such bounds.
    is_short = (numbers >= -(2**31)) & (numbers < 2**31)
    return not (is_short | (numbers > 2**62) | (numbers < -(2**62))).all()


def _branches_agree(node: Node, of: Callable[[Value], Hashable]) -> bool:
    """Test whether no bodies of a node return outputs that differ in a known property."""
    pairs = zip(*(graph.outputs for graph in node.graphs()), strict=False)
    # Unknown ones count as equal: a list of operators is no reason to refuse what may be right.
    return all(len({of(value) for value in values} - {None}) <= 1 for values in pairs)


def _count_outputs(node: Node) -> int:
    """The number of outputs up to the last one that anything reads."""
    graph = node.parent
    return max(
        (place for place, v in enumerate(node.outputs, 1) if v is not None and graph.is_used(v)),
        default=0,
    )


def _lacks(node: Node, form: Form, names: Sequence[str]) -> list[str]:
    """The outputs, by name, that a form requires and a node omits."""
    emitted = {name for name, _ in _named(node.outputs, names)}
    return [name for name in form.present if name in names and name not in emitted]


def _has_axes(value: Value | None) -> bool:
    """Test for a constant of one number with axes."""
    tensor = None if value is None else value.constant
    return tensor is not None and tensor.size == 1 and len(tensor.dims) > 0


def _comes_from_sizes(value: Value, is_part: bool) -> bool:
    """Test for a value that constants and sizes decide."""
    pending, visited = [value], {value}
    while pending:
        one = pending.pop()
        node = one.producer
        if one.constant is not None or (node is not None and node.is_op("Shape", "Size")):
            continue
        if node is None and is_part:
            continue
        if node is None or node.bodies:
            return False
        operands = {operand for operand in node.inputs if operand is not None} - visited
        visited |= operands
        pending.extend(operands)
    return True


_NEVER_NEGATIVE = ("Abs", "ArgMax", "ArgMin", "NonZero", "Shape", "Size")
_FIRST, _ALL = slice(1), slice(None)
_SIGNED_INPUTS = {
    **dict.fromkeys(("Add", "Concat", "Div", "Max", "Min", "Mul"), _ALL),
    **dict.fromkeys(("Cast", "Expand", "Flatten", "Gather", "Identity", "Reshape"), _FIRST),
    **dict.fromkeys(("Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"), _FIRST),
    "Range": slice(None, None, 2),
    "Where": slice(1, None),
}
"""By operator, the inputs that decide that its result has no negative number. A sum or product that
wraps is no index."""


def _may_be_negative(value: Value) -> bool:
    """Test whether a value may hold a negative number: one that is computed may."""
    pending, visited = [value], set[Value]()
    while pending:
        one = pending.pop()
        if one in visited:
            continue
        visited.add(one)
        node = one.producer
        if one.constant is not None:
            if (one.constant.numpy() < 0).any():
                return True
        elif node is None or not node.is_op(*_NEVER_NEGATIVE, "TopK", *_SIGNED_INPUTS):
            return True
        elif node.is_op(*_SIGNED_INPUTS):
            pending += _signed_inputs(node)
        elif node.is_op("TopK") and one is node.outputs[0]:
            return True
    return False


def _counts_from_front(condition: Value | None, wrapped: Value | None, index: Value | None) -> bool:
    """Test for an index from the front: a sum with a length where it is negative."""
    test, sum_ = (None if v is None else v.producer for v in (condition, wrapped))
    tested, rows = index, None if index is None else index.producer
    # Rows of a test are the test of these rows, which a pass may have computed for all before.
    while test is not None and rows is not None and test.is_op("Gather") and rows.is_op("Gather"):
        axes = [node.attribute("axis", 0) for node in (test, rows)]
        if test.inputs[1:] != rows.inputs[1:] or axes[0] != axes[1]:
            return False
        (whole, *_), (tested, *_) = test.inputs, rows.inputs
        test, rows = (None if v is None else v.producer for v in (whole, tested))
    if test is None or sum_ is None or not (test.is_op("Less", "Greater") and sum_.is_op("Add")):
        return False
    low, high = test.inputs if test.is_op("Less") else reversed(test.inputs)
    is_zero = high is not None and high.constant is not None and not high.constant.numpy().any()
    return is_zero and low is tested and index in sum_.inputs


def _signed_inputs(node: Node) -> list[Value]:
    """Inputs of a node without negative numbers whose result has none, too."""
    if node.is_op("Where") and _counts_from_front(*node.inputs):
        return []
    inputs = [v for v in node.inputs[_SIGNED_INPUTS[node.op_type]] if v is not None]
    # A maximum with a number that is not negative is not negative.
    constants = [v for v in inputs if v.constant is not None and not (v.constant.numpy() < 0).any()]
    return constants[:1] if constants and node.is_op("Max") else inputs


def _has_late_constant(node: Node) -> bool:
    """Test for a constant after a computed operand."""
    flags = [value is not None and value.constant is not None for value in node.inputs]
    return flags != sorted(flags, reverse=True)


def _is_place(name: str, value: Value, schema: Any) -> bool:
    """Test whether an input is a constant of indices or sizes, which are no data."""
    if value.constant is None or schema is None:
        return False
    formal = next(parameter for parameter in formals(schema)[0] if parameter.name == name)
    return "tensor(float)" not in formal.allowed


def name_of(node: Node) -> str:
    """The name of a node's operator in a target."""
    domain = normal_domain(node.op.domain)
    return f"{domain}.{node.op_type}" if domain else node.op_type


def _schema(node: Node) -> Any:
    """The schema of a node's operator; None for another domain."""
    return None if normal_domain(node.op.domain) else schema_at(node.op_type, _opset(node))


def _opset(node: Node) -> int:
    """The opset of a node."""
    return node.root.opset(normal_domain(node.op.domain))


def _wrong_attributes(node: Node, form: Form, schema: Any) -> Iterator[str]:
    for name in form.unwritten:
        if name in node.op.attributes:
            yield f"without {name}"
    for name in form.nonnegative:
        if min(_attribute(node, name, schema) or (), default=0) < 0:
            yield f"without negative numbers in '{name}'"
    pads = (_attribute(node, "pads", schema) or []) if form.even_pads else []
    if pads[: len(pads) // 2] != pads[len(pads) // 2 :]:
        yield "with the same pads at both ends"
    for name, values in form.attributes.items():
        value = _attribute(node, name, schema)
        if value is not None and value not in values:
            yield f"with {name} = {_listed(values)}, not {value!r}"
    for name, values in form.lacks_attributes.items():
        value = _attribute(node, name, schema)
        if value is not None and value in values:
            yield f"with another {name} than {value!r}"


def _attribute(node: Node, name: str, schema: Any) -> Any:
    """The value of an attribute; None where it is absent or comes from a call."""
    message = node.op.attributes.get(name)
    if message is not None and message.ref_attr_name:
        return None
    if message is not None:
        value = value_of(message)
    else:
        value = (
            default_of(schema, name) if schema is not None and name in schema.attributes else None
        )
    return _decoded(value)


def _decoded(value: Any) -> Any:
    """A value with text for bytes."""
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _listed(values: tuple[Any, ...]) -> str:
    return " or ".join(repr(value) for value in values)


def _formals(schema: Any) -> tuple[list[str], list[str]]:
    """The names of the inputs and outputs in a schema."""
    if schema is None:
        return [], []
    inputs, outputs = formals(schema)
    return [parameter.name for parameter in inputs], [parameter.name for parameter in outputs]


def _named_inputs(node: Node, schema: Any) -> Iterator[tuple[str, Value]]:
    """The inputs of a node with their names in its schema, else with numbers."""
    return _named(node.inputs, _formals(schema)[0])


def _named(values: Sequence[Value | None], names: Sequence[str]) -> Iterator[tuple[str, Value]]:
    for index, value in enumerate(values):
        if value is not None:
            yield _name_at(names, index), value


def _name_at(names: Sequence[str], index: int) -> str:
    # The last name of a variadic operator stands for all further operands.
    return names[min(index, len(names) - 1)] if names else str(index)


def _comes_from(name: str, value: Value | None, form: Form) -> bool:
    """Test for an operand that an operator computes which a form excludes."""
    producer = None if value is None else value.producer
    return producer is not None and name_of(producer) in form.not_from.get(name, ())
