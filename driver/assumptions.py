"""Assumptions that a caller vouches for: trip count bounds of Loops, and branches of Ifs."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping

import numpy as np

from ..analysis.iterations.constructs import control_flow
from ..analysis.iterations.trip_count import always_holds
from ..ir import Error, Model, Node, Value, instead
from ..ops.builder import Builder

Maxima = Mapping[str, int]
"""The most iterations of Loops, by path."""

Branches = Mapping[str, str]
"""By the path of an If, "then" or "else"."""

_LESS_OF_INTEGERS = 9


class AssumptionError(Error):
    """A maximum does not fit the Loop that it was given for."""


@dataclasses.dataclass(frozen=True)
class Claim:
    """One assumption.

    Attributes:
        path: the Loop or If.
        content: what is assumed, a noun.
        violation: what an input makes the construct do that violates it.
        remedy: what a message says then.
        most: the largest trip count that it allows; None for a branch.
    """

    path: str
    content: str
    violation: str
    remedy: str
    most: int | None = None


@dataclasses.dataclass(frozen=True)
class Assumptions:
    """The trip count bounds of Loops and the branches of Ifs, each by path."""

    maxima: Maxima
    branches: Branches

    def __bool__(self) -> bool:
        return bool(self.maxima or self.branches)

    def assume(self, model: Model) -> None:
        """Change a model in place to one in which they hold.

        Raises:
            AssumptionError: there is no such construct, or an assumption does not fit it.
        """
        assume_maxima(model, self.maxima)
        assume_branches(model, self.branches)

    def claims(self) -> Iterator[Claim]:
        """Yield each assumption."""
        for path, most in self.maxima.items():
            iterations = f"{most} iteration{'' if most == 1 else 's'}"
            yield Claim(
                path,
                f"a maximum of {iterations} of Loop '{path}'",
                f"Loop '{path}' run more than {iterations}",
                "which was assumed; raise it",
                int(most),
            )
        for path, branch in self.branches.items():
            other = "else" if branch == "then" else "then"
            yield Claim(
                path,
                f"the {branch} branch of If '{path}'",
                f"If '{path}' take its {other} branch",
                "against the assumption; omit it",
            )


def assume_maxima(model: Model, maxima: Maxima) -> None:
    """Bound the trip counts of Loops in place, by path.

    Raises:
        AssumptionError: there is no such Loop, or it cannot be given a maximum.
    """
    for path, loop in assumed_loops(model, maxima).items():
        _assume(loop, int(maxima[path]))


def assumed_loops(model: Model, maxima: Maxima) -> dict[str, Node]:
    """Return the Loops with an assumed maximum, by path.

    Raises:
        AssumptionError: there is no such Loop, or a maximum is no trip count.
    """
    loops = _constructs(model, "Loop", maxima)
    for path, most in maxima.items():
        # True is an int for Python.
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 0:
            raise AssumptionError(f"Loop '{path}': {most!r} is not a number of iterations")
    return loops


def _constructs(model: Model, op_type: str, paths: Collection[str]) -> dict[str, Node]:
    """Return the constructs of some paths.

    Raises:
        AssumptionError: there is none at a path.
    """
    flow = control_flow(model) if paths else ()
    nodes = {n.path: n for n in flow if n.is_op(op_type) and (op_type == "If" or n.bodies)}
    for path in paths:
        if path not in nodes:
            raise AssumptionError(
                f"the model has no {op_type} '{path}'; {instead(path, nodes, are='it has')}"
            )
    return {path: nodes[path] for path in paths}


def _assume(loop: Node, most: int) -> None:
    graph, declared = loop.graph, loop.input(0)
    assert graph is not None
    emit = Builder(graph)
    if declared is not None and declared.constant is None:
        _end_by(loop, declared, emit)
    elif declared is not None and declared.constant is not None:
        # A lower maximum of the model stays.
        most = min([most, *declared.constant.numpy().reshape(-1).tolist()])
    elif loop.input(1) is None:  # only its body ends it, so that must go on to count
        graph.set_input(loop, 1, emit.constant(np.array(True), "first"))
    maximum = emit.constant(np.array(most, np.int64), f"{loop.label}_maximum")
    graph.set_input(loop, 0, maximum)


def _end_by(loop: Node, maximum: Value, emit: Builder) -> None:
    """Express the maximum of a Loop, known only at run time, by its conditions."""
    graph, body = loop.graph, loop.body("body")
    assert graph is not None
    if emit.opset < _LESS_OF_INTEGERS:
        raise AssumptionError(
            f"Loop '{loop.path}': opset {emit.opset} compares no integers; convert to opset 9 first"
        )
    if loop.input(1) is None and not always_holds(body):
        raise AssumptionError(
            f"Loop '{loop.path}': it has no initial condition but its body computes one, which the"
            " specification ignores and onnxruntime does not"
        )
    most = emit.scalar(maximum, f"{loop.label}_most")
    zero = emit.constant(np.array(0, np.int64), "zero")
    first = emit.add("Less", [zero, most], f"{loop.label}_first")
    start = loop.input(1)
    if start is not None:
        first = emit.add("And", [start, first], f"{loop.label}_start")
    graph.set_input(loop, 1, first)
    inner = Builder(body)
    number = inner.scalar(body.inputs[0], "number")
    # The body's condition decides about the next iteration.
    following = inner.add("Add", [number, inner.constant(np.array(1, np.int64), "one")], "next")
    inside = inner.add("Less", [following, most], "inside")
    goes_on = inner.add("And", [body.outputs[0], inside], "goes_on")
    body.set_outputs([goes_on, *body.outputs[1:]])


def assume_branches(model: Model, branches: Branches) -> None:
    """Decide the conditions of Ifs in place, by path.

    Raises:
        AssumptionError: there is no such If, or a branch is neither "then" nor "else".
    """
    for path, node in assumed_ifs(model, branches).items():
        assert node.graph is not None
        chosen = np.array(branches[path] == "then")
        node.graph.set_input(node, 0, Builder(node.graph).constant(chosen, "chosen"))


def assumed_ifs(model: Model, branches: Branches) -> dict[str, Node]:
    """Return the Ifs with an assumed branch, by path; errors as `assume_branches`."""
    ifs = _constructs(model, "If", branches)
    for path, branch in branches.items():
        if branch not in ("then", "else"):
            reason = f"{branch!r} is not a branch; write 'then' or 'else'"
            raise AssumptionError(f"If '{path}': {reason}")
    return ifs
