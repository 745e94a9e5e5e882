import pytest
from proofs import proof_of
from tables import table


def needed(before, after, kind="float"):
    nodes = "g (float[2] x, float[2] w) => ({}[2] y) {{ {} }}"
    proof = proof_of(nodes.format(kind, before), nodes.format(kind, after))
    assert proof.status == "open"
    return proof.needed


@table(
    ("y = Sub (x, w)", "y = Sub (w, x)",
     "no rule can equate input x and input w; so a rule that Sub (x, w) equals Sub (w, x);"
     " the same operator, the same operands in another order"),
    ("y = Max (x, w)", "y = Mul (x, w)",
     "a rule that Max (x, w) equals Mul (x, w); other operators, the same operands"),
    ("y = Sub (x, w)", "y = Div (x, x)",
     "a rule that Sub (x, w) equals Div (x, x);"
     " other operators, with x among the operands of both"),
    ("y = Identity (x)", "y = Identity (w)", "no rule can equate input x and input w"),
    ("y = Elu <alpha = 1.0> (x)", "y = Elu <alpha = 2.0> (x)",
     "a rule that Elu <alpha = 1.0> (x) equals Elu <alpha = 2.0> (x);"
     " other attributes or another version, the same operands"),
    ("y = Abs (x)", "y = Neg (w)",
     "a rule that Abs (x) equals Neg (w); other operators, no common operand"))  # fmt: skip
def test_both_sides_are_written_and_what_they_share_is_said(before, after, said):
    assert needed(before, after) == said


def test_states_need_an_invariant():
    loop = """g (float[2] x, int64 m) => (float[2] y) {
        y = Loop (m, , x) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] t) {
            c2 = Identity (c) t = Sin (s) }> }"""
    proof = proof_of(loop, "g (float[2] x, int64 m) => (float[2] y) { y = Sin (x) }")
    assert proof.needed.startswith("an invariant that final <0>")


TWO_INPUTS = "g (float[2] x, float[2] w) => (float[2] y) {{ {} }}"
LOOP = """g (float[2] x, int64 m) => (float[2] y) {
    a = Neg (x)
    y = Loop (m, , a) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] t) {
        c2 = Identity (c) [a3] t = %s }> }"""
BRANCH = """g (float[2] x, bool c) => (float[2] y) {
    [choice] y = If (c) <
        then_branch = t () => (float[2] z) { z = Abs (x) },
        else_branch = e () => (float[2] z) { a = Neg (x) [last] z = %s }> }"""


def paths(before, after):
    proof = proof_of(before, after)
    assert proof.status == "open"
    return proof.paths


def test_the_node_of_each_model_is_named_or_else_its_output():
    one, other = TWO_INPUTS.format("a = Abs (x) y = Sin (a)"), TWO_INPUTS.format("[n] y = Cos (x)")
    assert paths(one, other) == ("Sin 'y'", "Cos 'n'")


def test_a_node_in_a_body_stands_in_the_node_that_holds_it():
    found = paths(LOOP % "Sin (s)", LOOP % "Cos (s)")
    assert found == ("Loop 'y' / body / Sin 'a3'", "Loop 'y' / body / Cos 'a3'")


def test_a_node_in_a_branch_names_the_branch():
    found = paths(BRANCH % "Sin (a)", BRANCH % "Cos (a)")
    place = "If 'choice' / else_branch / {} 'last'"
    assert found == (place.format("Sin"), place.format("Cos"))


def test_a_node_of_a_function_stands_in_its_call():
    header = '<ir_version: 10, opset_import: ["" : 18, "local" : 1]>'
    function = '<domain: "local", opset_import: ["" : 18]> f (a) => (b) { [n] b = %s (a) }'
    called = header + " g (float[2] x) => (float[2] y) { [call] y = local.f (x) } " + function
    assert paths(called % "Sin", called % "Cos") == ("f 'call' / Sin 'n'", "f 'call' / Cos 'n'")


def test_shared_nodes_are_named_in_each_model():
    one, other = (
        TWO_INPUTS.format(text) for text in ("[a] y = Sin (x)", "[b] z = Sin (x) y = Neg (z)")
    )
    assert paths(one, other) == ("Sin 'a'", "Neg 'y'")
    twice = "[p] u = Sin (x) [q] y = Add (u, w)", "[r] v = Sin (x) [s] y = Mul (v, w)"
    assert paths(*map(TWO_INPUTS.format, twice)) == ("Add 'q'", "Mul 's'")


def test_an_input_is_named_as_such():
    found = paths(TWO_INPUTS.format("y = Identity (x)"), TWO_INPUTS.format("y = Identity (w)"))
    assert found == ("Identity 'y'", "Identity 'y'")


def test_a_part_is_from_the_node_that_made_the_whole():
    """A loop of run time and what one operator makes of all rows differ inside the body."""
    scan = """g (float[n, 2] x) => (float[n, 2] y) {
        y = Scan <num_scan_inputs = 1,
            body = b (float[2] e) => (float[2] o) { o = Sin (e) }> (x) }"""
    found = paths(scan, "g (float[n, 2] x) => (float[n, 2] y) { [all] y = Cos (x) }")
    assert found == ("Scan 'y' / body / Sin 'o'", "Cos 'all'")


@pytest.mark.parametrize("rows", ["n", "3"])
def test_iterations_are_from_the_body(rows):
    scan = f"""g (float[{rows}, 2] x) => (float[{rows}, 2] y) {{
        y = Scan <num_scan_inputs = 1,
            body = b (float[2] e) => (float[2] o) {{ a = Exp (e) o = %s (a) }}> (x) }}"""
    found = paths(scan % "Sin", scan % "Cos")
    assert found == ("Scan 'y' / body / Sin 'o'", "Scan 'y' / body / Cos 'o'")


def test_a_proof_names_no_nodes():
    proof = proof_of(TWO_INPUTS.format("y = Sin (x)"), TWO_INPUTS.format("y = Sin (x)"))
    assert proof.paths is None and not proof.needed


def test_an_unknown_operator_has_no_shared_nodes():
    text = TWO_INPUTS.format("y = local.unknown (x)")
    proof = proof_of(text, text.replace("(float[2] x, float[2] w)", "(float[3] x, float[2] w)"))
    assert proof.status == "open" and proof.paths is None
