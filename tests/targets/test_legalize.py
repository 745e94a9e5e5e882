"""What a target lacks, said by what it takes: in the words of older opsets, checked functions and
longer forms."""

import numpy as np
import pytest
import straightline as sl
from straightline.targets import Form
from straightline.targets.legalize import _Legalizer
from tables import table

from targets import fitted, lacking, one_node, operators, taking

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 4)).astype(np.float32)
PLACES = RNG.integers(0, 4, (2, 3))


@pytest.mark.sample(8)
@table(
    ("y = Gelu (x)", "float[2, 4] x", {"x": X}, 20),
    ("y = Mish (x)", "float[2, 4] x", {"x": X}, 18),
    ("y = HardSwish (x)", "float[2, 4] x", {"x": X}, 17),
    ('y = Einsum <equation = "ij,kj->ik"> (x, x)', "float[2, 4] x", {"x": X}, 17),
    ("y = LayerNormalization (x, w)", "float[2, 4] x, float[4] w", {"x": X, "w": X[0]}, 17),
    ("y = GatherElements <axis = 1> (x, i)", "float[2, 4] x, int64[2, 3] i", {"x": X, "i": PLACES},
     17),
    ("y = GatherND <batch_dims = 1> (x, i)", "float[2, 4] x, int64[2, 1] i",
     {"x": X, "i": PLACES[:, :1]}, 17),
    ("y = GreaterOrEqual (x, w)", "float[2, 4] x, float[4] w", {"x": X, "w": X[0]}, 17),
    ("y = Trilu (x)", "float[2, 4] x", {"x": X}, 17),
    ("y = Where (c, x, w)", "bool[2, 4] c, float[2, 4] x, float[4] w",
     {"c": X > 0, "x": X, "w": X[0]}, 17),
    ("y = IsNaN (x)", "float[2, 4] x", {"x": np.where(X > 0, X, np.nan)}, 17),
    ("y = BitwiseNot (i)", "int64[2, 3] i", {"i": PLACES}, 18),
    ("y = Sum (x, w, x)", "float[2, 4] x, float[4] w", {"x": X, "w": X[0]}, 17),
    ("a = Constant <value = int64 {0}> () y = CumSum (x, a)", "float[2, 4] x", {"x": X}, 17),
    ("y = LogSoftmax (x)", "float[2, 4] x", {"x": X}, 17))  # fmt: skip
def test_an_operator_is_said_by_others(node, inputs, feed, opset):
    name = node.rpartition("= ")[2].split()[0] if "Constant" in node else node.split()[2]
    outcome = fitted(one_node(node, inputs, opset), lacking(name), feed)
    assert name not in operators(outcome) and not outcome.untaken
    (done,) = (r for r in outcome.remarks if r.pass_name == "fit-target" and r.op_type == name)
    assert done.action == "rewritten" and done.reason.startswith("expressed by ")
    assert outcome.opset == (opset, opset)


def test_replacements_are_replaced_in_turn():
    target = lacking("Gelu", "Sum", "CastLike", "Sqrt", opsets=(20, 20))
    outcome = fitted(one_node("y = Gelu (x)", "float[2, 4] x", 20), target, {"x": X})
    assert operators(outcome) == ["Add", "Div", "Erf", "Mul"]


def test_an_incomplete_replacement_is_undone():
    text = one_node("y = Gelu (x)", "float[2, 4] x", 20)
    outcome = fitted(text, lacking("Gelu", "Erf", "Exp"), {"x": X})
    assert operators(outcome) == ["Gelu"]
    (left,) = outcome.untaken
    assert left.reason == "npu does not support Gelu; its replacement needs Erf"


def test_a_form_that_is_not_taken_becomes_one_that_is():
    target = lacking(forms={"GatherND": (Form(attributes={"batch_dims": (0,)}),)})
    text = one_node("y = GatherND <batch_dims = 1> (x, i)", "float[2, 4] x, int64[2, 1] i")
    outcome = fitted(text, target, {"x": X, "i": PLACES[:, :1]})
    assert "GatherND" in operators(outcome) and not outcome.untaken


def test_nodes_of_a_kept_body_are_replaced():
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (int64 n, float[2] x) => (float[2] y) <bool yes = {1}> {
        y = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
            d = Identity (c)
            e = HardSwish (a) }> }"""
    target = lacking("HardSwish")
    outcome = fitted(text, target, *[{"n": np.array(n), "x": X[0, :2]} for n in (0, 1, 3)])
    assert "Loop" in operators(outcome) and "HardSwish" not in operators(outcome)


def test_functions_of_the_model_are_put_in_their_place():
    text = """<ir_version: 8, opset_import: ["" : 17, "own" : 1]>
    g (float[2] x) => (float[2] y) { a = own.twice (x) y = own.twice (a) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]> once (v) => (w) { w = HardSwish (v) }
    <domain: "own", opset_import: ["" : 17, "own" : 1]> twice (v) => (w) {
        u = own.once (v)
        w = own.once (u) }"""
    outcome = fitted(text, lacking("HardSwish"), {"x": X[0, :2]})
    assert not outcome.ir.functions and not outcome.untaken
    kept = fitted(text, lacking(functions=True), {"x": X[0, :2]})
    assert operators(kept) == ["HardSwish", "own::once", "own::twice"]


def test_other_domains_stay_and_are_told():
    text = '<ir_version: 8, opset_import: ["" : 17, "x" : 1]> g (float[2] a) => (float[2] b) {'
    (left,) = fitted(text + " b = x.Odd (a) }", taking("Add")).untaken
    assert left.reason == "npu does not support x.Odd"


def test_an_if_that_a_function_brings_is_decided_where_it_can_be():
    """Though the target takes If: AffineGrid asks for the length of its size, which is known."""
    text = one_node("y = AffineGrid (t, s)", "float[2, 2, 3] t, int64[4] s", opset=20)
    feed = {"t": RNG.random((2, 2, 3), np.float32), "s": np.array([2, 1, 2, 2])}
    outcome = fitted(text, lacking("AffineGrid"), feed, passes=())
    assert "If" not in operators(outcome) and not outcome.untaken


def test_constants_of_nodes_become_initializers_where_the_target_wants_them():
    target = lacking(forms={"Gemm": (Form(initializers=("B", "C")),)})
    weights = "w = Constant <value = float[4, 2] {1,2,3,4,5,6,7,8}> () v = Neg (w)"
    text = one_node(f"{weights} y = Gemm (x, w)", "float[2, 4] x", outputs="y, v")
    outcome = fitted(text, target, {"x": X}, passes=())
    assert operators(outcome) == ["Gemm", "Neg"] and not outcome.untaken
    (told,) = [(r.op_type, r.reason) for r in outcome.remarks]
    assert told == ("Constant", "made an initializer")
    assert not fitted(outcome.model, target, {"x": X}, passes=()).changed
    text = one_node("y = Gemm (x, w)", "float[2, 4] x, float[4, 2] w")
    (left,) = fitted(text, target, passes=()).untaken
    assert left.reason.startswith("npu supports Gemm only with an initializer as 'B'")


def test_defaults_are_written_out_where_the_target_wants_them():
    forms = {"CumSum": (Form(written=("reverse", "exclusive")),)}
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (bool c, float[2, 4] x) => (float[2, 4] y) {
        k = Constant <value = int64 {1}> ()
        y = If (c) <
            then_branch = t () => (float[2, 4] p) { p = CumSum <exclusive = 1> (x, k) },
            else_branch = e () => (float[2, 4] q) { q = CumSum <exclusive = 0, reverse = 1> (x, k) }
        >
    }"""
    feeds = [{"c": np.array(c), "x": X} for c in (True, False)]
    outcome = fitted(text, lacking(forms=forms), *feeds)
    assert not outcome.untaken
    (told,) = [r.reason for r in outcome.remarks if r.op_type == "CumSum"]
    assert told == "reverse written out"
    nodes = [n for g in outcome.ir.graphs() for n in g.nodes() if n.op_type == "CumSum"]
    assert all({"reverse", "exclusive"} == set(n.op.attributes) for n in nodes)


def test_a_scalar_has_no_axes_to_write_out():
    forms = {"ReduceMax": (Form(written=("axes",)),)}
    text = one_node("y = ReduceMax (x)", "float x", opset=13)
    outcome = fitted(text, lacking(forms=forms), {"x": np.array(2, np.float32)}, passes=())
    (node,) = outcome.ir.graph.nodes()
    assert node.attribute("axes") == [] and not outcome.untaken


def test_constants_that_are_no_tensors_become_tensors():
    forms = {"Constant": (Form(unwritten=("value_int", "value_float")),)}
    text = one_node("k = Constant <value_float = 2.5> () y = Mul (x, k)", "float[2, 4] x")
    assert operators(fitted(text, lacking(forms=forms), {"x": X}, passes=())) == ["Mul"]


def test_reductions_are_said_by_sums_where_they_are_lacking():
    for name in ("ReduceL1", "ReduceLogSum", "ReduceLogSumExp"):
        for opset in (11, 17, 18):
            told = "keepdims = 0" if opset == 18 else "keepdims = 0, axes = [-1]"
            node = f"a = Constant <value_ints = [-1]> () y = {name} <{told}> (x, a)"
            node = node if opset == 18 else node.partition("() ")[2].replace(", a)", ")")
            model = one_node(node, "float[n, 4] x", opset)
            feeds = [{"x": np.abs(X)}, {"x": np.abs(X[:1])}]
            outcome = fitted(model, lacking(name, opsets=(11, 18)), *feeds, passes=())
            assert name not in operators(outcome) and not outcome.untaken


@pytest.mark.parametrize("name", ["Clip", "Elu"])
def test_below_ir_version_4_nothing_that_is_made_becomes_an_input(name):
    text = one_node(f"y = {name} (x)", "float[2, 4] x", 8)
    assert text.ir_version < 4
    outcome = fitted(text, lacking(name, opsets=(7, 8)), {"x": X})
    assert name not in operators(outcome) and not outcome.untaken
    assert outcome.opset == (8, 8) and len(outcome.model.graph.input) == 1


@pytest.mark.parametrize("index", ["k", "i"])
def test_a_part_may_take_computed_sizes(index):
    """tract knows what sizes decide; a replacement does not see where its operands come from."""
    k = "k = Constant <value_ints = [0]> () "
    node = f"{k} s = Shape (x) t = Gather (s, {index}) y = ConstantOfShape (t)"
    text = one_node(node, "float[n, 4] x, int64[1] i")
    target = lacking("ConstantOfShape", "Tile", forms={"Expand": (Form(from_sizes=("shape",)),)})
    outcome = fitted(text, target, passes=())
    left = [node.op_type for node in outcome.ir.graph.nodes()]
    assert "Expand" in left and bool(outcome.untaken) == (index == "i")


@table(
    ("Clip <max = 2.0, min = -1.0>", "A, B"), ("ReduceMax <axes = [1], keepdims = 0>", "A"),
    ("Unsqueeze <axes = [2]>", "A, B, 1"))  # fmt: skip
def test_the_forms_of_an_operator_without_any_that_fits_are_limited(operator, sizes, monkeypatch):
    """Each form has others for what it needs, four levels deep: a second for each node."""
    tried = []
    failure = _Legalizer._failure

    def count(self, scratch, way, label):
        tried.append(label)
        return failure(self, scratch, way, label)

    monkeypatch.setattr(_Legalizer, "_failure", count)
    text = f"g (float[N, M] x) => (float[{sizes}] y) {{ y = {operator} (x) }}"
    model = sl.ir.parse('<ir_version: 4, opset_import: ["" : 9]> ' + text)
    outcome = sl.transform(model, target="emx", verify=False, hints=False)
    assert outcome.untaken and 0 < len(tried) < 300
