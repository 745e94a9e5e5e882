import pytest
import straightline as sl
from reports import rewritten
from straightline.report.model_data import describe
from straightline.report.origins import origins

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def found(before, after):
    """For each node of the second model its name, the kind of its origin, and that one's name."""
    one, other = (describe(sl.ir.parse(HEAD + text)) for text in (before, after))
    known = origins(one, other)
    rows = {}
    for place, node in other.places():
        origin = known.get(place)
        if origin is not None:
            graph, number = origin.place
            rows[node.label] = (origin.kind, one.graphs[graph].nodes[number].label, origin.end)
    return rows


ONE = "g (float[2] x) => (float[2] y) { a = Exp (x) y = Neg (a) }"


def test_equal_names_and_operators_are_the_same():
    assert found(ONE, ONE) == {"a": ("same", "a", ""), "y": ("same", "y", "")}


def test_a_new_operator_under_an_old_name():
    after = "g (float[2] x) => (float[2] y) { a = Exp (x) y = Abs (a) }"
    assert found(ONE, after)["y"] == ("instead", "y", "")


def test_a_name_that_is_none_of_the_originals_has_no_origin():
    after = "g (float[2] x) => (float[2] y) { b = Exp (x) aa = Exp (b) y = Neg (aa) }"
    assert set(found(ONE, after)) == {"y"}


@pytest.mark.parametrize("end", ["_0", "_12", "_3_1"])
def test_numbers_at_the_end_are_those_of_copies(end):
    after = f"g (float[2] x) => (float[2] y) {{ a{end} = Exp (x) y = Neg (a{end}) }}"
    assert found(ONE, after)[f"a{end}"] == ("copy", "a", end)


def test_a_name_of_the_original_that_ends_in_a_number_is_its_own():
    before = "g (float[2] x) => (float[2] y) { a = Exp (x) a_1 = Exp (a) y = Neg (a_1) }"
    assert found(before, before)["a_1"] == ("same", "a_1", "")


def test_the_same_operator_goes_before_the_nearer_name():
    before = "g (float[2] x) => (float[2] y) { a = Exp (x) a_1 = Abs (a) y = Neg (a_1) }"
    after = "g (float[2] x) => (float[2] y) { a_1_2 = Exp (x) y = Neg (a_1_2) }"
    assert found(before, after)["a_1_2"] == ("copy", "a", "_1_2")


def test_a_name_that_stands_in_several_bodies_tells_of_the_others():
    branch = "{} = {}b () => (float[2] {}) {{ {} = Exp (x) }}"
    before = (
        "g (float[2] x, bool c) => (float[2] y) { y = If (c) <"
        + branch.format("then_branch", "t", "r", "r")
        + ", "
        + branch.format("else_branch", "e", "r", "r")
        + "> }"
    )
    after = "g (float[2] x) => (float[2] y) { r_0 = Exp (x) y = Neg (r_0) }"
    one, other = (describe(sl.ir.parse(HEAD + text)) for text in (before, after))
    assert origins(one, other)[0, 0].others == 1


def test_copies_of_a_body_are_followed_to_their_node():
    report = rewritten(verify=False)
    kinds = {}
    for place, node in report.after.model.places():
        origin = report.origins.get(place)
        kinds[node.label] = origin and (origin.kind, origin.end)
    copies = [f"project_{iteration}" for iteration in range(4)]
    assert [kinds[name] for name in copies] == [("copy", f"_{iteration}") for iteration in range(4)]
    assert kinds["wait"] == ("same", "")


def test_an_inlined_call_is_followed():
    text = (
        HEAD[:-2].replace("17]", '17, "m" : 1]')
        + """>
    g (float[2] x, bool k) => (float[2] y) { [layer] y = m.f (x) }
    <domain: "m", opset_import: ["" : 17]>
    f (a) => (b) {
        n = Constant <value_int = 2> ()
        h = Exp (a)
        b = Loop (n, , h) <
            body = s (int64 i, bool go, p) => (bool same, q) { same = Identity (go) q = Neg (p) } >
    }"""
    )
    model = sl.ir.parse(text)
    one, other = describe(model), describe(sl.ir.load(sl.rewrite(model)))
    known = origins(one, other)
    labels = {node.label: known.get(place) for place, node in other.places()}
    assert labels and all(origin is not None for origin in labels.values()), labels


def test_helper_nodes_belong_to_the_node_they_serve():
    before = """g (float[2] s, float[3, 2] xs) => (float[2] t) {
        t = Scan <num_scan_inputs = 1,
            body = b (float[2] a, float[2] x) => (float[2] c) { c = Add (a, x) }>(s, xs) }"""
    after = """g (float[2] s, float[3, 2] xs) => (float[2] t) {
        x_0_row, others = Split <axis = 0> (xs)
        c_wide = Neg (s)
        lonely_wide = Neg (s)
        t = Add (c_wide, lonely_wide) }"""
    rows = found(before, after)
    assert rows["x_0_row"] == ("for", "t", "_0_row") and rows["c_wide"] == ("for", "c", "_wide")
    assert "lonely_wide" not in rows and rows["t"][0] == "instead"
