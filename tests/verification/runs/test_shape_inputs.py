import onnx
from straightline.verification.runs.shape_inputs import steering_inputs
from tables import table


def steering(graph, more=""):
    head = '<ir_version: 10, opset_import: ["" : 20, "l" : 1]> '
    return steering_inputs(onnx.parser.parse_model(head + graph + more))


@table(
    ("y = Add (x, n)", set()),
    ("y = Expand (x, n)", {"n"}),
    ("k = Add (n, n)  y = Expand (x, k)", {"n"}),
    ("s = Shape (n)  y = Expand (x, s)", set()),
    ("k = Cast <to = 7> (x)  y = Expand (n, k)", {"x"}),
    ("y = Gather (x, n)", {"n"}),
    ("y = Squeeze (x, n)", {"n"}),
    ("y = ReduceSum (x, n)", {"n"}),
    ("y = Compress <axis = 0> (x, n)", set()),
    ("y = Relu (x)", set()),
    ("y = If (c) <then_branch = t () => (a) { a = Expand (x, n) },"
     " else_branch = e () => (b) { b = Relu (x) }>", {"n"}),
    ("k = If (c) <then_branch = t () => (a) { a = Identity (n) },"
     " else_branch = e () => (b) { b = Identity (n) }>  y = Expand (x, k)", {"n", "c"}),
    ("y = Loop (n, c, x) <body = b (i, d, a) => (f, r) { f = Identity (d) r = Relu (a) }>",
     {"n", "c"}),
    # What is carried decides about the next iteration.
    ("y = Loop (, c, x) <body = b (i, d, a) => (f, r) { f = Cast <to = 9> (r) r = Neg (a) }>",
     {"x", "c"}),
    ("y, z = Loop (, c, x, n) <body = b (i, d, a, k) => (f, r, m)"
     " { f = Identity (d) r = Expand (a, k) m = Identity (k) }>", {"n", "c"}),
    ("y, z = Loop (, c, x, n) <body = b (i, d, a, k) => (f, r, m)"
     " { f = Identity (d) r = Neg (a) m = Identity (k) }>  w = Expand (x, z)", {"n", "c"}),
    ("y = Scan <num_scan_inputs = 1, body = b (e) => (r) { r = Expand (e, n) }> (x)", {"x", "n"}),
    ("y = l.grow (x, n)", {"n"}),
    ("y = l.grow (n, x)", {"x"}),
    ("y = l.unknown (x, n)", set()))  # fmt: skip
def test_sizes_iterations_and_positions(body, found):
    function = '<opset_import: ["" : 20], domain: "l"> grow (a, b) => (r) { r = Expand (a, b) }'
    graph = f"g (float[2] x, int64[1] n, bool c) => (float[N] y) {{ {body} }} {function}"
    assert steering(graph) == found


def test_a_long_chain_takes_linear_time():
    nodes = "\n".join(f"n{i + 1} = Add (n{i}, n{i})" for i in range(3000))
    assert steering(
        f"g (int64[1] n0, float[1] x) => (float[N] y) {{ {nodes} y = Expand (x, n3000) }}"
    )
