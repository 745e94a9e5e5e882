"""Definitions: an operator of any domain before, the graph that computes it after."""

import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import onnx

from ..ir import Operator
from ..ir.lazy import lazy_property
from ..records import record
from .case import Case, Signature, Sizes, Unfit
from .element_types import types_named
from .pattern import Parameter, Pattern, PatternNode, RuleError, Variable, parse_pattern

After = str | Callable[[Case], str]
"""The text of a graph or of its nodes, or a function that writes it for a case."""


@record(frozen=True, eq=False)
class Definition:
    """Meaning of an operator in one form.

    Attributes:
        before: the operator with variables, as text.
        after: the graph in its place.
        since: the first opset whose operators the graph has; it holds in all later ones.
        exact: kernels return the bits of the graph; otherwise they may round in other places.
        source: the document or the code that defines the operator.
        tried: the runtime and version whose kernel was compared; empty for none.
        differs: the difference of that kernel from its documentation.
        summary: the operator in a few words.
        rows: the operands that may vary from row to row while the others are the same for all,
            such as "* a b; * a": with "*" they get any number of axes in front, else their first
            axes are such rows. A function returns it for a case, "" for none.
    """

    before: str
    after: After
    since: int = 11
    exact: bool = False
    source: str = ""
    tried: str = ""
    differs: str = ""
    summary: str = ""
    rows: str | Callable[[Case], str] = ""

    @lazy_property
    def pattern(self) -> Pattern:
        """The operator before.

        Raises:
            RuleError: the text is unreadable, holds more than one node, or a node whose operands
                are not the names of the header, or which names a variable twice.
        """
        pattern = parse_pattern(self.before)
        if len(pattern.nodes) != 1:
            raise RuleError(f"'{pattern.text}': a definition has one node before")
        (node,) = pattern.nodes
        if sorted(operand.name for operand in node.inputs) != sorted(pattern.parameters):
            raise RuleError(
                f"'{pattern.text}': its operands are the names of the header, each once"
            )
        names = [value.name for value in node.attributes.values() if isinstance(value, Variable)]
        if len({*names}) < len(names):
            raise RuleError(f"'{pattern.text}': each attribute has a variable of its own")
        return pattern

    @property
    def node(self) -> PatternNode:
        """The node before."""
        return self.pattern.nodes[0]

    @property
    def name(self) -> str:
        """The operator, with its domain in front."""
        return self.node.op_type

    @lazy_property
    def places(self) -> Mapping[str, int]:
        """The position of each operand, by name."""
        return {operand.name: index for index, operand in enumerate(self.node.inputs)}

    def case(self, signature: Signature) -> Case:
        """The case of a node.

        Raises:
            Unfit: the node has not this form.
        """
        operands = self.node.inputs
        if len(signature.elem_types) > len(operands):
            extra = signature.elem_types[len(operands) :]
            if any(elem_type is not None for elem_type in extra):
                raise Unfit(f"its definition has {len(operands)} operands at most")
        present = [place for place, is_there in enumerate(signature.outputs) if is_there]
        if present and present[-1] >= len(self.node.outputs):
            raise Unfit(f"its definition has {len(self.node.outputs)} outputs at most")
        attributes = dict(self._bound(signature.op))
        names = frozenset(self.node.outputs[place] for place in present)
        case = Case(signature, self.places, attributes, names)
        for operand in operands:
            if not case.has(operand.name):
                if operand.kind != "optional":
                    raise Unfit(f"its operand '{operand.name}' is absent")
                continue
            self._require(case, self.pattern.parameters[operand.name], signature)
        self._require_one_type(case)
        return case

    def _bound(self, op: Operator) -> Iterator[tuple[str, Any]]:
        """The values of the variables for attributes."""
        if op.references:
            raise Unfit("an attribute of it comes from the calls of the function around it")
        own = self.node.attributes
        for name in op.attributes:
            if name not in own:
                raise Unfit(f"its attribute '{name}' is not in the definition")
        for name, expected in own.items():
            message = op.attributes.get(name)
            value = None if message is None else _plain(op.attribute(name))
            if not isinstance(expected, Variable):
                if value != expected:
                    raise Unfit(f"its attribute '{name}' is not {expected!r}")
                continue
            if value is None and not expected.is_optional:
                raise Unfit(f"its attribute '{name}' is absent")
            # onnxruntime refuses an integer where its schema has a float.
            if message is not None and expected.kind not in (None, message.type):
                kinds = map(onnx.AttributeProto.AttributeType.Name, (message.type, expected.kind))
                raise Unfit("its attribute '{}' is of kind {}, not {}".format(name, *kinds))
            yield expected.name, expected.default if value is None else value

    def _require(self, case: Case, parameter: Parameter, signature: Signature) -> None:
        """Check the element type, the rank and the sizes of an operand."""
        name, types = parameter.name, types_named(parameter.elem_type or "")
        if types is not None and case.elem_type(name) not in types:
            raise Unfit(f"the element type of '{name}' is none of the definition's")
        if parameter.is_constant and case.constant(name) is None:
            raise Unfit(f"'{name}' is not a constant")
        pattern = parameter.shape
        if pattern is None or pattern.broadcasts:
            return
        rank, least = case.rank(name), len(pattern.dims)
        if rank < least or (pattern.star is None and rank != least):
            raise Unfit(f"'{name}' has another rank than {least}")
        shape: Sizes = signature.shapes[self.places[name]]
        assert shape is not None
        for size, expected in zip(shape[rank - least :], pattern.dims, strict=True):
            if isinstance(expected, int) and size != expected:
                case.reads_sizes = True
                raise Unfit(f"an axis of '{name}' has another size than {expected}")

    def _require_one_type(self, case: Case) -> None:
        """Check that operands of one group of types have one type."""
        types: dict[str, int] = {}
        for parameter in self.pattern.parameters.values():
            group = parameter.elem_type
            if group is None or not case.has(parameter.name):
                continue
            elem_type = case.elem_type(parameter.name)
            if types.setdefault(group, elem_type) != elem_type:
                name = onnx.TensorProto.DataType.Name(elem_type).lower()
                raise Unfit(f"'{parameter.name}' is of type {name}, unlike other operands")

    def graph(self, case: Case) -> tuple[Pattern, Mapping[str, str]]:
        """The graph for a case, with the names that it has for the operator's outputs.

        Raises:
            Unfit: there is none.
            RuleError: the text is unreadable.
        """
        text = self.after if isinstance(self.after, str) else self.after(case)
        if text.lstrip().startswith("("):
            pattern = _parsed(text)
            return pattern, dict(zip(self.pattern.outputs, pattern.outputs, strict=False))
        inputs = ", ".join(operand.name for operand in self.node.inputs)
        return _parsed(f"({inputs}) => () {{ {text} }}"), {}


_parsed = functools.lru_cache(maxsize=1 << 10)(parse_pattern)


def _plain(value: Any) -> Any:
    """The value of an attribute with lists as tuples and text as `str`."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value
