import numpy as np
import onnx
import pytest
from straightline.facts.fact import (
    MAX_CONTENT,
    Fact,
    Symbols,
    as_content,
    constant_fact,
    content_from,
    decided,
    element,
    integers,
    is_named,
    length_of,
    vector,
)
from straightline.facts.polynomial import Dimension
from straightline.ir import Tensor
from tables import table


def tensor_type(*dims):
    return onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, dims)


def test_declared_types():
    symbols = Symbols()
    fact = symbols.fact(tensor_type(2, "N", None, 0))
    assert fact.shape[:2] == (Dimension.constant(2), Dimension.symbol("N"))
    assert not is_named(fact.shape[2])
    assert fact.shape[3] == 0
    assert symbols.fact(None).shape is None
    assert symbols.fact(onnx.helper.make_tensor_type_proto(1, None)).shape is None


@pytest.mark.parametrize("dim", [-1, "?", "?0", "?1"])
def test_sizes_that_are_declared_as_unknown_have_no_name(dim):
    symbols = Symbols()
    made = symbols.fresh()
    first, second = symbols.fact(tensor_type(dim, dim)).shape
    assert len({made, first, second}) == 3


def test_text_of_a_dimension_is_read_back():
    symbols = Symbols()
    total = symbols.named("N") + 5
    symbols.remember((total,))
    assert symbols.fact(tensor_type(str(total)), inferred=True).shape == (total,)


def test_type_messages():
    n = Dimension.symbol("N")
    symbols = Symbols()
    fact = Fact(onnx.TensorProto.FLOAT, (n + 1, symbols.fresh(), Dimension.constant(0), n - n - 1))
    shown = [
        d.dim_param or d.dim_value for d in fact.type_proto(private=False).tensor_type.shape.dim
    ]
    assert shown[0] == "N + 1"
    assert shown[1:3] == [0, 0]
    assert not fact.type_proto(private=False).tensor_type.shape.dim[1].HasField("dim_value")
    assert Fact().type_proto() is None


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.bool_])
def test_content_of_constants(dtype):
    array = np.array([[1, 0], [1, 1]], dtype)
    fact = constant_fact(Tensor(array=array))
    np.testing.assert_array_equal(decided(fact), array)
    assert decided(fact).dtype == dtype


def test_constants_that_are_not_tracked():
    assert constant_fact(Tensor(array=np.ones(2, np.float32))).content is None
    assert constant_fact(Tensor(array=np.ones(MAX_CONTENT + 1, np.int64))).content is None
    unsure = Fact(onnx.TensorProto.INT64, (), as_content(np.array(1)))
    unsure.content[()] = Dimension.symbol("N")
    assert decided(unsure) is None


def holding(array, elem_type=onnx.TensorProto.INT64):
    return Fact(elem_type, None, as_content(np.array(array)))


def test_elements_as_integers():
    found = integers(holding([True, False], onnx.TensorProto.BOOL))
    assert found.dtype == np.int64 and found.tolist() == [1, 0]
    assert integers(holding([[3], [4]], onnx.TensorProto.INT32)).tolist() == [[3], [4]]
    assert integers(Fact(onnx.TensorProto.INT64)) is None


def test_elements_of_a_vector_and_of_a_number():
    fact = holding([3, 4])
    fact.content[1] = None
    assert vector(fact) == [3, None]
    assert vector(holding(3)) is None and vector(holding([[3]])) is None and vector(Fact()) is None
    assert element(holding(3)) == 3 and element(holding([[3]])) == 3
    assert element(fact) is None and element(Fact()) is None


def test_content_from_elements():
    n = Dimension.symbol("N")
    assert content_from([n, None]).tolist() == [n, None]
    assert content_from([]).shape == (0,)
    assert content_from(n).shape == () and content_from(n).item() is n
    array = np.array([[n]], object)
    assert content_from(array) is array


def test_elements_as_sizes():
    n = Dimension.symbol("N")
    sizes = Symbols().sizes([n, Dimension.constant(0), n - 1, Dimension.constant(-1), None])
    assert sizes[:2] == (n, 0)
    assert len({*sizes[2:]}) == 3 and not any(is_named(size) for size in sizes[2:])


def test_how_long_sizes_are():
    n = Dimension.symbol("N")
    assert length_of(Fact(1, (n, n * n + n + 1, Dimension.constant(7)))) == 4
    assert length_of(Fact(1, None)) == length_of(Fact()) == 0


def test_the_length_counts_what_abbreviations_tell():
    total = sum((Dimension.symbol(f"s{k}") for k in range(10_000)), Dimension.constant(3))
    assert len(total.terms) < 1000
    assert length_of(Fact(1, (total,))) > 10_000 // 64


N = Dimension.symbol("N")


@table(
    (Fact(1), Fact(), True),
    (Fact(1, (N,)), Fact(1), True),
    (Fact(1), Fact(1, (N,)), False),
    (Fact(1, (N, Dimension.constant(3))), Fact(1, (N, N)), True),
    (Fact(1, (Dimension.symbol("?1"),)), Fact(1, (Dimension.symbol("?2"),)), False),
    (Fact(1, (N,)), Fact(1, (Dimension.symbol("?2"),)), True),
    (Fact(1, (Dimension.constant(2),)), Fact(1, (Dimension.constant(3),)), True),
    (Fact(7, (), content_from(N)), Fact(7, ()), True),
    (Fact(7, (), content_from(N)), Fact(7, (), content_from(None)), True),
    (Fact(7, (), content_from(None)), Fact(7, (), content_from(N)), False),
    (Fact(count=2), Fact(), True),
)
def test_facts_that_tell_more(new, old, more):
    assert new.tells_more(old) is more


def test_facts_of_the_same_sizes():
    one, other = content_from(N), content_from(Dimension.symbol("?1"))
    facts = [Fact(7, (), one), Fact(7, (), content_from(N)), Fact(7, (), other), Fact(7, (), None)]
    assert [facts[0].has_sizes_of(fact) for fact in facts] == [True, True, False, False]
    assert not Fact(1, (N,)).has_sizes_of(Fact(1, (N, N)))
