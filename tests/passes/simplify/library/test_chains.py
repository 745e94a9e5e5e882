import pytest
from simplified import operators
from tables import table


@pytest.mark.parametrize("opset", [12, 17])
def test_a_scalar_that_is_gathered_and_unsqueezed(opset):
    axes = ("<axes = [0]> (t)", "(t, a)")[opset > 12]
    nodes = f"s = Shape (x) t = Gather (s, i) y = Unsqueeze {axes}"
    text = f"<int64 i = {{1}}, int64[1] a = {{0}}> {{ {nodes} }}"
    sizes = "(float[N, 3] x) => (int64[M] y)"
    assert operators(text, sizes, opset=opset) == ["Shape", "Gather"]


def test_a_slice_of_one_element():
    text = """<int64[1] s = {%d}, int64[1] e = {%d}, int64[1] a = {1}> {
        t = Slice (x, s, e, a) y = Squeeze (t, a) }"""
    signature = "(float[N, 3] x) => (float[N] y)"
    assert operators(text % (2, 3), signature) == ["Gather"]
    assert operators(text % (-1, 2**40), signature) == ["Gather"]
    assert operators(text % (0, 2**40), "(float[N, M] x) => (y)") == ["Slice", "Squeeze"]


def test_concats_along_one_axis_are_one():
    text = "{ t = Concat <axis = 1> (x, x) y = Concat <axis = %d> (x, t, x) }"
    assert operators(text % 1) == ["Concat"]


@table(
    ("t = Exp (x) y = Concat <axis = 1> (t, e)", ["Exp"]),
    ("t = Exp (x) y = Concat <axis = -1> (e, t)", ["Exp"]),
    ("t = Exp (x) y = Concat <axis = 1> (x, e, t, e)", ["Exp", "Concat"]),
    ("y = Concat <axis = 1> (e, e)", ["Shape", "Concat", "ConstantOfShape"]),
    ("y = Concat <axis = 0> (x, r)", ["Slice", "Concat"]),  # no element only where N is below 3
)
def test_parts_without_elements(nodes, left):
    constants = "<int64[1] zero = {0}, int64[1] two = {2}, int64[1] last = {9}>"
    split = "n = Shape <end = 1> (x) s = Concat <axis = 0> (n, zero) e = ConstantOfShape (s)"
    text = f"{constants} {{ {split} r = Slice (x, two, last, zero) {nodes} }}"
    assert operators(text) == left


def test_a_second_relu():
    assert operators("{ t = Relu (x) u = Relu (t) y = Relu (u) }") == ["Relu"]


@pytest.mark.parametrize("opset", [11, 17])
def test_axes_are_inserted_and_removed_at_once(opset):
    forms = ("{0} <axes = [{2}]> ({1})", "{0} ({1}, a{2})")
    node = forms[opset > 12].format
    constants = "<int64[1] a0 = {0}, int64[1] a1 = {1}>"
    inserted = f"t = {node('Unsqueeze', 'x', 1)} y = {node('Unsqueeze', 't', 0)}"
    assert operators(f"{constants} {{ {inserted} }}", opset=opset) == ["Unsqueeze"]
    removed = f"t = {node('Squeeze', 'x', 0)} y = {node('Squeeze', 't', 1)}"
    signature = "(float[1, N, 1] x) => (float[N] y)"
    assert operators(f"{constants} {{ {removed} }}", signature, opset=opset) == ["Squeeze"]


def test_slices_along_different_axes():
    bounds = "<int64[1] s = {1}, int64[1] e = {3}, int64[1] a = {0}, int64[1] b = {%d}>"
    text = bounds + " { t = Slice (x, s, e, a) y = Slice (t, s, e, b) }"
    assert operators(text % 1) == ["Slice"] and operators(text % -1) == ["Slice"]
    assert operators(text % 0) == ["Slice", "Slice"]


def test_slices_along_different_axes_of_an_opset_without_steps():
    text = """{ t = Slice <starts = [1], ends = [3], axes = [0]> (x)
        y = Slice <starts = [-2], ends = [3], axes = [1]> (t) }"""
    assert operators(text, opset=9) == ["Slice"]


@table(("ReduceMean", 17), ("ReduceSum", 17), ("ReduceMax", 11))
def test_reductions_keep_or_drop_axes(op_type, opset):
    reduce = f"{op_type} <axes = [-1], keepdims = %d> (x)"
    if (op_type, opset) == ("ReduceSum", 17):
        reduce = "ReduceSum <keepdims = %d> (x, a)"
    moved = "(t, a)" if opset > 12 else "<axes = [1]> (t)"
    text = f"<int64[1] a = {{1}}> {{ t = {reduce} y = %s {moved} }}"
    assert operators(text % (1, "Squeeze"), opset=opset) == [op_type]
    assert operators(text % (0, "Unsqueeze"), opset=opset) == [op_type]
    other = text.replace("= {1}", "= {0}").replace("[1]> (t)", "[0]> (t)")
    if op_type != "ReduceSum":
        assert operators(other % (0, "Unsqueeze"), opset=opset) == [op_type, "Unsqueeze"]


@pytest.mark.parametrize("op_type", ["Max", "Min", "Prod", "Sum", "Mean"])
@pytest.mark.parametrize("keeps", [0, 1])
def test_reductions_of_one_element(op_type, keeps):
    node = f"Reduce{op_type} <axes = [1], keepdims = {keeps}> (x)"
    text = f"{{ t = {node} y = Relu (t) }}"
    left = [*([] if keeps else ["Squeeze"]), "Relu"]
    exactness = "bits" if op_type in ("Max", "Min", "Prod") else "values"
    assert operators(text, "(float[N, 1] x) => (y)", exactness, 11) == left
    if exactness == "values":  # 0 + -0.0 is 0.0
        assert len(operators(text, "(float[N, 1] x) => (y)", "bits", 11)) == 2
    assert operators(text, "(float[N, M] x) => (y)", "reals", 11) == [f"Reduce{op_type}", "Relu"]


def test_a_mean_over_one_pixel():
    text = "{ t = GlobalAveragePool (x) y = Relu (t) }"
    assert operators(text, "(float[N, M, 1, 1] x) => (y)", "reals") == ["Relu"]
    assert len(operators(text, "(float[N, M, 1, 2] x) => (y)", "reals")) == 2


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax"])
@pytest.mark.parametrize("opset", [11, 17])
def test_the_largest_element_without_a_softmax(op_type, opset):
    text = f"{{ t = {op_type} <axis = %d> (x) y = ArgMax <axis = %d, keepdims = 0> (t) }}"
    signature = "(float[N, 3, 4] x) => (y)"
    assert operators(text % (2, -1), signature, "reals", opset) == ["ArgMax"]
    assert operators(text % (2, -1), signature, "values", opset) == [op_type, "ArgMax"]
    assert operators(text % (2, 1), signature, "reals", opset) == [op_type, "ArgMax"]
    left = ["ArgMax"] if opset > 12 else [op_type, "ArgMax"]  # below 13 over a matrix
    assert operators(text % (1, 1), signature, "reals", opset) == left
