import numpy as np
import pytest
from conversions import (
    REDUCTIONS,
    assert_becomes,
    assert_carried_everywhere,
    assert_refuses,
    assert_writes,
    convert_version,
    converted,
    model,
)
from harness import run_in_onnxruntime
from sessions import open_session
from straightline import reference
from tables import table

WITHOUT_AXES = {
    "ReduceL1": ["Abs (x)"],
    "ReduceL2": ["Mul (x, x)", "Sqrt (y_Mul)"],
    "ReduceLogSum": ["Log (x)"],
    "ReduceLogSumExp": ["Identity (x)"],
    "ReduceMax": ["Identity (x)"],
    "ReduceMean": ["Identity (x)"],
    "ReduceMin": ["Identity (x)"],
    "ReduceProd": ["Identity (x)"],
    "ReduceSumSquare": ["Mul (x, x)"],
}
"""What a reduction over no axes does, by operator."""


@pytest.mark.parametrize("op_type", ["ReduceSum", *REDUCTIONS])
def test_negative_axes_are_counted_from_the_front(op_type):
    wanted = [f"{op_type} <axes = [2, 0, 1]> (x)"]
    assert_writes(f"y = {op_type} <axes = [-2, 0, 1]> (x)", 11, 10, wanted, "float[1, 1, 1, 4] x")


# A sum of powers is never its function, which overflows.
@table(("ReduceSum", 13), *((op_type, 18) for op_type in REDUCTIONS))
def test_axes_become_an_input_and_an_attribute_again(op_type, opset):
    attribute, given = f"{op_type} <axes = [1]> (x)", f"{op_type} (x, [1])"
    assert_writes(f"y = {attribute}", opset - 1, opset, [given])
    body = f"a = Constant <value_ints = [1]> () y = {op_type} (x, a)"
    assert_writes(body, opset, opset - 1, [attribute])


@pytest.mark.parametrize(("op_type", "without"), WITHOUT_AXES.items())
def test_a_reduction_over_no_axes_is_done_element_by_element(op_type, without):
    assert_writes(f"y = {op_type} <noop_with_empty_axes = 1> (x)", 18, 17, without)
    assert_writes(f"y = {op_type} (x)", 18, 17, [f"{op_type} (x)"])


def test_a_sum_over_no_axes_gives_its_input_back():
    assert_writes("y = ReduceSum <noop_with_empty_axes = 1> (x)", 13, 12, ["Identity (x)"])
    assert_writes("y = ReduceSum (x)", 13, 12, ["ReduceSum (x)"])


def test_types_that_came_later_are_reduced_in_another_one():
    assert_becomes("""12 to 11, int8[4] x: y = ReduceMax (x) =>
        words = Cast <to = 6> (x)
        largest = ReduceMax (words)
        y = Cast <to = 3> (largest)""")
    assert_becomes("""20 to 19, bool[4] x: y = ReduceMin (x) =>
        bytes = Cast <to = 2> (x)
        least = ReduceMin (bytes)
        y = Cast <to = 9> (least)""")


@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMin"])
@pytest.mark.parametrize("type_", ["int8", "uint8"])
def test_the_extreme_of_no_bytes_is_a_limit_of_the_type(op_type, type_):
    """The limit of a wider type is another byte."""
    before = model(f"y = {op_type} <axes = [0]> (x)", 12, f"{type_}[n, 3] x", "y")
    after = convert_version(before, 11)
    for rows in (0, 1, 2):
        feeds = {"x": np.arange(3 * rows, dtype=type_).reshape(rows, 3) + np.array(125, type_)}
        (wanted,), (found,) = (reference.run(each, feeds) for each in (before, after))
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(run_in_onnxruntime(after, feeds)[0], wanted)


CHOSEN = """
    less = Less (a, 0)
    wrapped = Add (a, 2)
    places = Where (less, wrapped, a)
    column = Reshape (places, [-1, 1])
    same = Equal (column, [0, 1])
    number = Cast <to = 7> (same)
    most = ReduceMax <axes = [0], keepdims = 0> (number)
    chosen = Cast <to = 9> (most)
    """
FOUND = """
    down = ReduceMax <axes = [0], keepdims = 1> (x)
    first = Gather <axis = 0> (chosen, 0)
    columns = Where (first, down, x)
    across = ReduceMax <axes = [1], keepdims = 1> (columns)
    second = Gather <axis = 0> (chosen, 1)
    largest = Where (second, across, columns)
    """


def test_an_extreme_over_run_time_axes_is_found_axis_by_axis():
    assert_becomes(f"""18 to 17, float[2, 3] x, int64[1] a: y = ReduceMax (x, a) =>
        {CHOSEN}{FOUND}
        ends = Where (chosen, 1, {2**63 - 1})
        y = Slice (largest, [0, 0], ends)""")


def test_the_largest_is_subtracted_before_powers_are_summed():
    assert_becomes(f"""18 to 17, float[2, 3] x, int64[1] a:
        y = ReduceLogSumExp <keepdims = 0> (x, a) =>
        {CHOSEN}{FOUND}
        below = Less (largest, inf)
        above = Greater (largest, -inf)
        finite = And (below, above)
        shift = Where (finite, largest, 0.0)
        distance = Sub (x, shift)
        powers = Exp (distance)
        total = ReduceSum <keepdims = 0> (powers, places)
        log = Log (total)
        ends = Where (chosen, 1, {2**63 - 1})
        kept = Slice (shift, [0, 0], ends)
        one = Squeeze (kept, places)
        y = Add (log, one)""")


@pytest.mark.sample(2)
@pytest.mark.parametrize("op_type", ["ReduceLogSumExp", "ReduceMax", "ReduceMin", "ReduceMean"])
@pytest.mark.parametrize("axes", [[0], [-1], [1, -3], [2, 0, 1]])
@pytest.mark.parametrize("keep", [0, 1])
def test_numbers_of_axes_from_run_time(op_type, axes, keep):
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    for scale, shift in ((1, 0), (100, 3000), (1, -5000), (1e-3, 90)):
        feeds = {"x": (x * scale + shift).astype(np.float32), "a": np.array(axes)}
        for sizes in ("2, 3, 4", "A, B, C"):
            signature = f"float[{sizes}] x, int64[{len(axes)}] a"
            body, places = f"y = {op_type} <keepdims = {keep}> (x, a)", ("graph",)
            places = ("graph", "body", "function") if scale == 100 else ("graph",)
            assert_carried_everywhere(body, 18, (17, 13), feeds, signature, places, rtol=2e-6)


@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
def test_infinite_numbers_and_those_that_are_none(axes):
    inf = np.inf
    x = [[-inf, -inf, -inf], [inf, 1, -inf], [np.nan, 1, inf], [1, -inf, 2], [inf, inf, inf]]
    feeds = {"x": np.array(x, np.float32), "a": np.array(axes)}
    signature = f"float[M, N] x, int64[{len(axes)}] a"
    before = model("y = ReduceLogSumExp <keepdims = 0> (x, a)", 18, signature)
    with np.errstate(all="ignore"):
        wanted = np.log(np.sum(np.exp(feeds["x"].astype(np.float64)), tuple(axes)))
    after = convert_version(before, 17)
    (found,) = reference.run(after, feeds)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    (found,) = open_session(after).run(None, feeds)
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.sample(4)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
@pytest.mark.parametrize("known", [True, False])
def test_reductions_of_empty_tensors(shape, axes, known):
    sizes = ", ".join(map(str, shape)) if known else "M, N"
    feeds = {"x": np.zeros(shape, np.float32), "a": np.array(axes)}
    signature = f"float[{sizes}] x, int64[{len(axes)}] a"
    for op_type, neutral in (("ReduceLogSumExp", -np.inf), ("ReduceMax", -np.inf)):
        before = model(f"y = {op_type} <keepdims = 0> (x, a)", 18, signature)
        wanted = np.full(np.sum(feeds["x"], tuple(axes)).shape, neutral, np.float32)
        after = convert_version(before, 17)
        np.testing.assert_array_equal(reference.run(after, feeds)[0], wanted)
        (found,) = open_session(after).run(None, feeds)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.sample(2)
@pytest.mark.parametrize("type_", ["int64", "int32", "uint8", "double"])
@pytest.mark.parametrize("op_type", ["ReduceMax", "ReduceMin"])
def test_extremes_of_other_types(op_type, type_):
    x = np.array([[1, 0, 3], [5, 2, 127]], type_)
    for axes in ([0], [-1], [0, 1]):
        signature = f"{type_}[M, N] x, int64[{len(axes)}] a"
        feeds = {"x": x, "a": np.array(axes)}
        assert_carried_everywhere(
            f"y = {op_type} (x, a)", 18, (17, 13, 11), feeds, signature, ("graph", "branch")
        )


def test_refused_run_time_axes():
    reason = (
        "computed at run time, and opset 17 requires it constant; it depends on input 'a'; "
        "(decided by data|decide it with --set a=...).*another form: "
    )
    for op_type, signature, why in (
        ("ReduceProd", "float16[2, 3] x, int64[1] a", "floats, doubles and integers of 32 or 64"),
        ("ReduceProd", "uint64[2, 3] x, int64[1] a", "floats, doubles and integers of 32 or 64"),
        ("ReduceMax", "float[2, 3] x, int64[K] a", "how many axes there are is not known, or none"),
        ("ReduceMax", "float[] x, int64[1] a", "with run-time axes needs the rank of input 0"),
        (
            "ReduceMean",
            "float16[2, 3] x, int64[1] a",
            "a longer form for floats, doubles and integers",
        ),
        ("ReduceLogSumExp", "int64[2] x, int64[1] a", "a longer form for floats only"),
    ):
        assert_refuses(f"y = {op_type} (x, a)", 18, 17, f"{reason}.*{why}", signature)


SUMS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare", "ReduceProd", "ReduceSum")


@pytest.mark.sample(1)
@pytest.mark.parametrize("op_type", SUMS)
@pytest.mark.parametrize("axes", [[0], [-1], [1, -3], [2, 0, 1]])
@pytest.mark.parametrize("keep", [0, 1])
def test_sums_and_products_over_axes_from_run_time(op_type, axes, keep):
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    x = abs(x) if op_type == "ReduceLogSum" else x
    for sizes, place in (("2, 3, 4", "graph"), ("A, B, C", "body")):
        signature = f"float[{sizes}] x, int64[{len(axes)}] a"
        body, feeds = f"y = {op_type} <keepdims = {keep}> (x, a)", {"x": x, "a": np.array(axes)}
        targets = (17, 12, 9, 7) if place == "graph" and keep else (12, 9)
        assert_carried_everywhere(
            body,
            18,
            targets,
            feeds,
            signature,
            (place,),
            rtol=2e-6,
            sampled=op_type != "ReduceProd",
        )


@pytest.mark.sample(2)
@pytest.mark.parametrize("op_type", ["ReduceL1", "ReduceSumSquare", "ReduceProd", "ReduceSum"])
def test_sums_and_products_of_integers(op_type):
    x = np.array([[3, -2, 5], [1, 7, -4]])
    for type_, axes in (("int32", [0]), ("int64", [-1]), ("int64", [0, 1])):
        feeds = {"x": x.astype(type_), "a": np.array(axes)}
        signature = f"{type_}[M, N] x, int64[{len(axes)}] a"
        body, places = f"y = {op_type} <keepdims = 0> (x, a)", ("graph", "function")
        assert_carried_everywhere(body, 18, (17, 12, 9), feeds, signature, places)


@pytest.mark.sample(2)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("axes", [[0], [1], [0, 1]])
def test_sums_and_products_of_nothing(shape, axes):
    feeds = {"x": np.zeros(shape, np.float32), "a": np.array(axes)}
    for op_type, neutral in (("ReduceSum", 0), ("ReduceProd", 1), ("ReduceL2", 0)):
        for keep in (0, 1):
            body = f"y = {op_type} <keepdims = {keep}> (x, a)"
            before = model(body, 18, f"float[M, N] x, int64[{len(axes)}] a")
            sums = np.sum(feeds["x"], tuple(axes), keepdims=bool(keep))
            after = convert_version(before, 12)
            wanted = np.full(sums.shape, neutral, np.float32)
            np.testing.assert_array_equal(reference.run(after, feeds)[0], wanted)
            (found,) = open_session(after).run(None, feeds)
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("op_type", ["ReduceSum", "ReduceProd", "ReduceL1", "ReduceSumSquare"])
def test_sums_and_products_of_infinities_and_what_is_no_number(op_type):
    inf = np.inf
    x = [[-inf, 2, 3], [inf, 1, -inf], [np.nan, 1, inf], [1, 0, 2], [inf, inf, inf]]
    for axes in ([0], [1], [0, 1]):
        feeds = {"x": np.array(x, np.float32), "a": np.array(axes)}
        signature = f"float[M, N] x, int64[{len(axes)}] a"
        assert_carried_everywhere(f"y = {op_type} (x, a)", 18, (12,), feeds, signature, ("graph",))


def test_a_sum_over_run_time_axes_is_taken_axis_by_axis():
    found = converted("y = ReduceSum (x, a)", 13, 12, "float[2, 3] x, int64[1] a")
    assert [line for line in found if line.startswith(("Reduce", "Where", "Slice"))] == [
        "Where (y_negative, y_wrapped, a)",
        "ReduceMax <axes = [0], keepdims = 0> (y_number)",
        "ReduceSum <axes = [0], keepdims = 1> (x)",
        "Where (y_Gather, y_found, x)",
        "ReduceSum <axes = [1], keepdims = 1> (y_spread)",
        "Where (y_Gather_1, y_found_1, y_spread)",
        f"Where (y_chosen_1, 1, {2**63 - 1})",
        "Slice (y_spread_1, [0, 0], y_ends)",
    ]


@pytest.mark.parametrize(("source", "target"), [(18, 17), (18, 28)])
def test_logarithms_of_integers_are_refused(source, target):
    """No opset has a Log of integers, which the function of ReduceLogSum takes."""
    body = "y = ReduceLogSum <noop_with_empty_axes = 1> (x, a)"
    signature = "int32[2, 3] x, int64[0] a" if target == 28 else "int32[2, 3] x"
    given = "a = Constant <value = int64[0] {}> () " if target == 17 else ""
    assert_refuses(f"{given}{body}", source, target, "Log.*int32", signature)


@pytest.mark.sample(3)
@pytest.mark.parametrize("type_", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("axes", [[0], [-1], [1, 0]])
@pytest.mark.parametrize("keep", [0, 1])
def test_means_of_integers_over_axes_from_run_time(type_, axes, keep):
    """Quotients are rounded toward zero."""
    x = np.array([[-5, 3, 0], [2, -1, -9]]).astype(type_)
    if type_.startswith("u"):
        x = np.array([[5, 3, 0], [2, 1, 9]], type_)
    body = f"y = ReduceMean <keepdims = {keep}> (x, a)"
    signature = f"{type_}[A, B] x, int64[{len(axes)}] a"
    feeds = {"x": x, "a": np.array(axes)}
    targets = (17,) if type_.startswith("u") else (17, 11)
    assert_carried_everywhere(body, 18, targets, feeds, signature, ["graph"])


@table(
    ("double", np.float64, [[3.3, -1.7], [0.1, 1e-3]]),
    ("float", np.float32, [[3.3, 1], [0, -0.0]]), ("int64", np.int64, [[2**26, 1], [-3, 4]]),
    ("double", np.float64, np.zeros((2, 0))),
)  # fmt: skip
def test_a_root_of_squares_is_as_exact_as_its_type(type_, dtype, rows):
    """The function of ONNX computes the root in float, whatever the type."""
    x = np.array(rows, dtype)
    signature = f"{type_}[2, N] x, int64[K] a"
    before = model("y = ReduceL2 <keepdims = 0> (x, a)", 18, signature, f"{type_}[M] y")
    after = convert_version(before, 13)
    assert [node.op_type for node in after.graph.node][:2] == ["Mul", "ReduceSum"]
    for axes in ([1], [0], [-1]):
        feeds = {"x": x, "a": np.array(axes)}
        (one,), (other,) = reference.run(before, feeds), reference.run(after, feeds)
        np.testing.assert_array_equal(one, other)
