"""When products of matrices cannot fail."""

from operator_facts import N, cannot_fail, may_fail, tensor


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
