import onnx
import straightline as sl
from straightline.report.scopes import scopes_in, scopes_of
from tables import table

NAMESPACE = ": __main__.Net/encoder: Encoder/encoder.0: torch.nn.Linear/linear: aten.linear.default"


@table(
    ({"pkg.torch.onnx.name_scopes": "['', 'encoder', 'encoder.0', 'linear']"},
     ("encoder", "encoder.0")),
    ({"pkg.torch.onnx.name_scopes": "no list"}, ()),
    ({"namespace": NAMESPACE}, ("encoder", "encoder.0")),
    ({"namespace": "decoder/layer3"}, ("decoder", "layer3")),
    ({"namespace": "/".join("abcdefghijklmnop")}, tuple("abcdefghijkl")),
    ({"other": "a/b"}, ()),
    ({}, ()))  # fmt: skip
def test_metadata_of_exporters(metadata, scopes):
    extra = onnx.NodeProto()
    for key, value in metadata.items():
        extra.metadata_props.add(key=key, value=value)
    assert scopes_of(sl.ir.Operator("Add", extra=extra if metadata else None)) == scopes


def test_names_with_slashes():
    assert scopes_in("StatefulPartitionedCall/model/dense/MatMul")[1:] == ("model", "dense")
    assert scopes_in("MatMul_3") == scopes_in("") == ()
