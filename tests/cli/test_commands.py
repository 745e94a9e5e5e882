import json
import subprocess
import sys

import onnx
import pytest
from commands import assert_refused, write
from tables import table
from texts import DECIDED_BY_INPUTS, LOOP, NODE


@pytest.mark.sample(5)
@table(
    ("rewrite in.onnx out.onnx", 0),
    ("rewrite in.onnx out.onnx --require-straight-line", 4),
    ("rewrite random.onnx out.onnx --prove --no-verify", 2),
    ("rewrite in.onnx out.onnx --strict", 1),
    ("convert erf.onnx out.onnx --opset 8 --prove", 5),
    ("convert in.onnx out.onnx --opset 99", 1),
    ("verify abs.onnx random.onnx --runtime reference", 3),
    ("verify random.onnx random.onnx --no-prove", 5),
    ("inspect in.onnx", 0),
    ("diff in.onnx abs.onnx", 0),
)
def test_each_json_document_says_the_exit_code(command, expected, folder, run):
    write(folder / "in.onnx", DECIDED_BY_INPUTS)
    write(folder / "abs.onnx", NODE % "y = Abs (x)")
    write(folder / "erf.onnx", NODE % "y = Erf (x)")
    write(folder / "random.onnx", NODE % "y = RandomNormalLike (x)")
    result = run(*command.split(), "--json")
    found = json.loads(result.stdout)
    assert found["exit"] == result.exit_code == expected, result.output
    assert bool(found["error"]) == bool(result.exit_code)
    if result.exit_code and not command.startswith("verify"):
        assert result.stderr.splitlines()[0] == f"error: {found['error']}"


TIMES = """g (float[T, 2] x) => (float[T, 2] y) {
    shape = Shape <end = 1> (x)
    y = Loop (shape, , x) <body = b (int64 i, bool c, float[T, 2] a) => (bool d, float[T, 2] e) {
        d = Identity (c)  e = Sin (a) }> }"""


@pytest.mark.parametrize("command", [["rewrite"], ["convert", "--opset", "18"], ["inspect"]])
def test_a_named_dimension_is_fixed(folder, run, command):
    source = write(folder / "in.onnx", TIMES)
    name, *options = command
    places = [source] if name == "inspect" else [source, "out.onnx"]
    assert run(name, *places, *options, "--dim", "T=3").exit_code == 0
    if name != "inspect":
        assert onnx.load("out.onnx").graph.input[0].type.tensor_type.shape.dim[0].dim_value == 3
    refused = run(name, *places, *options, "--dim", "t=3")
    assert_refused(refused, 1, "no input has a dimension named 't'; did you mean 'T'?")


def test_python_m_straightline_works(folder):
    write(folder / "in.onnx", LOOP)
    command = [sys.executable, "-m", "straightline", "rewrite", "in.onnx", "out.onnx"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
    assert "unrolled, 3 iterations" in found.stdout


def test_help_does_not_wait_for_onnx():
    program = (
        "import sys\nfrom straightline.cli.commands import app\n"
        "try: app(['--help'])\nfinally: assert 'onnx' not in sys.modules"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (found.returncode, found.stderr) == (0, b"")
