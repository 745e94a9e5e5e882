"""The same node under each pair of opsets: what a run tells apart is never proved to be equal.

    PYTHONPATH=tests/support python dev/fuzz/attacked_opsets.py
    PYTHONPATH=tests/support python dev/fuzz/attacked_opsets.py --only Resize

Each of onnx's own tests of an operator is written for every version of it that takes the node as it
stands. Where the reference gives another type, shape or bit under two of them, or fails under the
second only, `prove` must not say that the two are equal.
"""

import argparse
import itertools
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import onnx
from backend import array, cases_of_nodes
from proof_mutants import compared, is_valid, ran
from straightline.ir import Operator
from straightline.ops import OperatorRules, rules_of
from straightline.verification.proof.terms.op_semantics import versions_of

FIRST = 7
"""Older opsets are not compared by their meaning."""


def written_for(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    """A model that says the same for another opset."""
    made = onnx.ModelProto()
    made.CopyFrom(model)
    for entry in made.opset_import:
        if not entry.domain:
            entry.version = opset
    return made


def spellings(model: onnx.ModelProto) -> Iterator[onnx.ModelProto]:
    """A model for each opset that has another version of its operator, and takes it."""
    versions = {schema.since_version for schema in versions_of(model.graph.node[0].op_type)}
    for opset in sorted({max(version, FIRST) for version in versions}):
        made = written_for(model, opset)
        if is_valid(made):
            yield made


def judged(case: Any) -> Iterator[tuple[str, str]]:
    """What became of each pair of opsets, and which these are."""
    names = [info.name for info in case.model.graph.input]
    feeds = [dict(zip(names, map(array, ins), strict=False)) for ins, _ in case.data_sets]
    written = [(model, ran(model, feeds)) for model in spellings(case.model)]
    for (before, expected), (after, got) in itertools.permutations(written, 2):
        if expected is not None:
            pair = " and ".join(str(m.opset_import[0].version) for m in (before, after))
            # onnx's kernels of two versions round in two ways.
            yield compared(before, after, expected, got, rounded=True), f"{case.name}: {pair}"


def checked(only: str = "", every: int = 1) -> tuple[Counter[str], list[str]]:
    """How many pairs of each kind there are, and those that must not be.

    Args:
        only: an operator; empty for all.
        every: one test in so many; pools are among all of them only.
    """
    counts: Counter[str] = Counter()
    wrong = []
    for case in cases_of_nodes(pools=every == 1)[::every]:
        op_type = case.model.graph.node[0].op_type
        if only in ("", op_type) and not _draws(op_type):
            for kind, pair in judged(case):
                counts[kind] += 1
                if kind.endswith("proved"):
                    wrong.append(f"{pair} {kind}")
    return counts, wrong


def _draws(op_type: str) -> bool:
    return rules_of(Operator(op_type)).defines(OperatorRules.draws_random_numbers)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="one operator")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    counts, wrong = checked(arguments.only)
    print(*wrong, dict(sorted(counts.items())), sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
