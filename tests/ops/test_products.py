from operator_facts import SHAPELESS, N, cannot_fail, may_fail, shape_said, shaped, tensor
from vectorized import assert_vectorizes, loop, numbers, vectorized


def test_products():
    cannot_fail("MatMul", tensor(N, 3), tensor(3, 4))
    cannot_fail("MatMul", tensor(3), tensor(3))
    cannot_fail("MatMul", tensor(2, N, 3), tensor(1, 3, 4))
    cannot_fail("MatMul", tensor(2, N, 3), tensor(3))
    for one, other, reason in (
        ((N, 3), (4, 3), "the inner sizes may not fit: 3 and 4"),
        ((3,), (4, 3), "the inner sizes may not fit: 3 and 4"),
        ((N, 3), (4,), "the inner sizes may not fit: 3 and 4"),
        ((2, N, 3), (3, 3, 4), "sizes that must broadcast may not fit: 2 and 3"),
        ((), (3,), "an operand is a scalar"),
        ((3,), (), "an operand is a scalar"),
    ):
        may_fail(reason, "MatMul", tensor(*one), tensor(*other))
    cannot_fail("Gemm", tensor(N, 3), tensor(3, 4), tensor(4))
    cannot_fail("Gemm", tensor(N, 3), tensor(3, 4), tensor(N, 1))
    cannot_fail("Gemm", tensor(3, N), tensor(3, 4), tensor(N, 4), transA=1)
    cannot_fail("Gemm", tensor(N, 3), tensor(4, 3), tensor(4), transB=1)
    may_fail("the inner sizes", "Gemm", tensor(N, 3), tensor(4, 3))
    may_fail("the inner sizes", "Gemm", tensor(N, 3), tensor(3, 4), transA=1)
    may_fail("the bias may not fit: 3 and 4", "Gemm", tensor(N, 3), tensor(3, 4), tensor(3))
    may_fail("the bias may not fit: 4 and N", "Gemm", tensor(N, 3), tensor(3, 4), tensor(4, 1))
    may_fail("'i0' may not have rank 2", "Gemm", tensor(2, N, 3), tensor(3, 4))


def test_products_of_small_integers():
    cannot_fail("MatMulInteger", tensor(N, 3), tensor(3, 4), tensor(), tensor(1))
    may_fail("exactly one", "MatMulInteger", tensor(N, 3), tensor(3, 4), tensor(N))
    may_fail("the inner sizes", "MatMulInteger", tensor(N, 3), tensor(4, 4))
    one = tensor()
    cannot_fail("QLinearMatMul", tensor(N, 3), one, one, tensor(3, 4), *[one] * 4)


def test_sums_of_products():
    cannot_fail("Einsum", tensor(2, 3), tensor(3, 4), equation="ij, jk -> ik")
    cannot_fail("Einsum", tensor(2, 3), equation="ij")
    for shapes, equation, reason in (
        ([(2, 3), (4, 4)], "ij,jk", "the sizes of j may not fit: 4 and 3"),
        ([(2, 3)], "ij,jk", "another number of terms"),
        ([(2, N)], "ij", "j of size N may be less than 1"),
        ([(2, 2)], "ii->i", "the term ii has"),
        ([(2, 3)], "...j->...", "the term ...j has"),
        ([(2, 3)], "i", "'i0' may not have rank 1"),
        ([(2, 3)], "ij->ijk", "one that no term has"),
        ([(2, 3)], "ij->ii", "a letter twice"),
    ):
        may_fail(reason, "Einsum", *[tensor(*shape) for shape in shapes], equation=equation)


def test_determinants():
    cannot_fail("Det", tensor(N, 3, 3))
    may_fail("the sides of a matrix may not fit", "Det", tensor(2, 3))
    may_fail("may have no matrices", "Det", tensor(3))
    may_fail("may be less than 1", "Det", tensor(N, N))


def test_a_gemm_has_two_axes_whatever_its_operands_are():
    assert shape_said("Gemm", SHAPELESS, shaped(5, 4), transB=1) == ["?", 5]
    assert shape_said("Gemm", shaped(3, 4), SHAPELESS, transA=1) == [4, "?"]
    assert shape_said("Gemm", SHAPELESS, SHAPELESS) == ["?", "?"]
    assert shape_said("Gemm", shaped(3), SHAPELESS) is None


def test_one_row_of_each_iteration_times_several_matrices():
    """The iterations are the rows of each matrix: two products, not two in each iteration."""
    declared = "float[N, 2, 1, 3] x, float[2, 3, 4] w, int64 n"
    text = loop("r = MatMul (e, w)", "float[2, 1, 4] r", declared)
    assert_vectorizes(text, {"x": numbers(5, 2, 1, 3), "w": numbers(2, 3, 4)})
    kinds = [node.op_type for node in vectorized(text).model.graph.node]
    product = kinds.index("MatMul")
    assert {"Transpose", "Squeeze"} <= set(kinds[:product])
    assert {"Transpose", "Unsqueeze"} <= set(kinds[product:])
