import numpy as np
import onnx
import pytest
from memory import growth
from onnx import numpy_helper
from straightline import ir
from straightline.ir.io import files, raw_data_splicing
from straightline.ir.io.raw_data_splicing import Withheld
from straightline.ir.io.serialize import serialize

TEXT = """
<ir_version: 10, opset_import: ["": 21, "own": 1], producer_name: "me", doc_string: "said">
main (bool c, float[600] x) => (float[600] y) <float[2] small = {1, 2}> {
    s = Add (x, w)
    u = If (c) <
        then_branch = yes () => (float[600] p) { p = Add (s, v) },
        else_branch = no () => (float[600] q) { q = Neg (s) } >
    y = own.shift (u) }
<domain: "own", opset_import: ["": 21]> shift (x) => (y) { y = Neg (x) }"""


def weights(name, value):
    return numpy_helper.from_array(np.full(600, value, np.float32), name)


@pytest.fixture
def proto(monkeypatch):
    """Weights in the main graph and in a branch, large and small in turns."""
    monkeypatch.setattr(raw_data_splicing, "_LEAST_ELEMENTS", 500)
    model = onnx.parser.parse_model(TEXT)
    told = weights("w", 1)
    told.doc_string = "said behind the elements"
    told.metadata_props.add(key="k", value="v")
    (small,) = model.graph.initializer
    twice = [weights("again", 1), weights("again2", 1)]
    typed = onnx.helper.make_tensor("typed", 1, [600], [5.0] * 600)
    all_of_them = [told, small, *twice, typed, weights("last", 3)]
    del model.graph.initializer[:]
    model.graph.initializer.extend(all_of_them)
    model.graph.node[1].attribute[0].g.initializer.append(weights("v", 2))
    return model


def spliced(model):
    held = Withheld(model.graph)
    message = serialize(model, held.message_of)
    assert message.ByteSize() < serialize(model).ByteSize() - 4 * 2300
    return held, message


def test_the_bytes_are_those_of_protobuf(proto):
    held, message = spliced(ir.load(proto))
    assert b"".join(piece() for piece in held.encode(message)) == proto.SerializeToString()


def test_a_tensor_that_two_graphs_share(proto):
    model = ir.load(proto)
    (last,) = (t for v, t in model.graph.initializers.items() if v.name == "last")
    (branch, _) = (g for n in model.graph.nodes() for g in n.graphs())
    branch.add_initializer("shared", last)
    held, message = spliced(model)
    written = b"".join(piece() for piece in held.encode(message))
    assert onnx.load_from_string(written) == serialize(model)


def test_unknown_fields_of_a_tensor_are_kept(proto):
    content = proto.graph.initializer[0].SerializeToString() + b"\xf8\x07\x05"  # field 127
    proto.graph.initializer[0].ParseFromString(content)
    model = ir.load(proto)
    held = Withheld(model.graph)
    message = serialize(model, held.message_of)
    assert b"".join(piece() for piece in held.encode(message)) == proto.SerializeToString()


def test_more_than_a_message_can_have(proto, monkeypatch, tmp_path):
    size = proto.ByteSize()
    for most in (3000, size - 1):
        monkeypatch.setattr(files, "TWO_GB", most)
        held, message = spliced(ir.load(proto))
        assert held.encode(message) is None
    ir.save(ir.load(proto), tmp_path / "m.onnx")
    found = ir.load(tmp_path / "m.onnx").graph.initializers
    assert {v.name: float(t.numpy()[-1]) for v, t in found.items() if v.name != "small"} == {
        **{"w": 1, "again": 1, "again2": 1},
        **{"typed": 5, "last": 3},
    }
    assert {v.name for v, t in found.items() if not t.is_external} == {"small", "typed"}


def test_memory_is_that_of_one_copy(tmp_path):
    """Of two weights of 32 MB one after the other is held besides the model."""
    size = 32 << 20
    model = onnx.parser.parse_model(TEXT)
    for name in ("w", "other"):
        model.graph.initializer.add(name=name, data_type=2, dims=[size], raw_data=bytes(size))
    model.graph.node[1].attribute[0].g.initializer.append(weights("v", 2))
    onnx.save(model, tmp_path / "in.onnx")
    del model
    loaded = ir.load(tmp_path / "in.onnx")
    with growth() as grown:
        ir.save(loaded, tmp_path / "out.onnx")
    assert grown.peak < 1.4 * size
    assert (tmp_path / "out.onnx").read_bytes() == (tmp_path / "in.onnx").read_bytes()
