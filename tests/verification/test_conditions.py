import json

import pytest
import straightline as sl
from proofs import model
from straightline.verification.conditions import sufficient
from straightline.verification.proof import Proof
from tables import table


def pair(inputs, count):
    numbers = "<int64 zero={0}, int64 one={1}, int64 six={6}, bool t = {1}>"
    head = f"g ({inputs}) => (int64 y) {numbers}"
    closed = "a = Sub (k, one) b = Add (k, a) p = Mul (k, a) q = Mul (p, b) y = Div (q, six)"
    # The sum of the first k squares, which the prover does not know in closed form.
    squares = """Loop <body = b (int64 i, bool c, int64 s) => (bool c2, int64 s2) {
        c2 = Identity (c) q = Mul (i, i) s2 = Add (s, q) }> (k, t, zero)"""
    return model(f"{head} {{ {count} y = {squares} }}"), model(f"{head} {{ {count} {closed} }}")


BY_SIZE = pair("float[n, 2] x", "s = Shape <start = 0, end = 1> (x) k = Squeeze (s)")
BY_TWO = pair(
    "float[n] x, float[m] z", "s = Shape (x) r = Shape (z) sr = Mul (s, r) k = Squeeze (sr)"
)
LEAST = "float[2] h = {-inf, -inf}, float a = {1}, float b = {2}, int64[1] first = {0}"
LOOPED, MOST = (
    model(f"g (float[n, 2] x, float[m] z) => (float[2] y) <{LEAST}> {{ {nodes} }}")
    for nodes in (
        """y = Scan <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] t) {
            p = Add (e, a) q = Add (p, a) t = Max (s, q) }> (h, x)""",
        "p = Add (x, b) y = ReduceMax <keepdims = 0> (p, first)",
    )
)
BY_VALUE = pair("int64 n", "k = Max (n, zero)")
OF_NO_NAME = pair(
    "float[?, 2] x".replace("?", "n"), "s = Shape <start = 0, end = 1> (x) k = Squeeze (s)"
)
for each in OF_NO_NAME:
    each.graph.input[0].type.tensor_type.shape.dim[0].ClearField("dim_param")


@table(
    (BY_SIZE, "n is 4 or 7", ("--dim", "n=4")),
    (BY_VALUE, "input 'n' is 4 or 7", ("--set", "n=4")),
    (OF_NO_NAME, "axis 0 of input 'x' is 4 or 7", ("--shape", "x=4,?")),
    (BY_TWO, "n is 4 or 7 and m is 4 or 7", ("--dim", "n=4", "--dim", "m=4")),
)
def test_a_condition_decides_what_is_open(models, text, options):
    proof = sl.prove(*models)
    assert proof.status == "open"
    (condition,) = proof.conditions
    assert (condition.text, condition.options) == (text, options)
    assert f"  proved if {text}" in str(proof).splitlines()
    assert sl.prove(*models, search=False, **condition.arguments).proved
    assert json.loads(json.dumps(proof.to_dict()))["conditions"][0]["text"] == text


def test_a_size_of_at_least_one_decides():
    """A maximum of no row fails, where a Scan has no iteration."""
    proof = sl.prove(LOOPED, MOST, equality="reals")
    (condition,) = proof.conditions
    assert (condition.text, condition.options) == ("n >= 1", ("--dim", "n>=1"))
    assert sl.prove(LOOPED, MOST, equality="reals", search=False, **condition.arguments).proved


@pytest.mark.parametrize(("needed", "text"), [({"n"}, "n >= 1"), ({"n", "m"}, "n >= 1 and m >= 1")])
def test_no_size_is_named_that_decides_nothing(needed, text):
    def decide(values, shapes, minima):
        return Proof("proved" if needed <= set(minima) else "open", "")

    (condition,) = sufficient(LOOPED, MOST, decide, {}, {})
    assert condition.text == text


def test_a_claim_for_some_sizes_says_so():
    proof = sl.prove(*BY_SIZE, dims={"n": 5})
    assert proof.claim == "equal for every input, if input 'x' is float[5,2]"
    assert sl.prove(BY_SIZE[0], BY_SIZE[0], dims={"n": 5}).claim == "equal for every input"


def decisions(models, is_proved, bound=(), sizes=()):
    questions = []

    def decide(values, shapes, minima):
        if minima:
            return Proof("open", "")
        questions.append((values, shapes))
        return Proof("proved" if is_proved(values, shapes) else "open", "")

    conditions = sufficient(*models, decide, dict(bound), dict(sizes))
    return [condition.text for condition in conditions], questions


def test_one_that_holds_for_one_number_says_so():
    texts, _ = decisions(BY_SIZE, lambda _, shapes: shapes["x"][0] == 4)
    assert texts == ["n is 4"]


def test_sizes_are_tried_together_then_with_values():
    def both(values, shapes):
        return bool(values) and len(shapes) == 2

    inputs = "float[n] x, float[m] z, int64 k, bool c"
    nodes = "s = Range (k, k, k) r = Cast <to = 1> (s)"
    one = model(f"g ({inputs}) => (float[i] r) {{ {nodes} }}")
    texts, questions = decisions((one, one), both)
    assert texts == [
        "n is 4 or 7 and m is 4 or 7 and input 'k' is 4 or 7 and input 'c' is true or false"
    ]
    assert len(questions) == 4 + 1 + 2


def test_fixed_inputs_are_not_tried():
    texts, questions = decisions(BY_SIZE, lambda *_: True, sizes={"x": [3, 2]})
    assert (texts, questions) == ([], [])
    texts, questions = decisions(BY_VALUE, lambda *_: True, bound={"n": 3})
    assert (texts, questions) == ([], [])


def test_a_switch_is_tried_both_ways():
    branch = "{} = b () => (float d) {{ d = {} (x) }}"
    branches = ", ".join(
        branch.format(*pair) for pair in (("then_branch", "Exp"), ("else_branch", "Neg"))
    )
    one = model(f"g (float x, bool c) => (float y) {{ y = If (c) <{branches}> }}")
    texts, _ = decisions((one, one), lambda *_: True)
    assert texts == ["input 'c' is true or false"]


def test_the_work_is_bounded():
    inputs = ", ".join(f"float[n{k}] x{k}" for k in range(30))
    many = model(f"g ({inputs}) => (float[n0] y) {{ y = Neg (x0) }}")
    _, questions = decisions((many, many), lambda *_: False)
    assert len(questions) <= 6
