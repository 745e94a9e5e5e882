import onnx
from harness import as_model
from straightline.ir import parse
from straightline.passes.costs.measures import Measures

BODY = "<body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {{ d = Identity (c) {} }}>"
THEN, ELSE = "t () => (float[2] f) { f = Exp (a) }", "u () => (float[2] g) { g = Neg (a) }"
INNER = f"e = If (d) <then_branch = {THEN}, else_branch = {ELSE}>"
LOOP = "g (float[2] x, int64 n) => (float[2] y) {{ y = Loop (n, , x) {} }}"


def measured(body):
    return Measures.of(parse(body))


def test_bodies_within_bodies_count():
    assert measured(LOOP.format(BODY.format(INNER))).control_flow == 2
    assert measured("g (float[2] x) => (float[2] y) { y = Exp (x) }").control_flow == 0


def test_a_loop_takes_longer_than_what_it_repeats():
    looped = measured(LOOP.format(BODY.format("e = Exp (a)")))
    assert 0 < measured("g (float[2] x) => (float[2] y) { y = Exp (x) }").run_time < looped.run_time


def test_large_models_have_no_prediction(monkeypatch):
    monkeypatch.setattr("straightline.passes.costs.measures._MOST_NODES", 0)
    model = as_model("g (float[2] x) => (float[2] y) { y = Exp (x) }")
    assert Measures.of(parse(onnx.printer.to_text(model))).run_time is None
