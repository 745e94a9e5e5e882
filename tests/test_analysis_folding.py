"""Which nodes the folder computes; what it computes is shown in test_fold_constants.py."""

import numpy as np
import pytest
from harness import as_model
from straightline import ir
from straightline.ir import Tensor
from straightline.passes.analysis.folding import Folder

HEAD = '<ir_version: 8, opset_import: ["" : 17, "local" : 1, "other" : 1, "ai.onnx" : 17]>\n'


def node_of(text, function=""):
    model = ir.load(
        as_model(f"{HEAD}g (float[2] x, bool q) => (float[2] y) {{ {text} }}\n{function}")
    )
    return model.graph.nodes()[-1], Folder(model)


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("y = Neg (x)", True),
        ("y = ai.onnx.Neg (x)", True),
        ("y = other.Neg (x)", False),
        ("y = Constant <value_floats = [1.0, 2.0]> ()", False),
        ("y = RandomUniformLike (x)", False),
        ("y = QuantizeLinear (x, x)", False),
        (
            """y = If (q) <then_branch = t () => (float[2] u) { u = Neg (x) },
                           else_branch = e () => (float[2] v) { v = Abs (x) }>""",
            False,
        ),
    ],
)
def test_which_operators_are_folded(text, may):
    node, folder = node_of(text)
    assert folder.may_fold(node) == may


def test_references_to_attributes_of_the_function_around():
    function = """<domain: "local", opset_import: ["" : 17]> f <k> (x) => (y) {
        y = Softmax <axis : int = @k> (x)
    }"""
    node, folder = node_of("y = local.f <k = 0> (x)", function)
    (inner,) = folder.model.functions.values()
    assert not folder.may_fold(node)
    assert not folder.may_fold(inner.graph.nodes()[0])


def test_versions_of_an_operator_are_those_of_the_function_around():
    function = '<domain: "local", opset_import: ["" : 12]> f (x) => (y) { y = Softmax (x) }'
    node, folder = node_of("y = Softmax (x)", function)
    (inner,) = folder.model.functions.values()
    tensor = Tensor(array=np.ones((2, 2, 2), np.float32))
    (new,) = folder.fold(node, [tensor])
    (old,) = folder.fold(inner.graph.nodes()[0], [tensor])
    assert new.numpy()[0, 0, 0] == 0.5
    assert old.numpy()[0, 0, 0] == 0.25


def test_omitted_inputs_and_outputs():
    node, folder = node_of("y = Clip (x, , q)")
    tensors = [Tensor(array=np.array([1, 5], np.float32)), None, Tensor(array=np.float32(2))]
    (result,) = folder.fold(node, tensors)
    np.testing.assert_array_equal(result.numpy(), [1, 2])


def test_large_inputs_are_not_read():
    node, folder = node_of("y = Neg (x)")
    assert folder.fold(node, [Tensor(array=np.zeros(1 << 19, np.float32))]) is None
