import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnx_ir
import pytest
from conversions import VERIFIED
from harness import assert_equal, op_types
from onnx import TensorProto, helper, numpy_helper
from straightline import Error, convert_version, ir, reference
from straightline.version_converter import ConversionError, convert


def model(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(text)


REDUCE = """<ir_version: 8, opset_import: ["": 13, "com.example": 3]>
g (float[2, 3] x) => (float[2] y) <int64[1] axes = {1}> { y = ReduceSum <keepdims = 0> (x, axes) }
"""


def test_a_constant_moves_between_input_and_attribute() -> None:
    down = convert_version(model(REDUCE), 11)
    (node,) = down.graph.node
    assert list(node.input) == ["x"]
    assert {a.name: helper.get_attribute_value(a) for a in node.attribute} == {
        "keepdims": 0,
        "axes": [1],
    }
    assert not down.graph.initializer
    up = convert_version(down, 13)
    assert op_types(up) == ["ReduceSum"] and len(up.graph.node[0].input) == 2


def test_the_callers_model_is_never_changed() -> None:
    proto = model(REDUCE)
    before = proto.SerializeToString(deterministic=True)
    convert_version(proto, 9)
    assert proto.SerializeToString(deterministic=True) == before
    loaded = ir.load(proto)
    convert_version(loaded, 9)
    assert ir.to_proto(loaded).SerializeToString(deterministic=True) == before


def test_the_answer_is_of_the_kind_of_the_source(tmp_path: Path) -> None:
    proto = model(REDUCE)
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    assert isinstance(convert_version(proto, 11), onnx.ModelProto)
    assert isinstance(convert_version(path, 11), onnx.ModelProto)
    assert isinstance(convert_version(proto.SerializeToString(), 11), onnx.ModelProto)
    assert isinstance(convert_version(ir.load(proto), 11), ir.Model)
    assert isinstance(convert_version(onnx_ir.from_proto(proto), 11), onnx_ir.Model)


def test_other_domains_keep_their_imports_and_operators() -> None:
    proto = model("""<ir_version: 8, opset_import: ["": 13, "com.example": 3]>
        g (float[2] x) => (float[2] y) { t = com.example.Odd <axes = [4]> (x)  y = Relu (t) }""")
    down = convert_version(proto, 9)
    assert {o.domain: o.version for o in down.opset_import} == {"": 9, "com.example": 3}
    proto.graph.node[0].name = "Odd"
    assert down.graph.node[0] == proto.graph.node[0]


def test_one_error_lists_every_node_that_stands_in_the_way() -> None:
    proto = model("""<ir_version: 8, opset_import: ["": 13]>
        g (float[2, 3] x, int64[K] axes, bool c) => (float[2, 3] y) {
            [one] a = ReduceSum <keepdims = 0> (x, axes)
            [two] b = If (c) <
                then_branch = t () => (float[2, 3] p) { [three] p = Squeeze (x, axes) },
                else_branch = e () => (float[2, 3] q) { q = Identity (x) }>
            d = Add (a, b)
            y = Relu (d) }""")
    with pytest.raises(ConversionError) as caught:
        convert_version(proto, 8)
    found = [(f.path, f.op_type, f.from_version, f.to_version) for f in caught.value.failures]
    assert sorted(found) == [("one", "ReduceSum", 13, 12), ("two/three", "Squeeze", 13, 12)]
    assert "opset 13 to 8" in str(caught.value)
    assert "how many axes there are is not known" in str(caught.value)


@pytest.mark.parametrize("target", [6, 0, 99])
def test_a_target_out_of_range_is_refused(target: int) -> None:
    with pytest.raises(ConversionError, match="7 to"):
        convert_version(model(REDUCE), target)


@pytest.mark.parametrize("target", ["13", None, True, 13.0])
def test_the_target_is_a_whole_number(target: object) -> None:
    with pytest.raises(ConversionError, match="target_opset must be a whole number"):
        convert_version(model(REDUCE), target)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", ["8", True, 8.0])
def test_so_is_the_ir_version(version: object) -> None:
    with pytest.raises(ConversionError, match="ir_version must be a whole number"):
        convert_version(model(REDUCE), 13, ir_version=version)  # type: ignore[arg-type]


def test_a_model_of_an_opset_that_onnx_does_not_know_is_refused() -> None:
    loaded = ir.load(model(REDUCE))
    loaded.opset_imports[""] = 99
    with pytest.raises(ConversionError, match="model 'g' is written in opset 99"):
        convert(loaded, 13)


def test_an_operator_that_the_target_lacks_is_refused() -> None:
    proto = model("""<ir_version: 8, opset_import: ["": 12]>
        g (float[2, 3] x) => (float[3] y) { y = Einsum <equation = "...j->j"> (x) }""")
    with pytest.raises(ConversionError, match="does not exist"):
        convert_version(proto, 11)


def test_small_external_tensors_are_read_for_inference(tmp_path: Path) -> None:
    proto = model("""<ir_version: 8, opset_import: ["": 13]>
        g (float[1, 2, 3] x) => (float[2, 3] y) <int64[1] axes = {0}> {
           s = Squeeze (x, axes)
           y = Softmax <axis = 0> (s) }""")
    path = tmp_path / "m.onnx"
    proto.graph.initializer[0].raw_data = np.zeros(1, np.int64).tobytes()
    proto.graph.initializer[0].ClearField("int64_data")
    onnx.save_model(proto, path, save_as_external_data=True, size_threshold=0)
    assert convert_version(path, 11).opset_import[0].version == 11


def test_types_that_the_target_does_not_take_are_refused() -> None:
    proto = model("""<ir_version: 9, opset_import: ["": 19]>
        g (float8e4m3fn[2] x) => (float8e4m3fn[2] y) { y = Identity (x) }""")
    with pytest.raises(ConversionError, match="float8e4m3fn"):
        convert_version(proto, 18)


def test_bodies_see_constants_of_the_graphs_around_them() -> None:
    proto = model("""<ir_version: 8, opset_import: ["": 13]>
        g (float[2, 3] x, bool c) => (float[2, 3, 1] y) <int64[1] axes = {2}> {
            y = If (c) <
                then_branch = t () => (float[2, 3, 1] p) { p = Unsqueeze (x, axes) },
                else_branch = e () => (float[2, 3, 1] q) {
                    n = Neg (x)
                    q = Unsqueeze (n, axes) }> }""")
    for target in (12, 11, 9, 8, 7, 21):
        converted = convert_version(proto, target)
        onnx.checker.check_model(converted, full_check=True)
        for c in (True, False):
            same(proto, converted, {"x": np.ones((2, 3), np.float32), "c": np.array(c)})


def test_functions_are_converted_with_their_own_imports() -> None:
    proto = model("""<ir_version: 8, opset_import: ["": 13, "f": 1]>
        g (float[2, 3] x) => (float[2] y) { y = f.total <keep = 0> (x) }
        <domain: "f", opset_import: ["": 13]>
        total <keep> (a) => (b) {
            axes = Constant <value_ints = [1]> ()
            b = ReduceSum <keepdims : int = @keep> (a, axes) }""")
    down = convert_version(proto, 10)
    assert [o.version for o in down.functions[0].opset_import] == [10]
    assert down.ir_version == 8
    same(proto, down, {"x": np.ones((2, 3), np.float32)})
    up = convert_version(down, 18)
    assert [o.version for o in up.functions[0].opset_import] == [18]
    same(proto, up, {"x": np.ones((2, 3), np.float32)})


def test_an_attribute_of_the_function_stays_one() -> None:
    proto = model("""<ir_version: 8, opset_import: ["": 17, "f": 1]>
        g (float[2, 3] x) => (y) { y = f.peak <along = [1]> (x) }
        <domain: "f", opset_import: ["": 17]>
        peak <along> (a) => (b) { b = ReduceProd <axes : ints = @along> (a) }""")
    up = convert_version(proto, 18)
    same(proto, up, {"x": np.arange(6, dtype=np.float32).reshape(2, 3)})
    same(up, convert_version(up, 17), {"x": np.arange(6, dtype=np.float32).reshape(2, 3)})


def test_metadata_names_and_doc_strings_survive() -> None:
    proto = model("""<ir_version: 10, opset_import: ["": 21]> g (float[2, 3] x) => (float[2, 3] y) {
            [soft] s = Softmax <axis = 0> (x)
            [cut] y = Clip (s) }""")
    proto.doc_string, proto.graph.doc_string = "whole", "main"
    proto.metadata_props.add(key="a", value="1")
    proto.graph.metadata_props.add(key="b", value="2")
    for node in proto.graph.node:
        node.doc_string = f"about {node.name}"
        node.metadata_props.add(key="c", value=node.name)
    down = convert_version(proto, 11)
    named = {node.name: node for node in down.graph.node if node.doc_string}
    assert {name: node.doc_string for name, node in named.items()} == {
        "soft": "about soft",
        "cut": "about cut",
    }
    assert named["cut"].metadata_props == proto.graph.node[1].metadata_props
    assert (down.doc_string, down.graph.doc_string) == ("whole", "main")
    assert down.graph.metadata_props == proto.graph.metadata_props
    assert down.ir_version == 10  # metadata of nodes came with it


def test_annotations_and_sparse_initializers_survive() -> None:
    proto = model(
        """<ir_version: 8, opset_import: ["": 13]>
        g (float[4] x) => (float[4] y) <float scale = {0.5}> {
            s = Softmax <axis = 0> (x)
            m = Mul (s, k)
            y = Mul (m, scale) }""".replace("m = Mul (s, k)", "m = Mul (s, scale)")
    )
    proto.graph.node[1].input[1] = "k"
    sparse = proto.graph.sparse_initializer.add(dims=[4])
    sparse.values.CopyFrom(numpy_helper.from_array(np.array([2.0], np.float32), "k"))
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array([1], np.int64)))
    annotation = proto.graph.quantization_annotation.add(tensor_name="s")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="scale")
    for target in (12, 11, 18, 21):
        converted = convert_version(proto, target)
        assert converted.graph.quantization_annotation == proto.graph.quantization_annotation
        assert converted.graph.sparse_initializer == proto.graph.sparse_initializer
        assert any("s" in node.output for node in converted.graph.node)


@pytest.mark.parametrize("named", [False, True])
def test_a_node_that_comes_down_to_its_input_leaves_the_input_its_name(named: bool) -> None:
    proto = model("""<ir_version: 8, opset_import: ["": 10]>
        g (float[3] x, int64[0] starts, int64[0] ends) => (float[3] z) <int64[0] axes = {}> {
            y = Slice (x, starts, ends, axes)
            z = Neg (y) }""")
    if named:
        proto.graph.quantization_annotation.add(tensor_name="y")
    older = convert_version(proto, 9)
    assert [info.name for info in older.graph.input] == ["x", "starts", "ends"]
    assert op_types(older) == (["Identity", "Neg"] if named else ["Neg"])
    if named:
        assert list(older.graph.node[0].output) == ["y"], "the annotation speaks of it"


def test_training_graphs_stay_or_stand_in_the_way() -> None:
    proto = model(REDUCE)
    info = proto.training_info.add()
    info.algorithm.name = "step"
    info.algorithm.node.append(helper.make_node("Abs", ["x"], ["z"]))
    assert convert_version(proto, 18).training_info == proto.training_info
    with pytest.raises(ConversionError, match="training"):
        convert_version(proto, 12)


def test_external_data_is_not_read(tmp_path: Path) -> None:
    proto = model(
        """<ir_version: 8, opset_import: ["": 13]>
        g (float[2, 1000, 1000] x) => (float[1000, 1000] y) <int64[1] axes = {0}> {
            s = ReduceSum <keepdims = 0> (x, axes)
            y = MatMul (s, w) }""".replace("MatMul (s, w)", "MatMul (s, s)")
    )
    proto.graph.node[1].input[1] = "w"
    weight = TensorProto(name="w", dims=[1000, 1000], data_type=TensorProto.FLOAT)
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="absent.bin")
    proto.graph.initializer.append(weight)
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    converted = convert_version(ir.load(path), 11)
    (tensor,) = ir.to_proto(converted).graph.initializer
    assert tensor.external_data[0].value == "absent.bin"
    assert op_types(ir.to_proto(converted)) == ["ReduceSum", "MatMul"]


def test_a_conversion_to_the_own_version_changes_nothing() -> None:
    proto = model(REDUCE)
    assert convert_version(proto, 13) == proto


def same(before: onnx.ModelProto, after: onnx.ModelProto, feeds: dict[str, np.ndarray]) -> None:
    for wanted, found in zip(
        reference.run(before, feeds), reference.run(after, feeds), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape


@pytest.mark.parametrize("target", [13, 18])
def test_an_operator_that_onnx_does_not_have_is_refused_by_name(target):
    texts = {
        "graph": "g (float[2] x) => (float[2] y) { y = ResizeBilinear (x) }",
        "body": """g (float[2] x, bool c) => (float[2] y) { y = If (c) <
            then_branch = t () => (float[2] a) { a = ResizeBilinear (x) },
            else_branch = e () => (float[2] b) { b = Neg (x) }> }""",
        "function": """g (float[2] x) => (float[2] y) { y = local.f (x) }
            <domain: "local", opset_import: ["" : 16]> f (a) => (b) { b = ResizeBilinear (a) }""",
    }
    for text in texts.values():
        model = ir.parse(f'<ir_version: 8, opset_import: ["" : 16, "local" : 1]> {text}')
        reason = "ResizeBilinear does not exist in opset 16, nor in any known opset; put it in a"
        with pytest.raises(ConversionError, match=reason):
            convert_version(model, target)


def test_an_operator_that_is_mistyped_is_told_which_was_meant():
    model = ir.parse('<ir_version: 8, opset_import: ["" : 16]> g (x) => (y) { y = SoftMaks (x) }')
    with pytest.raises(ConversionError, match=r"did you mean 'Softmax'\? else put it in a domain"):
        convert_version(model, 13)


def test_an_operator_that_came_later_is_refused_by_name():
    model = ir.parse('<ir_version: 8, opset_import: ["" : 16]> g (x) => (y) { y = Gelu (x) }')
    reason = "Gelu does not exist in opset 16; it came with opset 20"
    with pytest.raises(ConversionError, match=reason):
        convert_version(model, 13)


def test_unread_nodes_are_removed() -> None:
    """The longer form of a run-time `k` computes what no output needs."""
    proto = model("""<ir_version: 8, opset_import: ["": 17]>
        g (float[2, 3] x, float[3] w) => (y) <float[1] unread = {1}> {
            dead = Neg (x)
            y, mean, deviation = LayerNormalization (x, w)
            other = Mul (mean, deviation) }""")
    after = convert_version(proto, 11)
    read = {name for node in after.graph.node for name in node.input} | {"y"}
    unread = [node.op_type for node in after.graph.node if read.isdisjoint(node.output)]
    assert unread == ["Neg", "Mul"]  # which nothing read before
    assert [t.name for t in after.graph.initializer if t.name not in read] == ["unread"]


def test_remainders_of_a_function_are_folded() -> None:
    """Casts to the type that is there, sizes that are known."""
    proto = model("""<ir_version: 8, opset_import: ["": 18]>
        g (float[2, 3] x) => (float[2, 3] y) { y = Softsign (x) z = Mish (x) u = CastLike (x, y) }
    """)
    ops = op_types(convert_version(proto, 9))
    assert "Cast" not in ops and "CastLike" not in ops


NEWEST = 28
LEAST_COMPARED = 180
"""Of those to the newest opset, so many run at least."""
PATH = Path(__file__).parent / "converter_cases.txt"


class Case(NamedTuple):
    target: int
    refused: bool
    text: str


def read() -> list[Case]:
    lines = PATH.read_text(encoding="utf-8").splitlines()
    fields = [line.split("\t") for line in lines if not line.startswith("#")]
    return [Case(int(target), verdict == "-", text) for target, verdict, text in fields]


CASES = read()
TRUE_REASONS = (
    "does not support|does not exist|at run time|callers may override",
    "lacks its|has 0 (inputs|outputs)|has 1 inputs; the node|nothing defines|must have exactly",
)
"""The older opset lacks it; the model is not well formed."""


def label(case: Case) -> str:
    source = re.search(r'"" ?: ?(\d+)', case.text)
    operators = re.findall(r"= (\w+)", case.text)
    return f"{operators[0] if operators else ''}-{source and source[1]}-{case.target}"


@pytest.mark.sample(25)
@pytest.mark.parametrize("case", [c for c in CASES if c.refused], ids=label)
def test_is_refused_for_a_true_reason(case: Case) -> None:
    model = onnx.parser.parse_model(case.text)
    try:
        converted = convert_version(model, case.target)
    except Error as error:
        assert re.search("|".join(TRUE_REASONS), str(error))
    else:  # a longer form was found since
        assert compare(model, converted), "take it for convertible in converter_cases.txt"


@pytest.mark.sample(10)
@pytest.mark.parametrize("target", sorted({case.target for case in CASES}))
def test_is_converted_right(target: int) -> None:
    compared = 0
    chosen = [case for case in CASES if case.target == target and not case.refused]
    for case in chosen:
        model = onnx.parser.parse_model(case.text)
        converted = convert_version(model, target, **VERIFIED)
        opset = {entry.domain: entry.version for entry in converted.opset_import}
        assert opset.get("", opset.get("ai.onnx")) == target
        fault = fault_of(converted)
        # Some of them declare another shape for what they give out than it has.
        assert not fault or fault_of(model) or "existing shape differ" in fault, case.text
        compared += compare(model, converted)
    assert compared >= (LEAST_COMPARED if target == NEWEST else 0)


def fault_of(model: onnx.ModelProto) -> str:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return str(error)
    return ""


def compare(model: onnx.ModelProto, converted: onnx.ModelProto) -> bool:
    """Compare the outputs; whether the original runs on what was drawn, and the same each time."""
    feeds = drawn(model)
    try:
        wanted, again = run(model, feeds), run(model, feeds)
    except reference.EvaluationError:
        return False
    if any("Random" in n.op_type or n.op_type == "Bernoulli" for n in model.graph.node):
        return False
    found = run(converted, feeds)
    for one, other, repeated in zip(found, wanted, again, strict=True):
        assert_equal(repeated, other)
        if isinstance(other, np.ndarray) and other.dtype.kind in "fc":
            assert one.dtype == other.dtype
            np.testing.assert_allclose(one, other, 1e-5, 1e-6)
        else:
            assert_equal(one, other)
    return True


def run(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return reference.run(model, feeds)


def drawn(model: onnx.ModelProto) -> dict[str, Any]:
    held = {tensor.name for tensor in model.graph.initializer}
    rng = np.random.default_rng(0)
    return {v.name: value_of(v.type, rng) for v in model.graph.input if v.name not in held}


def value_of(type_: onnx.TypeProto, rng: np.random.Generator) -> Any:
    kind = type_.WhichOneof("value")
    if kind in ("sequence_type", "optional_type"):
        inner = value_of(getattr(type_, kind).elem_type, rng)
        return [inner] if kind == "sequence_type" else inner
    shape = [dim.dim_value or 2 for dim in type_.tensor_type.shape.dim]
    dtype = helper.tensor_dtype_to_np_dtype(type_.tensor_type.elem_type)
    if dtype.kind in "OSU":
        return np.full(shape, "text", object)
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        return np.asarray(rng.integers(0, 2, shape)).astype(dtype)
    return np.asarray(rng.random(shape)).astype(dtype)
