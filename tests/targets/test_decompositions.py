import numpy as np
import pytest
from harness import as_model, run_in_onnxruntime
from straightline import reference, transform
from straightline.targets import Form, decompositions
from straightline.targets.forms import DECOMPOSITIONS
from tables import table

from targets import fitted, lacking, one_node, operators

X = np.array([[1.5, -0.0, np.inf, 4.0], [np.nan, 2.0, -3.0, 0.25]], np.float32)
IMAGE = np.arange(2 * 8 * 4 * 4, dtype=np.float32).reshape(2, 8, 4, 4)
T = X > 1

CASES = {
    "CastLike": ("y = CastLike (x, t)", "float[2, 4] x, int64[n] t", {"t": np.zeros(1, np.int64)}),
    "Size": ("y = Size (x)", "float[n, 4] x", {}),
    "Identity": ("y = Identity (x)", "float[n, 4] x", {}),
    "Reciprocal": ("y = Reciprocal (x)", "float[2, 4] x", {}),
    "BitwiseNot": ("y = BitwiseNot (b)", "int16[3] b", {"b": np.array([0, -1, 7], np.int16)}),
    "Dropout": ("y = Dropout (x)", "float[2, 4] x", {}),
    "LpNormalization": ("y = LpNormalization <axis = 0, p = 1> (z)", "float[2, 4] z",
     {"z": X * np.float32([1, 1, 1, 0])}),
    "Range": ("s = Constant <value = int64 {-3}> () y = Range (a, b, s)", "int64 a, int64 b",
     {"a": np.array(7), "b": np.array(-1)}),
    "Xor": ("y = Xor (t, u)", "bool[2, 4] t, bool[4] u", {"t": T, "u": T[0]}),
    "Less": ("y = Less (x, k)", "float[2, 4] x, float[4] k", {"k": X[1]}),
    "Greater": ("y = Greater (x, k)", "float[2, 4] x, float[4] k", {"k": X[1]}),
    "InstanceNormalization": (
        "y = InstanceNormalization <epsilon = 0.1> (i, s, s)",
        "float[2, 8, 4, 4] i, float[8] s",
        {"i": IMAGE, "s": IMAGE[0, :, 0, 0].copy()},
    ),
    "GlobalMaxPool": ("y = GlobalMaxPool (i)", "float[2, 8, 4, 4] i", {"i": IMAGE}),
    "Split": ("y, z = Split <axis = 1> (x, s)", "float[2, 4] x", {}),
    "Compress": ("k = Constant <value = bool[3] {0, 1, 1}> () y = Compress <axis = 1> (x, k)",
     "float[n, 4] x", {}),
    "DepthToSpace": ("y = DepthToSpace <blocksize = 2> (i)", "float[2, 8, 4, 4] i", {"i": IMAGE}),
    "Flatten": ("y = Flatten <axis = 2> (x)", "float[2, 4] x", {}),
    "NonZero": ("y = NonZero (r)", "float[a, b] r",
     {"r": np.array([[0, np.nan, -0.0, 3], [2, 0, 1, 0]], np.float32)}),
    "ReduceL1": ("y = ReduceL1 <keepdims = 0> (x)", "float[n, 4] x", {}),
    "ReduceLogSum": ("y = ReduceLogSum (r)", "double[n, 4] r", {"r": np.abs(X[:1]).astype(float)}),
    "ReverseSequence": ("y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, l)",
     "float[a, b] x, int64[a] l", {"l": np.array([3, 2])}),
    "ScatterElements": ("y = ScatterElements <axis = 1> (x, p, u)",
     "float[a, 4] x, int64[b, c] p, float[b, c] u", {"p": np.array([[-1, 0, 2]]), "u": X[:1, :3]}),
    "SpaceToDepth": ("y = SpaceToDepth <blocksize = 2> (i)", "float[n, 8, 4, 4] i",
     {"i": IMAGE})}  # fmt: skip


def text_of(name, opset):
    node, inputs, _ = CASES[name]
    if name != "Split":
        return one_node(node, inputs, opset)
    if opset >= 13:
        return one_node("s = Constant <value_ints = [1, 3]> () " + node, inputs, opset, "y, z")
    return one_node("y, z = Split <axis = 1, split = [1, 3]> (x)", inputs, opset, "y, z")


@pytest.mark.sample(32)
@pytest.mark.parametrize("opset", [9, 17, 21])
@pytest.mark.parametrize("name", sorted(CASES))
def test_a_spelling_is_exact_in_old_opsets_and_new_ones(name, opset):
    if opset < {
        "CastLike": 15,
        "BitwiseNot": 18,
        "Compress": 11,
        "LpNormalization": 11,
        "NonZero": 11,
        "Range": 11,
        "ReverseSequence": 10,
        "ScatterElements": 11,
    }.get(name, 1):
        pytest.skip("it came later")
    _, inputs, given = CASES[name]
    feed = {"x": X, **given} if " x" in inputs else given
    outcome = fitted(text_of(name, opset), lacking(name, opsets=(opset, opset)), feed, passes=())
    assert name not in operators(outcome) and not outcome.untaken


def test_a_split_into_some_parts_names_their_lengths():
    """tinygrad has the longer parts first."""
    text = one_node("y, z, w = Split <num_outputs = 3> (x)", "float[7] x", 18, "y, z, w")
    target = lacking(forms={"Split": (Form(unwritten=("num_outputs",)),)})
    outcome = fitted(text, target, {"x": np.arange(7, dtype=np.float32)}, passes=())
    (node,) = outcome.ir.graph.nodes_of("Split")
    assert node.inputs[1].constant.numpy().tolist() == [3, 3, 1] and not outcome.untaken


def test_compress_without_an_axis_picks_elements():
    text = one_node(
        "k = Constant <value = bool[7] {0,1,1,0,0,0,1}> () y = Compress (x, k)", "float[n, 4] x"
    )
    outcome = fitted(text, lacking("Compress"), {"x": X}, {"x": X[:, ::-1].copy()}, passes=())
    assert operators(outcome) == ["Gather", "Reshape"]


@table(
    ("y = Compress <axis = -1> (x, k)", "float[n, m] x, bool[m] k", (4,)),
    ("y = Compress (x, k)", "float[2, 4] x, bool[8] k", (8,)),
)
def test_compress_by_a_computed_condition_gathers_its_places(node, inputs, shape):
    """tinygrad fails where none is chosen."""
    chosen = np.arange(np.prod(shape)).reshape(shape) % 3 == 1
    feeds = [{"x": X, "k": k} for k in (chosen, ~chosen, chosen & ~chosen)]
    outcome = fitted(one_node(node, inputs), lacking("Compress"), *feeds, passes=())
    assert {"Gather", "NonZero", "Reshape"} == set(operators(outcome))
    longer = np.concatenate([chosen, [True]])
    feeds = [{"x": X, "k": k} for k in (longer, longer[:2])]
    text = one_node(node, inputs.replace("m] k", "l] k").replace("8] k", "l] k"))
    model = fitted(text, lacking("Compress"), passes=()).model
    for feed in feeds:
        pair = [run_in_onnxruntime(each, feed)[0] for each in (model, as_model(text))]
        np.testing.assert_array_equal(*pair)


@pytest.mark.parametrize("opset", [13, 21])
@table(
    ([0, -1, 0, -2], None, ["Slice"]),
    ([1, -1, -1, 2], None, ["Pad", "Slice"]),
    ([-3, 1], [1], ["Pad", "Slice"]),
)
def test_negative_pads_are_a_slice(pads, axes, left, opset):
    """IREE adds up both ends, or refuses."""
    if axes and opset < 18:
        pytest.skip("axes came later")
    node = f"p = Constant <value_ints = {pads}> () y = Pad (x, p)"
    if axes:
        node = f"a = Constant <value_ints = {axes}> () " + node.replace("(x, p)", "(x, p, , a)")
    target = lacking("Abs", forms={"Pad": (Form(nonnegative=("pads",)),)})
    outcome = fitted(one_node(node, "float[n, 4] x", opset), target, {"x": X}, passes=())
    assert [name for name in operators(outcome) if name != "Constant"] == left
    assert not outcome.untaken


@pytest.mark.parametrize("pads", [[0, -1, 1, 0], [1, 0, 0, -2], [0, 0, 0, 0], [-1, -1, -1, 2]])
@pytest.mark.parametrize(("opset", "axes"), [(13, None), (18, [1, 0]), (18, None)])
def test_computed_pads_may_be_negative(pads, axes, opset):
    """A crop of a U-Net, for sizes that run time decides."""
    node = "y = Pad (x, p)" if axes is None else "y = Pad (x, p, , a)"
    node = f"a = Constant <value_ints = {axes}> () {node}" if axes else node
    text = one_node(node, "float[n, 4] x, int64[4] p", opset)
    target = lacking("Abs", forms={"Pad": (Form(nonnegative=("pads",)),)})
    outcome = fitted(text, target, {"x": X, "p": np.array(pads)}, passes=())
    assert {"Max", "Slice", "Pad"} <= set(operators(outcome)) and not outcome.untaken


@table(
    ("y = Pad (x, p, v)", ["Equal", "Expand", "Pad", "Where"]),
    ("y = Pad (x, p, z)", ["Pad"]),
    ("y = Pad (x, p, v, a)", ["Equal", "Expand", "Pad", "Where"]),
)
def test_a_computed_number_is_chosen_where_zeros_were_added(node, expected):
    """OpenVINO pads with 0 in its place."""
    constants = "z = Constant <value = float {0}> () a = Constant <value_ints = [1, 0]> () "
    constants += "p = Constant <value_ints = [1, 0, 2, 1]> () "
    text = one_node(constants + node, "float[n, 4] x, float v", opset=18)
    target = lacking(forms={"Pad": (Form(absent=("constant_value",)),)}, opsets=(18, 18))
    outcome = fitted(text, target, {"x": X[:, :4], "v": np.array(-2, np.float32)}, passes=())
    kept = [name for name in operators(outcome) if name not in ("Constant", "Shape")]
    assert kept == expected and not outcome.untaken


def test_a_slice_in_reverse_becomes_a_gather():
    """MNN crashes on steps of -1 along four axes."""
    constants = "s = Constant <value_ints = [-1, 0]> () e = Constant <value_ints = [-99, 3]> () "
    constants += "a = Constant <value_ints = [1, 0]> () d = Constant <value_ints = [-2, 1]> () "
    text = one_node(constants + "y = Slice (x, s, e, a, d)", "float[2, 4] x")
    target = lacking(forms={"Slice": (Form(nonnegative=("steps",)),)})
    outcome = fitted(text, target, {"x": X}, passes=())
    assert "Slice" not in operators(outcome) and not outcome.untaken


def test_pads_that_reflect_stay():
    node = 'p = Constant <value_ints = [0, -1, 0, 1]> () y = Pad <mode = "reflect"> (x, p)'
    target = lacking("Abs", forms={"Pad": (Form(nonnegative=("pads",)),)})
    (remark,) = fitted(one_node(node, "float[2, 4] x"), target, passes=()).untaken
    assert "without negative numbers in 'pads'" in str(remark.reason)


@pytest.mark.parametrize("steps", ["", ", , d"])
def test_a_slice_without_axes_gets_them(steps):
    text = one_node(
        "a = Constant <value = int64[1] {0}> () b = Constant <value = int64[1] {2}> ()"
        f" d = Constant <value = int64[1] {{2}}> () e = Neg (d) y = Slice (x, a, b{steps})",
        "float[n, 4] x",
        outputs="y, e",
    )
    target = lacking(forms={"Slice": (Form(present=("axes",)),)})
    outcome = fitted(text, target, {"x": X}, {"x": X[:1]}, passes=())
    assert outcome.changed and not outcome.untaken
    # Where axes are an attribute, none are missing.
    text = one_node("y = Slice <starts = [0], ends = [1]> (x)", "float[n, 4] x", 9)
    assert not fitted(text, lacking(opsets=(7, 13), forms=target.forms), passes=()).changed


def test_a_constant_is_no_node():
    text = one_node("k = Constant <value = float[2] {1., 2.}> () y = Add (k, k)", "float[2] x")
    outcome = fitted(text, lacking("Constant"), {"x": X[0, :2]}, passes=())
    assert "Constant" not in operators(outcome)


@pytest.mark.sample(4)
@pytest.mark.parametrize("ends", [(0, 5), (5, 0), (3, 3), (-2, 6), (6, -2)])
@pytest.mark.parametrize("step", [1, 3, -1, -4])
def test_a_range_is_counted(ends, step):
    node = f"s = Constant <value = int32 {{{step}}}> () y = Range (a, b, s)"
    feed = {name: np.array(end, np.int32) for name, end in zip("ab", ends, strict=True)}
    outcome = fitted(one_node(node, "int32 a, int32 b"), lacking("Range"), feed)
    assert "Range" not in operators(outcome)


def test_each_mode_of_depth_to_space_is_said():
    node = 'y = DepthToSpace <blocksize = 2, mode = "CRD"> (i)'
    fitted(one_node(node, "float[2, 8, 4, 4] i"), lacking("DepthToSpace"), {"i": IMAGE})


@table(
    ("DepthToSpace", "y = DepthToSpace <blocksize = 2> (i)", "float[2, 8, a, b] i", "the shape"),
    ("Dropout", "y = Dropout (x, r, t)", "float[4] x, float r, bool t", "it may be in training"),
    ("Dropout", "y, z = Dropout (x)", "float[4] x", "its mask is used"),
    ("ReduceLogSum", "y = ReduceLogSum (x)", "int64[4] x", "does not support integers"),
    ("Range", "y = Range (a, b, c)", "float a, float b, float c", "the step of it is computed"),
    ("Identity", "s = SequenceConstruct (x) y = Identity (s)", "float[4] x", "a sequence"),
)
def test_unknown_facts_keep_the_operator(name, node, inputs, reason):
    model = one_node(node, inputs, outputs="y, z" if "z =" in node else "y")
    (left,) = transform(model, (), target=lacking(name, "Loop"), verify=False).untaken
    assert reason in left.reason


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("is_known", [True, False])
def test_elements_are_scattered_by_tuples(rows, is_known):
    rng = np.random.default_rng(1)
    shape = f"{rows}, 3" if is_known else "rows, columns"
    places = np.argsort(rng.random((rows, 4)))[:, :3] - 2  # some count from the back
    node = 'y = ScatterElements <axis = -1, reduction = "add"> (x, p, u)'
    text = one_node(node, f"float[5, 4] x, int32[{shape}] p, float[{shape}] u")
    updates = rng.random((rows, 3)).astype(np.float32)
    feed = {"x": np.ones((5, 4), np.float32), "p": places.astype(np.int32), "u": updates}
    assert "ScatterND" in operators(fitted(text, lacking("ScatterElements"), feed))


IN_A_ROW = {
    "Gather": (
        "k = Constant <value = int64[2, 2] {0, -1, 2, 0}> () y = Gather <axis = 1> (x, k)",
        "indices",
    ),
    "Unsqueeze": ("k = Constant <value_int = -1> () y = Unsqueeze (x, k)", "axes"),
}


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("name", sorted(IN_A_ROW))
def test_an_input_of_another_rank_is_put_in_a_row(name, opset):
    node, what = IN_A_ROW[name]
    target = lacking(forms={name: (Form(ranks={what: (1,)}),)})
    model = one_node(node, "float[n, 4] x", opset)
    outcome = fitted(model, target, {"x": X}, {"x": X[:0]}, passes=())
    assert name in operators(outcome) and not outcome.untaken
    assert not fitted(model, lacking(), passes=()).changed


@pytest.mark.parametrize("opset", [13, 17])
@table(((4,), (4, 3)), ((2, 4), (4,)), ((4,), (4,)), ((4,), (5, 4, 3)), ((2, 5, 4), (4,)))
def test_a_vector_is_multiplied_as_a_matrix(a, b, opset):
    numbers = np.random.default_rng(0)
    feed = {name: numbers.random(shape, np.float32) for name, shape in (("a", a), ("b", b))}
    node = one_node("y = MatMul (a, b)", f"float{list(a)} a, float{list(b)} b", opset)
    form = Form(ranks={"A": (2, 3), "B": (2, 3)})
    outcome = fitted(node, lacking(forms={"MatMul": (form,)}), feed, passes=())
    assert "MatMul" in operators(outcome) and not outcome.untaken
    assert not fitted(node, lacking(), passes=()).changed


@pytest.mark.parametrize("batch", ["2", "n"])
@pytest.mark.parametrize(("name", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_absent_states_are_zeros(name, gates, batch):
    """tract 0.23.9 refuses an LSTM without initial states over a batch of more than one."""
    numbers = np.random.default_rng(0)
    shapes = {"x": (3, 2, 3), "w": (1, gates * 4, 3), "r": (1, gates * 4, 4)}
    feed = {key: numbers.random(shape, np.float32) for key, shape in shapes.items()}
    inputs = f"float[t, {batch}, 3] x, float[1, {gates * 4}, 3] w, float[1, {gates * 4}, 4] r"
    node = one_node(f"y, h = {name} <hidden_size = 4> (x, w, r)", inputs, outputs="y, h")
    states = ("initial_h", "initial_c") if name == "LSTM" else ("initial_h",)
    outcome = fitted(node, lacking(forms={name: (Form(present=states),)}), feed, passes=())
    assert name in operators(outcome) and not outcome.untaken


def test_a_shape_that_is_not_known_leaves_indices_as_they_are():
    target = lacking(forms={"Gather": (Form(ranks={"indices": (0, 1)}),)})
    node = one_node("y = Gather (x, i)", "float[4] x, int64[a, b] i")
    (left,) = transform(node, (), target=target, verify=False).untaken
    assert "with 'indices' of rank 0 or 1, not 2; the shape of what it gathers" in left.reason


@table(("", []), ("[2, 3]", [2, 3]), ("[0]", [0]))
def test_identity_of_known_sizes_is_one_reshape(shape, sizes):
    before = one_node("y = Identity (x)", f"float{shape} x")
    feed = {"x": np.ones(sizes, np.float32)}
    assert operators(fitted(before, "ncnn", feed)) == ["Reshape"]


def test_zeros_of_a_computed_shape_copy_sizes():
    """In a branch the shape is no constant yet."""
    text = """<ir_version: 8, opset_import: ["": 17]> g (float[2, 3] x, bool c) => (float[2, 3] y)
        <int64[1] z = {0}, int64[1] o = {1}> { f = Shape (x)  h = Slice (f, z, o)  s = Concat
        <axis = 0> (h, z)  y = If (c) <then_branch = t () => (float[2, 3] u)
        { u = Reshape (x, s) }, else_branch = e () => (float[2, 3] v) { v = Abs (x) }> }"""
    feed = {"x": np.ones([2, 3], np.float32), "c": np.array(True)}
    assert "Slice" not in operators(fitted(text, "ncnn", feed))


@table(
    ("2, 4", "4, 2", ["Reshape"]),
    ("n, 4", "2, -1", ["Reshape"]),
    ("0, 4", "0, 2", ["Reshape"]),
    ("n, 4", "0, 2", ["Concat", "Reshape", "Slice"]),
)
def test_a_shape_of_known_zeros_needs_no_allowzero(shape, target, left):
    node = f"s = Constant <value_ints = [{target}]> () y = Reshape <allowzero = 1> (x, s)"
    target = lacking(forms={"Reshape": (Form(attributes={"allowzero": (0,)}),)})
    feeds = [] if "Slice" in left else [{"x": np.ones([0 if "0" in shape else 2, 4], np.float32)}]
    outcome = fitted(one_node(node, f"float[{shape}] x"), target, *feeds, passes=())
    assert set(left) == set(operators(outcome)) - {"Constant"} and not outcome.untaken


def test_every_spelling_is_tested():
    own = (form for name, forms in DECOMPOSITIONS.items() for form in forms if "." not in name)
    here = {form for form in own if form.__module__ == decompositions.__name__}
    tested = {*CASES, *IN_A_ROW, *("Constant", "GRU", "LSTM", "Pad", "Reshape", "RNN", "Slice")}
    names = {name for name, forms in DECOMPOSITIONS.items() if here.intersection(forms)}
    assert names - {"BitwiseNot", "CastLike", "ReverseSequence"} <= {*tested, "Softplus"}


@pytest.mark.parametrize("dtype", ["float", "double"])
def test_a_softplus_neither_overflows_nor_loses_what_is_small(dtype):
    numbers = np.array([[-100, -20, -1e-3, 0, 1e-6], [1, 20, 100, 3e38, np.inf]])
    x = numbers.astype({"float": np.float32, "double": np.float64}[dtype])
    text = one_node("y = Softplus (x)", f"{dtype}[2, 5] x")
    outcome = fitted(text, lacking("Softplus"), {"x": x})
    assert "Softplus" not in operators(outcome)
    (wanted,), (got,) = (reference.run(m, {"x": x}) for m in (text, outcome.model))
    np.testing.assert_allclose(got, wanted, rtol=4 * np.finfo(x.dtype).eps, atol=1e-37)
    (got,) = reference.run(outcome.model, {"x": np.full((2, 5), np.nan, x.dtype)})
    assert np.isnan(got).all()
    without = fitted(text, lacking("Softplus", "Abs", "Where", "Greater", "Less"))
    assert operators(without) == ["Softplus"]  # the definition overflows


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_a_matrix_is_a_reshape(axis):
    text = one_node(
        f"y = Flatten <axis = {axis}> (x)", "float[n, 4] x" if axis else "float[2, 4] x"
    )
    outcome = fitted(text, lacking("Flatten"), {"x": X}, passes=())
    assert operators(outcome) == ["Reshape"] and not outcome.untaken
