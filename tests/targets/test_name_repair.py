import numpy as np
import onnx
from harness import as_model
from straightline import ir, transform
from straightline.targets.name_repair import name_colliding_nodes
from tables import table

from targets import fitted, lacking

TEXT = """<ir_version: 8, opset_import: ["": 13]> g (float[4] x) => (float[4] y) {{
    {name} a = Add (x, x) b = Add (a, x) c = Mul (b, x) y = Add (c, x) }}"""


@table(("[Add_1]", 3), ("[first]", 0), ("", 0), ("[Mul_0]", 3), ("[Sub_1]", 0))
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


def test_bodies_get_names_of_their_own():
    """MNN (3.6.1) crashes on three Ifs whose branches have the same two names, as unrolling leaves
    them."""
    ifs = " ".join(
        f"""{to} = If (c) <then_branch = t () => (p) {{ p = Neg ({of}) }},
        else_branch = t_1 () => (q) {{ q = Exp ({of}) }}>"""
        for of, to in zip("xab", "aby", strict=True)
    )
    text = f"""<ir_version: 8, opset_import: ["" : 17]>
        g (float[4] x, bool c) => (float[4] y) {{ {ifs} }}"""
    feeds = {"x": np.ones(4, np.float32), "c": np.array(False)}
    outcome = fitted(text, lacking("Tan", names_bodies=True), feeds, passes=())
    names = [graph.name for graph in outcome.ir.graphs()]
    assert names == ["g", "t", "t_1", "t_2", "t_1_1", "t_3", "t_1_2"]
    assert not fitted(text, lacking("Tan"), passes=()).changed


SIZES_TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[?, 2, N] x, float[x_0, ?] w, float[3] k) => (float[?, 2, N] y, float[?, ?] z) {
    y = Neg (x) z = Exp (w) }"""


def sizes(outcome):
    return [
        [dim.dim_param or dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in outcome.model.graph.input
    ]


def test_each_open_size_gets_a_name_of_its_own():
    """tinygrad: "input x has mismatch on dim=0. Expected None, received 5"."""
    feeds = {name: np.ones(shape, np.float32) for name, shape in (("x", (5, 2, 4)), ("w", (7, 6)))}
    feeds["k"] = np.ones(3, np.float32)
    outcome = fitted(SIZES_TEXT, lacking("Tan", names_sizes=True), feeds)
    assert sizes(outcome) == [["x_0_1", 2, "N"], ["x_0", "w_1"], [3]]
    (remark,) = (r for r in outcome.remarks if "named" in str(r.reason))
    assert "2 open sizes" in str(remark.reason)


def test_other_targets_and_known_sizes_change_nothing():
    assert sizes(fitted(SIZES_TEXT, lacking("Tan"))) == [[0, 2, "N"], ["x_0", 0], [3]]
    known = (
        SIZES_TEXT.replace("float[?, 2, N] x", "float[M, 2, N] x")
        .replace("[x_0, ?] w", "[x_0, 1] w")
        .replace("[?, ?] z", "[?, 1] z")
    )
    outcome = fitted(known, lacking("Tan", names_sizes=True))
    assert not outcome.changed and isinstance(outcome.model, onnx.ModelProto)
