from harness import as_model
from straightline import ir
from straightline.analysis.constants.folding import Folder
from straightline.analysis.iterations.condition_slice import ConditionSlice
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def sliced(nodes, condition="c2"):
    """The slice of a Loop that carries a float x, given by the caller, and two numbers from 0."""
    model = ir.load(
        as_model(f"""g (float[2] x, bool q) => (float[2] y, int64 k, int64 m)
            <int64 zero = {{0}}, int64 one = {{1}}, int64 five = {{5}}> {{
                y, k, m = Loop (, q, x, zero, zero) <
                    body = b (int64 i, bool c, float[2] a, int64 k0, int64 m0)
                        => (bool {condition}, float[2] a2, int64 k2, int64 m2) {{ {nodes} }}> }}""")
    )
    (loop,) = model.graph.nodes()
    return ConditionSlice(loop, Folder(model))


REST = "a2 = Exp (a) "
FOUR = "four = Constant <value_int = 4> () "


def operators(found):
    return [node.op_type for node in found._nodes]


def test_a_loop_inside_is_not_run_for_ever():
    inner = """most = Constant <value_int = 9000> () t = Loop (most, , zero) <
        body = h (int64 j, bool d, int64 u) => (bool d2, int64 v) { d2 = Identity (d)
            v = Add (u, one) }>"""
    found = sliced(REST + inner + " k2 = Add (k0, one) m2 = Identity (m0) c2 = Less (k2, t)")
    assert found.obstacle is None
    iterations = 0
    while found.step(iterations):
        iterations += 1
    assert iterations == 5 and "more iterations than are counted" in found.failure


def test_only_what_the_condition_depends_on_is_run():
    found = sliced(REST + "k2 = Add (k0, one) m2 = Mul (m0, k0) c2 = Less (k2, five)")
    assert found.obstacle is None
    assert operators(found) == ["Add", "Less"]
    assert [found.step(iteration) for iteration in range(5)] == [True, True, True, True, False]
    assert not found.settled


def test_a_carried_number_brings_what_updates_it():
    found = sliced(REST + "m2 = Sub (m0, one) k2 = Sub (k0, m2) c2 = Less (k0, five)")
    assert operators(found) == ["Sub", "Sub", "Less"]
    assert [found.step(iteration) for iteration in range(4)] == [True, True, True, False], (
        "k is 0, 1, 3, 6"
    )


def test_captures_of_a_nested_body_belong_to_it():
    nodes = f"""{FOUR} m2 = Add (m0, one) k2 = Add (k0, one) big = Less (four, k0)
        c2 = If (big) <then_branch = t () => (bool u) {{ u = Less (m0, one) }},
                       else_branch = e () => (bool v) {{ v = Not (big) }}>"""
    found = sliced(REST + nodes)
    assert set(operators(found)) == {"Less", "If", "Add"} and len(operators(found)) == 4
    assert [found.step(iteration) for iteration in range(6)] == [True] * 5 + [False]


def test_it_settles_where_nothing_changes_any_more():
    found = sliced(REST + "k2 = Identity (k0) m2 = Add (m0, one) c2 = Less (k0, five)")
    assert found.step(0) is True and found.settled
    counting = sliced(REST + "k2 = Identity (k0) m2 = Identity (m0) c2 = Less (i, five)")
    assert counting.step(0) is True and not counting.settled


@table(
    ("s = ReduceSum <keepdims = 0> (a) t = Cast <to = 7> (s) c2 = Less (t, k0)", "input 'x'"),
    ("c2 = And (c, q)", "input 'q'"),
    ("r = RandomUniform <shape = [1]> () t = Cast <to = 7> (r) c2 = Less (t, five)",
     "RandomUniform"))  # fmt: skip
def test_obstacles_of_a_slice(nodes, obstacle):
    found = sliced(f"{REST} k2 = Add (k0, one) m2 = Identity (m0) {nodes}")
    assert found.obstacle is not None and obstacle in found.obstacle


def test_an_obstacle_that_the_condition_does_not_depend_on_is_none():
    nodes = "r = RandomUniform <shape = [1]> () m2 = Cast <to = 7> (r) k2 = Add (k0, one)"
    assert sliced(f"{REST} {nodes} c2 = Less (k2, five)").obstacle is None


def test_a_constant_condition_needs_no_node():
    found = sliced(REST + "k2 = Add (k0, one) m2 = Add (m0, one)", condition="c")
    assert operators(found) == [] and found.step(0) is True


STEP = """
<domain: "local", opset_import: ["" : 17]> step (s, t, e) => (r, u, d) {
    r = Exp (s)
    n = Size (r)
    most = Cast <to = 1> (n)
    u = Add (t, e)
    d = Less (u, most) }"""


@table(
    ("3", "float step = {0.75}", 4), ("0", "float step = {0.75}", 1), ("N", "float z = {0}", None)
)
def test_the_source_of_a_condition_in_a_call(shape, step, iterations):
    """A step of which run time tells what else it is given; unless the condition comes of that."""
    signature = f"float[{shape}] x, bool q" + (", float step" if iterations is None else "")
    text = f"""{HEAD[:-3]}, "local" : 1]>
        g ({signature}) => (float[{shape}] y, float k) <float zero = {{0}}, {step}> {{
        y, k = Loop (, q, x, zero) <
            body = b (int64 i, bool c, float[{shape}] a, float t)
                => (bool d, float[{shape}] a2, float t2) {{ a2, t2, d = local.step (a, t, step) }}>
        }}{STEP}"""
    model = ir.load(as_model(text))
    (loop,) = model.graph.nodes()
    found = ConditionSlice(loop, Folder(model))
    if iterations is None:
        assert found.obstacle.startswith("the shape of input 'x', input 'step'; decide it with")
    else:
        assert found.obstacle is None
        assert [found.step(iteration) for iteration in range(iterations)] == [True] * (
            iterations - 1
        ) + [False]
        assert operators(found) == ["step"]


def test_a_call_whose_sizes_run_time_tells_says_so():
    text = f"""{HEAD[:-3]}, "local" : 1]>
        g (float[N] x, bool q) => (float[N] y, float k) <float zero = {{0}}, float one = {{1}}> {{
        y, k = Loop (, q, x, zero) <
            body = b (int64 i, bool c, float[N] a, float t)
                => (bool d, float[N] a2, float t2) {{ a2, t2, d = local.step (a, t, one) }}>
        }}{STEP}"""
    model = ir.load(as_model(text))
    found = ConditionSlice(model.graph.nodes()[0], Folder(model))
    assert found.obstacle is None and found.step(0) is None
    assert found.failure.startswith("local::step 'y/a2' fails")
