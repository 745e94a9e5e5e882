import pytest
from operator_facts import M, N, cannot_fail, may_fail, tensor


@pytest.mark.parametrize("op_type", ["Softmax", "LogSoftmax", "Hardmax"])
def test_normalised_axes(op_type):
    cannot_fail(op_type, tensor(N, 1))
    cannot_fail(op_type, tensor(1, N), axis=0)
    may_fail("axis 0 of size N", op_type, tensor(N, 1), axis=0)
    cannot_fail(op_type, tensor(N, 1, 1), opset=12)
    may_fail("axis 1 of size N", op_type, tensor(1, 1, N), opset=12)
    cannot_fail(op_type, tensor(N, N, 1), opset=12, axis=2)
    may_fail("axis 0 of size N", op_type, tensor(1, N, 1), opset=12, axis=0)


def test_normalisations():
    statistics = [tensor(4)] * 4
    cannot_fail("BatchNormalization", tensor(N, 4, M), *statistics)
    may_fail("it trains", "BatchNormalization", tensor(N, 4), *statistics, training_mode=1)
    may_fail("the rank is below two", "BatchNormalization", tensor(4), *statistics)
    for wrong in range(4):
        given = [tensor(3) if k == wrong else tensor(4) for k in range(4)]
        reason = f"the shape of 'i{wrong + 1}' may not fit: 3 and 4"
        may_fail(reason, "BatchNormalization", tensor(N, 4), *given)
    cannot_fail("LayerNormalization", tensor(N, 3, 4), tensor(4), tensor(4))
    cannot_fail("LayerNormalization", tensor(N, 3, 4), tensor(3, 4), axis=1)
    may_fail("the shape of 'i1'", "LayerNormalization", tensor(N, 3, 4), tensor(3))
    may_fail("the shape of 'i2'", "LayerNormalization", tensor(N, 3, 4), tensor(4), tensor(3))
    may_fail("the wrong rank", "LayerNormalization", tensor(N, 3, 4), tensor(3, 4))
    cannot_fail("RMSNormalization", tensor(N, 3, 4), tensor(4))
    may_fail("the shape of 'i1'", "RMSNormalization", tensor(N, 3, 4), tensor(3))


def test_normalised_images():
    cannot_fail("InstanceNormalization", tensor(2, 4, 3), tensor(4), tensor(4))
    may_fail("axis 0 of size N", "InstanceNormalization", tensor(N, 4, 3), tensor(4), tensor(4))
    may_fail("fewer than three", "InstanceNormalization", tensor(2, 4), tensor(4), tensor(4))
    may_fail("of 'i2'", "InstanceNormalization", tensor(2, 4, 3), tensor(4), tensor(3))
    groups = "GroupNormalization"
    cannot_fail(groups, tensor(2, 4, 3), tensor(4), tensor(4), opset=21, num_groups=2)
    cannot_fail(groups, tensor(2, 4, 3), tensor(2), tensor(2), opset=18, num_groups=2)
    may_fail("of 'i1'", groups, tensor(2, 4, 3), tensor(2), tensor(2), opset=21, num_groups=2)
    may_fail("may not divide", groups, tensor(2, 4, 3), tensor(4), tensor(4), num_groups=3)


def test_norms():
    cannot_fail("LpNormalization", tensor(N, 4))
    cannot_fail("LpNormalization", tensor(3, N), axis=0, p=1)
    may_fail("axis 1 of size N", "LpNormalization", tensor(4, N))
    may_fail("axis 2 does not exist", "LpNormalization", tensor(4, 4), axis=2)
