import numpy as np
import onnx
import straightline as sl
from harness import as_model
from kernels import assert_equal, run_kernel
from straightline.passes import PassContext
from straightline.targets import linear_attention
from tables import table

VIEWS = """one = Constant <value_ints = [-1]> ()  two = Constant <value_ints = [-2]> ()
    k_ = Unsqueeze (k, one)  q_ = Unsqueeze (q, one)  v_ = Unsqueeze (v, two)"""
DECAY = "e = Exp (g)  e1 = Unsqueeze (e, one)  e2 = Unsqueeze (e1, one)  d = Mul (s, e2)"
RATE = "b1 = Unsqueeze (b, one)  b2 = Unsqueeze (b1, one)"
BY_SUMS = f"""{VIEWS} {DECAY} {RATE}  at = Mul (k_, d)
    f = ReduceSum <keepdims = 1> (at, two)  m = Sub (v_, f)  u = Mul (b2, m)  w = Mul (k_, u)
    n = Add (d, w)  r = Mul (n, q_)  y = ReduceSum <keepdims = 0> (r, two)"""
BY_PRODUCTS = f"""{VIEWS} {DECAY} {RATE}  row = Unsqueeze (k, two)
    f = MatMul (row, d)  m = Sub (f, v_)  minus = Neg (m)  u = Mul (b2, minus)
    w = MatMul (k_, u)  n = Add (d, w)  turned = Transpose <perm = [0, 1, 3, 2]> (n)
    y_ = MatMul (turned, q_)  y = Squeeze (y_, one)"""
BY_EINSUM = f"""{VIEWS} {DECAY}  f = Einsum <equation = "bhk,bhkv->bhv"> (k, d)
    m = Sub (v, f)  b1 = Unsqueeze (b, one)  u = Mul (m, b1)
    w = Einsum <equation = "bhk,bhv->bhkv"> (k, u)  n = Add (d, w)
    y = Einsum <equation = "bhk,bhkv->bhv"> (q, n)"""
GATED = f"""{VIEWS} {DECAY}  w = Mul (k_, v_)  n = Add (d, w)
    half = Constant <value_float = 0.5> ()  less = Mul (q_, half)  r = Mul (n, less)
    y = ReduceSum <keepdims = 0> (r, two)"""
SIZES = {"q": "B,2,4", "k": "B,2,4", "v": "B,2,6", "g": "B,2", "b": "B,2"}


def scan(body, sizes=(), outputs=("B,2,4,6", "B,2,6")):
    """A Scan whose body has a state `s` and an element of each operand."""
    read = {
        name: size for name, size in SIZES.items() if f"({name})" in body or f"({name}," in body
    }
    sizes = read | dict(sizes)
    state, row = outputs
    arguments = ", ".join(f"float[{size}] {name}" for name, size in sizes.items())
    inputs = ", ".join(f"float[T,{size}] {name}All" for name, size in sizes.items())
    text = f"""g (float[{state}] first, {inputs}) => (float[{state}] last, float[T,{row}] yAll) {{
        last, yAll = Scan <num_scan_inputs = {len(sizes)},
            body = step (float[{state}] s, {arguments}) => (float[{state}] n, float[{row}] y) {{
            {body} }}> (first, {", ".join(f"{name}All" for name in sizes)}) }}"""
    return as_model(text)


def raised(model, **options):
    result = sl.transform(model, target="onnxruntime", **options)
    return result, [node for node in result.model.graph.node if node.domain]


def feeds_of(model, batch, length):
    """Keys of length 1 and decays below 1, as such layers have: others grow without a bound."""
    draw, feeds = np.random.default_rng(0), {}
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        shape = [{"B": batch, "T": length}.get(d.dim_param, d.dim_value) for d in dims]
        feeds[info.name] = draw.standard_normal(shape).astype(np.float32)
    feeds["kAll"] /= np.linalg.norm(feeds["kAll"], axis=-1, keepdims=True)
    return feeds | ({"gAll": -abs(feeds["gAll"])} if "gAll" in feeds else {})


@table(
    (BY_SUMS, "gated_delta"),
    (BY_PRODUCTS, "gated_delta"),
    (BY_EINSUM, "gated_delta"),
    (GATED, "gated"),
)
def test_each_spelling_is_one_node_and_proved(body, rule):
    model = scan(body)
    result, nodes = raised(model)
    assert [node.op_type for node in nodes] == ["LinearAttention"] and result.verdict.proved
    assert onnx.helper.get_node_attr_value(nodes[0], "update_rule").decode() == rule
    for batch, length in ((3, 5), (1, 1), (0, 2)):
        feeds = feeds_of(model, batch, length)
        assert_equal(run_kernel(model, feeds), run_kernel(result.model, feeds), 10)


@table(
    ("2,4,6", {"q": "2,4", "k": "2,4", "v": "2,6", "g": "2", "b": "2"}, "2,6"),
    ("B,4,6", {"q": "B,4", "k": "B,4", "v": "B,6", "g": "B", "b": "B"}, "B,6"),
)
def test_heads_or_batches_may_be_missing(state, sizes, row):
    model = scan(BY_SUMS, sizes, outputs=(state, row))
    result, (node,) = raised(model, verify=False)
    feeds = feeds_of(model, 3, 5)
    assert node.op_type == "LinearAttention"
    assert_equal(run_kernel(model, feeds), run_kernel(result.model, feeds), 10)


@table(
    BY_SUMS.replace("Mul (k_, d)", "Mul (k_, s)"),  # finds in the state before its decay
    BY_SUMS.replace("r = Mul (n", "r = Mul (d"),
    BY_SUMS.replace("Add (d, w)", "Sub (d, w)"),
    BY_SUMS.replace("Exp (g)", "Sigmoid (g)"),
    BY_SUMS.replace("(at, two)", "(at, one)").replace("v_, f", "k_, f"),
    BY_SUMS.replace("w = Mul (k_", "w = Mul (q_"),
)
def test_other_updates_stay(body):
    is_square = "(at, one)" in body
    sizes, outputs = {"v": "B,2,4"}, ("B,2,4,4", "B,2,4")
    assert not is_raised(scan(body, sizes, outputs) if is_square else scan(body))


def is_raised(model):
    model = sl.ir.load(model)
    (node,) = model.graph.nodes()
    return linear_attention.raise_linear_attention(node, PassContext().inference(model))


def test_operands_of_other_axes_stay():
    """The operator has keys for each head, and does not return the states between."""
    assert is_raised(scan(GATED)) and not is_raised(scan(GATED, {"k": "B,1,4"}))
    body = GATED.replace("y = ReduceSum <keepdims = 0> (r, two)", "y = Identity (n)")
    assert not is_raised(scan(body, outputs=["B,2,4,6"] * 2))


def loop(rows):
    """A Loop that gathers along axis 1, with rows of a batch of some size."""
    names = {"q": 4, "k": 4, "v": 6}
    reads = " ".join(f"{n} = Gather <axis = 1> ({n}All, i)" for n in names)
    inputs = ", ".join(f"float[{rows}, T, 2, {size}] {n}All" for n, size in names.items())
    body = f"""{reads} goes = Identity (c)  {VIEWS}  w = Mul (k_, v_)  n = Add (s, w)
        r = Mul (n, q_)  y = ReduceSum <keepdims = 0> (r, two)"""
    return as_model(f"""g (float[{rows}, 2, 4, 6] first, {inputs})
        => (last, yAll) <int64 place = {{1}}> {{
        sizes = Shape (qAll)  count = Gather (sizes, place)
        last, yAll = Loop <body = step (int64 i, bool c, float[{rows}, 2, 4, 6] s)
            => (bool goes, float[{rows}, 2, 4, 6] n, float[{rows}, 2, 6] y) {{ {body} }}>
            (count, , first) }}""")


def test_loops_are_read_as_scans():
    model = loop(3)
    result, (node,) = raised(model)
    assert node.op_type == "LinearAttention" and result.verdict.proved
    for length in (4, 1, 0):
        feeds = feeds_of(model, 3, length)
        assert_equal(run_kernel(model, feeds), run_kernel(result.model, feeds), 10)


def test_a_loop_that_may_be_empty_needs_known_sizes():
    """onnxruntime returns no batch after no iteration where the body declares an open one."""
    assert not raised(loop("B"), verify=False)[1]


def test_an_older_onnxruntime_gets_none(monkeypatch):
    monkeypatch.setattr(linear_attention, "lacks_operator", lambda *operator: True)
    assert not is_raised(scan(GATED))


def test_only_for_onnxruntime():
    for target in ("onnx", "openvino"):
        result = sl.transform(scan(BY_SUMS), target=target, verify=False)
        assert not any(node.domain for node in result.model.graph.node)
