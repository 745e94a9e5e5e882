import pytest
from conversions import INTEGERS, assert_carried, converted


@pytest.mark.parametrize("type_", ["int8", "int16", "int32", "int64"])
def test_relu_of_integers(type_):
    fed = {"x": INTEGERS.astype(type_)}
    if type_ in ("int32", "int64"):
        assert_carried("y = Relu (x)", 14, (13, 12, 11), fed, f"{type_}[2, 3] x")
    assert converted("y = Relu (x)", 14, 13, f"{type_}[2, 3] x") == ["Max (x, 0)"]
    assert converted("y = Relu (x)", 14, 13) == ["Relu (x)"]
