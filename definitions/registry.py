"""Registry of definitions: those of straightline, of users, and of installed packages.

Families are imported where a node has an operator that ONNX lacks, and not before.
"""

import functools
import importlib
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from operator import attrgetter
from typing import Any

import onnx

from ..ir import Function, Operator, load, normal_domain
from ..ir.lazy import lazy_property
from ..ir.onnx_errors import one_line
from .case import Case, Signature, Unfit
from .definition import After, Definition
from .expansion import TooOld, expand
from .pattern import RuleError

GROUP = "straightline.definitions"
"""The group of entry points whose modules define operators."""

FAMILIES = (
    *("activations", "arithmetic", "attention", "experts", "gated_delta_net", "gates"),
    *("grouped_attention", "legacy", "linear_attention", "movement", "nchwc", "normalizations"),
    *("packing", "pools", "products", "quantized", "quantized_attention", "quantized_weights"),
    *("recurrent", "relative_positions", "rotations", "sparse_attention", "training"),
)
"""The modules of this package that define operators."""

IN_ONNX_DOMAIN = frozenset(
    (
        *("Affine", "Crop", "DynamicSlice", "ImageScaler", "LayerNormalization"),
        *("ParametricSoftplus", "Scale", "ScaledTanh", "SimplifiedLayerNormalization"),
    )
)
"""Operators of straightline's definitions that onnxruntime has in ONNX's own domain."""

DEFAULT_OPSET = 17
"""The opset of definitions in models that import none of ONNX's."""

_TRAINING = "ai.onnx.preview.training"
"""The domain of ONNX whose operators are no functions there."""

_FLOAT, _HALF = onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16

_MOST_KEPT = 1 << 12

_shipped: dict[str, list[Definition]] = {}
_registered: dict[str, list[Definition]] = {}


def defines(before: str, **claims: Any) -> Callable[[Callable[[Case], str]], Callable[[Case], str]]:
    """Register a function that writes the graph of an operator of straightline's own families.

    Args:
        before: the operator, as text.
        claims: further fields of `Definition`.
    """

    def register(after: Callable[[Case], str]) -> Callable[[Case], str]:
        claims.setdefault("summary", (after.__doc__ or "").partition("\n")[0])
        ship(before, after, **claims)
        return after

    return register


def ship(before: str, after: After, **claims: Any) -> None:
    """Add a definition of straightline's own; a test reads it."""
    _add(_shipped, Definition(before, after, **claims))


def register(definitions: list[Definition]) -> None:
    """Add definitions of users; they replace all others of their operators.

    Raises:
        RuleError: one of them is unreadable.
    """
    for definition in definitions:
        if not definition.name or not definition.places:
            raise RuleError(f"'{definition.before}' defines nothing")
    for name in {definition.name for definition in definitions}:
        _registered.pop(name, None)
    for definition in definitions:
        _add(_registered, definition)
    _functions.clear()


def forget(name: str) -> None:
    """Remove a user's definitions of an operator."""
    _registered.pop(name, None)
    _functions.clear()


def own_names() -> list[str]:
    """The operators that users have defined."""
    return list(_registered)


def _add(table: dict[str, list[Definition]], definition: Definition) -> None:
    table.setdefault(definition.name, []).append(definition)


@functools.cache
def _load_families() -> None:
    for family in FAMILIES:
        importlib.import_module(f".{family}", __package__)


@functools.cache
def _load_entry_points() -> None:
    for entry in entry_points(group=GROUP):
        try:
            entry.load()
        # A package that exits at import would end the process of a user who only loads a model.
        except (Exception, SystemExit) as error:
            raise RuleError(
                f"the definitions '{entry.name}' of '{entry.value}' cannot be loaded:"
                f" {one_line(error)}"
            ) from error


def every() -> Iterator[Definition]:
    """All definitions, those of straightline first."""
    _load_families()
    _load_entry_points()
    for table in (_shipped, _registered):
        for definitions in table.values():
            yield from definitions


def is_foreign(op: Operator) -> bool:
    """Test for an operator that may have a definition here; quick for ONNX's own."""
    if op.domain and op.domain != "ai.onnx":
        return True
    return op.op_type in IN_ONNX_DOMAIN or op.op_type in _registered


def name_of(op: Operator) -> str:
    """The name of an operator in definitions: its domain in front."""
    domain = normal_domain(op.domain)
    return f"{domain}.{op.op_type}" if domain else op.op_type


def definitions_of(op: Operator, versions: Mapping[str, int]) -> list[Definition]:
    """The definitions of an operator that ONNX lacks.

    Args:
        op: the operator.
        versions: the version of each domain around it.
    """
    if not is_foreign(op):
        return []
    name, domain = name_of(op), normal_domain(op.domain)
    version = versions.get(domain, 0) or (0 if domain else versions.get("ai.onnx", 0))
    # Runtimes had operators in the default domain before ONNX (LayerNormalization, ONNX's own from
    # opset 17 on): from then on the schema says what they compute.
    if domain != _TRAINING and _is_of_onnx(op.op_type, version, domain):
        return []
    _load_families()
    _load_entry_points()
    return _registered.get(name) or _shipped.get(name, [])


@functools.lru_cache(maxsize=1 << 10)
def _is_of_onnx(op_type: str, opset: int, domain: str) -> bool:
    try:
        schema = onnx.defs.get_schema(op_type, opset, domain)
    except onnx.defs.SchemaError:
        return False
    return not schema.deprecated


class Expansion:
    """The graph of an operator for one case.

    Attributes:
        definition: its definition.
        opset: the version of the operators.
        proto: the graph as a function.
        rows: the operands that may vary from row to row, as `Definition.rows` writes them.
    """

    def __init__(
        self, definition: Definition, opset: int, proto: onnx.FunctionProto, rows: str = ""
    ) -> None:
        self.definition = definition
        self.opset = opset
        self.proto = proto
        self.rows = rows

    @lazy_property
    def function(self) -> Function:
        """The graph as a function of a model."""
        model = onnx.ModelProto(ir_version=10, functions=[self.proto])
        model.graph.name = self.proto.name
        model.opset_import.add(domain="", version=self.opset)
        (function,) = load(model).functions.values()
        return function


_functions: dict[Hashable, Expansion | str] = {}
"""Expansions, or the reasons why there are none, by what they depend on."""


def expansion_of(signature: Signature, versions: Mapping[str, int]) -> Expansion | None:
    """Expand the definition of a node; None where its operator has no definition.

    Args:
        signature: the node.
        versions: the version of each domain around it. The graph has the operators of that opset
            if the definition holds in it, else those of the definition's first one.

    Raises:
        Unfit: no definition of the operator covers the node.
    """
    definitions = definitions_of(signature.op, versions)
    if not definitions:
        return None
    opset = versions.get("", 0) or versions.get("ai.onnx", 0) or DEFAULT_OPSET
    key = (*_key(signature), opset)
    ranks = tuple([None if shape is None else len(shape) for shape in signature.shapes])
    shapes = tuple([None if shape is None else tuple(shape) for shape in signature.shapes])
    # Most definitions read ranks only, so nodes that differ in sizes share one expansion.
    by_ranks, by_shapes = (*key, ranks), (*key, shapes)
    answer = _functions.get(by_ranks) or _functions.get(by_shapes)
    if answer is None:
        answer, reads_sizes, reads_constants = _first(definitions, signature, opset)
        if len(_functions) >= _MOST_KEPT:
            _functions.clear()
        # A definition that read the elements of a constant holds for that constant alone.
        if not reads_constants:
            _functions[by_shapes if reads_sizes else by_ranks] = answer
    if isinstance(answer, str):
        raise Unfit(answer)
    return answer


def _key(signature: Signature) -> tuple[Hashable, ...]:
    elem_types, outputs = signature.elem_types, signature.outputs
    return (_operator_key(signature.op), tuple(elem_types), tuple(outputs))


@functools.lru_cache(maxsize=1 << 8)
def _operator_key(op: Operator) -> tuple[Hashable, ...]:
    return op.qualname, *sorted([m.SerializeToString() for m in op.attributes.values()])


def _first(
    definitions: list[Definition], signature: Signature, opset: int
) -> tuple[Expansion | str, bool, bool]:
    """The first expansion, and whether sizes or constants decided it.

    Where only floats have a definition, onnxruntime computes halves as floats: it has no kernel for
    them either, and casts around the node.
    """
    first = _first_of(definitions, signature, opset)
    halves = [place for place, kind in enumerate(signature.elem_types) if kind == _HALF]
    kernels = [definition for definition in definitions if definition.tried]
    if isinstance(first[0], str) and halves and kernels:
        kinds = [_FLOAT if kind == _HALF else kind for kind in signature.elem_types]
        wide = _first_of(kernels, signature._replace(elem_types=kinds), opset, halves)
        if not isinstance(wide[0], str):
            return wide
    return first


def _first_of(
    definitions: list[Definition], signature: Signature, opset: int, halves: Sequence[int] = ()
) -> tuple[Expansion | str, bool, bool]:
    reasons: dict[str, None] = {}
    reads_sizes = reads_constants = False
    in_reach = [definition for definition in definitions if definition.since <= opset]
    for definition in dict.fromkeys((*in_reach, *sorted(definitions, key=attrgetter("since")))):
        case: Case | None = None
        try:
            case = definition.case(signature)
            expansion = _expanded(definition, case, max(opset, definition.since), halves)
            reads_sizes, reads_constants = _reads(case, reads_sizes, reads_constants)
            return expansion, reads_sizes, reads_constants
        except Unfit as unfit:
            reasons[str(unfit)] = None
            if case is None:
                reads_sizes = True  # a size of the pattern may have decided
            else:
                reads_sizes, reads_constants = _reads(case, reads_sizes, reads_constants)
    return "; ".join(reasons), reads_sizes, reads_constants


def _expanded(
    definition: Definition, case: Case, opset: int, halves: Sequence[int] = ()
) -> Expansion:
    """The expansion in an opset, or in the next one that has all operators."""
    rows = _rows(definition, case)
    while True:
        try:
            return Expansion(definition, opset, expand(definition, case, opset, halves), rows)
        except TooOld as error:
            opset = error.since


def _rows(definition: Definition, case: Case) -> str:
    if isinstance(definition.rows, str):
        return definition.rows
    try:
        return definition.rows(case)
    except Unfit:  # of unknown ranks
        return ""


def _reads(case: Case, reads_sizes: bool, reads_constants: bool) -> tuple[bool, bool]:
    return reads_sizes or case.reads_sizes, reads_constants or case.reads_constants
