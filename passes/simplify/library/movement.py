"""Transposes that meet, also with elementwise operators between them."""

import itertools

from ..rules.match import Match
from ..rules.registry import law
from ..rules.rule import values_of

_TWICE = "(x[*S]) => (y) { t = Transpose <perm = @p> (x)  y = Transpose <perm = @q> (t) }"
_AROUND = """(x[*S]) => (y) {{
    t = Transpose <perm = @p> (x)  u = {} (t)  y = Transpose <perm = @q> (u) }}"""
_AFTER = "(x) => (y) {{ u = {} (x)  y = Transpose <perm = @r> (u) }}"


def _composes(match: Match) -> bool:
    """Compose the permutations."""
    return match.bind("r", tuple(match["p"][axis] for axis in match["q"]))


law(
    "TransposeOfTranspose: Merge two Transposes.",
    _TWICE,
    "(x) => (y) { y = Transpose <perm = @r> (x) }",
    _composes,
)
law(
    "TransposeOfInverse: Remove a Transpose that undoes another one, which others may read.",
    _TWICE,
    "(x) => (x)",
    lambda match: [match["p"][axis] for axis in match["q"]] == list(range(len(match["p"]))),
    lambda ranks: [
        {"p": axes[1:] + axes[:1], "q": axes[-1:] + axes[:-1]}
        for axes in [tuple(range(ranks["x"]))]
    ],
)

UNARY = (
    *("Abs", "Ceil", "Elu", "Erf", "Exp", "Floor", "HardSigmoid", "LeakyRelu", "Log", "Neg"),
    *("Not", "Reciprocal", "Relu", "Selu", "Sigmoid", "Sign", "Softplus", "Sqrt", "Tanh"),
)
for _op in UNARY:
    law(
        f"TransposeOf{_op}: Merge two Transposes around {_op}.",
        _AROUND.format(f"{_op} <*A>"),
        _AFTER.format(f"{_op} <*A>"),
        _composes,
        lambda ranks: [
            {"p": p, "q": q, "A": {}}
            for p, q in itertools.product(values_of("perm", ranks["x"]), repeat=2)
        ],
    )


def _moves_axis(match: Match) -> bool:
    """Compose the permutations, and follow the axis."""
    p, axis = match["p"], match["a"]
    return -len(p) <= axis < len(p) and _composes(match) and match.bind("b", p[axis])


for _op in ("Softmax", "LogSoftmax"):
    law(
        f"TransposeOf{_op}: Merge two Transposes around {_op}.",
        _AROUND.format(f"{_op} <axis = @a>"),
        _AFTER.format(f"{_op} <axis = @b>"),
        _moves_axis,
        since=13,  # before, they run over all axes from one on
        ranks=range(1, 5),
    )
