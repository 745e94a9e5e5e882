"""Models in memory whose weights lie in files: what decides nothing is not read, and where a value
is needed the folder can be given."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import straightline as sl
from onnx import TensorProto, numpy_helper
from straightline import ir, reference
from straightline.ir.io.external_data import external_tensors
from straightline.passes.manager import registry
from straightline.passes.manager.pipeline_parser import parse_pipeline

LOOP = """<ir_version: 8, opset_import: ["" : 18]> g (float[3] x) => (float[3] y, float[k, 3] z)
  <int64 n = {2}, bool c = {1}, float[3] w = {1, 2, 3}, float[3] v = {4, 5, 6}> {
  a = Add (w, v)
  b = Mul (x, a)
  y, z = Loop (n, c, b) <body = b
      (int64 i, bool go, float[3] s) => (bool on, float[3] t, float[3] u)
      <int64[1] shape = {3}, float[3] q = {7, 8, 9}> {
    on = Identity (go)
    r = Add (s, w)
    t = Add (r, q)
    u = Reshape (t, shape) }> }"""
X = {"x": np.array([1, 2, 3], np.float32)}
WEIGHTS = ("w", "v", "q", "shape")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def graphs_of(graph: onnx.GraphProto):
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs_of(attribute.g)


def with_files(text: str, folder: Path, names: tuple[str, ...]) -> onnx.ModelProto:
    """A model as a message, some of whose initializers lie in a file in the folder."""
    model = onnx.parser.parse_model(text)
    with (folder / "weights.bin").open("wb") as file:
        for graph in graphs_of(model.graph):
            for tensor in graph.initializer:
                if tensor.name not in names:
                    continue
                raw, start = numpy_helper.to_array(tensor).tobytes(), file.tell()
                file.write(raw)
                tensor.ClearField(onnx.helper.tensor_dtype_to_field(tensor.data_type))
                tensor.ClearField("raw_data")
                tensor.data_location = TensorProto.EXTERNAL
                for key, value in (
                    ("location", "weights.bin"),
                    ("offset", start),
                    ("length", len(raw)),
                ):
                    tensor.external_data.add(key=key, value=str(value))
    return model


def test_a_loop_beside_weights_is_rewritten(folder: Path) -> None:
    result = sl.rewrite(with_files(LOOP, folder, WEIGHTS))
    assert not any(node.op_type == "Loop" for node in result.graph.node)
    assert {t.name for t in external_tensors(result)} == set(WEIGHTS)
    for one, other in zip(
        reference.run(result, X, base_dir=folder),
        reference.run(onnx.parser.parse_model(LOOP), X),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.sample(26)
@pytest.mark.parametrize("kind", registry.PASSES, ids=lambda kind: kind.name)
def test_no_pass_reads_what_it_does_not_need(folder: Path, kind: type) -> None:
    model = with_files(LOOP, folder, WEIGHTS)
    result = sl.rewrite(model, kind.name)
    assert {t.name for t in external_tensors(result)} == set(WEIGHTS)
    loaded = ir.load(model)
    parse_pipeline(kind.name).apply(loaded)
    ir.verify(loaded)


def test_models_with_external_weights_are_inspected_and_bound(folder: Path) -> None:
    model = with_files(LOOP, folder, WEIGHTS)
    assert sl.inspect(model).straight_line
    result = sl.rewrite(model, values=X)
    assert not result.graph.input
    assert external_tensors(result)


@pytest.mark.parametrize("target", [9, 13, 21, 25])
def test_models_with_external_weights_are_converted(folder: Path, target: int) -> None:
    model = with_files(LOOP, folder, WEIGHTS)
    result = sl.convert_version(model, target)
    assert {t.name for t in external_tensors(result)} == set(WEIGHTS)
    found = reference.run(result, X, base_dir=folder)
    for one, other in zip(found, reference.run(model, X, base_dir=folder), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", ["n", "c"])
def test_a_value_that_decides_is_asked_for(folder: Path, name: str) -> None:
    model = with_files(LOOP, folder, (*WEIGHTS, name))
    asked = rf"tensor '{name}' has external data in 'weights.bin'.* base_dir="
    with pytest.raises(ir.LoadError, match=asked):
        sl.rewrite(model)
    with pytest.raises(ir.LoadError, match=asked):
        sl.inspect(model)
    assert not any(n.op_type == "Loop" for n in sl.rewrite(model, base_dir=folder).graph.node)
    assert sl.inspect(model, base_dir=str(folder)).straight_line


def test_a_construct_that_needs_missing_weights_is_kept(folder: Path) -> None:
    text = LOOP.replace("y, z = Loop (n, c, b)", "m = Add (n, n) y, z = Loop (m, c, b)")
    model = with_files(text, folder, ("n",))
    (kept,) = [r for r in parse_pipeline("unroll-loops").run(model).kept if r.op_type == "Loop"]
    assert kept.reason == (
        "trip count depends on 'n', external data in an unknown folder; decide it with base_dir="
    )
    assert not any(n.op_type == "Loop" for n in sl.rewrite(model, base_dir=folder).graph.node)


def test_a_condition_that_is_followed(folder: Path) -> None:
    text = LOOP.replace("on = Identity (go)", "k = Add (i, one) on = Less (k, n)")
    text = text.replace("<int64[1] shape", "<int64 one = {1}, int64[1] shape")
    model = with_files(text, folder, ("one",))
    (kept,) = parse_pipeline("unroll-loops").run(model).kept
    assert "'one', external data in an unknown folder" in kept.reason
    assert not any(n.op_type == "Loop" for n in sl.rewrite(model, base_dir=folder).graph.node)


def test_verification(folder: Path) -> None:
    model = with_files(LOOP, folder, WEIGHTS)
    verdict = sl.verify(model, model)
    assert verdict.status == "not verified"
    assert "tensor 'w' has external data in 'weights.bin'" in verdict.reason
    assert "base_dir=" in verdict.reason
    with pytest.warns(sl.NotVerifiedWarning, match="base_dir="):
        sl.rewrite(model, verify=True)
    with pytest.warns(sl.NotVerifiedWarning, match="base_dir="):
        sl.convert_version(model, 21, verify=True)
    with pytest.raises(sl.NotVerifiedError, match="base_dir="):
        sl.rewrite(model, verify=True, strict=True)


def test_verification_with_the_folder(folder: Path) -> None:
    model = with_files(LOOP, folder, WEIGHTS)
    assert sl.verify(model, model, base_dir=folder).equal
    sl.rewrite(model, verify=True, strict=True, base_dir=folder)
    sl.convert_version(model, 21, verify=True, base_dir=folder)


def test_the_reference_asks_for_the_folder(folder: Path) -> None:
    model = with_files(LOOP, folder, WEIGHTS)
    before = model.SerializeToString()
    with pytest.raises(reference.EvaluationError, match=r"tensor 'w' .* pass it as base_dir="):
        reference.run(model, X)
    expected = reference.run(onnx.parser.parse_model(LOOP), X)
    for form in (model, before, ir.load(model)):
        for one, other in zip(reference.run(form, X, base_dir=folder), expected, strict=True):
            np.testing.assert_array_equal(one, other)
    assert model.SerializeToString() == before


def test_loading_with_the_folder_and_saving(folder: Path, tmp_path: Path) -> None:
    model = with_files(LOOP, folder, WEIGHTS)
    assert ir.to_proto(ir.load(model)) == model
    with pytest.raises(ir.LoadError, match="or pass the folder as base_dir="):
        ir.save(ir.load(model), tmp_path / "m.onnx")
    other = tmp_path / "other"
    other.mkdir()
    ir.save(ir.load(model, base_dir=folder), other / "m.onnx")
    for one, two in zip(
        reference.run(other / "m.onnx", X),
        reference.run(onnx.parser.parse_model(LOOP), X),
        strict=True,
    ):
        np.testing.assert_array_equal(one, two)


def test_defaults_that_are_frozen(folder: Path) -> None:
    text = LOOP.replace("g (float[3] x)", "g (float[3] x, float[3] w)")
    model = with_files(text, folder, WEIGHTS)
    result = sl.rewrite(model, freeze_initializers=True)
    assert [i.name for i in result.graph.input] == ["x"]
    sl.rewrite(model, freeze_initializers=True, verify=True, strict=True, base_dir=folder)


def test_sparse_weights(folder: Path) -> None:
    model = onnx.parser.parse_model(LOOP)
    sparse = model.graph.sparse_initializer.add(dims=[3])
    sparse.values.CopyFrom(with_files(LOOP, folder, ("w",)).graph.initializer[2])
    sparse.indices.CopyFrom(numpy_helper.from_array(np.array([0, 1, 2])))
    del model.graph.initializer[2]
    result = sl.rewrite(model)
    assert not any(node.op_type == "Loop" for node in result.graph.node)
    assert len(external_tensors(result)) == 1
