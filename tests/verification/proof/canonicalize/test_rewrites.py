import ast
import itertools

import numpy as np
import onnx
import pytest
from depth import some
from proof_mutants import bits
from straightline import Error
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.ir import Operator
from straightline.verification.proof.canonicalize import rewrites
from straightline.verification.proof.canonicalize.rewrites import (
    LATE_REWRITES,
    REWRITES,
    Rewrite,
    by_table,
    matches,
    pattern,
)
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms
from tables import table
from term_values import Values

FLOATS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5, 1e-45, 3e38, -3e38]
TYPES = [np.int8, np.int32, np.int64, np.uint8, np.uint64, np.float32, np.float64]
SHAPES = [(), (1,), (3,), (1, 1), (2, 1)]
DIVISORS = rewrites._sign_of_divisor, rewrites._positive_divisor, rewrites._negative_divisor
"""Conditions on a constant divisor."""
ROWS = [
    (name, row)
    for table in (REWRITES, LATE_REWRITES)
    for name, rows in table.items()
    if name != "choose"
    for row in rows
]


def special(dtype, divides):
    """Numbers of a type; where something is divided, none that fails or overflows."""
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.array(FLOATS).astype(dtype)
    info = np.iinfo(dtype)
    numbers = {0, 1, 2, 3, 7, info.max, info.max - 1, info.min + 1, (1 << 53) + 1, 1 << 40, 4095}
    numbers |= {-n for n in numbers} | {info.min}
    if divides:
        numbers -= {0, info.min}
    return np.array(sorted(n for n in numbers if info.min <= n <= info.max), dtype)


def variables(row):
    calls = {id(node.func) for node in ast.walk(row.before) if isinstance(node, ast.Call)}
    names = [n for n in ast.walk(row.before) if isinstance(n, ast.Name) and id(n) not in calls]
    return sorted({node.id for node in names}, key="xzcuabkzerolowhighnegative".find)


def plain(terms, node, bound):
    """The term of a pattern, to which no rule is applied."""
    if isinstance(node, ast.Constant):
        return None
    if isinstance(node, ast.Name):
        return bound[node.id]
    args = tuple(plain(terms, arg, bound) for arg in node.args)
    attributes = {word.arg: word.value.value for word in node.keywords}
    head = terms.heads.of(Operator.make(node.func.id, **attributes), {"": 20})
    return terms.raw(head, args, terms.facts_of(head, args))[0]


def leaf(terms, name, array):
    elem_type = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return terms.leaf("input", name, Fact(elem_type, tuple(map(Dimension.constant, array.shape))))


def options(terms, name, feeds, bound, dtype):
    """Terms for a name: an input, a constant, an operand of the comparison."""
    if name not in feeds and name == "z":
        numbers = [n for n in (2, 3, -3, 7) if np.dtype(dtype).kind != "u" or n > 0]
        return [terms.constant(np.array(n, dtype)) for n in numbers]
    if name in "ab":
        compared = bound["x" if name == "a" else "z"]
        wide = terms.op("Cast", 20, compared, to=onnx.TensorProto.INT64)
        return [compared, wide, bound["z" if name == "a" else "x"]]
    if name == "negative":
        return [terms.constant(np.array(truth)) for truth in (True, False)]
    if name == "k":
        numbers = (
            [1, 2, -1, 0, -0.0, 0.5, np.inf, -np.inf] if np.dtype(dtype).kind == "f" else [0, 1, -1]
        )
        with np.errstate(over="ignore"):
            constants = [np.array(n).astype(dtype) for n in numbers]
        return [terms.constant(array.reshape(s)) for array in constants for s in ((), (1,))]
    if name in ("zero", "u", "low", "high"):
        numbers = [0, 1, 2, 1 << 11, 1 << 32, 1 << 53, 1 << 54]
        numbers = [n for n in numbers if np.dtype(dtype).kind == "f" or n <= np.iinfo(dtype).max]
        return [terms.constant(np.array(n, dtype)) for n in numbers]
    return [leaf(terms, name, feeds[name])]


def assignments(terms, names, feeds, dtype, bound):
    if not names:
        yield bound
        return
    for term in options(terms, names[0], feeds, bound, dtype):
        yield from assignments(terms, names[1:], feeds, dtype, {**bound, names[0]: term})


def sides(row, feeds, dtype):
    """Both sides of a row, evaluated, for each instance within its condition."""
    terms = Terms(Budget())
    for bound in assignments(terms, variables(row), feeds, dtype, {}):
        before, values = plain(terms, row.before, bound), Values(terms, feeds)
        for match in matches(row.before, before.head, before.args):
            if not row.condition(terms, match) or not rewrites._keeps_shape(row.after, match):
                continue
            try:
                with np.errstate(all="ignore"):
                    expected = values.of(before)
            except (Error, RuntimeError, ValueError, TypeError):
                continue  # no operator of these types, or the shapes do not fit
            with np.errstate(all="ignore"):
                yield expected, values.of(plain(terms, row.after, match))


def checked(row):
    """Number of instances of a row, each of which holds; fail at the first that does not."""
    names, count = variables(row), 0
    divides = "Div" in ast.dump(row.before)
    for dtype in TYPES:
        numbers = special(dtype, divides)
        inputs = [n for n in names if n in "xzc" and (n != "z" or row.condition not in DIVISORS)]
        columns = dict.fromkeys(inputs, numbers)
        if "c" in names:
            columns["c"] = np.array([True, False])
        mesh = [g.reshape(-1) for g in np.meshgrid(*columns.values())]
        every = dict(zip(columns, mesh, strict=True))
        shapes = some(itertools.product(SHAPES, repeat=len(inputs)), 8)
        broadcast = [
            {n: np.resize(columns[n][1:], s) for n, s in zip(inputs, shape, strict=True)}
            for shape in shapes
        ]
        scalars = [{n: number.reshape(()) for n in inputs} for number in numbers[:3]]
        for feeds in [every, *broadcast, *(scalars if len(inputs) == 1 else ())]:
            for one, other in sides(row, feeds, dtype):
                assert bits([one]) == bits([other]), (ast.unparse(row.before), dtype, feeds)
                count += 1
    return count


@pytest.mark.sample(7)
@pytest.mark.parametrize(("name", "row"), ROWS, ids=[ast.unparse(row.before) for _, row in ROWS])
def test_both_sides_are_equal_within_the_condition(name, row):
    assert row in [*REWRITES.get(name, ()), *LATE_REWRITES.get(name, ())]
    assert checked(row) >= 5


@table(
    ("Where(Less(x, z), a, b)", "Max(a, b)", rewrites._in_order),
    ("Where(Less(x, z), x, z)", "Min(x, z)", rewrites._anything),
    ("Not(Or(Less(x, z), Less(z, x)))", "Equal(x, z)", rewrites._floats),
    ("Or(Less(x, z), Equal(x, z))", "Less(x, z)", rewrites._anything),
    ("Max(x, z)", "Max(z, x)", rewrites._floats),
)
def test_a_wrong_row_is_seen(before, after, condition):
    with pytest.raises(AssertionError):
        checked(Rewrite(pattern(before), pattern(after), condition))


def test_a_choice_between_others_than_scalars_is_no_where():
    """Branches may have different shapes."""
    terms = Terms(Budget())
    feeds = {"x": np.zeros(1, np.int64), "z": np.zeros(3, np.int64), "c": np.array(True)}
    x, z, c = (leaf(terms, name, array) for name, array in feeds.items())
    head = terms.heads.own("choose")
    assert by_table(terms, head, (terms.op("Not", 20, c), x, z), 1) is None
    assert by_table(terms, head, (terms.op("Less", 20, x, z), x, z), 1) is None
