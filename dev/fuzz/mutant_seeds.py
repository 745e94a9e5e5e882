"""Models to be mutated: one for each thing that a model can hold, and what other tests have."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LARGEST = 8_000
"""Larger models take too long for what they add."""

LOOPS = """<ir_version: 10, opset_import: ["": 21], producer_name: "seed">
main (bool c, int64 n, float[N, 3] x) => (float[N, 3] y, float[M, 3] all, float[N, 3] z)
<int64 three = {3}, bool yes = {1}, float[3] w = {1, 2, 3}, int64[1] zero = {0}> {
    y, all = Loop(three, yes, x) <body = outer (int64 i, bool go, float[N, 3] v) =>
        (bool more, float[N, 3] u, float[3] row) {
        more = Identity(go)
        t = Loop(n, , v) <body = inner (int64 j, bool g, float[N, 3] a) => (bool h, float[N, 3] b) {
            lim = Constant <value_int = 5> ()
            h = Less(j, lim)
            s = Add(a, w)
            f = Cast <to = 1> (i)
            b = Mul(s, f)
        }>
        u = Neg(t)
        row = ReduceSum <keepdims = 0> (u, zero)
    }>
    z = If(c) <
        then_branch = yes_branch () => (float[N, 3] p) { q = Relu(y) p = Sub(q, w) },
        else_branch = no_branch () => (float[N, 3] p) {
            one = Constant <value = float {1.5}> ()
            p = If(yes) <then_branch = a () => (float[N, 3] r) { r = Mul(y, one) },
                         else_branch = b () => (float[N, 3] r) { r = Identity(x) }>
        }
    >
}"""
SCANS = """<ir_version: 8, opset_import: ["": 17]>
main (float[3] s, float[2, 3] x, float[3, 2] z) => (float[3] y, float[2, 3] all, float[3, 2] last) {
    y, all = Scan <num_scan_inputs = 2, scan_input_axes = [0, 1], scan_input_directions = [0, 1],
        scan_output_axes = [0], scan_output_directions = [1], body = step
        (float[3] a, float[3] e, float[3] g) => (float[3] b, float[3] o) {
        t = Mul(e, g)
        b = Add(a, t)
        o = Tanh(b)
    }> (s, x, z)
    last = Scan <num_scan_inputs = 1, scan_output_axes = [-1], body = plain
        (float[3] e) => (float[3] o) { o = Exp(e) }> (x)
}"""
SCAN_8 = """<ir_version: 3, opset_import: ["": 8]>
main (int64[2] lengths, float[2, 3] s, float[2, 4, 3] x) => (float[2, 3] y, float[2, 4, 3] all) {
    y, all = Scan <num_scan_inputs = 1, directions = [1], body = step
        (float[3] a, float[3] e) => (float[3] b, float[3] o) { b = Add(a, e) o = Neg(b) }>
        (lengths, s, x)
}"""
FUNCTIONS = """<ir_version: 10, opset_import: ["": 18, "own": 1]>
main (float[2, 3] x, bool c) => (float[2, 3] y, float[4, 3] z, float[2, 3] w) {
    y = own.Twice <iterations = 2, by = 1.5> (x)
    z = own.Join <axis = 0> (y, x)
    w = own.Pick (x, c)
}
<domain: "own", opset_import: ["": 18, "own": 1]>
Twice <iterations, by: float = 3.0> (x) => (y) {
    y = own.Steps <iterations: int = @iterations, by: float = @by> (x)
}
<domain: "own", opset_import: ["": 18]>
Steps <iterations, by> (x) => (y) {
    m = Constant <value_int: int = @iterations> ()
    y = Loop(m, , x) <body = b (int64 i, bool c, float[n, k] v) => (bool d, float[n, k] w) {
        d = Identity(c)
        s = Constant <value_float: float = @by> ()
        w = Add(v, s)
    }>
}
<domain: "own", opset_import: ["": 17]>
Join <axis> (a, b) => (y) { y = Concat <axis: int = @axis> (a, b) }
<domain: "own", opset_import: ["": 18]>
Pick (a, c, d) => (r) {
    h = Clip(a, d)
    r = If(c) <then_branch = t () => (p) { p = Exp(h) }, else_branch = e () => (q) { q = Abs(h) }>
}"""
SEQUENCES = """<ir_version: 9, opset_import: ["": 19]>
main (float[4, 3] x, int64 n, seq(float[2]) given, optional(float[2]) maybe)
    => (float[K, 3] y, float[2] first, int64 count, bool has, seq(float[3]) rows, float[2] some)
<int64 one = {1}, int64[2] sizes = {1, 3}, int64 zero = {0}> {
    parts = SplitToSequence <axis = 0> (x, sizes)
    more = SequenceInsert(parts, x, zero)
    mapped = SequenceMap(more) <body = m (float[a, 3] e) => (float[a, 3] r) { r = Neg(e) }>
    y = ConcatFromSequence <axis = 0> (mapped)
    first = SequenceAt(given, zero)
    count = SequenceLength(given)
    has = OptionalHasElement(maybe)
    some = If(has) <then_branch = t () => (float[2] p) { p = OptionalGetElement(maybe) },
                    else_branch = e () => (float[2] q) { q = Neg(first) }>
    empty = SequenceEmpty <dtype = 1> ()
    rows = Loop(n, , empty) <body = b (int64 i, bool c, seq(float[3]) s) =>
        (bool d, seq(float[3]) t) {
        d = Identity(c)
        row = Gather <axis = 0> (x, i)
        t = SequenceInsert(s, row)
    }>
}"""
SHAPES = """<ir_version: 8, opset_import: ["": 13]>
main (float[2, N] x, float[2, N] unused) => (float[2, N] y, float[1, 2] z) <int64[1] at = {0}> {
    shape = Shape(x)
    rows = Gather <axis = 0> (shape, at)
    n = Squeeze(rows)
    many = Greater(n, n)
    y = Loop(n, many, x) <body = b (int64 i, bool c, float[2, N] v) => (bool d, float[2, N] w) {
        d = Not(c)
        w = Softmax <axis = 1> (v)
    }>
    limits = Constant <value_ints = [1, 2]> ()
    z = ConstantOfShape <value = float[1] {2}> (limits)
    half = Cast <to = 10> (z)
    best, which = TopK <axis = -1, largest = 0> (x, at)
    u = Upsample <mode = "nearest"> (x, half)
    left = Unsqueeze(x, at)
}"""
OLD = """<ir_version: 3, opset_import: ["": 7]>
main (int64 n, bool c, float[1, 2, 4, 4] x) => (float[1, 2, 4, 4] y, float[1, 8] z) {
    b = BatchNormalization <epsilon = 0.1> (x, s, s, s, s)
    y = Loop(n, c, b) <body = t (int64 i, bool g, float[1, 2, 4, 4] v) =>
        (bool h, float[1, 2, 4, 4] w) {
        h = Identity(g)
        w = Relu(v)
    }>
    p = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (y)
    f = Flatten(p)
    d, k = Dropout <ratio = 0.5> (f)
    z = Cast <to = 1> (d)
    up = Upsample <scales = [1.0, 1.0, 2.0, 2.0]> (x)
}"""


def extras() -> onnx.ModelProto:
    """Everything that hangs on a model beside its graph."""
    proto = onnx.parser.parse_model(LOOPS)
    graph = proto.graph
    values = numpy_helper.from_array(np.array([5], np.float32), "sparse")
    indices = numpy_helper.from_array(np.array([2]))
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [3]))
    graph.node.append(helper.make_node("Add", ["y", "sparse"], ["with_sparse"]))
    graph.initializer.append(helper.make_tensor("words", TensorProto.STRING, [2], [b"a", b"b"]))
    graph.initializer.append(helper.make_tensor("nibbles", TensorProto.INT4, [3], [1, 2, 3]))
    graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [3]))
    annotation = graph.quantization_annotation.add(tensor_name="y")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    graph.value_info.append(
        helper.make_tensor_value_info("with_sparse", TensorProto.FLOAT, ["N", 3])
    )
    graph.metadata_props.add(key="a", value="b")
    graph.doc_string = "a graph"
    graph.node[0].metadata_props.add(key="c", value="d")
    graph.node[0].doc_string = "a node"
    gradient = "ai.onnx.preview.training"
    graph.node.append(helper.make_node("Gradient", ["x"], ["dx"], domain=gradient, xs=["x"], y="y"))
    graph.node.append(helper.make_node("Any", ["x", ""], ["", "any"], domain="else", k=[1.0]))
    proto.opset_import.extend([helper.make_opsetid(gradient, 1), helper.make_opsetid("else", 3)])
    proto.metadata_props.add(key="e", value="f")
    training = proto.training_info.add()
    training.algorithm.node.append(helper.make_node("Sub", ["w", "w"], ["w_new"]))
    training.algorithm.output.append(helper.make_tensor_value_info("w_new", TensorProto.FLOAT, [3]))
    training.update_binding.add(key="w", value="w_new")
    proto.configuration.add(name="two", num_devices=2)
    device = graph.node[-1].device_configurations.add(configuration_id="two")
    device.sharding_spec.add(tensor_name="x", device=[0, 1])
    return proto


def external() -> onnx.ModelProto:
    """A model whose weights lie in the file `w.bin` beside it."""
    proto = onnx.parser.parse_model(LOOPS)
    tensor = next(t for t in proto.graph.initializer if t.name == "w")
    del tensor.float_data[:]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", "w.bin"), ("offset", "4"), ("length", "12")):
        tensor.external_data.add(key=key, value=value)
    return proto


DATA = np.arange(4, dtype=np.float32).tobytes()
"""What stands in `w.bin`."""


def old() -> onnx.ModelProto:
    proto = onnx.parser.parse_model(OLD)
    proto.graph.initializer.append(helper.make_tensor("s", TensorProto.FLOAT, [2], [1, 2]))
    proto.graph.input.append(helper.make_tensor_value_info("s", TensorProto.FLOAT, [2]))
    return proto


def drawn(count: int) -> list[onnx.ModelProto]:
    """Models of the other random tests, the same each time."""
    import hypothesis  # with the strategies it takes seconds, and `written` needs neither
    import strategies
    from hypothesis import HealthCheck, Phase

    found: list[onnx.ModelProto] = []
    for strategy in (
        strategies.models(),
        strategies.scan_8_models(),
        strategies.models(static_only=True),
    ):

        @hypothesis.seed(0)
        @hypothesis.settings(
            max_examples=count,
            phases=[Phase.generate],
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        @hypothesis.given(strategy)
        def keep(model: onnx.ModelProto) -> None:
            found.append(model)

        keep()
    return found


def written() -> dict[str, onnx.ModelProto]:
    """The models of this file, by name."""
    texts = {
        "loops": LOOPS,
        "scans": SCANS,
        "scan-8": SCAN_8,
        "functions": FUNCTIONS,
        "sequences": SEQUENCES,
        "shapes": SHAPES,
    }
    found = {name: onnx.parser.parse_model(text) for name, text in texts.items()}
    return found | {"extras": extras(), "external": external(), "old": old()}


def seeds(count: int = 30) -> dict[str, onnx.ModelProto]:
    """Models by name, `count` of each kind of drawn ones among them."""
    from backend import CASES

    found = written()
    found |= {case.name: case.model for case in CASES}
    if count:
        found |= {f"drawn-{number}": model for number, model in enumerate(drawn(count))}
    return {name: model for name, model in found.items() if model.ByteSize() <= LARGEST}


def write(folder: Path, count: int = 30) -> None:
    """Write the models, one file each, and the external data of one of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in seeds(count).items():
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
