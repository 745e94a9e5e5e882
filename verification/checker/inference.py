"""Types and sizes of the outputs of operators, by rules of the checker's own.

A rule says what holds wherever the operator does not fail; 0 and None are unknown.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import onnx

from .meaning import schema_of
from .polynomials import Dim, add, divide, multiply, rename, smaller, smaller_of
from .sizes import part_of_shape, sizes_in, whole_numbers
from .terms import ABSENT, UNKNOWN, Fact, Head, Shape, Terms

Args = tuple[int, ...]
Rule = Callable[[Terms, Head, Args, int], "Shape | None"]
"""Function of the terms, a head, its arguments and the index of an output."""

RULES: dict[str, Rule] = {}
"""Rules for shapes by operator."""
_STRING, _INT64 = onnx.TensorProto.STRING, onnx.TensorProto.INT64
_NO_END = 1 << 62
"""End of a Slice that no size reaches."""
_BROADCASTING = 7
"""First version of arithmetic that broadcasts without attributes."""


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return register


def fact_of_output(terms: Terms, head: Head, args: Args, output: int) -> Fact:
    """Fact of an output of an operator without bodies."""
    elem_type = _elem_type(terms, head, args, output)
    rule = RULES.get(head.name) if head.version and head.key is None else None
    shape = None if rule is None else rule(terms, head, args, output)
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
    if head.name in ("Cast", "ConstantOfShape"):
        value = head.attribute("value")
        is_cast = head.name == "Cast"
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


def _shape(terms: Terms, args: Args, position: int = 0) -> Shape | None:
    return terms.fact(args[position]).shape if position < len(args) else None


def _axis(shape: Sequence[Dim], axis: int) -> int | None:
    """Axis counted from the front; None if there is none."""
    return axis % len(shape) if -len(shape) <= axis < len(shape) else None


@_rule(
    *("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cast", "CastLike"),
    *("Ceil", "Celu", "Clip", "Cos", "Cosh", "CumSum", "DequantizeLinear", "Elu", "Erf", "Exp"),
    *("Floor", "Gelu", "HardSigmoid", "HardSwish", "Hardmax", "Identity", "IsInf", "IsNaN"),
    *("InstanceNormalization", "LRN", "LayerNormalization", "LeakyRelu", "Log", "LogSoftmax"),
    *("BatchNormalization", "LpNormalization", "MeanVarianceNormalization", "Mish", "Neg", "Not"),
    *("PRelu", "QuantizeLinear", "Reciprocal", "Relu", "ReverseSequence", "Round", "ScatterND"),
    *("GroupNormalization", "RMSNormalization", "ScatterElements", "Selu", "Shrink", "Sigmoid"),
    *("Sign", "Sin", "Sinh", "Softmax", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "Trilu"),
    *("Swish", "ThresholdedRelu", "EyeLike"),
)
def _of_first(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    return None if output else _shape(terms, args)


@_rule("Dropout")
def _dropout(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    return _shape(terms, args)


@_rule(
    *("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal"),
    *("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mod", "Mul", "Or", "Pow", "Sub"),
    *("Where", "Xor"),
)
def _broadcast(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shapes = [_shape(terms, args, position) for position in range(len(args))]
    return None if head.version < _BROADCASTING else broadcast(shapes)


@_rule("Max", "Mean", "Min", "Sum")
def _variadic(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    return None if head.version <= _BROADCASTING else _broadcast(terms, head, args, output)


def broadcast(shapes: Sequence[Shape | None]) -> Shape | None:
    """Shape of operands that broadcast; a size is unknown where two have other names."""
    complete = [shape for shape in shapes if shape is not None]
    if len(complete) < len(shapes) or not complete:
        return None
    rank = max(map(len, complete))
    return tuple(
        [_wider([s[k - rank] for s in complete if len(s) >= rank - k]) for k in range(rank)]
    )


def _wider(dims: Sequence[Dim]) -> Dim:
    wide = {dim for dim in dims if dim != 1}
    wide -= {dim for dim in wide if smaller_of(dim)[1] in wide and smaller_of(dim)[0] > 1}
    numbers = [dim for dim in wide if isinstance(dim, int)]
    if numbers:
        return numbers[0] if len(numbers) == 1 else None
    return 1 if not wide else next(iter(wide)) if len(wide) == 1 else None


_REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


@_rule(*[f"Reduce{name}" for name in _REDUCTIONS])
def _reduction(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape, axes = _shape(terms, args), head.integers("axes")
    if len(args) > 1:
        axes = terms.numbers(args[1])
        if axes is None:
            return None
    if shape is None:
        return None
    if not axes and head.integer("noop_with_empty_axes"):
        return shape
    places = {_axis(shape, axis) for axis in axes or range(len(shape))}
    return None if None in places else _reduced(shape, places, head.integer("keepdims", 1))


def _reduced(shape: Shape, axes: set[int | None], keepdims: int) -> Shape:
    if keepdims:
        return tuple([1 if k in axes else dim for k, dim in enumerate(shape)])
    return tuple([dim for k, dim in enumerate(shape) if k not in axes])


@_rule("ArgMax", "ArgMin")
def _arg(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape = _shape(terms, args)
    axis = None if shape is None else _axis(shape, head.integer("axis"))
    return None if axis is None else _reduced(shape or (), {axis}, head.integer("keepdims", 1))


@_rule("Concat")
def _concat(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shapes = [terms.fact(arg).shape for arg in args]
    first = shapes[0]
    axis = None if first is None else _axis(first, head.integer("axis"))
    complete = [shape for shape in shapes if shape is not None and len(shape) == len(first or ())]
    if axis is None or len(complete) < len(shapes):
        return None
    columns = list(zip(*complete, strict=True))
    total = functools.reduce(add, columns[axis])
    return tuple([total if k == axis else _agreed(dims) for k, dims in enumerate(columns)])


def _agreed(dims: Sequence[Dim]) -> Dim:
    """One of some equal sizes, a number if there is one."""
    numbers = {dim for dim in dims if isinstance(dim, int)}
    names = [dim for dim in dims if dim is not None]
    return next(iter(numbers)) if len(numbers) == 1 else names[0] if names else None


@_rule("Transpose")
def _transpose(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape, perm = _shape(terms, args), head.integers("perm")
    if shape is None:
        return None
    order = [*range(len(shape))][::-1] if perm is None else perm
    return tuple([shape[k] for k in order]) if sorted(order) == [*range(len(shape))] else None


@_rule("Squeeze")
def _squeeze(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape = _shape(terms, args)
    axes = terms.numbers(args[1]) if len(args) > 1 else head.integers("axes")
    if shape is None or not axes:  # which axes are 1 may be unknown
        return None
    places = {_axis(shape, axis) for axis in axes}
    return None if None in places else _reduced(shape, places, 0)


@_rule("Unsqueeze")
def _unsqueeze(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape = _shape(terms, args)
    axes = terms.numbers(args[1]) if len(args) > 1 else head.integers("axes")
    if shape is None or axes is None:
        return None
    rank = len(shape) + len(axes)
    places = {_axis([1] * rank, axis) for axis in axes}
    if None in places or len(places) < len(axes):
        return None
    rest = iter(shape)
    return tuple([1 if k in places else next(rest) for k in range(rank)])


@_rule("Flatten")
def _flatten(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape, axis = _shape(terms, args), head.integer("axis", 1)
    if shape is None or not -len(shape) <= axis <= len(shape):
        return None
    split = axis + len(shape) if axis < 0 else axis
    return multiply(*shape[:split]), multiply(*shape[split:])


@_rule("Reshape")
def _reshape(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    """Take a name in the target for a size unless 0 would copy another one: there is none behind
    the last axis, and it may be 0, too."""
    shape, target = _shape(terms, args), sizes_in(terms, args[1]) if len(args) > 1 else None
    if target is None or head.version < 5 or terms.fact(args[1]).rank != 1:
        return None
    sizes: list[Dim] = []
    for k, dim in enumerate(target):
        own = None if shape is None else 0 if k >= len(shape) else shape[k]
        copied = rename(own, {dim: 0}) if isinstance(dim, str) else own
        copies = not isinstance(dim, int) and copied != 0
        if head.integer("allowzero") or (dim != 0 and not copies) or dim == own:
            sizes.append(dim)
        else:
            sizes.append(own if dim == 0 else None)
    if -1 not in sizes:
        return tuple(sizes)
    place = sizes.index(-1)
    rest = sizes[:place] + sizes[place + 1 :]
    sizes[place] = None if shape is None or -1 in rest else _quotient(shape, rest)
    return tuple(sizes)


def _quotient(shape: Shape, others: Sequence[Dim]) -> Dim:
    """Size that makes up for the others; they are not 0 where the Reshape does not fail."""
    sizes, rest = [*shape], [*others]
    for dim in others:
        if dim in sizes:
            sizes.remove(dim)
            rest.remove(dim)
    return divide(multiply(*sizes), multiply(*rest))


@_rule("Gather")
def _gather(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape, indices = _shape(terms, args), _shape(terms, args, 1)
    axis = None if shape is None else _axis(shape, head.integer("axis"))
    if shape is None or indices is None or axis is None:
        return None
    return (*shape[:axis], *indices, *shape[axis + 1 :])


@_rule("GatherElements")
def _gather_elements(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    return _shape(terms, args, 1)


@_rule("Shape")
def _shape_of(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape = _shape(terms, args)
    if shape is None:
        return (None,)
    return (len(part_of_shape(shape, head.integer("start"), head.integer("end", len(shape)))),)


@_rule("Size")
def _size(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    return ()


@_rule("ConstantOfShape")
def _filled(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    return sizes_in(terms, args[0]) if terms.fact(args[0]).rank == 1 else None


@_rule("Expand")
def _expand(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    fits = len(args) > 1 and terms.fact(args[1]).rank == 1
    return broadcast([_shape(terms, args), sizes_in(terms, args[1])]) if fits else None


@_rule("Tile")
def _tile(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape, repeats = _shape(terms, args), whole_numbers(terms, args[1]) if len(args) > 1 else None
    if shape is None or repeats is None or len(shape) != len(repeats):
        return None
    pairs = zip(shape, repeats, strict=True)
    return tuple([multiply(dim, n) for dim, n in pairs])


@_rule("Slice")
def _slice(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    """Keep the sizes of other axes, also where the ends of some are unknown."""
    shape = _shape(terms, args)
    if shape is None:
        return None
    if head.version < 10:
        lists: list[Sequence[Dim] | None] = [
            head.integers(name) for name in ("starts", "ends", "axes")
        ]
        steps: Sequence[Dim] | None = None
    else:
        lists = [sizes_in(terms, arg) for arg in (*args, ABSENT, ABSENT)[1:4]]
        steps = sizes_in(terms, args[4]) if len(args) > 4 else None
    starts, ends, axes = lists
    has_axes = head.attribute("axes") is not None or (len(args) > 3 and args[3] != ABSENT)
    if not has_axes and starts is not None:
        axes = [*range(len(starts))]
    places = [_axis(shape, n) if isinstance(n, int) else None for n in axes or ()]
    if axes is None or None in places:
        return (None,) * len(shape)
    count, sizes = len(places), list(shape)
    unknown: list[Dim] = [None] * count
    if steps is None and len(args) <= 4:
        steps = [1] * count
    rows = [one if one is not None and len(one) == count else unknown for one in (starts, ends)]
    strides = steps if steps is not None and len(steps) == count else unknown
    for place, start, end, step in zip(places, *rows, strides, strict=True):
        assert place is not None
        sizes[place] = _cut(sizes[place], start, end, step)
    return tuple(sizes)


def _cut(dim: Dim, start: Dim, end: Dim, step: Dim) -> Dim:
    if not isinstance(start, int) or not isinstance(step, int):
        return None
    if not isinstance(end, int):
        if (start, step) != (0, 1) or end is None:
            return None
        return dim if end == dim else smaller(dim, end) if isinstance(dim, int) else None
    if isinstance(dim, int) and (step > 0 or -_NO_END * 2 < end <= dim):
        return len(range(*slice(start, end, step).indices(dim)))
    return dim if (start, step) == (0, 1) and end >= _NO_END else None


@_rule("Split")
def _split(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape = _shape(terms, args)
    axis = None if shape is None else _axis(shape, head.integer("axis"))
    if shape is None or axis is None:
        return None
    parts = terms.numbers(args[1]) if len(args) > 1 else head.integers("split")
    has_sizes = len(args) > 1 or head.attribute("split") is not None
    dim, size = shape[axis], None
    if parts is not None and len(parts) == head.outputs:
        size = parts[output]
    elif not has_sizes and isinstance(dim, int) and dim % head.outputs == 0:
        size = dim // head.outputs
    return (*shape[:axis], size, *shape[axis + 1 :])


@_rule("Pad")
def _pad(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape = _shape(terms, args)
    pads = terms.numbers(args[1]) if len(args) > 1 else head.integers("pads")
    if shape is None:
        return None
    rank = len(shape)
    if pads is None or len(pads) != 2 * rank or len(args) > 3:
        return (None,) * rank
    ends = zip(shape, pads[:rank], pads[rank:], strict=True)
    return tuple([add(dim, a + b) for dim, a, b in ends])


@_rule("MatMul")
def _matmul(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    one, other = _shape(terms, args), _shape(terms, args, 1)
    if not one or not other:
        return None
    batch = broadcast([one[:-2], other[:-2]])
    rows, columns = one[-2:-1], other[-1:] if len(other) > 1 else ()
    return None if batch is None else (*batch, *rows, *columns)


@_rule("Gemm")
def _gemm(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    one, other = _shape(terms, args), _shape(terms, args, 1)
    if one is None or other is None or len(one) != 2 or len(other) != 2:
        return None
    return one[1 if head.integer("transA") else 0], other[0 if head.integer("transB") else 1]


@_rule("Conv")
def _conv(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape, weights = _shape(terms, args), _shape(terms, args, 1)
    if shape is None or weights is None or len(shape) != len(weights) or len(shape) < 3:
        return None
    kernel: Sequence[Dim] = head.integers("kernel_shape") or weights[2:]
    return (shape[0], weights[0], *_windows(head, shape[2:], kernel))


@_rule("AveragePool", "MaxPool", "LpPool")
def _pool(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape, kernel = _shape(terms, args), head.integers("kernel_shape")
    if shape is None or kernel is None or len(kernel) != len(shape) - 2:
        return None
    return (*shape[:2], *_windows(head, shape[2:], kernel))


def _windows(head: Head, sizes: Sequence[Dim], kernel: Sequence[Dim]) -> Shape:
    """Numbers of windows with explicit pads."""
    count = len(sizes)
    strides = head.integers("strides") or [1] * count
    gaps = head.integers("dilations") or [1] * count
    pads = head.integers("pads") or [0] * 2 * count
    is_plain = head.attribute("auto_pad") in (None, b"NOTSET") and not head.integer("ceil_mode")
    if not is_plain or not len(kernel) == len(strides) == len(gaps) == len(pads) // 2 == count:
        return (None,) * count
    ends = [a + b for a, b in zip(pads[:count], pads[count:], strict=True)]
    rows = zip(sizes, kernel, ends, strides, gaps, strict=True)
    return tuple([_window(size, wide, pad, stride, gap) for size, wide, pad, stride, gap in rows])


def _window(size: Dim, wide: Dim, pad: int, stride: int, gap: int) -> Dim:
    if not isinstance(size, int) or not isinstance(wide, int) or stride < 1:
        return None
    room = size + pad - gap * (wide - 1) - 1
    return room // stride + 1 if room >= 0 else None


@_rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def _global(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape = _shape(terms, args)
    return None if shape is None else (*shape[:2], *[1] * len(shape[2:]))


@_rule("TopK")
def _top(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape, k = _shape(terms, args), terms.numbers(args[1]) if len(args) > 1 else None
    axis = None if shape is None else _axis(shape, head.integer("axis", -1))
    if shape is None or axis is None:
        return None
    return (*shape[:axis], k[0] if k is not None and len(k) == 1 else None, *shape[axis + 1 :])


@_rule("NonZero")
def _non_zero(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape = _shape(terms, args)
    return (len(shape), None) if shape else None


@_rule("Range")
def _range(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    """Count steps of 1 from a size to another one that is not smaller."""
    ends = [sizes_in(terms, arg) for arg in args]
    if len(ends) != 3 or not all(each is not None and len(each) == 1 for each in ends):
        return (None,)
    start, limit, step = [each[0] for each in ends if each is not None]
    count = add(limit, start, -1)
    return (count if step == 1 and terms.is_size(count) else None,)


@_rule("ConvTranspose", "DepthToSpace", "Resize", "SpaceToDepth", "Upsample")
def _same_rank(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape = _shape(terms, args)
    return None if shape is None else (None,) * len(shape)


@_rule("GRU", "LSTM", "RNN")
def _recurrent(terms: Terms, head: Head, args: Args, output: int) -> Shape | None:
    shape, count = _shape(terms, args), 2 if head.attribute("direction") == b"bidirectional" else 1
    if shape is None or len(shape) != 3 or head.integer("layout"):
        return (None,) * (3 if output else 4)
    state = (count, shape[1], head.attribute("hidden_size"))
    return state if output else (shape[0], *state)
