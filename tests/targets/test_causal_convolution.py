import numpy as np
import onnx
import straightline as sl
from harness import as_model
from kernels import assert_equal, run_kernel
from tables import table

ACTIVE = "c = Concat <axis = 2> (past, x)  t = Conv <group = 4> (c, w, b)  g = Sigmoid (t)"
TEXT = f"{ACTIVE}  y = Mul (t, g)  present = Slice (c, start, end, two)"
DRAW = np.random.default_rng(0)


def model(nodes, tokens=1, results="float[B,4,{n}] y, float[B,4,2] present", **tensors):
    results = results.format(n=tokens)
    text = f"""g (float[B,4,{tokens}] x, float[B,4,2] past) => ({results}) {{ {nodes} }}"""
    proto = as_model(text)
    arrays = {"w": DRAW.random((4, 1, 3), np.float32), "b": DRAW.random(4, np.float32)}
    arrays |= {"start": [-2], "end": [2**31 - 1], "two": [2], **tensors}
    for name, array in arrays.items():
        array = np.array(array) if isinstance(array, list) else array
        proto.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return proto


def raised(proto):
    result = sl.transform(proto, target="onnxruntime")
    return result, [node.op_type for node in result.model.graph.node if node.domain]


@table(
    ("", "", 1, {}),
    ("", "", 8, {}),
    ("y = Mul (t, g)", "y = Mul (g, t)", 3, {"start": [3]}),  # the state begins behind the tokens
    (f"{ACTIVE}  y = Mul (t, g)", ACTIVE.replace("t =", "y =").replace("(t)", "(y)"), 3, {}),
    ("(c, w, b)", "(c, w)", 4, {}),
)
def test_causal_convolutions_are_one_node_and_proved(old, new, tokens, tensors):
    proto = model(TEXT.replace(old, new), tokens, **tensors)
    result, operators = raised(proto)
    assert operators == ["CausalConvWithState"] and result.verdict.proved
    for batch in (2, 1, 0):
        shapes = {"x": (batch, 4, tokens), "past": (batch, 4, 2)}
        feeds = {name: DRAW.random(shape, np.float32) for name, shape in shapes.items()}
        assert_equal(run_kernel(proto, feeds), run_kernel(result.model, feeds))


@table(
    ("", "", 9, {}),  # longer than measured to pay
    ("(past, x)", "(x, past)", 3, {}),
    ("present = Slice (c, start, end, two)", "present = Identity (past)", 2, {}),
    ("", "", 3, {"start": [1]}),
    ("", "", 3, {"end": [4]}),
    ("<group = 4>", "<group = 4, pads = [1, 0]>", 2, {}),
    ("<group = 4>", "<group = 4, dilations = [2]>", 3, {}),
)
def test_others_stay(old, new, tokens, tensors):
    results = "float[B,4,M] y, float[B,4,K] present"
    proto = model(TEXT.replace(old, new), tokens, results, **tensors)
    assert not raised(proto)[1]
