"""Matches of a pattern, from its root back along the producers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....analysis.constants.equal import content_key
from ....analysis.shapes.inference import ShapeInference
from ....definitions.pattern import Operand, Pattern, PatternNode, ShapePattern, Variable
from ....facts.fact import Shape
from ....ir import Graph, Node, Value
from ....ir.lazy import lazy_property
from ....ops.schema_queries import data_types
from ....ops.traits import operators_with
from .match import Bound, Match
from .normal_form import FREE_OUTPUTS, LISTS, UNKNOWN, NormalForms, equal, integers_of
from .rule import Rule
from .types import TypeClasses

COMMUTATIVE = frozenset((*operators_with("commutative"), "Max", "Min", "Sum"))
"""Operators of two operands that may come in either order, up to the sign of a zero."""


_FLAT = frozenset(("value", "number", "integers", "attribute"))
"""Kinds of operands that are there, one for each."""


class Scope(NamedTuple):
    """A graph in which rules match, with all that is known about it.

    Attributes:
        assumed: inputs that count as constants, in the model of a proof.
    """

    graph: Graph
    inference: ShapeInference
    forms: NormalForms
    assumed: frozenset[Value] = frozenset()

    def is_constant(self, value: Value) -> bool:
        """Test for a value known before run time."""
        return value.constant is not None or value in self.assumed


class _State(NamedTuple):
    """A partial match: values and attributes by name, and nodes of the pattern by number."""

    values: Mapping[str, Bound]
    attributes: Mapping[str, Any]
    nodes: Mapping[int, Node]


_EMPTY = _State({}, {}, {})

_Bindings = tuple[dict[str, Bound], dict[str, Any], tuple[Node, ...]]
"""Values and attributes by name, and the nodes."""


class Matcher:
    """Matcher of one pattern of a rule in one opset.

    Attributes:
        root: the operator of the root.
        needs: an operator that produces an operand of the root; "constant" for a constant, ""
            where any operand will do.
    """

    def __init__(self, rule: Rule, pattern: Pattern, opset: int) -> None:
        self.rule = rule
        self.pattern = pattern
        self.opset = opset
        self._producers = pattern.producers()
        self._numbers = {id(node): number for number, node in enumerate(pattern.nodes)}
        self._root = pattern.root
        self.root = self._root.op_type
        self.needs = self._needed()
        kinds = [operand.kind for operand in self._root.inputs]
        # Operands from there on may be missing, so their places decide nothing beforehand.
        ends = [kinds.index(kind) for kind in ("many", "optional") if kind in kinds]
        self._first = self._root.inputs[: min(ends, default=None)]
        self._either = len(kinds) == 2 and rule.commutes and self.root in COMMUTATIVE
        self._is_flat = len(pattern.nodes) == 1 and _FLAT.issuperset(kinds)
        self._is_typed = any(p.elem_type for p in pattern.parameters.values())
        self._alike = [i for i, operand in enumerate(self._first) if self._keeps_shape(operand)]

    @lazy_property
    def types(self) -> TypeClasses:
        """The element types of its values, computed for the first match."""
        return TypeClasses(self.pattern, self.rule.result, self.opset)

    @property
    def is_usable(self) -> bool:
        """Test that the opset has the operators."""
        operators = self.pattern.standard_operators() | self.rule.result.standard_operators()
        return all(data_types(op_type, self.opset) for op_type in operators)

    def _needed(self) -> str:
        inner = [self._producers.get(operand.name) for operand in self._root.inputs]
        operators = [one[0].op_type for one in inner if one is not None]
        constants = ("number", "integers", "attribute")
        if operators:
            return operators[0]
        return "constant" if any(o.kind in constants for o in self._root.inputs) else ""

    @lazy_property
    def _checked(self) -> list[tuple[list[str], frozenset[int]]]:
        """The values of each class of types, with the types that they may have."""
        names, of = self.types.names, self.types.of
        return [
            ([name for name in names if of(name) == leader], allowed)
            for leader, allowed in self.types.allowed.items()
        ]

    @lazy_property
    def _shapes(self) -> list[tuple[str, ShapePattern]]:
        """The values with a pattern of their shape; those that broadcast are last."""
        patterns = [(p.name, p.shape) for p in self.pattern.parameters.values()]
        shaped = [(n, s) for n, s in (*patterns, *self.pattern.shapes.items()) if s is not None]
        # A shape that broadcasts is compared with symbols that the exact shapes have bound.
        return sorted(shaped, key=lambda pair: pair[1].broadcasts)

    def matches(self, scope: Scope, node: Node) -> Iterator[Match]:
        """Yield the matches at a node; the conditions of the rule hold."""
        if not self._may_match(scope, node) or not self.rule.may_match(node, scope.inference):
            return
        states = self._flat if self._is_flat else self._states
        for values, attributes, nodes in states(scope, node):
            match = Match(scope.graph, scope.inference, values, attributes, nodes, self.opset)
            if self._fits(match) and self.rule.where(match):
                yield match

    def _states(self, scope: Scope, node: Node) -> Iterator[_Bindings]:
        """Yield values, attributes and nodes, the root first, without the other conditions."""
        for state in self._node(scope, self._root, node, _EMPTY):
            nodes = tuple([state.nodes[i] for i in sorted(state.nodes, reverse=True)])
            yield dict(state.values), dict(state.attributes), nodes

    def _flat(self, scope: Scope, node: Node) -> Iterator[_Bindings]:
        """Yield the same for a pattern of one node, without a search."""
        root, form = self._root, scope.forms.of(node)
        # A body may compute anything: no pattern describes a node that holds one.
        outputs = None if node.bodies else self._outputs(root, node, _EMPTY)
        if outputs is None:
            return
        bound = _attributes(root, form.attributes, {}, node, scope)
        if bound is None:
            return
        ours, theirs = root.inputs, form.inputs
        # An operand beyond those of the pattern changes the result, unless it is absent.
        if len(theirs) < len(ours) or any(value is not None for value in theirs[len(ours) :]):
            return
        for order in (ours, ours[::-1]) if self._either else (ours,):
            values, attributes = dict(outputs), dict(bound)
            for operand, value in zip(order, theirs, strict=False):
                if value is None or not self._binds(scope, operand, value, values, attributes):
                    break
            else:
                yield values, attributes, (node,)

    def _binds(
        self,
        scope: Scope,
        ours: Operand,
        value: Value,
        values: dict[str, Bound],
        attributes: dict[str, Any],
    ) -> bool:
        """Bind an operand of a pattern of one node."""
        if ours.kind == "value":
            if self._wants_constant(ours.name) and not scope.is_constant(value):
                return False
            bound = values.setdefault(ours.name, value)
            return bound is value or (isinstance(bound, Value) and same(bound, value))
        if ours.kind == "attribute":
            numbers = integers_of(value)
            return numbers is not UNKNOWN and bool(
                attributes.setdefault(ours.name, numbers) == numbers
            )
        return self._is_number(scope, value, ours)

    # Nodes and operands -------------------------------------------------------------------------

    def _may_match(self, scope: Scope, node: Node) -> bool:
        """Test the root with its operands alone, at a fraction of the cost."""
        if self._fixed and not self._may_have_attributes(scope, node):
            return False
        # Plain inputs are cheaper than a normal form, which only lists of some opsets need.
        theirs = scope.forms.of(node).inputs if self.root in LISTS else node.inputs
        if not self._may_take(scope, theirs, node) and not (
            self._either and len(theirs) == 2 and self._may_take(scope, theirs[::-1], node)
        ):
            return False
        if self._is_typed and not self._may_have_type(scope, node):
            return False
        attributes = self._root.attributes
        return "*" in attributes or scope.forms.of(node).unusual <= attributes.keys()

    def _may_have_type(self, scope: Scope, node: Node) -> bool:
        """Test the element type of the first output, where it is known."""
        output = node.outputs[0]
        if output is None or not self.types.usable:
            return False
        elem_type = scope.inference.fact(output).elem_type
        return not elem_type or elem_type in self._result_types

    @lazy_property
    def _result_types(self) -> frozenset[int]:
        """The element types that the first output of the root may have."""
        return self.types.allowed[self.types.of(self._root.outputs[0])]

    @lazy_property
    def _fixed(self) -> list[tuple[str, Any]]:
        """The attributes of the root that must have one value, but for lists."""
        lists = LISTS.get(self.root, {})
        return [
            (name, value)
            for name, value in self._root.attributes.items()
            if not isinstance(value, Variable) and name not in ("*", *lists, *_DEFAULTS)
        ]

    def _may_have_attributes(self, scope: Scope, node: Node) -> bool:
        """Test attributes that must have one value."""
        values = scope.forms.attributes(node.op)
        return all(equal(values.get(name), value) for name, value in self._fixed)

    def _may_take(self, scope: Scope, theirs: Sequence[Value | None], node: Node) -> bool:
        """Test operands in one order."""
        return self._may_read(scope, theirs) and self._may_keep_shape(scope, theirs, node)

    def _keeps_shape(self, operand: Operand) -> bool:
        """Test for an operand of the root that has the shape of its first output."""
        parameter = self.pattern.parameters.get(operand.name)
        if parameter is None or parameter.shape is None or parameter.shape.broadcasts:
            return False
        output = self._root.outputs[0]
        return operand.kind == "value" and parameter.shape == self.pattern.shapes.get(output)

    def _may_keep_shape(self, scope: Scope, theirs: Sequence[Value | None], node: Node) -> bool:
        """Test the shapes of operands that are that of the root's first output."""
        if not self._alike:
            return True
        output, fact = node.outputs[0], scope.inference.fact
        shape = None if output is None else fact(output).shape
        # `_fits` refuses an unknown shape as well.
        if shape is None:
            return False
        for index in self._alike:
            value = theirs[index]
            if value is None or fact(value).shape != shape:
                return False
        return True

    def _wants_constant(self, name: str) -> bool:
        return self.pattern.parameters[name].is_constant

    @lazy_property
    def _tests(self) -> list[tuple[str, Any, Sequence[tuple[int, ShapePattern]]]]:
        """A test of each operand of the root up to the first optional one: its kind; the operator,
        number or flag that decides; and shapes of the operands of that operator."""
        tests: list[tuple[str, Any, Sequence[tuple[int, ShapePattern]]]] = []
        for ours in self._first:
            inner = self._producers.get(ours.name) if ours.kind == "value" else None
            if inner is not None:
                tests.append(("computed", inner[0].op_type, self._shapes_read(inner[0])))
            elif ours.kind == "value":
                tests.append((ours.kind, self._wants_constant(ours.name), ()))
            else:
                tests.append((ours.kind, ours.value, ()))
        return tests

    def _shapes_read(self, node: PatternNode) -> list[tuple[int, ShapePattern]]:
        """The places and shapes of operands, for an operator with one order of operands."""
        commutes = self.rule.commutes and node.op_type in COMMUTATIVE
        if commutes or node.op_type in LISTS or any(o.kind != "value" for o in node.inputs):
            return []
        parameters = [self.pattern.parameters.get(operand.name) for operand in node.inputs]
        return [(i, p.shape) for i, p in enumerate(parameters) if p is not None and p.shape]

    def _may_read(self, scope: Scope, theirs: Sequence[Value | None]) -> bool:
        """Test operands up to the first optional one."""
        count = len(theirs)
        for index, (kind, decisive, shapes) in enumerate(self._tests):
            value = theirs[index] if index < count else None
            if kind == "absent" or value is None:
                if kind != "absent" or value is not None:
                    return False
            elif kind == "value":
                if decisive and not scope.is_constant(value):
                    return False
            elif kind == "computed":
                producer = value.producer
                if producer is None or producer.op.qualname != decisive:
                    return False
                for place, shape in shapes:
                    operand = producer.input(place)
                    if operand is None or not _may_have_shape(scope, shape, operand):
                        return False
            elif value.constant is None or (
                kind == "number" and not scope.forms.uniform.holds(value.constant, decisive)
            ):
                return False
        return True

    def _node(
        self, scope: Scope, pattern: PatternNode, node: Node, state: _State
    ) -> Iterator[_State]:
        if node.op.qualname != pattern.op_type or node.bodies:
            return
        form = scope.forms.of(node)
        if not (form.unusual <= pattern.attributes.keys() or "*" in pattern.attributes):
            return
        outputs = self._outputs(pattern, node, state)
        if outputs is None:
            return
        attributes = _attributes(pattern, form.attributes, state.attributes, node, scope)
        if attributes is None:
            return
        number = self._numbers[id(pattern)]
        state = _State(outputs, attributes, {**state.nodes, number: node})
        yield from self._operands(scope, pattern.inputs, form.inputs, state)
        ours = pattern.inputs
        commutes = self.rule.commutes and pattern.op_type in COMMUTATIVE
        if commutes and len(ours) == len(form.inputs) == 2:
            yield from self._operands(scope, ours[::-1], form.inputs, state)

    def _outputs(
        self, pattern: PatternNode, node: Node, state: _State
    ) -> Mapping[str, Bound] | None:
        """The values with the outputs of a node; None where it has others that count."""
        names = pattern.outputs
        for extra in node.outputs[len(names) :]:
            free = node.op.qualname in FREE_OUTPUTS and node.graph is not None
            if extra is not None and not (free and not node.graph.is_used(extra)):  # type: ignore[union-attr]
                return None
        values = dict(state.values)
        for name, value in zip(names, node.outputs, strict=False):
            if value is None or values.setdefault(name, value) is not value:
                return None
        return values if len(node.outputs) >= len(names) else None

    def _operands(
        self, scope: Scope, ours: Sequence[Operand], theirs: Sequence[Value | None], state: _State
    ) -> Iterator[_State]:
        if not ours:
            if all(value is None for value in theirs):
                yield state
            return
        first, rest = ours[0], ours[1:]
        if first.kind == "many":
            for count in self._counts(rest, theirs):
                head = tuple(theirs[:count])
                # A name used twice means the same operands at both places.
                if state.values.get(first.name, head) == head:
                    more = state._replace(values={**state.values, first.name: head})
                    yield from self._operands(scope, rest, theirs[count:], more)
            return
        value = theirs[0] if theirs else None
        for after in self._operand(scope, first, value, state):
            yield from self._operands(scope, rest, theirs[1:], after)

    def _counts(self, rest: Sequence[Operand], theirs: Sequence[Value | None]) -> Iterable[int]:
        """Numbers of operands before a rest that may match; with hundreds, few are tried."""
        if not rest:
            most = max((k for k, value in enumerate(theirs, 1) if value is not None), default=0)
            return range(most, len(theirs) + 1)
        makes = self._producers.get(rest[0].name) if rest[0].kind == "value" else None
        if makes is None:
            return range(len(theirs) + 1)
        makers = [value and value.producer for value in theirs]
        op_type = makes[0].op_type
        return [k for k, node in enumerate(makers) if node and node.op.qualname == op_type]

    def _operand(
        self, scope: Scope, ours: Operand, value: Value | None, state: _State
    ) -> Iterator[_State]:
        if value is None or ours.kind == "absent":
            if value is None and ours.kind in ("absent", "optional"):
                yield state._replace(values={**state.values, ours.name: None})
            return
        if ours.kind in ("value", "optional"):
            yield from self._value(scope, ours.name, value, state)
        elif ours.kind == "attribute":
            numbers = integers_of(value)
            bound = state.attributes.get(ours.name, numbers)
            if numbers is not UNKNOWN and bound == numbers:
                yield state._replace(attributes={**state.attributes, ours.name: numbers})
        elif self._is_number(scope, value, ours):
            yield state

    def _value(self, scope: Scope, name: str, value: Value, state: _State) -> Iterator[_State]:
        producer = self._producers.get(name)
        if producer is None:
            bound = state.values.get(name)
            parameter = self.pattern.parameters[name]
            if name in state.values and not (isinstance(bound, Value) and same(bound, value)):
                return
            if parameter.is_constant and not scope.is_constant(value):
                return
            if not _may_have_shape(scope, parameter.shape, value):
                return
            yield (
                state
                if name in state.values
                else state._replace(values={**state.values, name: value})
            )
            return
        pattern, index = producer
        node, matched = value.producer, state.nodes.get(self._numbers[id(pattern)])
        if node is None or index >= len(node.outputs) or node.outputs[index] is not value:
            return
        # A node of the pattern with two readers must be one node for both.
        if matched is node:
            yield state
        elif matched is None:
            yield from self._node(scope, pattern, node, state)

    def _is_number(self, scope: Scope, value: Value, ours: Operand) -> bool:
        """Test for a constant with one number everywhere, or with a list of integers."""
        tensor = value.constant
        if tensor is None:
            return False
        if ours.kind == "integers":
            return bool(integers_of(value) == ours.value)
        return scope.forms.uniform.holds(tensor, ours.value)

    # Conditions ---------------------------------------------------------------------------------

    def _fits(self, match: Match) -> bool:
        """Test the element types and shapes."""
        if not self.types.usable:
            return False
        for names, allowed in self._checked:
            if not _has_type(match, names, allowed):
                return False
        return all(self._fits_shape(match, name, shape) for name, shape in self._shapes)

    def _fits_shape(self, match: Match, name: str, pattern: ShapePattern) -> bool:
        bound = match.values.get(name)
        for value in bound if isinstance(bound, tuple) else (bound,):
            shape = None if value is None else match.inference.fact(value).shape
            if value is not None and (shape is None or not self._unify(match, pattern, shape)):
                return False
        return True

    def _unify(self, match: Match, pattern: ShapePattern, shape: Shape) -> bool:
        if pattern.broadcasts:
            return _broadcasts(match, pattern, shape)
        leading = len(shape) - len(pattern.dims)
        if leading < 0 or (pattern.star is None and leading > 0):
            return False
        if pattern.star is not None:
            if leading not in self.rule.ranks:
                return False
            if match.stars.setdefault(pattern.star, shape[:leading]) != shape[:leading]:
                return False
        for name, size in zip(pattern.dims, shape[leading:], strict=True):
            if isinstance(name, int):
                if size != name:
                    return False
            elif match.sizes.setdefault(name, size) != size:
                return False
        return True


def _may_have_shape(scope: Scope, pattern: ShapePattern | None, value: Value) -> bool:
    """Test the rank of an operand, before the rest of a pattern is matched."""
    if pattern is None or pattern.broadcasts or pattern.star is not None:
        return True
    shape = scope.inference.fact(value).shape
    return shape is not None and len(shape) == len(pattern.dims)


def _has_type(match: Match, names: Sequence[str], allowed: frozenset[int]) -> bool:
    """Test the first known type of values that share one; true where none of them is bound."""
    is_bound = False
    for name in names:
        bound = match.values.get(name)
        for value in bound if isinstance(bound, tuple) else (bound,):
            if value is not None:
                is_bound = True
                elem_type = match.inference.fact(value).elem_type
                if elem_type:
                    return elem_type in allowed
    return not is_bound


def _broadcasts(match: Match, pattern: ShapePattern, shape: Shape) -> bool:
    """Test that a shape certainly broadcasts to that of a pattern."""
    expected: list[Any] = [*match.stars.get(pattern.star or "", ())]
    expected += [name if isinstance(name, int) else match.sizes.get(name) for name in pattern.dims]
    if len(shape) > len(expected):
        return False
    sizes = expected[len(expected) - len(shape) :]
    # An unknown size (None) equals no size, so that only 1 fits it.
    return all(one in (1, other) for one, other in zip(shape, sizes, strict=True))


def _attributes(
    pattern: PatternNode,
    actual: Mapping[str, Any],
    bound: Mapping[str, Any],
    node: Node,
    scope: Scope,
) -> Mapping[str, Any] | None:
    """The variables of attributes with those of a node; None for a mismatch."""
    if not pattern.attributes:
        return bound
    values = dict(bound)
    for name, expected in pattern.attributes.items():
        value = actual.get(name) if name != "*" else scope.forms.explicit(node.op)
        if value is None and (default := _DEFAULTS.get(name)) is not None:
            value = default(scope, node, actual)
        if value is None or value is UNKNOWN:
            return None
        if isinstance(expected, Variable):
            if not equal(values.setdefault(expected.name, value), value):
                return None
        elif not equal(value, expected):
            return None
    return values


def _reversed(scope: Scope, node: Node, _: Mapping[str, Any]) -> Any:
    """The permutation of a Transpose without one."""
    source = node.input(0)
    shape = None if source is None else scope.inference.fact(source).shape
    return None if shape is None else tuple(range(len(shape)))[::-1]


def _like_starts(value: Callable[[int], int]) -> Callable[[Scope, Node, Mapping[str, Any]], Any]:
    """The default of a list of a Slice: a number for each of the starts."""

    def default(scope: Scope, node: Node, actual: Mapping[str, Any]) -> Any:
        starts = actual.get("starts")
        return tuple(map(value, range(len(starts)))) if isinstance(starts, tuple) else None

    return default


def _slice_axes(scope: Scope, node: Node, actual: Mapping[str, Any]) -> Any:
    return _like_starts(lambda i: i)(scope, node, actual) if node.is_op("Slice") else None


_DEFAULTS: Mapping[str, Callable[[Scope, Node, Mapping[str, Any]], Any]] = {
    "axes": _slice_axes,
    "perm": _reversed,
    "steps": _like_starts(lambda i: 1),
}
"""Defaults that depend on other parts of the node."""


def same(one: Value, other: Value) -> bool:
    """Test for one value, or two constants with the same bytes."""
    if one is other:
        return True
    if one.constant is None or other.constant is None:
        return False
    # By bytes: 0.0 == -0.0, but 1 / 0.0 differs from 1 / -0.0.
    key = content_key(one.constant)
    return key is not None and key == content_key(other.constant)
