"""Running whole models by the exact semantics of the ONNX specification."""

import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference.op_run import OpRun

from ... import ir
from ...ir.checker import check_well_formed
from ...ir.did_you_mean import no_input
from ...ir.io.external_data import fill
from ...ir.kinds import require_kinds
from ...ir.places import normal_domain
from ..bodies import Array, label
from ..calls import Call, Entered, Turn, in_turn
from ..conditional import If
from ..element_types import ElementTypes
from ..errors import EvaluationError, InputNameError
from ..functions import function_key
from ..loop import BreakingLoop, Loop
from ..overrides import (
    batches,
    corrected,
    grid_sample,
    normalizing,
    padding,
    pooling,
    recurrent,
    sequences,
    slicing,
)
from ..overrides.old_opsets import OLDER_OPERATORS
from ..scan import Scan
from ..signature import dims_of, fit
from . import kernels
from .kernels import Environment, Watch, build_kernel

_OVERRIDES: list[type[OpRun]] = [
    operator
    for module in (
        *(batches, corrected, grid_sample, normalizing, padding, pooling),
        *(recurrent, sequences, slicing),
    )
    for name, operator in vars(module).items()
    if isinstance(operator, type) and issubclass(operator, OpRun)
    if operator.__module__ == module.__name__ and not name.startswith("_")
]
"""The public classes of these modules, each under the name of its operator."""


class GraphEvaluator:
    """Evaluates a graph or a function body; the evaluator that bodies get (``evaluator_cls``).

    Unlike onnx's own: a body's names win over outer names, an absent output never defines the
    absent input, functions may come in any order and know the replaced operators.
    """

    has_linked_attribute = False

    def __init__(self, proto: onnx.GraphProto | onnx.FunctionProto, environment: Environment):
        self.proto_ = proto
        if isinstance(proto, onnx.GraphProto):
            self.input_names = [i.name for i in proto.input]
            self.output_names = [o.name for o in proto.output]
            self.constants = _initializers(proto)
        else:
            self.input_names, self.output_names = list(proto.input), list(proto.output)
            self.constants = {}
        self.watch = environment.watch
        self.steps = [
            (build_kernel(node, environment), list(node.input), list(node.output), node)
            for node in proto.node
        ]

    def run(
        self,
        output_names: Sequence[str] | None,
        feeds: Mapping[str, Any],
        attributes: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """The named outputs, by default all; ``feeds`` hold inputs and captured values."""
        return in_turn(Entered("", self.turn(output_names, feeds)))

    def turn(self, output_names: Sequence[str] | None, feeds: Mapping[str, Any]) -> Turn:
        """Run as a generator: yield each call, and receive its outputs."""
        # The feeds win: they may override initializers.
        scope: dict[str, Any] = {**self.constants, **feeds}
        # After the feeds: an empty name is an absent input, whatever has that name.
        scope[""] = None
        for kernel, inputs, outputs, node in self.steps:
            try:
                values = [scope[name] for name in inputs]
            except KeyError as error:
                raise EvaluationError(
                    f"{label(node)}: input {error} is not defined before it is used"
                ) from error
            if self.watch is not None:
                self.watch(node, values, None)
            # A call is yielded, not run: chains of functions are deeper than Python's stack.
            results = (
                (yield kernel.entered(values)) if type(kernel) is Call else kernel(values, scope)
            )
            if self.watch is not None:
                self.watch(node, values, results)
            # A node may leave outputs out: at the end, or by an empty name.
            for name, value in zip(outputs, results, strict=False):
                if name:
                    scope[name] = value
        names = self.output_names if output_names is None else output_names
        missing = [name for name in names if name not in scope]
        if missing:
            raise EvaluationError(f"output {missing[0]!r} is not computed by any node")
        return [scope[name] for name in names]


class Evaluator:
    """A model, ready to be run on any number of feeds.

    Parameters
    ----------
    model:
        A path, bytes, ``onnx.ModelProto``, ``onnx_ir.Model`` or ``straightline.ir.Model``.
    break_without_cond:
        A Loop whose condition input is absent also stops when its body's condition output is
        false, as in onnxruntime. By the specification (the default) that output is ignored.
    operators:
        ``onnx.reference.op_run.OpRun`` classes for operators of other domains, or to be used
        instead of those here; as ``new_ops`` of ``onnx.reference.ReferenceEvaluator``.
    base_dir:
        The folder of the external data of a model in memory.
    watch:
        Called with each node and its inputs, and None before the run or the results after it; it
        may raise EvaluationError.

    Raises
    ------
    EvaluationError
        If an operator of the model has no reference implementation, or data cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> import straightline as sl
    >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
    >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
    >>> evaluator = sl.reference.Evaluator(model)
    >>> (result,) = evaluator.run({"x": np.zeros(2, np.float32)})
    >>> result.tolist()
    [1.0, 1.0]
    """

    def __init__(
        self,
        model: Any,
        *,
        break_without_cond: bool = False,
        operators: Sequence[type[OpRun]] = (),
        base_dir: ir.BaseDir = None,
        watch: Watch | None = None,
    ) -> None:
        require_kinds(
            locals(),
            {"break_without_cond": "bool", "operators": "Operators", "watch": "Watch | None"},
        )
        proto = _to_proto(model, base_dir)
        check_well_formed(proto)
        environment = Environment(
            opsets={normal_domain(o.domain): o.version for o in proto.opset_import},
            operators=_table([*operators, *control_flow_operators(break_without_cond)]),
            run_graph=GraphEvaluator,
            functions={function_key(f): f for f in proto.functions},
            watch=watch,
            element_types=ElementTypes(proto),
        )
        self._graph = GraphEvaluator(proto.graph, environment)
        environment.make_all()
        self._types = {i.name: i.type for i in proto.graph.input}

    @property
    def input_names(self) -> list[str]:
        """The names of the graph inputs, those with a default included."""
        return list(self._types)

    @property
    def output_names(self) -> list[str]:
        """The names of the graph outputs."""
        return list(self._graph.output_names)

    def run(self, feeds: Mapping[str, Any]) -> list[Any]:
        """The outputs, in order: arrays, lists (sequences) or None (empty optionals).

        An input that is also an initializer may be left out. Raises EvaluationError if another
        input is missing, an input is unknown or of the wrong type, or an operator fails.
        """
        if not isinstance(feeds, Mapping):
            raise EvaluationError(
                f"feeds must be a mapping of input names to values, not {feeds!r}"
            )
        for name in feeds:
            if name not in self._types:
                raise InputNameError(no_input(name, self.input_names))
        for name in self._types:
            if name not in feeds and name not in self._graph.constants:
                raise EvaluationError(f"input {name!r} is missing from the feeds")
        checked = {name: _fed(name, value, self._types[name]) for name, value in feeds.items()}
        return self._graph.run(None, checked)


def run(
    model: Any,
    feeds: Mapping[str, Any],
    *,
    break_without_cond: bool = False,
    operators: Sequence[type[OpRun]] = (),
    base_dir: ir.BaseDir = None,
) -> list[Any]:
    """The outputs of ``model`` on ``feeds``: :class:`Evaluator`, used once.

    Args:
        model: the model.
        feeds: an array for each input without a default, by name.
        break_without_cond: end a Loop without a condition by that of its body.
        operators: implementations that replace those of onnx.reference.
        base_dir: the base folder of external data of a model in memory.

    Raises:
        EvaluationError: an operator fails, or nothing implements it.
        InputNameError: the model has no such input.

    Examples:
        >>> import numpy as np
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> sl.reference.run(sl.ir.to_proto(model), {"x": np.zeros(2, np.float32)})
        [array([1., 1.], dtype=float32)]
    """
    evaluator = Evaluator(
        model, break_without_cond=break_without_cond, operators=operators, base_dir=base_dir
    )
    return evaluator.run(feeds)


def kernel_of_onnx(
    node: onnx.NodeProto, opsets: Mapping[str, int]
) -> Callable[[Sequence[Array | None]], list[Any]]:
    """Make a kernel of `operator_kernel` with onnx.reference and the operators of this package."""
    environment = Environment(opsets, _own_operators(), GraphEvaluator)
    return kernels.operator_kernel(node, environment)


@functools.cache
def _own_operators() -> Mapping[tuple[str, str], type[OpRun]]:
    return MappingProxyType(_table(control_flow_operators()))


def control_flow_operators(break_without_cond: bool = False) -> list[type[OpRun]]:
    """The operators of this package, as ``new_ops`` of ``onnx.reference.ReferenceEvaluator``.

    onnx's own evaluator does not hand ``new_ops`` on to functions; :class:`Evaluator` does.
    """
    loop = BreakingLoop if break_without_cond else Loop
    return [loop, If, Scan, *_OVERRIDES, *OLDER_OPERATORS]


def _table(operators: Sequence[type[OpRun]]) -> dict[tuple[str, str], type[OpRun]]:
    """Operators by domain and name; of two for one operator the first is used."""
    return {(normal_domain(o.op_domain), o.__name__): o for o in reversed(operators)}


def _to_proto(model: Any, base_dir: ir.BaseDir) -> onnx.ModelProto:
    """The model as a message, with its external data in it."""
    proto = ir.to_proto(model)
    folder = ir.base_dir_of(model, base_dir)
    unreadable = ir.out_of_reach(proto)
    if not unreadable:
        return proto
    if folder is None:
        raise EvaluationError(unreadable)
    if proto is model or isinstance(model, ir.ModelFile):  # the message is not ours to change
        message, proto = proto, onnx.ModelProto()
        proto.CopyFrom(message)
    try:
        fill(proto, folder)
    except ir.LoadError as error:
        raise EvaluationError(f"external data cannot be read: {error}") from error
    return proto


def _initializers(graph: onnx.GraphProto) -> dict[str, Any]:
    constants: dict[str, Any] = {}
    tensors = [(tensor.name, tensor) for tensor in graph.initializer]
    sparse = [(tensor.values.name, tensor) for tensor in graph.sparse_initializer]
    for name, message in (*tensors, *sparse):
        try:
            constants[name] = ir.Tensor(message).numpy()
        except ir.LoadError as error:
            raise EvaluationError(f"initializer {name!r} cannot be read: {error}") from error
    return constants


def _fed(name: str, value: Any, declared: onnx.TypeProto) -> Any:
    """``value`` as an array, a list of arrays, or None, checked against the declared type."""
    kind = declared.WhichOneof("value")
    if kind == "optional_type":
        return None if value is None else _fed(name, value, declared.optional_type.elem_type)
    if value is None:
        raise EvaluationError(f"input {name!r} is None, its type is not optional")
    if kind == "sequence_type":
        if not isinstance(value, list | tuple):
            raise EvaluationError(f"input {name!r} is a sequence; feed a list")
        return [_fed(name, element, declared.sequence_type.elem_type) for element in value]
    if kind != "tensor_type" or not declared.tensor_type.elem_type:
        return value
    array = np.asarray(value)
    # For onnx, NumPy's type of strings is object.
    if array.dtype.kind in "OSU":
        array = array.astype(object)
    dtype = helper.tensor_dtype_to_np_dtype(declared.tensor_type.elem_type)
    if array.dtype != dtype:
        raise EvaluationError(f"input {name!r} is {array.dtype}, the model declares {dtype}")
    dims = dims_of(declared.tensor_type)
    if dims is not None and not fit(dims, array.shape):
        names = ["?" if dim is None else dim for dim in dims]
        raise EvaluationError(
            f"input {name!r} has shape {list(array.shape)}, the model declares {names}"
        )
    return array
