"""What loading and running is reckoned to take."""

import pytest
from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.utils.cost_model import (
    Running,
    known_trips,
    load_units,
    loading,
    packed_numbers,
    refuses_copies,
)
from straightline.passes.utils.costs import LOAD, RUN, USUAL_TRIPS

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
LOOP = """g (float[3] x, int64 n) => (float[3] y) <bool yes = {{1}}, int64 five = {{5}}> {{
    y = Loop ({trips}, yes, x) <body = b (int64 i, bool c, float[3] a) => (bool c, float[3] r) {{
        {body} }}> }}"""
SCAN = """g (float[{length}, 3] x) => (float[{length}, 3] y) {{
    y = Scan <num_scan_inputs = 1,
        body = b (float[3] e) => (float[3] r) {{ r = Neg (e) }}> (x) }}"""


def model(text):
    return ir.load(as_model(HEAD + text))


def test_what_a_model_has():
    found = load_units(
        model("""g (float[N, 4] x, bool q) => (float[N, 2] z) <float[4, 2] w = {1,2,3,4,5,6,7,8}> {
        y = MatMul (x, w)
        z = If (q) <then_branch = t () => (float[N, 2] a) { a = Neg (y) },
                    else_branch = e () => (float[N, 2] b) { b = Identity (y) }> }""")
    )
    assert (found["session"], found["node"], found["inside"], found["constant"]) == (1, 4, 2, 1)
    assert (found["If"], found["Identity"], found["Loop"]) == (1, 1, 0)
    assert found["packed"] == 8 / (1 << 15)


def test_loading_is_the_sum_of_its_parts():
    one = model("g (float[3] x) => (float[3] y) { y = Neg (x) }")
    two = model("g (float[3] x) => (float[3] y) { a = Neg (x) y = Abs (a) }")
    assert loading(one) == pytest.approx(LOAD["session"] + LOAD["node"])
    assert loading(two) - loading(one) == pytest.approx(LOAD["node"])


def test_only_constant_matrices_are_packed():
    made = model("""g (float[4] x, float[4, 2] v) => (float[2] y, float[2] z, float[4] u)
        <float[4, 2] w = {1,2,3,4,5,6,7,8}, float[4] b = {1,2,3,4}> {
        y = MatMul (x, w) z = MatMul (x, v) u = Add (x, b) }""")
    assert [packed_numbers(node) for node in made.graph.nodes()] == [8, 0, 0]


@pytest.mark.parametrize(
    ("text", "trips"),
    [
        (LOOP.format(trips="five", body="r = Neg (a)"), 5),
        (LOOP.format(trips="n", body="r = Neg (a)"), None),
        (LOOP.format(trips="", body="r = Neg (a)"), None),
        (SCAN.format(length=7), 7),
        (SCAN.format(length="N"), None),
    ],
)
def test_trips(text, trips):
    made = model(text)
    (node,) = made.graph.nodes()
    assert known_trips(node, ShapeInference(made)) == trips
    assert Running(made).trips(node) == (USUAL_TRIPS if trips is None else trips)


def test_what_runs_on_every_trip_counts_for_each():
    one, two = (
        LOOP.format(trips="five", body=b) for b in ("r = Neg (a)", "b = Neg (a) r = Abs (b)")
    )
    assert Running(model(two)).total() - Running(model(one)).total() == 5 * RUN["node"]


def test_constants_and_identities_cost_nothing():
    one, two = (
        LOOP.format(trips="five", body=b) for b in ("r = Neg (a)", "b = Neg (a) r = Identity (b)")
    )
    assert Running(model(two)).total() == Running(model(one)).total()


def test_a_scan_runs_faster_than_a_loop():
    loop = LOOP.format(trips="five", body="r = Neg (a)")
    scan = SCAN.format(length=5)
    assert Running(model(scan)).total() < Running(model(loop)).total()


def test_a_function_counts_where_it_is_called():
    text = """<ir_version: 8, opset_import: ["" : 17, "f" : 1]>
        g (float[3] x) => (float[3] y) { a = f.two (x) y = f.two (a) }
        <domain: "f", opset_import: ["" : 17]> two (x) => (y) { a = Neg (x) y = Abs (a) }"""
    assert Running(ir.load(as_model(text))).total() == 4 * RUN["node"]


def test_of_an_if_the_longer_branch_counts():
    text = """g (float[3] x, bool q) => (float[3] y) {
        y = If (q) <then_branch = t () => (float[3] a) { b = Neg (x) a = Abs (b) },
                    else_branch = e () => (float[3] b) { b = Neg (x) }> }"""
    assert Running(model(text)).total() == 3 * RUN["node"] + RUN["If"]


def body_of(text):
    (node,) = model(text).graph.nodes()
    return node.body("body")


def test_few_copies_of_a_small_body_pay():
    body = body_of(LOOP.format(trips="five", body="r = Neg (a)"))
    assert refuses_copies(body, 5, 0) is None
    assert "one for each of 50 trips" in refuses_copies(body, 50, 0)
    assert refuses_copies(body, 3, 1) is not None


def test_rows_that_are_read_count():
    body = body_of(LOOP.format(trips="five", body="e = Gather (x, i) r = Add (a, e)"))
    assert refuses_copies(body, 3, 0) is not None


def test_functions_that_call_each_other_twice_are_looked_into_once():
    head = '<domain: "local", opset_import: ["" : 17, "local" : 1]>'
    text = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[3] x) => (float[3] y) { y = local.f30 (x) }"""
    text += f"{head} f0 (a) => (r) {{ b = Neg (a) r = Abs (b) }}"
    for n in range(1, 31):
        text += f"{head} f{n} (a) => (r) {{ b = local.f{n - 1} (a) r = local.f{n - 1} (b) }}"
    assert Running(ir.load(as_model(text))).total() == pytest.approx(2.0**31 * RUN["node"])
