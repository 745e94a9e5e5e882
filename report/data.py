"""The data of reports: models in, JSON out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..driver.result import Outcome
from ..driver.suggestions import Hint
from ..ir import BaseDir, Model, ModelSource, load
from ..ir.kinds import takes
from ..ir.lazy import lazy_property
from ..passes import Remark
from ..passes.manager.pipeline import Timing
from ..records import asdict, astuple, record
from ..runtimes.workers import RuntimeName
from .changes import Changes, changes
from .constructs import ConstructData, constructs_of
from .differences import Differences, differences
from .first_difference import FirstDifference, first_difference
from .groups import Grouping, Groupings, groupings
from .model_data import ModelData, NodeData, Place, describe
from .origins import Origin, origins
from .predictions import Predictions, predictions
from .verdict_data import VerdictData

if TYPE_CHECKING:
    from ..verification.mismatch import MismatchError
    from ..verification.runs.verdict import Verdict

MOST_REMARKS = 1000
"""The most rows of rewritten constructs; remaining constructs have no limit."""

CommandWith = Callable[[Sequence[str]], str]
"""Extends the present command by options."""


@record(frozen=True)
class Side:
    """One of the two models.

    Attributes:
        model: its graphs.
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


@record(frozen=True)
class RemarkRow:
    """A remark and its number of occurrences."""

    pass_name: str
    operator: str
    path: str
    action: str
    reason: str
    count: int


@record(frozen=True)
class Report:
    """Two models, and the results of the rewrite between them.

    Attributes:
        before: the original.
        after: its rewrite.
        origins: the origins of nodes of the rewrite.
        differences: the models compared.
        predictions: predicted load time, run time and memory.
        remarks: the rewritten and the remaining constructs, with reasons.
        more_remarks: the number of omitted rows.
        hints: tested commands, with the constructs that each decides.
        timings: the time of each pass.
        verdict: the verdict of a comparison of outputs.
        viewers: commands that open each model in a viewer.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> one, other = (
        ...     sl.ir.parse(head + f"g (float[2] x) => (float[2] y) {{ y = {op} (x) }}")
        ...     for op in ("Relu", "Abs")
        ... )
        >>> report = sl.report.gather(one, other)
        >>> report.differences.none, report.verdict
        (False, None)
    """

    before: Side
    after: Side
    origins: dict[Place, Origin]
    differences: Differences
    predictions: Predictions
    remarks: tuple[RemarkRow, ...] = ()
    more_remarks: int = 0
    hints: tuple[dict[str, Any], ...] = ()
    timings: tuple[Timing, ...] = ()
    verdict: VerdictData | None = None
    viewers: tuple[str, ...] = ()

    @lazy_property
    def changes(self) -> Changes:
        """The models compared node by node, with their constants."""
        return changes(self.before.model, self.after.model)

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON. Names are short and nodes are lists, since there are many.

        A node is `[operator, name, inputs, outputs, graphs, origin]`, an origin `[kind, graph,
        node, end, others]`; empty items at the end are omitted.
        """
        groups = (
            groupings(self.before.model),
            groupings(self.after.model, self.before.model, self.origins),
        )
        return {
            "before": _side(self.before, {}, groups[0]),
            "after": _side(self.after, self.origins, groups[1]),
            "differences": self.differences.to_dict(),
            "changes": self.changes.to_dict(),
            "predictions": self.predictions.to_dict(),
            "remarks": [asdict(row) for row in self.remarks],
            "more_remarks": self.more_remarks,
            "hints": list(self.hints),
            "timings": [[timing.pass_name, timing.seconds] for timing in self.timings],
            "verdict": None if self.verdict is None else asdict(self.verdict),
            "viewers": list(self.viewers),
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
    mismatch: MismatchError | None = None,
    command_with: CommandWith | None = None,
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
        mismatch: the error that names the pass at fault, where outputs differ.
        command_with: makes a command of the options of a hint.
        base_dir: the base folder of external data of models in memory.

    Raises:
        LoadError: a model cannot be read or is not a model.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> sl.report.gather(model, sl.rewrite(model), names=("exp", "new")).after.name
        'new'
    """
    models = [m if isinstance(m, Model) else load(m, base_dir) for m in (before, after)]
    one, other = map(Side.of, models, names)
    sources = origins(one.model, other.model)
    rows, more = _rows(remarks)
    write = command_with or " ".join
    predicted = predictions(models[0], models[1])
    first: FirstDifference | str = ""
    # Both models run once more, node by node: only for a difference, with the input that shows it.
    if verdict is not None and verdict.differs and verdict.feeds is not None:
        subject = (models[0], models[1]), (one.model, other.model), sources, verdict.feeds
        runtime: RuntimeName = "onnxruntime" if "onnxruntime" in verdict.runtimes else "reference"
        first = first_difference(*subject, runtime, base_dir)
    return Report(
        one,
        other,
        sources,
        differences(one.model, other.model, stored, predicted.memory),
        predicted,
        rows,
        more,
        tuple([{"command": write(hint.options), **hint.to_dict()} for hint in hints]),
        tuple(timings),
        None if verdict is None else VerdictData.of(verdict, mismatch, first),
    )


@takes(outcome=Outcome)
def of_outcome(
    outcome: Outcome[Any],
    *,
    mismatch: MismatchError | None = None,
    names: tuple[str, str] = ("original", "rewritten"),
    stored: tuple[int | None, int | None] = (None, None),
    command_with: CommandWith | None = None,
) -> Report:
    """Gather the data of a report from an outcome of `transform`.

    Args:
        outcome: the outcome.
        mismatch: the error of its verification, where outputs differ.
        names: the names of the models.
        stored: the bytes of their files, where there are files.
        command_with: makes a command of the options of a hint.

    Raises:
        LoadError: external data of a model cannot be read.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> report = sl.report.of_outcome(sl.transform(model))
        >>> report.verdict is not None and report.verdict.status
        'proved'
    """
    request = outcome.request
    remarks = [remark for remark in outcome.remarks if remark.action != "kept"]
    return gather(
        request.original,
        outcome.ir,
        names=names,
        stored=stored,
        remarks=[*outcome.left, *remarks],
        timings=outcome.timings,
        hints=outcome.hints,
        verdict=outcome.verdict,
        mismatch=mismatch,
        command_with=command_with,
        base_dir=request.options.base_dir,
    )


def _rows(remarks: Iterable[Remark]) -> tuple[tuple[RemarkRow, ...], int]:
    """Count equal remarks as one row."""
    # An unrolled loop has as many equal remarks as iterations.
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


def _side(
    side: Side, origins_of: dict[Place, Origin], groups: Sequence[Groupings]
) -> dict[str, Any]:
    model = side.model
    graphs = [
        {
            "title": graph.title,
            "path": graph.path,
            "inputs": [[value.name, value.type] for value in graph.inputs],
            "outputs": [[value.name, value.type] for value in graph.outputs],
            "constants": [[value.name, value.type, value.elements] for value in graph.constants],
            "count": graph.count,
            "function": graph.is_function,
            "groups": {
                "origin": _groups(groups[number].origin),
                "module": _groups(groups[number].module),
            },
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
        "operators": [[o.name, o.attributes, o.notes, o.parameters] for o in model.operators],
        "constructs": [asdict(construct) for construct in side.constructs],
        "more_constructs": side.more_constructs,
    }


def _groups(grouping: Grouping | None) -> dict[str, Any] | None:
    """Groups as `[kind, label, around]`, and the runs of nodes in them."""
    if grouping is None:
        return None
    groups = [astuple(group) for group in grouping.groups]
    return {"groups": groups, "runs": grouping.runs}


def _node(node: NodeData, origin: Origin | None) -> list[Any]:
    row: list[Any] = [node.operator, node.name, node.inputs, node.outputs, node.graphs]
    if origin is not None:
        row.append([origin.kind, *origin.place, origin.end, origin.others])
    while not row[-1] and len(row) > 4:
        row.pop()
    return row
