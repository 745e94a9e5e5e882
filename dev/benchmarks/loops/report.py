"""What was measured, as a table."""

import math
import statistics
from collections.abc import Iterator, Sequence

from .comparison import SLOWER, Comparison, LoopForm, RefusedError

_FIRST = f"{'model':41}{'run ms':>8}{'load ms':>8}{'nodes':>6}"
_BY_HAND = f"{'run':>8}{'load':>6}{'nodes':>6}"
_BY_PIPELINE = f"{'run':>8}{'load':>7}{'nodes':>7}{'of best':>8}{'loops':>6}{'us/node':>8}  "


def head(names: Sequence[str]) -> str:
    """The head of the table: the original, the form by hand, and each pipeline."""
    over = "".join(f" | {name:<{len(_BY_PIPELINE)}}" for name in names)
    under = f" | {_BY_PIPELINE}" * len(names)
    first = f"{'':{len(_FIRST)}} | {'by hand':<{len(_BY_HAND)}}{over}"
    return f"{first}\n{_FIRST} | {_BY_HAND}{under}"


def line(measured: Comparison) -> str:
    """A case; `!` marks outputs that differ."""
    hand, *others = measured.forms.values()
    mark = "" if hand.agrees else "!"
    first = (
        f"{measured.case + mark:41}{measured.run_ms:8.3f}{measured.load_ms:8.2f}{measured.nodes:6}"
    )
    rest = "".join(f" | {_cells(form)}" for form in others)
    return f"{first} | {hand.run:8.2f}{hand.load:6.2f}{hand.nodes:6.2f}{rest}"


def _cells(form: LoopForm) -> str:
    mark = " " if form.agrees else "!"
    return (
        f"{form.run:8.2f}{form.load:7.3f}{form.nodes:7.2f}{form.of_best:8.2f}"
        f"{form.loops:6}{form.us_a_node:8.0f} {mark}"
    )


def summary(measured: Sequence[Comparison]) -> Iterator[str]:
    """Geometric means, the worst, and what differs, for the form by hand and each pipeline."""
    for name in measured[0].forms:
        forms = {one.case: one.forms[name] for one in measured}
        yield f"\n{name}:"
        for what in ("run", "load", "nodes", "of_best"):
            ratios = {case: getattr(form, what) for case, form in forms.items()}
            worst = min(ratios, key=lambda case: ratios[case])
            slower = sum(ratio < SLOWER for ratio in ratios.values())
            yield (
                f"  {what:8} geometric mean {geometric_mean(list(ratios.values())):8.3f}"
                f"   below {SLOWER}: {slower:3} of {len(ratios)}"
                f"   worst {ratios[worst]:.3f} ({worst})"
            )
        yield from _loops(measured, name)
        spent = [form.us_a_node for form in forms.values()]
        if max(spent):
            yield (
                f"  microseconds a node read or made: median {statistics.median(spent):.0f},"
                f" most {max(spent):.0f}; {sum(form.seconds for form in forms.values()):.1f} s"
            )
        differing = [case for case, form in forms.items() if not form.agrees]
        if differing:
            yield f"  OTHER OUTPUTS: {', '.join(differing)}"


def families(measured: Sequence[Comparison]) -> Iterator[str]:
    """Geometric means by family, as a table in Markdown: run, load and nodes of each form."""
    names = list(measured[0].forms)
    yield f"\n| family | models | {' | '.join(names)} |"
    yield "|---|---:" + "|---:" * len(names) + "|"
    groups: dict[str, list[Comparison]] = {}
    for one in measured:
        groups.setdefault(one.family, []).append(one)
    for family, members in {**groups, "all": measured}.items():
        cells = []
        for name in names:
            forms = [one.forms[name] for one in members]
            means = [
                geometric_mean([getattr(form, what) for form in forms])
                for what in ("run", "load", "nodes")
            ]
            cells.append("{:.2f}, {:.2f}, {:.2f}".format(*means))
        yield f"| {family} | {len(members)} | {' | '.join(cells)} |"


def counts(measured: Sequence[Comparison], refusals: Sequence[RefusedError]) -> Iterator[str]:
    """Count the models that the runtime takes, in each form, if it refuses any."""
    for name in refusals[0].taken if refusals else ():
        number = len(measured) + sum(refusal.taken[name] for refusal in refusals)
        yield f"{name}: {number} of {len(measured) + len(refusals)} are taken"


def _loops(measured: Sequence[Comparison], name: str) -> Iterator[str]:
    """Where loops are left, by whether they need to be."""
    free = [one for one in measured if not one.true_recurrence and not one.must_stay]
    left = [one.case for one in free if one.forms[name].loops]
    yield f"  loops left where no iteration needs another: {len(left)} of {len(free)}"
    if left:
        yield f"    {', '.join(left)}"


def geometric_mean(numbers: Sequence[float]) -> float:
    """The number whose logarithm is the mean of theirs."""
    return math.exp(statistics.fmean(map(math.log, numbers)))
