"""Constants folded a second time by onnxruntime, where it is installed.

The checker computes by the specification, and refuses operands on which onnxruntime is known to
depart. A derivation holds no fold on which they differ all the same.
"""

from collections.abc import Iterable, Sequence
from importlib.util import find_spec

import numpy as np
import onnx

from ..ir import Array
from .checker.folding import fold, node_of, rounds
from .checker.terms import Head


def agrees(head: Head, arrays: Sequence[Array | None]) -> bool:
    """Test whether onnxruntime computes the outputs that the checker computes, or none."""
    results = fold(head, arrays)
    has_text = any(array is not None and array.dtype.hasobject for array in arrays)
    if results is None or has_text or find_spec("onnxruntime") is None:
        return True
    try:
        seconds = _run(head, arrays, results)
    except Exception:  # noqa: BLE001 - what onnxruntime lacks is not compared
        return True
    is_whole = all(array is None or array.dtype.kind in "iub" for array in arrays)
    exact = not rounds(head, is_whole=is_whole)
    return all(_is_same(*pair, exact) for pair in zip(results, seconds, strict=True))


def _is_same(one: Array, other: Array, exact: bool) -> bool:
    """Test for equal arrays. Exact ones have the same signs of zeros, too."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind != "f":
        return np.array_equal(one, other)
    if not exact:
        return bool(np.allclose(one, other, 1e-3, 1e-5, equal_nan=True))
    same = np.array_equal(one, other, equal_nan=True)
    return same and bool((np.signbit(one) == np.signbit(other))[~np.isnan(one)].all())


def _run(head: Head, arrays: Sequence[Array | None], results: Sequence[Array]) -> list[Array]:
    import onnxruntime

    def infos(pairs: Iterable[tuple[str, Array]]) -> list[onnx.ValueInfoProto]:
        kind = onnx.helper.np_dtype_to_tensor_dtype
        info = onnx.helper.make_tensor_value_info
        return [info(name, kind(array.dtype), array.shape) for name, array in pairs]

    node = node_of(head, arrays)
    pairs = zip(node.input, arrays, strict=True)
    feeds = {name: array for name, array in pairs if array is not None}
    outputs = infos(zip(node.output, results, strict=True))
    graph = onnx.helper.make_graph([node], "folded", infos(feeds.items()), outputs)
    imports = [onnx.helper.make_opsetid("", head.version)]
    model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    return list(onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds))
