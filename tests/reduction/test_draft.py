import onnx
import pytest
from harness import as_model
from straightline import ir
from straightline.reduction.draft import Draft, UncuttableError, nesting_of

NESTED = """g (float[2] x, bool p) => (float[2] y) {
    a = Exp (x)
    b = If (p) <then_branch = t () => (float[2] c) { d = Neg (a) c = Sin (d) },
                else_branch = e () => (float[2] f) { f = Abs (a) }>
    y = Cos (b) }"""


def cut(text, *op_types):
    draft = Draft(ir.load(as_model(text)))
    draft.cut([n for g in draft.graphs() for n in g.nodes() if n.op_type in op_types])
    draft.finish()
    model = ir.to_proto(draft.model)
    onnx.checker.check_model(model, full_check=True)
    return " ".join(onnx.printer.to_text(model.graph).split())


def test_results_become_inputs_and_operands_outputs():
    assert cut(NESTED, "If") == (
        "g (float[2] x, bool p, float[2] b) => (float[2] y, float[2] a) { a = Exp (x) y = Cos (b) }"
    )


def test_in_a_body_results_become_inputs_of_the_main_graph():
    text = cut(NESTED, "Neg")
    assert text.startswith("g (float[2] x, bool p, float[2] d) => (float[2] y)")
    assert "c = Sin (d)" in text


def test_a_draft_without_outputs_has_one():
    text = "g (float[2] x) => (float[2] y) { unread = Neg (x) y = Exp (x) }"
    assert cut(text, "Exp") == "g (float[2] x) => (float[2] unread) { unread = Neg (x) }"


def test_constants_that_nothing_reads_go():
    text = "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Add (x, w) y = Exp (a) }"
    assert cut(text, "Add") == "g (float[2] x, float[2] a) => (float[2] y) { y = Exp (a) }"


def test_all_nodes_cannot_go():
    with pytest.raises(UncuttableError, match="no output"):
        cut(NESTED, "Exp", "If", "Cos")


def test_a_value_of_unknown_type_stays():
    text = (
        '<ir_version: 8, opset_import: ["" : 17, "custom" : 1]>'
        "g (float[2] x) => (float[2] y) { a = custom.F (x) y = Exp (a) }"
    )
    with pytest.raises(UncuttableError, match="type of value 'a' is unknown"):
        cut(text, "F")


def test_names_of_new_inputs_are_new():
    draft = Draft(ir.load(as_model(NESTED)))
    type_ = draft.type_of(draft.model.graph.inputs[0])
    assert [draft.new_input("x", type_).name for _ in range(2)] == ["x_1", "x_2"]


def test_nesting():
    draft = Draft(ir.load(as_model(NESTED)))
    assert [nesting_of(graph) for graph in draft.graphs()] == [0, 1, 1]
    assert len(draft.graphs(1)) == 2
