"""Element types of the variables of a rule: which ones share a type, and the types that they may
have."""

from collections.abc import Hashable, Iterator, Sequence

from ....definitions.element_types import NUMBERS, UNIVERSE, types_named
from ....definitions.pattern import Pattern, PatternNode
from ....ops.schema_queries import formals, schema_at
from .normal_form import LISTS, takes_lists


class TypeClasses:
    """The classes of values that share an element type in a rule.

    Args:
        before: the pattern to match.
        after: the graph in its place.
        opset: the version of the operators.

    Attributes:
        usable: false if the opset lacks an operator.
    """

    def __init__(self, before: Pattern, after: Pattern, opset: int) -> None:
        self._leader: dict[Hashable, Hashable] = {}
        self._allowed: dict[Hashable, frozenset[int]] = {}
        self.usable = True
        for side, pattern in enumerate((before, after)):
            for number, node in enumerate(pattern.nodes):
                self._read(side, number, node, opset)
        for own, theirs in zip(before.outputs, after.outputs, strict=True):
            self._join(_value(0, own), _value(1, theirs))
        for name in after.parameters:
            self._join(_value(0, name), _value(1, name))
        for parameter in before.parameters.values():
            types = types_named(parameter.elem_type or "")
            if types is not None:
                self._restrict(_value(0, parameter.name), frozenset(types))
        for one in before.parameters.values():
            for other in before.parameters.values():
                if one.elem_type and one.elem_type == other.elem_type:
                    self._join(_value(0, one.name), _value(0, other.name))
        self.names = [*before.parameters, *before.producers()]
        self.allowed: dict[str, frozenset[int]] = {}
        for name in self.names:  # one name stands for a class
            leader = self._find(_value(0, name))
            self.allowed.setdefault(self.of_class(leader), self._allowed_of(leader))

    def of_class(self, leader: Hashable) -> str:
        """The first name of a class."""
        return next(n for n in self.names if self._find(_value(0, n)) == leader)

    def of(self, name: str) -> str:
        """The first name of the class of a value."""
        return self.of_class(self._find(_value(0, name)))

    def of_operand(self, side: int, number: int, place: int) -> tuple[str | None, frozenset[int]]:
        """The class of a constant of a pattern: a name of it, if any, and its types."""
        leader = self._find((side, number, "input", place))
        name = next((n for n in self.names if self._find(_value(0, n)) == leader), None)
        return name, self._allowed_of(leader)

    def _read(self, side: int, number: int, node: PatternNode, opset: int) -> None:
        if "." in node.op_type:
            return  # outside of ONNX: types are those that the rule states
        schema = schema_at(node.op_type, opset)
        if schema is None or schema.deprecated:
            self.usable = False
            return
        listed = LISTS.get(node.op_type, {})
        if not node.attributes.keys() - {"*"} <= schema.attributes.keys() | listed.keys():
            self.usable = False
        inputs, outputs = formals(schema)
        hidden = _hidden(node.op_type, opset)
        places = [place for place in range(len(inputs) + len(node.inputs)) if place not in hidden]
        for place, operand in enumerate(node.inputs):
            formal = inputs[min(places[place], len(inputs) - 1)] if inputs else None
            if formal is None or (places[place] >= len(inputs) and not inputs[-1].is_variadic):
                self.usable = self.usable and operand.kind in ("absent", "optional")
                continue
            key = (side, number, "input", place)
            if operand.name:
                self._join(key, _value(side, operand.name))
            if formal.is_homogeneous:
                self._join(key, (side, number, formal.type_str))
            self._restrict(key, _numbers(formal.allowed))
        for place, name in enumerate(node.outputs):
            if place >= len(outputs) and not (outputs and outputs[-1].is_variadic):
                self.usable = False
                continue
            formal = outputs[min(place, len(outputs) - 1)]
            if name:
                self._join(_value(side, name), (side, number, formal.type_str))
                self._restrict(_value(side, name), _numbers(formal.allowed))

    def _find(self, key: Hashable) -> Hashable:
        while (leader := self._leader.get(key, key)) != key:
            key = leader
        return key

    def _join(self, one: Hashable, other: Hashable) -> None:
        a, b = self._find(one), self._find(other)
        if a != b:
            allowed = self._allowed_of(a) & self._allowed_of(b)
            self._leader[b] = a
            self._allowed[a] = allowed

    def _restrict(self, key: Hashable, types: frozenset[int]) -> None:
        leader = self._find(key)
        self._allowed[leader] = self._allowed_of(leader) & types

    def _allowed_of(self, leader: Hashable) -> frozenset[int]:
        return self._allowed.get(leader, frozenset(UNIVERSE))

    def assignments(self, names: Sequence[str]) -> Iterator[dict[str, int]]:
        """Yield types of classes: each with its first type, then each other type of one class."""
        ordered = {
            name: [t for t in UNIVERSE if t in types]
            for name, types in self.allowed.items()
            if any(self.of(each) == name for each in names)
        }
        if not all(ordered.values()):
            return
        first = {name: types[0] for name, types in ordered.items()}
        yield first
        for name, types in ordered.items():
            yield from ({**first, name: each} for each in types[1:])


def _value(side: int, name: str) -> Hashable:
    return side, "value", name


def _hidden(op_type: str, opset: int) -> set[int]:
    """The places of inputs that are lists."""
    lists = LISTS.get(op_type, {})
    return set(lists.values()) if lists and takes_lists(op_type, opset) else set()


def _numbers(texts: frozenset[str]) -> frozenset[int]:
    return frozenset(NUMBERS[text] for text in texts if text in NUMBERS)
