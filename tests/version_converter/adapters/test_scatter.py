import numpy as np
import pytest
from conversions import (
    assert_becomes,
    assert_carried,
    assert_carried_everywhere,
    assert_refuses,
    assert_writes,
    model,
    written,
)
from sessions import open_session
from straightline import convert_version, ir
from straightline.version_converter.engine import Engine


def test_scatter_has_another_name_before_opset_11():
    signature = "float[3, 3] x, int64[1, 3] i, float[1, 3] u"
    old, new = "Scatter <axis = 1> (x, i, u)", "ScatterElements <axis = 1> (x, i, u)"
    assert_writes(f"y = {old}", 10, 11, [new], signature)
    assert_writes(f"y = {new}", 11, 10, [old], signature)


@pytest.mark.parametrize(("op_type", "indices"), [("ScatterElements", "i"), ("ScatterND", "j")])
@pytest.mark.parametrize("reduction", ["add", "mul"])
def test_reductions_that_opset_17_has(op_type, indices, reduction):
    body = f'y = {op_type} <reduction = "{reduction}"> (x, {indices}, x)'
    signature = "float[2, 3] x, int64[2, 3] i, int64[2, 1] j"
    wanted = [f"{op_type} <reduction = {reduction}> (x, {indices}, x)"]
    assert_writes(body, 18, 17, wanted, signature)


def test_elements_of_distinct_places_are_read_joined_and_written():
    signature = "float[3, 4] x, float[1, 4] u"
    assert_becomes(f"""16 to 15, {signature}:
        i = Constant <value = int64[1, 4] {{0, 2, 2, 1}}> ()
        y = ScatterElements <reduction = "add"> (x, i, u) =>
        i = Constant <value = [[0, 2, 2, 1]]> ()
        old = GatherElements <axis = 0> (x, i)
        new = Add (old, u)
        y = ScatterElements <axis = 0> (x, i, new)""")
    assert_becomes("""18 to 17, float[3, 4] x, float[2, 4] u:
        j = Constant <value = int64[2, 1] {2, 0}> ()
        y = ScatterND <reduction = "max"> (x, j, u) =>
        j = Constant <value = [[2], [0]]> ()
        old = GatherND (x, j)
        larger = Greater (old, u)
        new = Where (larger, old, u)
        y = ScatterND (x, j, new)""")


def test_others_one_after_the_other():
    body = 'y = ScatterElements <axis = 1, reduction = "mul"> (x, i, u)'
    loaded = ir.load(model(body, 16, "float[3, 4] x, int64[3, 2] i, float[3, 2] u"))
    Engine(loaded).convert(loaded, 15)
    after = ir.to_proto(loaded).graph
    assert written(after)[:2] == ["Shape (i)", "Gather <axis = 0> (y_shape, 1)"]
    (iteration,) = [a.g for a in after.node[-1].attribute if a.name == "body"]
    assert [line.partition(" (")[0] for line in written(iteration)] == [
        "Identity",
        "Reshape",
        "Gather <axis = 1>",
        "Gather <axis = 1>",
        "GatherElements <axis = 1>",
        "Mul",
        "ScatterElements <axis = 1>",
    ]


@pytest.mark.sample(1)
@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("sizes", [("5, 3", "2, 3"), ("M, N", "K, L")])
def test_numbers_of_elements(reduction, axis, sizes):
    draw = np.random.default_rng(0)
    x, u = (draw.normal(size=shape).astype(np.float32) for shape in ((5, 3), (2, 3)))
    i = np.array([[0, -1, 0], [-3, 2, 0]])
    own, others = sizes
    signature = f"float[{own}] x, int64[{others}] i, float[{others}] u"
    body = f'y = ScatterElements <axis = {axis}, reduction = "{reduction}"> (x, i, u)'
    lowest = (15, 13, 11, 10, 9) if own == "5, 3" else (15, 13, 11)
    assert_carried_everywhere(body, 18, lowest, {"x": x, "i": i, "u": u}, signature)
    integers = {"x": (x * 9).astype(np.int64), "i": i, "u": (u * 9).astype(np.int64)}
    signature = signature.replace("float", "int64")
    assert_carried_everywhere(body, 18, lowest, integers, signature, ("graph", "body"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("reduction", ["add", "mul", "max", "min"])
@pytest.mark.parametrize("shape", [(6, 1), (2, 3, 1), (4, 2), (2, 1, 2)])
@pytest.mark.parametrize("known", [True, False])
def test_numbers_of_slices(reduction, shape, known):
    draw = np.random.default_rng(0)
    i = draw.integers(-2, 2, shape)
    rest = (3, 4)[shape[-1] - 1 :]
    x = draw.normal(size=(2, *rest) if shape[-1] == 1 else (2, 3, *rest[1:])).astype(np.float32)
    u = draw.normal(size=(*shape[:-1], *x.shape[shape[-1] :])).astype(np.float32)
    letters = iter("ABCDEFGHIJ")

    def sizes(array, last=0):
        kept = array.shape[array.ndim - last :]
        names = [n if known else next(letters) for n in array.shape[: array.ndim - last]]
        return ", ".join(map(str, (*names, *kept)))

    signature = f"float[{sizes(x)}] x, int64[{sizes(i, 1)}] i, float[{sizes(u)}] u"
    body = f'y = ScatterND <reduction = "{reduction}"> (x, i, u)'
    targets = (15, 14, 13, 11, 10, 9)
    feeds = {"x": x, "i": i, "u": u}
    assert_carried_everywhere(body, 18, targets, feeds, signature)


@pytest.mark.parametrize("op_type", ["ScatterElements", "ScatterND"])
def test_no_updates_leave_the_data(op_type):
    last = ", 1" if op_type == "ScatterND" else ""
    feeds = {"x": np.array([1, 2], np.float32), "u": np.zeros(0, np.float32)}
    feeds["i"] = np.zeros((0, 1) if last else 0, np.int64)
    signature = f"float[N] x, int64[K{last}] i, float[K] u"
    body = f'y = {op_type} <reduction = "add"> (x, i, u)'
    assert_carried_everywhere(body, 16, (15, 11), feeds, signature)


@pytest.mark.sample(1)
@pytest.mark.parametrize("reduction", ["add", "max"])
@pytest.mark.parametrize(
    "sizes", [(3, 2, 2, 2), (3, 2, 1, 1), (3, 2, 0, 2), (3, 0, 2, 2), (0, 2, 2, 0)]
)
def test_rows_of_slices_whose_lengths_run_time_tells(reduction, sizes):
    """Where none, one or many of them are reduced, and where they are empty."""
    rows, width, *many = sizes
    draw = np.random.default_rng(0)
    feeds = {
        "x": draw.normal(size=(rows, width)).astype(np.float32),
        "i": draw.integers(-rows, max(rows, 1), (*many, 1)),
        "u": draw.normal(size=(*many, width)).astype(np.float32),
    }
    signature = "float[A, B] x, int64[K, L, 1] i, float[K, L, B] u"
    body = f'y = ScatterND <reduction = "{reduction}"> (x, i, u)'
    targets = (15, 13, 11, 10, 9)
    assert_carried_everywhere(body, 18, targets, feeds, signature)


def test_nans_are_joined_like_in_onnxruntime():
    x = np.array([1, np.nan, np.inf, -0.0], np.float32)
    feeds = {"x": x, "i": np.array([0, 0, 1, 2, 3]), "u": np.array([np.nan, 2, 7, np.nan, 0], "f4")}
    signature = "float[4] x, int64[5] i, float[5] u"
    for reduction in ("max", "min", "add", "mul"):
        before = model(f'y = ScatterElements <reduction = "{reduction}"> (x, i, u)', 18, signature)
        runs = [
            open_session(proto).run(None, feeds)[0]
            for proto in (before, convert_version(before, 15))
        ]
        np.testing.assert_array_equal(*runs)


def test_sums_are_rounded_in_the_order_of_the_updates():
    u = np.array([1e8, 1, -1e8, 1, 1e-8], np.float32)
    feeds = {"x": np.zeros(1, np.float32), "i": np.zeros(5, np.int64), "u": u}
    signature = "float[1] x, int64[5] i, float[5] u"
    body = 'y = ScatterElements <reduction = "add"> (x, i, u)'
    assert_carried_everywhere(body, 16, (15, 11), feeds, signature)


def test_reductions_that_are_refused():
    signature = "{0}[3] x, int64[K, D] i, {0}[K] u"
    reason = "reduction = 'max' does not exist in opset 17 .another form: "
    body = 'y = {} <reduction = "{}"> (x, {}, u)'
    for type_ in ("bool", "string"):
        why = f"{reason}Greater does not support elements of its type"
        given = f"{type_}[3] x, int64[K] i, {type_}[K] u"
        assert_refuses(body.format("ScatterElements", "max", "i"), 18, 17, why, given)
    why = f"{reason}flat indices need the length of the last axis of input 1"
    assert_refuses(body.format("ScatterND", "max", "i"), 18, 17, why, signature.format("float"))
    why = f"{reason}a reduction needs the rank of input 0"
    given = "float[] x, int64[K] i, float[K] u"
    assert_refuses(body.format("ScatterElements", "max", "i"), 18, 17, why, given)


@pytest.mark.parametrize("sizes", ["3, 4, 5", "A, B, C"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_below_opset_11_slices_are_scattered_as_elements(sizes, depth):
    x = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    places = np.stack([[0, -1], [1, -2], [-3, 2]][:depth], -1)
    updates = -np.arange(1, 1 + 2 * np.prod(x.shape[depth:]), dtype=np.float32)
    updates = updates.reshape(2, *x.shape[depth:])
    rest = "".join(f", {size}" for size in x.shape[depth:])
    signature = f"float[{sizes}] x, int64[2, {depth}] i, float[2{rest}] u"
    feeds = {"x": x, "i": places, "u": updates}
    assert_carried("y = ScatterND (x, i, u)", 13, (10, 9), feeds, signature)


def test_below_opset_9_elements_are_gathered_from_the_data_or_the_updates():
    assert_becomes("""9 to 8, float[2, 3] x, float[1, 2] u:
        i = Constant <value = int64[1, 2] {1, 0}> () y = Scatter <axis = 1> (x, i, u) =>
        old = Reshape (x, [-1])
        new = Reshape (u, [-1])
        both = Concat <axis = 0> (old, new)
        y = Gather <axis = 0> (both, [[7, 6, 2], [3, 4, 5]])""")


@pytest.mark.sample(5)
@pytest.mark.parametrize("type_", ["float", "int64", "bool"])
@pytest.mark.parametrize(
    ("axis", "indices"),
    [(0, [[1, 0, 1]]), (0, [[1], [-2]]), (1, [[2, 0], [1, 2]]), (-1, [[2]]), (1, np.zeros((0, 2)))],
)
def test_constant_indices_below_opset_9(type_, axis, indices):
    indices = np.array(indices, np.int64)
    dtype = np.dtype(type_.replace("float", "float32"))
    x = np.arange(6).reshape(2, 3).astype(dtype)
    u = (np.arange(indices.size).reshape(indices.shape) + 7).astype(dtype)
    rows, columns = indices.shape
    values = ", ".join(map(str, indices.flat))
    body = (
        f"i = Constant <value = int64[{rows}, {columns}] {{{values}}}> ()"
        f" y = ScatterElements <axis = {axis}> (x, i, u)"
    )
    signature = f"{type_}[2, 3] x, {type_}[{rows}, {columns}] u"
    assert_carried_everywhere(body, 13, (8, 7), {"x": x, "u": u}, signature)


def test_constant_places_of_slices_below_opset_9():
    body = "i = Constant <value = int64[2, 1] {1, 0}> () y = ScatterND (x, i, u)"
    x, u = np.zeros((3, 2), np.float32), np.array([[1, np.nan], [3, 4]], np.float32)
    signature = "float[3, 2] x, float[2, 2] u"
    assert_carried_everywhere(body, 13, (8, 7), {"x": x, "u": u}, signature, ("graph", "body"))


@pytest.mark.sample(2)
@pytest.mark.parametrize("sizes", ["2, 3", "A, B"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("element", ["float", "int32", "bool"])
def test_run_time_indices_below_opset_9(sizes, axis, element):
    """The last update of an element stays."""
    x = np.array([[1, 0, 3], [4, 5, 0]], "float32" if element == "float" else element)
    i = np.array([[1, 0], [-1, 0]]) if axis == 0 else np.array([[2, 2], [-1, 0]])
    u = np.array([[7, 0], [0, 9]], x.dtype)
    signature = f"{element}[{sizes}] x, int64[K, L] i, {element}[K, L] u"
    body = f"y = ScatterElements <axis = {axis}> (x, i, u)"
    assert_carried_everywhere(body, 11, (9, 8, 7), {"x": x, "i": i, "u": u}, signature, ["graph"])


@pytest.mark.parametrize("shape", [(0, 3), (2, 0), (2, 3)])
def test_no_update_below_opset_9(shape):
    feeds = {"x": np.ones(shape, np.float32), "i": np.zeros((0, shape[1]), np.int64)}
    feeds["u"] = feeds["i"].astype(np.float32)
    signature = "float[A, B] x, int64[K, L] i, float[K, L] u"
    after = convert_version(model("y = Scatter (x, i, u)", 9, signature), 8)
    np.testing.assert_array_equal(open_session(after).run(None, feeds)[0], feeds["x"])
