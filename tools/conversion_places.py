"""Write docs/conversion-places.md: longer forms of operators, in every place, between all opsets.

    python tools/conversion_places.py [--only Resize GatherND]

Each operator that an older opset says in a longer form, or only takes of fewer types, stands in a
graph, in the branches of an If, in the body of a Loop and in a function, written in each opset that
has it, and is converted to each other one. Original and result run in the reference and, where it
takes them, in onnxruntime; down and up again must give equal outputs too.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime as ort
from longer_forms import CASES, Case
from onnx import helper
from straightline import convert_version, reference
from straightline.versions import ConversionError

TARGET = Path(__file__).parent.parent / "docs" / "conversion-places.md"
OPSETS = range(7, 28)
IR_VERSION = 10

HEAD = """\
# Longer forms, in every place

Written by `python tools/conversion_places.py`. Each operator stands in a graph, in the branches of
an If, in the body of a Loop and in a function, written in each opset from 7 to 27 that has it, and
is converted to each other one; the column is the target. Every result runs in the reference and in
onnxruntime, where that takes the model, on two samples, one of them with special values; so do
those that came down from the newest opset and went up to it again.

= : equal outputs in both; r : equal in the reference, and onnxruntime does not take the opset or
the operator; - : refused, with a reason below; x : wrong. Where it depends on the opset that the
model is written in, each sign has its number."""

Key = tuple[str, str]
"""A case and its place; or a case and why it is refused."""


def nodes_of(case: Case, opset: int) -> onnx.GraphProto | None:
    """The graph of a case in one opset, with types; None where it cannot be written there."""
    head = f'<ir_version: {IR_VERSION}, opset_import: ["": {opset}]>'
    text = f"{head} g ({case.inputs}) => ({case.gives}) {{{case.nodes}}}"
    model = onnx.parser.parse_model(text)
    try:
        if case.gives == "y":
            model = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        onnx.checker.check_model(model)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return None
    return model.graph


def renamed(graph: onnx.GraphProto, suffix: str) -> list[onnx.NodeProto]:
    """The nodes with their own names changed, so that no name stands twice."""
    own = {name for node in graph.node for name in node.output if name}
    nodes = []
    for node in graph.node:
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = [f"{n}{suffix}" if n in own else n for n in node.input]
        copy.output[:] = [f"{n}{suffix}" if n else n for n in node.output]
        nodes.append(copy)
    return nodes


def untyped(name: str) -> onnx.ValueInfoProto:
    return onnx.ValueInfoProto(name=name)


Made = tuple[list[onnx.NodeProto], list[onnx.ValueInfoProto], list[onnx.FunctionProto]]


def in_graph(graph: onnx.GraphProto, opset: int) -> Made:
    return list(graph.node), list(graph.input), []


def body(graph: onnx.GraphProto, name: str, more: Sequence[str] = ()) -> onnx.GraphProto:
    """A body that gives out what `more` names, and then `y`, of its type."""
    y = onnx.ValueInfoProto()
    y.CopyFrom(graph.output[0])
    y.name = f"y{name}"
    given = [helper.make_tensor_value_info(n, onnx.TensorProto.BOOL, []) for n in more]
    return helper.make_graph(renamed(graph, name), name, [], [*given, y])


def in_branch(graph: onnx.GraphProto, opset: int) -> Made:
    branches = {f"{name}_branch": body(graph, name) for name in ("then", "else")}
    condition = helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])
    return [helper.make_node("If", ["c"], ["y"], **branches)], [*graph.input, condition], []


def in_loop(graph: onnx.GraphProto, opset: int) -> Made:
    inner = body(graph, "_in", ["on", "so_far_on"])  # below opset 11 it carries at least one value
    trip = helper.make_tensor_value_info("trip", onnx.TensorProto.INT64, [])
    keep = helper.make_tensor_value_info("keep", onnx.TensorProto.BOOL, [])
    so_far = helper.make_tensor_value_info("so_far", onnx.TensorProto.BOOL, [])
    inner.input.extend([trip, keep, so_far])
    for name, given in (("keep", "on"), ("so_far", "so_far_on")):
        inner.node.append(helper.make_node("Identity", [name], [given]))
    two = helper.make_tensor("two", onnx.TensorProto.INT64, [], [2])
    count = helper.make_node("Constant", [], ["n_trips"], value=two)
    yes = helper.make_tensor("yes", onnx.TensorProto.BOOL, [], [True])
    start = helper.make_node("Constant", [], ["start"], value=yes)
    loop = helper.make_node("Loop", ["n_trips", "start", "start"], ["carried", "y"], body=inner)
    return [count, start, loop], list(graph.input), []


def in_function(graph: onnx.GraphProto, opset: int) -> Made:
    names = [value.name for value in graph.input]
    imports = [helper.make_opsetid("", opset)]
    function = helper.make_function("own", "f", names, ["y"], list(graph.node), imports)
    return [helper.make_node("f", names, ["y"], domain="own")], list(graph.input), [function]


PLACES: Mapping[str, Callable[[onnx.GraphProto, int], Made]] = {
    "graph": in_graph,
    "branch": in_branch,
    "Loop": in_loop,
    "function": in_function,
}


def model_of(graph: onnx.GraphProto, place: str, opset: int) -> onnx.ModelProto:
    """The nodes of a graph in one of the places."""
    nodes, inputs, functions = PLACES[place](graph, opset)
    y = onnx.ValueInfoProto()
    y.CopyFrom(graph.output[0])
    if place == "Loop":
        shape = onnx.TensorShapeProto(dim=[onnx.TensorShapeProto.Dimension(dim_value=2)])
        shape.dim.extend(y.type.tensor_type.shape.dim)
        y.type.tensor_type.shape.CopyFrom(shape)
    imports = [helper.make_opsetid("", opset)]
    imports += [helper.make_opsetid("own", 1)] if functions else []
    made = helper.make_graph(nodes, "g", inputs, [y])
    return helper.make_model(
        made, opset_imports=imports, functions=functions, ir_version=IR_VERSION
    )


def samples_of(case: Case, model: onnx.ModelProto) -> list[dict[str, Any]]:
    """Numbers for each input: small ones, and special ones where they are floats."""
    found = []
    for special in (False, True):
        rng = np.random.default_rng(special)
        feeds: dict[str, Any] = {}
        for value in model.graph.input:
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            dtype = helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
            if dtype == np.bool_:
                feeds[value.name] = np.asarray(rng.random(shape) < 0.5)
            elif dtype.kind == "i":
                # They count, choose or pad, so all of them are small.
                feeds[value.name] = rng.integers(0, 2, shape).astype(dtype) + (len(shape) == 1)
            else:
                array = rng.normal(size=shape).astype(dtype)
                if special:
                    array.flat[0], array.flat[-1] = np.inf, np.nan if case.nan else -np.inf
                feeds[value.name] = array
        if case.name.endswith(("run-time indices", "run-time axes", "run-time shape")):
            feeds["k"] = np.zeros_like(feeds["k"])
        found.append(feeds)
    return found


Outputs = list[Any] | None


class Runner:
    """Runs models, each once."""

    def __init__(self) -> None:
        self.known: dict[tuple[bytes, int], tuple[Outputs, Outputs]] = {}
        self.originals: list[tuple[list[Any], list[Any]]] = []

    def run(
        self, model: onnx.ModelProto, samples: Sequence[Mapping[str, Any]]
    ) -> tuple[Outputs, Outputs]:
        """What the reference and onnxruntime give; None where one does not take the model."""
        key = model.SerializeToString(deterministic=True), id(samples)
        if key not in self.known:
            self.known[key] = in_reference(model, samples), in_onnxruntime(key[0], samples)
        return self.known[key]

    def expected(
        self, model: onnx.ModelProto, samples: Sequence[Mapping[str, Any]]
    ) -> list[list[Any]]:
        """What an original gives in the reference and in onnxruntime. Where that does not take the
        opset, what it gave for the same in another one, if the reference sees no difference."""
        by_definition, in_ort = self.run(model, samples)
        for other, others_in_ort in self.originals:
            if in_ort is None and by_definition and all(map(same, other, by_definition)):
                in_ort = others_in_ort
        if in_ort is not None and by_definition is not None and not self.originals:
            self.originals.append((by_definition, in_ort))
        return [outputs for outputs in (by_definition, in_ort) if outputs is not None]


def in_reference(model: onnx.ModelProto, samples: Sequence[Mapping[str, Any]]) -> Outputs:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return [reference.run(model, feeds)[0] for feeds in samples]
        except reference.EvaluationError:
            return None


def in_onnxruntime(content: bytes, samples: Sequence[Mapping[str, Any]]) -> Outputs:
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(content, options)
        return [session.run(None, dict(feeds))[0] for feeds in samples]
    except Exception:  # noqa: BLE001  an opset or operator that it does not have
        return None


def same(found: Any, wanted: Any) -> bool:
    """Whether two outputs are equal: floats up to some roundings."""
    one, other = np.asarray(found), np.asarray(wanted)
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind != "f":
        return bool(np.array_equal(one, other))
    return bool(np.allclose(one, other, 1e-5, 1e-6, equal_nan=True))


def compare(runner: Runner, before: onnx.ModelProto, after: onnx.ModelProto, samples: Any) -> str:
    """The sign of a conversion that was done.

    Where the reference and onnxruntime differ on the original, of infinities, one of both is right.
    """
    wanted, in_both = runner.expected(before, samples), runner.run(after, samples)
    found = [outputs for outputs in in_both if outputs is not None]
    right = all(
        any(same(one, outputs[index]) for outputs in wanted)
        for results in found
        for index, one in enumerate(results)
    )
    if not right or not wanted or not found:
        return "x"
    return "=" if len(found) == 2 else "r"


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


def line(case: Case, place: str, row: Row) -> str:
    cells = [cell(row.signs[target]) for target in OPSETS]
    back = "".join(sorted(row.back))
    return f"| {' | '.join([case.name, place, spans(row.sources), *cells, back])} |"


def cell(signs: Mapping[str, int]) -> str:
    """The one sign, or each with its number."""
    if len(signs) < 2:
        return "".join(signs)
    return " ".join(f"{count} {sign}" for sign, count in sorted(signs.items()))


def counted(lines: Iterable[str]) -> str:
    """How many conversions some lines of the table tell of, by sign."""
    total: dict[str, int] = defaultdict(int)
    for told in lines:
        _, _, sources, *cells, _ = columns(told)
        for target, signs in zip(OPSETS, cells, strict=True):
            several = signs.split()
            if len(several) == 1:
                total[signs] += len(numbers(sources) - {target})
            for count, sign in zip(several[::2], several[1::2], strict=False):
                total[sign] += int(count)
    return ", ".join(f"{count:,} {sign}" for sign, count in sorted(total.items()))


def columns(line: str) -> list[str]:
    return [column.strip() for column in line.strip().strip("|").split("|")]


def written() -> tuple[dict[Key, str], dict[Key, str]]:
    """The lines of the page as it is: of the table by case and place, and of the reasons."""
    lines = [line for line in TARGET.read_text().splitlines() if line.startswith("| ")]
    lines = [line for line in lines if not line.startswith("| what ")]
    table, reasons = {}, {}
    for told in lines:
        name, second, *rest = columns(told)
        if second in PLACES:
            table[name, second] = told
        else:
            reasons[name, rest[0]] = told
    return table, reasons


def page(cases: Sequence[Case]) -> str:
    """The whole page, with all that is not among these cases as it stands there."""
    names = {case.name for case in cases}
    table, reasons = ({k: v for k, v in d.items() if k[0] not in names} for d in written())
    for case, place, row in rows(cases):
        table[case.name, place] = line(case, place, row)
        print(table[case.name, place], flush=True)
        for reason, targets in row.reasons.items():
            before = columns(reasons.get((case.name, reason), ""))[1:2]
            both = targets.union(*map(numbers, before))
            reasons[case.name, reason] = f"| {case.name} | {spans(sorted(both))} | {reason} |"
    order = {case.name: number for number, case in enumerate(CASES)}
    told, why = (
        [lines[key] for key in sorted(lines, key=lambda key: order[key[0]])]
        for lines in (table, reasons)
    )
    head = [
        f"| what | place | written in | {' | '.join(map(str, OPSETS))} | down and up |",
        "|---" * (len(OPSETS) + 4) + "|",
    ]
    refused = ["## Why refused", "", "| what | targets | reason |", "|---|---|---|"]
    total = f"Conversions: {counted(told)}."
    return "\n".join([HEAD, "", total, "", *head, *told, "", *refused, *why]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="*", default=[""], help="those whose name holds one of these"
    )
    options = parser.parse_args()
    cases = [case for case in CASES if any(part in case.name for part in options.only)]
    TARGET.write_text(page(cases))


if __name__ == "__main__":
    main()
