"""Trials of the shipped lists: one node at a time, in the client.

    python -m straightline.dev.benchmarks.clients.nodes --client NAME [--only TEXT] [--json FILE]
        [--recorded FOLDER] [--after-target]

A list promises that the client takes an operator in an opset, type and form. Each promise for which
onnx has a test is tried in the client, and what it does not keep is printed by operator, to be put
into the list by hand: as a form, or by leaving the operator out. `--recorded` tries models that
tests of operators outside of ONNX kept. `--after-target` tries what `--target` makes of every case,
listed or not, where it reports nothing that stays.
"""

import argparse
import dataclasses
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import straightline as sl
from straightline.targets import Target, find
from straightline.targets.target import Form

from .client import CLIENTS, Client
from .client_run import classify
from .one_node import OPSETS, Case, cases, recorded
from .running import Worker

_MOST = 4
"""Limit of broken promises that are printed for each operator."""


_BLOCK = 200


class Trial(NamedTuple):
    """One case in a client."""

    op_type: str
    opset: int
    form: str
    name: str
    status: str
    reason: str


def main() -> None:
    options = _options()
    client = next(client for client in CLIENTS if client.name == options.client)
    if client.obstacle:
        sys.exit(f"error: {client.obstacle}")
    start = time.time()
    trials = list[Trial]()
    target = find(client.target)
    fitted = target if options.after_target else None
    if options.every or fitted:
        target = dataclasses.replace(target, operators=None, lacks={}, forms={}, anywhere=Form())
    if options.recorded:
        every = recorded(options.recorded, target, options.only)
    else:
        every = cases(target, options.only, options.opset or OPSETS)
    if fitted:
        every = (case for each in every for case in after_target(each, fitted))
    for trial in trials_of(client, every):
        trials.append(trial)
        if options.json and len(trials) % _BLOCK == 1:  # so that nothing tried is lost
            _keep(trials, Path(options.json))
    if options.json:
        _keep(trials, Path(options.json))
    print("\n".join(broken(trials)))
    right = sum(trial.status == "right" for trial in trials)
    operators = len({trial.op_type for trial in trials})
    seconds = time.time() - start
    print(f"{client.versions}: {right} of {len(trials)}, {operators} operators, {seconds:.0f} s")


def _keep(trials: Sequence[Trial], file: Path) -> None:
    text = json.dumps([trial._asdict() for trial in trials], indent=1)
    file.write_text(text, encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name if __spec__ else 'nodes'}")
    names = [client.name for client in CLIENTS]
    parser.add_argument("--client", required=True, choices=names)
    parser.add_argument("--only", default="", help="operators whose name holds this")
    meaning = "an opset besides those of the tests"
    parser.add_argument("--opset", type=int, action="append", help=meaning)
    parser.add_argument("--every", action="store_true", help="operators and forms not listed, too")
    parser.add_argument("--after-target", action="store_true", help="after the target's rewrite")
    parser.add_argument("--recorded", type=Path, help="a folder of models of one node")
    parser.add_argument("--json", help="a file for each trial")
    return parser.parse_args()


def after_target(case: Case, target: Target) -> Iterator[Case]:
    """Yield the case as a target has it, unless the rewrite reports what the target lacks."""
    try:
        outcome = sl.transform(case.model, target=target, verify=False, hints=False)
    except sl.Error:
        return
    if not outcome.untaken:
        yield dataclasses.replace(case, model=outcome.model)


def trials_of(client: Client, every: Iterator[Case]) -> Iterator[Trial]:
    """Try cases in a client, one after the other."""
    with Worker(client) as worker:
        for case in every:
            answer = worker.run(case.model.SerializeToString(), case.feeds)
            status, reason = classify(answer, case.expected)
            yield Trial(case.op_type, case.opset, case.form, case.name, status, reason)


def broken(trials: Sequence[Trial]) -> Iterator[str]:
    """Yield the promises that the client does not keep, by operator."""
    groups: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[trial.op_type].append(trial)
    for op_type, group in sorted(groups.items()):
        failures = [trial for trial in group if trial.status != "right"]
        if not failures:
            continue
        yield f"{op_type}: {len(failures)} of {len(group)} fail"
        kinds = Counter((t.status, t.form, t.name, t.reason[:120]) for t in failures)
        for (status, form, name, reason), _ in kinds.most_common(_MOST):
            opsets = sorted({t.opset for t in failures if (t.name, t.form) == (name, form)})
            yield f"  {name} {form or 'float'} in {opsets}: {status}: {reason}"


if __name__ == "__main__":
    main()
