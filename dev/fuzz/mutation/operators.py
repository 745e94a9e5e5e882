"""What is changed: the operators of mutmut, two of our own, and what says nothing when changed."""

from collections.abc import Callable, Iterator

import libcst as cst
import libcst.matchers as m
from mutmut.mutation.mutators import mutation_operators

Operator = Callable[[cst.CSTNode], Iterator[cst.CSTNode]]

# mutmut inverts these by itself.
_INVERTED = (cst.Equal, cst.NotEqual, cst.Is, cst.IsNot, cst.In, cst.NotIn)

# Left out with everything inside: it has no effect when the program runs, is text for people, or
# fails at once for any argument (`len`, `isinstance`).
_STRICT = m.Arg(keyword=m.Name("strict"))  # of zip: right programs never meet it
_SILENT = (
    m.Annotation()
    | m.Raise()
    | m.Assert()
    | _STRICT
    | m.If(test=m.Name("TYPE_CHECKING"))
    | m.Assign(targets=[m.AssignTarget(m.Name("__slots__") | m.Name("__all__"))])
    | m.AnnAssign(annotation=m.Annotation(m.Name("TypeAlias")))
    | m.Assign(value=m.Call(func=m.Name("TypeVar") | m.Name("ParamSpec")))
    | m.Assign(value=m.Subscript(value=m.OneOf(*map(m.Name, ("Union", "Callable", "Literal")))))
    | m.Call(func=m.Name("cast") | m.Name("len") | m.Name("isinstance"))
    | m.Decorator(m.Call(func=m.Attribute(attr=m.Name("dataclass"))))
)

# Methods that add values to a graph. The word that they take last is a label: the names in a saved
# model are chosen when it is saved.
_LABELLED = m.Attribute(
    attr=m.OneOf(
        *map(m.Name, ("add", "apply", "emit", "const", "constant", "cast_constant", "ints")),
        *map(m.Name, ("unsqueeze", "squeeze", "scalar", "transpose", "concat", "slice", "label")),
    )
)

# numpy reads every negative length like -1.
_FLATTENED = m.Call(
    func=m.Attribute(attr=m.Name("reshape")), args=[m.Arg(m.UnaryOperation(m.Minus()))]
)


def silent_parts(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The parts of a node in which nothing is changed, though it could be elsewhere."""
    if m.matches(node, _FLATTENED):
        return [node.args[0].value]
    if not (isinstance(node, cst.Call) and m.matches(node.func, _LABELLED)):
        return []
    given = [a.value for a in node.args if a.keyword is None]
    word = given[-1] if given else None
    if isinstance(word, cst.FormattedString):
        return [word]
    return [word] if isinstance(word, cst.SimpleString) and word.value.islower() else []


def replacements(node: cst.CSTNode) -> Iterator[tuple[str, cst.CSTNode, cst.CSTNode]]:
    """Each change of one node: its operator, the part that goes, and what takes its place."""
    for kind, operator in mutation_operators:
        if isinstance(node, kind):
            for changed in operator(node):
                if not _says_nothing(node, changed):
                    yield operator.__name__.removeprefix("operator_"), node, changed
    if isinstance(node, cst.If | cst.While | cst.CompIf) and _has_plain_test(node.test):
        test = node.test.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        yield "negated_condition", node.test, cst.UnaryOperation(cst.Not(), test)
    if isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
        yield "dropped_call", node, cst.Pass()


def is_silent(node: cst.CSTNode) -> bool:
    """Whether nothing in a node is changed."""
    return m.matches(node, _SILENT) or _is_sentence(node)


def _has_plain_test(test: cst.BaseExpression) -> bool:
    """Whether negating a condition is a change that no other operator makes."""
    if isinstance(test, cst.UnaryOperation):
        return not isinstance(test.operator, cst.Not)
    return not (
        isinstance(test, cst.Comparison)
        and len(test.comparisons) == 1
        and isinstance(test.comparisons[0].operator, _INVERTED)
    )


def _says_nothing(node: cst.CSTNode, changed: cst.CSTNode) -> bool:
    """Whether a change is of a text for people, or of a check that holds for right programs."""
    if isinstance(node, cst.Assign | cst.AnnAssign):
        return node.value is not None and _is_sentence(node.value)
    if not (isinstance(node, cst.Call) and isinstance(changed, cst.Call)):
        return False
    gone = [a for a in node.args if not any(a is kept for kept in changed.args)]
    labels = silent_parts(node)
    return any(m.matches(a, _STRICT) or _is_sentence(a.value) or a.value in labels for a in gone)


def _is_sentence(node: cst.CSTNode) -> bool:
    """Whether a node is a text with a blank in it: names and keys have none."""
    if isinstance(node, cst.ConcatenatedString):
        return _is_sentence(node.left) or _is_sentence(node.right)
    if isinstance(node, cst.FormattedString):
        return any(isinstance(p, cst.FormattedStringText) and " " in p.value for p in node.parts)
    return isinstance(node, cst.SimpleString) and " " in node.value
