"""Nodes of every deterministic operator, in each of its versions, on values that are special.

A family is a function that draws the operands and attributes of one node; `FAMILIES` tells which
operators it draws for. Element types come from the schemas.
"""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper
from operator_draws import FAMILIES, OLDEST, TEXTS, Case, Draw, attributes, draws, pool


@draws(
    "Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu"
    " HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Log Mish Neg NonZero Not Reciprocal"
    " Relu Round Selu Shape Shrink Sigmoid Sign Sin Sinh Size Softplus Softsign Sqrt Swish Tan"
    " Tanh ThresholdedRelu Dropout"
)
def _unary(draw: Draw) -> Any:
    alpha = [0.0, 1.0, -0.5, 0.25, np.inf] if draw.kind == "special" else [1.0, 0.25, 2.0]
    beta = {} if draw.schema.name == "Gelu" else {"alpha": alpha, "beta": [0.5], "gamma": [1.5]}
    options = attributes(
        draw,
        **beta,
        approximate=["none", "tanh"],
        detect_positive=[0, 1],
        detect_negative=[0, 1],
        lambd=[0.0, 0.5, 1.5],
        bias=[0.0, 0.5],
        start=[0, 1, -1, -9, 9],
        end=[0, 1, -1, 9, -9],
    )
    return [draw.x()], options


@draws(
    "Add Sub Mul Div Pow Mod And Or Xor Equal Less Greater LessOrEqual GreaterOrEqual"
    " BitwiseAnd BitwiseOr BitwiseXor BitShift PRelu StringConcat"
)
def _binary(draw: Draw) -> Any:
    shape = draw.shape()
    other = tuple(draw.choice((1, d)) for d in shape[int(draw.rng.integers(len(shape) + 1)) :])
    options = {"fmod": draw.flag()} if draw.schema.name == "Mod" else {}
    if draw.schema.name == "BitShift":
        options = {"direction": draw.choice(["LEFT", "RIGHT"])}
    operands = [draw.x(0, shape), draw.x(1, other)]
    if draw.schema.name == "Mod" and operands[0].dtype.kind not in "iu":
        options = {"fmod": 1}
    return operands[
        :: draw.choice((1, -1))
        if draw.elem_type(0) == draw.elem_type(1) and draw.schema.name != "PRelu"
        else 1
    ], options


@draws("Max Min Sum Mean")
def _variadic(draw: Draw) -> Any:
    shape = draw.shape()
    return [
        draw.x(0, draw.choice((shape, shape, shape[1:])))
        for _ in range(int(draw.rng.integers(1, 4)))
    ], {}


@draws("Where")
def _where(draw: Draw) -> Any:
    shape = draw.shape()
    return [
        draw.x(0, draw.choice((shape, ()))),
        draw.x(1, shape),
        draw.x(2, draw.choice((shape, ()))),
    ], {}


@draws("Clip")
def _clip(draw: Draw) -> Any:
    if draw.opset < 11:
        limits = [float(v) for v in pool(TensorProto.FLOAT, draw.kind)]
        return [draw.x()], {n: draw.choice(limits) for n in ("min", "max") if draw.flag()}
    return [draw.x(), *(draw.choice((None, draw.x(1, ()))) for _ in range(2))], {}


@draws("Cast")
def _cast(draw: Draw) -> Any:
    to = draw.choice(draw.allowed("T2"))
    if draw.elem_type(0) == TensorProto.STRING and draw.flag():
        return [np.array([draw.choice(["1", "-3", "2.5", "1e3", "100"])], object)], {"to": to}
    return [draw.x()], {"to": to, **attributes(draw, saturate=[0, 1])}


@draws("BitCast")
def _bit_cast(draw: Draw) -> Any:
    kind = helper.tensor_dtype_to_np_dtype(draw.elem_type(0))
    same = [
        t
        for t in draw.allowed("T2")
        if helper.tensor_dtype_to_np_dtype(t).itemsize == kind.itemsize
    ]
    return [draw.x()], {"to": draw.choice(same)}


def _reduction_shape(draw: Draw) -> tuple[int, ...]:
    return draw.shape(1 if draw.kind != "special" else 0, 3)


@draws(
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd"
    " ReduceSum ReduceSumSquare"
)
def _reduction(draw: Draw) -> Any:
    shape = _reduction_shape(draw)
    rank = len(shape)
    places = [int(p) for p in draw.rng.permutation(rank)[: int(draw.rng.integers(0, rank + 1))]]
    places = [p - rank if draw.flag() and draw.opset >= 11 else p for p in places]
    options = attributes(draw, keepdims=[0, 1], noop_with_empty_axes=[0, 1])
    if "axes" in draw.schema.attributes:
        return [draw.x(0, shape)], {**options, **({"axes": places} if places else {})}
    axes = draw.choice((None, np.array(places, np.int64)))
    return [draw.x(0, shape), axes], options


@draws("ArgMax ArgMin")
def _arg(draw: Draw) -> Any:
    shape = draw.shape(1)
    axis = int(draw.rng.integers(-len(shape) if draw.opset >= 11 else 0, len(shape)))
    return [draw.x(0, shape)], {
        "axis": axis,
        **attributes(draw, keepdims=[0, 1], select_last_index=[0, 1]),
    }


@draws("Softmax LogSoftmax Hardmax")
def _softmax(draw: Draw) -> Any:
    shape = draw.shape(1)
    low = -len(shape) if draw.opset >= 11 else 0
    return [draw.x(0, shape)], {
        "axis": int(draw.rng.integers(low, len(shape)))
    } if draw.flag() or len(shape) < 2 else {}


@draws("CumSum CumProd")
def _running(draw: Draw) -> Any:
    shape = draw.shape(1)
    axis = np.array(draw.rng.integers(-len(shape), len(shape)), draw.choice((np.int32, np.int64)))
    return [draw.x(0, shape), axis], attributes(draw, exclusive=[0, 1], reverse=[0, 1])


@draws("TopK")
def _top_k(draw: Draw) -> Any:
    shape = draw.shape(1)
    axis = int(draw.rng.integers(len(shape)))
    k = int(draw.rng.integers(0, shape[axis] + 1))
    options = {"axis": axis, **attributes(draw, largest=[0, 1], sorted=[1, 1, 0])}
    if draw.opset < 10:
        return [draw.x(0, shape)], {**options, "k": max(k, 1)}, 2
    return [draw.x(0, shape), np.array([k])], options, 2


@draws("Unique")
def _unique(draw: Draw) -> Any:
    return [draw.x(0, draw.shape(1))], attributes(draw, axis=[0, -1], sorted=[0, 1]), 4


@draws("Range")
def _range(draw: Draw) -> Any:
    kind = helper.tensor_dtype_to_np_dtype(draw.elem_type(0))
    choices = [0, 1, -1, 5, 2.5, 0.1, 7] if draw.kind == "plain" else [1, 3, 100, 0, 0.3]
    if kind.kind in "iu" and draw.kind == "extreme":
        end = int(np.iinfo(kind).max)
        return [
            np.array(end - 5, kind),
            np.array(end, kind),
            np.array(draw.choice((1, 2, 3)), kind),
        ], {}
    return [np.array(draw.choice(choices)).astype(kind) for _ in range(3)], {}


@draws("Gather")
def _gather(draw: Draw) -> Any:
    shape = draw.shape(1)
    axis = int(draw.rng.integers(-len(shape), len(shape)))
    size = shape[axis]
    low = -size if draw.opset >= 11 else 0
    some = draw.shape(0, 2) if size else (0,)
    return [
        draw.x(0, shape),
        draw.small(low, max(size - 1, low), some, draw.choice((np.int32, np.int64))),
    ], {"axis": axis}


@draws("GatherElements")
def _gather_elements(draw: Draw) -> Any:
    shape = tuple(max(1, d) for d in draw.shape(1))
    axis = int(draw.rng.integers(-len(shape), len(shape)))
    return [draw.x(0, shape), draw.small(-shape[axis], shape[axis] - 1, shape)], {"axis": axis}


@draws("GatherND")
def _gather_nd(draw: Draw) -> Any:
    shape = tuple(max(1, d) for d in draw.shape(2))
    places = np.stack([draw.small(-d, d - 1, (2,)) for d in shape[: draw.choice((1, 2))]], -1)
    return [draw.x(0, shape), places], {}


@draws("Scatter ScatterElements")
def _scatter(draw: Draw) -> Any:
    shape = tuple(max(1, d) for d in draw.shape(1))
    axis = int(draw.rng.integers(len(shape)))
    low = -shape[axis] if draw.opset >= 11 else 0
    options = attributes(
        draw, reduction=["none", "add", "mul", *(["max", "min"] if draw.opset >= 18 else [])]
    )
    return [draw.x(0, shape), draw.small(low, shape[axis] - 1, shape), draw.x(2, shape)], {
        "axis": axis,
        **options,
    }


@draws("ScatterND")
def _scatter_nd(draw: Draw) -> Any:
    shape = tuple(max(1, d) for d in draw.shape(1))
    places = draw.small(-shape[0] if draw.opset >= 13 else 0, shape[0] - 1, (3, 1))
    options = attributes(
        draw, reduction=["none", "add", "mul", *(["max", "min"] if draw.opset >= 18 else [])]
    )
    return [draw.x(0, shape), places, draw.x(2, (3, *shape[1:]))], options


@draws("Slice")
def _slice(draw: Draw) -> Any:
    shape = draw.shape(1)
    far = [0, 1, 2, -1, -2, -9, 9, 2**63 - 1, -(2**63), 2**31 - 1, -(2**31)]
    low = -len(shape) if draw.opset >= 10 else 0
    axis, start, end = int(draw.rng.integers(low, len(shape))), draw.choice(far), draw.choice(far)
    if draw.opset < 10:
        return [draw.x(0, shape)], {"axes": [axis], "starts": [start], "ends": [end]}
    step = draw.choice([None, 1, 2, -1, -2, 2**63 - 1, -(2**63), 5, -5])
    listed = [start, end, axis, *([] if step is None else [step])]
    return [draw.x(0, shape), *(np.array([v], np.int64) for v in listed)], {}


@draws("Trilu")
def _trilu(draw: Draw) -> Any:
    k = draw.choice([None, 0, 1, -1, 9, -9, 2**31, 2**62, -(2**62), 2**63 - 1, -(2**63)])
    return [draw.x(0, draw.shape(2)), None if k is None else np.array(k, np.int64)], {
        "upper": draw.flag()
    }


@draws("OneHot")
def _one_hot(draw: Draw) -> Any:
    t = [TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32]
    kinds = [
        draw.choice([n for n in t if n in draw.allowed(draw.schema.inputs[i].type_str)])
        for i in range(3)
    ]
    depth = np.array(draw.choice((1, 3, 4))).astype(helper.tensor_dtype_to_np_dtype(kinds[1]))
    places = draw.small(-5, 5, draw.shape(0, 2)).astype(helper.tensor_dtype_to_np_dtype(kinds[0]))
    return [places, depth, draw.of(kinds[2], (2,))], attributes(draw, axis=[0, -1])


@draws("Pad")
def _pad(draw: Draw) -> Any:
    shape = tuple(max(2, d) for d in draw.shape(1)) if draw.kind != "empty" else draw.shape(1)
    mode = draw.choice(["constant", "reflect", "edge", *(["wrap"] if draw.opset >= 19 else [])])
    pads = draw.small(-1 if mode == "constant" else 0, 1, (2 * len(shape),))
    if draw.opset < 11:
        return [draw.x(0, shape)], {
            "pads": pads.tolist(),
            "mode": mode,
            **attributes(draw, value=[np.nan, 2.0, np.inf]),
        }
    value = draw.choice((None, draw.x(0, ())))
    return [draw.x(0, shape), pads, value], {"mode": mode}


@draws("Resize Upsample")
def _resize(draw: Draw) -> Any:
    shape = (1, 1, draw.choice((1, 2, 4, 5)), draw.choice((1, 3, 4)))
    x = draw.x(0, shape)
    scales = np.array(
        [1, 1, draw.choice((0.5, 1, 1.5, 2, 0.6, 2.5, 0.3, 3)), draw.choice((0.5, 1, 2, 0.7, 3))],
        np.float32,
    )
    if draw.schema.name == "Upsample":
        scales = np.maximum(scales, 1)
        if draw.opset < 9:
            return [x], {"scales": scales.tolist(), "mode": draw.choice(("nearest", "linear"))}
        return [x, scales], {"mode": draw.choice(("nearest", "linear"))}
    if draw.opset < 11:
        return [x, scales], {"mode": draw.choice(("nearest", "linear"))}
    options = attributes(
        draw,
        coordinate_transformation_mode=[
            "half_pixel",
            "asymmetric",
            "align_corners",
            "pytorch_half_pixel",
        ],
        nearest_mode=["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"],
        cubic_coeff_a=[-0.5, -0.75],
        exclude_outside=[0, 1],
    )
    options["mode"] = draw.choice(("nearest", "linear", "cubic"))
    if options["mode"] != "cubic":
        options.pop("exclude_outside", None)
    empty = np.array([], np.float32)
    if draw.flag():
        sizes = np.array([1, 1, draw.choice((1, 2, 3, 7)), draw.choice((1, 2, 5))], np.int64)
        return [
            x,
            empty if draw.opset < 13 else None,
            empty if draw.opset < 13 else None,
            sizes,
        ], options
    return [x, empty if draw.opset < 13 else None, scales], options


@draws("Concat")
def _concat(draw: Draw) -> Any:
    shape = draw.shape(1)
    axis = int(draw.rng.integers(len(shape)))

    def one() -> np.ndarray:
        sizes = list(shape)
        sizes[axis] = draw.choice((0, 1, 2))
        return draw.x(0, tuple(sizes))

    return [one() for _ in range(draw.choice((1, 2, 3)))], {"axis": axis}


@draws("Split")
def _split(draw: Draw) -> Any:
    shape = list(draw.shape(1))
    axis = int(draw.rng.integers(len(shape)))
    sizes = [draw.choice((0, 1, 2)), 1]
    shape[axis] = sum(sizes)
    x = draw.x(0, tuple(shape))
    if draw.opset < 13:
        return [x], {"axis": axis, "split": sizes}, 2
    return [x, np.array(sizes)], {"axis": axis}, 2


@draws("Reshape Expand Tile Flatten Squeeze Unsqueeze Transpose")
def _moving(draw: Draw) -> Any:
    name, shape = draw.schema.name, draw.shape(1)
    x = draw.x(0, shape)
    if name == "Transpose":
        return [x], {
            "perm": [int(p) for p in draw.rng.permutation(len(shape))]
        } if draw.flag() else {}
    if name == "Flatten":
        return [x], attributes(draw, axis=[0, 1])
    if name == "Expand":
        return [x, np.array([2, *(1 for _ in shape)])], {}
    if name == "Tile":
        return [x, draw.small(0, 2, (len(shape),))], {}
    if name == "Reshape":
        return [x, np.array(draw.choice([[-1], [0, -1], list(shape), [*shape, 1]]), np.int64)], {}
    axes = [0] if name == "Unsqueeze" else [i for i, d in enumerate(shape) if d == 1]
    if draw.opset < 13:
        return [x], {"axes": axes} if axes else {}
    return [x, np.array(axes, np.int64)], {}


@draws("ConstantOfShape")
def _constant_of_shape(draw: Draw) -> Any:
    tensor = onnx.numpy_helper.from_array(draw.of(draw.choice(draw.allowed("T2")), (1,)))
    return [draw.small(0, 3, (draw.choice((0, 1, 2)),))], {"value": tensor} if draw.flag() else {}


@draws("EyeLike")
def _eye_like(draw: Draw) -> Any:
    return [draw.x(0, draw.shape(2, 2))], attributes(
        draw, k=[0, 1, -1, 9, -9, 2**40], dtype=draw.allowed("T2")
    )


@draws("Compress")
def _compress(draw: Draw) -> Any:
    shape = draw.shape(1)
    axis = draw.choice((None, 0, len(shape) - 1))
    count = int(np.prod(shape)) if axis is None else shape[axis]
    condition = draw.rng.integers(2, size=min(count, draw.choice((1, 3, 9)))) > 0
    return [draw.x(0, shape), condition], {} if axis is None else {"axis": axis}


@draws("ReverseSequence")
def _reverse_sequence(draw: Draw) -> Any:
    shape = tuple(max(1, d) for d in draw.shape(2))
    return [draw.x(0, shape), draw.small(0, shape[0], (shape[1],))], {}


@draws("DepthToSpace SpaceToDepth")
def _blocks(draw: Draw) -> Any:
    shape = (1, 4, 2, 2)
    return [draw.x(0, shape)], {"blocksize": 2, **attributes(draw, mode=["DCR", "CRD"])}


@draws("MatMul")
def _mat_mul(draw: Draw) -> Any:
    n, k, m = draw.shape(3, 3)
    return [draw.x(0, draw.choice(((n, k), (k,)))), draw.x(1, draw.choice(((k, m), (k,))))], {}


@draws("Gemm")
def _gemm(draw: Draw) -> Any:
    n, k, m = draw.shape(3, 3)
    c = draw.x(2, draw.choice(((n, m), (m,), (1, 1)))) if draw.flag() or draw.opset < 11 else None
    return [draw.x(0, (n, k)), draw.x(1, (k, m)), c], attributes(
        draw, alpha=[0.0, 0.5], beta=[0.0, 2.0]
    )


@draws("MatMulInteger")
def _mat_mul_integer(draw: Draw) -> Any:
    n, k, m = draw.shape(3, 3)
    zeros = [draw.choice((None, draw.x(p, ()))) for p in (2, 3)]
    return [draw.x(0, (n, k)), draw.x(1, (k, m)), *zeros], {}


@draws("Einsum")
def _einsum(draw: Draw) -> Any:
    n, k, m = draw.shape(3, 3)
    equation = draw.choice(["ij,jk->ik", "ij,jk", "ij,jk->", "ij,jk->kji"])
    return [draw.x(0, (n, k)), draw.x(0, (k, m))], {"equation": equation}


@draws("MaxPool AveragePool LpPool")
def _pool(draw: Draw) -> Any:
    shape = (draw.choice((1, 2)), draw.choice((1, 2)), draw.choice((3, 4)), draw.choice((3, 5)))
    options = attributes(
        draw,
        strides=[[2, 2], [1, 2]],
        pads=[[1, 1, 1, 1], [0, 1, 0, 1]],
        ceil_mode=[0, 1],
        count_include_pad=[0, 1],
        dilations=[[1, 1], [2, 1]],
        storage_order=[0, 1],
        p=[1, 2, 3],
    )
    several = draw.schema.name == "MaxPool" and draw.flag() and draw.opset >= 8
    return [draw.x(0, shape)], {"kernel_shape": [2, 2], **options}, 2 if several else 1


@draws("GlobalMaxPool GlobalAveragePool GlobalLpPool")
def _global_pool(draw: Draw) -> Any:
    return [draw.x(0, draw.shape(3, 4))], attributes(draw, p=[1, 2, 3])


@draws("Conv ConvTranspose ConvInteger")
def _conv(draw: Draw) -> Any:
    x, w = draw.x(0, (1, 2, 4, 4)), draw.x(1, (2, 2, 2, 3))
    bias = [draw.x(2, (2,))] if draw.flag() and draw.schema.name != "ConvInteger" else []
    return [x, w, *bias], attributes(
        draw, strides=[[2, 1]], pads=[[1, 1, 1, 0]], dilations=[[1, 1], [2, 1]]
    )


@draws("BatchNormalization")
def _batch_normalization(draw: Draw) -> Any:
    shape = (2, 3, 2)
    return [draw.x(0, shape), *(draw.x(n, (3,)) for n in (1, 2, 3)), np.abs(draw.x(4, (3,)))], {}


@draws(
    "InstanceNormalization GroupNormalization LayerNormalization RMSNormalization"
    " LpNormalization MeanVarianceNormalization LRN"
)
def _normalization(draw: Draw) -> Any:
    name, shape = draw.schema.name, (2, 4, 3)
    x = draw.x(0, shape)
    if name in ("InstanceNormalization", "GroupNormalization"):
        groups = {"num_groups": 2} if name == "GroupNormalization" else {}
        size = (2,) if name == "GroupNormalization" and draw.opset < 21 else (4,)
        return [x, draw.x(1, size), draw.x(2, size)], groups
    if name == "LayerNormalization":
        return [x, draw.x(1, (3,)), draw.choice((None, draw.x(2, (3,))))], {}
    if name == "RMSNormalization":
        return [x, draw.x(1, (3,))], {}
    if name == "LpNormalization":
        return [x], attributes(draw, axis=[0, 1, -1], p=[1, 2])
    if name == "LRN":
        return [draw.x(0, (1, 4, 2, 2))], {
            "size": draw.choice((1, 3)),
            **attributes(draw, alpha=[0.5], beta=[0.5]),
        }
    return [draw.x(0, (2, 3, 2, 2))], attributes(draw, axes=[[0, 2, 3], [1]])


@draws("RNN GRU LSTM")
def _recurrent(draw: Draw) -> Any:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[draw.schema.name]
    t, b, n, h = 2, 2, 2, 2
    return (
        [draw.x(0, (t, b, n)), draw.x(1, (1, gates * h, n)), draw.x(2, (1, gates * h, h))],
        {"hidden_size": h},
        2,
    )


@draws("Det")
def _det(draw: Draw) -> Any:
    n = draw.choice((1, 2, 3))
    return [draw.x(0, draw.choice(((n, n), (2, n, n))))], {}


@draws("StringNormalizer StringSplit RegexFullMatch")
def _texts(draw: Draw) -> Any:
    x = draw.x(0, (draw.choice((1, 2, 4)),))
    if draw.schema.name == "StringNormalizer":
        return [x], attributes(
            draw,
            case_change_action=["LOWER", "UPPER", "NONE"],
            is_case_sensitive=[0, 1],
            stopwords=[["a"], ["A", "b"], TEXTS],
        )
    if draw.schema.name == "StringSplit":
        return [x], attributes(draw, delimiter=[".", "", "b"], maxsplit=[0, 1]), 2
    return [x], {"pattern": draw.choice(["a.*", "[0-9.]+", ".*", "(a|B)"])}


@draws("TfIdfVectorizer")
def _tf_idf(draw: Draw) -> Any:
    options = {
        "mode": draw.choice(("TF", "IDF", "TFIDF")),
        "min_gram_length": 1,
        "max_gram_length": 2,
        "max_skip_count": draw.flag(),
        "ngram_counts": [0, 2],
        "ngram_indexes": [0, 1, 2],
        "pool_int64s": [2, 3, 5, 0],
        "weights": [1.0, 2.0, 0.5],
    }
    return [
        draw.small(0, 5, draw.choice(((5,), (2, 3))), draw.choice((np.int32, np.int64)))
    ], options


@draws("NonMaxSuppression")
def _nms(draw: Draw) -> Any:
    boxes = draw.of(TensorProto.FLOAT, (1, 4, 4))
    return [
        boxes,
        draw.of(TensorProto.FLOAT, (1, 1, 4)),
        np.array(draw.choice((0, 1, 3))),
        np.array(0.5, np.float32),
        np.array(0.25, np.float32),
    ], {}


@draws("RoiAlign")
def _roi_align(draw: Draw) -> Any:
    x = draw.of(TensorProto.FLOAT, (1, 1, 4, 4))
    rois = np.array(
        [draw.choice(([0, 0, 3, 3], [-1, -1, 2, 2], [1, 1, 1, 1], [0.5, 0.5, 2.5, 9]))], np.float32
    )
    options = attributes(
        draw,
        mode=["avg", "max"],
        output_height=[1, 2],
        output_width=[2],
        sampling_ratio=[0, 2],
        spatial_scale=[0.5, 1.0],
    )
    return [x, rois, np.array([0])], options


@draws("GridSample")
def _grid_sample(draw: Draw) -> Any:
    grid = draw.rng.uniform(-1.5, 1.5, (1, 2, 2, 2)).astype(np.float32)
    new = draw.opset >= 20
    modes = ["linear", "nearest", "cubic"] if new else ["bilinear", "nearest", "bicubic"]
    x = draw.of(TensorProto.FLOAT, (1, 1, 3, 3))
    return [x, draw.choice((grid, draw.of(TensorProto.FLOAT, grid.shape)))], attributes(
        draw, mode=modes, padding_mode=["zeros", "border", "reflection"], align_corners=[0, 1]
    )


@draws("HannWindow HammingWindow BlackmanWindow")
def _window(draw: Draw) -> Any:
    return [np.array(draw.choice((1, 2, 5, 8)))], attributes(draw, periodic=[0, 1])


@draws("DFT STFT")
def _dft(draw: Draw) -> Any:
    if draw.schema.name == "STFT":
        return [draw.of(TensorProto.FLOAT, (1, 8, 1)), np.array(2), None, np.array(4)], {
            "onesided": draw.flag()
        }
    x = draw.of(TensorProto.FLOAT, (1, 4, draw.choice((1, 2))))
    return [x], attributes(draw, axis=[1]) if draw.opset < 20 else {}


@draws("MelWeightMatrix")
def _mel(draw: Draw) -> Any:
    return [
        np.array(4),
        np.array(16),
        np.array(8000),
        np.array(0.0, np.float32),
        np.array(4000.0, np.float32),
    ], {}


@draws("CenterCropPad")
def _crop_pad(draw: Draw) -> Any:
    return [
        draw.x(0, (draw.choice((1, 2, 5)), 3)),
        np.array([draw.choice((1, 2, 3, 4)), draw.choice((1, 4))]),
    ], {}


@draws("Col2Im")
def _col2im(draw: Draw) -> Any:
    return [draw.x(0, (1, 4, 4)), np.array([3, 3]), np.array([2, 2])], {}


@draws("MaxUnpool")
def _max_unpool(draw: Draw) -> Any:
    return [draw.x(0, (1, 1, 2, 2)), draw.rng.permutation(16)[:4].reshape(1, 1, 2, 2)], {
        "kernel_shape": [2, 2],
        "strides": [2, 2],
    }


@draws("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss")
def _loss(draw: Draw) -> Any:
    weight = [draw.x(2, (3,))] if draw.flag() else []
    return [draw.x(0, (4, 3)), draw.small(0, 2, (4,)), *weight], attributes(
        draw, reduction=["none", "sum", "mean"], ignore_index=[1, 9]
    )


@draws("QLinearMatMul")
def _q_linear(draw: Draw) -> Any:
    one = np.array(draw.choice((0.5, 0.01, 100.0)), np.float32)
    kind = TensorProto.UINT8
    return [
        draw.of(kind, (2, 3)),
        one,
        draw.of(kind, ()),
        draw.of(kind, (3, 2)),
        one,
        draw.of(kind, ()),
        one,
        draw.of(kind, ()),
    ], {}


@draws("QuantizeLinear DequantizeLinear")
def _quantize(draw: Draw) -> Any:
    zero = draw.choice((None, draw.x(2, ())))
    return [draw.x(0, draw.shape()), draw.x(1, ()), zero], {}


@draws("DynamicQuantizeLinear")
def _dynamic(draw: Draw) -> Any:
    return [draw.x()], {}, 3


@draws("AffineGrid")
def _affine_grid(draw: Draw) -> Any:
    return [draw.of(TensorProto.FLOAT, (1, 2, 3)), np.array([1, 1, 2, 3])], attributes(
        draw, align_corners=[0, 1]
    )


@draws("RotaryEmbedding")
def _rotary(draw: Draw) -> Any:
    return [draw.x(0, (1, 1, 2, 4)), draw.x(1, (1, 2, 2)), draw.x(2, (1, 2, 2))], attributes(
        draw, interleaved=[0, 1]
    )


@draws("Attention")
def _attention(draw: Draw) -> Any:
    q, k = draw.x(0, (1, 1, 2, 4)), draw.x(1, (1, 1, 3, 4))
    return [q, k, draw.x(2, (1, 1, 3, 4))], attributes(draw, is_causal=[0, 1])


KINDS = ("plain", "special", "extreme", "equal", "empty")


def versions(newest: int) -> Iterator[tuple[str, int]]:
    """Each operator with an opset for each of its versions, the last in which that one holds."""
    since: dict[str, list[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "":
            since.setdefault(schema.name, []).append(schema.since_version)
    for name in sorted(since):
        ordered = sorted(since[name])
        for version, following in zip(ordered, [*ordered[1:], newest + 1], strict=True):
            opset = min(following - 1, newest)
            if opset >= max(version, OLDEST) and not onnx.defs.get_schema(name, opset).deprecated:
                yield name, opset


def cases(count: int, seed: int, only: Collection[str] = (), newest: int = 26) -> Iterator[Case]:
    """So many cases for each version of each operator and each kind of values."""
    for name, opset in versions(newest):
        if name not in FAMILIES or (only and name not in only):
            continue
        schema = onnx.defs.get_schema(name, opset)
        for kind in KINDS:
            for number in range(count):
                numbers = [seed, *name.encode(), opset, *kind.encode(), number]
                yield case(schema, opset, kind, np.random.default_rng(numbers))


def case(schema: Any, opset: int, kind: str, rng: np.random.Generator) -> Case:
    """One case of an operator."""
    operands, options, *outputs = FAMILIES[schema.name](Draw(rng, schema, opset, kind))
    while operands and operands[-1] is None:
        operands.pop()
    operands = [None if a is None else np.asarray(a) for a in operands]
    names = ["" if a is None else f"i{n}" for n, a in enumerate(operands)]
    results = [f"o{n}" for n in range(outputs[0] if outputs else 1)]
    return Case(helper.make_node(schema.name, names, results, **options), opset, operands)
