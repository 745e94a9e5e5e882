"""What is not well formed is refused by every public function and command, with one clear line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import malformed
import onnx
import pytest
import straightline as sl
from straightline.cli import app
from typer.testing import CliRunner

PUBLIC: dict[str, Callable[[Any], object]] = {
    "rewrite": sl.rewrite,
    "inspect": sl.inspect,
    "convert": lambda model: sl.convert_version(model, 13),
    "verify": lambda model: sl.verify(model, model),
    "run": lambda model: sl.reference.run(model, {}),
}


def command(folder: Any, *arguments: object) -> Any:
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.mark.parametrize("function", PUBLIC)
@pytest.mark.parametrize("name", malformed.REFUSED)
def test_public_functions(name: str, function: str) -> None:
    with pytest.raises(sl.Error) as caught:
        PUBLIC[function](malformed.malformed(name))
    assert "\n" not in str(caught.value)
    if function != "run":
        assert malformed.REFUSED[name][1] in str(caught.value)


@pytest.mark.parametrize("name", malformed.REFUSED)
def test_command_line(name: str, tmp_path: Any) -> None:
    path, out = tmp_path / "m.onnx", tmp_path / "out.onnx"
    path.write_bytes(malformed.malformed(name).SerializeToString())
    commands = (["rewrite", path, out], ["convert", path, out, "--opset", 13], ["inspect", path])
    for arguments in (*commands, ["verify", path, path]):
        result = CliRunner().invoke(app, [str(a) for a in arguments])
        assert result.exit_code == 1, result.output
        assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert not out.exists()


def test_the_model_without_a_change_is_right() -> None:
    model = malformed.model()
    onnx.checker.check_model(model, full_check=True)
    rewritten = sl.rewrite(model, values={"n": 2, "c": True}, verify=True)
    assert not sl.inspect(rewritten).constructs
    assert sl.ir.to_proto(sl.ir.load(model)) == model
