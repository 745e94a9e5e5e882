"""Residual control flow of a rewrite, with the reasons."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from ..analysis.trips.constructs import control_flow
from ..facts.reason import Message, Reason
from ..ir import Function, Model, Node
from ..passes import Remark
from ..passes.remarks import kept_constructs

NO_PASS = Message("no-pass", "no pass of the pipeline rewrites {operator}")
_CALL_KEPT = Message("call-kept", "{construct}: kept, {cause}")


def left_over(model: Model, remarks: Iterable[Remark]) -> list[Remark]:
    """Return a remark for each node of a rewritten model that still holds graphs."""
    reasons = kept_constructs(remarks)
    calls = calls_kept(model, reasons)
    residual = []
    for node in control_flow(model):
        default = Remark("", node.op_type, node.path, "kept", NO_PASS(operator=node.op_type))
        remark = reasons.get((node.op_type, node.path), default)
        why = with_call(remark.reason, root_of(node), calls)
        residual.append(dataclasses.replace(remark, reason=why))
    return residual


def calls_kept(
    model: Model, reasons: dict[tuple[str, str], Remark]
) -> dict[Model | Function, Remark]:
    """Return the first kept call of each function."""
    calls: dict[Model | Function, Remark] = {}
    for graph in model.graphs() if model.functions and reasons else ():
        for node in graph.nodes():
            function = model.functions.get(node.op.function_key)
            remark = reasons.get((node.op_type, node.path))
            if function is not None and remark is not None:
                calls.setdefault(function, remark)
    return calls


def with_call(reason: str, root: Model | Function, calls: dict[Model | Function, Remark]) -> Reason:
    """Add the reason of a call, where a parameter of its function is the reason."""
    sentence, call = Reason.of(reason), calls.get(root)
    functions = {name for part in sentence.parts for name in part.arguments.get("functions", ())}
    if call is None or str(root) not in functions:
        return sentence
    construct = f"{call.op_type} '{call.path}'"
    return Reason.join([sentence, _CALL_KEPT(call.reason, construct=construct)])


def root_of(node: Node) -> Model | Function:
    """Return the model or function that contains a node."""
    assert node.graph is not None
    return node.graph.root
