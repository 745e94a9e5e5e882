import onnx
from straightline.cli.target_checks import check_table, check_targets
from straightline.targets import names

TEXT = """<ir_version: 8, opset_import: ["" : 18, "ai.onnx.ml" : 3]>
g (float[2, 4] x, int64 n, bool yes) => (float[2, 4] y) {
    u = Loop (n, yes, x) <body = b (int64 i, bool c, float[2, 4] a) => (bool d, float[2, 4] e) {
        d = Identity (c)
        e = Sin (a) }>
    y = ai.onnx.ml.Scaler <offset = [1.0], scale = [2.0]> (u) }"""


def test_each_target_lacks_what_it_lacks():
    checks = {check.target: check for check in check_targets(onnx.parser.parse_model(TEXT))}
    assert tuple(checks) == names()
    torch = checks["onnx2torch"]
    assert torch.before == {"Loop": 1, "ai.onnx.ml.Scaler": 1} and torch.after == {"Loop": 1}
    assert len(torch.reasons) == 1 and "onnx2torch does not support Loop" in torch.reasons[0]
    assert checks["openvino"].before == {"ai.onnx.ml.Scaler": 1} and not checks["openvino"].after
    assert not checks["onnxruntime"].before
    assert checks["coreml"].before["opset 18"] == 1


def test_a_table_for_people():
    table = check_table(check_targets(onnx.parser.parse_model(TEXT)))
    cells = {row[0]: row[2:] for row in table.rows}
    assert cells["onnx2torch"] == ("Loop, ai.onnx.ml.Scaler", "Loop")
    assert cells["onnxruntime"] == ("nothing", "nothing")
