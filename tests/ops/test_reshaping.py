import inferred
import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from operator_facts import (
    INDICES,
    INT64,
    SHAPELESS,
    UNKNOWN,
    M,
    N,
    arrays,
    assert_agrees,
    assert_says_all,
    between,
    cannot_fail,
    holding,
    may_fail,
    numbers,
    said,
    shape_said,
    shaped,
    tensor,
)
from straightline import ir, prove, rewrite
from tables import cases, table


@table(
    ("Reshape", [shaped(N, 6), holding(0, 2, 3)], {}, [N, 2, 3]),
    ("Reshape", [shaped(N, 6), holding(-1, 2)], {}, [N * 3, 2]),
    ("Reshape", [shaped(N, 6), holding(-1, 0)], {}, [N, 6]),
    ("Reshape", [shaped(N, M), holding(N, -1)], {}, [N, M]),
    ("Reshape", [shaped(N, 5), holding(-1, 2)], {}, ["?", 2]),
    ("Reshape", [shaped(N, 6), holding(-1, None)], {}, ["?", "?"]),
    ("Reshape", [SHAPELESS, holding(-1, 2)], {}, ["?", 2]),
    ("Reshape", [SHAPELESS, holding(0, 2)], {}, None),
    ("Reshape", [shaped(N), holding(1, 0)], {}, None),
    ("Reshape", [shaped(N), holding(N, 1)], {}, [N, 1]),
    ("Reshape", [shaped(N), holding(M - 1)], {}, [M - 1]),
    ("Reshape", [shaped(N), holding(M - N)], {}, ["?"]),
    ("Reshape", [shaped(0, N), holding(N, 0)], {"allowzero": 1}, [N, 0]),
    ("Reshape", [shaped(N), INDICES], {}, ["?"]),
    ("Reshape", [SHAPELESS, shaped(3)], {}, ["?", "?", "?"]),
    ("Reshape", [shaped(N), shaped(N)], {}, None),
    ("Reshape", [shaped(N)], {}, None),
    ("Flatten", [shaped(2, N, 3)], {}, [2, N * 3]),
    ("Flatten", [shaped(2, N, 3)], {"axis": 0}, [1, N * 6]),
    ("Flatten", [shaped(2, N, 3)], {"axis": -1}, [N * 2, 3]),
    ("Flatten", [shaped(2, N, 3)], {"axis": 3}, [N * 6, 1]),
    ("Flatten", [SHAPELESS], {}, None),
    ("Expand", [shaped(1, N), holding(3, 1)], {}, [3, N]),
    ("Expand", [shaped(N), holding(M, N)], {}, [M, N]),
    ("Expand", [shaped(2, 1, N), holding(4, 1)], {}, [2, 4, N]),
    ("Expand", [shaped(N), holding(M)], {}, ["?"]),
    ("Expand", [shaped(N), holding(3)], {}, [3]),
    ("Expand", [shaped(3), holding(N)], {}, [3]),
    ("Expand", [shaped(1), holding(None)], {}, ["?"]),
    ("Expand", [shaped(N), INDICES], {}, None),
    ("Expand", [SHAPELESS, holding(2)], {}, None),
    ("Tile", [shaped(N, 3), holding(2, M)], {}, [N * 2, M * 3]),
    ("Tile", [shaped(N, 3), holding(2, None)], {}, [N * 2, "?"]),
    ("Tile", [shaped(N, 3), holding(2)], {}, None),
    ("Tile", [shaped(N), INDICES], {}, None),
    ("Tile", [SHAPELESS, holding(2)], {}, None),
)
def test_shapes(op_type, facts, attributes, wanted):
    assert shape_said(op_type, *facts, **attributes) == wanted


@given(
    arrays(1), st.lists(st.integers(-4, 4), max_size=3), st.sampled_from(["Squeeze", "Unsqueeze"])
)
def test_axes_of_one(data, axes, op_type):
    assert_agrees(op_type, [*data, np.array(axes, np.int64)])


@given(arrays(1))
def test_squeeze_of_all(data):
    assert_agrees("Squeeze", data)


@given(arrays(1), st.lists(st.integers(-1, 3), max_size=3), st.sampled_from([0, 1]))
def test_reshape(data, target, allowzero):
    assert_agrees("Reshape", [*data, np.array(target, np.int64)], allowzero=allowzero)


test_numbers_give_all_that_onnx_computes = cases(
    assert_says_all,
    ("Identity", [[3, -4]], {}),
    ("Unsqueeze", [[1, 2], [0, 2]], {}),
    ("Unsqueeze", [[1, 2], [-1]], {}),
    ("Squeeze", [[[[1], [2]]], [0]], {}),
    ("Squeeze", [[[[1], [2]]], [-1]], {}),
    ("Squeeze", [[[[1], [2]]]], {}),
    ("Reshape", [[1, 2, 3, 4], [2, -1]], {}),
    ("Reshape", [[[1, 2], [3, 4]], [0, 2, 1]], {}),
)


@table(("Reshape", [[N, M], [2, N]], INT64, None))
def test_bounds_from_partial_facts(op_type, operands, elem_type, wanted):
    assert said(op_type, operands, elem_type) == wanted


def test_axes_in_another_order():
    cannot_fail("Transpose", UNKNOWN)
    cannot_fail("Transpose", tensor(2, 3, N), perm=[2, 0, 1])
    for perm in ([0, 1], [0, 1, 1], [1, 2, 3]):
        may_fail("perm does not fit rank 3", "Transpose", tensor(2, 3, N), perm=perm)


def test_axes_to_flatten_at():
    for axis in (-2, 0, 1, 2):
        cannot_fail("Flatten", tensor(2, 3), axis=axis)
    for axis in (-3, 3):
        may_fail(f"axis {axis} does not exist for rank 2", "Flatten", tensor(2, 3), axis=axis)
    may_fail("axis 1 does not exist for rank 0", "Flatten", tensor())


def test_new_shapes_of_as_many_elements():
    cannot_fail("Reshape", tensor(2, 6), numbers([3, 4]))
    cannot_fail("Reshape", tensor(2, 6), numbers([-1, 4]))
    cannot_fail("Reshape", tensor(N, 6), numbers([0, 2, 3]))
    cannot_fail("Reshape", tensor(N + 1, 1), numbers([N + 1, -1]))
    cannot_fail("Reshape", tensor(N + 1, 6), numbers([(N + 1) * 6]))
    cannot_fail("Reshape", tensor(N, 6), numbers([-1, 2]))
    cannot_fail("Reshape", tensor(N * 2, 6), numbers([N, 2, 6]))
    cannot_fail("Reshape", tensor(N, 2, 6), numbers([N * 2, 6]))
    may_fail("less than 1", "Reshape", tensor(N, M), numbers([N * M]))
    may_fail("less than 1", "Reshape", tensor(2, N * 6), numbers([N, 2, 6]))
    for shape, target, reason in (
        ((2, 6), [3, 5], "the number of elements may not fit: 12 and 15"),
        ((2, 6), [5, -1], "the new shape may not divide the elements"),
        ((N, 5), [-1, 2], "the new shape may not divide the elements"),
        ((2, 6), [-1, -1], "may hold -1 twice"),
        ((2, 6), [2, 6, 0], "'i1' copies an axis that is not there"),
        ((N, 6), [6, N], "an axis of the new shape of size N may be less than 1"),
        ((N, 6), [0, -1], "the axis of -1, of size N may be less than 1"),
        ((2, 6), [-2, -6], "an axis of the new shape of size -2 may be less than 1"),
    ):
        may_fail(reason, "Reshape", tensor(*shape), numbers(target))
    may_fail("'i1' may not have rank 1", "Reshape", tensor(2), numbers([[2]]))
    may_fail("the rank of 'i0' is not known", "Reshape", UNKNOWN, numbers([2]))


def test_zeros_of_a_new_shape_that_are_sizes():
    cannot_fail("Reshape", tensor(0, 6), numbers([3, 0]), allowzero=1)
    cannot_fail("Reshape", tensor(6, N), numbers([N, 6]), allowzero=1)
    may_fail("number of elements", "Reshape", tensor(2, 6), numbers([0, 6]), allowzero=1)


def test_shapes_that_are_stretched():
    cannot_fail("Expand", tensor(1, N), numbers([3, N]))
    cannot_fail("Expand", tensor(2, 3), numbers([1]))
    cannot_fail("Expand", tensor(), numbers([0]))
    may_fail("sizes that must broadcast", "Expand", tensor(2), numbers([3]))
    may_fail("an axis of the new shape of size -1", "Expand", tensor(1), numbers([-1]))
    may_fail("of size N - 1 may be less than 0", "Expand", tensor(1), numbers([N - 1]))
    may_fail("'i1' may not have rank 1", "Expand", tensor(1), numbers([[1]]))


def test_repeated_tensors():
    cannot_fail("Tile", tensor(N, 3), numbers([0, 2]))
    may_fail("'i1' may not fit the rank", "Tile", tensor(N, 3), numbers([2]))
    may_fail("'i1' holds a negative number", "Tile", tensor(N, 3), numbers([2, -1]))


def test_axes_of_one_that_go_and_come():
    cannot_fail("Squeeze", UNKNOWN)
    cannot_fail("Squeeze", tensor(N, 1), numbers([1]))
    cannot_fail("Squeeze", tensor(1, N, 1), numbers([-1, 0]))
    may_fail("a squeezed axis may not fit: N and 1", "Squeeze", tensor(N, 1), numbers([0, 1]))
    may_fail("axis 2 does not exist for rank 2", "Squeeze", tensor(N, 1), numbers([2]))
    may_fail("an axis occurs twice", "Squeeze", tensor(N, 1), numbers([1, -1]))
    cannot_fail("Unsqueeze", tensor(N), numbers([0, 2]))
    cannot_fail("Unsqueeze", tensor(N), numbers([-1, 0]))
    may_fail("an axis occurs twice", "Unsqueeze", tensor(N), numbers([0, -3]))
    may_fail("axis 3 does not exist for rank 3", "Unsqueeze", tensor(N), numbers([0, 3]))
    may_fail("its axes are absent", "Unsqueeze", tensor(N))
    may_fail("known only at run time", "Unsqueeze", tensor(N), between(0, 1, 1))


def test_operands_of_older_versions_are_attributes():
    assert said("Unsqueeze", [[N, 2]], axes=[0]) == [[N, 2]]
    assert said("Squeeze", [[[N], [2]]], axes=[1]) == [N, 2]
    assert said("Squeeze", [[[N], [2]], [None]]) is None


@pytest.mark.parametrize("operator", ["Unsqueeze", "Squeeze"])
def test_axes_that_no_machine_counts(operator):
    text = f"""<ir_version: 8, opset_import: ["" : 18]> g (float[N, 3] x) => (float[?] y)
        <int64[1] a = {{9223372036854775807}}> {{
        s = Shape (x) t = {operator} (s, a) u = Squeeze (t) y = Expand (x, u) }}"""
    assert rewrite(ir.parse(text)) is not None


@table(
    ("one, s", "float[N, S] x", ["1", "N", "S"]),
    ("one, s, minus", "float[N, S] x", ["1", "?", "S", "?"]),
    ("s, minus", "float[N, S] x", ["N", "S", "1"]),
    ("s, two", "float[N, S, 2] x", ["N", "S", "2"]),
    ("p, two", "float[S, N, 2] x", ["N*S", "2"]),
)
def test_a_size_that_may_be_0_copies_another_axis_then(target, declared, wanted):
    """Sizes of x [0, 3] and -1 make of 1, 0, 3, -1 the shape 1, 3, 3, 0."""
    head = "sh = Shape (x) s = Slice (sh, zero, two) p = ReduceProd (s)"
    shapes = inferred.shapes(
        f"""g ({declared}) => (float y) <int64[1] one = {{1}}, int64[1] two = {{2}},
        int64[1] zero = {{0}}, int64[1] minus = {{-1}}> {{ {head}
            t = Concat <axis = 0> ({target}) y = Reshape (x, t) }}""",
        '<ir_version: 8, opset_import: ["" : 17]>\n',
    )
    assert shapes["y"] == wanted


def test_no_proof_without_that_axis():
    head = '<ir_version: 8, opset_import: ["" : 17]> g (float[N, S] x) => (float[a, b, c, d] y)'
    before = f"""{head} <int64[1] one = {{1}}, int64[1] minus = {{-1}}> {{
        s = Shape (x) t = Concat <axis = 0> (one, s, minus) y = Reshape (x, t) }}"""
    after = f"{head} <int64[2] k = {{0, 3}}> {{ y = Unsqueeze (x, k) }}"
    assert prove(*[onnx.parser.parse_model(text) for text in (before, after)]).status != "proved"


@table(
    ("float[6, 4] x, float[S] z", "s, four", ["?", "4"]),
    ("float[S, 4] x, float[S] z", "s, four", ["S", "4"]),
    ("float[M, 4] x, float[S, 2] z", "s, four", ["?", "2", "4"]),
    ("float[6, 4] x, float[S] z", "six, four, s", ["6", "4", "S"]),
    ("float[S, 6, 4] x, float[S, 2] z", "p, four, minus", ["2*S", "4", "3"]),
    ("float[S, M] x, float[S, M] z", "p, six, minus", ["?", "6", "?"]),
)
def test_a_size_that_may_be_0_may_copy_an_axis_with_elements(declared, target, wanted):
    """Sizes 0, 4 make of x [6, 4] the shape 6, 4; and 0, 0, 4 of x [0, 4] the shape 0, 4, 4."""
    shapes = inferred.shapes(
        f"""g ({declared}) => (float y)
            <int64[1] six = {{6}}, int64[1] four = {{4}}, int64[1] minus = {{-1}}> {{
            s = Shape (z) p = ReduceProd (s) t = Concat <axis = 0> ({target})
            y = Reshape (x, t) }}""",
        '<ir_version: 8, opset_import: ["" : 17]>\n',
    )
    assert shapes["y"] == wanted


def test_a_copied_axis_is_no_size_of_the_target():
    text = """g (float[6, 4] x, float[S] z) => (int64[2] n) <int64[1] four = {4}> {
        s = Shape (z) t = Concat <axis = 0> (s, four) y = Reshape (x, t) %s }"""
    one, other = (
        onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text % more)
        for more in ("n = Shape (y)", "n = Identity (t)")
    )
    assert not prove(one, other).proved
    text = """g (float[N, S, 4] x) => (float[a, b, c] y) <int64[2] rows = {-1, 4}> { %s }"""
    one, other = (
        onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text % more)
        for more in (
            "f = Reshape (x, rows) e = Exp (f) s = Shape (x) y = Reshape (e, s)",
            "y = Exp (x)",
        )
    )
    assert not prove(one, other).proved
