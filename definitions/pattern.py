"""Patterns: small graphs with variables for values, sizes and attributes, read from text.

    (x[*S], const w[k, n]) => (y[*S]) { t = Transpose <perm = @p> (x)  y = Mul (t, 1) }

Values of the header are variables; `const` accepts constants only. Sizes in brackets are names,
numbers, or `*S` for any number of axes; `[< *S]` accepts shapes that broadcast to `*S`. An operand
is a value, a number (a constant that has this number everywhere), `[1, 2]` or `@v` (constant
integers), `xs...` (any number of operands) or `b?` (perhaps none). `@p` is a variable for an
attribute, `<*A>` for all of them. Axes, bounds and sizes are attributes, also where an opset has
them as inputs. In a definition, `@p ? 0.5` is a variable with a default, `@p float ?` one that
may be absent and else is a float, and `body = (float s) => (t) { ... }` a graph.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import onnx

from ..ir import Error, attribute_message
from ..records import record

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>-?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|inf)(?!\w))|(?P<text>"[^"]*")
    |(?P<name>@?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)|(?P<mark>=>|\.\.\.|[()\[\]{}<>=,?*]))""",
    re.VERBOSE,
)

KINDS: Mapping[str, int] = {
    word: onnx.AttributeProto.AttributeType.Value(name)
    for word, name in {
        **{"float": "FLOAT", "int": "INT", "text": "STRING"},
        **{"floats": "FLOATS", "ints": "INTS", "texts": "STRINGS"},
    }.items()
}
"""The kinds of attributes by the words that follow a variable."""

Number = int | float
Kind = Literal["value", "many", "optional", "number", "integers", "attribute", "absent"]


class RuleError(Error):
    """A rule that cannot be used: unreadable, contradictory, refuted, or not proved."""


@record(frozen=True)
class Variable:
    """A variable for an attribute.

    Attributes:
        default: its value where the attribute is absent; None without one.
        is_optional: accept an absent attribute.
        kind: the kind of the attribute; None for any.
    """

    name: str
    default: Any = None
    is_optional: bool = False
    kind: int | None = None


@record(frozen=True)
class Operand:
    """An operand of a node of a pattern.

    Attributes:
        kind: a value; "many" or an optional one; a constant of one number, of integers, or of
            integers that are an attribute's variable; an absent operand.
        value: the number or the integers of a constant.
    """

    kind: Kind
    name: str = ""
    value: Any = None


@record(frozen=True)
class ShapePattern:
    """A pattern of a shape.

    Attributes:
        star: the name of the leading axes, of any number; None for none.
        dims: the names and numbers of the axes after these.
        broadcasts: accept any shape that broadcasts to this one.
    """

    star: str | None
    dims: tuple[str | int, ...]
    broadcasts: bool = False


@record(frozen=True)
class Parameter:
    """A value from outside of a pattern.

    Attributes:
        elem_type: the name of its element type, such as "float"; None for any.
        shape: the pattern of its shape; None for any.
        is_constant: accept a constant only.
        is_optional: it may be absent.
    """

    name: str
    elem_type: str | None = None
    shape: ShapePattern | None = None
    is_constant: bool = False
    is_optional: bool = False


@record(frozen=True)
class PatternNode:
    """A node of a pattern; integers that newer opsets have as inputs are among its attributes."""

    op_type: str
    inputs: tuple[Operand, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


@record(frozen=True)
class Pattern:
    """A small graph with variables.

    Attributes:
        parameters: the values from outside, by name.
        shapes: the patterns of shapes of outputs, by name.
        nodes: its nodes, operands before users.
    """

    text: str
    parameters: Mapping[str, Parameter]
    outputs: tuple[str, ...]
    shapes: Mapping[str, ShapePattern]
    nodes: tuple[PatternNode, ...]

    @property
    def root(self) -> PatternNode:
        """The node of the first output, from which matching begins."""
        return self.producers()[self.outputs[0]][0]

    def producers(self) -> dict[str, tuple[PatternNode, int]]:
        """The node of each computed value, with its place among the outputs."""
        return {name: (n, i) for n in self.nodes for i, name in enumerate(n.outputs) if name}

    def values(self) -> set[str]:
        """The names of all values."""
        return {*self.parameters, *self.producers()}

    def operators(self) -> set[str]:
        """The operators of its nodes, those outside of ONNX with their domain in front."""
        return {node.op_type for node in self.nodes}

    def standard_operators(self) -> set[str]:
        """The operators of its nodes that are ONNX's own."""
        return {op_type for op_type in self.operators() if "." not in op_type}


def parse_pattern(text: str) -> Pattern:
    """Parse the text of a pattern.

    Raises:
        RuleError: a syntax error, an unknown value, or one that is defined twice.
    """
    text = " ".join(text.split())  # for messages of one line
    pattern = _Parser(text).pattern()
    defined = dict.fromkeys(pattern.parameters)
    for node in pattern.nodes:
        for operand in node.inputs:
            # A pattern is matched from its root upwards, and written in order of its text: both
            # rely on operands that come before their users.
            if operand.kind in ("value", "many", "optional") and operand.name not in defined:
                raise RuleError(f"'{text}': '{operand.name}' is not defined before its use")
        for name in filter(None, node.outputs):
            if name in defined:
                raise RuleError(f"'{text}': '{name}' is defined twice")
            defined[name] = None
    missing = [name for name in pattern.outputs if name not in defined]
    if missing:
        raise RuleError(f"'{text}': the output '{missing[0]}' is not defined")
    return pattern


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = _TOKEN.match(text, position)
            if match is None:
                raise self.error(position)
            kind = match.lastgroup or ""
            self.tokens.append((kind, match[kind], position))
            position = match.end()
        # An end of its own, so that no reader has to test for one.
        self.tokens.append(("end", "", len(text)))
        self.at = 0

    def error(self, position: int) -> RuleError:
        """An error at a position of the text."""
        rest = self.text[position:].strip()
        return RuleError(f"pattern '{self.text}' cannot be read at '{rest[:40]}'")

    def take(self, expected: str = "", kind: str = "") -> str:
        """The next token, of a kind or with a text.

        Raises:
            RuleError: it is another one.
        """
        actual, text, position = self.tokens[self.at]
        if (expected and text != expected) or (kind and actual != kind) or actual == "end":
            raise self.error(position)
        self.at += 1
        return text

    def sees(self, *texts: str) -> bool:
        """Test for one of some texts at the next token, and take it."""
        # A quoted "<" is a value, not a bracket.
        if self.tokens[self.at][1] in texts and self.tokens[self.at][0] != "text":
            self.at += 1
            return True
        return False

    def kind(self, ahead: int = 0) -> str:
        """The kind of a token ahead."""
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)][0]

    def pattern(self) -> Pattern:
        """A whole pattern."""
        pattern = self.graph()
        if self.kind() != "end":
            raise self.error(self.tokens[self.at][2])
        return pattern

    def graph(self) -> Pattern:
        """A header with its nodes."""
        parameters = self.once([(p.name, p) for p in self.listed("(", ")", self.parameter)])
        self.take("=>")
        outputs = self.listed("(", ")", self.parameter)
        nodes: list[PatternNode] = []
        if self.sees("{"):
            while not self.sees("}"):
                nodes.append(self.node())
        shapes = {p.name: p.shape for p in outputs if p.shape is not None}
        names = tuple([p.name for p in outputs])
        return Pattern(self.text, parameters, names, shapes, tuple(nodes))

    def once(self, items: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        """Items by name.

        Raises:
            RuleError: a name stands twice.
        """
        names = [name for name, _ in items]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise RuleError(f"'{self.text}': '{twice}' stands twice")
        return dict(items)

    def listed(self, start: str, end: str, read: Any) -> list[Any]:
        """Items between two marks, separated by commas."""
        self.take(start)
        items = []
        while not self.sees(end):
            items.append(read())
            if not self.sees(","):
                self.take(end)
                break
        return items

    def parameter(self) -> Parameter:
        """A value of a header."""
        words = [self.take(kind="name")]
        while self.kind() == "name":
            words.append(self.take())
        # A value may be called `const`.
        is_constant = words[0] == "const" and len(words) > 1
        *types, name = words[1:] if is_constant else words
        shape = self.shape() if self.tokens[self.at][1] == "[" else None
        is_optional = not self.sees("...") and self.sees("?")
        return Parameter(name, types[0] if types else None, shape, is_constant, is_optional)

    def shape(self) -> ShapePattern:
        """A shape in brackets."""
        self.take("[")
        broadcasts, star, dims = self.sees("<"), None, list[str | int]()
        while not self.sees("]"):
            # Only in front: broadcasting aligns shapes at their ends, so leading axes alone may be
            # of any number.
            if not dims and star is None and self.sees("*"):
                star = self.take(kind="name")
            elif self.kind() == "number":
                dims.append(self.number(whole=True))
            else:
                dims.append(self.take(kind="name"))
            if not self.sees(","):
                self.take("]")
                break
        return ShapePattern(star, tuple(dims), broadcasts)

    def node(self) -> PatternNode:
        """A node, with its outputs before it."""
        outputs = [self.take(kind="name")]
        while self.sees(","):
            outputs.append(self.take(kind="name"))
        self.take("=")
        op_type = self.take(kind="name")
        attributes = self.once(self.listed("<", ">", self.attribute) if self._opens() else [])
        inputs = self.listed("(", ")", self.operand)
        return PatternNode(op_type, tuple(inputs), tuple(outputs), attributes)

    def _opens(self) -> bool:
        return self.tokens[self.at][1] == "<"

    def attribute(self) -> tuple[str, Any]:
        """The name and the value of an attribute; `*A` stands for all that the node has."""
        if self.sees("*"):
            return "*", Variable(self.take(kind="name"))
        name = self.take(kind="name")
        self.take("=")
        if self.kind() == "name":
            return name, self.variable()
        # The value is a body: `body = (i) => (o) { ... }`.
        if self.tokens[self.at][1] == "(":
            return name, self.graph()
        return name, self.literal()

    def variable(self) -> Variable:
        """A variable for an attribute, with its default."""
        name = self.take(kind="name").removeprefix("@")
        kind = KINDS.get(self.tokens[self.at][1])
        if kind is not None:
            self.at += 1
        if not self.sees("?"):
            return Variable(name, kind=kind)
        # A question mark without a default: the attribute may be absent, and has no value then.
        if self.tokens[self.at][1] in (",", ">"):
            return Variable(name, None, True, kind)
        default = self.literal()
        return Variable(name, default, True, attribute_message(name, default).type)

    def literal(self) -> Any:
        """A text, a number, or a list of numbers."""
        if self.kind() == "text":
            return self.take().strip('"')
        if self.tokens[self.at][1] == "[":
            return tuple(self.listed("[", "]", self.number))
        return self.number()

    def number(self, whole: bool = False) -> Any:
        """A number, whole where it is written so."""
        position, text = self.tokens[self.at][2], self.take(kind="number")
        is_float = any(c in text for c in ".einf") or text == "-0"
        if (whole and is_float) or not (is_float or -(2**63) <= int(text) < 2**63):
            raise self.error(position)
        return float(text) if is_float else int(text)

    def operand(self) -> Operand:
        """An operand of a node."""
        if self.tokens[self.at][1] in (",", ")"):
            return Operand("absent")
        if self.kind() == "number":
            return Operand("number", value=self.number())
        if self.tokens[self.at][1] == "[":
            return Operand("integers", value=tuple(self.listed("[", "]", self.number)))
        name = self.take(kind="name")
        if name[0] == "@":
            return Operand("attribute", name[1:])
        if self.sees("..."):
            return Operand("many", name)
        return Operand("optional" if self.sees("?") else "value", name)
