"""Reads of one element of a value in each iteration."""

from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.iteration.loop_view import read
from straightline.passes.iteration.places import element_reads, moving_indices
from tables import table


def found(body, what=element_reads):
    """What is found in a loop over x of [N, 3], whose state u counts from two, two down."""
    constants = "<bool yes = {1}, int64 zero = {0}, int64 two = {2}, int64[1] k = {1}>"
    text = f"""g (float[N, 3] x, float[3] s) => (float[3] y) {constants} {{
        sh = Shape (x) m = Gather (sh, zero) one = Squeeze (k)
        t, v, y = Loop (m, yes, two, two, s) <body = b
                (int64 i, bool c, int64 u, int64 d, float[3] a)
                => (bool c2, int64 u2, int64 d2, float[3] r) {{
            c2 = Identity (c) u2 = Add (one, u) d2 = Sub (d, one) {body} }}> }}"""
    model = ir.load(as_model(text))
    node = next(n for n in model.graph.nodes() if n.is_op("Loop"))
    return what(read(node), ShapeInference(model))


@table(
    ("j = Identity (i)", "0", 1),
    ("j = Add (i, two)", "2", 1),
    ("j = Sub (i, two)", "-2", 1),
    ("j = Sub (two, i)", "2", -1),
    ("h = Sub (m, one) j = Sub (h, i)", "N - 1", -1),
    ("h = Sub (m, i) j = Sub (h, one)", "N - 1", -1),
    ("j = Identity (u)", "2", 1),
    ("j = Add (d, one)", "3", -1),
    ("h = Reshape (u, k) j = Squeeze (h)", "2", 1),
    ("j = Add (i, u)", None, None),
    ("j = Mul (i, two)", "0", 2),
    ("h = Add (i, one) j = Mul (two, h)", "2", 2),
    ("h = Neg (i) j = Mul (h, two)", "0", -2),
    ("j = Mul (i, i)", None, None),
    ("f = Cast <to = 1> (i) g0 = Floor (f) j = Cast <to = 7> (g0)", None, None),
)
def test_indices(index, start, step):
    known = found(f"{index} r = Identity (a)", moving_indices)
    (one,) = [known.get(v) for v in known if v.name == "j"] or [None]
    assert (None if one is None else (str(one.start), one.step)) == (start and (start, step))


@table(
    ("e = Gather (x, i)", 0, False),
    ("e = Gather <axis = -1> (x, i)", 1, False),
    ("j = Expand (i, k) e = Gather (x, j)", None, None),
    ("j = Reshape (i, k) e = Gather (x, j)", 0, True),
    ("j = Reshape (i, k) l = Add (j, k) e = Slice (x, j, l)", 0, True),
    ("j = Reshape (i, k) l = Add (j, k) e = Slice (x, j, l, k, k)", 1, True),
    ("j = Mul (i, two) e = Gather (x, j)", None, None),
    ("j = Reshape (i, k) h = Add (j, k) l = Add (h, k) e = Slice (x, j, l)", None, None),
    ("e = Gather (a, i)", None, None),
)
def test_reads(body, axis, keeps):
    reads = found(f"{body} f = ReduceSum <keepdims = 0> (e) r = Add (a, f)")
    expected = [] if axis is None else [(axis, keeps)]
    assert [(one.selection.axis, one.keeps_axis) for one in reads] == expected
    assert all(one.checked == one.node.is_op("Gather") for one in reads)


def test_an_unread_sequence_has_no_reads():
    assert found("e = Gather (x, i) r = Neg (a)") == []
