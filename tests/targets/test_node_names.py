"""Names of nodes, for clients that name unnamed nodes by operator and number."""

import pytest
from harness import as_model
from straightline import ir, transform
from straightline.targets.node_names import name_colliding_nodes

TEXT = """<ir_version: 8, opset_import: ["": 13]> g (float[4] x) => (float[4] y) {{
    {name} a = Add (x, x) b = Add (a, x) c = Mul (b, x) y = Add (c, x) }}"""


@pytest.mark.parametrize(
    ("name", "named"), [("[Add_1]", 3), ("[first]", 0), ("", 0), ("[Mul_0]", 3), ("[Sub_1]", 0)]
)
def test_unnamed_nodes_are_named_where_a_name_may_collide(name, named):
    model = ir.load(as_model(TEXT.format(name=name)))
    assert name_colliding_nodes(model) == named
    names = [node.name for node in model.graph.nodes() if node.name]
    assert len(set(names)) == len(names) == (4 if named else bool(name))


def test_a_client_gets_names():
    outcome = transform(
        as_model(TEXT.format(name="[Add_1]")), target="onnx2torch", verify=False, hints=False
    )
    names = [node.name for node in outcome.model.graph.node]
    assert all(names) and len(set(names)) == 4 and "Add_1" in names
