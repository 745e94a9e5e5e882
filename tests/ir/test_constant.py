from pathlib import Path
from typing import Any

import numpy as np
from onnx import AttributeProto, TensorProto, helper, numpy_helper
from straightline.ir import Operator, Tensor, constant_operator, constant_tensor
from tables import table


@table(
    ("value", numpy_helper.from_array(np.array([[7]], np.int16)), np.int16, (1, 1)),
    ("value_float", 1.5, np.float32, ()),
    ("value_floats", [1.5, 2], np.float32, (2,)),
    ("value_int", 3, np.int64, ()),
    ("value_ints", [3], np.int64, (1,)),
    ("value_string", "a", np.object_, ()),
    ("value_strings", ["a", "b"], np.object_, (2,)),
)
def test_every_attribute(name: str, value: Any, dtype: type, shape: tuple[int, ...]) -> None:
    tensor = constant_tensor(Operator.make("Constant", **{name: value}))
    assert tensor is not None
    assert tensor.numpy().dtype == dtype
    assert tensor.dims == tensor.numpy().shape == shape
    again = constant_tensor(constant_operator(tensor))
    assert again is not None
    np.testing.assert_array_equal(again.numpy(), tensor.numpy())


def test_empty_lists() -> None:
    message = helper.make_attribute("value_ints", [], attr_type=AttributeProto.INTS)
    tensor = constant_tensor(Operator("Constant", {"value_ints": message}))
    assert tensor is not None and tensor.dims == (0,)


def test_values_that_are_not_constant() -> None:
    reference = AttributeProto(name="value_int", type=AttributeProto.INT, ref_attr_name="k")
    assert constant_tensor(Operator("Constant", {"value_int": reference})) is None
    assert constant_tensor(Operator("Constant")) is None
    assert constant_tensor(Operator.make("Constant", value=3)) is None
    assert constant_tensor(Operator.make("Constant", value_strings=[b"a", b"\xff"])) is None
    values = helper.make_tensor("s", TensorProto.INT32, [1], [5])
    where = helper.make_tensor("", TensorProto.INT64, [1], [1])
    sparse = helper.make_sparse_tensor(values, where, [3])
    assert constant_tensor(Operator.make("Constant", sparse_value=sparse)) is None
    dense = constant_tensor(constant_operator(Tensor(sparse)))
    assert dense is not None and dense.numpy().tolist() == [0, 5, 0]


def test_external_elements_are_found_from_the_model_s_folder(tmp_path: Path) -> None:
    message = TensorProto(name="k", data_type=TensorProto.UINT8, dims=[2])
    message.data_location = TensorProto.EXTERNAL
    message.external_data.add(key="location", value="k.bin")
    (tmp_path / "k.bin").write_bytes(b"\1\2")
    tensor = constant_tensor(Operator.make("Constant", value=message), tmp_path)
    assert tensor is not None and tensor.numpy().tolist() == [1, 2]
