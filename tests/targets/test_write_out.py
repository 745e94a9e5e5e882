import numpy as np
from straightline.targets import Form
from tables import table

from targets import fitted, lacking, one_node

X = np.linspace(-3, 3, 8, dtype=np.float32)


def reads(outcome, name):
    """The producers of the operands of a node."""
    (node,) = outcome.ir.graph.nodes_of(name)
    return [value.producer and value.producer.op_type for value in node.inputs]


def test_operands_of_a_sum_are_swapped():
    """MNN makes an approximate Gelu of Erf before Add."""
    text = one_node("k = Constant <value = float {1}> () e = Erf (x) y = Add (e, k)", "float[8] x")
    outcome = fitted(text, lacking(forms={"Add": (Form(not_from={"A": ("Erf",)}),)}), {"x": X})
    assert reads(outcome, "Add") == ["Constant", "Erf"] and not outcome.untaken


@table(
    ("y = Erf (d)", ("Erf", "input"), ["Identity"]),
    ("y = Sub (d, x)", ("Sub", "A"), ["Identity", None]),
    ("y = Add (d, d)", ("Add", "A"), ["Identity", "Div"]),
)
def test_an_identity_stands_between(node, form, operands):
    """OpenCV crashes on some graphs with Div before Erf."""
    text = one_node(f"d = Div (x, x) {node}", "float[8] x")
    name, place = form
    target = lacking(forms={name: (Form(not_from={place: ("Div",)}),)})
    outcome = fitted(text, target, {"x": X})
    assert reads(outcome, name) == operands and not outcome.untaken
    assert fitted(outcome.model, target).opset == outcome.opset


@table(("[1, 1]", []), ("[1]", []), ("", []), ("[1, 1, 1]", [1, 1, 1]))
def test_a_number_has_no_axes_that_nothing_needs(shape, dims):
    """MNN adds one of rank 4 to the first channel alone, after a Conv."""
    text = one_node(f"k = Constant <value = float{shape} {{2}}> () y = Add (k, x)", "float[2, 4] x")
    target = lacking(forms={"Add": (Form(scalars=("A", "B")),)})
    outcome = fitted(text, target, {"x": X.reshape(2, 4)}, passes=())
    (node,) = outcome.ir.graph.nodes_of("Add")
    assert list(node.inputs[0].constant.dims) == dims and bool(outcome.untaken) == (len(dims) > 0)


def test_all_outputs_are_named_where_a_client_counts_them():
    """OpenCV refuses an LSTM whose last outputs are omitted."""
    inputs = "float[3, 2, 4] x, float[1, 8, 4] w, float[1, 8, 2] r"
    text = one_node("y = LSTM <hidden_size = 2> (x, w, r)", inputs)
    target = lacking(forms={"LSTM": (Form(present=("Y", "Y_c")),)})
    drawn = np.random.default_rng(0).standard_normal
    shapes = {"x": (3, 2, 4), "w": (1, 8, 4), "r": (1, 8, 2)}
    feeds = {name: drawn(shape).astype(np.float32) for name, shape in shapes.items()}
    outcome = fitted(text, target, feeds, passes=())
    (node,) = outcome.ir.graph.nodes()
    assert None not in node.outputs and len(node.outputs) == 3 and not outcome.untaken
    assert fitted(outcome.model, target, passes=()).changed is False


def test_constants_of_a_maximum_stand_first():
    """onnx2tf makes a Relu of a maximum with a second operand up to 1e-6."""
    text = one_node("k = Constant <value = float {1e-6}> () y = Max (x, k)", "float[8] x")
    outcome = fitted(text, lacking(forms={"Max": (Form(constants_first=True),)}), {"x": X})
    assert reads(outcome, "Max") == ["Constant", None] and not outcome.untaken


@table(("DequantizeLinear (q, s)", True), ("Neg (d)", True), ("Add (d, z)", False))
def test_quantized_weights_are_constants_where_a_client_needs_them(weights, is_decided):
    """onnx2pytorch makes modules, which hold their weights."""
    text = one_node(
        f"""q = Constant <value = int8[2, 1, 1, 1] {{3, -4}}> ()
            s = Constant <value = float {{0.5}}> () d = DequantizeLinear (q, s)
            w = {weights} y = Conv (x, w)""",
        "float[1, 1, 2, 4] x, float z",
    )
    target = lacking(forms={"Conv": (Form(initializers=("W",)),)})
    feed = {"x": X.reshape(1, 1, 2, 4), "z": np.array(1, np.float32)}
    outcome = fitted(text, target, feed)
    assert reads(outcome, "Conv") == ([None, None] if is_decided else [None, "Add"])
    assert bool(outcome.untaken) is not is_decided
