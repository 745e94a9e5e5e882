import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs, run_passes
from loops import op_types
from straightline.passes import RaiseRecurrences

RNG = np.random.default_rng(3)
SHAPES = {"w": (3, 4), "v": (3, 4), "y": (3, 4), "r": (4, 4), "u": (4, 4), "q": (4, 4), "b": (4,)}
CONSTANTS = {name: RNG.normal(size=shape) * 0.4 for name, shape in SHAPES.items()}
CONSTANTS = {name: array.astype(np.float32) for name, array in CONSTANTS.items()}
RNN = "{n}x = MatMul ({e}, w) {n}y = MatMul ({h}, r) {n}z = Add ({n}x, {n}y) {o} = Tanh ({n}z) "
OTHER = RNN.replace(", r)", ", u)")
GATED = (
    RNN.replace("{o} = Tanh ({n}z)", "{n}g = Sigmoid ({n}z)")
    + "{n}o = MatMul ({e}, v) {n}j = MatMul ({h}, u) {n}w = Add ({n}o, {n}j) {n}f = Sigmoid ({n}w)"
    " {n}p = MatMul ({h}, q) {n}a = Add ({n}p, b) {n}u = Mul ({n}f, {n}a) {n}m = MatMul ({e}, y)"
    " {n}q = Add ({n}m, {n}u) {n}t = Tanh ({n}q) {n}k = Sub (one, {n}g) {n}v = Mul ({n}k, {n}t)"
    " {n}s = Mul ({n}g, {h}) {o} = Add ({n}v, {n}s) "
)
CHAINS = ("h1", "h2", "h3")


def model_of(cells, rows="p = Mul (i, count)", outputs=True):
    """A Loop with a step of a cell for each text of `cells`, which reads its own row."""
    steps = len(cells)
    names = ["h", *CHAINS[: steps - 1], "n"]
    body = f"{rows} p0 = Identity (p) "
    for at, cell in enumerate(cells):
        body += f"k{at} = Constant <value = int64 {{{at}}}> () p{at}_ = Add (p0, k{at}) "
        body += f"e{at} = Gather <axis = 0> (x, p{at}_) "
        body += cell.format(n=f"s{at}", e=f"e{at}", h=names[at], o=names[at + 1])
    given = names[1:] if outputs else []
    results = "".join(f", float[2,4] {name}_" for name in given)
    body += "".join(f"{name}_ = Identity ({name}) " for name in given)
    stacks = "".join(f", float[R,2,4] {name}s" for name in given)
    names_out = ", ".join(["last", *(f"{name}s" for name in given)])
    text = f"""g (float[T,2,3] x, float[2,4] h0, int64 size) => (float[2,4] last{stacks})
    <int64 count = {{{steps}}}, float one = {{1}}, bool yes = {{1}}> {{
    {names_out} = Loop (size, yes, h0) <body = b (int64 i, bool c, float[2,4] h)
    => (bool c2, float[2,4] n{results}) {{ c2 = Identity (c) {body} }}> }}"""
    model = as_model(text)
    for name, array in CONSTANTS.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def assert_raised(model, op_type, steps):
    result = run_passes(model, RaiseRecurrences())
    operators = list(op_types(result.model.graph))
    assert op_type in operators and "Loop" not in operators, result.remarks
    rng = np.random.default_rng(1)
    for length in (0, 1, 2, 3, 9):
        x = rng.normal(size=(length * steps, 2, 3)).astype(np.float32)
        feeds = {"x": x, "h0": CONSTANTS["r"][:2], "size": np.array(length)}
        assert_equal_outputs(model, result.model, feeds, atol=1e-5)


@pytest.mark.parametrize(("cell", "op_type"), [(RNN, "RNN"), (GATED, "GRU")])
@pytest.mark.parametrize("steps", [2, 3, 4])
def test_equal_steps(cell, op_type, steps):
    """The rows of all steps are those of one operator; every step's value is an output."""
    assert_raised(model_of([cell] * steps), op_type, steps)


def test_the_last_value_alone():
    assert_raised(model_of([RNN] * 2, outputs=False), "RNN", 2)


def test_rows_that_are_no_neighbours():
    """The rows of two steps, backward or far from each other, are stacked."""
    places = "m = Sub (size, i) m1 = Sub (m, one_) p = Mul (m1, count)"
    rows = "one_ = Constant <value = int64 {1}> () " + places
    assert_raised(model_of([RNN] * 2, rows), "RNN", 2)


@pytest.mark.parametrize("cells", [[RNN, OTHER], [RNN, GATED], [RNN.replace("Tanh", "Sin")] * 2])
def test_steps_that_stay(cells):
    """Other weights in the second step, another cell, and steps that are no cell."""
    result = run_passes(model_of(cells), RaiseRecurrences())
    assert "Loop" in list(op_types(result.model.graph))
    assert not result.changed


def test_exact_passes_keep_them():
    assert not run_passes(model_of([RNN] * 2), RaiseRecurrences(exact=True)).changed
