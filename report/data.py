"""The data of reports: models in, JSON out."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..analysis.peak_memory import peak_memory
from ..driver.result import Outcome
from ..driver.suggestions import Hint
from ..ir import BaseDir, Model, ModelSource, load
from ..ir.kinds import takes
from ..passes import Remark
from ..passes.manager.pipeline import Timing
from .constructs import ConstructData, constructs_of
from .differences import Differences, differences
from .model_data import ModelData, NodeData, Place, describe
from .origins import Origin, origins

if TYPE_CHECKING:
    from ..verification.runs.verdict import Verdict

MOST_REMARKS = 1000
"""The most rows of rewritten constructs; remaining constructs have no limit."""

Again = Callable[[Sequence[str]], str]
"""Extends the present command by options."""


@dataclasses.dataclass(frozen=True)
class Side:
    """One of the two models.

    Attributes:
        name: its name.
        model: its graphs.
        constructs: its control flow.
        more_constructs: the number of constructs without a description.
    """

    name: str
    model: ModelData
    constructs: tuple[ConstructData, ...]
    more_constructs: int

    @classmethod
    def of(cls, model: Model, name: str) -> Side:
        """Make the side of a model."""
        constructs, more = constructs_of(model)
        return cls(name, describe(model), tuple(constructs), more)


@dataclasses.dataclass(frozen=True)
class RemarkRow:
    """A remark and its number of occurrences."""

    pass_name: str
    operator: str
    path: str
    action: str
    reason: str
    count: int


@dataclasses.dataclass(frozen=True)
class OutputRow:
    """An output and its status: "proved", "equal", "different", "not deterministic"."""

    name: str
    status: str
    detail: str


@dataclasses.dataclass(frozen=True)
class VerdictData:
    """The verdict of the verification.

    Attributes:
        status: "proved", "equal", "different" or "not verified".
        reason: the reason in one sentence.
        ran: the runtime and the number of samples.
        outputs: each output.
        notes: the limits of the verification.
        seconds: time spent.
    """

    status: str
    reason: str
    ran: str
    outputs: tuple[OutputRow, ...]
    notes: tuple[str, ...]
    seconds: float


@dataclasses.dataclass(frozen=True)
class Report:
    """Two models, and the results of the rewrite between them.

    Attributes:
        before: the original.
        after: its rewrite.
        origins: the origins of nodes of the rewrite.
        differences: the models compared.
        remarks: the rewritten and the remaining constructs, with reasons.
        more_remarks: the number of omitted rows.
        hints: tested commands, with the constructs that each decides.
        timings: the time of each pass.
        verdict: the verdict of a comparison of outputs.
    """

    before: Side
    after: Side
    origins: dict[Place, Origin]
    differences: Differences
    remarks: tuple[RemarkRow, ...] = ()
    more_remarks: int = 0
    hints: tuple[dict[str, Any], ...] = ()
    timings: tuple[Timing, ...] = ()
    verdict: VerdictData | None = None

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON. Names are short and nodes are lists, since there are many.

        A node is `[operator, name, inputs, outputs, graphs, origin]`, an origin `[kind, graph,
        node, end, others]`; empty items at the end are omitted.
        """
        return {
            "before": _side(self.before, {}),
            "after": _side(self.after, self.origins),
            "differences": self.differences.to_dict(),
            "remarks": [dataclasses.asdict(row) for row in self.remarks],
            "more_remarks": self.more_remarks,
            "hints": list(self.hints),
            "timings": [[timing.pass_name, timing.seconds] for timing in self.timings],
            "verdict": None if self.verdict is None else dataclasses.asdict(self.verdict),
        }


def gather(
    before: ModelSource,
    after: ModelSource,
    *,
    names: tuple[str, str] = ("original", "rewritten"),
    stored: tuple[int | None, int | None] = (None, None),
    remarks: Iterable[Remark] = (),
    timings: Iterable[Timing] = (),
    hints: Iterable[Hint] = (),
    verdict: Verdict | None = None,
    again: Again | None = None,
    base_dir: BaseDir = None,
) -> Report:
    """Gather the data of a report of two models.

    Args:
        before: the original; unchanged.
        after: its rewrite; unchanged.
        names: their names.
        stored: the bytes of their files, where there are files.
        remarks: remarks about rewritten and remaining constructs.
        timings: the time of each pass.
        hints: options that decide remaining constructs.
        verdict: the verdict of a comparison of outputs.
        again: makes a command of the options of a hint.
        base_dir: the base folder of external data of models in memory.
    """
    models = [m if isinstance(m, Model) else load(m, base_dir) for m in (before, after)]
    one, other = map(Side.of, models, names)
    memory = peak_memory(models[0]), peak_memory(models[1])
    rows, more = _rows(remarks)
    write = again or " ".join
    return Report(
        one,
        other,
        origins(one.model, other.model),
        differences(one.model, other.model, stored, memory),
        rows,
        more,
        tuple([{"command": write(hint.options), **hint.to_dict()} for hint in hints]),
        tuple(timings),
        None if verdict is None else _verdict(verdict),
    )


@takes(outcome=Outcome)
def of_outcome(
    outcome: Outcome,
    *,
    names: tuple[str, str] = ("original", "rewritten"),
    stored: tuple[int | None, int | None] = (None, None),
    again: Again | None = None,
) -> Report:
    """Gather the data of a report from an outcome of `transform`.

    Args:
        outcome: the outcome.
        names: the names of the models.
        stored: the bytes of their files, where there are files.
        again: makes a command of the options of a hint.
    """
    rewriting = outcome.rewriting
    remarks = [remark for remark in outcome.remarks if remark.action != "kept"]
    return gather(
        rewriting.original,
        outcome.ir,
        names=names,
        stored=stored,
        remarks=[*outcome.left, *remarks],
        timings=outcome.timings,
        hints=outcome.hints,
        verdict=outcome.verdict,
        again=again,
        base_dir=rewriting.options.base_dir,
    )


def _rows(remarks: Iterable[Remark]) -> tuple[tuple[RemarkRow, ...], int]:
    """Count equal remarks as one row."""
    counted = Counter(remarks)
    rows, rewritten, more = [], 0, 0
    for remark, count in counted.items():
        rewritten += remark.action == "rewritten"
        if remark.action == "rewritten" and rewritten > MOST_REMARKS:
            more += 1
            continue
        fields = remark.op_type, remark.path, remark.action, remark.reason
        rows.append(RemarkRow(remark.pass_name, *fields, count))
    return tuple(rows), more


def _verdict(verdict: Verdict) -> VerdictData:
    proof = verdict.proof
    rows = [OutputRow(o.name, o.status, o.largest) for o in verdict.outputs]
    if verdict.proved and proof is not None:
        details = {
            name: f"both models compute the same {count} term{'s' * (count != 1)}"
            for name, count in proof.outputs.items()
        } | {row.name: row.detail for row in rows}
        rows = [OutputRow(name, "proved", details[name]) for name in proof.outputs]
    where = ", ".join(verdict.runtimes)
    samples = len(verdict.samples)
    ran = f"run by {where} on {samples} sample{'s' * (samples != 1)}" if where else ""
    notes = list(verdict.notes)
    if proof is not None and not proof.proved:
        notes.append(f"no proof was found: {proof.reason}")
    reason = proof.claim if verdict.proved and proof is not None else verdict.reason
    status = "proved" if verdict.proved else verdict.status
    seconds = verdict.seconds or (proof.seconds if proof is not None else 0.0)
    return VerdictData(status, reason, ran, tuple(rows), tuple(notes), seconds)


def _side(side: Side, origins_of: dict[Place, Origin]) -> dict[str, Any]:
    model = side.model
    graphs = [
        {
            "title": graph.title,
            "path": graph.path,
            "inputs": [[value.name, value.type] for value in graph.inputs],
            "outputs": [[value.name, value.type] for value in graph.outputs],
            "constants": [[value.name, value.type] for value in graph.constants],
            "count": graph.count,
            "function": graph.is_function,
            "nodes": [
                _node(node, origins_of.get((number, index)))
                for index, node in enumerate(graph.nodes)
            ],
        }
        for number, graph in enumerate(model.graphs)
    ]
    return {
        "name": side.name,
        "graphs": graphs,
        "operators": [[o.name, o.attributes, list(map(list, o.notes))] for o in model.operators],
        "constructs": [dataclasses.asdict(construct) for construct in side.constructs],
        "more_constructs": side.more_constructs,
    }


def _node(node: NodeData, origin: Origin | None) -> list[Any]:
    row: list[Any] = [node.operator, node.name, node.inputs, node.outputs, node.graphs]
    if origin is not None:
        row.append([origin.kind, *origin.place, origin.end, origin.others])
    while not row[-1] and len(row) > 4:
        row.pop()
    return row
