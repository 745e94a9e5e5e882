import numpy as np
import pytest
from onnx import TensorProto as T
from straightline.definitions import Case, Signature, Unfit
from straightline.ir import Operator


def case(elem_types=(T.FLOAT, None, 0), shapes=((2, None), None, None), constant=lambda i: None):
    signature = Signature(Operator.make("Op", "a"), elem_types, shapes, [True], constant)
    return Case(signature, {"x": 0, "b": 1, "z": 2, "w": 3}, {"alpha": 2.0}, frozenset("y"))


def test_operands_by_name():
    one = case()
    assert one.has("x") and not one.has("b") and one.has("z") and not one.has("w")
    assert one["alpha"] == 2.0 and one.outputs == {"y"}
    assert one.elem_type("x") == T.FLOAT and one.is_typed("x", "double", "floats")
    assert not one.is_typed("x", "integers")
    assert (one.rank("x"), one.known_size("x", 0), one.size("x", -1)) == (2, 2, None)
    assert one.size("x", 2) is None


def test_reads_of_sizes_and_constants_are_recorded():
    one = case()
    one.rank("x")
    assert not one.reads_sizes and not one.reads_constants
    assert one.constant("b") is None
    one.size("x", 0)
    assert one.reads_sizes and one.reads_constants
    numbers = np.arange(3)
    assert case(constant=[numbers, None, None].__getitem__).constant("x") is numbers


def test_unknown_facts_are_unfit():
    one = case()
    for ask in (
        lambda: one.elem_type("z"),
        lambda: one.rank("z"),
        lambda: one.known_size("x", 1),
        lambda: one.unfit("why"),
    ):
        with pytest.raises(Unfit):
            ask()
