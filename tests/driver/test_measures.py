"""Numbers of a model for summaries."""

import onnx
from straightline.driver.measures import Measures
from straightline.ir import parse

HEAD = '<ir_version: 8, opset_import: ["" : 17]> '
BODY = "<body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {{ d = Identity (c) {} }}>"
THEN, ELSE = "t () => (float[2] f) { f = Exp (a) }", "u () => (float[2] g) { g = Neg (a) }"
INNER = f"e = If (d) <then_branch = {THEN}, else_branch = {ELSE}>"
LOOP = "g (float[2] x, int64 n) => (float[2] y) {{ y = Loop (n, , x) {} }}"


def measured(body):
    return Measures.of(parse(HEAD + body))


def test_bodies_within_bodies_count():
    assert measured(LOOP.format(BODY.format(INNER))).control_flow == 2
    assert measured("g (float[2] x) => (float[2] y) { y = Exp (x) }").control_flow == 0


def test_a_loop_takes_longer_than_what_it_repeats():
    looped = measured(LOOP.format(BODY.format("e = Exp (a)")))
    flat = measured("g (float[2] x) => (float[2] y) { y = Exp (x) }")
    assert 0 < flat.run_time < looped.run_time


def test_large_models_have_no_prediction(monkeypatch):
    monkeypatch.setattr("straightline.driver.measures._MOST_NODES", 0)
    model = onnx.parser.parse_model(HEAD + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
    assert Measures.of(parse(onnx.printer.to_text(model))).run_time is None
