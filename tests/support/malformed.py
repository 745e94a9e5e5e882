"""Models that are not well formed: each by name, with what an error about it says."""

from collections.abc import Callable, Sequence

import onnx
from onnx import AttributeProto, TensorProto, helper

TEXT = """<ir_version: 10, opset_import: ["": 18, "own": 1]>
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
}"""
Change = Callable[[onnx.ModelProto], object]


def model() -> onnx.ModelProto:
    """The model that is right until one of the changes is made to it."""
    return onnx.parser.parse_model(TEXT)


def malformed(name: str) -> onnx.ModelProto:
    proto = model()
    change, _ = REFUSED[name]
    result = change(proto)
    return result if isinstance(result, onnx.ModelProto) else proto


def node(proto: onnx.ModelProto, op_type: str) -> onnx.NodeProto:
    return next(n for n in proto.graph.node if n.op_type == op_type)


def attribute(proto: onnx.ModelProto, op_type: str, name: str) -> onnx.AttributeProto:
    return next(a for a in node(proto, op_type).attribute if a.name == name)


def text(*edits: tuple[str, str]) -> Change:
    """Replace parts of the text, each of which stands there once."""

    def change(_: onnx.ModelProto) -> onnx.ModelProto:
        edited = TEXT
        for old, new in edits:
            assert edited.count(old) == 1, old
            edited = edited.replace(old, new)
        return onnx.parser.parse_model(edited)

    return change


def more(statement: str, *edits: tuple[str, str]) -> Change:
    """Add a statement at the end."""
    return text(("(list)\n", f"(list) {statement}\n"), *edits)


def octets(old: bytes, new: bytes, *edits: tuple[str, str]) -> Change:
    """Replace bytes of the message of the text."""

    def change(proto: onnx.ModelProto) -> onnx.ModelProto:
        content = text(*edits)(proto).SerializeToString()
        assert old in content and len(old) == len(new)
        return onnx.ModelProto.FromString(content.replace(old, new))

    return change


def drop(op_type: str, name: str) -> Change:
    return lambda proto: node(proto, op_type).attribute.remove(attribute(proto, op_type, name))


def put(op_type: str, name: str, value: object) -> Change:
    message = helper.make_attribute(name, value)
    return lambda proto: attribute(proto, op_type, name).CopyFrom(message)


def put_weight(**fields: object) -> Change:
    """Set fields of the one initializer."""

    def change(proto: onnx.ModelProto) -> None:
        for name in fields:
            proto.graph.initializer[0].ClearField(name)
        proto.graph.initializer[0].MergeFrom(TensorProto(**fields))

    return change


def sparse(values: Sequence[int], shape: Sequence[int], *indices: int) -> Change:
    """Add a sparse initializer, with indices of this shape, to a matrix or a vector."""
    held = helper.make_tensor("sp", TensorProto.FLOAT, [len(values)], values)
    at = helper.make_tensor("", TensorProto.INT64, [1, 2][: len(shape)], indices)
    tensor = helper.make_sparse_tensor(held, at, shape)
    return lambda proto: proto.graph.sparse_initializer.append(tensor)


def scan_before_its_opset(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].version = 7
    keep = node(proto, "Scan")
    proto.graph.node.remove(node(proto, "ConcatFromSequence"))
    proto.graph.node.remove(node(proto, "SequenceConstruct"))
    del proto.graph.output[4]
    del keep.attribute[:]


def sequence_operator_before_its_opset(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].version = 16
    proto.graph.node.append(helper.make_node("SequenceMap", [], ["k"]))


def number_of_no_kind(proto: onnx.ModelProto) -> None:
    attribute(proto, "Scan", "num_scan_inputs").ClearField("type")
    attribute(proto, "Scan", "num_scan_inputs").ClearField("i")


def constant_without_a_tensor(proto: onnx.ModelProto) -> None:
    proto.graph.node.append(helper.make_node("Constant", [], ["k"], value=TensorProto()))
    proto.graph.node[-1].attribute[0].ClearField("t")


def constant_with_too_little(proto: onnx.ModelProto) -> None:
    tensor = helper.make_tensor("v", 1, [1], [1])
    proto.graph.node.append(helper.make_node("Constant", [], ["k"], value=tensor))
    proto.graph.node[-1].attribute[0].t.dims[0] = 2


def opset_of_nothing(proto: onnx.ModelProto) -> None:
    proto.opset_import[0].domain = "other"
    attribute(proto, "Scan", "num_scan_inputs").type = AttributeProto.STRINGS


MAPPED = "k = SequenceMap <body = each (float e) => (float o) { o = Neg(e) }> (list, x)"
TRAINING = "ai.onnx.preview.training"
WEIGHT = "float[3] w = {1, 2, 3}"
LOST = helper.make_node("Neg", ["x"], [], name="lost")
UNKNOWN = helper.make_tensor_sequence_value_info("a", 77, [3])

BODIES: dict[str, tuple[Change, str]] = {
    "loop_without_body": (drop("Loop", "body"), "Loop 'z' lacks its graph attribute 'body'"),
    "scan_without_body": (drop("Scan", "body"), "Scan 's' lacks its graph attribute 'body'"),
    "if_without_a_branch": (
        drop("If", "then_branch"), "If 'y' lacks its graph attribute 'then_branch'"),
    "if_without_branches": (
        lambda p: node(p, "If").ClearField("attribute"), "If 'y' lacks its graph attribute"),
    "loop_body_without_outputs": (
        text(("(bool more, float[3] u)", "()")), "its body has 0 outputs; the node needs 2"),
    "branch_without_outputs": (
        text(("yes () => (float[3] p)", "yes () => ()")),
        "its body has 0 outputs; the node needs 1"),
    "scan_body_without_outputs": (
        text(("(float[3] r2, float[3] o)", "()")), "its body has 0 outputs; the node needs 2"),
    "body_of_another_kind": (
        put("Loop", "body", 1),
        "Loop 'z' has an attribute 'body' of kind INT, which accepts GRAPH"),
    "branches_as_a_list": (
        lambda p: put("If", "else_branch", [attribute(p, "If", "else_branch").g])(p),
        "If 'y' has an attribute 'else_branch' of kind GRAPHS, which accepts GRAPH"),
    "scan_before_its_opset": (
        scan_before_its_opset, "Scan 's' exists from opset 8 on; the model imports 7"),
    "sequence_operator_before_its_opset": (
        sequence_operator_before_its_opset,
        "SequenceMap 'k' exists from opset 17 on; the model imports 16"),
    "body_of_a_map_with_too_few_inputs": (
        more(MAPPED), "SequenceMap 'k': its body has 1 inputs; the node feeds 2"),
    "body_of_a_map_without_outputs": (
        more(MAPPED.replace(", x)", ")").replace("(float o)", "()")),
        "SequenceMap 'k': its body has 0 outputs; the node needs 1"),
}  # fmt: skip

ATTRIBUTES: dict[str, tuple[Change, str]] = {
    "number_as_text": (
        text(("num_scan_inputs = 1", 'num_scan_inputs = "1"')),
        "Scan 's' has an attribute 'num_scan_inputs' of kind STRING, which accepts INT"),
    "scan_without_number": (
        drop("Scan", "num_scan_inputs"), "Scan 's' lacks its attribute 'num_scan_inputs'"),
    "body_of_no_kind": (
        lambda p: attribute(p, "Loop", "body").ClearField("type"),
        "Loop 'z' has an attribute 'body' of kind UNDEFINED, which accepts GRAPH"),
    "number_of_no_kind": (
        number_of_no_kind,
        "Scan 's' has an attribute 'num_scan_inputs' of kind UNDEFINED, which accepts INT"),
    "axes_as_floats": (
        text(("scan_input_axes = [0]", "scan_input_axes = [0.0]")),
        "Scan 's' has an attribute 'scan_input_axes' of kind FLOATS, which accepts INTS"),
    "surplus_input_axes": (
        text(("scan_input_axes = [0]", "scan_input_axes = [0, 0]")),
        "Scan 's' has 2 scan_input_axes for 1 scanned inputs"),
    "surplus_input_directions": (
        text(("scan_input_directions = [0]", "scan_input_directions = [0, 0]")),
        "Scan 's' has 2 scan_input_directions for 1 scanned inputs"),
    "surplus_output_axes": (
        text(("scan_output_axes = [0]", "scan_output_axes = [0, 0, 0]")),
        "Scan 's' has 3 scan_output_axes for 1 scan outputs"),
    "surplus_output_directions": (
        text(("scan_output_directions = [0]", "scan_output_directions = [0, 1]")),
        "Scan 's' has 2 scan_output_directions for 1 scan outputs"),
    "direction_of_five": (
        text(("scan_input_directions = [0]", "scan_input_directions = [5]")),
        "Scan 's' has 5 among its scan_input_directions, which are 0 or 1"),
    "concat_without_axis": (
        drop("ConcatFromSequence", "axis"), "ConcatFromSequence 'q' lacks its attribute 'axis'"),
    "concat_without_axis_in_a_function": (
        text(("y = Concat <axis: int = @axis> (x)",
              "l = SequenceConstruct(x) y = ConcatFromSequence(l)")),
        "ConcatFromSequence 'own::f/y' lacks its attribute 'axis'"),
    "call_without_an_attribute_that_is_needed": (
        drop("f", "axis"), "own::f 'b' lacks an attribute 'axis', which Concat 'own::f/y' needs"),
    "call_with_an_attribute_of_another_kind": (
        put("f", "axis", "zero"),
        "own::f 'b' has an attribute 'axis' of kind STRING, which accepts INT"),
    "reference_of_another_kind": (
        text(("<axis: int = @axis>", "<axis: float = @axis>")),
        "Concat 'own::f/y' has an attribute 'axis' of kind FLOAT, which accepts INT"),
    "constant_of_another_kind": (
        more("k = Constant <value = [1]> ()"),
        "Constant 'k' has an attribute 'value' of kind INTS, which accepts TENSOR"),
    "constant_without_a_tensor": (
        constant_without_a_tensor, "Constant 'k' has an attribute 'value' that holds no tensor"),
    "cast_to_no_type": (
        more("k = Cast <to = 999> (x)"),
        "Cast 'k' has 999 as its attribute 'to', which is not an element type"),
    "gradient_of_numbers": (
        more(f"k = {TRAINING}.Gradient <xs = [1], y = 2> (x)",
             ('"own": 1]', f'"own": 1, "{TRAINING}": 1]')),
        "Gradient"),
}  # fmt: skip

OPERANDS: dict[str, tuple[Change, str]] = {
    "input_missing": (
        text(("Add(x, w)", "Add(x)")), "Add 'a' has 1 inputs; Add accepts 2 at opset 18"),
    "input_absent": (
        text(("Add(x, w)", 'Add(x, "")')), "Add 'a' lacks its input 'B', which Add needs"),
    "input_too_many": (
        text(("Add(x, w)", "Add(x, w, x)")), "Add 'a' has 3 inputs; Add accepts 2 at opset 18"),
    "output_too_many": (
        text(("a = Add(x", "a, m = Add(x")), "Add 'a' has 2 outputs; Add has 1 at opset 18"),
    "output_missing": (
        lambda p: p.graph.node.append(LOST), "Neg 'lost' has 0 outputs; Neg has 1 at opset 18"),
    "variadic_input_missing": (
        text(("(xs, xs)", "()")),
        "SequenceConstruct 'list' has 0 inputs; SequenceConstruct accepts at least 1 at opset 18"),
    "input_missing_inside": (text(("Add(v, w)", "Add(v)")), "Add 'z/u' has 1 inputs"),
    "opset_of_the_far_future": (
        text(('"": 18, ', f'"": {2**63 - 1}, ')),
        "model 'main' imports opset 9223372036854775807; known are 1 to"),
    "negative_opset": (
        lambda p: setattr(p.opset_import[0], "version", -1),
        "model 'main' imports opset -1; known are 1 to"),
    "operator_missing": (
        lambda p: setattr(node(p, "Add"), "op_type", ""), "a node without an operator"),
}  # fmt: skip

NOT_UTF8: dict[str, tuple[Change, str]] = {
    "operator_of_odd_bytes": (
        octets(b"AbA", b"A\xffA", ("Add(x, w)", "AbA(x, w)")),
        "graph.node[0].op_type is b'A\\xffA', which is not UTF-8"),
    "value_of_odd_bytes": (octets(b"\x04list", b"\x04l\xc3st"), "which is not UTF-8"),
    "label_of_odd_bytes": (
        octets(b"\x1a\x01Q", b"\x1a\x01\xff", ("a = Add(x", "[Q] a = Add(x")),
        "graph.node[0].name is b'\\xff', which is not UTF-8"),
    "symbol_of_odd_bytes": (
        octets(b"NNN", b"N\xffN", ("float[3] x,", "float[NNN] x,")), "which is not UTF-8"),
    "domain_of_odd_bytes": (octets(b"own", b"o\xffn"), "which is not UTF-8"),
    "attribute_of_odd_bytes": (
        octets(b"num_scan_inputs", b"num_scan_input\xff"), "which is not UTF-8"),
    "inner_name_of_odd_bytes": (octets(b"more", b"mor\xff"), "which is not UTF-8"),
    "metadata_of_odd_bytes": (
        octets(b"MMMM", b"M\xff\xffM",
               ('"own": 1]', '"own": 1], metadata_props: ["key": "MMMM"]')),
        "which is not UTF-8"),
    "initializer_of_odd_bytes": (
        octets(b"unused", b"unus\xffd", (WEIGHT, f"{WEIGHT}, float[1] unused = {{1}}")),
        "which is not UTF-8"),
}  # fmt: skip

TENSORS: dict[str, tuple[Change, str]] = {
    "initializer_of_no_type": (
        put_weight(data_type=999),
        "initializer 'w' has the element type 999, which ONNX does not know"),
    "initializer_of_undefined_type": (
        put_weight(data_type=0), "initializer 'w' has no element type"),
    "input_of_no_type": (
        lambda p: setattr(p.graph.input[2].type.tensor_type, "elem_type", 999),
        "'x' of graph 'main' has the element type 999, which ONNX does not know"),
    "body_output_of_no_type": (
        lambda p: setattr(
            attribute(p, "Loop", "body").g.output[1].type.tensor_type, "elem_type", 999),
        "'u' of graph 'iteration' of Loop 'z' has the element type 999, which ONNX does not know"),
    "declaration_of_no_type": (
        lambda p: p.graph.value_info.append(UNKNOWN),
        "'a' of graph 'main' has the element type 77, which ONNX does not know"),
    "initializer_of_negative_size": (
        put_weight(dims=[-3]), "initializer 'w' has a negative dimension: [-3]"),
    "initializer_with_too_little": (
        put_weight(dims=[4]), "initializer 'w' has 3 elements where its shape [4] needs 4"),
    "initializer_with_odd_bytes": (
        put_weight(float_data=[], raw_data=b"0123456789"),
        "initializer 'w' has 10 bytes where its shape [3] needs 12"),
    "constant_with_too_little": (
        constant_with_too_little,
        "tensor 'value' of Constant 'k' has 1 elements where its shape [2] needs 2"),
    "sparse_with_too_few_indices": (
        sparse([1, 2], [3], 1), "sparse initializer 'sp' has indices of shape [1] for 2 values"),
    "sparse_with_an_index_behind": (
        sparse([1], [2, 3], 0, 3),
        "sparse initializer 'sp' has an index outside of its shape [2, 3]"),
    "sparse_with_an_index_from_the_end": (
        sparse([1], [3], -1), "sparse initializer 'sp' has an index outside of its shape [3]"),
    "output_without_a_name": (
        lambda p: p.graph.output.add(type=p.graph.output[0].type),
        "graph 'main' has an output '', which nothing defines"),
}  # fmt: skip

IMPORTS = '"own", opset_import: ["": 18]'
OWN = IMPORTS.replace("]", ', "own": 1]')
CALLS: dict[str, tuple[Change, str]] = {
    "recursive_function": (
        text((IMPORTS, OWN), ("= @axis> (x)", "= @axis> (x) u = own.f(x)")),
        "function 'own::f' calls itself"),
    "functions_that_call_each_other": (
        text((IMPORTS, OWN),
             ("= @axis> (x)\n}", "= @axis> (x) u = own.g(x) }"
              f"<domain: {OWN}> g (x) => (y) {{ y = own.f <axis = 0> (x) }}")),
        "function 'own::f' calls itself through 'own::g'"),
    "opset_of_nothing": (
        opset_of_nothing, "model 'main' uses ONNX's own operators but imports no opset for them"),
    "function_without_a_name": (
        lambda p: p.functions.add(domain="own"), "a function of domain 'own' has no name"),
    "call_with_too_many_inputs": (
        lambda p: node(p, "f").input.append("x"),
        "own::f 'b' has 2 inputs; the function accepts 1"),
    "call_with_too_many_outputs": (
        lambda p: node(p, "f").output.append("m"), "own::f 'b' has 2 outputs; the function has 1"),
}  # fmt: skip

REFUSED = {**BODIES, **ATTRIBUTES, **OPERANDS, **NOT_UTF8, **TENSORS, **CALLS}
