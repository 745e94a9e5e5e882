"""Write docs/data/conversion-places.csv: longer forms, in every place, between all opsets.

    python dev/tools/conversion_places.py [--only Resize GatherND]

Each operator that an older opset says in a longer form, or only takes of fewer types, stands in a
graph, in the branches of an If, in the body of a Loop and in a function, written in each opset that
has it, and is converted to each other one. Original and result run in the reference and, where it
takes them, in onnxruntime; down and up again must give equal outputs too. A cell is = for equal
outputs in both, r in the reference alone, - for refused; conversion-refusals.csv has the reasons.
"""

import argparse
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import onnx
from longer_forms import CASES, Case
from longer_forms.places import PLACES, model_of, nodes_of
from longer_forms.running import Runner, compare, samples_of
from straightline import convert_version
from straightline.dev.tools import data_files
from straightline.version_converter import ConversionError

OPSETS = range(7, 28)

Key = tuple[str, str]
"""A case and its place; or a case and why it is refused."""


class Row(NamedTuple):
    """What became of one case in one place.

    Attributes:
        sources: the opsets in which it was written.
        signs: by target those that were seen.
        back: the signs of going down from the newest opset and up again.
        reasons: why it is refused, with the targets.
    """

    sources: list[int]
    signs: dict[int, dict[str, int]]
    back: dict[str, int]
    reasons: dict[str, set[int]]


def row_of(case: Case, place: str, graphs: Mapping[int, onnx.GraphProto]) -> Row:
    """Convert a case in one place between all opsets."""
    row = Row(
        list(graphs), defaultdict(lambda: defaultdict(int)), defaultdict(int), defaultdict(set)
    )
    runner, newest = Runner(), max(graphs)
    samples = None
    for source, graph in graphs.items():
        before = model_of(graph, place, source)
        samples = samples or samples_of(case, before)
        for target in OPSETS:
            if target == source:
                continue
            try:
                after = convert_version(before, target)
            except ConversionError as error:
                row.signs[target]["-"] += 1
                # Names of values differ from place to place.
                reason = re.sub("'[^']+' is a ", "it reads a ", error.failures[0].reason)
                row.reasons[reason].add(target)
                continue
            row.signs[target][compare(runner, before, after, samples)] += 1
            if source == newest and target < source:
                again = convert_version(after, source)
                row.back[compare(runner, before, again, samples)] += 1
    return row


def rows(cases: Sequence[Case]) -> Iterator[tuple[Case, str, Row]]:
    for case in cases:
        graphs = {v: nodes_of(case, v) for v in range(case.since, case.until + 1)}
        written = {version: graph for version, graph in graphs.items() if graph is not None}
        for place in PLACES:
            yield case, place, row_of(case, place, written)


def spans(numbers: Sequence[int]) -> str:
    """Numbers as ranges: 7 to 10, 12."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(str(s[0]) if len(s) == 1 else f"{s[0]} to {s[-1]}" for s in found)


def numbers(text: str) -> set[int]:
    """What `spans` says."""
    ends = [part.split(" to ") for part in text.split(", ")]
    return {number for end in ends for number in range(int(end[0]), int(end[-1]) + 1)}


def columns_of(case: Case, place: str, row: Row) -> list[str]:
    """The line of the data of one case in one place."""
    cells = [cell(row.signs[target]) for target in OPSETS]
    return [case.name, place, spans(row.sources), *cells, "".join(sorted(row.back))]


def cell(signs: Mapping[str, int]) -> str:
    """The one sign, or each with its number."""
    if len(signs) < 2:
        return "".join(signs)
    return " ".join(f"{count} {sign}" for sign, count in sorted(signs.items()))


def counted(lines: Iterable[Sequence[str]]) -> str:
    """The number of conversions in some lines of the data, by sign."""
    total: dict[str, int] = defaultdict(int)
    for _, _, sources, *cells, _ in lines:
        for target, signs in zip(OPSETS, cells, strict=True):
            several = signs.split()
            if len(several) == 1:
                total[signs] += len(numbers(sources) - {target})
            for count, sign in zip(several[::2], several[1::2], strict=False):
                total[sign] += int(count)
    return ", ".join(f"{count:,} {sign}" for sign, count in sorted(total.items()))


def written() -> tuple[dict[Key, list[str]], dict[Key, list[str]]]:
    """The lines of the data by case and place, and the reasons of refusals by case."""
    lines, reasons = map(data_files.read, ("conversion-places", "conversion-refusals"))
    return {(row[0], row[1]): row for row in lines}, {(row[0], row[2]): row for row in reasons}


def refresh(cases: Sequence[Case]) -> None:
    """Write the data, with the rows of other cases as they are."""
    names = {case.name for case in cases}
    table, reasons = ({k: v for k, v in d.items() if k[0] not in names} for d in written())
    for case, place, row in rows(cases):
        table[case.name, place] = columns_of(case, place, row)
        print(*table[case.name, place], flush=True)
        for reason, targets in row.reasons.items():
            before = reasons.get((case.name, reason), [])[1:2]
            both = targets.union(*map(numbers, before))
            reasons[case.name, reason] = [case.name, spans(sorted(both)), reason]
    order = {case.name: number for number, case in enumerate(CASES)}
    told, why = (
        [lines[key] for key in sorted(lines, key=lambda key: order[key[0]])]
        for lines in (table, reasons)
    )
    head = ("what", "place", "written in", *map(str, OPSETS), "down and up")
    data_files.write("conversion-places", head, told)
    data_files.write("conversion-refusals", ("what", "targets", "reason"), why)
    print(counted(told))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="*", default=[""], help="those whose name holds one of these"
    )
    options = parser.parse_args()
    cases = [case for case in CASES if any(part in case.name for part in options.only)]
    refresh(cases)


if __name__ == "__main__":
    main()
