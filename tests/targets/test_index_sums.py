import onnx
import pytest
from straightline import ir
from straightline.passes import PassContext
from straightline.passes.simplify.raising.algebra import Unreadable
from straightline.targets.index_sums import IndexReading, Names
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] a, float[3, 4] b, float[N] n, '
HEAD += "float[M] m, float[2, 1] c) => (y) <int64[1] last = {1}, float two = {2}>"


def read(nodes):
    """The axes and products of `y`, with the axes of its operands by name."""
    model = ir.load(onnx.parser.parse_model(f"{HEAD} {{ {nodes} }}"))
    inference = PassContext().inference(model)
    reading = IndexReading(lambda node: True, inference, {}, Names())
    return reading.of(model.graph.outputs[0])


def words(one):
    """A sum as text: axes are numbered as they come, summed ones are letters."""
    seen = {name: str(i) for i, name in enumerate(n for n in one.axes if n is not None)}
    spelled = []
    for number, atoms in one.products:
        inner, factors = dict(seen), []
        for value, axes, is_exp in sorted(atoms, key=lambda atom: atom.value.name):
            text = "".join(
                inner.setdefault(n, "ijk"[len(inner) - len(seen)]) for n in axes if n is not None
            )
            factors.append(f"{'exp ' * is_exp}{value.name}{text}")
        spelled.append(f"{number:g} {' '.join(factors)}")
    return " + ".join(spelled)


@table(
    ("y = MatMul (a, b)", "1 a0i bi1"),
    ('y = Einsum <equation = "ij,jk->ik"> (a, b)', "1 a0i bi1"),
    ("t = Transpose (a)  u = Transpose (t)  y = MatMul (u, b)", "1 a0i bi1"),
    ("p = Mul (a, c)  y = ReduceSum <keepdims = 0> (p, last)", "1 a0i c0"),
    ("s = Mul (a, two)  e = Exp (a)  y = Sub (s, e)", "2 a01 + -1 exp a01"),
    ("p = MatMul (a, b)  t = Transpose (b)  y = MatMul (p, t)", "1 a0i bij b1j"),
)
def test_products(nodes, expected):
    assert words(read(nodes)) == expected


@table(
    "t = Transpose (a)  y = MatMul (a, t)",  # one axis of a twice
    "y = Mul (n, m)",  # a size that may be 1
    "s = ReduceSum (a, last)  y = Add (a, s)",
    "s = ReduceSum (a, last)  y = Exp (s)",
    'y = Einsum <equation = "ij,jk"> (a, b)',
)
def test_unreadable(nodes):
    with pytest.raises(Unreadable):
        read(nodes)
