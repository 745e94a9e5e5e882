from raising import assert_near, assert_raises, assert_stays, numbers, text
from straightline.passes import RaiseNormalizations
from tables import table

IMAGE = "(float[2, 6, 4, 5] x, float[6] s, float[6] b) => (float[2, 6, 4, 5] y)"
CONSTANTS = """<int64[3] groups = {0, 3, -1}, int64[4] image = {2, 6, 4, 5},
    int64[3] column = {6, 1, 1}, float[3] ones = {1, 1, 1}, float[3] zeros = {0, 0, 0}>"""
ROWS = "g = Reshape (x, groups) n = InstanceNormalization (g, ones, zeros) "
REST = (
    "z = Reshape (n, image) c = Reshape (s, column) f = Reshape (b, column) w = Mul (z, c) "
    "y = Add (f, w)"
)
PASS = RaiseNormalizations(without_kernel=True)


def test_groups_with_scale_and_bias():
    source = text(ROWS + REST, IMAGE, CONSTANTS, 21)
    model = assert_raises(PASS, source, ["GroupNormalization"])
    feeds = {"x": numbers(2, 6, 4, 5, shift=1), "s": numbers(6), "b": numbers(6)}
    assert_near(source, model, feeds, 1e-4)


def test_groups_without_scale_or_with_one_of_another_shape():
    plain = ROWS + "z = Reshape (n, image) y = Relu (z)"
    assert_raises(PASS, text(plain, IMAGE, CONSTANTS, 21), ["GroupNormalization", "Relu"])
    other = IMAGE.replace("float[6] s", "float[4, 1] s")
    nodes = ROWS + "z = Reshape (n, image) y = Mul (z, s)"
    assert_raises(PASS, text(nodes, other, CONSTANTS, 21), ["GroupNormalization", "Mul"])


@table(
    (ROWS + REST, 20),
    (ROWS.replace("ones, zeros", "ones, ones") + REST, 21),
    (ROWS.replace("(x, groups)", "(x, other)") + REST, 21),
)
def test_near_misses_stay(nodes, opset):
    constants = CONSTANTS[:-1] + ", int64[3] other = {4, 3, -1}>"
    assert_stays(PASS, text(nodes, IMAGE, constants, opset))


def test_an_open_batch_and_the_default_stay():
    assert_stays(RaiseNormalizations(), text(ROWS + REST, IMAGE, CONSTANTS, 21))
    signature = IMAGE.replace("[2,", "[n,")
    constants = CONSTANTS.replace("{2, 6, 4, 5}", "{-1, 6, 4, 5}")
    assert_stays(PASS, text(ROWS + REST, signature, constants, 21))
