import numpy as np
import pytest
from harness import as_model, run_in_onnxruntime, run_passes
from recurred import LENGTHS, reason
from sessions import by_reference
from straightline import reference
from straightline.passes import RaiseRecurrences
from tables import table

BODIES = {
    "after": ("s2 = StringConcat (s, e)",),
    "before": ("s2 = StringConcat (e, s)",),
    "both ends": ("a = StringConcat (left, s) s2 = StringConcat (a, e)",),
    "with commas": ("a = StringConcat (s, comma) s2 = StringConcat (a, e)",),
    "some": ("a = StringConcat (e, s) s2 = Where (k, s, a)", "bool"),
    "begun anew": ("a = StringConcat (s, e) s2 = Where (k, e, a)", "bool"),
    "begun anew inside": (
        "a = Where (k, none, s) b = StringConcat (a, e) s2 = StringConcat (left, b)",
        "bool",
    ),
    "one end or the other": (
        "a = StringConcat (s, e) b = StringConcat (e, s) s2 = Where (k, a, b)",
        "bool",
    ),
    "each element": ("a = StringConcat (s, e) s2 = Where (k, a, s)", "bool[2]", "2"),
}


def text_of(body, flag="bool", shape="", read="r = Identity (s2)"):
    one, rows = (f"[{shape}]", f", {shape}]") if shape else ("", "]")
    flags = flag.replace("bool", "bool[N").replace("[N[", "[N, ") + ("" if "[" in flag else "]")
    return f"""<ir_version: 9, opset_import: ["" : 20]>
    g (string[N{rows} x, {flags} flags, int64 n, string{one} s0)
            => (string{one} last, string[T{rows} every)
            <bool yes = {{1}}, string left = {{"("}}, string comma = {{", "}},
            string none = {{""}}> {{
        last, every = Loop (n, yes, s0) <body = b (int64 i, bool c, string{one} s)
            => (bool c2, string{one} s2, string{one} r) {{
            c2 = Identity (c) e = Gather (x, i) k = Gather (flags, i) {body} {read} }}> }}"""


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("read", ["r = Identity (s2)", "r = Identity (s)"])
def test_strings_that_iterations_extend(name, read):
    """onnxruntime 1.32 runs the loops wrongly: its StringConcat changes its first operand.

    Its Gather leaves all but the first element of a row of strings empty.
    """
    text = text_of(*BODIES[name], read=read)
    result = run_passes(text, RaiseRecurrences(straight=False))
    assert "StringConcat in steps" in result.remarks[0].reason
    sizes = (2,) if name == "each element" else ()
    start = np.array(["s", ""][: len(sizes) + 1] if sizes else "s", object)
    for length in LENGTHS:
        rng = np.random.default_rng(length)
        x = np.array([f"{'ab'[i % 2]}{i}" for i in range(length * max(1, sum(sizes)))], object)
        x, flags = x.reshape(length, *sizes), rng.random((length, *sizes)) < 0.4
        feeds = {"x": x, "flags": flags, "n": np.array(length), "s0": start}
        expected = by_reference(as_model(text), feeds)
        for run in (reference.run, run_in_onnxruntime)[: 1 if sizes else 2]:
            for one, other in zip(run(result.model, feeds), expected, strict=True):
                np.testing.assert_array_equal(one, other)


@table(
    ("s2 = StringConcat (s, s)", "StringConcat 'last/s2' joins it to itself"),
    ("q = Equal (s, e) a = StringConcat (s, e) s2 = Where (q, e, a)", "Equal 'last/q' computes"),
)
def test_near_misses(body, cause):
    assert cause in reason(text_of(body))
