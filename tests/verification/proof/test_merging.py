import pytest
from proofs import is_proved, model, over_reals
from straightline.verification.proof import merging, prove
from tables import table

LAYERS = 24


def layers(nodes, count=LAYERS, end=""):
    """A chain of layers, from x0 to the output."""
    inside = " ".join(nodes.replace("#", str(k)).replace("@", str(k + 1)) for k in range(count))
    text = f"g (float[N, 4] x0, float[4] c) => (float[N, 4] x{count}) {{ {inside} {end} }}"
    return model(text, 18)


QUOTIENT = "a# = Mul (x#, x#) b# = Add (a#, c) r# = Sqrt (b#) x@ = Div (x#, r#)"
PRODUCT = "a# = Mul (x#, x#) d# = Add (c, a#) r# = Sqrt (d#) i# = Reciprocal (r#) x@ = Mul (i#, x#)"


@pytest.fixture
def compared(monkeypatch):
    """Pairs of terms that are compared while the rewrite runs."""
    pairs = []
    original = merging.MergingExecution._is_equal

    def recorded(self, one, other):
        pairs.append((one is other, original(self, one, other)))
        return pairs[-1][1]

    monkeypatch.setattr(merging.MergingExecution, "_is_equal", recorded)
    return pairs


def test_each_layer_is_compared_by_itself(compared):
    answer = prove(layers(QUOTIENT), layers(PRODUCT), equality="reals")
    assert (answer.proved, answer.equality) == (True, "reals")
    assert all(equal for _, equal in compared)
    assert [same for same, _ in compared].count(False) == 2 * LAYERS  # root and quotient


@table(
    ("Add (c, a#)", "Sub (a#, c)"),
    ("Reciprocal (r#)", "Neg (r#)"),
    ("Mul (i#, x#)", "Mul (i#, a#)"),
    ("Sqrt (d#)", "Sqrt (a#)"),
)
def test_one_other_layer_leaves_it_open(wrong, right):
    before, after = layers(QUOTIENT, 3), layers(PRODUCT, 3)
    other = layers(PRODUCT.replace(wrong, right), 3)
    for node, changed in zip(after.graph.node[-5:], other.graph.node[-5:], strict=True):
        node.CopyFrom(changed)
    answer = prove(before, after, equality="reals")
    assert not answer.proved and answer.equality is None


def test_a_name_may_stand_for_another_value():
    """`a` and `b` change places: neither is taken for the other."""
    text = "g (float[N] x) => (float[N] y) { a = %s b = %s y = Sub (%s) }"
    before = model(text % ("Exp (x)", "Neg (x)", "a, b"), 18)
    same = model(text % ("Neg (x)", "Exp (x)", "b, a"), 18)
    other = model(text % ("Neg (x)", "Exp (x)", "a, b"), 18)
    sums = text.replace("Sub", "Add")
    assert is_proved(before, same)
    assert over_reals(before, model(sums % ("Neg (x)", "Exp (x)", "x, b"), 18))
    assert not over_reals(before, other)


def test_a_value_that_another_node_computes_has_its_own_name_first():
    """`y` is `h` plus 0: the rewrite computes `h` under the name of `y`."""
    constants = "<float[4] z = {0, 0, 0, 0}>"
    head = f"g (float[N, 4] x, float[4, 4] w) => (float[N, 4] y) {constants} "
    before = model(head + "{ a = Add (x, x) h = MatMul (a, w) y = Add (h, z) }", 18)
    after = model(head + "{ a = Sum (x, x) y = MatMul (a, w) }", 18)
    assert over_reals(before, after)


def test_a_constant_of_the_rewrite_is_no_constant_of_the_original():
    """Both models have run before the comparison over the reals begins."""
    head = "g (float[N, 2] x) => (float[N, 2] y) <float[2, 2] w = {%s}, float c = {0.3}> "
    before = model(head % "0.1, 0.7, 0.9, 1.1" + "{ a = Mul (x, c) y = MatMul (a, w) }", 18)
    folded = "0.030000001, 0.21000001, 0.27, 0.33000001"
    answer = prove(before, model(head % folded + "{ y = MatMul (x, w) }", 18), equality="reals")
    assert answer.proved and any("rounded" in each for each in answer.assumptions)
    wrong = model(head % folded.replace("0.27", "0.26") + "{ y = MatMul (x, w) }", 18)
    assert not over_reals(before, wrong)


def test_many_values_in_a_row_that_differ_are_compared_no_longer(monkeypatch):
    """Values after a node in another form depend on it; an equal value begins a new row."""
    questions = []
    original = merging.RealTerms.equal
    monkeypatch.setattr(
        merging.RealTerms, "equal", lambda *pair: questions.append(original(*pair)) or questions[-1]
    )
    before, after = layers(QUOTIENT), layers(PRODUCT)
    monkeypatch.setattr(merging, "_MOST_MISSES", 5)
    assert over_reals(before, after, brief=True)
    assert sum(questions) >= LAYERS
    after.graph.node[0].op_type = "Add"
    questions.clear()
    assert not over_reals(before, after, brief=True)
    assert len(questions) <= 2 * 5 + 1
