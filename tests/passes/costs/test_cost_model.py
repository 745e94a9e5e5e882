import dataclasses

import pytest
from harness import as_model, refusal
from straightline import ir
from straightline.passes.costs.cost_model import (
    load_units,
    loading,
    packed_numbers,
    require_copies,
    run_units,
    running,
)
from straightline.passes.costs.goal import GOALS
from straightline.passes.costs.table import ARITHMETIC, LOAD_ITEMS, RUN_ITEMS, CostTable
from tables import table

TABLE = CostTable(
    {**dict.fromkeys(LOAD_ITEMS, 1.0), "session": 300.0, "Loop": 9.0},
    dict.fromkeys(RUN_ITEMS, 1.0),
    {},
    {},
)
LOOP = """g (float[3] x, int64 n) => (float[3] y) <bool yes = {{1}}, int64 five = {{5}}> {{
    y = Loop ({most}, yes, x) <body = b (int64 i, bool c, float[3] a) => (bool c, float[3] r) {{
        {body} }}> }}"""
SCAN = """g (float[{length}, 3] x) => (float[{length}, 3] y) {{
    y = Scan <num_scan_inputs = 1,
        body = b (float[3] e) => (float[3] r) {{ r = Neg (e) }}> (x) }}"""


def calls(proto):
    """The items of a run without arithmetic."""
    units = run_units(proto)
    return {item: count for item, count in units.items() if item not in ARITHMETIC}


def model(text):
    return ir.load(as_model(text))


def test_load_units():
    found = load_units(
        model("""g (float[N, 4] x, bool q) => (float[N, 2] z) <float[4, 2] w = {1,2,3,4,5,6,7,8}> {
        y = MatMul (x, w)
        z = If (q) <then_branch = t () => (float[N, 2] a) { a = Neg (y) },
                    else_branch = e () => (float[N, 2] b) { b = Identity (y) }> }""")
    )
    assert (found["session"], found["node"], found["inside"], found["constant"]) == (1, 4, 2, 1)
    assert (found["If"], found["Identity"], found["Loop"]) == (1, 1, 0)
    assert found["packed"] == 8 / (1 << 15)


def test_a_condition_that_a_body_returns_counts_as_the_identity_of_the_result():
    """Else a rewritten model, in which it has one, would seem slower than before it was written."""
    forwarded = LOOP.format(most="n", body="r = Neg (a)")
    isolated = forwarded.replace("(bool c, float[3] r)", "(bool c2, float[3] r)")
    isolated = isolated.replace("r = Neg", "c2 = Identity (c) r = Neg")
    assert load_units(model(forwarded)) == load_units(model(isolated))


def test_times_are_sums_of_their_parts():
    one = model("g (float[3] x) => (float[3] y) { y = Neg (x) }")
    two = model("g (float[3] x) => (float[3] y) { a = Neg (x) y = Abs (a) }")
    assert loading(one, TABLE) == TABLE.load["session"] + TABLE.load["node"]
    assert loading(two, TABLE) - loading(one, TABLE) == TABLE.load["node"]
    assert running(run_units(two), TABLE) == pytest.approx(1 + 2 * 1 + 2 * 3 / 1024)


def test_only_constant_matrices_are_packed():
    made = model("""g (float[4] x, float[4, 2] v) => (float[2] y, float[2] z, float[4] u)
        <float[4, 2] w = {1,2,3,4,5,6,7,8}, float[4] b = {1,2,3,4}> {
        y = MatMul (x, w) z = MatMul (x, v) u = Add (x, b) }""")
    assert [packed_numbers(node) for node in made.graph.nodes()] == [8, 0, 0]


def test_nodes_of_a_body_count_for_each_iteration():
    one, two = (
        calls(model(LOOP.format(most="five", body=b)))
        for b in ("r = Neg (a)", "b = Neg (a) r = Abs (b)")
    )
    assert one == {"call": 1, "Loop": 1, "loop trip": 5, "loop slot": 25, "node": 5}
    assert two == {**one, "node": 10}


def test_constants_and_identities_cost_nothing():
    one, two = (
        calls(model(LOOP.format(most="five", body=b)))
        for b in ("r = Neg (a)", "b = Neg (a) r = Identity (b)")
    )
    assert one == two


def test_a_scan_has_fewer_slots_than_a_loop():
    assert calls(model(SCAN.format(length=5))) == {
        "call": 1,
        "Scan": 1,
        "scan trip": 5,
        "scan slot": 10,
        "node": 5,
    }


@table(
    ("y = Exp (x)", 6, 0),
    ("y = MatMul (x, w)", 8, 8 * 3),
    ("y = Gemm (x, w)", 8, 8 * 3),
    ("y = Gemm <transB = 1> (x, v)", 8, 8 * 3),
    ("y = Conv (i, k)", 8 * 5, 8 * 5 * 3 * 3),
    ("y = Exp (n)", 64 * 3, 0),
)
def test_arithmetic_follows_from_sizes(node, elements, products):
    text = f"""g (float[2, 3] x, float[N, 3] n, float[1, 3, 7] i) => (y)
        <float[3, 4] w = {{{", ".join("1" * 12)}}}, float[4, 3] v = {{{", ".join("1" * 12)}}},
         float[8, 3, 3] k = {{{", ".join("1" * 72)}}}> {{ {node} }}"""
    units = run_units(model(text))
    assert units["element"] == elements / 1024
    assert units.get("product", 0) == products / 1024


@table(
    ("RNN <hidden_size = 4> (x, w, r)", "7, 2, 3", 7 * 2 * 4, 1),
    ("RNN <hidden_size = 4, layout = 1> (x, w, r)", "7, 2, 3", 7 * 2 * 4, 1),
    ("RNN <hidden_size = 4> (x, w, r)", "N, M, 3", 64 * 64 * 4, 1),
    ('RNN <hidden_size = 4> (x, w, r, "", "", h)', "N, M, 3", 64 * 2 * 4, 1),
)
def test_activations_of_recurrent_operators(operator, size, numbers, activations):
    text = f"""g (float[{size}] x, float[1, 4, 3] w, float[1, 4, 4] r, float[1, 2, 4] h)
        => (y) {{ y = {operator} }}"""
    units = run_units(model(text))
    assert units["activation"] == numbers * activations / 1024
    assert units["product"] == numbers * 7 / 1024


def test_a_function_counts_where_it_is_called():
    text = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
        g (float[3] x) => (float[3] y) { a = f.two (x) y = f.two (a) }
        <domain: "f", opset_import: ["" : 17]> two (x) => (y) { a = Neg (x) y = Abs (a) }"""
    assert calls(ir.load(as_model(text))) == {"call": 1, "node": 4}


def test_the_longer_branch_of_an_if_counts():
    text = """g (float[3] x, bool q) => (float[3] y) {
        y = If (q) <then_branch = t () => (float[3] a) { b = Neg (x) a = Abs (b) },
                    else_branch = e () => (float[3] b) { b = Neg (x) }> }"""
    assert calls(model(text)) == {"call": 1, "node": 2, "If": 1}


def body_of(text):
    (node,) = model(text).graph.nodes()
    return node.body("body")


@table(("load", 12), ("balanced", 13), ("run", GOALS["run"].load_added + 12))
def test_copies_may_load_as_long_as_the_goal_allows(goal, most):
    """The loop costs 10 and its node 2."""
    body = body_of(LOOP.format(most="five", body="r = Neg (a)"))
    assert refusal(require_copies, body, int(most), 0, TABLE, goal) is None
    slower = refusal(require_copies, body, int(most) + 1, 0, TABLE, goal)
    assert f"one for each of {int(most) + 1} iterations" in slower


def test_rows_and_matrices_count():
    body = body_of(LOOP.format(most="five", body="r = Neg (a)"))
    assert refusal(require_copies, body, 5, 0, TABLE, "load") is None
    assert refusal(require_copies, body, 5, 1, TABLE, "load") is not None
    body = body_of(LOOP.format(most="five", body="e = Gather (x, i) r = Add (a, e)"))
    assert refusal(require_copies, body, 4, 0, TABLE, "load") is not None
    product = "w = Constant <value = float[2, 2] {1, 2, 3, 4}> () r = MatMul (a, w)"
    heavy = dataclasses.replace(TABLE, load={**TABLE.load, "packed": 3.0 * (1 << 15)})
    body = body_of(LOOP.format(most="five", body=product))
    assert refusal(require_copies, body, 2, 0, TABLE, "load") is None
    assert refusal(require_copies, body, 3, 0, heavy, "load") is not None


def test_one_iteration_always_pays():
    body = body_of(LOOP.format(most="five", body="r = Neg (a)"))
    assert refusal(require_copies, body, 1, 100, TABLE, "load") is None


def test_functions_that_call_each_other_twice_are_looked_into_once():
    head = '<domain: "local", opset_import: ["" : 17, "local" : 1]>'
    text = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[3] x) => (float[3] y) { y = local.f30 (x) }"""
    text += f"{head} f0 (a) => (r) {{ b = Neg (a) r = Abs (b) }}"
    for n in range(1, 31):
        text += f"{head} f{n} (a) => (r) {{ b = local.f{n - 1} (a) r = local.f{n - 1} (b) }}"
    assert calls(ir.load(as_model(text))) == {"call": 1, "node": 2**31}


def test_a_sequence_map_is_a_loop_over_the_usual_number_of_elements():
    text = """g (seq(float[3]) s) => (t) { t = SequenceMap (s) <
        body = b (float[3] e) => (float[3] r) { r = Neg (e) }> }"""
    assert calls(model(text)) == {"call": 1, "Loop": 1, "loop trip": 64, "node": 64}


@pytest.mark.parametrize(("rows", "far"), [(1 << 10, False), (1 << 12, True)])
def test_values_beyond_a_cache_take_longer(rows, far):
    units = run_units(model(f"g (float[{rows}, 1024] x) => (float[N, M] y) {{ y = Exp (x) }}"))
    assert ("far" in units) == far
    near = dataclasses.replace(TABLE, memory={**TABLE.memory, "far": 0.0})
    assert (running(units, TABLE) > running(units, near)) == far


@table(
    ("x, s", 2 * 3, 1),
    ("x, x", 2 * 3, 0),
    ("m, s", 2 * 3, 6),  # an axis of size 1 at the end breaks it
    ("k, q", 4 * 2 * 3 * 5, 4 * 2),
)
def test_kernels_start_anew_where_operands_broadcast(operands, elements, spans):
    text = f"""g (float[2, 3] x, float[2, 3, 1] m, float[4, 1, 3, 5] k, float[2, 3, 5] q, float s)
        => (y) {{ y = Add ({operands}) }}"""
    units = run_units(model(text))
    assert units["element"] == elements / 1024
    assert units["span"] == spans / 1024
    free = dataclasses.replace(TABLE, memory={**TABLE.memory, "span": 0.0})
    assert (running(units, TABLE) > running(units, free)) == (spans > 0)


def test_copies_of_blocks_are_none():
    text = """g (float[9, 3] x, int64[5] j) => (float[K, 5, 3] y) <bool yes = {1}, int64 two = {2},
        int64 k = {5}, int64 last = {8}> {
        y = Loop (two, yes) <body = b (int64 i, bool c) => (bool c, float[5, 3] r) {
            s = Mul (i, k) p = Add (s, j) q = Min (p, last) r = Gather (x, q) }> }"""
    (node,) = model(text).graph.nodes_of("Loop")
    body = node.body("body")
    assert "2 blocks would run no faster" in refusal(require_copies, body, 2, 1, TABLE, "run")
    assert refusal(require_copies, body, 1, 1, TABLE, "run") is None
