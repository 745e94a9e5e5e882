import onnx
import pytest
from straightline.ir import ModelError
from straightline.ir.checker import check_well_formed
from tables import table


def check(main: str, *functions: str) -> None:
    head = '<ir_version: 10, opset_import: ["": 18, "own": 1]>\n'
    text = head + f"main (float[3] x) => (float[3] y) {{ {main} }}"
    own = '\n<domain: "own", opset_import: ["": 18, "own": 1]>\n'
    proto = onnx.parser.parse_model(text + "".join(own + function for function in functions))
    check_well_formed(proto)


@table(
    (["f (a) => (r) { r = own.f (a) }"], "function 'own::f' calls itself, which ONNX forbids"),
    (["f (a) => (r) { r = own.g (a) }", "g (a) => (r) { r = own.f (a) }"],
     "function 'own::f' calls itself through 'own::g', which"),
    (["f (a) => (r) { r = own.g (a) }", "g (a) => (r) { r = own.h (a) }",
     "h (a) => (r) { s = own.k (a) r = own.g (s) }", "k (a) => (r) { r = Neg (a) }"],
     "function 'own::g' calls itself through 'own::h', which"),
    (
        [
            """f (a) => (r) {
                    c = Constant <value_int = 1> ()
                    b = Cast <to = 9> (c)
                    r = If (b) <then_branch = t () => (u) { u = own.f (a) },
                                else_branch = e () => (v) { v = Neg (a) }> }"""
        ],
        "function 'own::f' calls itself, which",
    ),
)  # fmt: skip
def test_circles(functions: list[str], fault: str) -> None:
    with pytest.raises(ModelError, match=fault):
        check("y = own.f (x)", *functions)


def test_a_long_chain_ends() -> None:
    chain = [f"f{k} (a) => (r) {{ r = own.f{k + 1} (a) }}" for k in range(1500)]
    check("y = own.f0 (x)", *chain, "f1500 (a) => (r) { r = Neg (a) }")


CONCAT = "f <axis> (a) => (r) { r = Concat <axis: int = @axis> (a) }"
NEG = "f (a) => (r) { r = Neg (a) }"
ADD = "f (a, b) => (r) { r = Add (a, b) }"


@table(
    ("y = own.f (x, x)", [NEG], "has 2 inputs; the function accepts 1"),
    ("y, z = own.f (x)", [NEG], "has 2 outputs; the function has 1"),
    ("y = own.f (x)", [CONCAT], "lacks an attribute 'axis', which Concat 'own::f/r' needs"),
    ("y = own.f <axis = 0.5> (x)", [CONCAT], "'axis' of kind FLOAT, which accepts INT"),
    ("y = own.f (x)", [ADD], "lacks its input 'b', which Add 'own::f/r' needs"),
    ("y = own.g (x)", [CONCAT, "g <along> (a) => (r) { r = own.f <axis: int = @along> (a) }"],
     "own::g 'y' lacks an attribute 'along', which Concat 'own::f/r' needs"),
    ("y = own.g (x)", [ADD, "g (a, c) => (r) { r = own.f (a, c) }"],
     "own::g 'y' lacks its input 'c', which Add 'own::f/r' needs"))  # fmt: skip
def test_faults_of_a_call(main: str, functions: list[str], fault: str) -> None:
    with pytest.raises(ModelError, match=fault):
        check(main, *functions)
    with pytest.raises(ModelError, match=fault):
        check(main, *reversed(functions))


def test_calls_that_fit() -> None:
    check("y = own.f <axis = 0> (x)", CONCAT)
    check("y = own.f (x, x)", ADD)
    check("y = own.f (x)", "f <axis: int = 0> (a) => (r) { r = Concat <axis: int = @axis> (a) }")
    check("y = own.g (x, x)", "g (a, c) => (r) { r = own.f (a, c) }", ADD)


def test_a_default_of_the_wrong_kind() -> None:
    with pytest.raises(ModelError, match="'own::f' has an attribute 'axis' of kind FLOAT"):
        check(
            "y = own.f (x)",
            "f <axis: float = 0.5> (a) => (r) { r = Concat <axis: int = @axis> (a) }",
        )
