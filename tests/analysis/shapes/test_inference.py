"""Facts on demand: functions, declarations, long chains."""

from inferred import shapes


def test_functions_are_looked_at_by_themselves():
    text = """g (float[N,3] x) => (y) { y = local.f (x) }
    <domain: "local", opset_import: ["" : 21]> f (p) => (q) {
        c = Constant <value_floats = [1.0, 2.0]> () d = Neg (c) q = Add (p, d)
    }"""
    found = shapes(text)
    assert (found["y"], found["d"], found["q"]) == (None, ["2"], None)


def test_declarations_fill_in_what_does_not_follow():
    text = """g (float[N,3] x, int64[2] t) => (y) <float[K,3] r, float[9,9] u> {
        r = Reshape (x, t) u = Relu (x) y = Neg (r)
    }"""
    found = shapes(text)
    assert found["y"] == ["K", "3"]
    assert found["u"] == ["N", "3"]


def test_a_long_chain_needs_no_deep_recursion():
    nodes = " ".join(f"v{k + 1} = Neg (v{k})" for k in range(3000))
    text = f"g (float[N] v0) => (float[N] y) {{ {nodes} y = Neg (v3000) }}"
    assert shapes(text)["y"] == ["N"]
