import onnx
from straightline.passes import EliminateDeadFunctions, Pipeline

MODEL = """<ir_version: 8, opset_import: ["" : 18, "local" : 1]>
g (float[2] x) => (float[2] y) { y = local.outer (x) }
<domain: "local", opset_import: ["" : 18, "local" : 1]>
outer (a) => (b) { b = local.inner (a) }
<domain: "local", opset_import: ["" : 18]>
inner (a) => (b) { b = Neg (a) }
<domain: "local", opset_import: ["" : 18]>
unused (a) => (b) { b = Exp (a) }"""


def names(model):
    return [function.name for function in model.functions]


def test_functions_that_are_called_only_by_functions_stay():
    result = Pipeline([EliminateDeadFunctions()]).run(onnx.parser.parse_model(MODEL))
    assert result.changed
    assert names(result.model) == ["outer", "inner"]


def test_a_call_in_a_body_counts():
    text = MODEL.replace(
        "y = local.outer (x)",
        """yes = Constant <value = bool {1}> ()
           y = If (yes) <then_branch = t () => (p) { p = local.unused (x) },
                         else_branch = e () => (q) { q = local.outer (x) }>""",
    )
    result = Pipeline([EliminateDeadFunctions()]).run(onnx.parser.parse_model(text))
    assert not result.changed
    assert names(result.model) == ["outer", "inner", "unused"]


def test_training_information_keeps_all():
    model = onnx.parser.parse_model(MODEL)
    model.training_info.add().algorithm.name = "a"
    assert not Pipeline([EliminateDeadFunctions()]).run(model).changed
