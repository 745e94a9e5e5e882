from harness import as_model
from straightline import ir
from straightline.analysis.safety.predication import predict
from straightline.analysis.safety.speculation import Speculation
from straightline.analysis.shapes.inference import ShapeInference
from straightline.facts.obstacle import Obstacle
from tables import table


def predicted(
    condition, start="", carried="r = Neg (a)", most=4, outputs="y", results="r", inputs="x"
):
    text = f""" g (float[2] x, float[K] k, bool q, bool[1] q1, bool[N] qn) => (y)
        <int64 four = {{4}}, bool yes = {{1}}, int64 two = {{2}}> {{
        {outputs} = Loop (four, {start}, {inputs}) <body = b (int64 i, bool c, float[2] a) =>
            (d, {results}) {{ {condition} {carried} }}> }}"""
    model = ir.load(as_model(text))
    (loop,) = model.graph.nodes()
    return predicted_of(model, loop, most)


def predicted_of(model, loop, most):
    """The iterations, or the sentence of the obstacle."""
    try:
        return predict(Speculation(ShapeInference(model), model.functions), loop, most)
    except Obstacle as obstacle:
        return str(obstacle)


def obstacle_of(iterations):
    return iterations if isinstance(iterations, str) else None


def certain(iterations):
    assert obstacle_of(iterations) is None
    return [iteration.certain for iteration in iterations]


def flagged(start, following, most=4):
    """A Loop whose condition is a flag that it carries: true at first, then something else."""
    text = f""" g (float[2] x, bool q) => (y) <int64 four = {{4}}, bool yes = {{1}},
        bool no = {{0}}> {{
        y, z = Loop (four, {start}, x, yes) <body = b (int64 i, bool c, float[2] a, bool f) =>
            (d, r, g0) {{ d = Identity (f) r = Neg (a) g0 = Identity ({following}) }}> }}"""
    model = ir.load(as_model(text))
    (loop,) = model.graph.nodes()
    return predicted_of(model, loop, most)


def test_a_condition_that_constants_decide_for_a_while():
    found = flagged("yes", "q")
    assert certain(found) == [True, True, False, False]
    assert [iteration.goes_on for iteration in found] == [True, False, False, False]


def test_a_first_iteration_that_is_not_certain():
    found = flagged("q", "q")
    assert certain(found) == [False] * 4
    assert [iteration.goes_on for iteration in found] == [True, False, False, False]


def test_without_a_first_condition_the_first_iteration_is_made():
    assert certain(predicted("d = Identity (q)")) == [True, False, False, False]
    assert certain(flagged("", "q")) == [True, True, False, False]


def test_iterations_end_where_the_condition_is_false_for_certain():
    assert certain(flagged("yes", "no")) == [True, True]
    assert certain(flagged("yes", "yes", most=3)) == [True, True, True]
    assert certain(predicted("d = Identity (q)", "yes", most=2)) == [True, False]


@table(("d = Identity (q)", True), ("d = Identity (q1)", True), ("d = Identity (qn)", False))
def test_a_condition_of_one_element(condition, fits):
    obstacle = obstacle_of(predicted(condition, "q"))
    if fits:
        assert obstacle is None
    else:
        assert obstacle == "its condition 'd' may not hold one element after it has ended"


def test_the_last_condition_is_not_looked_at():
    assert obstacle_of(predicted("d = Identity (qn)", "q", most=1)) is None


def test_a_body_that_may_fail_once_the_loop_has_ended():
    fails = (
        "n = Shape (x) m = Cast <to = 7> (a) v = Div (n, m) w = Cast <to = 1> (v) r = Add (a, w)"
    )
    found = predicted("d = Identity (q)", "yes", fails)
    assert "its body cannot run when the Loop has ended" in obstacle_of(found)
    assert "may be zero" in obstacle_of(found)
    assert obstacle_of(predicted("d = Identity (q)", "yes", fails, most=1)) is None


def test_carried_values_that_no_select_can_choose_from():
    found = predicted("d = Identity (q)", "q", "r = Concat <axis = 0> (a, a)")
    assert obstacle_of(found).startswith("its carried value 'a' ")


def test_rows_that_differ():
    found = predicted(
        "d = Identity (q)", "yes", "r = Neg (a) s = Identity (k)", outputs="y, z", results="r, s"
    )
    assert obstacle_of(found) is None


def test_rows_of_no_iterations_need_a_declared_shape_in_numbers():
    def obstacle(rows, declared):
        rows = f"r = Neg (a) {rows}"
        results = f"r, {declared}"
        return obstacle_of(
            predicted("d = Identity (q)", "q", rows, outputs="y, z", results=results)
        )

    assert obstacle("s = Neg (a)", "float[2] s") is None
    assert "does not declare the shape [2]" in obstacle("s = Neg (a)", "s")
    assert "does not declare the shape [2]" in obstacle("s = Neg (a)", "float[S] s")
    assert "the shape [K] that its scan output 's'" in obstacle("s = Neg (k)", "float[K] s")


def test_rows_that_nobody_reads_may_be_anything():
    found = predicted("d = Identity (q)", "q", "r = Neg (a) s = NonZero (a)", results="r, s")
    assert obstacle_of(found) is None
