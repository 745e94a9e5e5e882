import json
import re
from pathlib import Path

import pytest
from commands import assert_refused, succeeded, write
from tables import table
from texts import LOOP, NODE

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def models(folder):
    (folder / "models").mkdir()
    write(folder / "models/loop.onnx", LOOP)
    write(folder / "models/relu.onnx", NODE % "y = Relu (x)")
    write(folder / "other.onnx", "g (float[2] z) => (float[2] y) { y = Abs (z) }")
    write(folder / "models/again.onnx", NODE % "t = Relu (x) y = Relu (t)")


def test_a_line_for_each_model_and_the_worst_exit_code(run):
    words = ("models", "--require-straight-line", "--opset", "17", "--target", "tvm")
    result = run("check", *words)
    assert result.exit_code == 4
    lines = result.stdout.splitlines()
    assert [line.split(None, 2) for line in map(str.strip, lines) if "onnx" in line] == [
        ["models/again.onnx", "passed", "straight-line, opset, target"],
        ["models/loop.onnx", "failed", "straight-line: Loop 'y'"],
        ["models/relu.onnx", "passed", "straight-line, opset, target"],
    ]
    assert "target: tvm lacks Loop" in result.stdout
    assert result.stderr == "error: 1 of 3 models failed the check\n"
    quiet = run("check", *words, "-q")
    assert quiet.stdout == "" and "models/loop.onnx: target: tvm lacks Loop" in quiet.stderr
    assert "opset: yes" in run("check", *words, "-v").stdout


@table(
    (["models/relu.onnx", "--max-opset", "16"], 4, "opset 17, above 16"),
    (["models/again.onnx", "--reference", "models/relu.onnx"], 0, "proved"),
    (["models/again.onnx", "--reference", "models/relu.onnx", "--prove"], 6, "has no rule by"),
    (["models/again.onnx", "--reference", "models", "--prove"], 0, "proved"),
    (["other.onnx", "--reference", "models/relu.onnx"], 3, "the signatures differ"),
    (["models/loop.onnx", "--rewritten", "--require-straight-line", "--opset", "18"], 0, ""),
    (["models/loop.onnx", "--rewritten", "--max-trips", "2", "--require-straight-line"], 4, ""),
    (["models/relu.onnx", "--rewritten", "--set", "q=1"], 1, "the model has no input 'q'"),
    (["models/relu.onnx", "--rewritten", "--passes", "nope"], 2, "there is no pass 'nope'"),
)
def test_exit_codes(words, code, reason, run):
    result = run("check", *words, "--json")
    assert result.exit_code == code, result.output
    document = json.loads(result.stdout)
    (one,) = document["models"]
    told = [*(policy["reason"] for policy in one["policies"]), *one["messages"]]
    assert document["exit"] == one["exit"] == code and reason in " ".join(told)
    assert one["passed"] is (code == 0)


def test_policies_stand_in_a_file(run, folder):
    (folder / "straightline.toml").write_text(
        "opset = 17\n[models.'loop.onnx'.check]\nrewritten = true\nprove = true\n"
    )
    succeeded(run("check", "models", "-o", "result.json"))
    rows = json.loads((folder / "result.json").read_text())["models"]
    policies = {Path(row["model"]).stem: len(row["policies"]) for row in rows}
    assert policies == {"again": 1, "loop": 2, "relu": 1}
    assert run("check", "models", "-o", "result.json").exit_code == 0
    assert_refused(
        run("check", "models", "-o", "straightline.toml"), 1, "overwrite it with --force"
    )


def test_standard_input(run, folder):
    content = (folder / "models/relu.onnx").read_bytes()
    assert run("check", "-", "--opset", "17", given=content).exit_code == 0


@table(
    (["models"], 2, "there is no policy for 'models/again.onnx'"),
    (["models", "--opset", "17", "--passes", "x"], 2, "--passes has no effect here"),
    (["models", "--opset", "17", "--prove"], 2, "--prove has no effect here"),
    (["models", "--rewritten", "--reference", "x"], 2, "leave out --reference"),
    (["modles"], 1, "there is no model 'modles': no such file or folder; did you mean 'models'?"),
    ([], 2, "Missing argument 'MODEL'"),
)
def test_wrong_usage(words, code, message, run):
    assert_refused(run("check", *words), code, message)


def test_the_hook_and_the_action_call_it():
    hook = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert "entry: straightline check\n" in hook and "id: straightline-check\n" in hook
    action, page = (ROOT / "action.yml").read_text(), (ROOT / "docs/continuous-integration.md")
    inputs = re.findall(r"^  (\w+):$", action.partition("outputs:")[0], re.MULTILINE)
    assert inputs == re.findall(r"^\| `(\w+)` \|", page.read_text(), re.MULTILINE)
    assert all(f"inputs.{name} }}}}" in action for name in inputs)
