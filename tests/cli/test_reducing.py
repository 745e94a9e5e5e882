import json
import shlex
import sys

import onnx
import pytest
from reports import DECODER
from tables import table

FAILS = f"{shlex.quote(sys.executable)} fails.py {{}}"


@pytest.fixture
def run(folder, run):
    onnx.save(onnx.parser.parse_model(DECODER), "a.onnx")
    (folder / "fails.py").write_text(
        "import sys\nif b'MatMul' in open(sys.argv[1], 'rb').read():\n"
        "    sys.exit('MatMul is not supported')\n"
    )
    return run


def test_the_smallest_model_is_written(run):
    result = run("reduce", "a.onnx", "small.onnx", "--while", FAILS, "--match", "not supported")
    assert result.exit_code == 0
    model = onnx.load("small.onnx")
    assert [node.op_type for node in model.graph.node] == ["MatMul"]
    rows = [line.split() for line in result.output.splitlines() if line.strip()]
    assert rows[2][0] == "nodes" and rows[2][-1] == "1"
    assert "runs of the command" in result.output


def test_for_scripts(run):
    result = run("reduce", "a.onnx", "b.onnx", "--while", FAILS, "--max-tests", "3", "--json")
    fields = json.loads(result.stdout)
    assert (fields["tests"], fields["complete"], fields["failure"]) == (3, False, "exit code 1")
    assert fields["after"]["nodes"] < fields["before"]["nodes"]


@table(
    (("a.onnx", "b.onnx"), 2, "name the command that fails"),
    (("a.onnx", "-", "--while", "false"), 2, "OUT must be a file"),
    (("a.onnx", "a.onnx", "--while", "false"), 1, "it is read itself"),
    (("a.onnx", "b.onnx", "--while", "true"), 1, "succeeds on the model"),
    (("a.onnx", "b.onnx", "--while", "false", "--match", "("), 1, "not a regular expression"),
    (("a.onnx", "fails.py", "--while", "false"), 1, "fails.py"),
)
def test_refusals_write_nothing(arguments, code, text, run, folder):
    result = run("reduce", *arguments)
    assert result.exit_code == code
    assert text in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["a.onnx", "fails.py"]
