import numpy as np
import onnx
import pytest
from proofs import assert_open, assert_proved, model
from straightline import ir, prove
from straightline.ir import Tensor
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.constants import (
    MOST_ELEMENTS,
    WeightFiles,
    evaluate,
    key_of,
)
from straightline.verification.proof.terms.term_manager import Terms
from tables import table
from term_values import terms_of

ADDED = "g (float[2] x) => (float[2] z) <float[2] a = {1, 2}, float[2] b = {3, 4}> { %s }"


def test_operators_on_constants_are_what_they_give():
    assert_proved(
        ADDED % "c = Add (a, b) d = Exp (c) z = Mul (x, d)",
        ADDED % "c = Add (b, a) d = Exp (c) z = Mul (x, d)",
    )
    assert_open(ADDED % "c = Add (a, b) z = Mul (x, c)", ADDED % "c = Add (a, a) z = Mul (x, c)")


def test_a_constant_that_is_computed_is_one_that_is_written():
    terms, (output,) = terms_of(model(ADDED % "z = Pow (a, b)"))
    assert terms.tensor(output).numpy().tolist() == [1, 16]
    assert output is terms.constant(np.float32([1, 16]))


def filled(*shape):
    sizes = ", ".join(map(str, shape))
    _, (output,) = terms_of(
        model(f"""g () => (float[n, m] z) <int64[2] s = {{{sizes}}}> {{
            z = ConstantOfShape <value = float[1] {{7}}> (s) }}""")
    )
    return output.head.name


def test_large_constants_are_not_computed():
    assert filled(MOST_ELEMENTS, 1) == "constant"
    assert filled(MOST_ELEMENTS + 1, 1) == "Expand"
    assert filled(MOST_ELEMENTS, MOST_ELEMENTS) == "Expand"


def test_texts_are_counted_by_their_letters():
    """Sixty times doubled, a text of two letters would have 2^61."""
    doubled = " ".join(f"t{n + 1} = StringConcat (t{n}, t{n})" for n in range(60))
    terms, (output,) = terms_of(
        model(
            f'g () => (string[1] z) <string[1] t0 = {{"ab"}}> {{ {doubled} z = Identity (t60) }}',
            opset=20,
        )
    )
    assert output.head.name == "StringConcat"
    long = terms.constant(np.array(["a" * MOST_ELEMENTS], object))
    like = terms.heads.of(ir.Operator("StringConcat"), {"": 20})
    assert terms.op("StringConcat", like, long, long).head.name == "StringConcat"


def test_nothing_is_computed_of_large_constants():
    terms = Terms(Budget())
    large = terms.constant(np.zeros(MOST_ELEMENTS + 1, np.float32))
    like = terms.heads.of(ir.Operator("Neg"), {"": 18})
    assert terms.op("Neg", like, large).head.name == "Neg"
    assert terms.op("Neg", like, terms.constant(np.zeros(3))).head.name == "constant"


FAILING = ["z = Div (a, b)", "z = Gather (a, one)", "z = Mod (a, b)"]


@pytest.mark.parametrize("node", FAILING)
def test_failing_constants_stay(node):
    text = """g () => (int64[1] z) <int64[1] a = {5}, int64[1] b = {0}, int64[1] one = {1}> {
        %s }"""
    _, (output,) = terms_of(model(text % node))
    assert output.head.name == node.split()[2]
    assert_open(text % node, text % "z = Identity (a)")


def evaluated_node(text, tensors):
    """What a node makes of constants."""
    terms = Terms(Budget())
    (node,) = onnx.parser.parse_graph(f"g () => (float[n] z) {{ {text} }}").node
    head = terms.heads.of(ir.Operator(node.op_type, {a.name: a for a in node.attribute}), {"": 18})
    args = tuple(terms.constant(np.asarray(t)) for t in tensors)
    given = [terms.tensor(arg) for arg in args]
    return evaluate(head, terms.facts.node(head, args, dict(enumerate(given)), 1), given)


def test_random_values_and_sequences_are_not_computed():
    (kept,) = evaluated_node("z = Dropout (x)", [np.float32([1, 2])])
    assert kept.numpy().tolist() == [1, 2]
    drawing = [np.float32([1, 2]), np.float32(0.5), np.array(True)]
    assert evaluated_node("z = Dropout (x, r, t)", drawing) is None
    assert evaluated_node("z = RandomNormalLike (x)", drawing[:1]) is None
    assert evaluated_node("z = SplitToSequence (x)", drawing[:1]) is None


@pytest.mark.parametrize("size", [1, 100, MOST_ELEMENTS + 1])
def test_constants_are_the_same_where_all_bytes_are(size):
    zeros = np.zeros(size, np.float32)
    last = zeros.copy()
    last[-1] = -0.0
    keys = [key_of(ir.Tensor(array=a)) for a in (zeros, zeros.copy(), last, zeros.view(np.int32))]
    assert keys[0] == keys[1]
    assert len(set(keys)) == 3
    assert key_of(ir.Tensor(array=zeros.reshape(1, size))) != keys[0]
    assert key_of(ir.Tensor(onnx.numpy_helper.from_array(zeros))) == keys[0]


def test_nan_is_the_same_as_itself():
    one, other = (np.array([np.nan, 1], np.float32) for _ in range(2))
    assert key_of(ir.Tensor(array=one)) == key_of(ir.Tensor(array=other))


def answer(before, after):
    return prove(before, after, search=False)


def weighted(folder, name, first=1, second=2, shared=False):
    """A model with two large weights in a file of its own, or within it."""
    text = """<ir_version: 10, opset_import: ["" : 17]>
    g (float[200, 100] x) => (float[200, 100] z) { y = Mul (x, w) z = Add (y, v) }"""
    model = onnx.parser.parse_model(text)
    with (folder / f"{name}.bin").open("wb") as stream:
        for label, value in (("w", first), ("v", second)):
            array = np.full((200, 100), value, np.float32)
            weight = onnx.numpy_helper.from_array(array, label)
            if not shared:
                weight.ClearField("raw_data")
                weight.data_location = onnx.TensorProto.EXTERNAL
                weight.external_data.add(key="location", value=f"{name}.bin")
                weight.external_data.add(key="offset", value=str(stream.tell()))
                stream.write(array.tobytes())
            model.graph.initializer.append(weight)
    (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    return folder / f"{name}.onnx"


def test_weights_that_lie_in_one_file_are_not_read(tmp_path, monkeypatch):
    path = weighted(tmp_path, "one")
    other = onnx.load(path, load_external_data=False)
    other.graph.node[0].input[:] = ["w", "x"]
    (tmp_path / "other.onnx").write_bytes(other.SerializeToString())

    def fail(*arguments):
        raise AssertionError("weights are read")

    with monkeypatch.context() as patch:
        patch.setattr(ir.Tensor, "content", fail)
        patch.setattr(ir.Tensor, "_read", fail)
        assert answer(path, tmp_path / "other.onnx").proved
    other.graph.node[0].input[:] = ["x", "v"]
    (tmp_path / "other.onnx").write_bytes(other.SerializeToString())
    assert not answer(path, tmp_path / "other.onnx").proved


@pytest.mark.parametrize("shared", [False, True])
def test_weights_in_other_files_are_compared_by_content(tmp_path, shared):
    one, other = weighted(tmp_path, "one"), weighted(tmp_path, "other", shared=shared)
    assert answer(one, other).proved
    assert answer(other, one).proved
    for different in ({"second": 1}, {"first": 2}):
        assert not answer(one, weighted(tmp_path, "third", shared=shared, **different)).proved


def test_weights_that_are_not_there_leave_it_open(tmp_path):
    path = weighted(tmp_path, "one")
    (tmp_path / "one.bin").unlink()
    assert "there is no" in answer(path, path).reason


@table(
    *("BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2", "FLOAT8E8M0", "FLOAT4E2M1"),
    *("INT4", "UINT4", "INT2", "UINT2", "COMPLEX64"),
)
def test_constants_of_each_element_type_are_known_by_their_bytes(elem_type):
    kind = getattr(onnx.TensorProto, elem_type)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(kind)
    for count in (3, 100, 20_000):
        one, other = np.zeros(count, dtype), np.zeros(count, dtype)
        other[-1] = 1
        keys = [key_of(Tensor(onnx.numpy_helper.from_array(a))) for a in (one, one, other)]
        assert keys[0] == keys[1] != keys[2]
        assert keys[0][0] == kind


def test_constants_of_moderate_size_are_numbered_by_content():
    files = WeightFiles()
    rows = np.arange(24, dtype=np.float32).reshape(4, 6)
    middle = rows.copy()
    middle[1, 5] = -0.0
    others = [middle, rows.reshape(6, 4), rows.view(np.int32), rows.astype(np.float64)]
    keys = [files.key_of(Tensor(array=array)) for array in (rows, *others)]
    assert len(set(keys)) == len(keys)
    assert [files.key_of(Tensor(array=a.copy())) for a in (rows, *others)] == keys
    many = np.tile(rows, (20, 1, 1))
    many[:, 1, 5] = np.arange(20)
    keys = [files.key_of(Tensor(array=array)) for array in many]
    assert len(set(keys)) == 20 and [files.key_of(Tensor(array=a)) for a in many] == keys
