"""IREE: imported as torch-mlir, compiled for the processor, run in its local task device."""

import numpy as np
import onnx
from iree import compiler, runtime
from iree.compiler.extras import onnx_importer
from iree.compiler.ir import Context

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    proto = onnx.load_model_from_string(model)
    proto = onnx.shape_inference.infer_shapes(proto)
    names = [value.name for value in proto.graph.input]
    types = [value.type.tensor_type.elem_type for value in proto.graph.output]
    info = onnx_importer.ModelInfo(proto)
    module = info.create_module(context=Context()).operation
    onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    module.verify()
    code = compiler.compile_str(
        module.get_asm(),
        input_type="onnx",
        target_backends=["llvm-cpu"],
        extra_args=["--iree-llvmcpu-target-cpu=host"],
    )
    loaded = runtime.load_vm_flatbuffer(code, driver="local-sync")
    function = getattr(loaded, proto.graph.name)

    def run(feeds: Arrays) -> list[np.ndarray]:
        results = function(*(feeds[name] for name in names if name in feeds))
        listed = results if isinstance(results, list | tuple) else [results]
        # Copies: a view of other numbers outlives the memory of the device that it reads.
        return [_signed(np.array(one), type_) for one, type_ in zip(listed, types, strict=True)]

    return run


def _signed(array: np.ndarray, elem_type: int) -> np.ndarray:
    """The same bits as whole numbers with a sign or without, between which IREE makes no
    difference."""
    declared = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    same = {array.dtype.kind, declared.kind} == {"i", "u"} and array.itemsize == declared.itemsize
    return array.view(declared) if same else array
