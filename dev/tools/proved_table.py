"""Prove rewrites and conversions of many models: docs/data/proofs.csv and open-proofs.csv.

    python dev/tools/proved_table.py [--draws 100] [--folder MODELS] [--scripts CHECKOUT]
        [--only conversions] [--list] [--write]

The models are those of onnx's backend tests that hold control flow, models drawn at random, and
files of folders, and the functions that scripts of onnxscript define (from a checkout, its
`docs/tutorial/examples` and `tests/models`). Each is rewritten by the default pipeline and
converted to some opsets. A model counts once for each rewrite or conversion that changes more than
the opset number.
"""

import argparse
import collections
import importlib.util
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import onnx

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support")]

import straightline as sl  # noqa: E402
from straightline.dev.tools import data_files  # noqa: E402
from straightline.verification.proof import prove  # noqa: E402

TARGETS = (8, 9, 11, 13, 15, 18, 21, 23)
Models = Iterator[tuple[str, onnx.ModelProto]]


class Row(NamedTuple):
    """One question: which models, what was done to them, what came out."""

    family: str
    name: str
    change: str
    status: str
    reason: str
    seconds: float


def backend() -> Models:
    from backend import CASES

    for case in CASES:
        yield case.name, case.model


def random_models(count: int) -> Models:
    from dice import Dice
    from fuzz import DRAWS

    for draws, strategy in DRAWS.items():
        for number in range(count):
            yield f"{draws}-{number}", Dice(number)(strategy)[0]


def files(folder: Path) -> Models:
    for path in sorted(folder.glob("**/*.onnx")):
        yield path.stem, onnx.load(path)


def scripts(checkout: Path) -> Models:
    """The functions of onnxscript's examples that say the types of all that goes in and out."""
    import onnxscript

    for folder in ("docs/tutorial/examples", "tests/models"):
        for path in sorted((checkout / folder).glob("*.py")):
            for name, function in defined(path).items():
                if isinstance(function, onnxscript.OnnxFunction):
                    try:
                        model = function.to_model_proto()
                    except ValueError:  # it takes attributes, which a model has not
                        continue
                    values = [*model.graph.input, *model.graph.output]
                    typed = all(value.type.WhichOneof("value") for value in values)
                    if typed and not refers(model.graph):
                        yield f"{path.stem}.{name}", model


def refers(graph: onnx.GraphProto) -> bool:
    """Whether nodes take attributes of a function, which the graph of a model is not."""
    return any(
        attribute.ref_attr_name or refers(attribute.g)
        for node in graph.node
        for attribute in node.attribute
    )


def defined(path: Path) -> dict[str, object]:
    """What a script defines; nothing where it does not run, as some are to show."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 - whatever a script raises
        print(f"{path.name} is left out: {type(error).__name__}", file=sys.stderr)
        return {}
    return vars(module)


def opset_of(model: onnx.ModelProto) -> int:
    return next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)


def changes(model: onnx.ModelProto, only: str) -> Iterator[tuple[str, str, onnx.ModelProto]]:
    """A model before and after each change that is made to it; what is refused is left out."""
    if only != "conversions":
        yield from attempt("rewrite", model, lambda: sl.rewrite(model))
    if only == "rewrites":
        return
    own = opset_of(model)
    for target in TARGETS:
        if target != own:
            step = f"{own} to {target}"
            yield from attempt(step, model, lambda t=target: sl.convert_version(model, t))


def attempt(change: str, model: onnx.ModelProto, make) -> Iterator:
    try:
        after = make()
    except sl.Error:
        return
    yield change, model, after


def asked(family: str, models: Models, only: str) -> Iterator[Row]:
    for name, model in models:
        for change, before, after in changes(model, only):
            if not differs(before, after):
                continue
            start = time.perf_counter()
            proof = prove(before, after)
            seconds = time.perf_counter() - start
            yield Row(family, name, change, proof.status, proof.reason, seconds)


def differs(before: onnx.ModelProto, after: onnx.ModelProto) -> bool:
    """Whether more than the number of an opset changed."""
    graphs = [m.graph.SerializeToString(deterministic=True) for m in (before, after)]
    return graphs[0] != graphs[1] or list(before.functions) != list(after.functions)


def kind(row: Row) -> str:
    return "rewrites" if row.change == "rewrite" else "conversions"


def general(reason: str) -> str:
    """A reason without the names of values."""
    return re.sub(r"'[^']*'", "…", reason)


def shares(rows: list[Row]) -> list[tuple[object, ...]]:
    """The number of proved and open changes by kind and family."""
    counts: dict[tuple[str, str], collections.Counter[str]] = {}
    for row in rows:
        counts.setdefault((kind(row), row.family), collections.Counter())[row.status] += 1
    return [
        (*key, count["proved"], count.total() - count["proved"])
        for key, count in sorted(counts.items())
    ]


def open_ones(rows: list[Row]) -> list[tuple[object, ...]]:
    """The reasons of open proofs, with their number."""
    why = collections.Counter((general(r.reason), kind(r)) for r in rows if r.status != "proved")
    ordered = sorted(why.items(), key=lambda item: (-item[1], item[0]))
    return [(*key, number) for key, number in ordered]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=100, help="random models of each kind")
    parser.add_argument("--folder", type=Path, action="append", default=[], help="more models")
    parser.add_argument("--scripts", type=Path, help="a checkout of onnxscript")
    parser.add_argument("--only", choices=["rewrites", "conversions"], default="")
    parser.add_argument("--family", default="", help="one family of models only")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--list", action="store_true", help="print each that stays open")
    arguments = parser.parse_args()
    families = {"backend tests of onnx": backend(), "random models": random_models(arguments.draws)}
    families |= {folder.name: files(folder) for folder in arguments.folder}
    if arguments.scripts:
        families["examples of onnxscript"] = scripts(arguments.scripts)
    rows = []
    for family, models in families.items():
        if arguments.family in family:
            for row in asked(family, models, arguments.only):
                rows.append(row)
                if arguments.list and row.status != "proved":
                    print(row.name, row.change, row.reason[:160], flush=True)
    tables = (
        ("proofs", ("change", "models", "proved", "open"), shares(rows)),
        ("open-proofs", ("reason", "change", "number"), open_ones(rows)),
    )
    for name, head, lines in tables:
        print(data_files.as_csv(head, lines))
        if arguments.write:
            data_files.write(name, head, lines)
    print(f"{sum(row.seconds for row in rows):.1f} s")


if __name__ == "__main__":
    main()
