import re

import numpy as np
import pytest
from harness import as_model, run_in_onnxruntime
from straightline import ir
from straightline.analysis.safety.speculation import Hazard, Speculation
from straightline.analysis.shapes.inference import ShapeInference
from tables import table

SIGNATURE = """float[N,3] x, float[3,4] w, float[2,3] f, float[B,2,8,8] image, int64[2] k,
               int32[2] k32, uint8[2] u, float[] any, string[2] s, bool c"""
CONSTANTS = f"""int64 zero = {{0}}, int64 two = {{2}}, int64[2] ones = {{1, 1}},
    int64[2] pair = {{2, -1}}, int64[2] minus = {{-1, 3}}, int64[1] axis = {{1}},
    int64[1] none = {{0}}, float[2] off_on = {{0, 1}}, float half = {{0.5}},
    float[3] three = {{1, 2, 3}}, float[3,2,3,3] kernel = {{{",".join(["1"] * 54)}}}"""


def run(lines, opset=17):
    """What is known about results of lines that run in a branch, taken or not."""
    model = ir.load(
        ir.parse(f"""<ir_version: 8, opset_import: ["" : {opset}]>
        g ({SIGNATURE}) => (r) <{CONSTANTS}> {{
           r = If (c) <then_branch = t () => (y) {{ {lines} }},
                       else_branch = e () => (z) {{ z = Neg (k) }}> }}""")
    )
    branch = model.graph.nodes()[0].body("then_branch")
    return Speculation(ShapeInference(model), model.functions).run(branch)


def feeds():
    """Values at the edges of what inputs may be: empty axes, extreme integers, NaN."""
    for size, low, high in [(0, 0, 0), (1, 5, -7), (3, -(2**63), 2**63 - 1), (2, -(2**63), -1)]:
        some = np.linspace(-9, 9, 24, dtype=np.float32)
        some[0] = np.nan
        yield {
            "x": some[: size * 3].reshape(size, 3),
            "w": some[:12].reshape(3, 4),
            "f": some[:6].reshape(2, 3),
            "image": np.ones((size, 2, 8, 8), np.float32),
            "k": np.array([low, high]),
            "k32": np.array([3, -(2**31)], np.int32),
            "u": np.array([255, 0], np.uint8),
            "any": some[: size * 2].reshape(size, 2, 1),
            "s": np.array(["a", "1"], object),
            "c": np.array(size == 1),
        }


SAFE = [
    "l = Log (x)  y = Div (l, l)",
    "y = Div (k, two)",
    "y = Div (two, minus)",
    "y = Mod (k, two)",
    "y = Pow (x, half)",
    "y = Pow (k, two)",
    "y = Add (any, half)",
    "y = Mul (x, x)",
    "y = Add (x, three)",
    "y = Cast <to = 7> (x)",
    "y = Clip (x, half, half)",
    "y = Transpose <perm = [1, 0]> (x)",
    "y = Transpose (any)",
    "y = Flatten (x)",
    "q = Shape (x)  y = Reshape (x, q)",
    "m = Constant <value = int64[1] {-1}> ()  y = Reshape (x, m)",
    "y = Reshape (f, minus)",
    "m = Constant <value = int64[3] {0, 3, 1}> ()  y = Reshape (x, m)",
    "q = Shape (w)  y = Expand (half, q)",
    "y = Tile (x, ones)",
    "v = Unsqueeze (x, axis)  y = Squeeze (v, axis)",
    "y = Squeeze (any)",
    "y = Concat <axis = 0> (x, f)",
    "y, q = Split <axis = 1> (w)",
    "y = Slice (x, k, k)",
    "y = Slice (x, axis, axis, axis)",
    "p = Constant <value = int64[4] {0, 1, 0, 0}> ()  y = Pad (x, p)",
    "y = CumSum (x, zero)",
    "y = Trilu (x)",
    "q = Shape (x)  y = ConstantOfShape (q)",
    "q = Shape (x)  n = Gather (q, zero)  d = Constant <value_int = 1> ()  y = Range (zero, n, d)",
    "y = OneHot (k, two, off_on)",
    "y = Gather (w, two)",
    "y = Gather <axis = 1> (w, ones)",
    "i = ArgMax <axis = 1> (w)  y = Gather <axis = 1> (w, i)",
    "i = NonZero (three)  y = Gather <axis = 1> (f, i)",
    "i = Mod (k, two)  y = Gather (f, i)",
    "i = Clip (k, zero, two)  y = Gather (w, i)",
    "big = Constant <value = int64[1] {256}> ()  t = ConstantOfShape (big)  i = Cast <to = 7> (u)"
    "  y = Gather (t, i)",
    "i = Cast <to = 7> (c)  y = Gather (w, i)",
    "i = ArgMax <axis = 1> (x)  t = Transpose (x)  y = Gather (t, i)",
    "i = Constant <value = int64[2,2] {0, 1, 2, 0}> ()  y = GatherElements <axis = 1> (f, i)",
    "y = GatherND (w, ones)",
    "row = Gather (w, two)  v = Unsqueeze (row, none)  i = Constant <value = int64[1,1] {2}> ()"
    "  y = ScatterND (w, i, v)",
    "i = ArgMax <axis = 1> (w)  v = ReduceSum (w, axis)  y = ScatterElements <axis = 1> (w, i, v)",
    "y = ReduceMean <axes = [1]> (x)",
    "y = ReduceSum (any)",
    "y = Softmax (x)",
    "y, i = TopK (x, axis)",
    "y = MatMul (x, w)",
    "y = Gemm <transA = 1, transB = 1> (w, f)",
    "y = Conv (image, kernel)",
    "y = MaxPool <kernel_shape = [2, 2]> (image)",
    "y = LayerNormalization (x, three, three)",
    "y = QuantizeLinear (x, half)",
    "y = Dropout (x)",
    "y = NonZero (any)",
]


@pytest.mark.parametrize("lines", SAFE)
def test_safe_nodes(lines):
    assert run(lines)


@pytest.mark.parametrize("lines", SAFE)
def test_safe_nodes_run(lines):
    model = as_model(f"""g ({SIGNATURE}) => (y) <{CONSTANTS}> {{ {lines} }}""")
    (known,) = run(lines)
    model.graph.output[0].type.tensor_type.elem_type = known.fact.elem_type
    for feed in feeds():
        run_in_onnxruntime(model, feed)


@table(
    ("y = Div (k, k)", "'k' may be zero"),
    ("y = Div (k, minus)", "'minus' may be -1 where 'k' is the smallest integer"),
    ("y = Mod (k32, u)", "'u' may be zero"),
    ("y = Pow (k, minus)", "'minus' may be negative"),
    ("y = Add (x, f)", "sizes that must broadcast may not fit: N and 2"),
    ("y = Add (x, any)", "the shape of an operand is not known"),
    ("y = Cast <to = 7> (s)", "a string may not spell a number"),
    ("y = Clip (x, three)", "'three' may not have rank 0"),
    ("y = Transpose <perm = [1, 0]> (any)", "the rank of 'any' is not known"),
    ("y = Reshape (x, k)", "'k' is known only at run time"),
    ("y = Reshape (x, pair)", "the new shape may not divide the elements"),
    ("m = Constant <value = int64[2] {0, -1}> ()  y = Reshape (x, m)",
     "which decides the axis of -1"),
    ("y = Expand (x, k)", "'k' is known only at run time"),
    ("y = Tile (x, k)", "'k' is known only at run time"),
    ("y = Squeeze (x, axis)", "a squeezed axis may not fit: 3 and 1"),
    ("y = Squeeze (x, none)", "a squeezed axis may not fit: N and 1"),
    ("y = Unsqueeze (any, axis)", "the rank of 'any' is not known"),
    ("y = Concat <axis = 1> (x, f)", "sizes along axis 0 may not fit: 2 and N"),
    ("y, q = Split <axis = 0> (x)", "N may not divide by 2"),
    ("y, q = Split (w, ones)", "the sum of its sizes may not fit: 3 and 2"),
    ("y = Slice (x, axis, axis, k)", "'k' is known only at run time"),
    ("y = Slice (x, k, axis)", "its bounds differ in number"),
    ("y = Slice (x, k, k, minus)", "axis 3 does not exist for rank 2"),
    ("y = Pad (x, k)", "'k' is known only at run time"),
    ('y = Pad <mode = "reflect"> (x, ones)', "its mode restricts sizes"),
    ("y = CumSum (x, k)", "'k' is known only at run time"),
    ("y = ConstantOfShape (k)", "'k' is known only at run time"),
    ("n = Gather (k, zero)  y = Range (zero, two, n)", "'n' is known only at run time"),
    ("y = Range (zero, two, zero)", "'zero' is zero"),
    ("n = Gather (k, zero)  y = OneHot (k, n, off_on)", "'n' is known only at run time"),
    ("y = Gather (x, zero)", "'zero' may be out of range for an axis of size N"),
    ("y = Gather (w, k)", "'k' may be out of range for an axis of size 3"),
    ("i = Add (two, two)  y = Gather (w, i)", "'i' may be out of range for an axis of size 3"),
    ("i = NonZero (x)  y = Gather (w, i)", "'i' may be out of range"),
    ("y = GatherND (w, k)", "'k' may be out of range for an axis of size 3"),
    ("i = ArgMax <axis = 1> (x)  y = GatherElements <axis = 1> (w, i)",
     "may be larger than 'w' along axis 0"),
    ("y = ScatterND (w, ones, three)", "'three' may have the wrong rank"),
    ("y = ReduceMean <axes = [2]> (x)", "axis 2 does not exist for rank 2"),
    ("y = ReduceSum (x, k)", "'k' is known only at run time"),
    ("y = Softmax <axis = 0> (x)", "axis 0 of size N may be less than 1"),
    ("y = ArgMax <axis = 0> (x)", "axis 0 of size N may be less than 1"),
    ("n = Slice (k, none, axis)  y, i = TopK (x, n)", "'n' is known only at run time"),
    ("m = Constant <value = int64[1] {4}> ()  y, i = TopK (x, m)", "fewer than k elements: 3"),
    ("y = MatMul (x, f)", "the inner sizes may not fit: 3 and 2"),
    ("y = Gemm (x, f)", "the inner sizes may not fit: 3 and 2"),
    ("y = Gemm (x, w, three)", "the bias may not fit: 3 and 4"),
    ("y = Conv (x, w)", "the weight has too few axes"),
    ("y = Conv <group = 2> (image, kernel)", "the channels may not fit: 2 and 4"),
    ("y = MaxPool <kernel_shape = [9, 9]> (image)", "the kernel may not fit 8 elements"),
    ("y = LayerNormalization (w, three)", "the shape of 'three' may not fit: 3 and 4"),
    ("y = RandomNormalLike (x)", "draws random numbers"),
    ("t = Constant <value = bool {1}> ()  y = Dropout (x, half, t)", "draws random numbers"),
    ("y = StringNormalizer (s)", "is not among the operators that are known not to fail"),
    ("y = other.Add (x, x)", "is of domain 'other'"))  # fmt: skip
def test_hazards(lines, reason):
    with pytest.raises(Hazard, match=re.escape(reason)):
        run(lines)


def test_opsets_below_9_are_not_known():
    with pytest.raises(Hazard, match="is of opset 8; convert to opset 9 first"):
        run("y = Relu (x)", opset=8)


def test_axes_as_attributes_of_older_opsets():
    assert run("v = Unsqueeze <axes = [1]> (x)  y = Squeeze <axes = [1]> (v)", opset=11)
    assert run("y = Slice <starts = [0], ends = [1], axes = [1]> (x)", opset=9)
    assert run("y, q = Split <axis = 1, split = [1, 3]> (w)", opset=11)
    with pytest.raises(Hazard, match="axis 2 does not exist for rank 2"):
        run("y = Slice <starts = [0], ends = [1], axes = [2]> (x)", opset=9)


def test_bounds_follow_arithmetic():
    (known,) = run("i = ArgMax <axis = 1> (x)  j = Neg (i)  y = Add (j, two)")
    assert [str(bound) for bound in known.bounds] == ["0", "2"]
    (known,) = run("q = Shape (x)  n = Gather (q, zero)  y = Sub (n, two)")
    assert [str(bound) for bound in known.bounds] == ["N - 2", "N - 2"]
    (known,) = run("y = Mul (k, two)")
    assert [str(bound) for bound in known.bounds] == [str(-(2**63)), str(2**63 - 1)]


def ladder(height, between):
    """Speculation on a function that calls one twice that calls one twice, and so on."""
    functions = ['<domain: "own", opset_import: ["": 17]> f0 (a) => (y) { y = Relu (a) }'] + [
        f'<domain: "own", opset_import: ["": 17, "own": 1]> f{i} (a) => (y)'
        f" {{ t = own.f{i - 1} (a) u = {between} y = own.f{i - 1} (u) }}"
        for i in range(1, height)
    ]
    model = ir.load(
        ir.parse(f"""<ir_version: 8, opset_import: ["": 17, "own": 1]>
        g (float[2,3] x, bool c) => (r) {{
           r = If (c) <then_branch = t () => (y) {{ y = own.f{height - 1} (x) }},
                       else_branch = e () => (z) {{ z = Neg (x) }}>
        }} {" ".join(functions)}""")
    )
    branch = model.graph.nodes()[0].body("then_branch")
    return Speculation(ShapeInference(model), model.functions).run(branch)


def test_functions_that_call_others_twice_are_looked_into_in_linear_time():
    (found,) = ladder(60, "Neg (t)")
    assert [dim.value for dim in found.fact.shape] == [2, 3]


def test_exponential_work_is_refused():
    message = "calls functions more than speculated_calls=10000 allows to look into"
    with pytest.raises(Hazard, match=message):
        ladder(60, "Concat <axis = 0> (t, t)")


def test_functions_are_looked_into_only_so_deep():
    message = "calls functions deeper in each other than call_depth=60 allows to look into"
    with pytest.raises(Hazard, match=rf"f339 'own::f340/t' {message}"):
        ladder(400, "Neg (t)")


def hazard(before, node, signature="float[3,4] w, float[2,3] x, int64[2] k, bool c"):
    """Why a branch that holds one node cannot run where it is not taken; None if it can."""
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n'
    function = """
    <domain: "local", opset_import: ["" : 17]> pick (w, i, unused) => (r) { r = Gather (w, i) }"""
    model = ir.load(
        as_model(f"""{head} g ({signature}) => (y) <int64 one = {{1}}> {{ {before}
            y = If (c) <then_branch = t () => (u) {{ u = {node} }},
                        else_branch = e () => (v) {{ v = Neg (w) }}> }} {function}""")
    )
    branch = model.graph.nodes()[-1].body("then_branch")
    try:
        Speculation(ShapeInference(model), model.functions).run(branch)
    except Hazard as found:
        return str(found)
    return None


def test_bounds_are_followed_back_outside():
    assert hazard("i = ArgMax <axis = 1> (x)", "Gather (w, i)") is None
    assert hazard("a = ArgMax <axis = 1> (x) i = Neg (a)", "Gather (w, i)") is None
    assert "may be out of range" in hazard("i = Neg (k)", "Gather (w, i)")
    far = "i = ArgMax <axis = 1> (x) j = Add (i, one)"
    assert "it is known to lie between 0 and 3" not in (hazard(far, "Gather (w, i)") or "")
    assert "it is known to lie between 1 and 3" in hazard(far, "Gather (w, j)")


def test_bounds_are_followed_a_number_of_steps():
    chain = "s0 = ArgMax <axis = 1> (x) " + " ".join(
        f"s{k + 1} = Identity (s{k})" for k in range(40)
    )
    assert hazard(chain, "Gather (w, s10)") is None
    assert "may be out of range" in hazard(chain, "Gather (w, s40)")


def test_functions_are_looked_into():
    assert hazard("i = ArgMax <axis = 1> (x)", "local.pick (w, i)") is None
    assert "may be out of range" in hazard("", "local.pick (w, k)")
