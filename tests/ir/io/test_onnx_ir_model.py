import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx_ir
import pytest
from straightline import ir
from straightline.ir import LoadError
from straightline.ir.io import onnx_ir_model

TEXT = """<ir_version: 10, opset_import: ["": 21]>
main (float[3] x) => (float[3] y) <float[3] w = {1, 2, 3}> { y = Add(x, w) }"""


def external(folder: Path) -> Path:
    path = folder / "external.onnx"
    proto = onnx.parser.parse_model(TEXT)
    weights = onnx.numpy_helper.to_array(proto.graph.initializer[0])
    proto.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(weights, "w"))
    onnx.save(proto, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    return path


def test_there_and_back() -> None:
    model = onnx_ir_model.from_proto(onnx.parser.parse_model(TEXT), None)
    assert [node.op_type for node in onnx_ir_model.to_proto(model).graph.node] == ["Add"]
    assert onnx_ir_model.base_dir_of(model) is None


def test_the_folder_of_external_data(tmp_path: Path) -> None:
    model = onnx_ir_model.from_proto(
        onnx.load(external(tmp_path), load_external_data=False), tmp_path
    )
    assert onnx_ir_model.base_dir_of(model) == tmp_path


def test_keeps_external_data_where_it_is(tmp_path: Path) -> None:
    source = onnx_ir.load(external(tmp_path))
    model = ir.load(source)
    (weights,) = model.graph.initializers.values()
    assert weights.is_external
    assert weights.numpy().tolist() == [1, 2, 3]
    answer = ir.in_kind(model, source)
    assert isinstance(answer, onnx_ir.Model)
    tensor = answer.graph.initializers["w"].const_value
    assert isinstance(tensor, onnx_ir.ExternalTensor)
    assert np.asarray(tensor.numpy()).tolist() == [1, 2, 3]


def test_with_data_in_two_folders(tmp_path: Path) -> None:
    source = onnx_ir.load(external(tmp_path))
    tensor = source.graph.initializers["w"].const_value
    assert isinstance(tensor, onnx_ir.ExternalTensor)
    other = onnx_ir.ExternalTensor(
        "w.bin", 0, 12, tensor.dtype, shape=tensor.shape, name="v", base_dir="/elsewhere"
    )
    source.graph.register_initializer(onnx_ir.Value(name="v", const_value=other))
    with pytest.raises(LoadError, match="several folders"):
        ir.load(source)


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["path", "bytes", "message", "ours"])
def test_no_other_kind_imports_it(kind: str, tmp_path: Path) -> None:
    path = external(tmp_path)
    program = f"""
import sys, onnx, straightline as sl
path = {str(path)!r}
kinds = {{
    "path": lambda: path,
    "bytes": lambda: open(path, "rb").read(),
    "message": lambda: onnx.load(path),
    "ours": lambda: sl.ir.load(path),
}}
source = kinds[{kind!r}]()
sl.rewrite(source)
sl.ir.save(sl.ir.load(path), path.replace("external", "copy"))
print("onnx_ir" in sys.modules, "sympy" in sys.modules)
"""
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert found.stdout.split() == ["False", "False"]
