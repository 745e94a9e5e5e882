import onnx
import pytest
from commands import succeeded
from straightline.cli.commands import app
from straightline.definitions import registry
from straightline.passes.manager import plugins
from typer.testing import CliRunner

MODEL = '<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Relu (x) }'
SILU = """before (floats x) => (y) { y = com.microsoft.QuickGelu <alpha = @alpha ? 1.702> (x) }
after (x) => (y) { u = Mul (x, @alpha)  s = Sigmoid (u)  y = Mul (x, s) }"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.setattr(plugins, "_defining", {})
    onnx.save(onnx.parser.parse_model(MODEL), tmp_path / "model.onnx")

    def run_with(text, *options):
        (tmp_path / "own.txt").write_text(text)
        place = str(tmp_path / "model.onnx")
        return CliRunner().invoke(
            app, ["inspect", place, "--define", str(tmp_path / "own.txt"), *options]
        )

    yield run_with
    for name in registry.own_names():
        registry.forget(name)


def test_definitions_are_compared_on_request(run):
    result = succeeded(run(SILU, "--check"))
    assert "definition of com.microsoft.QuickGelu: it equals the kernel" in result.stderr
    assert not run(SILU).stderr


def test_a_contradiction_is_an_error(run):
    result = run(SILU.replace("1.702", "1.6"), "--check")
    assert result.exit_code == 1 and "it contradicts the kernel of onnxruntime" in result.stderr
    assert not registry.own_names()
