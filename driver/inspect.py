"""Inspection: the control flow of a model, its deciders, and the effect of a rewrite."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Literal

from ..analysis.constants.provenance import Provenance, join_names
from ..analysis.iterations.constructs import control_flow, deciding
from ..analysis.peak_memory import PeakMemory, peak_memory
from ..display import Block, Line, Table, as_html
from ..facts.reason import Message, Reason
from ..ir import ModelSource, Node, Operator
from ..ir.gc_pause import paused_collector
from ..limits import governed
from ..passes import PassContext, Remark
from ..passes.remarks import RemarkLog, kept_constructs
from ..passes.vetoes import NONE, is_alarm, isolated
from ..records import asdict, field, record, replace
from .job import Request, count_all_nodes
from .options import RewriteOptions
from .result import memory_dict, memory_lines, note_lines
from .suggestions import NO_PASS, Advice, Hint, advise, calls_kept, hint_blocks, named, with_call

Fate = Literal["rewritten", "kept", "removed"]
_REMOVED = Message("removed", "unused, never run, or decided when an enclosing node was rewritten")


@record(frozen=True)
class Construct:
    """One Loop, Scan, If, or other operator that holds a graph.

    Attributes:
        op_type: the operator.
        path: the labels of the nodes around it and its own.
        decided_by: "constants", or the inputs and operators that decide how it runs.
        outcome: "rewritten"; "kept", in whole or in some copies; or "removed", because nothing
            uses it, it is never run, or it was decided while what holds it was rewritten.
        reason: what would be done, or why it stays and what the user can do.
        remaining: how many copies of it the rewritten model holds.
        brief: the reason with only what decides it.

    >>> import straightline as sl
    >>> sl.Construct("Loop", "y", "input 'n'", "kept", "n is not known", 1, "n").outcome
    'kept'
    """

    op_type: str
    path: str
    decided_by: str
    outcome: Fate
    reason: str
    remaining: int
    brief: str = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the construct in types that JSON has."""
        sentence, fields = Reason.of(self.reason), asdict(self)
        del fields["brief"]
        return {**fields, "code": sentence.code, "arguments": dict(sentence.arguments)}


@record(frozen=True)
class Inspection:
    """The control flow of a model.

    Attributes:
        constructs: every Loop, Scan and If, outer before inner.
        nodes_before: the number of nodes in all graphs.
        nodes_after: how many there would be after the rewrite.
        left: how many Loops, Scans, Ifs and the like it would hold, those among them that a rewrite
            makes of others.
        hints: options that were tried and decide some of what stays.
        notes: remarks on what exceeded a budget.
        memory_before: an upper bound of the bytes of computed values that are alive at a time; None
            for a large model.
        memory_after: the same after the rewrite.

    >>> import straightline as sl
    >>> sl.Inspection((), nodes_before=5, nodes_after=2, left=0).straight_line
    True
    """

    constructs: tuple[Construct, ...]
    nodes_before: int
    nodes_after: int
    left: int
    hints: tuple[Hint, ...] = ()
    notes: tuple[Remark, ...] = ()
    memory_before: PeakMemory | None = None
    memory_after: PeakMemory | None = None

    @property
    def straight_line(self) -> bool:
        """Test whether a rewrite would leave no control flow."""
        return not self.left

    def to_dict(self) -> dict[str, Any]:
        """Return the inspection in types that JSON has."""
        return {
            "straight_line": self.straight_line,
            "nodes": {"before": self.nodes_before, "after": self.nodes_after},
            "memory": memory_dict(self.memory_before, self.memory_after),
            "constructs": [construct.to_dict() for construct in self.constructs],
            "hints": [hint.to_dict() for hint in self.hints],
            "notes": [note.to_dict() for note in self.notes],
        }

    def blocks(
        self, hint: Callable[[Hint], str] | None = None, *, brief: bool = False
    ) -> Iterator[Block]:
        """Yield the content for people; `hint` and `brief` as for `Outcome.blocks`.

        All that decides a construct is left out where the content is brief.
        """
        if not self.constructs:
            yield Line("no control flow")
            yield from note_lines(self.notes)
            return
        rows: list[tuple[str, ...]] = [
            (c.op_type, c.path, c.outcome, c.brief)
            if brief
            else (c.op_type, c.path, c.decided_by, c.outcome, c.reason)
            for c in self.constructs
        ]
        analysis = () if brief else ("Decided by",)
        columns = "Operator", "Where", *analysis, "Rewrite", "Effect, or reason for keeping"
        yield Table(columns, rows)
        count = sum(construct.outcome == "kept" for construct in self.constructs)
        summary = f"{count} of {len(self.constructs)} stay" if count else "none stays"
        yield Line(f"{summary}; {self.nodes_before} nodes would become {self.nodes_after}")
        yield from memory_lines(self.memory_before, self.memory_after)
        yield from hint_blocks(self.hints, hint)
        yield from note_lines(self.notes)

    def _repr_html_(self) -> str:
        return as_html("straightline: control flow", self.blocks())

    def __str__(self) -> str:
        lines = [f"{c.op_type} '{c.path}': {c.outcome}, {c.reason}" for c in self.constructs]
        return "\n".join(lines) or "no control flow"


@paused_collector
def inspect_model(model: ModelSource, options: RewriteOptions) -> Inspection:
    """Inspect a model: `inspect` with its options in one object."""
    with governed(options.limits):
        request = Request(model, options)
        return isolated(lambda: _inspected(request), NONE, request.reproduce)[0]


def _inspected(request: Request) -> Inspection:
    pipeline = request.pipeline
    copy, _ = request.prepare()
    before = count_all_nodes(copy)
    constructs = list(control_flow(copy))
    memory_before = peak_memory(copy) if constructs else None
    log, provenance = _Log(), Provenance()
    # The marks, paths and roots are those of the original, before passes move nodes.
    marked = [
        (node, node.path, decided_by(node, provenance), log.mark(node)) for node in constructs
    ]
    roots = [node.root for node in constructs]
    result = pipeline.apply(copy, run=PassContext(remarks=log))
    # All copies of a construct have the operator that marked it as their origin.
    remaining_copies = Counter(node.op.origin for node in control_flow(copy))
    reasons = kept_constructs(log)
    calls = calls_kept(copy, reasons)
    advice = advise(request, copy, reasons.values()) if remaining_copies else Advice()
    places = {node.op.origin: (node.op_type, node.path) for node in control_flow(copy)}
    described = []
    for (node, path, decider, op), root in zip(marked, roots, strict=True):
        remaining = remaining_copies[op]
        outcome, reason = log.outcome(op, remaining)
        brief = reason
        if outcome == "kept":
            reason = advice.reason(places[op], with_call(reason, root, calls))
            copies = log.copies(op, remaining)
            brief, reason = (one.replaced(f"{one}{copies}") for one in (reason.brief, reason))
        # What was rewritten was decided, whatever its sources.
        decider = "constants" if outcome == "rewritten" else decider
        described.append(Construct(node.op_type, path, decider, outcome, reason, remaining, brief))
    after = count_all_nodes(copy)
    names = {
        named(places[op]): f"{node.op_type} '{path}'"
        for node, path, _, op in marked
        if op in places
    }
    hints = [hint.renamed(names) for hint in advice.hints]
    faults = [replace(r, action="noted") for r in result.remarks if is_alarm(r)]
    notes = (*(r for r in result.remarks if r.pass_name == "budget"), *faults)
    memory_after = peak_memory(copy) if constructs else None
    return Inspection(
        tuple(described),
        before,
        after,
        remaining_copies.total(),
        tuple(hints),
        notes,
        memory_before,
        memory_after,
    )


def decided_by(node: Node, provenance: Provenance) -> str:
    """Name what decides how a construct runs: "constants", or the inputs it is computed from."""
    parts = [provenance.of(*part) for part in deciding(node) if part.value.constant is None]
    names = [join_names([origin.what for origin in origins]) for origins in parts]
    return ", ".join(dict.fromkeys(filter(None, names))) or "constants"


class _Log(RemarkLog):
    """Remarks by the construct of the original that they are about."""

    def __init__(self) -> None:
        super().__init__()
        self._done: dict[Operator, Counter[str]] = {}
        self._why: dict[Operator, dict[str, str]] = {}

    def mark(self, node: Node) -> Operator:
        """Give a construct an operator of its own, which identifies its copies."""
        op = node.op
        node.parent.set_operator(
            node, Operator(op.op_type, op.attributes, op.domain, op.overload, op.extra)
        )
        return node.op

    def add(self, remark: Remark, node: Node | None = None) -> None:
        """Add a remark, with the construct or the copy of one that it is about."""
        super().add(remark, node)
        if node is not None and remark.action == "rewritten":
            self._done.setdefault(node.op.origin, Counter())[remark.reason] += 1
        elif node is not None and remark.action == "kept":
            self._why.setdefault(node.op.origin, {})[remark.pass_name] = remark.reason

    def outcome(self, op: Operator, remaining: int) -> tuple[Fate, Reason]:
        """Return the outcome of a construct and its reason."""
        if remaining:
            reasons = self._why.get(op, {}).values()
            return "kept", Reason.rank(reasons or [NO_PASS(operator=op.qualname)])
        if op in self._done:
            first = Reason.of(next(iter(self._done[op])))
            return "rewritten", first.replaced(self._rewrites(op))
        return "removed", _REMOVED()

    def copies(self, op: Operator, remaining: int) -> str:
        """Return how many copies of a construct are left, and what became of the others."""
        rewrites = self._rewrites(op)
        return _times(remaining) + (f"; {rewrites}" if rewrites else "")

    def _rewrites(self, op: Operator) -> str:
        rewrites = self._done.get(op, Counter())
        return "; ".join(f"{text}{_times(count)}" for text, count in rewrites.items())


def _times(count: int) -> str:
    return f" ({count} copies)" if count > 1 else ""
