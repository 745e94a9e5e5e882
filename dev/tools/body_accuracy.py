"""Is the function that onnx defines an operator by as accurate as the operator?

    python dev/tools/body_accuracy.py

Each operator runs as it is and as its function in onnxruntime, in 32 bits and in 16, on numbers
near 0, far from it, large, tiny, and with infinities and NaN. The truth is its definition in 64
bits. A function is as accurate where it errs no more than four times as much as the operator, or
as the definition computed in the type itself, or by less than 16 units in the last place.
"""

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import onnx
from straightline import ir, reference
from straightline.dev.benchmarks.session import open_session
from straightline.dev.tools import data_files
from straightline.version_converter import adapters  # noqa: F401  (they register what is inexact)
from straightline.version_converter.function_body import function_body, instantiate_function
from straightline.version_converter.registry import INEXACT_BODIES
from straightline.version_converter.types import Types

Definition = Callable[..., Any]
TYPES = {"float": np.float32, "float16": np.float16}
WIDEST = ("double", np.float64)
SLACK, LEAST_UNITS = 4.0, 16.0
SHAPE = (2, 4, 8)
ALL_KINDS = frozenset({"plain", "offset", "large", "wide", "tiny", "odd"})
FINITE = ALL_KINDS - {"odd", "large"}
"""Where a product or a mask meets an infinity, definitions differ."""


class Case(NamedTuple):
    """An operator with its definition over numpy arrays, in the type of these."""

    op_type: str
    opset: int
    define: Definition | None = None
    """None where onnx's reference of the operator is taken for its definition."""
    attributes: Mapping[str, Any] = {}
    more: tuple[Any, ...] = ()
    """Further inputs: numbers in the type of the first, or integers that stay as they are."""
    has_kernel: bool = True
    """Whether onnxruntime has the operator; where not, it runs the function too."""
    shape: tuple[int, ...] = SHAPE
    """That of the first input."""
    kinds: frozenset[str] = ALL_KINDS
    """On which numbers it is measured."""


def normalize(x: Any, axes: tuple[int, ...], epsilon: float, outside: float = 0.0) -> Any:
    d = x - x.mean(axes, keepdims=True, dtype=x.dtype)
    squares = (d * d).mean(axes, keepdims=True, dtype=x.dtype)
    return d / (np.sqrt(squares + x.dtype.type(epsilon)) + x.dtype.type(outside))


def grouped(x: Any, *scale_and_bias: Any) -> Any:
    rows = normalize(x.reshape(2, 2, -1), (2,), 1e-5).reshape(x.shape)
    scale, bias = (np.resize(v, (1, 4, 1)) for v in scale_and_bias)
    return rows * scale + bias


def softplus(x: Any) -> Any:
    return np.where(x > 0, x, 0) + np.log1p(np.exp(-abs(x)))


def log_sum_exp(x: Any) -> Any:
    most = x.max(-1, keepdims=True)
    safe = np.where(np.isfinite(most), most, 0)
    return np.log(np.exp(x - safe).sum(-1, keepdims=True, dtype=x.dtype)) + safe


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def celu(x: Any, alpha: float) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


def selu(x: Any) -> Any:
    gamma, alpha = np.float32(1.05070102), np.float32(1.67326319)
    return np.where(x > 0, gamma * x, gamma * alpha * np.expm1(np.minimum(x, 0)))


def log_softmax(x: Any) -> Any:
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True, dtype=x.dtype))


def gelu(x: Any) -> Any:
    root = x.dtype.type(math.sqrt(2))
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / root).astype(x.dtype))


def rows_of(x: Any) -> dict[str, Any]:
    return {"axis": -1, "keepdims": True, "dtype": x.dtype}


def hard(x: Any) -> Any:
    return np.clip(np.float32(0.2) * x + 0.5, 0, 1)


def drawn(seed: int, shape: tuple[int, ...] = (1, 2, 4, 8)) -> Any:
    return np.random.default_rng(seed).normal(size=shape)


HEADS = (1, 2, 4, 8)
LABELS = np.random.default_rng(9).integers(0, SHAPE[1], (SHAPE[0], SHAPE[2]))
ONES, BIAS = (1.5,) * 8, (0.5,) * 8
LAST = (-1.0,)
"""The axes of a reduction, which are integers."""

CASES = [
    Case("Celu", 12, lambda x: celu(x, 2.0), {"alpha": 2.0}),
    Case("Elu", 22, lambda x: celu(x, 1.0)),
    Case("Gelu", 20, gelu),
    Case("GroupNormalization", 18, grouped, {"num_groups": 2}, ((1.5, 1.5), (0.5, 0.5)),
     has_kernel=False),
    Case("GroupNormalization", 21, grouped, {"num_groups": 2}, (ONES[:4], BIAS[:4]), False),
    Case("HardSigmoid", 22, hard),
    Case("HardSwish", 22, lambda x: x * np.clip(x * np.float32(1 / 6) + 0.5, 0, 1)),
    Case("LayerNormalization", 17, lambda x, s, b: normalize(x, (2,), 1e-5) * s + b, {},
     (ONES, BIAS)),
    Case("LeakyRelu", 16, lambda x: np.where(x < 0, np.float32(0.01) * x, x)),
    Case("LogSoftmax", 13, log_softmax),
    Case("MeanVarianceNormalization", 13, lambda x: normalize(x, (0, 2), 0.0, 1e-9),
     {"axes": [0, 2]}),
    Case("Mish", 22, lambda x: x * np.tanh(softplus(x))),
    Case("PRelu", 16, lambda x, s: np.where(x < 0, s * x, x), {}, (ONES,)),
    Case("RMSNormalization", 23, lambda x,
     s: x / np.sqrt((x * x).mean(**rows_of(x)) + x.dtype.type(1e-5)) * s, {}, (ONES,)),
    Case("ReduceL1", 18, lambda x: abs(x).sum(**rows_of(x)), {}, (LAST,)),
    Case("ReduceL2", 18, lambda x: np.sqrt((x * x).sum(**rows_of(x))), {}, (LAST,)),
    Case("ReduceLogSum", 18, lambda x: np.log(x.sum(**rows_of(x))), {}, (LAST,)),
    Case("ReduceLogSumExp", 18, log_sum_exp, {}, (LAST,)),
    Case("ReduceSumSquare", 18, lambda x: (x * x).sum(**rows_of(x)), {}, (LAST,)),
    Case("Relu", 14, lambda x: np.where(x < 0, 0, x)),
    Case("Selu", 22, selu),
    Case("Shrink", 9,
     lambda x: np.where(x < -1, x + 0.5, np.where(x > 1, x - 0.5, 0 * (abs(x) > 1))),
     {"lambd": 1.0, "bias": 0.5}),
    Case("Softmax", 13, lambda x: np.exp(log_softmax(x))),
    Case("Softplus", 22, softplus),
    Case("Softsign", 22, lambda x: x / (1 + abs(x))),
    Case("Swish", 24, lambda x: x * sigmoid(x)),
    Case("ThresholdedRelu", 22, lambda x: np.where(x > 1, x, 0)),
    Case("Attention", 23, None, {}, (drawn(1), drawn(2)), False, HEADS, FINITE),
    Case("Attention", 23, None, {"is_causal": 1}, (drawn(1), drawn(2)), False, HEADS, FINITE),
    Case("CausalConvWithState", 27, None, {}, (drawn(3, (4, 1, 3)),), False, SHAPE, FINITE),
    Case("Clip", 13, np.clip, {}, (np.array(-0.5), np.array(0.5))),
    Case(
        "LinearAttention",
        27,
        None,
        {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"},
        (drawn(7, (1, 4, 16)), drawn(8, (1, 4, 16))),
        False,
        (1, 4, 16),
        FINITE - {"offset"},  # what cancels there its reference computes in 64 bits
    ),
    Case("NegativeLogLikelihoodLoss", 13, None, {}, (LABELS,), shape=SHAPE, kinds=FINITE),
    Case("RotaryEmbedding", 23, None, {}, (drawn(4, (1, 4, 4)), drawn(5, (1, 4, 4))), False, HEADS),
    Case("SoftmaxCrossEntropyLoss", 13, None, {}, (LABELS,), shape=SHAPE, kinds=FINITE),
    Case("SwiGLU", 28, lambda a, b: a * sigmoid(a) * b, {}, (drawn(6, SHAPE),), False,
     kinds=FINITE)]  # fmt: skip

NOTHING_ROUNDS = frozenset(
    {
        *("CastLike", "CenterCropPad", "DepthToSpace", "GreaterOrEqual", "LessOrEqual"),
        *("SequenceMap", "SpaceToDepth"),
    }
)
"""Their functions compare or move elements."""

NO_SAMPLES = {
    "AffineGrid": "one grid for each size",
    "Bernoulli": "draws at random; onnx's function is inverted, and not used",
    "BlackmanWindow": "one window for each size",
    "HammingWindow": "one window for each size",
    "HannWindow": "one window for each size",
    "DynamicQuantizeLinear": "its outputs are integers",
    "Range": "its function is a Loop that accumulates, unlike the definition",
}
"""Those that are not measured, and why."""


def samples(dtype: Any, shape: tuple[int, ...] = SHAPE) -> dict[str, Any]:
    """Numbers of each kind."""
    base = np.random.default_rng(0).normal(size=shape)
    most = 1e30 if dtype is np.float32 else 3e4
    odd = base.copy()
    odd.flat[0], odd.flat[9], odd.flat[34] = np.inf, -np.inf, np.nan
    return {
        "plain": base.astype(dtype),
        "offset": (base + 3000 if dtype is np.float32 else base + 300).astype(dtype),
        "large": (base * most / 8).astype(dtype),
        "wide": (base * 50).astype(dtype),
        "tiny": (base * 1e-5).astype(dtype),
        "odd": odd.astype(dtype),
    }


def given(values: Any, dtype: Any) -> Any:
    """A further input in the type of the first, unless it counts or chooses."""
    chooses = values is LAST or np.asarray(values).dtype.kind == "i"
    return np.array(values, np.int64 if chooses else dtype)


def model_of(case: Case, name: str) -> onnx.ModelProto:
    """The operator alone, its further inputs as initializers."""
    held = [
        onnx.numpy_helper.from_array(
            given(values, dict([*TYPES.items(), WIDEST])[name]), f"i{index}"
        )
        for index, values in enumerate(case.more)
    ]
    schema = onnx.defs.get_schema(case.op_type, case.opset, "")
    others = [f"y{index}" for index in range(1, schema.min_output)]
    node = onnx.helper.make_node(
        case.op_type, ["x", *(t.name for t in held)], ["y", *others], **case.attributes
    )
    code = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dict([*TYPES.items(), WIDEST])[name]))
    x = onnx.helper.make_tensor_value_info("x", code, case.shape)
    y = onnx.ValueInfoProto(name="y", type=onnx.helper.make_tensor_type_proto(code, None))
    graph = onnx.helper.make_graph([node], "g", [x], [y], held)
    opset = onnx.helper.make_opsetid("", case.opset)
    return onnx.helper.make_model(graph, opset_imports=[opset], ir_version=10)


def expanded(proto: onnx.ModelProto, opset: int) -> onnx.ModelProto | None:
    """The same with the operator's function in its place."""
    model = ir.load(proto)
    types, (node,) = Types(model), model.graph.nodes()
    body = function_body(node, opset, types)
    if body is None:
        return None
    results, _ = instantiate_function(body, node, opset, types)
    result = results[0]
    assert result is not None
    model.graph.supersede(node.output(), result)
    model.graph.remove(node)
    return ir.to_proto(model)


def run(proto: onnx.ModelProto, x: Any) -> Any:
    """What onnxruntime gives; None where it has no kernel."""
    try:
        session = open_session(proto, optimized=False)
    except Exception:  # noqa: BLE001  an operator or a type that it does not have
        return None
    return session.run(None, {"x": x})[0]


def by_definition(proto: onnx.ModelProto, x: Any) -> Any:
    """What onnx's reference gives; None where it cannot run it."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(reference.run(proto, {"x": x})[0])
        except reference.EvaluationError:
            return None


def units(found: Any, truth: Any, dtype: Any) -> float:
    """The largest error in units of the last place of the largest number."""
    with np.errstate(all="ignore"):
        truth = truth.astype(dtype)
    odd = ~np.isfinite(truth)
    if not np.array_equal(np.isnan(found), np.isnan(truth)):
        return math.inf
    if (found[odd & ~np.isnan(truth)] != truth[odd & ~np.isnan(truth)]).any():
        return math.inf
    if odd.all():
        return 0.0
    wide, exact = found[~odd].astype(np.float64), truth[~odd].astype(np.float64)
    if not np.isfinite(wide).all():
        return math.inf
    info = np.finfo(dtype)
    return float((abs(wide - exact) / np.maximum(abs(exact) * info.eps, info.tiny)).max())


class Row(NamedTuple):
    """The errors of one case on one kind of numbers, in units of the last place."""

    case: Case
    name: str
    kind: str
    operator: float
    body: float

    @property
    def is_accurate(self) -> bool:
        """Whether the function may stand for the operator."""
        return self.body <= max(SLACK * self.operator, LEAST_UNITS)


def rows(case: Case) -> list[Row]:
    """All that is measured of one operator."""
    found = []
    for name, dtype in TYPES.items():
        proto = model_of(case, name)
        function = expanded(proto, case.opset)
        if function is None:
            continue
        for kind, x in samples(dtype, case.shape).items():
            if kind not in case.kinds:
                continue
            truth, same = defined(case, x, np.float64), defined(case, x, dtype)
            body = run(function, x)
            body = by_definition(function, x) if body is None else body
            if body is None:
                continue
            own = run(proto, x) if case.has_kernel else None
            errors = [units(same, truth, dtype)]
            if own is not None:
                errors.append(units(own, truth, dtype))
            found.append(Row(case, name, kind, max(errors), units(body, truth, dtype)))
    return found


def defined(case: Case, x: Any, dtype: Any) -> Any:
    """What the definition gives, computed in a type, of numbers that `x` and its type can hold."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case.define is None:
            name = next(name for name, known in (*TYPES.items(), WIDEST) if known is dtype)
            return by_definition(model_of(case, name), x.astype(dtype))
        more = [given(v, x.dtype).astype(dtype) for v in case.more if v is not LAST]
        return case.define(x.astype(dtype), *more).astype(dtype)


HEAD = ("operator", "opset", "type", "worst on", "operator error", "function error", "used")


def main() -> None:
    """Write docs/data/function-bodies.csv."""
    found: list[tuple[object, ...]] = []
    for case in CASES:
        for name in TYPES:
            here = [row for row in rows(case) if row.name == name]
            head = (case.op_type, case.opset, name)
            if not here:
                found.append((*head, "", "", "", "no: none fits"))
                continue
            worst = max(here, key=lambda r: (not r.is_accurate, r.body / max(r.operator, 1.0)))
            used = "no" if case.op_type in INEXACT_BODIES else "yes"
            found.append((*head, worst.kind, f"{worst.operator:.3g}", f"{worst.body:.3g}", used))
    found += [(name, "", "", "", "", "", "yes: nothing rounds") for name in sorted(NOTHING_ROUNDS)]
    found += [
        (name, "", "", "", "", "", f"not measured: {why}") for name, why in NO_SAMPLES.items()
    ]
    data_files.write("function-bodies", HEAD, found)


if __name__ == "__main__":
    main()
