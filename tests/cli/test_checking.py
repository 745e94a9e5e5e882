import json

import onnx
import pytest
from commands import assert_refused, succeeded
from texts import HEADER

TEXT = "g (float[n, 3] x) => (float[n] y) { a = Identity (x) y = ReduceSum <keepdims = 0> (a, k) }"
TEXT = TEXT.replace("{ a", "<int64[1] k = {-1}> { a")


@pytest.fixture
def folder(folder, run):
    onnx.save(onnx.parser.parse_model(HEADER + TEXT), folder / "in.onnx")
    assert (
        run("convert", "in.onnx", "out.onnx", "--opset", "18", "--certificate", "c.json").exit_code
        == 0
    )
    return folder


def test_a_certificate_is_accepted(folder, run):
    result = succeeded(run("check-certificate", "c.json", "in.onnx", "out.onnx"))
    assert result.stdout.startswith("accepted: equal for every input (")
    document = json.loads(
        run("check-certificate", "c.json", "in.onnx", "out.onnx", "--json").stdout
    )
    assert (document["accepted"], document["assumptions"], document["exit"]) == (True, [], 0)


def test_another_model_or_derivation_is_refused(folder, run):
    result = run("check-certificate", "c.json", "out.onnx", "out.onnx")
    assert_refused(result, 1, "for another original")
    document = json.loads((folder / "c.json").read_text())
    document["derivation"]["terms"][0][3] = "float[7]"
    (folder / "c.json").write_text(json.dumps(document))
    result = run("check-certificate", "c.json", "in.onnx", "out.onnx")
    assert_refused(result, 1, "'terms' of the derivation is not what its replay shows")


def test_a_certificate_without_derivation_is_proved_again(folder, run):
    document = json.loads((folder / "c.json").read_text())
    del document["derivation"]
    (folder / "c.json").write_text(json.dumps({**document, "version": 1}))
    assert run("verify", "in.onnx", "out.onnx", "--certificate", "c.json").exit_code == 0
    result = run("check-certificate", "c.json", "in.onnx", "out.onnx")
    assert_refused(result, 1, "prove again with 'straightline verify --certificate'")
