import numpy as np
import onnx
import onnx_ir
import pytest
from straightline import ir
from straightline.ir.bridge.conversion import Exchange, Lent, move_content

TEXT = """<ir_version: 10, opset_import: ["" : 21]>
main (float[600] x, bool c) => (float[600] y) <float[2] small = {1, 2}> {
    h = Add (x, w)
    y = If (c) <
        then_branch = t () => (float[600] r) <float[600] v> { r = Mul (h, w) },
        else_branch = f () => (float[600] s) { s = Neg (h) } > }"""
SIZE = 600


@pytest.fixture
def proto():
    model = onnx.parser.parse_model(TEXT.replace(" <float[600] v>", ""))
    weights = np.arange(SIZE, dtype=np.float32)
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    return model


def weights_of(model):
    return {v.name: v.const_value for g in model.graphs() for v in g.initializers.values()}


def test_their_tensors_come_back_as_the_same_objects(proto):
    theirs = onnx_ir.from_proto(proto)
    before = weights_of(theirs)
    exchange = Exchange()
    mine = exchange.from_onnx_ir(theirs)
    assert weights_of(theirs) == before
    held = {value.name: tensor for value, tensor in mine.graph.initializers.items()}
    assert isinstance(held["w"], Lent) and not isinstance(held["small"], Lent)
    assert held["w"].numpy()[5] == 5 and not held["w"].numpy().flags.writeable
    assert (held["w"].dims, held["w"].elem_type) == ((SIZE,), onnx.TensorProto.FLOAT)
    assert held["w"].is_readable and not held["w"].is_external
    back = exchange.to_onnx_ir(mine)
    assert weights_of(back)["w"] is before["w"]
    assert [node.op_type for node in back.graph] == ["Add", "If"]


def test_a_copy_of_a_model_with_lent_weights_is_whole(proto):
    mine = Exchange().from_onnx_ir(onnx_ir.from_proto(proto))
    assert ir.to_proto(ir.load(mine)).graph.initializer[1].raw_data == (
        np.arange(SIZE, dtype=np.float32).tobytes()
    )


def test_reading_a_lent_array_does_not_lock_it(proto):
    array = np.zeros(SIZE, np.float32)
    theirs = onnx_ir.from_proto(proto)
    theirs.graph.initializers["w"].const_value = onnx_ir.Tensor(array, name="w")
    mine = Exchange().from_onnx_ir(theirs)
    next(t for t in mine.graph.initializers.values() if isinstance(t, Lent)).numpy()
    assert array.flags.writeable


def test_our_tensors_come_back_as_the_same_objects(proto):
    mine = ir.load(proto)
    before = {value.name: tensor for value, tensor in mine.graph.initializers.items()}
    exchange = Exchange()
    theirs = exchange.to_onnx_ir(mine)
    lazy = weights_of(theirs)["w"]
    assert isinstance(lazy, onnx_ir.LazyTensor) and lazy.numpy()[7] == 7
    back = exchange.from_onnx_ir(theirs)
    after = {value.name: tensor for value, tensor in back.graph.initializers.items()}
    assert after["w"] is before["w"]
    assert all(v.constant is t for v, t in back.graph.initializers.items())
    ir.verify(back)
    assert [node.op_type for node in back.graph.nodes()] == ["Add", "If"]


def test_data_in_files_stays_there(proto, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    path = tmp_path / "a" / "m.onnx"
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    theirs = onnx_ir.load(path)
    tensor = weights_of(theirs)["w"]
    assert isinstance(tensor, onnx_ir.ExternalTensor)
    exchange = Exchange()
    assert weights_of(exchange.to_onnx_ir(exchange.from_onnx_ir(theirs)))["w"] is tensor
    mine = ir.load(path)
    held = next(t for v, t in mine.graph.initializers.items() if v.name == "w")
    assert held.is_external
    back = exchange.from_onnx_ir(exchange.to_onnx_ir(mine), mine.base_dir)
    assert next(t for v, t in back.graph.initializers.items() if v.name == "w") is held


def test_a_refused_model_leaves_the_source_unchanged(proto):
    theirs = onnx_ir.from_proto(proto)
    before = weights_of(theirs)
    theirs.graph.opset_imports.clear()
    with pytest.raises(ir.ModelError):
        Exchange().from_onnx_ir(theirs)
    assert weights_of(theirs) == before


def test_moved_content_keeps_names_and_metadata(proto):
    theirs = onnx_ir.from_proto(proto)
    theirs.metadata_props["author"] = "me"
    theirs.graph.node(0).meta["seen"] = 1
    theirs.graph.node(0).outputs[0].meta["range"] = (0, 1)
    exchange = Exchange()
    made = exchange.to_onnx_ir(exchange.from_onnx_ir(theirs))
    made.graph.node(0).name = theirs.graph.node(0).name = "first"
    move_content(theirs, made)
    assert theirs.graph is made.graph
    assert theirs.metadata_props == {"author": "me"}
    assert theirs.graph.node(0).meta["seen"] == 1
    assert theirs.graph.node(0).outputs[0].meta["range"] == (0, 1)
