import numpy as np
import pytest
from harness import as_model
from small_arrays import ONE, floats, ints, ones
from straightline import ir
from straightline.analysis.constants.folding import Folder, _shared_kernel
from straightline.analysis.guarded_evaluation import size_of
from straightline.ir import Tensor
from straightline.ir.opaque import OpaqueTensor, Reads, recompute
from straightline.limits import Limits, governed
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17, "local" : 1, "other" : 1, "ai.onnx" : 17]>\n'


def node_of(text, function=""):
    model = ir.load(
        as_model(f"{HEAD}g (float[2] x, bool q) => (float[2] y) {{ {text} }}\n{function}")
    )
    return model.graph.nodes()[-1], Folder(model)


@table(
    ("y = Neg (x)", True),
    ("y = ai.onnx.Neg (x)", True),
    ("y = other.Neg (x)", False),
    ("y = Constant <value_floats = [1.0, 2.0]> ()", False),
    ("y = RandomUniformLike (x)", False),
    ("y = QuantizeLinear (x, x)", False),
    ("y = Optional (x)", False),
    (
        """y = If (q) <then_branch = t () => (float[2] u) { u = Neg (x) },
                           else_branch = e () => (float[2] v) { v = Abs (x) }>""",
        False,
    ),
)
def test_which_operators_are_folded(text, may):
    node, folder = node_of(text)
    assert folder.may_fold(node) == may


def test_references_to_attributes_of_the_function_around():
    function = """<domain: "local", opset_import: ["" : 17]> f <k> (x) => (y) {
        y = Softmax <axis : int = @k> (x)
    }"""
    node, folder = node_of("y = local.f <k = 0> (x)", function)
    (inner,) = folder.model.functions.values()
    assert not folder.may_fold(node)
    assert not folder.may_fold(inner.graph.nodes()[0])


def test_versions_of_an_operator_are_those_of_the_function_around():
    function = '<domain: "local", opset_import: ["" : 12]> f (x) => (y) { y = Softmax (x) }'
    node, folder = node_of("y = Softmax (x)", function)
    (inner,) = folder.model.functions.values()
    tensor = Tensor(array=np.ones((2, 2, 2), np.float32))
    (new,) = folder.fold(node, [tensor])
    (old,) = folder.fold(inner.graph.nodes()[0], [tensor])
    assert new.numpy()[0, 0, 0] == 0.5
    assert old.numpy()[0, 0, 0] == 0.25


def test_omitted_inputs_and_outputs():
    node, folder = node_of("y = Clip (x, , q)")
    tensors = [Tensor(array=np.array([1, 5], np.float32)), None, Tensor(array=np.float32(2))]
    (result,) = folder.fold(node, tensors)
    np.testing.assert_array_equal(result.numpy(), [1, 2])


def test_large_inputs_are_not_read():
    node, folder = node_of("y = Neg (x)")
    assert folder.fold(node, [Tensor(array=np.zeros(1 << 19, np.float32))]) is None


# An operator, its inputs for a small result and for a large one, and the opset.
GROWING = [
    ("ConstantOfShape (a)", [ints(2, 3)], [ints(3000, 3000)], 17),
    ("Expand (a, b)", [ones(1), ints(2, 3)], [ones(1), ints(3000, 3000)], 17),
    ("Tile (a, b)", [ones(2), ints(3)], [ones(3000), ints(3000)], 17),
    ("OneHot (a, b, c)", [ints(1, 0), ints(3)[0], floats(0, 1)],
     [np.zeros(1000, np.int64), ints(9000)[0], floats(0, 1)], 17),
    ("Range (a, b, c)", [ints(0)[0], ints(3)[0], ints(1)[0]],
     [ints(0)[0], ints(9**8)[0], ints(1)[0]], 17),
    ("Range (a, b, c)", [ints(3)[0], ints(0)[0], ints(-1)[0]],
     [ints(9**8)[0], ints(0)[0], ints(-2)[0]], 17),
    ("Pad (a, b)", [ones(2), ints(1, 1)], [ones(2), ints(9**8, 0)], 17),
    ("Pad <pads = [1, 1]> (a)", [ones(2)], None, 10),
    ("Pad <pads = [0, 43046721]> (a)", None, [ones(2)], 10),
    ("Resize (a, b)", [ONE, floats(1, 1, 2, 2)], [ONE, floats(1, 1, 3000, 3000)], 10),
    ("Resize (a, , b)", [ONE, None, floats(1, 1, 2, 2)], [ONE, None, floats(1, 1, 3000, 3000)], 17),
    ("Resize (a, , , b)", [ONE, None, None, ints(1, 1, 2, 2)],
     [ONE, None, None, ints(1, 1, 3000, 3000)], 17),
    ("Upsample (a, b)", [ONE, floats(1, 1, 2, 2)], [ONE, floats(1, 1, 3000, 3000)], 9),
    ("Upsample <scales = [1.0, 1.0, 2.0, 2.0]> (a)", [ONE], None, 7),
    ("Upsample <scales = [1.0, 1.0, 3000.0, 3000.0]> (a)", None, [ONE], 7),
    ('Einsum <equation = "i,j->ij"> (a, b)', [ones(2), ones(3)], [ones(3000), ones(3000)], 17),
    ("CenterCropPad (a, b)", [ones(2, 2), ints(3, 3)], [ones(2, 2), ints(3000, 3000)], 18),
    ("AffineGrid (a, b)", [ones(1, 2, 3), ints(1, 1, 2, 2)],
     [ones(1, 2, 3), ints(1, 1, 3000, 3000)], 20),
    ("Where (a, b, c)", [ones(2, 1) > 0, ones(3), ones(1)],
     [ones(3000, 1) > 0, ones(3000), ones(1)], 17),
    ("Max (a, b)", [ones(2, 1), ones(3)], [ones(3000, 1), ones(3000)], 17),
    ("Min (a, b)", [ones(2, 1), ones(3)], [ones(3000, 1), ones(3000)], 17),
    ("Sum (a, b)", [ones(2, 1), ones(3)], [ones(3000, 1), ones(3000)], 17),
    ("Mean (a, b)", [ones(3), ones(3)], [ones(3000, 1), ones(3000)], 17),
    ("Add (a, b)", [ones(2, 1), ones(3)], [ones(3000, 1), ones(3000)], 17),
    ("HannWindow (a)", [ints(4)[0]], [ints(9**8)[0]], 17),
    ("HammingWindow (a)", [ints(4)[0]], [ints(9**8)[0]], 17),
    ("BlackmanWindow (a)", [ints(4)[0]], [ints(9**8)[0]], 17)]  # fmt: skip


@pytest.mark.parametrize(
    ("node", "small", "large", "opset"), GROWING, ids=[f"{g[0].split()[0]}-{g[3]}" for g in GROWING]
)
def test_a_large_result_is_not_begun(monkeypatch, node, small, large, opset):
    """The kernel is not asked, as it would take the time and memory that are to be saved."""
    model = ir.load(
        as_model(
            f'<ir_version: 8, opset_import: ["" : {opset}]> g (a, b, c) => (y) {{ y = {node} }}'
        )
    )
    (made,) = model.graph.nodes()
    folder = Folder(model)
    asked = []
    kernel = folder._kernel(made, model, opset)
    monkeypatch.setattr(
        folder, "_kernel", lambda *_: lambda arrays: asked.append(1) or kernel(arrays)
    )
    for arrays, begun in ((small, True), (large, False)):
        if arrays is not None:
            tensors = [
                None if array is None else Tensor(array=np.asarray(array)) for array in arrays
            ]
            assert (folder.fold(made, tensors) is not None) == begun
            assert bool(asked) == begun
            asked.clear()


def test_a_range_without_steps_is_left_to_fail():
    node, folder = node_of("y = Range (x, x, x)")
    zero, ten = (Tensor(array=np.array(number)) for number in (0, 10))
    assert folder.fold(node, [zero, ten, zero]) is None


def test_outputs_that_are_left_out_are_computed_all_the_same():
    model = ir.load(as_model(f"{HEAD} g (a) => (y, i) {{ y, , i = Unique (a) }}"))
    (node,) = model.graph.nodes()
    results = Folder(model).fold(node, [Tensor(array=floats(5, 1, 5))])
    assert results is not None and results[2].numpy().tolist() == [1, 0, 1]


@table(
    ("y = Softmax <axis = 0> (x)", 17, [[1.0, 1.0], [1.0, 1.0]], 0.5),
    ("y = Softmax <axis = 0> (x)", 12, [[1.0, 1.0], [1.0, 1.0]], 0.25),
    ("y = Softmax <axis = 1> (x)", 17, [[1.0, 1.0, 1.0, 1.0]], 0.25),
    ("y = Clip (x)", 17, [-2.0], -2.0),
    ("y = Clip (x, zero)", 17, [-2.0], 0.0),
    ("y = Clip (x, , zero)", 17, [2.0], 0.0),
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nodes_of_many_models_that_differ_in_one_thing_each(text, version, given, wanted, dtype):
    model = ir.load(
        as_model(f"""<ir_version: 8, opset_import: ["" : {version}]>
        g (float[N] x, float zero) => (y) {{ {text} }}""")
    )
    (node,) = model.graph.nodes()
    known = {"x": np.array(given, dtype), "zero": np.array(0, dtype)}
    tensors = [v and Tensor(array=known[v.name]) for v in node.inputs]
    (result,) = Folder(model).fold(node, tensors)
    assert result.numpy().dtype == dtype
    assert result.numpy().reshape(-1)[0] == wanted


def test_a_kernel_is_made_once_for_all_models(monkeypatch):
    made = []

    def operator_kernel(proto, opsets):
        made.append(proto.op_type)
        return lambda arrays: [arrays[0] * 2]

    monkeypatch.setattr("straightline.analysis.constants.folding.operator_kernel", operator_kernel)
    _shared_kernel.cache_clear()
    try:
        for _ in range(3):
            node, folder = node_of("y = Elu <alpha = 0.125> (x)")
            (result,) = folder.fold(node, [Tensor(array=np.ones(2, np.float32))])
            assert result.numpy().tolist() == [2, 2]
    finally:
        _shared_kernel.cache_clear()
    assert made == ["Elu"]


def test_results_that_are_equal_are_one():
    node, folder = node_of("z = Constant <value_float = 1.0> () y = Mul (x, z)")
    array = np.arange(1000, dtype=np.float32)
    one = Tensor(array=np.ones(1, np.float32))
    (first,) = folder.fold(node, [Tensor(array=array), one])
    (second,) = folder.fold(node, [Tensor(array=array.copy()), one])
    (other,) = folder.fold(node, [Tensor(array=array + 1), one])
    assert first is second and other is not first


def test_freed_constants_make_room():
    node, folder = node_of("z = Constant <value_float = 1.0> () y = Add (x, z)")
    array = np.arange(1000, dtype=np.float32)
    one = Tensor(array=np.ones(1, np.float32))
    with governed(Limits(max_memory=10_000)) as governor:
        for number in range(20):
            assert folder.fold(node, [Tensor(array=array + number), one]) is not None
        kept = [folder.fold(node, [Tensor(array=array + n), one]) for n in range(20)]
        assert [found is not None for found in kept] == [True] * 2 + [False] * 18
    ((why, (place, count)),) = governor.refused.items()
    assert "max_memory=10000" in why and place is node and count == 18


def test_the_letters_of_texts_count():
    assert size_of(np.array(["a" * 1000, "b"], object)) == 16 + 1001
    assert size_of(np.zeros(3, np.float32)) == 12


@pytest.mark.parametrize("limit", [10_000, 100_000_000])
def test_too_many_steps_are_refused(limit):
    node, folder = node_of("z = Constant <value_float = 1.0> () y = Add (x, z)")
    tensors = [Tensor(array=np.ones(1000, np.float32)), Tensor(array=np.ones(1, np.float32))]
    with governed(Limits(max_work=limit)):
        assert (folder.fold(node, tensors) is not None) == (limit > 10_000)


@table(
    ("y = Mul (x, x)", False),
    ("y = Neg (x)", False),
    ("y = Transpose (x)", False),
    ("y = Div (x, x)", True),  # of ordinary numbers only
    ("y = Sqrt (x)", True),
    ("y = Compress (x, q)", False),
    ("y = NonZero (x)", True),
)
def test_whether_elements_decide_the_result_is_noted(text, decides):
    node, folder = node_of(text)
    note = Reads()
    source = OpaqueTensor(Tensor(array=np.float32([1, 4])), (note,))
    tensors = [source for _ in node.inputs]
    if node.is_op("Compress"):
        tensors[1] = Tensor(array=np.array([True, False]))
    (result,) = folder.fold(node, tensors)
    assert note.any == decides
    assert isinstance(result, OpaqueTensor) and result.notes == {note}
    node.graph.set_outputs([], [])
    node.graph.remove(node)
    other = Tensor(array=np.float32([9, 16]))
    again = recompute(result, note, {source: other})
    tensors = [other if tensor is source else tensor for tensor in tensors]
    fresh, folder = node_of(text)
    (wanted,) = folder.fold(fresh, tensors)
    assert not isinstance(again, OpaqueTensor)
    np.testing.assert_array_equal(again.numpy(), wanted.numpy())
