"""Passes of onnx_ir, and rewrite rules and functions of onnxscript, as steps of our pipelines."""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

import onnx_ir
import onnx_ir.passes

from ...ir import Error, Model, Node
from ...ir.bridge.conversion import Exchange
from ...ir.onnx_errors import Boundary
from ...ops.builder import RewriteError
from ...records import field, record
from ..base import MAY_BE_CONTROL_FLOW, Part, Pass, PassContext, PassOptionError

_ask = Boundary(RewriteError)
_MOST_COUNTED = 8


@record(frozen=True, eq=False)
class ForeignPass(Pass):
    """Run a pass of another library on a copy of the model.

    The result must be well formed and keep inputs and outputs; weights are shared, not copied. See
    `step`.

    Options:
        call: the function of a model of onnx_ir.
        name: its name in remarks and timings.
    """

    call: Callable[[onnx_ir.Model], Any] = field(metadata={"code_only": True})
    name: str = field(metadata={"code_only": True})  # type: ignore[misc]
    keeps_sizes: ClassVar[bool] = True
    adds: ClassVar[tuple[str, ...]] = MAY_BE_CONTROL_FLOW
    changes: ClassVar[tuple[Part, ...]] = ("opsets", "functions")

    def run(self, model: Model, context: PassContext) -> bool:
        """Run the call, check its result, and replace the model by it."""
        missing = _unsupported_part(model)
        if missing:
            context.remarks.add_on_model(
                self, model, "noted", f"not run: onnx_ir does not keep {missing}"
            )
            return False
        exchange = Exchange()
        theirs = exchange.to_onnx_ir(model)
        before = exchange.message(theirs)
        result = _model_of(_ask(self.name, self.call, theirs), theirs)
        after = exchange.message(result)
        # The call may be any function, and need not report whether it changed something.
        if before.SerializeToString(deterministic=True) == after.SerializeToString(
            deterministic=True
        ):
            return False
        try:
            converted = exchange.from_message(after, model.base_dir)
        except Error as error:
            raise RewriteError(f"{self.name} produced an invalid model: {error}") from error
        self._require_signature(model, converted)
        what = _differences(model, converted)
        _trace(model, converted)
        model.become(converted)
        context.remarks.follow(model)
        context.remarks.add_on_model(self, model, "rewritten", what)
        return True

    def _require_signature(self, model: Model, converted: Model) -> None:
        for what, names_in in (("inputs", "inputs"), ("outputs", "output_infos")):
            old, new = ([v.name for v in getattr(m.graph, names_in)] for m in (model, converted))
            if old != new:
                raise RewriteError(f"{self.name} changed the {what}: {old} became {new}")


class Rewriting(Protocol):
    """Rules of onnxscript: a `RewriteRule` or a `RewriteRuleSet`."""

    apply_to_model: Callable[..., int]


Foreign: TypeAlias = onnx_ir.passes.PassBase | Rewriting
"""Parts of a pipeline that need no wrapper."""


def step(foreign: Any, name: str | None = None) -> Pass:
    """Adapt a pass, a rule set or a function of another library.

    The step works in any pipeline, verification covers it, and its remark counts the changes by
    operator.

    Args:
        foreign: a pass of `onnx_ir.passes`, a `RewriteRuleSet`, a `RewriteRule` or several of
            onnxscript, or a function that takes an `onnx_ir.Model` and changes it or gives another
            one, such as `onnxscript.optimizer.optimize`.
        name: its name in remarks; by default that of its class or function.

    Raises:
        PassOptionError: an unsupported object.

    Examples:
        >>> import straightline as sl
        >>> from onnxscript import optimizer
        >>> str(sl.interop.step(optimizer.optimize, "optimize"))
        'optimize'
    """
    call = _call_of(foreign)
    if call is None:
        raise PassOptionError(
            "a foreign step must be a pass of onnx_ir, rewrite rules of onnxscript, or a function"
            f" of an onnx_ir.Model, not {foreign!r}"
        )
    return ForeignPass(call=call, name=name or _name_of(foreign))


def is_foreign(item: Any) -> bool:
    """Test for a pass or rule of another library."""
    return isinstance(item, onnx_ir.passes.PassBase) or _is_rule(item)


def onnxscript_optimizer(**options: Any) -> Pass:
    """Adapt `onnxscript.optimizer.optimize` with options.

    Args:
        options: those of onnxscript's function.

    Raises:
        PassOptionError: onnxscript is not installed.

    Examples:
        >>> import straightline as sl
        >>> sl.interop.onnxscript_optimizer().name
        'onnxscript-optimizer'
    """
    try:
        from onnxscript import optimizer
    except ImportError as error:
        raise PassOptionError(
            f"onnxscript is not installed here: {error}; the extra `onnxscript` brings it:"
            " pip install 'straightline[onnxscript]'"
        ) from error

    return step(functools.partial(optimizer.optimize, **options), "onnxscript-optimizer")


def _call_of(foreign: Any) -> Callable[[onnx_ir.Model], Any] | None:
    if _is_rule(foreign):
        apply: Callable[[onnx_ir.Model], Any] = foreign.apply_to_model
        return apply
    if isinstance(foreign, Sequence) and foreign and all(map(_is_rule, foreign)):
        from onnxscript.rewriter import RewriteRuleSet

        return RewriteRuleSet(foreign).apply_to_model
    # A class can be called, but gives an object of its own instead of a model.
    return foreign if callable(foreign) and not isinstance(foreign, type) else None


def _is_rule(item: Any) -> bool:
    return hasattr(item, "apply_to_model")


def _name_of(foreign: Any) -> str:
    """The name in kebab-case, as for own passes."""
    if isinstance(foreign, Sequence):
        return "rewrite-rules"
    inner = foreign.func if isinstance(foreign, functools.partial) else foreign
    own = getattr(inner, "__name__", type(inner).__name__)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", "-", own.removesuffix("Pass")).strip("-<>").lower()
    return words or "foreign"


def _model_of(result: Any, default: onnx_ir.Model) -> onnx_ir.Model:
    """The resulting model of a call: its return value, or else its argument."""
    model = getattr(result, "model", result)
    return model if isinstance(model, onnx_ir.Model) else default


def _unsupported_part(model: Model) -> str:
    """The part of a model that onnx_ir would lose; "" for none."""
    if model.training_info:
        return "training information"
    tensors = (t for graph in model.graphs() for t in graph.initializers.values())
    return "sparse initializers" if any(tensor.is_sparse for tensor in tensors) else ""


def _differences(before: Model, after: Model) -> str:
    """Describe the change of operator counts."""
    old, new = _op_counts(before), _op_counts(after)
    changed = sorted(old.keys() | new.keys(), key=lambda op: (-abs(new[op] - old[op]), op))
    counts = [f"{op} {old[op]} to {new[op]}" for op in changed if new[op] != old[op]]
    if not counts:
        return f"changed, with the same {old.total()} nodes by operator"
    more = len(counts) - _MOST_COUNTED
    text = ", ".join(counts[:_MOST_COUNTED]) + (f" and {more} more" if more > 0 else "")
    return f"{old.total()} nodes became {new.total()}: {text}"


def _op_counts(model: Model) -> Counter[str]:
    return Counter(node.op.qualname for node in _nodes(model))


def _nodes(model: Model) -> Iterator[Node]:
    for graph in model.graphs():
        yield from graph.unordered_nodes()


def _trace(before: Model, after: Model) -> None:
    """Mark nodes that hold graphs as descendants of the originals."""
    holders = {(n.op_type, n.path): n for n in _nodes(before) if n.bodies}
    for node in list(_nodes(after)) if holders else ():
        old = holders.get((node.op_type, node.path)) if node.bodies else None
        if old is not None and node.graph is not None:
            node.graph.set_operator(node, node.op.descended_from(old.op))
    after.mark_as_loaded()
