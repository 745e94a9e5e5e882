"""Bodies drawn from operators that may fail: what is rewritten never does."""

import numpy as np
from depth import examples
from drawn import is_valid
from harness import assert_equal_outputs, run_passes
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from straightline.passes.control.predicate_loops import PredicateLoops

POOL = [
    "Add ({0}, {1})",
    "Sub ({0}, step)",
    "Mul ({0}, {1})",
    "Div ({0}, {1})",
    "Mod ({0}, three)",
    "Gather ({0}, {1})",
    "Gather (x, {0})",
    "Clip ({0}, zero, three)",
    "ScatterElements ({0}, {1}, x)",
    "Concat <axis = 0> ({0}, {1})",
    "Gather ({0}, step)",
    "Add ({0}, i)",
    "Min ({0}, {1})",
]


@st.composite
def bodies(draw):
    names, lines = ["a", "d", "x"], []
    for index in range(draw(st.integers(1, 4))):
        chosen = [draw(st.sampled_from(names)) for _ in range(2)]
        lines.append(f"v{index} = " + draw(st.sampled_from(POOL)).format(*chosen))
        names.append(f"v{index}")
    a, d, row = (draw(st.sampled_from(names)) for _ in range(3))
    return "\n".join(
        [*lines, f"r = Identity ({a})", f"q = Identity ({d})", f"row = Identity ({row})"]
    )


@settings(max_examples=examples(20), deadline=None)
@given(bodies(), st.integers(1, 4), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_whatever_is_rewritten_never_fails_after_the_last_iteration(body, most, numbers):
    text = f"""
        g (int64[4] x, int64[4] z, int64 limit, bool c) => (int64[D] y, int64[E] w, int64[K,4] s)
        <int64 most = {{{most}}}, int64 zero = {{0}}, int64 three = {{3}}, int64[1] all = {{-1}}> {{
           o, p, s = Loop (most, c, x, z) <
              body = b (int64 i, bool k, int64[4] a, int64[4] d)
                     => (bool go, int64[4] r, int64[4] q, int64[4] row) {{
                 one = Constant <value_int = 1> ()
                 step = Add (i, one)
                 {body}
                 sum = ReduceSum <keepdims = 0> (r)
                 go = Less (sum, limit) }}>
           y = Reshape (o, all)
           w = Reshape (p, all) }}"""
    assume(is_valid(text))
    result = run_passes(text, PredicateLoops())
    if not result.changed:
        assert result.kept
        return
    for limit, c in ((100, False), (-100, True), (9, True), (100, True)):
        feed = {"limit": np.array(limit), "c": np.array(c)}
        feed |= {"x": np.array(numbers[:4]), "z": np.array(numbers[4:])}
        assert_equal_outputs(text, result.model, feed)
