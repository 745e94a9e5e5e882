import numpy as np
import onnx
import pytest
from conversions import assert_becomes, assert_carried_everywhere, converted, model
from straightline import convert_version, reference


def test_integers_are_compared_as_doubles():
    assert_becomes("""9 to 8, int8[2] x, int8[2] z: y = Less (x, z) =>
        double_x = Cast <to = 11> (x)
        double_z = Cast <to = 11> (z)
        y = Less (double_x, double_z)""")
    assert_becomes("""9 to 8, float[2] x, float[2] z: y = Greater (x, z) =>
        y = Greater (x, z)""")


def test_long_integers_are_compared_by_their_halves():
    halves = """
        {0}_high = Div ({0}, 4294967296)
        {0}_whole = Mul ({0}_high, 4294967296)
        {0}_low = Sub ({0}, {0}_whole)
        {0}_high_double = Cast <to = 11> ({0}_high)
        {0}_low_double = Cast <to = 11> ({0}_low)"""
    assert_becomes(f"""9 to 8, int64[2] x, int64[2] z: y = Less (x, z) =>
        {halves.format("x")}
        {halves.format("z").strip()}
        decided = Less (x_high_double, z_high_double)
        against = Less (z_high_double, x_high_double)
        open = Not (against)
        low = Less (x_low_double, z_low_double)
        by_low = And (open, low)
        y = Or (decided, by_low)""")


def test_beside_numbers_below_2_to_the_53rd_doubles_will_do():
    bound = "z = Constant <value = int64[2] {3, -9007199254740991}> () "
    after = """
        double = Cast <to = 11> (x)
        y = Less (double, [3.0, -9007199254740991.0])
        """
    assert_becomes(f"""9 to 8, int64[2] x: {bound} y = Less (x, z) =>
        {after}""")
    bound = "z = Constant <value = int64[2] {3, 9007199254740992}> () "
    assert len(converted(f"{bound} y = Less (x, z)", 9, 8, "int64[2] x")) > 10


NUMBERS = {
    "int64": [-(2**63), -(2**53) - 1, -(2**53), -(2**32) - 1, -(2**32), -1, 0, 1, 2**32, 2**63 - 1],
    "uint64": [0, 1, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1],
    "int32": [-(2**31), -1, 0, 1, 2**31 - 1],
    "uint8": [0, 1, 255],
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("op_type", ["Less", "Greater", "LessOrEqual", "GreaterOrEqual"])
@pytest.mark.parametrize("type_", NUMBERS)
def test_comparisons_of_all_pairs(op_type, type_):
    x = np.array(NUMBERS[type_], type_)
    feeds = {"x": x[:, None], "z": x}
    body, signature = f"y = {op_type} (x, z)", f"{type_}[M, 1] x, {type_}[N] z"
    assert_carried_everywhere(body, 13, (11, 9, 8, 7), feeds, signature)


@pytest.mark.sample(6)
@pytest.mark.parametrize("op_type", ["Less", "Greater"])
@pytest.mark.parametrize("bound", [-(2**53) + 1, 0, 2**53 - 1, 2**53, 2**63 - 1, -(2**63)])
def test_comparisons_with_a_constant(op_type, bound):
    feeds = {"x": np.array([*NUMBERS["int64"], bound], np.int64)}
    body = f"z = Constant <value = int64 {{{bound}}}> () y = {op_type} (x, z)"
    assert_carried_everywhere(body, 9, (8, 7), feeds, "int64[N] x")


def test_a_default_that_a_caller_may_override_is_no_constant():
    before = model("y = Less (x, z)", 9, "int64[2] x, int64 z")
    before.graph.initializer.append(onnx.numpy_helper.from_array(np.array(3), "z"))
    after = convert_version(before, 8, ir_version=8)
    x = np.array([2**53, 2**53 + 1])
    assert reference.run(after, {"x": x, "z": np.array(2**53 + 1)})[0].tolist() == [True, False]


@pytest.mark.parametrize("shape", [(0,), (2, 0)])
def test_comparisons_of_empty_tensors(shape):
    feeds = {"x": np.zeros(shape, np.int64), "z": np.zeros(shape, np.int64)}
    sizes = ", ".join("MN"[: len(shape)])
    assert_carried_everywhere(
        "y = Less (x, z)", 9, (8, 7), feeds, f"int64[{sizes}] x, int64[{sizes}] z"
    )


@pytest.mark.parametrize("op_type", ["Less", "Greater"])
@pytest.mark.parametrize("type_", ["int8", "uint8", "int16", "uint16", "int32", "uint32"])
def test_comparisons_of_integers_by_way_of_doubles(op_type, type_):
    found = converted(f"y = {op_type} (x, x)", 9, 8, f"{type_}[2] x")
    assert found == ["Cast <to = 11> (x)"] * 2 + [f"{op_type} (y_cast, y_cast_1)"]
