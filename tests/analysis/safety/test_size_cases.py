import itertools

import numpy as np
import pytest
import straightline as sl
from straightline import ir
from straightline.analysis.safety.size_cases import conditions_around, size_cases
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.polynomial import Dimension
from tables import table

NUMBERS = ", ".join(f"int64 k{n} = {{{n}}}" for n in range(5))
TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[N, M] x, bool r) => (bool c) <{}, int64 many = {{99}}> {{
    s = Shape (x) n = Gather (s, k0) m = Gather (s, k1) e = Size (x) t = Add (n, m)
    d = Mul (n, k2) {} }}"""


def cases(nodes, holds):
    model = ir.parse(TEXT.format(NUMBERS, nodes))
    return size_cases([(model.graph.outputs[0], holds)], ShapeInference(model))


def belongs(case, sizes):
    """Test whether a case holds these sizes, with any numbers for the rests."""
    rests = sorted({s for size in case.values() for s in size.symbols} - {"N", "M"})
    for numbers in itertools.product(range(8), repeat=len(rests)):
        every = {**sizes, **dict(zip(rests, numbers, strict=True))}
        constants = {symbol: Dimension.constant(size) for symbol, size in every.items()}
        if all(size.replaced(constants) == sizes[name] for name, size in case.items()):
            return True
    return False


CONDITIONS = {
    "more": "c = Greater (n, k2)",
    "less": "c = Less (k3, n)",
    "at most": "c = LessOrEqual (n, k0)",
    "at least": "c = GreaterOrEqual (k3, n)",
    "equal": "c = Equal (k2, n)",
    "not equal": "q = Equal (n, k0) c = Not (q)",
    "a multiple": "c = Equal (d, k4)",
    "no multiple": "c = Equal (d, k3)",
    "elements": "c = Greater (e, k0)",
    "a sum": "c = Equal (t, k0)",
    "two sizes": "c = Greater (n, m)",
    "equal sizes": "c = Equal (n, m)",
    "both": "a = Greater (n, k1) b = Equal (m, k1) c = And (a, b)",
    "either": "a = Greater (n, k1) b = Equal (m, k1) c = Or (a, b)",
    "cast": "q = Cast <to = 9> (n) b = Cast <to = 6> (q) c = Cast <to = 9> (b)",
}


def truth(nodes, n, m):
    model = ir.parse(TEXT.format(NUMBERS, nodes))
    feeds = {"x": np.zeros((n, m), np.float32), "r": np.array(True)}
    return bool(sl.reference.run(ir.to_proto(model), feeds)[0].item())


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", CONDITIONS)
def test_each_run_belongs_to_a_case(name):
    nodes = CONDITIONS[name]
    by_truth = {holds: cases(nodes, holds) for holds in (True, False)}
    for n, m in itertools.product(range(7), range(4)):
        found = by_truth[truth(nodes, n, m)]
        assert any(belongs(case, {"N": n, "M": m}) for case in found), (n, m, found)


@pytest.mark.parametrize("name", ["more", "equal", "elements", "two sizes", "both", "either"])
def test_a_run_of_the_other_truth_belongs_to_none(name):
    nodes = CONDITIONS[name]
    for n, m in itertools.product(range(6), range(3)):
        found = cases(nodes, not truth(nodes, n, m))
        assert not any(belongs(case, {"N": n, "M": m}) for case in found), (n, m, found)


@table(
    "c = Identity (r)",
    "q = Sub (n, n) c = Greater (k1, q)",
    "c = Less (n, many)",
    "q = Greater (n, k2) c = Or (q, r)",
    "p = Mul (n, m) q = Add (p, n) c = Greater (q, k4)",
)
def test_no_facts_leave_all_sizes(nodes):
    assert {} in cases(nodes, True)


def test_a_condition_that_never_holds_has_no_case():
    assert [*cases("q = Add (n, k3) c = Greater (k2, q)", True)] == []
    assert [*cases("q = Add (n, k3) c = Greater (k2, q)", False)] == [{}]


def test_many_conditions_end():
    nodes = " ".join(f"c{i + 1} = And (c{i}, c{i})" for i in range(40))
    assert [*cases("c0 = Identity (r) " + nodes + " c = Not (c40)", True)] == [{}]


def test_the_conditions_around_a_graph():
    inner = """q = If (r) <
        then_branch = t () => (float[1] a) { a = Constant <value_floats = [1.0]> () },
        else_branch = e () => (float[1] b) { b = Constant <value_floats = [2.0]> () }>"""
    outer = "c = Greater (n, k0) y = If (c) <then_branch = o () => (float[1] q) {{ {0} }},"
    outer += " else_branch = p () => (float[1] z) {{ z = Constant <value_floats = [3.0]> () }}>"
    text = TEXT.format(NUMBERS, outer.format(inner)).replace("(bool c) <", "(float[1] y) <")
    (holder,) = ir.parse(text).graph.nodes_of("If")
    (nested,) = holder.body("then_branch").nodes_of("If")
    around = [*conditions_around(nested.body("else_branch"))]
    assert [(value.name, holds) for value, holds in around] == [("r", False), ("c", True)]
