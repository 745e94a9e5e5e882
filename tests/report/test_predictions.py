import straightline as sl
from straightline.report.predictions import _time_text, predictions

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'


def test_a_loop_of_many_iterations_costs_more_than_its_batched_form():
    text = (
        HEAD
        + """g (float[9000, 2] x) => (float[9000, 2] y) {
        y = Scan <num_scan_inputs = 1, body = b (float[2] r) => (float[2] s) { s = Exp (r) }> (x)
    }"""
    )
    model = sl.ir.parse(text)
    found = predictions(model, sl.ir.load(sl.rewrite(model)))
    rows = {row.name: (row.before, row.after) for row in found.rows}
    assert rows["run time"][0].endswith("ms") and rows["run time"][1].endswith("µs")
    assert rows["peak memory of values"][1] == "70.3 KB"
    assert found.basis.startswith("Predicted, not measured: costs of onnxruntime ")


def test_open_sizes_make_a_polynomial():
    text = HEAD + "g (float[N, 4] x) => (float[N, 4] y) { a = Exp (x) y = Neg (a) }"
    model = sl.ir.parse(text)
    memory = predictions(model, model).rows[2]
    assert memory.before == memory.after == "32*N bytes"
    text = text.replace("N, 4", "N, M").replace("a = Exp (x) ", "s = Shape (x) a = Exp (x) ")
    found = predictions(sl.ir.parse(text), model)
    assert found.rows[2].before == "8*M*N + … bytes" and str(found.memory[0]) == "8*M*N + 16 bytes"


def test_a_large_model_has_none():
    nodes = "\n".join(f"v{i + 1} = Neg (v{i})" for i in range(20_001))
    model = sl.ir.parse(HEAD + f"g (float v0) => (float v20001) {{ {nodes} }}")
    found = predictions(model, model)
    assert found.rows == () and "20,000 nodes" in found.basis


def test_times_have_two_digits():
    assert [_time_text(t) for t in (0.25, 12.6, 4321.0, 2.5e6)] == [
        "0.2 µs",
        "13 µs",
        "4.3 ms",
        "2.5 s",
    ]
