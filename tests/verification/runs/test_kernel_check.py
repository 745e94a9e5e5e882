import pytest
import straightline as sl
from straightline.definitions.registry import forget, own_names
from straightline.verification.runs.kernel_check import (
    check_kernels,
    require_kernels,
    require_own_kernels,
)
from tables import table

QUICK = """before (floats x) => (y) { y = com.microsoft.QuickGelu <alpha = @alpha ? 1.702> (x) }
after (x) => (y) { u = Mul (x, @alpha)  s = Sigmoid (u)  y = Mul (x, s) }"""


@pytest.fixture
def forgotten():
    yield
    for name in own_names():
        forget(name)


def test_right_definitions_equal_their_kernels(forgotten):
    assert sl.define(QUICK, check=True) == ["com.microsoft.QuickGelu"]
    names = ["com.microsoft.FusedMatMul", "com.microsoft.QLinearAdd", "com.microsoft.Trilu"]
    checks = check_kernels(names)
    assert [(check.status, check.nodes) for check in checks] == [("equal", 12)] * 3
    own = {check.operator: check for check in require_own_kernels()}
    assert "equals the kernel" in str(own["com.microsoft.QuickGelu"])


@table(
    ("? 1.702", "? 1.7", r"'y' differs by .* \(x float"),
    ("Mul (x, s)", "Mul (u, s)", "'y' differs by"),
    ("y = Mul (x, s)", "t = Mul (x, s)  y = ReduceSum <axes = [-1]> (t)", "returns 'y' as"),
    ("y = Mul (x, s)", "t = Mul (x, s)  y = Cast <to = 11> (t)", "not float64"),
)
def test_a_definition_that_contradicts_its_kernel_is_refused(old, new, difference, forgotten):
    with pytest.raises(sl.RuleError, match=difference):
        sl.define(QUICK.replace(old, new), check=True)
    assert not own_names()


def test_incomparable_operators(forgotten):
    operators = {
        "com.acme.Half": "(x, 0.5)",  # onnxruntime has no such operator
        "com.microsoft.BiasAdd": "(x, 0.5)",  # no such kernel on a processor
        "com.microsoft.RotaryEmbedding": "(x, 0.5)",  # it needs four operands
    }
    for name, operands in operators.items():
        before = f"before (floats x) => (y) {{ y = {name} (x) }}"
        sl.define(f"{before}\nafter (x) => (y) {{ y = Mul {operands} }}")
    one, two, three = require_kernels(operators)
    assert (one.status, two.status, three.status) == ("no kernel", "not compared", "not compared")
    assert "write its types and sizes into 'before'" in str(three)


def test_a_kernel_that_ends_its_process_is_left():
    (check,) = check_kernels(["com.microsoft.QLinearConcat"])
    assert check.status == "not compared" and "crashed" in check.reason
