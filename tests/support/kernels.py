"""One-node models of operators outside of ONNX: their definition beside onnxruntime's kernel.

KERNELS names a folder that keeps each model with inputs and outputs, for trials in clients:
make trials CLIENT=openvino MORE="--recorded FOLDER"
"""

import hashlib
import os
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import straightline as sl
from onnx import helper

TOLERANCE = {np.dtype(np.float16): 2e-3, np.dtype(np.float32): 2e-5, np.dtype(np.float64): 1e-9}


def one_node(operator, inputs, outputs=1, opset=17, dynamic=False, constants=(), **attributes):
    """A model of one node; an input that is None is absent, as is an output named "".

    Args:
        operator: its name with the domain in front.
        inputs: arrays, from which the inputs have their types.
        outputs: their number, or a text such as "110" that leaves some out.
        opset: the opset of ONNX's own domain.
        dynamic: leave all sizes open.
        constants: the positions of inputs that are initializers.
        attributes: the attributes.
    """
    domain, _, op_type = operator.rpartition(".")
    flags = "1" * outputs if isinstance(outputs, int) else outputs
    names = [f"y{i}" if flag == "1" else "" for i, flag in enumerate(flags)]
    places = ["" if array is None else f"x{i}" for i, array in enumerate(inputs)]
    node = helper.make_node(op_type, places, names, domain=domain, **attributes)
    infos, tensors = [], []
    for i, array in enumerate(inputs):
        if array is None:
            continue
        if i in constants:
            tensors.append(onnx.numpy_helper.from_array(array, f"x{i}"))
            continue
        shape = [f"d{i}_{k}" for k in range(array.ndim)] if dynamic else array.shape
        kind = helper.np_dtype_to_tensor_dtype(array.dtype)
        infos.append(helper.make_tensor_value_info(f"x{i}", kind, shape))
    results = [onnx.ValueInfoProto(name=name) for name in names if name]
    graph = helper.make_graph([node], "g", infos, results, tensors)
    imports = [helper.make_opsetid("", opset)]
    if domain:
        imports.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=imports, ir_version=8 if opset < 21 else 10)


def normal(draw):
    """Give a function that draws normal numbers of a shape."""
    return lambda *shape, dtype=np.float32: draw.standard_normal(shape).astype(dtype)


def feeds_of(inputs, constants=()):
    """The feeds of a model of one node."""
    pairs = enumerate(inputs)
    return {f"x{i}": array for i, array in pairs if array is not None and i not in constants}


def run_kernel(model, feeds):
    """Run a model as it is, without optimizations."""
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    message = model if isinstance(model, bytes) else model.SerializeToString()
    results = ort.InferenceSession(message, options, ["CPUExecutionProvider"]).run(None, feeds)
    if "KERNELS" in os.environ:
        _keep(Path(os.environ["KERNELS"]), message, feeds, results)
    return results


def _keep(folder, message, feeds, results):
    folder.mkdir(exist_ok=True)
    file = folder / hashlib.sha256(message).hexdigest()[:16]
    file.with_suffix(".onnx").write_bytes(message)
    outputs = {f"result {number}": array for number, array in enumerate(results)}
    np.savez(file.with_suffix(".npz"), **feeds, **outputs)


def lowered(model):
    """The model by its definition, in ONNX's own operators alone."""
    result = sl.transform(model, (), target="onnx", verify=False).model
    assert not {node.domain for node in result.graph.node} - {"", "ai.onnx", "ai.onnx.ml"}
    return result


def assert_equal(one, other, scale=1.0):
    """Compare outputs up to rounding."""
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert a.shape == b.shape, (a.shape, b.shape)
        assert a.dtype == b.dtype, (a.dtype, b.dtype)
        limit = scale * TOLERANCE.get(a.dtype, 0)
        size = float(np.max(np.abs(a[np.isfinite(a)]), initial=1e-3)) if limit else 1
        np.testing.assert_allclose(b, a, rtol=limit, atol=limit * size)


def assert_kernel(operator, inputs, outputs=1, *, scale=1.0, constants=(), **settings):
    """Compare the definition of an operator with its kernel, in the reference and as lowered."""
    model = one_node(operator, inputs, outputs, constants=constants, **settings)
    feeds = feeds_of(inputs, constants)
    expected = run_kernel(model, feeds)
    assert_equal(expected, run_kernel(lowered(model), feeds), scale)
    return expected


def pack(numbers, bits):
    """Numbers of few bits in bytes, low bits first, each row by itself."""
    each = 8 // bits
    *rows, length = numbers.shape
    padded = np.zeros((*rows, -(-length // each) * each), np.uint32)
    padded[..., :length] = numbers
    parts = padded.reshape(*rows, -1, each)
    return sum(parts[..., i] << (bits * i) for i in range(each)).astype(np.uint8)
