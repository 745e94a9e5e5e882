import pytest
from commands import run_here, write

SAME_SHAPE = "g (float[n, 3] x) => (float[n, 3] y) "
"""Head of a model with one input, and an output of its shape."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run():
    """Run a command with arguments."""
    return run_here


@pytest.fixture
def models(folder):
    """Files of small models: equal ones, different ones, and some that are equal in part."""
    third = SAME_SHAPE + "<float c = {%s}> { y = %s (x, c) }"
    texts = {
        "relu": SAME_SHAPE + "{ y = Relu (x) }",
        "again": SAME_SHAPE + "{ t = Identity (x) y = Relu (t) }",
        "ceil": SAME_SHAPE + "{ y = Ceil (x) }",
        "mirrored": SAME_SHAPE + "{ n = Neg (x) f = Floor (n) y = Neg (f) }",
        "abs": SAME_SHAPE + "{ y = Abs (x) }",
        "thirds": third % ("3", "Div"),
        "third": third % ("0.33333333", "Mul"),
        "scaled": "g (float[n, 3] x, float k) => (float[n, 3] y) { y = Mul (x, k) }",
        "double": SAME_SHAPE + "<float k = {2}> { y = Mul (x, k) }",
    }
    for name, text in texts.items():
        write(folder / f"{name}.onnx", text)
