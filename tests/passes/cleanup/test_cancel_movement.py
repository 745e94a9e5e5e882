import numpy as np
import pytest
from harness import assert_rewrites, op_types, run_passes
from straightline.passes import CancelMovement, EliminateDeadNodes
from tables import table

PASSES = (CancelMovement(), EliminateDeadNodes())


def numbers(*shape):
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("between", ["", "Tanh", "Tanh Neg"])
def test_a_pair_around_elementwise_operators(between):
    nodes, last = "", "s"
    for index, op in enumerate(between.split()):
        nodes += f"t{index} = {op} ({last}) "
        last = f"t{index}"
    text = f"""g (float[N, 3] x) => (float[N, 3] y) <int64[1] k = {{1}}> {{
        e = Exp (x) s = Unsqueeze (e, k) {nodes} y = Squeeze ({last}, k) }}"""
    result = run_passes(text, *PASSES, feeds=[{"x": numbers(n, 3)} for n in (0, 1, 4)])
    assert op_types(result.model) == ["Exp", *between.split()]


def test_a_shape_that_is_computed_and_known():
    assert_rewrites(
        PASSES,
        """g (float[N, 4, 1, 1] x) => (float[N, 4] y, float[N, 2, 2] z, float[4, N] w)
            <int64[1] zero = {0}, int64[1] four = {4}, int64[2] twos = {2, 2}> {
            s = Shape (x) n = Gather (s, zero) t = Concat <axis = 0> (n, four) y = Reshape (x, t)
            u = Concat <axis = 0> (n, twos) z = Reshape (x, u)
            v = Concat <axis = 0> (four, n) w = Reshape (x, v) }""",
        """g (float[N, 4, 1, 1] x) => (float[N, 4] y, float[N, 2, 2] z, float[4, N] w)
            <int64[2] axes = {2, 3}, int64[3] sizes = {0, 2, 2}, int64[2] sizes_1 = {4, -1}> {
            y = Squeeze (x, axes) z = Reshape (x, sizes) w = Reshape (x, sizes_1) }""",
        [{"x": numbers(n, 4, 1, 1)} for n in (1, 3)],
    )


def test_several_changes_are_one():
    text = """g (float[N, 2, 6] x) => (float[N, 3, 4] y)
        <int64[2] a = {-1, 12}, int64[3] b = {-1, 3, 4}> {
            s = Reshape (x, a) t = Flatten (s) y = Reshape (t, b) }"""
    result = run_passes(text, *PASSES, feeds=[{"x": numbers(n, 2, 6)} for n in (1, 3)])
    assert len(result.model.graph.node) <= 2


def test_a_transpose_that_moves_axes_of_size_1_is_a_reshape():
    outputs = "float[N, 2, 1, 4] y, float[N, 8] w, float[3, 1, N] v"
    signature = f"g (float[N, 1, 8] x, float[3, N] z) => ({outputs})"
    assert_rewrites(
        PASSES,
        f"""{signature}
            <int64[4] a = {{0, 1, 2, 4}}, int64[2] b = {{-1, 8}}, int64[1] k = {{0}}> {{
            r = Reshape (x, a) y = Transpose <perm = [0, 2, 1, 3]> (r)
            s = Exp (x) t = Transpose <perm = [1, 0, 2]> (s) u = Tanh (t) w = Reshape (u, b)
            e = Unsqueeze (z, k) v = Transpose <perm = [1, 0, 2]> (e) }}""",
        f"""{signature}
            <int64[4] sizes = {{0, 2, 1, 4}}, int64[1] axes = {{1}}, int64[1] axes_1 = {{1}}> {{
            s = Exp (x) y = Reshape (x, sizes) u = Tanh (s)
            w = Squeeze (u, axes) v = Unsqueeze (z, axes_1) }}""",
        [{"x": numbers(n, 1, 8), "z": numbers(3, n)} for n in (0, 1, 3)],
    )


@pytest.mark.parametrize("perm", ["[0, 3, 1, 2]", "[2, 0, 1, 3]", "[3, 2, 1, 0]"])
def test_a_transpose_that_moves_elements_stays(perm):
    text = f"""g (float[N, 1, 8] x) => (float[a, b, c, d] y) <int64[4] k = {{0, 1, 2, 4}}> {{
        r = Reshape (x, k) y = Transpose <perm = {perm}> (r) }}"""
    assert not run_passes(text, CancelMovement()).changed


@table(
    ("sizes that may not fit", "s = Reshape (x, m) y = Reshape (s, l)"),
    ("an axis that may not be of size 1", "s = Squeeze (x, k) y = Unsqueeze (s, k)"),
)
def test_movement_that_may_fail_stays(what, nodes):
    text = f"""g (float[N, 3] x, int64[2] m) => (float[?, ?] y)
        <int64[1] k = {{0}}, int64[1] one = {{1}}, int64[2] l = {{1, 3}}> {{ {nodes} }}"""
    assert not run_passes(text, CancelMovement()).changed


def test_values_with_other_readers_stay():
    text = """g (float[N, 3] x) => (float[N, 3] y, float[N, 1, 3] t) <int64[1] k = {1}> {
        s = Unsqueeze (x, k) t = Tanh (s) y = Squeeze (t, k) }"""
    assert not run_passes(text, CancelMovement()).changed


def test_a_reshape_of_one_that_stays_reads_it():
    text = """g (float[N, 2, 6] x) => (float[N, 3, 4] y, float[M, O] z)
        <int64[2] a = {-1, 12}, int64[3] b = {-1, 3, 4}> {
            s = Reshape (x, a) y = Reshape (s, b) z = %s (s) }"""
    assert not run_passes(text % "Tanh", *PASSES).changed
    # Another reshape reads the source, too.
    result = run_passes(text % "Flatten", *PASSES, feeds=[{"x": numbers(3, 2, 6)}])
    assert all(node.input[0] == "x" for node in result.model.graph.node if node.output[0] == "y")


def test_an_input_as_an_output_stays():
    text = """g (float[N, 3] x) => (float[N, 3] y) <int64[1] k = {1}> {
        s = Unsqueeze (x, k) y = Squeeze (s, k) }"""
    assert not run_passes(text, CancelMovement()).changed


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_forms_of_other_opsets(opset):
    squeeze = "<axes = [1]> ({})" if opset < 13 else "({}, k)"
    text = f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g (float[N, 3] x) => (float[N, 3] y) <int64[1] k = {{1}}> {{
        e = Exp (x) s = Unsqueeze {squeeze.format("e")} t = Neg (s)
        y = Squeeze {squeeze.format("t")} }}"""
    result = run_passes(text, *PASSES, feeds=[{"x": numbers(2, 3)}])
    assert op_types(result.model) == ["Exp", "Neg"]
