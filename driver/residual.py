"""The control flow that a rewrite has left, and why."""

from __future__ import annotations

import dataclasses

from ..analysis.trips.constructs import control_flow
from ..ir import Function, Model, Node
from ..passes import Remark, Result
from ..passes.base import kept_constructs


def left_over(result: Result[Model], converted: bool = False) -> list[Remark]:
    """Why each node that still holds graphs stays, as far as a pass said so.

    Args:
        result: what the passes made.
        converted: the model was converted after them, which may put several nodes in the place of
            one.
    """
    reasons = kept_constructs(result.kept)
    calls = calls_kept(result.model, reasons)
    found = []
    for node in control_flow(result.model):
        unsaid = f"no pass of the pipeline rewrites {node.op_type}"
        if converted:
            unsaid = "the conversion made it of what the passes had left"
        default = Remark("", node.op_type, node.path, "kept", unsaid)
        remark = reasons.get((node.op_type, node.path), default)
        why = with_call(remark.reason, root_of(node), calls)
        found.append(dataclasses.replace(remark, reason=why))
    return found


def calls_kept(
    model: Model, reasons: dict[tuple[str, str], Remark]
) -> dict[Model | Function, Remark]:
    """Of each function the first call that was kept, by what was kept."""
    found: dict[Model | Function, Remark] = {}
    for graph in model.graphs() if model.functions and reasons else ():
        for node in graph.nodes():
            function = model.functions.get(node.op.function_key)
            remark = reasons.get((node.op_type, node.path))
            if function is not None and remark is not None:
                found.setdefault(function, remark)
    return found


def with_call(why: str, root: Model | Function, calls: dict[Model | Function, Remark]) -> str:
    """A reason that lies with a parameter of a function, with that of a call which gives it."""
    call = calls.get(root)
    return f"{why}; {call}" if call is not None and str(root) in why else why


def root_of(node: Node) -> Model | Function:
    """The model or function that a node stands in."""
    assert node.graph is not None
    return node.graph.root
