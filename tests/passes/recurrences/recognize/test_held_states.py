"""States that a condition replaces, and that are kept otherwise."""

import numpy as np
import pytest
from recurred import LENGTHS, assert_same, loop, numbers, raised, reason

WHOLE = "t = ReduceSum <keepdims = 0> (e) g = Greater (t, nil)"
WHERE = {
    "the last index": ("int64 w w0", f"{WHOLE} w2 = Where (g, i, w)", {"w0": np.array(-1)}),
    "where it is false": ("int64 w w0", f"{WHOLE} w2 = Where (g, w, i)", {"w0": np.array(-1)}),
    "a row": ("float[3] w w0", f"{WHOLE} w2 = Where (g, e, w)", {"w0": numbers(1)[0]}),
    "a constant": (
        "float w w0",
        f"{WHOLE} w2 = Where (g, half, w)",
        {"w0": np.array(3, np.float32)},
    ),
    "elements": ("float[3] w w0", "g = Less (e, nil) w2 = Where (g, e, w)", {"w0": numbers(1)[0]}),
}


@pytest.mark.parametrize("case", WHERE)
@pytest.mark.parametrize("is_all", [True, False])
def test_the_last_value_that_replaced_a_state(case, is_all):
    state, body, fed = WHERE[case]
    kind = state.split()[0]
    text = loop(
        body + (" r = Identity (w2) u = Identity (w)" if is_all else ""),
        state,
        f"{kind} r; {kind} u" if is_all else "",
    )
    model = raised(text, kept=["Scan"] if is_all and case == "elements" else ["Loop", "Scan"])
    for length in LENGTHS:
        x = numbers(length, [np.nan, np.inf, -np.inf])
        assert_same(text, model, x, exact=True, **fed)


def test_an_invariant_condition():
    text = loop(
        "w2 = Where (flag, e, w)", "float[3] w w0", inputs="float[N, 3] x, int64 n, bool flag"
    )
    model = raised(text)
    for length in LENGTHS:
        for flag in (True, False):
            fed = {"w0": numbers(1)[0], "flag": np.array(flag)}
            assert_same(text, model, numbers(length), exact=True, **fed)


@pytest.mark.parametrize(
    "body",
    [
        "t = ReduceSum <keepdims = 0> (w) g = Greater (t, nil) w2 = Where (g, e, w)",
        "f = Exp (w) t = ReduceSum <keepdims = 0> (e) g = Greater (t, nil) w2 = Where (g, e, f)",
    ],
)
def test_near_misses(body):
    assert "carries 'w'" in reason(loop(body, "float[3] w w0"))
