"""Kernels: one node made ready to be evaluated many times."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference.op_run import OpRun, OpRunExpand, RuntimeContextError, SparseTensor

from ...definitions import Signature, Unfit, definitions_of, expansion_of
from ...ir import Operator
from ...ir.onnx_errors import ends_inference
from ...ir.places import FunctionKey, normal_domain
from ...ir.tensor import dense
from ...records import record
from ..bodies import Array, captured_names, label, subgraphs
from ..calls import Call
from ..element_types import ElementTypes
from ..errors import EvaluationError, ask_onnx
from ..functions import function_key, specialize
from ..overrides.before_opset_7 import OPSET, is_older_form, lifted
from ..overrides.old_opsets import with_version_defaults

Kernel = Callable[[Sequence[Any], Mapping[str, Any]], Sequence[Any]]
Watch = Callable[[onnx.NodeProto, Sequence[Any], Sequence[Any] | None], None]
"""Called with a node and its inputs, and None before it is run or its results afterwards."""

# Where onnx keeps the operators of each domain.
_LIBRARIES = {
    "": "onnx.reference.ops",
    "ai.onnx.ml": "onnx.reference.ops.aionnxml",
    "ai.onnx.preview": "onnx.reference.ops.aionnx_preview",
    "ai.onnx.preview.training": "onnx.reference.ops.aionnx_preview_training",
}


@record(frozen=True)
class Environment:
    """Names that the nodes of one graph may refer to.

    ``operators`` replace onnx.reference's own. ``run_graph`` makes the evaluator of a body or
    function in an environment. ``watch`` is called before and after each node is run, and may
    raise EvaluationError. ``element_types`` are those of scan outputs of Loops that make no
    iterations. ``bodies`` are the evaluators of functions, one for all calls that
    give the same attributes; those that are still ``waiting`` to be made are looked at by whoever
    made the environment.
    """

    opsets: Mapping[str, int]
    operators: Mapping[tuple[str, str], type[OpRun]]
    run_graph: Callable[[Any, Environment], Any]
    functions: Mapping[FunctionKey, onnx.FunctionProto] = field(default_factory=dict)
    watch: Watch | None = None
    element_types: ElementTypes | None = None
    bodies: dict[tuple[object, ...], Callable[[], Any]] = field(default_factory=dict)
    waiting: list[Callable[[], Any]] = field(default_factory=list)

    def make_all(self) -> None:
        """Make what is waiting, and what is waiting then.

        Raises:
            EvaluationError: nothing implements an operator in it.
        """
        for body in self.waiting:  # grows meanwhile
            body()
        self.waiting.clear()


def build_kernel(node: onnx.NodeProto, environment: Environment) -> Kernel:
    """The kernel of ``node``: a model's function, a replaced operator, or onnx.reference's own.

    A kernel takes the inputs (None for an absent one) and the visible outer values, and returns
    the outputs. Raises EvaluationError if nothing implements the operator.
    """
    function = environment.functions.get(function_key(node))
    if function is not None:
        return _function_kernel(node, function, environment)
    domain = normal_domain(node.domain)
    if is_older_form(node, environment.opsets.get("", OPSET)):
        return _older_kernel(node, environment)
    replaced = environment.operators.get((domain, node.op_type))
    if replaced is None:
        op = Operator(node.op_type, {a.name: a for a in node.attribute}, domain, node.overload)
        if definitions_of(op, environment.opsets):
            return _defined_kernel(node, op, environment)
    if replaced is not None and not issubclass(replaced, OpRunExpand):
        return OperatorKernel(node, _schema(node, environment, False), replaced, environment)
    schema = _schema(node, environment, True)
    if replaced is not None:
        return _schema_function(node, schema, environment)
    loaded = _load(node, domain, schema, environment.opsets[domain])
    if loaded is None:
        return _schema_function(node, schema, environment)
    return OperatorKernel(node, schema, loaded, environment)


def _older_kernel(node: onnx.NodeProto, environment: Environment) -> Kernel:
    """The kernel of an operator before opset 7: a kernel of opset 7 for each call."""
    newer = replace(environment, opsets={**environment.opsets, "": OPSET})

    def call(inputs: Sequence[Any], scope: Mapping[str, Any]) -> Sequence[Any]:
        try:
            complete, operands = lifted(node, environment.opsets[""], inputs)
        except EvaluationError as error:
            raise EvaluationError(f"{label(node)}: {error}") from error
        return build_kernel(complete, newer)(operands, scope)

    return call


class OperatorKernel:
    """Kernel of one OpRun with results of the schema's types."""

    def __init__(
        self, node: onnx.NodeProto, schema: Any, operator: type[OpRun], environment: Environment
    ) -> None:
        self.node = node
        self.schema = schema
        self.label = label(node)
        self.opsets = environment.opsets
        complete = node if schema is None else with_version_defaults(node, schema)
        try:
            self.operator = operator(complete, _run_params(environment))
        except EvaluationError as error:
            raise EvaluationError(f"{self.label}: {error}") from error
        except Exception as error:
            raise EvaluationError(f"{self.label}: cannot be evaluated: {error}") from error
        self.needs_scope = self.operator.need_context()
        if not self.needs_scope:
            # OpRun logs twice and checks its results up to three times in a call, which costs
            # more than most operators do on constants; the results are checked here.
            vars(self.operator).update(_log=_ignore, _check_and_fix_outputs=_as_is)
        # The types of the outputs that belong to the types of the inputs seen last.
        self._typed: tuple[list[Any] | None, list[Any]] = (None, [])

    def __call__(self, inputs: Sequence[Any], scope: Mapping[str, Any]) -> list[Any]:
        """Evaluate; raises EvaluationError, which names the node, if the operator fails.

        Infinities and NaN are results like others: numpy neither warns nor raises.
        """
        if self.needs_scope:
            return list(self.operator.run(*inputs, context=scope))  # type: ignore[no-untyped-call]
        signature = [getattr(value, "dtype", None) for value in inputs]
        call_keyous, types = self._typed
        if signature != call_keyous:
            types = self._infer(inputs)
            self._typed = signature, types
        try:
            with np.errstate(all="ignore"):
                results = self.operator.run(*inputs)  # type: ignore[no-untyped-call]
                if len(results) < len(types):
                    raise EvaluationError("onnx.reference does not compute all its outputs")
                return [_normalize(*pair) for pair in zip(results, types, strict=False)]
        except Exception as error:
            raise EvaluationError(f"{self.label}: {error}") from error

    def _infer(self, inputs: Sequence[Any]) -> list[Any]:
        """The numpy type of each output, None where only running the operator tells it."""
        unknown = [None] * len(self.node.output)
        by_name = dict(zip(self.node.input, inputs, strict=False))
        call_keys = {name: value for name, value in by_name.items() if name}
        # onnx's inference would end the process.
        if ends_inference(self.node.op_type, self.node.attribute):
            return unknown
        if self.schema is None or not all(isinstance(v, np.ndarray) for v in call_keys.values()):
            return unknown
        imports = [helper.make_opsetid(d, v) for d, v in self.opsets.items()]
        types = {
            name: helper.make_tensor_type_proto(_elem_type(v), None)
            for name, v in call_keys.items()
        }
        try:
            inferred = ask_onnx(
                self.label,
                onnx.shape_inference.infer_node_outputs,
                self.schema,
                self.node,
                types,
                opset_imports=imports,
            )
        except EvaluationError:
            # Some operators infer nothing without shapes, and an optional looks like its value
            # here: what the operator returns is then taken as it is.
            return unknown
        return [_dtype_of(inferred.get(name)) for name in self.node.output]


def operator_kernel(
    node: onnx.NodeProto, environment: Environment
) -> Callable[[Sequence[Array | None]], list[Any]]:
    """A kernel for ``node`` alone, which may not use outer values or function attributes."""
    captured = [name for graph in subgraphs(node) for name in captured_names(graph)]
    if captured:
        raise EvaluationError(f"{label(node)}: its body uses the outer value {captured[0]!r}")
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            raise EvaluationError(
                f"{label(node)}: {attribute.name!r} refers to an attribute of the function "
                "around it; evaluate the function's call instead"
            )
    kernel = build_kernel(node, environment)
    return lambda inputs: list(kernel(inputs, {}))


def _function_kernel(
    node: onnx.NodeProto,
    function: onnx.FunctionProto,
    environment: Environment,
    defaults: Sequence[onnx.AttributeProto] = (),
) -> Kernel:
    """The kernel of a call. Functions that call each other twice make as many calls as 2 to the
    power of their depth, so the evaluator of a body is made once for calls with the same
    attributes."""
    if len(node.input) > len(function.input) or len(node.output) > len(function.output):
        raise EvaluationError(
            f"{label(node)}: the function has {len(function.input)} inputs and "
            f"{len(function.output)} outputs, the call more"
        )
    key, attributes = function_key(function), [*defaults, *node.attribute]
    inner = replace(environment, opsets=_imports(function))
    body = functools.cache(lambda: environment.run_graph(specialize(function, attributes), inner))
    if environment.functions.get(key) is not function:
        body()  # of an operator's own definition: it ends soon
        return Call(label(node), list(function.input), len(node.output), body)
    texts = tuple(a.SerializeToString(deterministic=True) for a in attributes)
    # Inside a definition other operators are replaced, so they are part of the key.
    shared = environment.bodies.setdefault((key, texts, id(environment.operators)), body)
    if shared is body:
        environment.waiting.append(body)
    return Call(label(node), list(function.input), len(node.output), shared)


def _defined_kernel(node: onnx.NodeProto, op: Operator, environment: Environment) -> Kernel:
    """The kernel of an operator outside of ONNX that has a definition."""
    kernels: dict[int, Kernel] = {}

    def call(inputs: Sequence[Any], scope: Mapping[str, Any]) -> Sequence[Any]:
        signature = Signature(
            op,
            [None if value is None else _elem_type(value) for value in inputs],
            [None if value is None else value.shape for value in inputs],
            [bool(name) for name in node.output],
            lambda index: inputs[index] if index < len(inputs) else None,
        )
        try:
            expansion = expansion_of(signature, environment.opsets)
        except Unfit as unfit:
            raise EvaluationError(f"{label(node)}: {unfit}") from unfit
        assert expansion is not None
        kernel = kernels.get(id(expansion))
        if kernel is None:
            kernel = _function_kernel(node, expansion.proto, environment)
            kernels[id(expansion)] = kernel
        return kernel(inputs, scope)

    return call


def _schema_function(node: onnx.NodeProto, schema: Any, environment: Environment) -> Kernel:
    """The kernel of an operator that the specification defines by a function."""
    without = replace(
        environment,
        operators={k: v for k, v in environment.operators.items() if k[1] != node.op_type},
    )
    own = [a.default_value for a in schema.attributes.values() if a.default_value.type]
    if schema.has_function:
        return _function_kernel(node, schema.function_body, without, own)
    if not schema.has_context_dependent_function:
        raise EvaluationError(
            f"{label(node)}: onnx.reference does not implement version {schema.since_version}"
        )
    kernels: dict[tuple[Any, ...], Kernel] = {}

    def call(inputs: Sequence[Any], scope: Mapping[str, Any]) -> Sequence[Any]:
        types = tuple(_type_of(value).SerializeToString() for value in inputs)
        if types not in kernels:
            body = ask_onnx(
                label(node),
                schema.get_context_dependent_function,
                node.SerializeToString(),
                list(types),
            )
            function = onnx.FunctionProto.FromString(body)
            kernels[types] = _function_kernel(node, function, without, own)
        return kernels[types](inputs, scope)

    return call


def _schema(node: onnx.NodeProto, environment: Environment, required: bool) -> Any:
    domain = normal_domain(node.domain)
    version = environment.opsets.get(domain)
    if version is None:
        raise EvaluationError(
            f"{label(node)}: domain {domain!r} is not imported; add it to the opset imports"
        )
    try:
        schema = onnx.defs.get_schema(node.op_type, version, domain)
    except onnx.defs.SchemaError as error:
        if not required:
            return None
        raise EvaluationError(
            f"{label(node)}: no operator or function {domain or 'ai.onnx'}:{node.op_type} "
            f"at opset {version}"
        ) from error
    # An own kernel stands for a version that a later one has replaced.
    is_gone = required or onnx.defs.get_schema(node.op_type, domain).deprecated
    if schema.deprecated and is_gone:
        raise EvaluationError(f"{label(node)}: the operator is deprecated at opset {version}")
    return schema


def _load(node: onnx.NodeProto, domain: str, schema: Any, version: int) -> type[OpRun] | None:
    """onnx.reference's class for the operator, None if it has a function body instead."""
    library = _LIBRARIES.get(domain)
    if library is None:
        raise EvaluationError(f"{label(node)}: onnx.reference has no operators of {domain!r}")
    # `load_op` passes a function body to `evaluator_cls`, which collects it here.
    expanded: list[onnx.FunctionProto] = []
    options = {"evaluator_cls": expanded.append} if domain == "" else {}
    try:
        loaded: type[OpRun] = importlib.import_module(library).load_op(
            domain, node.op_type, version, **options
        )
    except RuntimeContextError:
        return None
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise EvaluationError(f"{label(node)}: {reason}") from error
    return None if expanded else loaded


def _ignore(*_: Any) -> None:
    """Log nothing."""


def _as_is(results: Any) -> Any:
    return results


def _run_params(environment: Environment) -> dict[str, Any]:
    """Parameters of OpRun; bodies are made by ``evaluator_cls``."""
    return {
        "log": _ignore,
        "opsets": dict(environment.opsets),
        "verbose": 0,
        "new_ops": {},
        "existing_functions": {},
        "element_types": environment.element_types,
        "evaluator_cls": lambda graph, **_: environment.run_graph(graph, environment),
    }


def _imports(proto: onnx.FunctionProto | onnx.ModelProto) -> dict[str, int]:
    return {normal_domain(entry.domain): entry.version for entry in proto.opset_import}


def _normalize(value: Any, dtype: Any) -> Any:
    if isinstance(value, np.ndarray):
        array = value
    elif isinstance(value, list):
        return [_normalize(element, None) for element in value]
    elif value is None or isinstance(value, dict):
        return value
    elif isinstance(value, SparseTensor):
        array = dense(value.values, value.indices, value.shape)
    elif isinstance(value, tuple):
        raise EvaluationError("onnx.reference returns a tuple for a tensor")
    else:
        array = np.asarray(value)
    if array.dtype.kind in "SU":
        return array.astype(object)
    return array if dtype is None or array.dtype == dtype else array.astype(dtype)


def _elem_type(value: Array) -> int:
    if value.dtype.kind in "OSU":
        return onnx.TensorProto.STRING
    return int(helper.np_dtype_to_tensor_dtype(value.dtype))


def _type_of(value: Any) -> onnx.TypeProto:
    if value is None:
        return onnx.TypeProto()
    if isinstance(value, list):
        element = _type_of(value[0]) if value else helper.make_tensor_type_proto(1, None)
        return helper.make_sequence_type_proto(element)
    return helper.make_tensor_type_proto(_elem_type(value), value.shape)


def _dtype_of(inferred: onnx.TypeProto | None) -> Any:
    elem_type = 0 if inferred is None else inferred.tensor_type.elem_type
    return helper.tensor_dtype_to_np_dtype(elem_type) if elem_type else None
