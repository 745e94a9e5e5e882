"""States that grow by rows: which ones, and their rows around the loop."""

from attention_loops import PLAIN, loop
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.iteration.loop_view import read
from straightline.passes.loops.prefix_values import emit_all_rows, growing_states


def _growing(text):
    model = ir.parse(text)
    (node,) = model.graph.nodes_of("Loop")
    inference = ShapeInference(model)
    return model, read(node), inference, growing_states(read(node), inference)


def test_reads():
    *_, growing = _growing(loop(PLAIN))
    assert [(each.axis, each.step) for each in growing] == [(0, 1), (0, 1)]


def test_rows_that_depend_on_another_state_come_later():
    """The rows of u are results of the attention to t."""
    body = PLAIN.replace("(z, q)", "(z, m)") + " m = MatMul (w, t)"
    *_, growing = _growing(loop(body))
    assert [each.state.argument.name for each in growing] == ["s"]


def test_values_with_products_are_computed_once():
    """The body reads a product that the rows need."""
    body = PLAIN.replace("v = Exp (q)", "h = MatMul (q, bias2) v = Exp (h)").replace(
        "(q, k)", "(h, k)"
    )
    text = loop(body).replace("float[3, 9] bias", "float[3, 9] bias, float[2, 2] bias2")
    model, loop_view, inference, growing = _growing(text)
    rows, shared = emit_all_rows(model.graph, loop_view, growing, inference)
    assert len(rows) == 2
    assert [value.name for value in shared] == ["h", "v"]
    emitted = min(model.graph.nodes_of("Loop"), key=lambda node: len(node.inputs))
    assert [node.op_type for node in emitted.body("body").nodes()].count("Exp") == 1
