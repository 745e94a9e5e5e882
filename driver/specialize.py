"""Fix inputs of a model before it is rewritten: give them a value, or write down their shape."""

import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper

from ..analysis.iterations.zero_iterations import ScanElements
from ..analysis.shapes.inference import ShapeInference
from ..facts.named_dimensions import Shapes, is_size, with_sizes
from ..ir import Array, Function, Graph, Model, ModelSource, Node, Tensor, Value, no_input, to_proto
from ..ir.copying import dims_of
from ..ir.errors import BindingError
from ..ops.builder import Builder

Values = Mapping[str, Any]
Sizes = dict[str, tuple[int, str]]
"""Sizes of symbols, each with the input that fixes it."""
_INTEGERS = {number for name, number in TensorProto.DataType.items() if "INT" in name}
_OLDEST = 10
"""The first opset whose Slice takes bounds at run time."""
Axes = dict[tuple[Node, int], list[int]]
"""The axes of size 0 of each scan output of a Loop that may make no iteration."""


def bind_inputs(model: Model, values: Values, shapes: Shapes) -> dict[str, Array]:
    """Fix shapes, then values, in place; the bound values in the type of their input.

    Raises:
        BindingError: there is no such input, or what was given does not fit it.
    """
    if not shapes and not values:
        return {}
    # A bound size may change what a Loop returns that makes no iteration.
    rows = RowsWithoutIterations(model)
    if shapes:
        bind_shapes(model, shapes)
    arrays = bind_values(model, values) if values else {}
    rows.keep()
    return arrays


# Values -----------------------------------------------------------------------------------------


def bind_values(model: Model, values: Values) -> dict[str, Array]:
    """Make inputs constants: they leave the signature, and fix the symbols of their shapes.

    Args:
        model: is changed in place.
        values: by input name. An array must have the declared element type; a Python number, text
            or list of them is converted where that is exact (floats may be rounded). One number
            stands for every shape that may be of one element.

    Returns:
        the values as arrays of the declared type.

    Raises:
        BindingError: there is no such input, its value has the wrong type or shape, or
            a symbol would get two sizes.
    """
    inputs = {value.name: value for value in model.graph.inputs}
    infos = [value.info for value in inputs.values() if value.info is not None]
    proto = onnx.ModelProto(graph=onnx.GraphProto(input=infos))
    arrays, symbols = _typed(proto, values)
    _fix_symbols(model, symbols)
    for name, array in arrays.items():
        model.graph.bind_input(inputs[name], Tensor(array=array))
        inputs[name].info = None  # the tensor says more than the declaration did
    return arrays


def typed_values(model: ModelSource, values: Values) -> dict[str, Array]:
    """Return values of inputs in the declared types; the model stays unchanged.

    Raises:
        BindingError: as `bind_values`.
    """
    return _typed(to_proto(model), values)[0] if values else {}


def _typed(model: onnx.ModelProto, values: Values) -> tuple[dict[str, Array], Sizes]:
    """Return values in the declared types, and the sizes that they give to symbols."""
    from ..runtimes.feeds import FeedError, check_feeds

    inputs = {info.name: Value(info.name, info) for info in model.graph.input}
    prepared = {n: _prepare(inputs[n], v) if n in inputs else v for n, v in values.items()}
    try:
        arrays = check_feeds(prepared, model, partial=True)
    except FeedError as error:
        raise BindingError(str(error)) from error
    symbols: Sizes = {}
    for name, array in arrays.items():
        _fixed(inputs[name], array.shape, symbols)
    return arrays, symbols


def _prepare(declared: Value, value: Any) -> Any:
    """Return a value in the declared type, unless it has a type of its own."""
    elem_type = declared.elem_type
    if elem_type is None:
        raise BindingError(f"input '{declared.name}' is not a tensor; only tensors can be set")
    if isinstance(value, np.ndarray | np.generic | onnx.TensorProto):
        return value
    try:
        plain = np.asarray(value)
    except ValueError as error:
        raise BindingError(
            f"the value for input '{declared.name}' is ragged: its lists differ in length"
        ) from error
    same = _is_same(value, plain)
    converted = _convert(plain, elem_type) if same else None
    if converted is None:
        kind = onnx.TensorProto.DataType.Name(elem_type).lower()
        raise BindingError(
            f"input '{declared.name}' is {kind}; {reprlib.repr(value)} is not a value of that type"
        )
    shape = declared.shape
    if plain.ndim or shape is None or any(isinstance(d, int) and d >= 0 and d != 1 for d in shape):
        return converted
    return converted.reshape((1,) * len(shape))


def _is_same(value: Any, plain: Array) -> bool:
    """Return whether numpy, with one type for a whole list, changed no element."""
    elements = np.asarray(value, dtype=object).reshape(-1).tolist()
    if plain.dtype.kind == "U":
        return all(isinstance(element, str) for element in elements)
    pairs = zip(elements, plain.reshape(-1).tolist(), strict=True)
    # With a float beside them integers become floats, which may round large ones.
    return all(one == other for one, other in pairs if isinstance(one, int | np.integer))


def _convert(plain: Array, elem_type: int) -> Array | None:
    """Return the same values in another type; None where a value would change.

    A float may be rounded to a narrower one, as every decimal literal is, but not to what is no
    number, or infinite, or of the other sign.
    """
    if elem_type == TensorProto.STRING:
        return plain.astype(object) if plain.dtype.kind == "U" else None
    dtype = helper.tensor_dtype_to_np_dtype(elem_type)
    allowed = {"b": "bi", "c": "iufc"}.get(dtype.kind, "iuf")
    if plain.dtype.kind not in allowed:
        return None
    with np.errstate(all="ignore"):
        cast = plain.astype(dtype)
        if plain.dtype.kind in "fc" and elem_type not in _INTEGERS:
            wide = cast.astype(np.complex128)
            same = _is_rounded(plain.real, wide.real, dtype) & _is_rounded(
                plain.imag, wide.imag, dtype
            )
        else:
            # Python compares numbers of different types by their exact value; numpy rounds first.
            same = cast.astype(object) == plain.astype(object)
    return cast if bool(np.all(same)) else None


def _is_rounded(plain: Array, cast: Array, dtype: np.dtype[Any]) -> Any:
    """Return a mask of the floats that a cast to a type rounds correctly.

    Types without infinities make NaN of them, or their largest number; some have no NaN, no
    negative zero, no zero, or no sign.
    """
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    largest = np.float64(info.max)
    # From the middle between the largest number and the one that would come next, it overflows.
    limit = largest + np.float64(info.eps) * 2.0 ** np.floor(np.log2(largest)) / 2
    special = ~np.isfinite(plain) & ((plain == cast) | (np.isnan(plain) & np.isnan(cast)))
    signed = (np.signbit(plain) == np.signbit(cast)) | ((plain != 0) & (cast == 0))
    number = np.isfinite(plain) & np.isfinite(cast) & (np.abs(plain) < limit) & signed
    return special | number


# Shapes -----------------------------------------------------------------------------------------


def bind_shapes(model: Model, shapes: Shapes) -> None:
    """Write dimensions into the declared types of inputs, and wherever the same symbol stands.

    Args:
        model: is changed in place.
        shapes: by input name; None leaves a dimension as it is declared.

    Raises:
        BindingError: there is no such input, the rank or a dimension contradicts what is declared,
            or a symbol would get two sizes.
    """
    inputs = {value.name: value for value in model.graph.inputs}
    symbols: Sizes = {}
    for name, dims in shapes.items():
        if name not in inputs:
            raise BindingError(no_input(name, inputs))
        inputs[name].type = _fixed(inputs[name], dims, symbols)
    _fix_symbols(model, symbols)


def _fixed(value: Value, dims: Sequence[int | None], symbols: Sizes) -> onnx.TypeProto:
    """Return the type of an input with its dimensions fixed; note the sizes of its symbols."""
    if value.type is None or not value.type.HasField("tensor_type"):
        raise BindingError(f"input '{value.name}' is not a tensor; it has no shape to set")
    old_dims = value.shape if value.shape is not None else (None,) * len(dims)
    if len(old_dims) != len(dims):
        text = "x".join("?" if dim is None else str(dim) for dim in dims) or "of a scalar"
        raise BindingError(
            f"input '{value.name}' has rank {len(old_dims)}, but the shape {text} has rank"
            f" {len(dims)}"
        )
    for axis, (old, new) in enumerate(zip(old_dims, dims, strict=True)):
        if new is None:
            continue
        if not is_size(new):
            raise BindingError(f"input '{value.name}': {new!r} is not a dimension")
        if isinstance(old, int) and old >= 0 and old != new:
            raise BindingError(f"input '{value.name}': dimension {axis} is {old}, not {new}")
        own = int(new), value.name
        size, other = symbols.setdefault(old, own) if isinstance(old, str) else own
        if size != new:
            raise BindingError(
                f"input '{value.name}': dimension '{old}' would be {new}, but input '{other}'"
                f" makes it {size}"
            )
    return with_sizes(value.type, dims)


def _fix_symbols(model: Model, symbols: Sizes) -> None:
    """Replace symbols by sizes in all declarations; defaults must still fit.

    In the body of a Loop a symbol stays that it declares for a state, since there it may name
    another size in each iteration, or for a row: without an iteration a declared size counts, and a
    symbol as 0. Inference finds the sizes of states that keep theirs.
    """
    all_sizes = {symbol: size for symbol, (size, _) in symbols.items()}
    open_: dict[Graph, set[str]] = {}
    for graph in model.graph.walk():
        holder = graph.holder
        around = set() if holder is None or holder.graph is None else open_[holder.graph]
        open_[graph] = around | _symbols_of_states(graph)
        sizes = {name: size for name, size in all_sizes.items() if name not in open_[graph]}
        outputs = (value for node in graph.unordered_nodes() for value in node.outputs)
        for value in (*graph.inputs, *graph.initializers, *outputs):
            info = None if value is None else value.info
            if value is not None and info is not None and _symbols(info.type) & sizes.keys():
                value.type = _sized(info, sizes).type
        graph.set_outputs(graph.outputs, [_sized(info, sizes) for info in graph.output_infos])
        graph.value_infos = [
            _sized(entry, sizes) if isinstance(entry, onnx.ValueInfoProto) else entry
            for entry in graph.value_infos
        ]
    for value in model.graph.inputs:
        default, shape = model.graph.initializers.get(value), value.shape
        if default is None or shape is None:
            continue
        pairs = zip(shape, default.dims, strict=False)
        fits = len(shape) == len(default.dims)
        if not fits or any(isinstance(d, int) and d >= 0 and d != n for d, n in pairs):
            raise BindingError(
                f"input '{value.name}' has a default of shape {list(default.dims)}, which the shape"
                " set contradicts"
            )


def _symbols_of_states(body: Graph) -> set[str]:
    """Symbols that declare states of a Loop, whose sizes may change, or its rows."""
    loop = body.holder
    if loop is None or not loop.is_op("Loop"):
        return set()
    infos = [v.info for v in body.inputs[2:]] + list(body.output_infos[1:])
    return {name for info in infos if info is not None for name in _symbols(info.type)}


def _sized(info: onnx.ValueInfoProto, sizes: Mapping[str, int]) -> onnx.ValueInfoProto:
    """Return a declaration with sizes for symbols; the same object where it has none."""
    if not _symbols(info.type) & sizes.keys():
        return info
    copy = onnx.ValueInfoProto()
    copy.CopyFrom(info)
    for dim in dims_of(copy.type):
        if dim.dim_param in sizes:
            dim.dim_value = sizes[dim.dim_param]
    return copy


def _symbols(type_: onnx.TypeProto) -> set[str]:
    return {dim.dim_param for dim in dims_of(type_) if dim.dim_param}


class RowsWithoutIterations:
    """The sizes of scan outputs before inputs are bound.

    Args:
        model: the model, whose inputs are bound afterwards.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        if any(map(_has_rows, model.functions.values())):
            from ..passes import InlineFunctions, PassContext

            # One body has rows of other sizes in each call.
            InlineFunctions(always=True).run(model, PassContext())
        self._axes = {} if model.opset() < _OLDEST else _empty_axes(model)

    def keep(self) -> None:
        """Cut rows of bound sizes to nothing where a Loop makes no iteration."""
        after = _empty_axes(self._model) if self._axes else {}
        for (loop, place), axes in self._axes.items():
            output, still = loop.outputs[place], after.get((loop, place), axes)
            lost = [axis for axis in axes if axis not in still]
            if lost and output is not None and loop.graph is not None:
                _cut(loop.graph, output, lost)


def _has_rows(function: Function) -> bool:
    """Test for a Loop with scan outputs."""
    loops = [node for graph in function.graph.walk() for node in graph.nodes_of("Loop")]
    return any(len(loop.outputs) > len(loop.inputs) - 2 for loop in loops)


def _empty_axes(model: Model) -> Axes:
    loops = [node for graph in model.graph.walk() for node in graph.nodes_of("Loop")]
    inference, result = ShapeInference(model) if loops else None, Axes()
    for loop in loops:
        elements, first = ScanElements(loop, model, inference), len(loop.inputs) - 2
        rows = [at for at in range(first, len(loop.outputs)) if loop.outputs[at] is not None]
        if not rows or elements.has_iteration():
            continue
        for place in rows:
            element = elements.of(place + 1)
            shape = () if element is None else element.shape
            result[loop, place] = [1 + axis for axis, size in enumerate(shape) if not size]
    return result


def _cut(graph: Graph, rows: Value, axes: list[int]) -> None:
    """Cut axes of rows to size 0 if there is no row."""
    emit = Builder(graph)
    shape = emit.add("Shape", [rows], "shape")
    count = emit.add("Gather", [shape, emit.vector((0,), "first")], "count")
    has_row = emit.add("Cast", [count], "has_row", to=onnx.TensorProto.BOOL)
    some = emit.add("Cast", [has_row], "some", to=onnx.TensorProto.INT64)
    places = emit.vector(tuple(axes), "axes")
    sizes = emit.add("Gather", [shape, places], "sizes")
    ends = emit.add("Mul", [sizes, some], "ends")
    starts = emit.vector((0,) * len(axes), "starts")
    result = emit.add("Slice", [rows, starts, ends, places], rows.name)
    graph.supersede(rows, result)
    for reader in (shape.producer, result.producer):
        assert reader is not None
        graph.set_input(reader, 0, rows)
    _open_sizes(graph, rows, result, axes)


def _open_sizes(graph: Graph, rows: Value, result: Value, axes: list[int]) -> None:
    """Declare no size that is 0 without rows."""
    rows.info = result.info = None
    infos = []
    for value, info in zip(graph.outputs, graph.output_infos, strict=True):
        own = onnx.ValueInfoProto()
        own.CopyFrom(info)
        dims = own.type.tensor_type.shape.dim
        for axis in axes:
            if value is result and axis < len(dims):
                dims[axis].Clear()
        infos.append(own)
    graph.set_outputs(graph.outputs, infos)
