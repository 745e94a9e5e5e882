"""IREE: imported as torch-mlir, compiled for the processor, run in its local task device."""

from __future__ import annotations

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
        return [np.asarray(one) for one in listed]

    return run
