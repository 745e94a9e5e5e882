from harness import as_model
from straightline import ir
from straightline.version_converter.form import OperatorForm, always, writes
from tables import table


@table(
    ("y = Relu (x)", OperatorForm("Relu", (), 1, 1)),
    ("y = Clip (x, , x)", OperatorForm("Clip", (), 3, 1, (1,))),
    ("y, z = TopK <axis = 0, largest = 0> (x, k)", OperatorForm("TopK", ("axis", "largest"), 2, 2)),
)
def test_nodes_of_one_form_look_alike(node: str, form: OperatorForm) -> None:
    (made,) = ir.load(as_model(f" g (float[2] x, int64[1] k) => (y) {{ {node} }}")).graph.nodes()
    assert OperatorForm.of(made) == form


def test_absent_inputs_at_the_end_are_seen() -> None:
    model = ir.load(as_model(" g (float[2] x) => (y) { y = Clip (x) }"))
    (node,) = model.graph.nodes()
    model.graph.resize_inputs(node, 3)
    assert OperatorForm.of(node) == OperatorForm("Clip", (), 3, 1, (1, 2))


def test_facts_that_an_adapter_reads() -> None:
    form = OperatorForm("Reshape", ("allowzero",), 2, 1)
    assert always(form)
    assert writes("axis", "allowzero")(form) and not writes("axis")(form)
