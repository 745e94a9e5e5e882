"""TVM by way of its relax front end, compiled for the processor."""

import numpy as np
import onnx
import tvm
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

from ..client import Arrays, Run


def load(model: bytes) -> Run:
    proto = onnx.load_model_from_string(model)
    module = from_onnx(proto)
    machine = relax.VirtualMachine(relax.build(module, target="llvm"), tvm.cpu())

    def run(feeds: Arrays) -> list[np.ndarray]:
        machine.set_input("main", **{k: tvm.runtime.tensor(v) for k, v in feeds.items()})
        machine.invoke_stateful("main")
        results = machine.get_outputs("main")
        listed = results if isinstance(results, list | tuple) else [results]
        return [one.numpy() for one in listed]

    return run
