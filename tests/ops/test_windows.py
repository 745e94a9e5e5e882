import pytest
from operator_facts import M, N, cannot_fail, holding, may_fail, shape_said, shaped, tensor
from straightline.facts.fact import UNKNOWN
from tables import table


def test_convolutions():
    image, kernel = tensor(N, 4, 8, 8), tensor(6, 4, 3, 3)
    cannot_fail("Conv", image, kernel)
    cannot_fail("Conv", image, kernel, tensor(6))
    cannot_fail("Conv", image, kernel, kernel_shape=[3, 3])
    cannot_fail("Conv", image, tensor(6, 2, 3, 3), group=2)
    cannot_fail("Conv", image, tensor(6, 4, 8, 8))
    cannot_fail("Conv", image, tensor(6, 4, 10, 9), pads=[1, 0, 1, 1])
    cannot_fail("Conv", image, tensor(6, 4, 4, 3), dilations=[2, 3])
    for weight, more, how, reason in (
        ((6, 3, 3, 3), (), {}, "the channels may not fit: 4 and 3"),
        ((6, 4, 3, 3), (), {"group": 2}, "the channels may not fit: 4 and 8"),
        ((5, 2, 3, 3), (), {"group": 2}, "the groups may not divide the channels"),
        ((6, 4, 3, 3), (tensor(5),), {}, "the bias may not fit: 5 and 6"),
        ((6, 4, 3, 3), (), {"kernel_shape": [3, 2]}, "the kernel may not fit: 3 and 2"),
        ((6, 4, 9, 3), (), {}, "the kernel may not fit 8 elements"),
        ((6, 4, 3, 9), (), {"pads": [1, 0, 1, 0]}, "the kernel may not fit 8 elements"),
        ((6, 4, 5, 3), (), {"dilations": [2, 1]}, "the kernel may not fit 8 elements"),
        ((6, 4, 0, 3), (), {}, "the kernel of size 0 may be less than 1"),
        ((6, 4, 3), (), {}, "'i0' may not have rank 3"),
    ):
        may_fail(reason, "Conv", image, tensor(*weight), *more, **how)
    may_fail("the weight has too few axes", "Conv", tensor(N, 4), tensor(6, 4))
    cannot_fail("Conv", tensor(N, 4, 8), tensor(6, 4, 3))


@pytest.mark.parametrize("op_type", ["MaxPool", "AveragePool"])
def test_pools(op_type):
    cannot_fail(op_type, tensor(N, M, 8), kernel_shape=[8])
    cannot_fail(op_type, tensor(N, M, 8), kernel_shape=[9], pads=[0, 1])
    cannot_fail(op_type, tensor(N, M, N + 2), kernel_shape=[2])
    may_fail("the kernel may not fit 8 elements", op_type, tensor(N, M, 8), kernel_shape=[9])
    reason = "axis 2 of size N may be less than 1"
    may_fail(reason, op_type, tensor(N, M, N), kernel_shape=[1], pads=[1, 1])
    may_fail("'i0' may not have rank 4", op_type, tensor(N, M, 8), kernel_shape=[1, 1])


@pytest.mark.parametrize("op_type", ["GlobalAveragePool", "GlobalMaxPool"])
def test_pools_over_everything(op_type):
    cannot_fail(op_type, tensor(N, M, 1, 8))
    may_fail("axis 3 of size N may be less than 1", op_type, tensor(N, M, 1, N))
    may_fail("axis 2 of size N may be less than 1", op_type, tensor(N, M, N, 1))


def test_transposed_convolutions():
    image, kernel = tensor(N, 4, 8, 9), tensor(4, 6, 3, 2)
    cannot_fail("ConvTranspose", image, kernel, tensor(6))
    cannot_fail("ConvTranspose", image, tensor(4, 3, 3, 2), tensor(6), group=2)
    cannot_fail("ConvTranspose", image, kernel, strides=[2, 1], output_padding=[1, 0])
    for reason, more in {
        "the strides, dilations or pads do not fit the kernel": {"output_padding": [1, 0]},
        "the groups may not divide the channels": {"group": 3},
        "the kernel may not fit": {"kernel_shape": [3, 3]},
        "axis 2 of the output of size -2 may be": {"pads": [6, 0, 6, 0]},
    }.items():
        may_fail(reason, "ConvTranspose", image, kernel, **more)
    may_fail("the channels may not fit", "ConvTranspose", image, tensor(6, 4, 3, 2))
    may_fail("the bias may not fit", "ConvTranspose", image, kernel, tensor(4))
    assert shape_said("ConvTranspose", shaped(2, 4, 8), shaped(4, 6, 3), group=2) == [2, 12, 10]
    how = {"strides": [3], "dilations": [2], "output_padding": [1], "pads": [1, 2]}
    assert shape_said("ConvTranspose", shaped(2, 4, 8), shaped(4, 6, 3), **how) == [2, 6, 24]
    assert shape_said("ConvTranspose", shaped(2, 4, 8), shaped(4, 6, 3), auto_pad="VALID") is None


@table(
    ((N, 3, M, 8), {}, [N, 3, M, 8]),
    ((M, 8), {"axes": [3, -2]}, [N, 3, 8, M]),
    ((N - M, 8), {"axes": [2, 3]}, [N, 3, "?", 8]),
    ((M, 8), {"axes": [2, 4]}, None),
    ((M, 8), {}, None),
    ((M, 8), {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}, None),
)
def test_sizes_of_what_is_resized(sizes, attributes, wanted):
    data = shaped(N, 3, M, M)
    assert shape_said("Resize", data, UNKNOWN, UNKNOWN, holding(*sizes), **attributes) == wanted
    assert shape_said("Resize", data, UNKNOWN, UNKNOWN) is None
