import itertools

import straightline as sl
from straightline.report.groups import groupings
from straightline.report.model_data import describe
from straightline.report.origins import origins

HEAD = '<ir_version: 10, opset_import: ["" : 21, "local" : 1]>\n'
NESTED = (
    HEAD
    + """g (float[2] x) => (float[2] y, float[3, 2] s) {
    n = Constant <value_int = 3> ()
    m = Constant <value_int = 2> ()
    [outer] y, s = Loop (n, , x) <
        body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e, float[2] p) {
            d = Identity (c)
            [inner] e = Loop (m, , a) <
                body = b2 (int64 j, bool c2, float[2] a2) => (bool d2, float[2] e2) {
                    d2 = Identity (c2)
                    [mul] q = Mul (a2, a2)
                    [exp] e2 = Exp (q) } >
            h = Neg (e)
            p = Tanh (h) } > }"""
)


def paths(grouping):
    """The path of groups of each node."""
    numbers = itertools.chain(*([number] * count for number, count in grouping.runs))
    found = []
    for number in numbers:
        path = []
        while number >= 0:
            path.insert(0, grouping.groups[number].label)
            number = grouping.groups[number].around
        found.append(tuple(path))
    return found


def of_rewrite(text, **options):
    """The groups of the main graph of a rewrite, by the first output of each node."""
    model = sl.ir.parse(text)
    before, after = describe(model), describe(sl.ir.load(sl.rewrite(model, **options)))
    found = groupings(after, before, origins(before, after))[0].origin
    nodes = after.graphs[0].nodes
    return dict(zip([node.outputs[0] for node in nodes], paths(found), strict=True))


def test_copies_are_grouped_by_loop_and_iteration_outer_before_inner():
    found = of_rewrite(NESTED)
    # All nodes come from the outer loop, so it is no group.
    assert found["q_1_0"] == ("iteration 0", "Loop inner", "iteration 1")
    assert found["e_1_row"] == ("iteration 1", "Loop inner")


def test_inlined_functions_are_grouped_by_call():
    text = (
        HEAD
        + """g (float[2] x) => (float[2] y) {
        yes = Constant <value = bool {1}> ()
        [one] a = local.gate (x, yes)
        [two] b = local.gate (a, yes)
        y = Neg (b) }
    <domain: "local", opset_import: ["" : 21]>
    gate (v, on) => (w) {
        e = Erf (v)
        f = Mul (v, e)
        w = If (on) <then_branch = t () => (r) { r = Relu (f) },
                     else_branch = u () => (s) { s = Exp (f) }> }"""
    )
    found = of_rewrite(text)
    assert found["e_one"] == found["f_one"] == ("local::gate one",)
    assert found["f_two"] == ("local::gate two",) and found["y"] == ()


def test_modules_come_from_names_with_slashes():
    model = sl.ir.parse(
        HEAD
        + """g (float[2] x) => (float[2] y) {
        ["/enc/enc.0/Neg"] a = Neg (x)
        ["/enc/enc.0/Abs"] b = Abs (a)
        ["/enc/Exp"] c = Exp (b)
        ["/dec/Tanh"] y = Tanh (c) }"""
    )
    (found,) = groupings(describe(model))
    assert paths(found.module) == [("enc", "enc.0"), ("enc", "enc.0"), ("enc",), ()]
    assert found.origin is None


def test_a_group_of_one_node_or_of_all_is_none():
    model = sl.ir.parse(
        HEAD + 'g (float x) => (float y) { ["all/a/N"] a = Neg (x) ["all/b/A"] y = Abs (a) }'
    )
    assert groupings(describe(model))[0].module is None
