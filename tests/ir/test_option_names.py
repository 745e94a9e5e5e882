import onnx
import straightline as sl
from harness import as_model
from straightline.cli.commands import app
from straightline.ir.option_names import KEYWORDS, by, shell_messages
from tables import table
from typer.main import get_command
from typer.testing import CliRunner

MODEL = as_model("""g (float[2] x, int64 n) => (float[2] y) {
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
            d = Identity (c)  s = Sin (a)  e = Exp (s) }> }""")


@table(
    (["--set n=..."], "--set n=... (values= in Python)"),
    (["--set n=...", "--set m=..."], "--set n=... --set m=... (values= in Python)"),
    (["--shape x=1", "--force"], "--shape x=1 --force (shapes=, force=True in Python)"),
    (["base_dir="], "base_dir="),
)
def test_python_is_told_keywords_and_a_shell_is_not(options, told):
    assert by(*options) == told
    with shell_messages():
        assert by(*options) == " ".join(options)
    assert by(*options) == told


def test_every_option_is_one():
    commands = get_command(app).commands.values()
    real = {name for command in commands for p in command.params for name in p.opts}
    assert set(KEYWORDS) <= real


def test_one_remark_for_both(tmp_path):
    (construct,) = sl.inspect(MODEL).constructs
    assert "decide it with --set n=... (values= in Python)" in construct.reason
    onnx.save(MODEL, tmp_path / "in.onnx")
    shown = CliRunner().invoke(app, ["inspect", str(tmp_path / "in.onnx")], env={"COLUMNS": "200"})
    assert "decide it with --set n=..." in shown.output and "in Python" not in shown.output
