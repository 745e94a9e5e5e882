import numpy as np
import onnx
import pytest
from conversions import assert_carried, assert_carried_everywhere
from harness import as_model, assert_equal_outputs, assert_same_text, op_types
from straightline import convert_version
from tables import table


def test_positions_are_the_numbers_of_a_loop():
    before = onnx.parser.parse_model("""<ir_version: 4, opset_import: ["": 9]>
        g (float[N] x) => (int64[1, M] y) {
            shape = Shape (x)
            ones = ConstantOfShape <value = float[1] {1}> (shape)
            y = NonZero (ones) }""")
    after = """<ir_version: 4, opset_import: ["": 8]> g (float[N] x) => (int64[1, M] y)
        <float y_zero = {0}, bool y_go_on = {1}, float ones_value = {1}> {
            shape = Shape (x)
            ones = Expand (ones_value, shape)
            y_length = Shape (ones)
            y_carried, y_all = Loop (y_length, y_go_on, y_zero) <
                body = straightline_iteration (int64 number, bool condition, float given)
                        => (bool y_going, float y_same, int64 y_same_1) {
                    y_going = Identity (condition)
                    y_same = Identity (given)
                    y_same_1 = Identity (number) }>
            y = Unsqueeze <axes = [0]> (y_all) }"""
    converted = convert_version(before, 8, ir_version=4)
    for node in converted.graph.node:
        for each in (node, *nodes_of(node)):
            each.ClearField("name")
    assert_same_text(converted, after)


@pytest.mark.parametrize("length", [0, 1, 4])
@table(
    "z = ConstantOfShape <value = int64[1] {1}> (n)",
    "a = ConstantOfShape <value = float[1] {2}> (n) z = Cast <to = 7> (a)",
    "o = Constant <value = int64 {3}> () z = Expand (o, n)",
)
def test_positions_in_a_vector_without_zeros_are_counted(ones, length):
    fed = {"n": np.array([length], np.int64)}
    assert_carried(f"{ones} y = NonZero (z)", 9, (8,), fed, "int64[1] n")


@table(
    "z = ConstantOfShape (n)",
    "z = ConstantOfShape <value = int64[1] {0}> (n)",
    "o = Constant <value = int64 {0}> () z = Expand (o, n)",
    "z = Expand (n, n)",
    "z = Cast <to = 1> (n)",
    "z = Abs (n)",
)
def test_positions_among_what_may_be_zero_are_searched(maybe):
    for count in (0, 3):
        fed = {"n": np.array([count], np.int64)}
        assert_carried(f"{maybe} y = NonZero (z)", 9, (8,), fed, "int64[1] n")


@pytest.mark.sample(3)
@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 1, 3), (0, 2), (2, 0)])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("element", ["float", "int64", "bool"])
@pytest.mark.parametrize("fill", ["some", "all", "none"])
def test_numbers(shape, known, element, fill):
    x = np.zeros(shape) if fill == "none" else np.ones(shape) * -0.5 * (element == "float")
    x = x if fill == "none" or element == "float" else np.ones(shape)
    if fill == "some":
        x.reshape(-1)[::2] = 0
        x.reshape(-1)[1:2] = np.nan if element == "float" else 1
    sizes = ", ".join(str(n) if known else f"N{i}" for i, n in enumerate(shape))
    feeds = {"x": x.astype("float32" if element == "float" else element)}
    signature = f"{element}[{sizes}] x"
    assert_carried_everywhere("y = NonZero (x)", 9, (8, 7), feeds, signature, ["graph"])


def positions(fill, kind, steps):
    return as_model(
        f"""g (float[N] x) => (int64[1,M] y) {{
        shape = Shape (x)
        full = ConstantOfShape <value = {kind}[1] {{{fill}}}> (shape)
        {steps}
        y = NonZero (last) }}""",
        10,
    )


REPEATED = "last = Cast <to = 7> (full)"


def test_ones_are_counted():
    model = positions("1", "float", REPEATED)
    down = convert_version(model, 8)
    assert "NonZero" not in op_types(down)
    for length in (1, 4):
        assert_equal_outputs(model, down, {"x": np.zeros(length, np.float32)})


@table(
    ("0", "float", REPEATED),
    ("0.5", "float", REPEATED),  # as an integer it is zero
    ("1", "float", "scaled = Mul (full, x) last = Cast <to = 7> (scaled)"),
)
def test_values_that_may_be_zero_are_searched(fill, kind, steps):
    model = positions(fill, kind, steps)
    down = convert_version(model, 8)
    assert "ArgMax" in [n.op_type for loop in down.graph.node for n in nodes_of(loop)]
    for length in (0, 3):
        assert_equal_outputs(model, down, {"x": np.arange(length, dtype=np.float32)})


def nodes_of(node):
    return [inner for attribute in node.attribute for inner in attribute.g.node]
