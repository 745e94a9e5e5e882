"""Graphs as exporters write them, made in code: two transformers, a convolutional network, and a
detector, in which boxes are chosen, cut out of the image and put back.

Shapes are computed at run time from a symbolic batch, by chains of Shape, Gather, Unsqueeze, Concat
and Reshape, as `torch.onnx.export` writes them for `view` and `permute`.
"""

import math
from collections.abc import Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
SMALL = 1 << 13


class Writer:
    """Makes nodes and constants; each call gives back the name of a value."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._shared: dict[tuple[int, ...], str] = {}
        self._ints: dict[tuple[int, ...] | int, str] = {}

    def add(self, op_type: str, *inputs: str, **attributes: object) -> str:
        name = f"v{len(self.nodes)}"
        label = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], name=label, **attributes))
        return name

    def several(self, op_type: str, count: int, *inputs: str, **attributes: object) -> list[str]:
        names = [f"v{len(self.nodes)}_{part}" for part in range(count)]
        label = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, names, name=label, **attributes))
        return names

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weight(self, *shape: int) -> str:
        """Weights; large ones of one shape are shared, so that models of any length fit."""
        if math.prod(shape) <= SMALL:
            return self.constant(np.full(shape, 0.01, np.float32))
        if shape not in self._shared:
            self._shared[shape] = self.constant(np.full(shape, 0.01, np.float32))
        return self._shared[shape]

    def scalar(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def ints(self, values: Sequence[int] | int) -> str:
        key = values if isinstance(values, int) else tuple(values)
        if key not in self._ints:
            self._ints[key] = self.constant(np.array(values, np.int64))
        return self._ints[key]

    def model(
        self, inputs: dict[str, tuple[int, list]], output: str, shape: list
    ) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "exported",
            [helper.make_tensor_value_info(name, *type_) for name, type_ in inputs.items()],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
            self.constants,
        )
        imports = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=imports, ir_version=8)

    # What several networks share ----------------------------------------------------------------

    def size(self, value: str, axis: int) -> str:
        """One size of a value, as a scalar."""
        return self.add("Gather", self.add("Shape", value), self.ints(axis), axis=0)

    def view(self, value: str, *sizes: str | int) -> str:
        """`value` in another shape, some of whose sizes are computed."""
        parts = [
            self.ints([size]) if isinstance(size, int) else self.add("Unsqueeze", size, self.zero)
            for size in sizes
        ]
        return self.add("Reshape", value, self.add("Concat", *parts, axis=0))

    @property
    def zero(self) -> str:
        return self.ints([0])

    def linear(self, value: str, inputs: int, outputs: int) -> str:
        product = self.add("MatMul", value, self.weight(inputs, outputs))
        return self.add("Add", self.weight(outputs), product)

    def norm(self, value: str, width: int) -> str:
        """A layer normalization, taken apart as for opsets below 17."""
        mean = self.add("ReduceMean", value, axes=[-1])
        off = self.add("Sub", value, mean)
        squares = self.add("Pow", off, self.scalar(2.0))
        spread = self.add("Add", self.add("ReduceMean", squares, axes=[-1]), self.scalar(1e-5))
        scaled = self.add("Div", off, self.add("Sqrt", spread))
        return self.add("Add", self.add("Mul", scaled, self.weight(width)), self.weight(width))

    def gelu(self, value: str) -> str:
        halves = self.add("Erf", self.add("Div", value, self.scalar(1.4142)))
        product = self.add("Mul", value, self.add("Add", halves, self.scalar(1.0)))
        return self.add("Mul", product, self.scalar(0.5))


def bert(layers: int, width: int = 768, heads: int = 12) -> onnx.ModelProto:
    """An encoder for token numbers of a symbolic batch and length; 78 nodes a layer."""
    w = Writer()
    mask = w.add("Unsqueeze", w.add("Unsqueeze", "mask", w.ints([1])), w.ints([2]))
    mask = w.add("Sub", w.scalar(1.0), w.add("Cast", mask, to=TensorProto.FLOAT))
    mask = w.add("Mul", mask, w.scalar(-10000.0))
    length = w.add("Unsqueeze", w.size("ids", 1), w.zero)
    positions = w.add("Slice", w.constant(np.arange(512)[None]), w.zero, length, w.ints([1]))
    value = w.add("Gather", w.weight(100, width), "ids")
    value = w.add("Add", value, w.add("Gather", w.weight(512, width), positions))
    value = w.norm(value, width)
    for _ in range(layers):
        query, key, key_t = (w.linear(value, width, width) for _ in range(3))
        query, key, key_t = (
            w.add("Transpose", _heads(w, part, heads, width), perm=order)
            for part, order in ((query, [0, 2, 1, 3]), (key, [0, 2, 1, 3]), (key_t, [0, 2, 3, 1]))
        )
        scores = w.add("Div", w.add("MatMul", query, key_t), w.scalar(4.0))
        weights = w.add("Softmax", w.add("Add", scores, mask), axis=-1)
        mixed = w.add("Transpose", w.add("MatMul", weights, key), perm=[0, 2, 1, 3])
        mixed = w.view(mixed, w.size(mixed, 0), w.size(mixed, 1), width)
        value = w.norm(w.add("Add", w.linear(mixed, width, width), value), width)
        inner = w.gelu(w.linear(value, width, 4 * width))
        value = w.norm(w.add("Add", w.linear(inner, 4 * width, width), value), width)
    sequence = (TensorProto.INT64, ["batch", "length"])
    inputs = {"ids": sequence, "mask": sequence}
    return w.model(inputs, value, ["batch", "length", width])


def _heads(w: Writer, value: str, heads: int, width: int) -> str:
    return w.view(value, w.size(value, 0), w.size(value, 1), heads, width // heads)


def swin(blocks: int, width: int = 96, side: int = 56, window: int = 7) -> onnx.ModelProto:
    """Blocks of attention in shifted windows over images of a symbolic batch; 115 nodes a block,
    103 of them where nothing is shifted."""
    w = Writer()
    value = w.add("Conv", "image", w.weight(width, 3, 4, 4), w.weight(width), strides=[4, 4])
    shape = w.add("Shape", value)
    front = w.add("Slice", shape, w.zero, w.ints([2]), w.zero)
    flat = w.add("Concat", front, w.ints([-1]), axis=0)
    value = w.norm(w.add("Transpose", w.add("Reshape", value, flat), perm=[0, 2, 1]), width)
    for block in range(blocks):
        value = _swin_block(w, value, width, side, window, shifted=block % 2 == 1)
    image = (TensorProto.FLOAT, ["batch", 3, 4 * side, 4 * side])
    return w.model({"image": image}, value, ["batch", side * side, width])


def _swin_block(w: Writer, value: str, width: int, side: int, window: int, shifted: bool) -> str:
    batch, channels = w.size(value, 0), w.size(value, 2)
    image = w.view(w.norm(value, width), batch, side, side, channels)
    if shifted:
        image = _rolled(w, image, window // 2)
    # Windows: [batch, side, side, c] to [batch * windows, window * window, c].
    rows, columns = (w.add("Div", w.size(image, axis), w.ints(window)) for axis in (1, 2))
    parts = w.view(image, w.size(image, 0), rows, window, columns, window, w.size(image, 3))
    parts = w.add("Transpose", parts, perm=[0, 1, 3, 2, 4, 5])
    parts = w.view(parts, -1, window * window, channels)
    mixed = _attention(w, parts, width, window * window)
    # And back.
    windows = w.add("Div", w.add("Mul", w.ints(side), w.ints(side)), w.ints(window * window))
    whole = w.add("Div", w.size(mixed, 0), windows)
    whole = w.add("Cast", whole, to=TensorProto.INT64)
    image = w.view(mixed, whole, side // window, side // window, window, window, -1)
    image = w.add("Transpose", image, perm=[0, 1, 3, 2, 4, 5])
    image = w.view(image, whole, side, side, -1)
    if shifted:
        image = _rolled(w, image, -(window // 2))
    value = w.add("Add", value, w.view(image, batch, side * side, channels))
    inner = w.gelu(w.linear(w.norm(value, width), width, 4 * width))
    return w.add("Add", value, w.linear(inner, 4 * width, width))


def _rolled(w: Writer, image: str, by: int) -> str:
    for axis in (1, 2):
        axes = w.ints([axis])
        end = w.add("Slice", image, w.ints([by]), w.ints([2**63 - 1]), axes)
        start = w.add("Slice", image, w.zero, w.ints([by]), axes)
        image = w.add("Concat", end, start, axis=axis)
    return image


def _attention(w: Writer, value: str, width: int, length: int, heads: int = 3) -> str:
    count, channels = w.size(value, 0), w.size(value, 2)
    share = w.add("Div", channels, w.ints(heads))
    packed = w.view(w.linear(value, width, 3 * width), count, length, 3, heads, share)
    packed = w.add("Transpose", packed, perm=[2, 0, 3, 1, 4])
    query, key, own = (w.add("Gather", packed, w.ints(part), axis=0) for part in range(3))
    scores = w.add(
        "MatMul", w.add("Mul", query, w.scalar(0.25)), w.add("Transpose", key, perm=[0, 1, 3, 2])
    )
    bias = w.add("Unsqueeze", w.weight(heads, length, length), w.zero)
    weights = w.add("Softmax", w.add("Add", scores, bias), axis=-1)
    mixed = w.add("Transpose", w.add("MatMul", weights, own), perm=[0, 2, 1, 3])
    return w.linear(w.view(mixed, count, length, channels), width, width)


def resnet(blocks: int, width: int = 64) -> onnx.ModelProto:
    """Residual blocks of convolutions over images of a symbolic batch; 7 nodes a block."""
    w = Writer()
    value = _conv(w, "image", 3, width, 7, strides=[2, 2], pads=[3] * 4)
    value = w.add(
        "MaxPool", w.add("Relu", value), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4
    )
    for _ in range(blocks):
        inner = w.add("Relu", _conv(w, value, width, width, 3, pads=[1] * 4))
        inner = _conv(w, inner, width, width, 3, pads=[1] * 4)
        value = w.add("Relu", w.add("Add", inner, value))
    value = w.add("GlobalAveragePool", value)
    value = w.linear(w.view(value, w.size(value, 0), -1), width, 10)
    image = (TensorProto.FLOAT, ["batch", 3, 224, 224])
    return w.model({"image": image}, value, ["batch", 10])


def detector(blocks: int, width: int = 16, side: int = 32) -> onnx.ModelProto:
    """Heads that each propose boxes for one image and look at them again; 128 nodes a block."""
    w = Writer()
    value = _conv(w, "image", 3, width, 3, pads=[1] * 4)
    for _ in range(blocks):
        boxes, scores = _proposed(w, w.add("Relu", value), width, side)
        looks = _looked_at(w, value, _chosen(w, boxes, scores), width, side)
        # All that is found moves what the next head sees.
        value = w.add("Add", value, w.add("ReduceMean", looks, axes=[0, 1], keepdims=0))
    image = (TensorProto.FLOAT, [1, 3, "height", "width"])
    return w.model({"image": image}, value, [1, width, "height", "width"])


def _proposed(w: Writer, value: str, width: int, side: int) -> tuple[str, str]:
    """The best of all boxes, which are deltas from anchors, and their scores."""
    scores = _conv(w, value, width, 3, 1)
    scores = w.add("Transpose", scores, perm=[0, 2, 3, 1])
    scores = w.add("Sigmoid", w.view(scores, w.size(scores, 0), -1))
    deltas = _conv(w, value, width, 12, 1)
    height, across = w.size(deltas, 2), w.size(deltas, 3)
    deltas = w.view(deltas, w.size(deltas, 0), 3, 4, height, across)
    deltas = w.add("Transpose", deltas, perm=[0, 3, 4, 1, 2])
    deltas = w.view(deltas, w.size(deltas, 0), -1, 4)
    most = w.add("Concat", w.ints([50]), w.add("Unsqueeze", w.size(scores, 1), w.zero), axis=0)
    most = w.add("Reshape", w.add("ReduceMin", most, keepdims=0), w.ints([-1]))
    best, places = w.several("TopK", 2, scores, most, axis=1)
    chosen = w.add("Unsqueeze", places, w.ints([2]))
    chosen = w.add("Expand", chosen, w.ints([1, 1, 4]))
    deltas = w.add("Squeeze", w.add("GatherElements", deltas, chosen, axis=1), w.zero)
    parts = []
    for axis in range(4):
        column = w.ints([axis]), w.ints([axis + 1]), w.ints([1])
        part = w.add("Squeeze", w.add("Slice", deltas, *column), w.ints([1]))
        part = w.add("Clip", w.add("Exp", part), w.scalar(0.0), w.scalar(float(side)))
        parts.append(w.add("Unsqueeze", part, w.ints([1])))
    return w.add("Concat", *parts, axis=1), w.add("Squeeze", best, w.zero)


def _chosen(w: Writer, boxes: str, scores: str) -> str:
    """The boxes that are large enough, and of those that overlap the best."""
    sizes = []
    for axis in range(2):
        low, high = (w.add("Gather", boxes, w.ints(at), axis=1) for at in (axis, axis + 2))
        sizes.append(w.add("GreaterOrEqual", w.add("Sub", high, low), w.scalar(-1e3)))
    kept = w.add("Squeeze", w.add("NonZero", w.add("And", *sizes)), w.zero)
    boxes, scores = (w.add("Gather", value, kept, axis=0) for value in (boxes, scores))
    given = w.add("Unsqueeze", boxes, w.zero), w.add("Unsqueeze", scores, w.ints([0, 1]))
    found = w.add("NonMaxSuppression", *given, w.ints([20]), w.scalar(0.7), w.scalar(0.05))
    found = w.add("Slice", found, w.ints([2]), w.ints([3]), w.ints([1]))
    return w.add("Gather", boxes, w.add("Squeeze", found, w.ints([1])), axis=0)


def _looked_at(w: Writer, value: str, boxes: str, width: int, side: int) -> str:
    """What two levels see in the boxes that are for them, in the order of the boxes."""
    low, high = (
        w.add("Slice", boxes, w.ints([at]), w.ints([at + 2]), w.ints([1])) for at in (0, 2)
    )
    area = w.add("ReduceProd", w.add("Sub", high, low), axes=[1], keepdims=0)
    level = w.add("Clip", w.add("Floor", w.add("Sqrt", w.add("Abs", area))), "", w.scalar(1.0))
    level = w.add("Cast", level, to=TensorProto.INT64)
    count = w.add("Unsqueeze", w.size(boxes, 0), w.zero)
    shape = w.add("Concat", count, w.ints([width, 3, 3]), axis=0)
    seen = w.add("ConstantOfShape", shape)
    for number in range(2):
        mine = w.add("Squeeze", w.add("NonZero", w.add("Equal", level, w.ints(number))), w.zero)
        own = w.add("Gather", boxes, mine, axis=0)
        batch = w.add("Cast", w.add("ConstantOfShape", w.add("Shape", mine)), to=TensorProto.INT64)
        how = {"output_height": 3, "output_width": 3, "sampling_ratio": 2}
        how["coordinate_transformation_mode"] = "output_half_pixel"
        cut = w.add("RoiAlign", value, own, batch, spatial_scale=1 / 2**number, **how)
        places = w.add("Reshape", mine, w.ints([-1, 1, 1, 1]))
        places = w.add("Expand", places, w.add("Shape", cut))
        seen = w.add("ScatterElements", seen, places, cut, axis=0)
    hidden = w.linear(w.add("Flatten", seen, axis=1), width * 9, 32)
    return w.add("Softmax", w.linear(w.add("Relu", hidden), 32, 8), axis=1)


def _conv(w: Writer, value: str, inputs: int, outputs: int, side: int, **attributes: object) -> str:
    kernel = w.weight(outputs, inputs, side, side)
    value = w.add("Conv", value, kernel, w.weight(outputs), kernel_shape=[side, side], **attributes)
    return w.add("BatchNormalization", value, *(w.weight(outputs) for _ in range(4)))
