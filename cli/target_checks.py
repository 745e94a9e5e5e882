"""Operators that shipped targets lack, in a model as it is and after `--target`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..display import Table
from ..driver.calls import transform
from ..ir import Model, ModelSource, load, read
from ..records import asdict, record
from ..targets import Target, find, names
from ..targets.legality import Legality, name_of


@record(frozen=True)
class TargetCheck:
    """Operators of a model that a target lacks.

    Attributes:
        version: the version of its list.
        before: the number of unsupported nodes by operator, in the model as it is.
        after: the same in the model that `transform` fits to the target.
        reasons: the reasons for the latter, each once.
    """

    target: str
    version: str
    before: Mapping[str, int]
    after: Mapping[str, int]
    reasons: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """The check for JSON."""
        return asdict(self)


def check_targets(model: ModelSource) -> list[TargetCheck]:
    """Check a model against every shipped target.

    Raises:
        Error: the model cannot be read, or is not well formed.
    """
    source = read(model)
    graph = load(source)
    return [_checked(find(name), source, graph) for name in names()]


def check_table(checks: Sequence[TargetCheck]) -> Table:
    """The table of all checks."""
    rows = [
        (check.target, check.version, listed(check.before), listed(check.after)) for check in checks
    ]
    return Table(("Target", "Its list", "Lacks as it is", "Lacks with --target"), rows)


def lacking(target: Target, model: Model) -> Counter[str]:
    """The number of unsupported nodes by operator; an unsupported opset counts as one."""
    counts = Counter(name_of(node) for node in Legality(target, model).unsupported())
    opset = model.opset()
    if opset and opset not in target.opsets:
        counts[f"opset {opset}"] += 1
    return counts


def _checked(target: Target, source: ModelSource, graph: Model) -> TargetCheck:
    version, before = target.source.version, lacking(target, graph)
    # A rewrite is the dear part, and a model that fits already needs none.
    if not before:
        return TargetCheck(target.name, version, {}, {}, ())
    outcome = transform(source, target=target, verify=False, hints=False)
    after = Counter(remark.op_type for remark in outcome.untaken)
    reasons = dict.fromkeys(str(remark.reason) for remark in outcome.untaken)
    return TargetCheck(target.name, version, dict(before), dict(after), tuple(reasons))


def listed(counts: Mapping[str, int]) -> str:
    """Operators with their numbers, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(name if n == 1 else f"{name} {n}" for name, n in ordered) or "nothing"
