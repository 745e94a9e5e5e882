from proofs import assert_open, assert_proved
from tables import table

TEXT = "g (int64 i) => ({out} y) <{t}[3] t = {{{numbers}}}> {{ {nodes} }}"


@table(
    ("Neg", "int64", "1, 2, 4", "-1, -2, -4"),
    ("Neg", "float", "1, 0, -4", "-1, -0, 4"),
    ("Abs", "int64", "1, -2, -4", "1, 2, 4"),
    ("Sign", "float", "3, 0, -4", "1, 0, -1"),
    ("Not", "bool", "1, 0, 0", "0, 1, 1"),
)
def test_an_entry_of_the_results_is_the_result_of_an_entry(op, t, numbers, results):
    if t == "float":
        results = results.replace("-0", "-0.0")
    one = TEXT.format(t=t, out=t, numbers=numbers, nodes=f"e = Gather (t, i) y = {op} (e)")
    assert_proved(one, TEXT.format(t=t, out=t, numbers=results, nodes="y = Gather (t, i)"))
    assert_proved(
        one, TEXT.format(t=t, out=t, numbers=numbers, nodes=f"u = {op} (t) y = Gather (u, i)")
    )
    first = results.split(",")[0]
    other = results.replace(first, "9" if first != "9" else "8", 1) if t != "bool" else "1, 1, 1"
    assert_open(one, TEXT.format(t=t, out=t, numbers=other, nodes="y = Gather (t, i)"))


def test_an_entry_elsewhere_differs():
    one = TEXT.format(
        t="int64", out="int64", numbers="1, 2, 4", nodes="e = Gather (t, i) y = Neg (e)"
    )
    other = one.replace("Gather (t, i)", "Gather (t, k)").replace(
        "e = ", "one = Constant <value_int = 1> () k = Sub (one, i) e = "
    )
    assert_open(one, other)
