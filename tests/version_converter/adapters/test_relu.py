import pytest
from conversions import INTEGERS, assert_carried, assert_refuses, assert_there_and_back, converted
from tables import cases


@pytest.mark.parametrize("type_", ["int8", "int16", "int32", "int64"])
def test_relu_of_integers(type_):
    fed = {"x": INTEGERS.astype(type_)}
    if type_ in ("int32", "int64"):
        assert_carried("y = Relu (x)", 14, (13, 12, 11), fed, f"{type_}[2, 3] x")
    assert converted("y = Relu (x)", 14, 13, f"{type_}[2, 3] x") == ["Max (x, 0)"]
    assert converted("y = Relu (x)", 14, 13) == ["Relu (x)"]


test_there_and_back = cases(
    assert_there_and_back, ("a = Cast <to = 6> (x) y = Relu (a)", "int32[2, 3]", 14, (9, 13))
)


def test_the_type_must_be_known():
    reason = "Relu before opset 14 needs the one element type of input 0, which is not known"
    assert_refuses("y = Relu (x)", 14, 13, reason, "x")
