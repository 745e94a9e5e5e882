"""Transposes that meet, also with elementwise operators between them."""

from typing import Any

from ..rules.match import Match
from ..rules.registry import shipped
from ..rules.rule import Rule


@shipped
class TransposeOfTranspose(Rule):
    """Merge two Transposes."""

    before = """(x[*S]) => (y) {
        t = Transpose <perm = @p> (x)
        y = Transpose <perm = @q> (t)
    }"""
    after = "(x) => (y) { y = Transpose <perm = @r> (x) }"

    def where(self, match: Match) -> bool:
        """Compose the permutations."""
        return match.bind("r", tuple(match["p"][axis] for axis in match["q"]))


@shipped
class TransposeOfInverse(Rule):
    """Remove a Transpose that undoes another one, which others may read."""

    before = TransposeOfTranspose.before
    after = "(x) => (x)"

    def where(self, match: Match) -> bool:
        """Require that the axes come back to their places."""
        p, q = match["p"], match["q"]
        return [p[axis] for axis in q] == list(range(len(p)))

    def cases(self, ranks: Any) -> list[dict[str, Any]]:
        """Turn the axes by one and back."""
        axes = tuple(range(ranks["x"]))
        return [{"p": axes[1:] + axes[:1], "q": axes[-1:] + axes[:-1]}]


UNARY = (
    *("Abs", "Ceil", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "LeakyRelu", "Log", "Neg"),
    *("Not", "Reciprocal", "Relu", "Selu", "Sigmoid", "Sign", "Softplus", "Sqrt", "Tanh"),
)


def _sunk(op_type: str) -> type[Rule]:
    """A rule that merges two Transposes around an elementwise operator."""
    before = f"""(x[*S]) => (y) {{
        t = Transpose <perm = @p> (x)
        u = {op_type} <*A> (t)
        y = Transpose <perm = @q> (u)
    }}"""
    after = f"(x) => (y) {{ u = {op_type} <*A> (x)  y = Transpose <perm = @r> (u) }}"

    def where(self: Rule, match: Match) -> bool:
        return match.bind("r", tuple(match["p"][axis] for axis in match["q"]))

    def cases(self: Rule, ranks: Any) -> list[dict[str, Any]]:
        default = Rule.cases(self, ranks)
        return [{**case, "A": {}} for case in default]

    content = {"before": before, "after": after, "where": where, "cases": cases}
    content["__doc__"] = f"Merge two Transposes around {op_type}."
    return type(f"TransposeOf{op_type}", (Rule,), content)


for _op_type in UNARY:
    shipped(_sunk(_op_type))


def _sunk_along(op_type: str) -> type[Rule]:
    """A rule that merges two Transposes around an operator along one axis."""

    def where(self: Rule, match: Match) -> bool:
        p, q = match["p"], match["q"]
        axis = match["a"]
        if not -len(p) <= axis < len(p):
            return False
        return match.bind("r", tuple(p[place] for place in q)) and match.bind("b", p[axis])

    content = {
        "before": f"""(x[*S]) => (y) {{
        t = Transpose <perm = @p> (x)
        u = {op_type} <axis = @a> (t)
        y = Transpose <perm = @q> (u)
    }}""",
        "after": f"""(x) => (y) {{
        u = {op_type} <axis = @b> (x)
        y = Transpose <perm = @r> (u)
    }}""",
        "where": where,
        # Below opset 13 they run over all axes from one on.
        "since": 13,
        "ranks": range(1, 5),
        "__doc__": f"Merge two Transposes around {op_type}.",
    }
    return type(f"TransposeOf{op_type}", (Rule,), content)


for _op_type in ("Softmax", "LogSoftmax"):
    shipped(_sunk_along(_op_type))
