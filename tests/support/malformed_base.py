"""The model that is spoiled to make malformed ones, and how that is entered."""

from collections.abc import Callable

import onnx
from onnx import helper

TEXT = """
<ir_version: 10, opset_import: ["": 18, "own": 1]>
main (bool c, int64 n, float[3] x, float[2, 3] xs) =>
    (float[3] y, float[3] z, float[3] s, float[2, 3] t, float[4, 3] q)
<float[3] w = {1, 2, 3}> {
    a = Add(x, w)
    b = own.f <axis: int = 0> (a)
    y = If(c) <
        then_branch = yes () => (float[3] p) { p = Neg(b) },
        else_branch = no () => (float[3] p) { p = Relu(a) }
    >
    z = Loop(n, c, x) <body = iteration (int64 i, bool go, float[3] v) => (bool more, float[3] u) {
        more = Identity(go) u = Add(v, w)
    }>
    s, t = Scan <num_scan_inputs = 1, scan_input_axes = [0], scan_output_axes = [0],
                 scan_input_directions = [0], scan_output_directions = [0], body = row
                 (float[3] r, float[3] e) => (float[3] r2, float[3] o) { r2 = Add(r, e) o = Neg(e) }
    > (x, xs)
    list = SequenceConstruct(xs, xs)
    q = ConcatFromSequence <axis = 0> (list)
}
<domain: "own", opset_import: ["": 18]> f <axis> (x) => (y) {
    y = Concat <axis: int = @axis> (x)
}
"""
Change = Callable[[onnx.ModelProto], object]
REFUSED: dict[str, tuple[Change, str]] = {}


def model() -> onnx.ModelProto:
    """The model that is right until one of the changes is made to it."""
    return onnx.parser.parse_model(TEXT)


def refused(message: str) -> Callable[[Change], Change]:
    """Enter a change with what the error about its result says."""

    def enter(change: Change) -> Change:
        REFUSED[change.__name__] = change, message
        return change

    return enter


def node(proto: onnx.ModelProto, op_type: str) -> onnx.NodeProto:
    return next(n for n in proto.graph.node if n.op_type == op_type)


def attribute(proto: onnx.ModelProto, op_type: str, name: str) -> onnx.AttributeProto:
    return next(a for a in node(proto, op_type).attribute if a.name == name)


def drop(proto: onnx.ModelProto, op_type: str, name: str) -> None:
    node(proto, op_type).attribute.remove(attribute(proto, op_type, name))


def put(proto: onnx.ModelProto, op_type: str, name: str, value: object) -> None:
    new = helper.make_attribute(name, value)
    attribute(proto, op_type, name).CopyFrom(new)


def in_bytes(proto: onnx.ModelProto, old: bytes, new: bytes) -> onnx.ModelProto:
    assert len(old) == len(new)
    content = proto.SerializeToString()
    assert old in content
    return onnx.ModelProto.FromString(content.replace(old, new))
