import numpy as np
import pytest
from certificates import assert_none, of_text
from forged import accepted
from onnx.reference import ReferenceEvaluator
from pairs import pairs
from straightline.verification.certificate_check import check, replayed
from straightline.verification.checker.rows import ROWS
from straightline.verification.checker.rules import RULES

FLOATS = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 3e38, 1e-45], np.float32)
VALUES = {"float": FLOATS, "int64": np.array([0, 1, -1, 2**63 - 1]), "bool": np.array([0, 1], bool)}
KINDS = {name: {"float", "int64"} for name in ("Mul", "Div", "Sub", "Add", "Neg", "Where")}
KINDS |= {name: {"bool"} for name in ("And", "Or", "Not", "Xor")}
KIND_OF = {"q": "bool"}
KINDS |= {"Identity": {"float", "int64", "bool"}}


def names_in(pattern):
    """Names of a pattern, in order."""
    if isinstance(pattern, str):
        return [pattern]
    parts = pattern[1:] if isinstance(pattern, tuple) else ()
    return list(dict.fromkeys(name for part in parts for name in names_in(part)))


def kinds_of(row):
    """Element types of which a row is."""
    words = {"floats x": {"float"}, "integers x": {"int64"}}
    allowed = [words[word] for word in row.conditions if word in words]
    return sorted(KINDS[row.pattern[0]].intersection(*allowed))


def written(pattern, kind, nodes, constants):
    """Name of the value of a pattern, whose nodes are written."""
    if isinstance(pattern, str):
        return pattern
    if not isinstance(pattern, tuple):
        name = f"k{len(constants)}"
        constants.append(f"{kind} {name} = {{{int(pattern) if kind != 'float' else pattern}}}")
        return name
    kinds = ["bool" if pattern[0] == "Where" else kind, *[kind] * len(pattern)]
    parts = [written(*each, nodes, constants) for each in zip(pattern[1:], kinds, strict=False)]
    nodes.append(f"n{len(nodes)} = {pattern[0]} ({', '.join(parts)})")
    return f"n{len(nodes) - 1}"


def models(row, kind, shape="[n, 2]"):
    """Models of both sides of a row."""
    inputs = ", ".join(f"{KIND_OF.get(n, kind)}{shape} {n}" for n in names_in(row.pattern))
    texts = []
    for pattern in (row.pattern, row.result):
        nodes, constants = [], []
        end = written(pattern, kind, nodes, constants)
        declarations = f"<{', '.join(constants)}>" if constants else ""
        texts.append(
            f"g ({inputs}) => (out) {declarations} {{ {' '.join(nodes)} out = Identity ({end}) }}"
        )
    return [of_text(text, 20) for text in texts]


OF_FLOATS = [row for row in ROWS if row.notion != "reals" and row.pattern[0] in KINDS]
"""Rows of single elements; the others are in test_rules."""
CASES = [(row, kind) for row in OF_FLOATS for kind in kinds_of(row)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("row", "kind"), CASES, ids=[f"{r.name}-{k}" for r, k in CASES])
def test_both_sides_are_equal_on_all_small_values(row, kind):
    pair, names = models(row, kind), names_in(row.pattern)
    values = [VALUES[KIND_OF.get(name, kind)] for name in names]
    columns = [grid.reshape(-1) for grid in np.meshgrid(*values, indexing="ij")]
    feeds = {name: np.stack([column] * 2, 1) for name, column in zip(names, columns, strict=True)}
    one, other = (ReferenceEvaluator(model).run(None, feeds)[0] for model in pair)
    assert one.dtype == other.dtype and one.shape == other.shape
    assert np.array_equal(one, other, equal_nan=kind == "float")
    if row.notion == "bits" and kind == "float":
        assert (np.signbit(one) == np.signbit(other))[~np.isnan(one)].all()


@pytest.mark.parametrize("row", OF_FLOATS, ids=[row.name for row in OF_FLOATS])
def test_each_row_is_derived(row):
    for kind in kinds_of(row):
        replay = replayed(*models(row, kind), {}, None, row.notion)
        applications = [replay.models.before.log[-2].term]
        derived = [replay.derive(row.name, term) for term in applications]
        assert derived != [None] and RULES[row.name].kind == row.kind
        (right,) = [replay.models.after.outputs["out"]]
        node = replay.terms.nodes[right]
        assert replay.terms.find(derived[0]) == replay.terms.find(node.args[0])


@pytest.mark.parametrize("name", ["times-one", "plus-negative-zero", "choice-by-true"])
def test_an_operand_of_another_shape_is_not_the_result(name):
    (row,) = [row for row in ROWS if row.name == name]
    before, after = models(row, "float", "[n]")
    before.graph.initializer[0].dims[:] = [1, 1]
    assert_none(before, after)


def test_a_name_that_stands_twice_is_one_term():
    text = "g (float[n] x, float[n] w) => (y) {{ a = Softplus ({}) b = Tanh (a) y = Mul (x, b) }}"
    mish = "g (float[n] x, float[n] w) => (y) { y = Mish (x) }"
    pair = [of_text(each, 18) for each in (mish, text.format("x"))]
    from certificates import certificate

    assert check(certificate(*pair), *pair).assumptions == (
        "Mish gives the same bits as its definition",
    )
    assert_none(pair[0], text.format("w"))


NOT_ROUNDED = pairs("""
# another number
(float[n, 2] x)
- <float k = {3}> { y = Div (x, k) }
+ <float k = {0.33}> { y = Mul (k, x) }
# a number of its own
(float[n, 2] x)
- { y = Identity (x) }
+ <float k = {1.0000001}> { y = Mul (k, x) }
# a function of itself
(float[n, 2] x)
- { y = Identity (x) }
+ <float k = {1.0000001}, float d = {0.9999999}> { c = Mul (k, d) r = Mul (x, k) y = Mul (r, d) }
# a sum that cancels
(float[n, 2] x)
- <float a = {1}, float b = {0.99999994}> { s = Sub (x, b) y = Add (s, a) }
+ <float k = {0.0000000596}> { y = Add (x, k) }
# factors of rows
(float[2, 2] x, float[2, 2] w, float[2, 1] k) {
- p = MatMul (x, w) y = Mul (p, k) }
+ v = Mul (w, k) y = MatMul (x, v) }
# factors of a vector
(float[2, 2] x, float[2] w, float[2] k) {
- p = MatMul (x, w) y = Mul (p, k) }
+ v = Mul (w, k) y = MatMul (x, v) }
# rows for two functions
(float[n, 1] x)
- <float[1, 2] v = {1, 1}, float k = {0.1}, float[1, 2] w = {1.0000001, 1.0000001}> {
a = MatMul (x, v) p = Mul (a, k) b = MatMul (x, w) q = Mul (b, k) y = Concat <axis = 1> (p, q) }
+ <float[1, 3] v = {0.1, 0.1, 0.1}, int64[4] i = {0, 1, 1, 2}> {
p = MatMul (x, v) y = Gather <axis = 1> (p, i) }
# two numbers with one rounding
(float[n, 2] x)
- <float a = {1}, float b = {1e-9}, float c = {2e-9}> { s = Add (a, b) t = Add (a, c) p = Mul (x, s)
q = Exp (x) r = Mul (q, t) y = Sub (p, r) }
+ <float k = {1.0000001}, float a = {1}> { p = Mul (x, k) q = Exp (x) r = Mul (q, k)
y = Sub (p, r) }
""")


@pytest.mark.parametrize("case", NOT_ROUNDED)
def test_no_constant_of_the_rewrite_is_rounded_from_two_numbers(case):
    texts = [f"g {text.replace(')', ') => (y)', 1)}" for text in NOT_ROUNDED[case][:2]]
    pair = [of_text(text, 18) for text in texts]
    assert not accepted(*pair, {}, "reals") and not accepted(*pair[::-1], {}, "reals")
