"""Assumptions that a caller vouches for: trip count bounds of Loops, and branches of Ifs."""

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import onnx

from ..analysis.iterations.constructs import control_flow
from ..analysis.iterations.trip_count import always_holds
from ..facts.named_dimensions import is_size
from ..ir import Error, Model, Node, Operator, Value, instead
from ..ops.builder import Builder
from ..records import record
from ..verification.mismatch import MARK, Claim

Maxima = Mapping[str, int]
"""The most iterations of Loops, by path."""

Branches = Mapping[str, str]
"""By the path of an If, "then" or "else"."""

_LESS_OF_INTEGERS = 9
_LARGEST = 1 << 20
"""A larger maximum is not guarded: it takes an array of that size."""


class AssumptionError(Error):
    """A maximum does not fit the Loop that it was given for."""


@record(frozen=True)
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
        for path, loop in self._loops(model).items():
            _assume(loop, int(self.maxima[path]))
        for path, node in self._ifs(model).items():
            chosen = np.array(self.branches[path] == "then")
            node.parent.set_input(node, 0, Builder(node.parent).constant(chosen, "chosen"))

    def guard(self, model: Model) -> list[Claim]:
        """Guard a model in place: it fails where an assumption does not hold.

        Returns:
            the guarded assumptions, in order.

        Raises:
            AssumptionError: the model has no such construct.
        """
        loops, ifs = self._loops(model), self._ifs(model)
        claims = [claim for claim in self.claims() if (claim.most or 0) <= _LARGEST]
        for number, claim in enumerate(claims):
            mark = f"{MARK}{number}"
            if claim.most is None:
                _guard_branch(ifs[claim.path], self.branches[claim.path], mark)
            else:
                _guard(loops[claim.path], claim.most, mark)
        return claims

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

    def _loops(self, model: Model) -> dict[str, Node]:
        """Return the Loops with an assumed maximum, by path."""
        loops = _constructs(model, "Loop", self.maxima)
        for path, most in self.maxima.items():
            if not is_size(most):
                raise AssumptionError(f"Loop '{path}': {most!r} is not a number of iterations")
        return loops

    def _ifs(self, model: Model) -> dict[str, Node]:
        """Return the Ifs with an assumed branch, by path."""
        for path, branch in self.branches.items():
            if not isinstance(branch, str) or branch not in ("then", "else"):
                reason = f"{branch!r} is not a branch; write 'then' or 'else'"
                raise AssumptionError(f"If '{path}': {reason}")
        return _constructs(model, "If", self.branches)


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
    graph, declared = loop.parent, loop.input(0)
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
    graph, body = loop.parent, loop.body("body")
    if emit.opset < _LESS_OF_INTEGERS:
        raise AssumptionError(
            f"Loop '{loop.path}': opset {emit.opset} cannot compare integers; convert to opset 9"
            " first"
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


def _guard_branch(node: Node, branch: str, name: str) -> None:
    """Read an element of a list of one: the first where the branch runs, else the second."""
    graph, condition = node.parent, node.operand(0)
    emit = Builder(graph)
    condition = emit.scalar(condition, "condition")
    other = emit.add("Not", [condition], "other") if branch == "then" else condition
    index = emit.add("Cast", [other], "index", to=onnx.TensorProto.INT64)
    allowed = emit.constant(np.ones(1, bool), "allowed")
    inside = emit.apply(Operator.make("Gather"), [allowed, index], name, name)
    # Runtimes drop a Gather that nothing reads.
    graph.set_input(node, 0, emit.add("And", [condition, inside], "watched"))


def _guard(loop: Node, most: int, name: str) -> None:
    body = loop.body("body")
    emit = Builder(body)
    number = emit.scalar(body.inputs[0], "number")
    # No element has the number `most`, so one iteration more than that fails.
    allowed = emit.constant(np.ones(most, bool), "allowed")
    inside = emit.apply(Operator.make("Gather"), [allowed, number], name, name)
    goes_on = emit.add("And", [body.outputs[0], inside], "goes_on")
    body.set_outputs([goes_on, *body.outputs[1:]])
