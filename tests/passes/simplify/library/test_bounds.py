import pytest
from simplified import operators


def clip(value, low, high, opset, numbers):
    if opset > 10:
        return f"Clip ({value}, {low}, {high})"
    return f"Clip <min = {numbers[low]}, max = {numbers[high]}> ({value})"


def left(first, second, opset, b="2", c="0.5"):
    numbers = {"a": "-1.0", "b": f"{b}.0", "c": c, "d": "3.0"}
    nodes = [
        f"Relu ({v})" if n == "Relu" else clip(v, *n, opset, numbers)
        for n, v in ((first, "x"), (second, "t"))
    ]
    text = "<float a = {-1}, float b = {%s}, float c = {%s}, float d = {3}>"
    constants = text % (b, c) if opset > 10 else ""
    return operators(
        f"{constants} {{ t = {nodes[0]} y = {nodes[1]} }}", exactness="reals", opset=opset
    )


@pytest.mark.parametrize("opset", [10, 13])
def test_bounds_of_bounds(opset):
    assert left("Relu", "ab", opset) == ["Clip"]
    assert left("ab", "Relu", opset) == ["Clip"]
    assert left("ab", "cd", opset) == ["Clip"]
    assert left("ab", "ab", opset) == ["Clip"]


@pytest.mark.parametrize("opset", [10, 13])
def test_bounds_without_a_number_between_all_stay(opset):
    assert left("Relu", "ab", opset, b="-1", c="0.5") == ["Relu", "Clip"]
    assert left("ab", "Relu", opset, b="-1", c="0.5") == ["Clip", "Relu"]
    assert left("ab", "cd", opset, c="2.5") == ["Clip", "Clip"]
    assert left("ba", "cd", opset) == ["Clip", "Clip"]


def test_bounds_that_only_run_time_knows_stay():
    text = "{ t = Relu (x) y = Clip (t, a, b) }"
    signature = "(float[N] x, float a, float b) => (float[N] y)"
    assert operators(text, signature, "reals") == ["Relu", "Clip"]
    text = "<float a = {-1}, float b = {2}> { t = Relu (x) y = Clip (t, a, b) }"
    assert operators(text, exactness="values") == ["Relu", "Clip"]
