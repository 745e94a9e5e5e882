import itertools

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from straightline import Error
from straightline.ir import Operator
from straightline.ir.checker import check_well_formed
from straightline.ir.onnx_errors import OnnxError, ask_onnx
from straightline.ops import rules_of
from straightline.verification.proof.execution.compile_graph import Compiler
from straightline.verification.proof.full_check import accepted_kinds, kinds_of
from straightline.verification.proof.terms.budget import OpenError
from straightline.verification.proof.terms.term import Heads
from tables import table

HEADER = '<ir_version: 8, opset_import: ["" : 17, "own" : 1]>'
SHAPES = """g (float[N, 4] x, float[K] z) => (float[2, M] y, float[N, 4] n, float s)
<float[4, 4] w = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}, float[4] b = {1, 2, 3, 4},
 int64[2] two = {2, -1}, int64 k = {1}, float[N, 4] a, int64[1] sizes, float[4] b> {
    a = MatMul (x, w)
    n = Add (a, b)
    flat = Reshape (n, two)
    minus = Constant <value_ints = [2, -1]> ()
    again = Reshape (flat, minus)
    y = Concat <axis = 1> (again, flat)
    row = Gather <axis = 0> (a, k)
    s = ReduceSum <keepdims = 0> (row)
    sizes = Shape <start = 1> (a)
    filled = ConstantOfShape <value = float[1] {2}> (sizes)
    left, right = Split <axis = 1> (a)
    drop, mask = Dropout (right)
    clip = Clip (drop, , s)
    old = own.Op <mode = "x"> (left) }"""
CHAIN = """g (float[1, 4] x, int64 i) => (float[1, 4] y)
<float[4, 4] w = {1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1}, float[1] one = {1}> {
    a = MatMul (x, w)  b = Add (a, one)  c = MatMul (b, w)  d = Add (c, one)
    e = Cast <to = 7> (d)  f = Cast <to = 1> (e)  y = Transpose <perm = [0, 1]> (f) }"""


def parsed(text):
    return onnx.parser.parse_model(HEADER + text)


def by_kinds(proto):
    """Return whether the check by kinds accepts a model; None where it does not compile."""
    try:
        check_well_formed(proto)
        program = Compiler(Heads(), proto).main
    except (Error, OpenError):
        return None
    return kinds_of(program, proto, 1 << 20) is not None


def as_a_whole(proto):
    try:
        ask_onnx("the model", onnx.checker.check_model, proto, full_check=True)
    except OnnxError:
        return False
    return True


TYPES = (
    helper.make_tensor_type_proto(TensorProto.INT64, [2, 2]),
    helper.make_tensor_type_proto(TensorProto.FLOAT, [3]),
    helper.make_tensor_type_proto(TensorProto.FLOAT, [5, 9]),
    helper.make_tensor_type_proto(TensorProto.FLOAT, None),
    helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None)),
    onnx.TypeProto(),
)


def of_nodes(proto):
    """Yield changes of each node of a model."""
    for node in proto.graph.node:
        names = [name for each in proto.graph.node for name in each.output][:3]
        for k, name in itertools.product(range(len(node.input)), [*names, "x", "two", "b", ""]):
            yield lambda node=node, k=k, name=name: node.input.__setitem__(k, name)
        yield lambda node=node: node.input.append("x")
        yield lambda node=node: node.input.append("")
        yield lambda node=node: node.output.append("more")
        yield lambda node=node: node.output.__setitem__(0, "")
        yield lambda node=node: setattr(node, "domain", "ai.onnx")
        yield lambda node=node: setattr(node, "domain", "nowhere")
        yield lambda node=node: node.attribute.append(helper.make_attribute("unheard", 1))
        yield lambda node=node: node.attribute.append(helper.make_attribute("axis", "text"))
        yield lambda node=node: node.attribute.append(helper.make_attribute("axis", 7))
        for op_type in ("Sin", "And", "MatMul", "Upsample", "Unheard", "Reshape", "Gather"):
            yield lambda node=node, op_type=op_type: setattr(node, "op_type", op_type)
        for attribute in node.attribute:
            yield lambda node=node, a=attribute: node.attribute.remove(a)
            yield lambda a=attribute: setattr(a, "name", "other")
            yield lambda a=attribute: a.CopyFrom(helper.make_attribute(a.name, [5, 5, 5]))
            yield lambda a=attribute: a.CopyFrom(helper.make_attribute(a.name, -9))
            yield lambda a=attribute: setattr(a, "type", onnx.AttributeProto.FLOAT)


def of_graph(proto):
    """Yield changes of declarations, initializers and imports."""
    graph = proto.graph
    for infos in (graph.input, graph.output, graph.value_info):
        for info, kind in itertools.product(infos, TYPES):
            yield lambda info=info, kind=kind: info.type.CopyFrom(kind)
        for info in infos:
            yield lambda infos=infos, info=info: infos.append(info)
            yield lambda info=info: info.ClearField("name")
            yield lambda info=info: info.ClearField("type")
            yield lambda info=info: info.type.tensor_type.ClearField("elem_type")
    names = [name for node in graph.node for name in node.output]
    for name, kind in itertools.product([*names, "x", "b"], TYPES):
        yield lambda name=name, kind=kind: graph.value_info.add(name=name, type=kind)
        yield lambda name=name, kind=kind: graph.output.add(name=name, type=kind)
    for tensor in graph.initializer:
        yield lambda tensor=tensor: tensor.dims.append(3)
        yield lambda tensor=tensor: setattr(tensor, "data_type", TensorProto.INT32)
        yield lambda tensor=tensor: setattr(tensor, "raw_data", b"abcd")
        yield lambda tensor=tensor: tensor.ClearField("name")
        yield lambda tensor=tensor: graph.initializer.append(tensor)
        yield lambda tensor=tensor: setattr(tensor, "data_location", TensorProto.EXTERNAL)
        yield lambda tensor=tensor: tensor.CopyFrom(
            numpy_helper.from_array(np.int64([7, -2]), tensor.name)
        )
        for kind in TYPES:
            yield lambda t=tensor, kind=kind: graph.input.add(name=t.name, type=kind)
    for number in (1, 3, 5, 20, 99):
        yield lambda number=number: setattr(proto.opset_import[0], "version", number)
        yield lambda number=number: setattr(proto, "ir_version", number)
    yield lambda: proto.opset_import.pop(1)
    yield lambda: setattr(proto.opset_import[0], "domain", "ai.onnx")
    yield lambda: graph.ClearField("name")
    yield graph.node.reverse
    yield lambda: proto.ClearField("ir_version")


@pytest.mark.parametrize("text", [SHAPES, CHAIN])
@pytest.mark.parametrize("changes", [of_nodes, of_graph])
def test_no_malformed_model_passes_by_kinds(text, changes):
    sound, proto = parsed(text), parsed(text)
    total, outcomes = sum(1 for _ in changes(proto)), []
    for index in range(total):
        proto.CopyFrom(sound)
        next(itertools.islice(changes(proto), index, None))()
        found, whole = by_kinds(proto), as_a_whole(proto)
        assert whole or not found, onnx.printer.to_text(proto)
        outcomes.append((found, whole))
    assert outcomes.count((True, True)) >= total // 20
    assert outcomes.count((False, False)) >= total // 20


@pytest.mark.parametrize("text", [SHAPES, CHAIN])
def test_models_that_onnx_accepts_pass(text):
    proto = parsed(text)
    onnx.checker.check_model(proto, full_check=True)
    assert by_kinds(proto)


def test_bodies_and_functions_stay_open():
    bodies = """g (bool c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = t () => (float[2] a) { a = Neg (x) },
                    else_branch = e () => (float[2] b) { b = Abs (x) }> }"""
    assert not by_kinds(parsed(bodies))
    called = """g (float[2] x) => (float[2] y) { y = own.f (x) }
    <domain: "own", opset_import: ["" : 17]> f (x) => (y) { y = Neg (x) }"""
    assert not by_kinds(parsed(called))


def chain(count, last="y = Neg (v{})"):
    nodes = [f"v{k + 1} = Neg (v{k})" for k in range(count)]
    return parsed(
        "g (float[2] v0) => (float[2] y) {" + " ".join([*nodes, last.format(count)]) + "}"
    )


@table(
    (100, "y = Neg (v{})", True),
    (4, "y = Neg (v{})", True),
    (4, "y = Abs (v{})", False),  # two kinds of five nodes: all at once are faster
    (100, "y = Unsqueeze (v{}, v0)", False),
)
def test_few_kinds_of_many_nodes_are_asked(count, last, passes, monkeypatch):
    proto = chain(count, last)
    asked = []
    check = onnx.checker.check_node
    monkeypatch.setattr(onnx.checker, "check_node", lambda *a: asked.append(a[0]) or check(*a))
    program = Compiler(Heads(), proto).main
    if count == 4 and passes:
        assert accepted_kinds(program, proto) is None
        assert not asked
        return
    assert (accepted_kinds(program, proto) is not None) is passes
    assert len(asked) <= 2


CONTENTS = (None, 0, 1, 3, 99)
NAMES = sorted({s.name for s in onnx.defs.get_all_schemas_with_history() if not s.domain})


def is_inferred_from_types(name):
    rules = rules_of(Operator(name))
    return rules.elementwise or rules.inferred_from_types


def versions(name):
    return sorted(
        {
            s.since_version: s
            for s in onnx.defs.get_all_schemas_with_history()
            if s.name == name and not s.domain and not s.deprecated
        }.items()
    )


@pytest.mark.sample(43)
@pytest.mark.parametrize("name", [name for name in NAMES if is_inferred_from_types(name)])
def test_contents_decide_no_types_of_these_operators(name):
    """Inference answers alike whatever constants an operand holds, in each version."""
    for version, schema in versions(name):
        allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
        kinds = [sorted(allowed.get(i.type_str, [i.type_str])) for i in schema.inputs]
        for pick, shape in itertools.product((0, -1), ([2, 3], [3], [])):
            own = [kind[pick].removeprefix("tensor(")[:-1].upper() for kind in kinds]
            answers = {inferred(name, version, own, shape, content) for content in CONTENTS}
            assert len(answers) == 1, (version, own, shape, answers)


def inferred(name, version, kinds, shape, content):
    """Return the types of a node's outputs, or the error; operands hold one number each."""
    graph = onnx.GraphProto(name="g")
    inputs = []
    for k, kind in enumerate(kinds):
        elem_type = TensorProto.DataType.Value(kind)
        inputs.append(f"i{k}")
        graph.input.append(helper.make_tensor_value_info(f"i{k}", elem_type, shape))
        if content is not None and elem_type not in (TensorProto.STRING, TensorProto.BFLOAT16):
            dtype = helper.tensor_dtype_to_np_dtype(elem_type)
            array = np.full(shape, content % 100 if dtype.kind in "iuf" else bool(content))
            graph.initializer.append(numpy_helper.from_array(array.astype(dtype), f"i{k}"))
    attributes = {"axis": 0} if name == "Concat" else {}
    attributes |= {"direction": "LEFT"} if name == "BitShift" else {}
    attributes |= {"to": 7} if name == "Cast" else {}
    graph.node.append(helper.make_node(name, inputs, ["o"], **attributes))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)])
    try:
        infer = onnx.shape_inference.infer_shapes
        made = ask_onnx("the node", infer, model, check_type=True, strict_mode=True)
    except OnnxError as error:
        return str(error)
    return b"".join([info.SerializeToString() for info in made.graph.value_info])
