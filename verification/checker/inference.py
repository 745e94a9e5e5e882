"""Types and sizes of the outputs of operators, by rules of the checker's own."""

# A rule says what holds wherever the operator does not fail; 0 and None are unknown.

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import onnx

from .meaning import FIRST, schema_of
from .polynomials import LIMIT, Dim, add, divide, is_at_least, multiply, rename, smaller, wider
from .sizes import elements_of, sizes_in
from .terms import ABSENT, UNKNOWN, Args, Fact, Head, Node, Shape, Terms, names

_STRING, _INT64 = onnx.TensorProto.STRING, onnx.TensorProto.INT64
# End of a Slice that no size reaches.
_NO_END = 1 << 62


class _Unknown(Exception):
    """The shape of an output does not follow from what is known."""


class _Output(NamedTuple):
    """Output of an operator on arguments. Asking for what is unknown ends a rule."""

    terms: Terms
    head: Head
    args: Args
    output: int

    def arg(self, place: int) -> int:
        """Argument, which may be absent."""
        return self.args[place] if place < len(self.args) else ABSENT

    def shape(self, place: int = 0) -> Shape:
        """Shape of an operand."""
        return known(self.terms.fact(self.arg(place)).shape)

    def shapes(self) -> list[Shape]:
        """Shapes of all operands."""
        return [self.shape(place) for place in range(len(self.args))]

    def axis(self, default: int = 0) -> int:
        """Axis of the first operand, from the front."""
        return _place(self.head.integer("axis", default), len(self.shape()))

    def has(self, place: int, name: str) -> bool:
        """Test for an operand, or the attribute that it once was."""
        return self.arg(place) != ABSENT or self.head.attribute(name) is not None

    def numbers(self, place: int, name: str) -> list[int] | None:
        """Numbers of an operand, or of the attribute that it once was; None if it is left out."""
        arg = self.arg(place)
        return self.head.integers(name) if arg == ABSENT else known(self.terms.numbers(arg))

    def sizes(self, place: int) -> Shape:
        """Elements of a list of sizes; None for those that are unknown."""
        fact, sizes = self.terms.fact(self.arg(place)), sizes_in(self.terms, self.arg(place))
        (count,) = known(fact.shape if len(fact.shape or ()) == 1 else None)
        return known((None,) * count if sizes is None and isinstance(count, int) else sizes)


T = TypeVar("T")


def known(value: T | None) -> T:
    """Value that is known."""
    if value is None:
        raise _Unknown
    return value


def _place(axis: int, rank: int) -> int:
    """Axis counted from the front."""
    return known(axis % rank if -rank <= axis < rank else None)


def fact_of_output(terms: Terms, head: Head, args: Args, output: int) -> Fact:
    """Fact of an output of an operator without bodies."""
    elem_type = _elem_type(terms, head, args, output)
    # An operator whose version is unknown, or one with a body, has no rule here.
    rule = RULES.get(head.name) if head.version and head.key is None else None
    try:
        shape = None if rule is None else tuple(rule(_Output(terms, head, args, output)))
    except _Unknown:
        shape = None
    # The node would fail: nothing may follow from a size that no tensor has.
    if shape is not None and any(isinstance(dim, int) and dim < 0 for dim in shape):
        shape = None
    return Fact(elem_type, shape)


def refine(terms: Terms, number: int) -> None:
    """Infer the sizes of a term again: more may be known of its operands by now."""
    node = terms.nodes[number]
    if node.head.version and node.head.key is None:
        terms.learn(number, fact_of_output(terms, node.head, node.args, node.output))


def fact_of(type_: onnx.TypeProto) -> Fact:
    """Fact of a tensor type; nothing is known of other values."""
    if type_.WhichOneof("value") != "tensor_type":
        return UNKNOWN
    tensor = type_.tensor_type
    if not tensor.HasField("shape"):
        return Fact(tensor.elem_type)
    dims = [d.dim_value if d.HasField("dim_value") else d.dim_param for d in tensor.shape.dim]
    return Fact(tensor.elem_type, tuple([None if dim in ("", -1) else dim for dim in dims]))


def common(facts: Sequence[Fact]) -> Fact:
    """Fact of a value that is one of several: the output of an If."""
    kinds = {fact.elem_type for fact in facts}
    shapes = [fact.shape for fact in facts if fact.shape is not None]
    elem_type = kinds.pop() if len(kinds) == 1 else 0
    if len(shapes) != len(facts) or len({*map(len, shapes)}) != 1 or not elem_type:
        return Fact(elem_type)
    sizes = zip(*shapes, strict=True)
    return Fact(elem_type, tuple([dims[0] if len({*dims}) == 1 else None for dims in sizes]))


def _elem_type(terms: Terms, head: Head, args: Args, output: int) -> int:
    """Element type by the schema, or by the attribute that determines it."""
    domain, _, name = head.name.rpartition("::")
    schema = schema_of(name, head.version, domain) if head.version else None
    if schema is None or head.key is not None or output >= head.outputs:
        return 0
    if head.name in ("Bernoulli", "RandomNormalLike", "RandomUniformLike"):
        return head.integer("dtype") or terms.fact(args[0]).elem_type
    if head.name in ("Cast", "ConstantOfShape"):
        value, is_cast = head.attribute("value"), head.name == "Cast"
        return head.integer("to") if is_cast else 1 if value is None else int(value.data_type)
    if domain == "ai.onnx.ml" and name.endswith("Classifier") and not output:
        return _STRING if head.attribute("classlabels_strings") else _INT64
    variable, only = _result(name, head.version, domain, output)
    for position, arg in enumerate(() if only else args):
        formal = schema.inputs[min(position, len(schema.inputs) - 1)]
        if formal.type_str == variable and formal.is_homogeneous and arg != ABSENT:
            return terms.fact(arg).elem_type
    return only


@functools.cache
def _result(name: str, version: int, domain: str, output: int) -> tuple[str, int]:
    """Type variable of an output, and its only element type; 0 if it has several, or none."""
    schema = schema_of(name, version, domain)
    variable = schema.outputs[min(output, len(schema.outputs) - 1)].type_str
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    (only,) = kinds if len(kinds := allowed.get(variable, [variable])) == 1 else ("",)
    is_tensor = only.startswith("tensor(")
    return variable, int(onnx.TensorProto.DataType.Value(only[7:-1].upper())) if is_tensor else 0


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """Shape of operands that broadcast."""
    complete = [shape for shape in shapes if shape is not None]
    if len(complete) < len(shapes) or not complete:
        return None
    rank = max(map(len, complete))
    columns = [[s[k - rank] for s in complete if len(s) >= rank - k] for k in range(rank)]
    return tuple(map(wider, columns))


def _broadcast(o: _Output) -> Shape:
    first = FIRST + (o.head.name in _VARIADIC)
    return known(broadcast(o.shapes()) if o.head.version >= first else None)


def _reduction(o: _Output) -> Sequence[Dim]:
    shape, is_place = o.shape(), o.head.name.startswith("Arg")
    axes = [o.axis()] if is_place else o.numbers(1, "axes")
    # Without that attribute an empty list of axes means all of them (ReduceSum from opset 13 on).
    if not axes and o.head.integer("noop_with_empty_axes"):
        return shape
    return _reduced(shape, axes or range(len(shape)), o.head.integer("keepdims", 1))


def _reduced(shape: Shape, axes: Iterable[int], keepdims: int = 0) -> Sequence[Dim]:
    places = {_place(axis, len(shape)) for axis in axes}
    sizes = [1 if k in places else dim for k, dim in enumerate(shape)]
    return sizes if keepdims else [dim for k, dim in enumerate(shape) if k not in places]


def _with(shape: Shape, axis: int, *sizes: Dim) -> Shape:
    """Shape with other sizes in the place of an axis."""
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def _concat(o: _Output) -> Shape:
    shapes, axis = o.shapes(), o.axis()
    columns = list(zip(*shapes, strict=False))
    total = functools.reduce(add, known(columns[axis] if axis < len(columns) else None))
    agreed = [min(dims, key=lambda dim: not isinstance(dim, int)) for dims in columns]
    return _with(tuple(agreed), axis, total)


def _transpose(o: _Output) -> Sequence[Dim]:
    # Without `perm` a Transpose reverses the axes (operator specification).
    order = o.head.integers("perm") or range(len(o.shape()))[::-1]
    return [o.shape()[_place(k, len(o.shape()))] for k in order]


def _unsqueeze(o: _Output) -> Sequence[Dim]:
    shape, axes = o.shape(), known(o.numbers(1, "axes"))
    rank = len(shape) + len(axes)
    places, rest = {_place(axis, rank) for axis in axes}, iter(shape)
    return [1 if k in places else next(rest, -1) for k in range(rank)]


def _flatten(o: _Output) -> Sequence[Dim]:
    shape, axis = o.shape(), o.head.integer("axis", 1)
    # Flatten alone allows an axis behind the last one.
    split = len(shape) if axis == len(shape) else o.axis(1)
    return multiply(*shape[:split]), multiply(*shape[split:])


def _reshape(o: _Output) -> Sequence[Dim]:
    # A name in the target is a size unless 0 would copy another one: there is none behind the last
    # axis, and it may be 0, too.
    shape, target = o.terms.fact(o.arg(0)).shape, o.sizes(1)
    sizes: list[Dim] = []
    for k, dim in enumerate(target):
        own = None if shape is None else 0 if k >= len(shape) else shape[k]
        copied = rename(own, {dim: 0}) if isinstance(dim, str) else own
        copies = not isinstance(dim, int) and copied != 0
        is_kept = o.head.integer("allowzero") or (dim != 0 and not copies) or dim == own
        sizes.append(dim if is_kept else own if dim == 0 else None)
    if -1 in sizes:
        place = sizes.index(-1)
        rest = sizes[:place] + sizes[place + 1 :]
        sizes[place] = None if shape is None or -1 in rest else _quotient(shape, rest)
    return sizes


def _quotient(shape: Shape, others: Sequence[Dim]) -> Dim:
    """Size that makes up for the others; they are not 0 where the Reshape does not fail."""
    sizes, rest = [*shape], [*others]
    for dim in others:
        if dim in sizes:
            sizes.remove(dim)
            rest.remove(dim)
    return divide(multiply(*sizes), multiply(*rest))


def _slice(o: _Output) -> Sequence[Dim]:
    """Keep the sizes of other axes, also where the ends of some are unknown."""
    sizes = [*o.shape()]
    lists: list[Sequence[Dim] | None] = [sizes_in(o.terms, o.arg(k)) for k in range(1, 5)]
    if o.head.version < 10:
        lists = [o.head.integers(name) for name in ("starts", "ends", "axes", "steps")]
    starts, ends, axes, steps = lists
    if not o.has(3, "axes") and starts is not None:
        axes = range(len(starts))
    # An unknown axis may be any of them.
    if axes is None or not all(isinstance(axis, int) for axis in axes):
        return [None] * len(sizes)
    rows = starts, ends, steps if o.has(4, "") else (1,) * len(axes)
    full = [row if row and len(row) == len(axes) else (None,) * len(axes) for row in rows]
    for axis, start, end, step in zip(axes, *full, strict=True):
        assert isinstance(axis, int)
        place = _place(axis, len(sizes))
        sizes[place] = _cut(sizes[place], start, end, step)
    return sizes


def _cut(dim: Dim, start: Dim, end: Dim, step: Dim) -> Dim:
    last = dim if end == dim else None
    if isinstance(end, int) and end > -_NO_END:
        last = add(dim, end) if end < 0 else dim if end >= _NO_END else smaller(end, dim)
    elif isinstance(dim, int):
        last = smaller(dim, end)
    if step == 1 and isinstance(start, int) and start >= 0 and is_at_least(0, add(last, -start)):
        return add(last, -start)
    if (start, step) == (-1, -1) and end == -LIMIT:
        return dim
    if not (isinstance(start, int) and isinstance(step, int) and isinstance(end, int)):
        return None
    if not isinstance(dim, int) or not (step > 0 or -_NO_END * 2 < end <= dim):
        return None
    return len(range(*slice(start, end, step).indices(dim)))


def _split(o: _Output) -> Shape:
    shape, axis, count = o.shape(), o.axis(), o.head.outputs
    parts = o.head.integers("split") if o.arg(1) == ABSENT else o.terms.numbers(o.arg(1))
    dim, size = shape[axis], None
    if parts is not None and len(parts) == count:
        size = parts[o.output]
    elif not o.has(1, "split") and isinstance(dim, int) and dim % count == 0:
        size = dim // count
    return _with(shape, axis, size)


def _pad(o: _Output) -> Sequence[Dim]:
    shape, rank = o.shape(), len(o.shape())
    pads = o.head.integers("pads") if len(o.args) < 2 else o.terms.numbers(o.args[1])
    # Pad 18 has an operand `axes`, by which pads are fewer.
    if pads is None or len(pads) != 2 * rank or len(o.args) > 3:
        return (None,) * rank
    return [add(dim, a + b) for dim, a, b in zip(shape, pads[:rank], pads[rank:], strict=True)]


def _gathered(o: _Output) -> Shape:
    *sizes, last = o.shape(1) or (None,)
    first = o.head.integer("batch_dims") + known(last if isinstance(last, int) else None)
    return (*sizes, *o.shape()[first:])


def _matmul(o: _Output) -> Sequence[Dim]:
    one, other = o.shape(), o.shape(1)
    batch = known(broadcast([one[:-2], other[:-2]]) if one and other else None)
    return (*batch, *one[-2:-1], *(other[-1:] if len(other) > 1 else ()))


def _gemm(o: _Output) -> Sequence[Dim]:
    one, other = (o.terms.fact(o.arg(k)).shape or (None, None) for k in (0, 1))
    known(len(one) == len(other) == 2 or None)
    return one[bool(o.head.integer("transA"))], other[not o.head.integer("transB")]


def _conv(o: _Output) -> Sequence[Dim]:
    shape, weights = o.shape(), o.shape(1)
    known(len(shape) == len(weights) > 2 or None)
    kernel = o.head.integers("kernel_shape") or weights[2:]
    return (shape[0], weights[0], *_windows(o.head, shape[2:], kernel))


def _transposed(o: _Output) -> Sequence[Dim]:
    """Sizes of which a Conv with these attributes makes those of the operand."""
    (count, _, *sizes), head = o.shape(), o.head
    kernel, pads = o.shape(1)[2:], head.integers("pads") or [0] * 2 * len(sizes)
    strides, gaps = (head.integers(n) or [1] * len(sizes) for n in ("strides", "dilations"))
    more = head.integers("output_padding") or [0] * len(sizes)
    channels = multiply(o.shape(1)[1], head.integer("group", 1))
    plain = head.attribute("auto_pad") in (None, b"NOTSET") and not head.integers("output_shape")
    known(len(kernel) == len(pads) // 2 == len(sizes) or None)
    if not plain or not all(isinstance(wide, int) for wide in kernel):
        return (count, channels, *[None] * len(sizes))
    wide = [gap * (k - 1) + 1 for gap, k in zip(gaps, kernel, strict=True) if isinstance(k, int)]
    rows = zip(sizes, strides, wide, more, pads, pads[len(sizes) :], strict=False)
    ends = [add(multiply(add(n, -1), step), w + m - a - b) for n, step, w, m, a, b in rows]
    return (count, channels, *ends)


def _pool(o: _Output) -> Sequence[Dim]:
    shape, kernel = o.shape(), o.head.integers("kernel_shape")
    if o.head.name.startswith("Global"):
        return (*shape[:2], *[1] * len(shape[2:]))
    return (*shape[:2], *_windows(o.head, shape[2:], known(kernel)))


def _windows(head: Head, sizes: Sequence[Dim], kernel: Sequence[Dim]) -> Sequence[Dim]:
    """Numbers of windows with explicit pads."""
    count = len(sizes)
    strides = head.integers("strides") or [1] * count
    gaps, pads = head.integers("dilations") or [1] * count, head.integers("pads") or [0] * 2 * count
    is_plain = head.attribute("auto_pad") in (None, b"NOTSET") and not head.integer("ceil_mode")
    if not is_plain or not len(kernel) == len(strides) == len(gaps) == len(pads) // 2 == count:
        return (None,) * count
    rows = zip(sizes, kernel, pads[:count], pads[count:], strides, gaps, strict=True)
    return [_window(size, wide, a + b, stride, gap) for size, wide, a, b, stride, gap in rows]


def _window(size: Dim, wide: Dim, pad: int, stride: int, gap: int) -> Dim:
    if stride == 1 and isinstance(wide, int) and not isinstance(size, int):
        return add(size, pad - gap * (wide - 1))
    if not isinstance(size, int) or not isinstance(wide, int) or stride < 1:
        return None
    room = size + pad - gap * (wide - 1) - 1
    return room // stride + 1 if room >= 0 else None


def _range(o: _Output) -> Sequence[Dim]:
    """Count steps of 1 from a size to another one that is not smaller."""
    ends = [sizes_in(o.terms, arg) for arg in o.args]
    if len(ends) != 3 or not all(each is not None and len(each) == 1 for each in ends):
        return (None,)
    start, limit, step = [each[0] for each in ends if each is not None]
    count = add(limit, start, -1)
    return (count if step == 1 and o.terms.is_size(count) else None,)


def _recurrent(o: _Output) -> Sequence[Dim]:
    count = 2 if o.head.attribute("direction") == b"bidirectional" else 1
    shape = o.terms.fact(o.arg(0)).shape
    if shape is None or len(shape) != 3 or o.head.integer("layout"):
        return (None,) * (3 if o.output else 4)
    state = (count, shape[1], o.head.attribute("hidden_size"))
    return state if o.output else (shape[0], *state)


def _features(o: _Output) -> Sequence[Dim]:
    return (*(o.shape()[:-1] or [1]), multiply(*o.shape(1)))  # a row before the only axis


_OF_FIRST = names("""Abs Acos Acosh Asin Asinh Atan Atanh BatchNormalization Bernoulli BitwiseNot
    Cast CastLike Ceil Celu Clip Cos Cosh CumSum DequantizeLinear Elu Erf Exp EyeLike Floor Gelu
    GroupNormalization HardSigmoid HardSwish Hardmax Identity InstanceNormalization IsInf IsNaN LRN
    LayerNormalization LeakyRelu Log LogSoftmax LpNormalization MeanVarianceNormalization Mish Neg
    Not PRelu QuantizeLinear RMSNormalization RandomNormalLike RandomUniformLike Reciprocal Relu
    ReverseSequence Round ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh Softmax
    Softplus Softsign Sqrt Swish Tan Tanh ThresholdedRelu Trilu ai.onnx.ml::Scaler""")
# Operators whose operands broadcast, from version 7 on.
BROADCASTING = names("""Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Min Mod Mul Or
    Pow Sub Where Xor""")
_BROADCAST = (*BROADCASTING, "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mean", "Sum")
_VARIADIC = ("Max", "Mean", "Min", "Sum")
REDUCED = names("L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare")
_LIKE = ("DepthToSpace", "Resize", "SpaceToDepth", "Upsample")
RULES: dict[str, Callable[[_Output], "Sequence[Dim]"]] = {
    **dict.fromkeys(_OF_FIRST, lambda o: known(None if o.output else o.shape())),
    **dict.fromkeys(_BROADCAST, _broadcast),
    **dict.fromkeys(["ArgMax", "ArgMin", *[f"Reduce{name}" for name in REDUCED]], _reduction),
    **dict.fromkeys(_LIKE, lambda o: (None,) * len(o.shape())),
    **{f"{all_}{name}Pool": _pool for all_ in ("", "Global") for name in ("Average", "Lp", "Max")},
    **dict.fromkeys(("GRU", "LSTM", "RNN"), _recurrent),
    "ai.onnx.ml::ArrayFeatureExtractor": _features,
    "Concat": _concat,
    "ConstantOfShape": lambda o: o.sizes(0),
    "Conv": _conv,
    "ConvTranspose": _transposed,
    "Dropout": lambda o: o.shape(),
    "Expand": lambda o: known(broadcast([o.shape(), o.sizes(1)])),
    "Flatten": _flatten,
    "Gather": lambda o: _with(o.shape(), o.axis(), *o.shape(1)),
    "GatherElements": lambda o: o.shape(1),
    "GatherND": _gathered,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "NonZero": lambda o: (known(len(o.shape()) or None), None),
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "Shape": lambda o: (getattr(elements_of(o.terms, Node(*o[1:3], 0, UNKNOWN)), "size", None),),
    "Size": lambda o: (),
    "Slice": _slice,
    "Split": _split,
    "Squeeze": lambda o: _reduced(o.shape(), known(o.numbers(1, "axes") or None)),
    "Tile": lambda o: [multiply(dim, n) for dim, n in zip(o.shape(), o.sizes(1), strict=False)],
    "TopK": lambda o: _with(o.shape(), o.axis(-1), *o.sizes(1)[:1]),
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
}
