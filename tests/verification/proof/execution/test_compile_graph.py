import pytest
from proofs import assert_open, assert_proved, model
from straightline.verification.proof import prove
from straightline.verification.proof.execution.compile_graph import ABSENT, MOST_DEPTH, Compiler
from straightline.verification.proof.terms.budget import OpenError
from straightline.verification.proof.terms.term import Heads
from tables import table


def test_names_of_bodies_win_over_those_around_them():
    shadowed = """g (float[2] x, float[2] y, int64 n) => (float[2] z) {
        z = Loop (n, , x) <body = b (int64 i, bool c, float[2] %s) => (bool d, float[2] t)
            { d = Identity (c) t = Add (%s, y) }> }"""
    assert_proved(shadowed % ("s", "s"), shadowed % ("x", "x"))
    assert_proved(shadowed % ("s", "s"), shadowed % ("z", "z"))
    assert_open(shadowed % ("s", "x"), shadowed % ("x", "x"))


CAPTURED = """g (float[2] x, float[2] y, bool b) => (float[2] z) { v = Neg (%s)
    z = If (b) <then_branch = p () => (float[2] q) {
        q = If (b) <then_branch = r () => (float[2] s) { s = Abs (v) },
            else_branch = t () => (float[2] u) { u = Sin (x) }> },
        else_branch = w () => (float[2] a) { a = Identity (v) }> }"""


def test_bodies_inside_bodies_capture():
    flat = """g (float[2] x, float[2] y, bool b) => (float[2] z) { v = Neg (x) a = Abs (v)
        z = Where (b, a, v) }"""
    assert_open(CAPTURED % "x", CAPTURED % "y")
    assert_proved(CAPTURED % "x", (CAPTURED % "x").replace("Sin (x)", "Cos (y)"))
    assert_open(CAPTURED % "x", flat.replace("(b, a, v)", "(b, v, a)"))


CALLED = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
g (float[2] x) => (float[2] z) { a = local.f %s (x) z = local.f %s (a) }
<domain: "local", opset_import: ["" : 18]> f %s (p) => (r) { r = LeakyRelu <alpha%s> (p) }"""


def test_a_call_gives_its_attributes_to_the_function():
    one = CALLED % ("<k = 0.5>", "<k = 0.25>", "<k>", ": float = @k")
    flat = """g (float[2] x) => (float[2] z) {
        a = LeakyRelu <alpha = %s> (x) z = LeakyRelu <alpha = %s> (a) }"""
    assert_proved(one, flat % (0.5, 0.25))
    assert_open(one, flat % (0.25, 0.5))
    assert_open(one, flat % (0.5, 0.5))


def test_an_attribute_that_is_not_given_has_its_default():
    text = CALLED % ("<k = 0.5>", "", "<k: float = 0.25>", ": float = @k")
    flat = """g (float[2] x) => (float[2] z) {
        a = LeakyRelu <alpha = 0.5> (x) z = LeakyRelu <alpha = 0.25> (a) }"""
    assert_proved(text, flat)


def test_a_function_is_compiled_once_for_the_same_attributes():
    def functions(one, other):
        proto = model(CALLED % (one, other, "<k>", ": float = @k"))
        return [step.operation.function for step in Compiler(Heads(), proto).main.steps]

    one, other = functions("<k = 0.5>", "<k = 0.5>")
    assert one is other and one is not None
    one, other = functions("<k = 0.5>", "<k = 0.25>")
    assert one is not other


def program(text):
    """What a graph becomes, by no check of the model."""
    return Compiler(Heads(), model(text)).main


def test_places_are_numbered_and_captures_are_copied():
    main = program("""g (float[2] x, bool b) => (float[2] z) <float[2] w = {1, 2}> { y = Neg (x)
        z = If (b) <then_branch = p () => (float[2] q) { q = Add (y, y) },
            else_branch = r () => (float[2] s) { s = Add (x, w) }> }""")
    x, b = main.inputs
    ((w, tensor),) = main.constants
    (y,), (z,) = (step.outputs for step in main.steps)
    assert len({ABSENT, x, b, w, y, z}) == main.size == 6
    assert tensor.name == "w" and main.outputs == [z] and main.names == ["x", "b"]
    bodies = main.steps[1].bodies
    assert [outer for outer, _ in bodies["then_branch"].captures] == [y]
    assert [outer for outer, _ in bodies["else_branch"].captures] == [x, w]
    ((_, own),) = bodies["then_branch"].captures
    assert bodies["then_branch"].steps[0].inputs == (own, own)


ALIKE = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
g (float[2] x, float[2] y) => (float[2] z) {
    a = local.f (x) b = Neg (y) c = LeakyRelu <alpha = 0.5> (b) d = LeakyRelu <alpha = 0.5> (c)
    e = LeakyRelu <alpha = 0.25> (d) h = Neg (e) i = Max (h, a) z = Max (i, h, a) }
<domain: "local", opset_import: ["" : 12]> f (p) => (r) { q = Neg (p) s = Neg (q) r = Neg (s) }"""


def test_nodes_in_bodies_weigh_more():
    assert program("g (float[2] x) => (float[2] z) { y = Neg (x) z = Abs (y) }").weight == 2
    outer = program(CAPTURED % "x")
    inner = outer.steps[1].bodies["then_branch"]
    assert inner.weight == 1 + 4 * (1 + 1)
    assert outer.weight == 2 + 4 * (inner.weight + 1)


def test_nodes_that_look_alike_have_one_operation():
    main = program(ALIKE)
    call, neg, half, half_too, quarter, neg_too, two, three = [s.operation for s in main.steps]
    assert neg is neg_too and half is half_too
    assert len({id(o) for o in (neg, half, quarter, two, three)}) == 5
    one, *others = [step.operation for step in call.function.steps]
    assert others == [one, one] and one is not neg and (one.version, neg.version) == (12, 18)


def test_nodes_of_equal_attributes_have_one_operation_whatever_describes_them():
    proto = model(ALIKE.replace("a = local.f (x)", "a = Neg (x)").partition("<domain")[0])
    nodes = proto.graph.node
    nodes[2].name, nodes[3].doc_string = "n" * 200, "why"
    described = nodes.add()
    described.CopyFrom(nodes[2])
    described.output[0] = "last"
    described.metadata_props.add(key="k", value="v" * 300)
    main = Compiler(Heads(), proto).main
    _, neg, half, half_too, quarter, *_, last = [step.operation for step in main.steps]
    assert half is half_too is last and quarter is not half
    assert main.operations[half] == 3 and main.operations[neg] == 3


def test_nodes_that_hold_graphs_have_their_own_operations():
    """The values that a graph captures differ by place, not by name."""
    text = "If (c) <then_branch = p () => (float[2] q) { q = Neg (x) },"
    text += " else_branch = r () => (float[2] s) { s = Abs (x) }>"
    main = program(f"g (float[2] x, bool c) => (float[2] z) {{ y = {text} z = {text} }}")
    one, other = main.steps
    assert one.operation is not other.operation and len(main.operations) == 2


def test_absent_operands_have_no_slot():
    (step,) = program("g (float[4] x) => (bool[4] m) { , m = Dropout (x, , ) }").steps
    assert step.inputs[1:] == (ABSENT, ABSENT)[: len(step.inputs) - 1]
    assert (step.outputs[0], step.operation.width, step.read) == (ABSENT, 2, {1})


@table(
    ("z = Neg (y) y = Neg (x)", "'y' is not defined before it is used"),
    ("z = Neg (x) z = Abs (x)", "'z' is defined twice"),
    ("z = LeakyRelu <alpha: float = @k> (x)", "refers to an attribute of no function"),
)
def test_names_that_mean_nothing_are_open(nodes, reason):
    with pytest.raises(OpenError, match=reason):
        program(f"g (float[2] x) => (float[2] z) {{ {nodes} }}")


def chained(count):
    """Functions of which each calls the next one."""
    calls = [
        f"""<domain: "local", opset_import: ["" : 18, "local" : 1]> f{k} (p) => (r) {{
        r = local.f{k + 1} (p) }}"""
        for k in range(1, count)
    ]
    return f"""<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
        g (float[2] x) => (float[2] z) {{ z = local.f1 (x) }}
        {" ".join(calls)}
        <domain: "local", opset_import: ["" : 18]> f{count} (p) => (r) {{ r = Neg (p) }}"""


def test_calls_and_bodies_that_stand_too_deep_are_open():
    branch = """b = Constant <value = bool {1}> () r = If (b) <then_branch = t () => (v) {
        v = Neg (p) }, else_branch = e () => (w) { w = Abs (p) }>"""
    inner = chained(MOST_DEPTH).replace("r = Neg (p)", branch)
    assert_open(inner, chained(1), f"more than {MOST_DEPTH} deep")
    assert_proved(chained(1).replace("r = Neg (p)", branch), chained(1))
    assert_proved(chained(MOST_DEPTH), chained(1))
    assert_open(chained(MOST_DEPTH + 1), chained(1), f"more than {MOST_DEPTH} deep")


@table(
    (17, "k = Constant <value_int = 2> () z = Loop (k, , x) <body = b (i, c) => (c, i) {}>",
     "its body has 2 inputs; the node feeds 3"),
    (17, "k = Constant <value_int = 2> () z = Loop (k, , x) <body = b (i, c, s) => (c) {}>",
     "its body has 1 outputs; the node needs 2"),
    (17, "z = Scan <num_scan_inputs = 2, body = b (r) => (r) {}> (x)",
     "has 1 inputs and num_scan_inputs = 2"),
    (8, "z = Scan <num_scan_inputs = 1, body = b (r) => (r) {}> (, a)", "lacks an input"),
    (8,
     "k = Constant <value = int64[2] {1, 4}> () z = Scan <num_scan_inputs = 1, "
     "body = b (r) => (w) { n = Constant <value = int64[2] {700000000, 3}> () "
     "w = Expand (r, n) }> (k, x)", "Abs and, in the rewrite, Relu"))  # fmt: skip
def test_bodies_of_functions_that_do_not_fit_their_node_stay_open(opset, nodes, reason):
    function = """<ir_version: 8, opset_import: ["" : %d, "f" : 1]>
    g (float[2, 4, 3] x) => (float[2, 4, 3] y) { z = f.f (x) y = %s (z) }
    <opset_import: ["" : %d], domain: "f"> f (x, a) => (z) { %s }"""
    before, after = (model(function % (opset, last, opset, nodes)) for last in ("Abs", "Relu"))
    proof = prove(before, after)
    assert proof.status == "open" and reason in proof.reason


def test_versions_of_a_domain_are_different_operators():
    text = """<ir_version: 10, opset_import: ["" : 18, "own" : %d]>
    g (float[2] x) => (float[2] z) { y = own.Op <a = 1> (x) z = own.Op <a = 1> (y) }"""
    assert_proved(text % 1, text % 1)
    assert_open(text % 1, text % 2)
