"""What tests of spellings share: two ways to say the same, proved and run."""

from typing import Any

import numpy as np
import onnx
from sessions import by_reference, outputs
from straightline.verification.proof import prove

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, -3.4e38, 1e-45]


def model(nodes: str, opset: int, signature: str = "(float[2,3,4] x) => (float[2,3,4] y)"):
    """A model of an opset from the text of its nodes."""
    header = f'<ir_version: 8, opset_import: ["" : {opset}]>'
    text = nodes if nodes.lstrip().startswith(("{", "<")) else f"{{ {nodes} }}"
    return onnx.parser.parse_model(f"{header} g {signature} {text}")


def feeds(proto: onnx.ModelProto, seed: int = 0) -> dict[str, Any]:
    """Numbers for each input, special ones among the floats."""
    rng = np.random.default_rng(seed)
    found = {}
    for info in proto.graph.input:
        tensor = info.type.tensor_type
        shape = [dim.dim_value or 2 for dim in tensor.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        array = np.asarray(rng.integers(-4, 5, shape), np.float64)
        if dtype.kind == "f":
            array = array / 2
            if seed and array.size:
                array.reshape(-1)[: len(SPECIAL)] = SPECIAL[: array.size]
        elif dtype.kind in "ub":
            array = np.abs(array)
        with np.errstate(over="ignore"):
            found[info.name] = array.astype(dtype)
    return found


def by_onnxruntime(proto: onnx.ModelProto, given: dict[str, Any]) -> list[Any]:
    """What onnxruntime gives, which optimises nothing."""
    return outputs(proto, given, optimized=False)


RUNTIMES = {"reference": by_reference, "onnxruntime": by_onnxruntime}


def same_bits(one: list[Any], other: list[Any]) -> bool:
    """Whether outputs are equal in type, shape and every element, 0 not being -0."""
    return all(
        a.dtype == b.dtype
        and a.shape == b.shape
        and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
        and (a.dtype.kind != "f" or np.array_equal(np.signbit(a), np.signbit(b)))
        for a, b in zip(map(np.asarray, one), map(np.asarray, other), strict=True)
    )


def require_same(
    before: onnx.ModelProto, after: onnx.ModelProto, *runtimes: str, seeds: int = 2
) -> None:
    """Both say the same: that is proved, and runs agree bit for bit."""
    proof = prove(before, after)
    assert proof.proved, proof
    for seed in range(seeds):
        given = feeds(before, seed)
        for runtime in runtimes or RUNTIMES:
            one, other = (RUNTIMES[runtime](proto, given) for proto in (before, after))
            assert same_bits(one, other), (runtime, given, one, other)


def require_open(before: onnx.ModelProto, after: onnx.ModelProto) -> None:
    """They are not said to be the same."""
    assert prove(before, after).status != "proved"
