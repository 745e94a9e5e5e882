from harness import as_model
from straightline import ir
from straightline.analysis.iterations.empty_scans import uncertain_output
from straightline.analysis.shapes.inference import ShapeInference
from tables import table


def uncertain(nodes, declared="float[m]", length="N", more=", z"):
    text = """g (float[{length}] x, float[n] s, float[k] w, int64[1] l) => (t) {{
        t{more} = Scan <num_scan_inputs = 1,
            body = b (float[j] a, float e) => (float[i] b, {declared} o) {{ b = Neg (a) {nodes} }}>
            (s, x) }}"""
    model = ir.load(as_model(text.format(length=length, more=more, declared=declared, nodes=nodes)))
    (scan,) = model.graph.nodes()
    return uncertain_output(scan, model, ShapeInference(model)) is not None


@table(
    ("o = Mul (w, e)", {}, False),
    ("o = Add (a, e)", {}, False),
    ("o = Slice (w, l, l)", {}, True),
    ("o = Slice (w, l, l)", {"declared": "float[k]"}, True),
    ("o = Slice (w, l, l)", {"declared": "float[2]"}, False),
    ("o = Slice (w, l, l)", {"length": "3"}, False),
    ("o = Slice (w, l, l)", {"more": ""}, False),
    ("o = Concat <axis = 0> (w, s)", {}, True),
    ("o = Concat <axis = 0> (w, s)", {"length": "0"}, True),
    ("o = Strange (w)", {"declared": ""}, True),
    ("o = Neg (e)", {"declared": "float"}, False),
)
def test_a_size_is_certain_if_it_is_inferred(nodes, options, expected):
    assert uncertain(nodes, **options) is expected


def test_a_batch_and_a_length_are_no_sizes_of_an_element():
    text = """<ir_version: 8, opset_import: ["" : 8]>
    g (float[b, n, 3, k] x) => (float[b, n, p, q] y) {
        y = Scan <num_scan_inputs = 1,
            body = d (float[p, q] e) => (float[r, s] o) { %s }> (, x) }"""
    for node, expected in (("o = Neg (e)", False), ("o = Concat <axis = 1> (e, e)", True)):
        model = ir.load(as_model(text % node))
        (scan,) = model.graph.nodes()
        assert (uncertain_output(scan, model, ShapeInference(model)) is not None) is expected
