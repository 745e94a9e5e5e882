import subprocess
import sys

import pytest
import straightline as sl
from harness import as_model, op_types
from straightline import passes
from tables import table

BODY = "<num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }>"
OF_8 = '<ir_version: 3, opset_import: ["" : 8]> g (float[2, t] x) => (float[2, t] y)'
OF_9 = '<ir_version: 4, opset_import: ["" : 9]> g (float[t] x) => (float[t] y)'
SCAN_8 = as_model(f'{OF_8} {{ y = Scan {BODY} ("", x) }}')
SCAN_9 = as_model(f"{OF_9} {{ y = Scan {BODY} (x) }}")
UNPOOL = OF_9.replace("(float[t] x)", "(float[t] x, float[1, 1, 4] q, int64[1, 1, 4] i)")
LOST = as_model(f"{UNPOOL} {{ y = Scan {BODY} (x) z = MaxUnpool <kernel_shape = [2]> (q, i) }}")


@table(("scan-8-to-9", SCAN_8, 9), ("scan-9-to-8", SCAN_9, 8))
def test_a_former_name_converts(name, model, opset):
    with pytest.warns(DeprecationWarning, match=f"convert to opset {opset}"):
        outcome = sl.transform(model, name)
    assert outcome.opset.after == opset and outcome.proved
    assert [r.action for r in outcome.remarks] == ["rewritten"]
    converted = sl.convert_version(model, opset)
    assert op_types(outcome.model) == op_types(converted)
    with pytest.warns(DeprecationWarning):
        assert not sl.transform(converted, name).changed


def test_a_model_that_cannot_be_converted_stays():
    with pytest.warns(DeprecationWarning):
        outcome = sl.transform(LOST, "scan-9-to-8")
    assert not outcome.changed and outcome.opset.after == 9
    (remark,) = outcome.remarks
    assert remark.action == "kept" and "MaxUnpool 'z'" in str(remark.reason)


def test_classes_keep_their_names():
    with pytest.warns(DeprecationWarning):
        kind = passes.Scan8To9
    assert kind.name == "scan-8-to-9"
    with pytest.raises(AttributeError, match="no attribute 'Scan7To8'"):
        _ = passes.Scan7To8


def test_the_command_warns_in_a_line(tmp_path):
    (tmp_path / "in.onnx").write_bytes(SCAN_8.SerializeToString())
    words = ["rewrite", "in.onnx", "out.onnx", "--passes", "scan-8-to-9"]
    command = [sys.executable, "-m", "straightline", *words]
    result = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
    assert result.returncode == 0 and (tmp_path / "out.onnx").exists()
    assert result.stderr.count("warning: straightline 0.3 removes the pass 'scan-8-to-9'") == 1
