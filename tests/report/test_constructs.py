import straightline as sl
from reports import DECODER
from straightline.report.constructs import Carried, constructs_of

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'
SCAN = """g (float[3] s, float[{length}, 3] xs) => (float[3] t, float[{length}, 3] ys) {{
    t, ys = Scan <num_scan_inputs = 1,
        body = b (float[3] a, float[3] x) => (float[3] c, float[3] d) {{
            c = Add (a, x)
            d = Neg (c)
        }}>(s, xs) }}"""


def described(text):
    found, more = constructs_of(sl.ir.parse(text))
    assert not more
    return {construct.path: construct for construct in found}


def test_how_often_each_runs_and_what_decides_it():
    runs = {path: construct.runs for path, construct in described(DECODER).items()}
    assert runs == {
        "decode": "4 iterations",
        "decode/h1": "decided by constants",
        "wait": "decided by input 'n'",
        "y": "always takes the then_branch",
    }


def test_states_rows_and_captures_of_a_loop():
    wait = described(DECODER)["wait"]
    assert wait.carried == (Carried("state", "g0", "g1", "last"),)
    assert wait.stacked == (("rows", "g2"),)
    assert wait.captured == ("x",)


def test_a_place_is_that_of_the_node():
    model = sl.ir.parse(DECODER)
    graphs = list(model.graphs())
    for construct in constructs_of(model)[0]:
        graph, number = construct.place
        assert graphs[graph].nodes()[number].path == construct.path


def test_a_scan_runs_as_often_as_what_it_reads_is_long():
    scan = described(HEAD + SCAN.format(length=5))["t"]
    assert scan.runs == "5 iterations"
    assert scan.carried == (Carried("s", "a", "c", "t"),)
    assert scan.read == (("xs", "x"),) and scan.stacked == (("ys", "d"),)
    assert described(HEAD + SCAN.format(length="N"))["t"].runs == "an iteration for each part of xs"


def test_a_scan_of_opset_8_reads_along_its_second_axis():
    text = SCAN.format(length=5).replace("(s, xs)", "( , s, xs)")
    text = text.replace("float[3] s,", "float[1, 3] s,").replace(
        "float[5, 3] xs", "float[1, 5, 3] xs"
    )
    text = text.replace("(float[3] t, float[5, 3] ys)", "(float[1, 3] t, float[1, 5, 3] ys)")
    scan = described(HEAD.replace("17", "8").replace("8,", "4,") + text)["t"]
    assert scan.runs == "5 iterations" and scan.carried == (Carried("s", "a", "c", "t"),)
    assert scan.read == (("xs", "x"),)


def test_a_condition_that_holds_for_long():
    text = """g (float[2] x) => (float[2] y) {
        yes = Constant <value = bool {1}> ()
        y = Loop (, yes, x) <body = b (int64 i, bool go, float[2] a) => (bool on, float[2] c) {
            many = Constant <value_int = 100000> ()
            on = Less (i, many)
            c = Neg (a) }> }"""
    assert described(HEAD + text)["y"].runs == "more than 200 iterations"


def test_descriptions_have_a_limit():
    found, more = constructs_of(sl.ir.parse(DECODER), most=3)
    assert len(found) == 3 and more == 1
