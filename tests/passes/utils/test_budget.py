import ast
from pathlib import Path

import pytest
from harness import as_model, op_types, refusal
from straightline import ir, passes
from straightline.passes import PassContext
from straightline.passes.base import Meter
from straightline.passes.utils.budget import Budget
from tables import table


def budget(max_nodes=10, max_trips=None, used=0):
    context = PassContext()
    context.meter.added_nodes = used
    return Budget(context.meter, max_nodes, max_trips)


def test_nodes():
    assert budget(used=4).refuses(6, "it") is None
    assert budget(used=4).refuses(7, "inlining it") == (
        "inlining it would add 7 nodes to the 4 added so far, over max_nodes=10;"
        " raise it with --max-nodes 11 (max_nodes= in Python)"
    )


def test_growth_without_nodes_counts():
    assert budget().refuses(0, "it", weight=10) is None
    assert "would add 0 nodes" in budget().refuses(0, "it", weight=11)


@table(
    (False, "its 4 iterations are more than max_trips=3 allows"),
    (True, "its maximum of 4 iterations is more than max_trips=3 allows"),
)
def test_iterations(maximum, said):
    assert refusal(budget(max_trips=3).require_iterations, 3, 9, maximum) is None
    assert refusal(budget(max_trips=3).require_iterations, 4, 9, maximum) == said


def test_iterations_cost_nodes_and_count_as_one_at_least():
    assert refusal(budget(used=1).require_iterations, 2, 9) is None
    said = refusal(budget(used=2).require_iterations, 2, 9)
    assert said.startswith("its 2 iterations would add 9 nodes to the 2")
    said = refusal(budget().require_iterations, 11, 0, True)
    assert said.startswith("its maximum of 11 iterations would add 0")


@table(
    (10, None, 3, 3, "max_nodes=10"),
    (10, 2, 3, 2, "max_trips=2"),
    (10, 7, 3, 3, "max_nodes=10"),
    (10, None, 0, 10, "max_nodes=10"),
    (10**9, None, 1, 10**6, "max_nodes=1000000000"),
    (10**9, 10**7, 1, 10**7, "max_trips=10000000"),
)
def test_how_many_iterations_need_be_counted(nodes, iterations, each, most, option):
    limits = budget(nodes, iterations)
    assert limits.most_iterations(each) == most
    assert limits.exceeded_limit(most).startswith(f"{option} allows; raise it with --{option[:3]}-")


def test_all_passes_of_a_run_spend_from_one():
    context = PassContext()
    Budget(context.meter, 10).spend(6)
    assert Budget(context.meter, 10).refuses(4, "it") is None
    assert "to the 6 added so far" in Budget(context.meter, 10).refuses(5, "it")


BRANCHES = """If (q) <then_branch = t () => (float[2] u) { v = Neg (a) w = Exp (v) u = Abs (w) },
    else_branch = e () => (float[2] z) { o = Abs (a) p = Exp (o) s = Sin (p) r = Neg (s) h = Cos (r)
        m = Abs (h) j = Exp (m) z = Tanh (j) }>"""
LOOPS = """Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] s) {
    d = Identity (c) s = %s }>"""
FLAT = "g (float[2] x, bool q) => (float[2] y) <int64 n = {%d}> { %s y = %s }"
SCAN = f"""Scan <num_scan_inputs = 1, body = b (float[2] k, float[2] p) => (float[2] s, float[2] l)
    {{ a = Add (k, p) s = {BRANCHES} l = Identity (s) }}>"""
SCANS = f"""g (float[4,2] x, float[2] h, bool q) => (float[2] y) {{
    z, o = {SCAN} (h, x) y, r = {SCAN} (z, x) }}"""
MAP = f"SequenceMap (%s) <body = b (float[2] a) => (float[2] k) {{ k = {BRANCHES} }}>"
MAPS = f"""g (float[2] x, bool q) => (float[8] y) {{ s = SequenceConstruct (x, x, x, x)
    m = {MAP % "s"} o = {MAP % "m"} y = ConcatFromSequence <axis = 0> (o) }}"""
LOOP = LOOPS % BRANCHES


def nodes(model):
    return sum(len(graph) for graph in ir.load(model).graphs())


@pytest.mark.sample(2)
@table(
    ("loops", FLAT % (4, f"z = {LOOP}", LOOP.replace(", x)", ", z)")), passes.UnrollLoops),
    ("scans", SCANS, passes.UnrollScans),
    ("maps", MAPS, passes.LowerSequences),
)
def test_copies_of_bodies_inside_count_for_what_follows(name, text, pass_):
    """Each copy of the body has its own copy of the branches."""
    model, copies = as_model(text), []
    for most in range(0, 180, 6):
        result = passes.Pipeline([pass_(max_nodes=most)]).run(model)
        copies.append(op_types(result.model).count("If"))
        assert nodes(result.model) - nodes(model) <= most
        told = any(f"over max_nodes={most}" in remark.reason for remark in result.kept)
        assert told == (copies[-1] < 8)
    assert sorted({*copies}) == [0, 4, 8] and copies == sorted(copies)


def nest(depth):
    """Loops of two iterations in branches of Ifs in each other."""
    text = "Neg (a)"
    for _ in range(depth):
        loop = (LOOPS % text).replace(", x)", ", a)")
        text = BRANCHES.replace("u = Abs (w)", f"u = {loop}")
    return text


@pytest.mark.parametrize("most", [100, 300, 1000])
def test_loops_in_branches_in_loops_share_a_budget(most):
    """Copies of a construct are copied again by the one around it."""
    text = FLAT % (2, "", LOOPS % nest(8))
    model = as_model(text)
    context = passes.PassContext()
    rewritten = ir.load(model)
    result = passes.Pipeline([passes.UnrollLoops(max_nodes=most)]).apply(rewritten, run=context)
    grown = sum(len(graph) for graph in rewritten.graphs()) - nodes(model)
    assert most // 3 < grown == context.meter.growth <= most
    assert any(f"over max_nodes={most}" in remark.reason for remark in result.kept)


def test_trials_are_counted_apart():
    limits = budget(used=9)
    assert limits.may_try(4) and limits.may_try(6)
    assert not limits.may_try(1)
    assert limits.refuses(1, "it") is None


def test_no_family_of_passes_imports_from_another():
    """What two of them share stands in tools/."""
    folder = Path(passes.__file__).parent
    families = ("control", "scans", "sequences", "functions", "cleanup")
    for family in families:
        for path in (folder / family).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and node.level == 2:
                    assert (node.module or "").split(".")[0] not in families, path


def test_iterations_from_which_on_there_is_no_maximum():
    """2^31 and more stand for no maximum, which no option allows."""
    at = budget(max_nodes=2**40, max_trips=2**40)
    assert refusal(at.require_iterations, 2**31 - 1, 1) is None
    assert (
        refusal(at.require_iterations, 2**31, 1) == "2147483648 iterations are too many to unroll"
    )


def test_impossible_trip_counts_are_not_offered():
    refused = refusal(Budget(Meter(), 100).require_iterations, 2**63 - 1, 2**63)
    assert refused == "9223372036854775807 iterations are too many to unroll"
