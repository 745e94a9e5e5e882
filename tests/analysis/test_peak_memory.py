import pytest
from straightline import inspect, ir, rewrite, transform
from straightline.analysis.peak_memory import peak_memory, size_text

HEAD = '<ir_version: 8, opset_import: ["" : 18]> '

CASES = {
    "one value after the other": (
        "g (float[N] x) => (float[N] y) { a = Neg (x) b = Neg (a) y = Neg (b) }",
        "8*N",
        True,
    ),
    "a value that is read late": (
        "g (float[N] x) => (float[N] y) { a = Neg (x) b = Neg (a) c = Neg (b) y = Add (a, c) }",
        "12*N",
        True,
    ),
    "products": (
        "g (float[N, K] x, float[K, M] w) => (float[N, M] y) { a = MatMul (x, w) y = Relu (a) }",
        "8*M*N",
        True,
    ),
    "bytes of each element": (
        "g (float[N] x) => (int64[N] y) { a = Cast <to = 11> (x) y = Cast <to = 7> (a) }",
        "16*N",
        True,
    ),
    "a size that is known only at run time": (
        "g (float[N] x) => (int64 z) { y = Neg (x) a = NonZero (y) z = Size (a) }",
        "4*N + 8",
        False,
    ),
    "a body counts once, and what it gives out for each iteration": (
        """g (float[N, 4] x, float[100] w) => (float[N] y) { y = Scan <num_scan_inputs = 1,
            body = b (float[4] e) => (float r) { s = ReduceSum <keepdims = 0> (e) t = Mul (s, w)
                r = ReduceMax <keepdims = 0> (t) }> (x) }""",
        "4*N + 404",
        True,
    ),
    "the larger one of two branches, each term by itself": (
        """g (float[N] x, float[M] z, bool c) => (float y) { y = If (c) <
            then_branch = t () => (float r) { a = Neg (x) r = ReduceSum <keepdims = 0> (a) },
            else_branch = e () => (float s) { b = Neg (z) s = ReduceSum <keepdims = 0> (b) }> }""",
        "4*M + 4*N + 8",
        True,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_peaks(name):
    text, size, whole = CASES[name]
    found = peak_memory(ir.parse(HEAD + text))
    assert found is not None and (str(found.size), found.whole) == (size, whole)


def test_peak_memory_before_and_after_a_rewrite():
    rows = (
        HEAD
        + """g (float[N, D] x, float[M, D] w) => (float[N] y) {
        y = Scan <num_scan_inputs = 1, body = b (float[D] e) => (float r) {
            t = Sub (w, e) r = ReduceSum <keepdims = 0> (t) }> (x) }"""
    )
    model = ir.parse(rows)
    line = "at most 4*D*M + 4*N + 4 bytes before, 4*D*M*N + 4*D*N + 4*N bytes after"
    outcome = transform(model)
    assert line in str(outcome)
    assert outcome.to_dict()["memory"]["after"]["bytes"] == "4*D*M*N + 4*D*N + 4*N"
    found = inspect(model)
    assert found.to_dict()["memory"]["before"] == {"bytes": "4*D*M + 4*N + 4", "whole": True}
    assert any(line in str(block) for block in found.blocks())
    assert "4*D*M*N" in str(peak_memory(ir.load(rewrite(model))))


def test_large_models_are_left_out(monkeypatch):
    monkeypatch.setattr("straightline.analysis.peak_memory._MOST_NODES", 1)
    assert peak_memory(ir.parse(HEAD + CASES["products"][0])) is None


def test_sizes_in_words():
    assert [size_text(n) for n in (7, 2048, 3 << 30)] == ["7 bytes", "2.0 KB", "3.0 GB"]
