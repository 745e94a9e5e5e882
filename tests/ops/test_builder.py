import numpy as np
import onnx
import pytest
from harness import run_in_onnxruntime
from straightline import ir, reference
from straightline.analysis.constants.folding import Folder
from straightline.facts.polynomial import Dimension
from straightline.ops.builder import Builder
from straightline.passes import RewriteError
from tables import table

X = np.arange(6, dtype=np.float32).reshape(1, 2, 3)


def empty_model(opset=13, constant=False, kind=1):
    """A model of one value x, an input or a constant."""
    signature = "" if constant else "float[1,2,3] x"
    proto = onnx.parser.parse_model(
        f'<ir_version: 7, opset_import: ["" : {opset}]> g ({signature}) => () {{ }}'
    )
    model = ir.load(proto)
    if constant:
        return model, model.graph.add_initializer("x", ir.Tensor(array=X))
    (value,) = model.graph.inputs
    value.type = onnx.helper.make_tensor_type_proto(kind, [1, 2, 3])
    return model, value


def run(model, values):
    infos = [onnx.ValueInfoProto(name=value.name) for value in values]
    for info, value in zip(infos, values, strict=True):
        info.type.CopyFrom(onnx.helper.make_tensor_type_proto(value.elem_type or 1, None))
    model.graph.set_outputs(values, infos)
    ir.verify(model)
    return reference.run(ir.to_proto(model), {"x": X} if model.graph.inputs else {})


@pytest.mark.parametrize("opset", [8, 9, 10, 11, 12, 13, 18])
@table(
    ("unsqueeze", lambda e, x: [e.unsqueeze(x, (0, 2), "r")], [X[None][:, :, None]]),
    ("squeeze", lambda e, x: [e.squeeze(x, 0, "r")], [X[0]]),
    ("transpose", lambda e, x: [e.transpose(x, [2, 0, 1], "r")], [X.transpose(2, 0, 1)]),
    ("concat", lambda e, x: [e.concat([x, x], 2, "r")], [np.concatenate([X, X], 2)]),
    ("stack", lambda e, x: [e.stack([x, x], 1, "r")], [np.stack([X, X], 1)]),
    ("split", lambda e, x: e.split(x, [1, 2], 2, ["r", "s"]), [X[..., :1], X[..., 1:]]),
    ("slice", lambda e, x: [e.slice(x, 0, 1, "r")], [X[:1]]),
    ("cut", lambda e, x: [e.cut(x, 1, 3, 2, "r")], [X[..., 1:3]]),
    ("sum", lambda e, x: [e.reduce("ReduceSum", x, (1,), "r")], [X.sum(1)]),
    ("largest", lambda e, x: [e.reduce("ReduceMax", x, (2,), "r")], [X.max(2)]),
)
def test_each_form_in_each_opset(form, make, expected, opset):
    model, x = empty_model(opset)
    for found, wanted in zip(run(model, make(Builder(model.graph), x)), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def all_of_run_time(emitter, x):
    """Numbers, a reversal, and a Slice from a size - 3 to the size - 1, or to the place 1."""
    size, one = emitter.size(x, 2, "size"), emitter.vector((1,), "one")
    start, end = (emitter.add("Sub", [emitter.vector((n,), "n"), size], "b") for n in (1, 2))
    axis = emitter.vector((2,), "axis")
    rows = emitter.transpose(x, [2, 0, 1], "rows")
    return [
        emitter.numbers(emitter.squeeze(size, 0, "end"), "numbers"),
        emitter.reverse(rows, "reversed"),
        emitter.add("Slice", [x, start, end, axis], "from_end"),
        emitter.cut(x, emitter.add("Sub", [size, one], "last"), size, 2, "last"),
    ]


@pytest.mark.parametrize("opset", [9, 10, 11, 13])
def test_forms_of_sizes_that_run_time_knows(opset):
    """Before opset 11 there is no Range, before opset 10 no step and no bound of run time."""
    model, x = empty_model(opset)
    places = run(model, all_of_run_time(Builder(model.graph), x))
    wanted = [np.arange(3), X.transpose(2, 0, 1)[::-1], X[..., -2:-1], X[..., 2:]]
    for one, other in zip(places, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_operand_of_run_time_that_is_an_attribute_in_the_opset():
    model, x = empty_model(10)
    emitter = Builder(model.graph)
    pads = emitter.add("Shape", [x], "pads")
    with pytest.raises(RewriteError, match="needs Pad by pads of run time"):
        emitter.add("Pad", [x, pads], "r")


def test_a_scalar_of_whatever_rank():
    model, x = empty_model()
    emitter = Builder(model.graph)
    one = emitter.slice(emitter.squeeze(emitter.slice(x, 0, 1, "a"), 0, "b"), 0, 1, "c")
    one = emitter.split(one, [1, 2], 1, ["d", "e"])[0]
    (found,) = run(model, [emitter.scalar(one, "r")])
    assert (found.shape, found.item()) == ((), 0)


def test_identities_are_not_emitted():
    model, x = empty_model()
    emitter = Builder(model.graph)
    assert emitter.transpose(x, [0, 1, 2], "r") is x
    assert emitter.concat([x], 0, "r") is x
    assert len(model.graph) == 0


def test_equal_axes_are_one_constant():
    model, x = empty_model()
    emitter = Builder(model.graph)
    first, second = emitter.unsqueeze(x, 0, "r"), emitter.unsqueeze(x, (0,), "s")
    assert first.producer.inputs[1] is second.producer.inputs[1]
    assert len(model.graph.initializers) == 1


@pytest.mark.parametrize("opset", [9, 11, 12, 17])
def test_extremes_of_integers_in_each_opset(opset):
    """Comparisons make them before opset 12."""
    model, _ = empty_model(opset, constant=True)
    emit = Builder(model.graph)
    parts = [emit.constant(np.array(each), "k") for each in ([1, 5, 3], [4, 2, 3], [0, 9, 1])]
    largest, least = (emit.add(kind, parts, kind) for kind in ("Max", "Min"))
    clamped = emit.clamp(parts[0], parts[2], parts[1], "clamped")
    expected = [[4, 9, 3], [0, 2, 1], [1, 2, 3]]
    assert [each.tolist() for each in run(model, [largest, least, clamped])] == expected


def test_a_shared_node_is_emitted_once():
    model, x = empty_model()
    emitter = Builder(model.graph)
    first = emitter.once("Softmax", [x], "s", axis=0)
    assert emitter.once("Softmax", [x], "t", axis=0) is first
    assert emitter.once("Softmax", [x], "u", axis=1) is not first
    emitter.graph.remove(first.producer)
    assert emitter.once("Softmax", [x], "v", axis=0) is not first


def test_constants_are_folded_at_once():
    model, x = empty_model(constant=True)
    emitter = Builder(model.graph, Folder(model).fold)
    parts = emitter.split(emitter.squeeze(x, 0, "r"), [1, 1], 0, ["a", "b"])
    assert len(model.graph) == 0
    assert [part.constant.numpy().tolist() for part in parts] == [[[0, 1, 2]], [[3, 4, 5]]]


def test_builders_write_for_the_opset_to_come():
    model, x = empty_model(13)
    node = Builder(model.graph, opset=11).squeeze(x, 0, "r").producer
    assert node.attribute("axes") == [0] and len(node.inputs) == 1


@table(
    ("an operator that is not there yet", 8, 1, lambda e, x: e.add("Where", [x, x, x], "r"),
     "needs Where, which opset 8"),
    ("a type that is not taken", 13, onnx.TensorProto.BOOL, lambda e, x: e.add("Neg", [x], "r"),
     "needs Neg of value 'x', whose type bool it does not support in opset 13"),
    ("axes from the back", 10, 1, lambda e, x: e.split(x, [1, 2], -1, ["r", "s"]),
     r"Split with axes \[-1\], which opset 10"))  # fmt: skip
def test_refused_emissions(case, opset, kind, make, message):
    model, x = empty_model(opset, kind=kind)
    with pytest.raises(RewriteError, match=message):
        make(Builder(model.graph), x)


def one_of_two(opset=17, kind=1, keeps=True, constants=()):
    """The operators of a Where of two inputs, or of constants in their place."""
    model, x = empty_model(opset, kind=kind)
    flag = onnx.helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [2, 3])
    other = onnx.helper.make_tensor_value_info("z", kind, [2, 3])
    condition, z = model.graph.add_input("c", flag), model.graph.add_input("z", other)
    emitter = Builder(model.graph)
    emitter.keeps_signs = lambda: keeps
    places = {0: x, 1: z} | {k: emitter.constant(array, "k") for k, array in constants}
    emitter.add("Where", [condition, places[0], places[1]], "r")
    return [node.op_type for node in model.graph.nodes()]


ZERO, LESS_ZERO = np.array(0.0, np.float32), np.array(-0.0, np.float32)


@table(
    ({}, ["Xor", "Where", "Where", "Max"]),
    ({"keeps": False}, ["Where"]),
    ({"kind": onnx.TensorProto.INT64}, ["Where"]),
    ({"kind": onnx.TensorProto.BOOL}, ["And", "Not", "And", "Or"]),
    ({"constants": [(0, ZERO)]}, ["Where"]),
    ({"constants": [(1, ZERO)]}, ["Xor", "Where"]),
    ({"constants": [(1, ZERO)], "keeps": False}, ["Where"]),
    ({"constants": [(1, LESS_ZERO)]}, ["Xor", "Where", "Where", "Max"]),
    ({"constants": [(0, ZERO), (1, ZERO)]}, ["Where"]),
)
def test_selects_keep_signs_of_zeros(how, written):
    assert one_of_two(**how) == written


@pytest.mark.parametrize("shape", [(), (2,), (2, 1)])
@pytest.mark.parametrize("axis", [0, 1, -2, -1])
@pytest.mark.parametrize(("opset", "is_known"), [(10, True), (11, True), (11, False), (17, False)])
def test_rows_of_strings_in_onnxruntime(opset, is_known, axis, shape):
    """Its Gather copies the first string of a row alone."""
    head = f'<ir_version: 7, opset_import: ["" : {opset}]>'
    text = f"{head} g (string[2,3,4] x, int32[1] i) => () {{ }}"
    model = ir.load(onnx.parser.parse_model(text))
    x, i = model.graph.inputs
    i.type = onnx.helper.make_tensor_type_proto(onnx.TensorProto.INT32, shape)
    emitter, dim = Builder(model.graph), Dimension.constant(1)
    if is_known:
        emitter.shape_of = {x: (dim,) * 3, i: (dim,) * len(shape)}.get
    elif axis:
        return  # axes after the first one move where ranks are known
    y = emitter.add("Gather", [x, i], "y", axis=axis)
    info = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.STRING, None)
    model.graph.set_outputs([y], [info])
    texts = np.array([f"{n}" for n in range(24)], object).reshape(2, 3, 4)
    places = np.array([1, 0], np.int32)[: np.prod(shape, dtype=int)].reshape(shape)
    for run in (reference.run, run_in_onnxruntime):
        (found,) = run(ir.to_proto(model), {"x": texts, "i": places})
        np.testing.assert_array_equal(found, np.take(texts, places, axis))
