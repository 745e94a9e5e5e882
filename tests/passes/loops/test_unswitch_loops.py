import numpy as np
from harness import as_model, assert_equal_outputs, assert_rewrites, run_passes
from straightline import transform
from straightline.passes import UnswitchLoops
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
CONSTANTS = "<bool yes = {1}, float[3] s0 = {0, 0, 0}>"
FEEDS = [
    {"x": np.ones((4, 3), np.float32), "n": np.array(n), "c": np.array(c)}
    for n in (0, 3)
    for c in (True, False)
]


def loop(condition="c", kind="bool", then="Add", otherwise="Max", after="r = Tanh (t)"):
    return f"""{HEAD}g (float[4, 3] x, int64 n, {kind} c) => (float[3] s, float[M, 3] y)
            {CONSTANTS} {{
        s, y = Loop (n, yes, s0) <body = b (int64 i, bool d, float[3] u)
                => (bool d2, float[3] t, float[3] r) {{
            d2 = Identity (d) e = Gather (x, i)
            t = If ({condition}) <then_branch = f () => (float[3] p) {{ p = {then} (u, e) }},
                                 else_branch = g () => (float[3] q) {{ q = {otherwise} (u, e) }}>
            {after} }}> }}"""


def test_the_unswitched_loop():
    def copied(kind, tail, o):
        return f"""=> (float[3] s_{tail}, float[?, 3] y_{tail}) <bool c_{tail} = {{{kind}}}> {{
            s_{tail}, y_{tail} = Loop (n, yes, s0) <
                    body = b (int64 i{o}, bool d{o}, float[3] u{o})
                    => (bool d2{o}, float[3] t{o}, float[3] r{o}) {{
                d2{o} = Identity (d{o}) e{o} = Gather (x, i{o})
                t{o} = If (c_{tail}) <
                    then_branch = f () => (float[3] p{o}) {{ p{o} = Add (u{o}, e{o}) }},
                    else_branch = g () => (float[3] q{o}) {{ q{o} = Max (u{o}, e{o}) }}>
                r{o} = Tanh (t{o}) }}>
        }}"""

    after = f"""{HEAD}g (float[4, 3] x, int64 n, bool c) => (float[3] s, float[M, 3] y)
            {CONSTANTS} {{
        s, y = If (c) <then_branch = then_branch () {copied(1, 1, "")},
                       else_branch = else_branch () {copied(0, 2, "_1")}> }}"""
    assert_rewrites(UnswitchLoops(), loop(), after, FEEDS)


EACH = "m = ReduceSum <keepdims = 0> (u) l = Cast <to = 9> (m) e = Gather"


@table(
    loop("l").replace(
        "e = Gather", "m = ReduceSum <keepdims = 0> (u) l = Cast <to = 9> (m) e = Gather"
    ),
    loop("yes"),
    loop(kind="bool[K]"),
)
def test_kept_loops_and_their_reasons(text):
    """A condition of each iteration, a constant, one of unknown size."""
    assert not run_passes(text, UnswitchLoops()).changed


def test_a_choice_of_loops():
    """Each of the loops has its own form."""
    text = loop(after="k = Exp (t) r = Tanh (k)", otherwise="Mul")
    result = transform(as_model(text), "accelerate").model
    assert not {"Loop", "Scan"} & {node.op_type for node in result.graph.node}
    branches = [a.g for node in result.graph.node if node.op_type == "If" for a in node.attribute]
    assert len(branches) == 2
    assert "Loop" not in {node.op_type for node in branches[0].node}
    for feed in FEEDS:
        assert_equal_outputs(text, result, feed)


def test_conditions_double_a_loop_three_times_at_most():
    choices = " ".join(
        f"""t{k} = If (c{k}) <
            then_branch = f{k} () => (float[3] p{k}) {{ p{k} = Exp (e) }},
            else_branch = g{k} () => (float[3] q{k}) {{ q{k} = Neg (e) }}>"""
        for k in range(5)
    )
    arguments = ", ".join(f"bool c{k}" for k in range(5))
    total = "r = Sum (t0, t1, t2, t3, t4)"
    text = f"""{HEAD}g (float[4, 3] x, int64 n, {arguments}) => (float[M, 3] y) {CONSTANTS} {{
        y = Loop (n, yes) <body = b (int64 i, bool d) => (bool d2, float[3] r) {{
            d2 = Identity (d) e = Gather (x, i) {choices} {total} }}> }}"""
    result = run_passes(text, UnswitchLoops(), UnswitchLoops(), UnswitchLoops(), UnswitchLoops())
    assert str(result.model).count('op_type: "Loop"') == 8
