"""Mutants of models: whatever a file holds, the answer is right or one clear error.

    PYTHONPATH=tests/support python dev/fuzz/fuzz_mutants.py --mutants 100000 --seed 0
    PYTHONPATH=tests/support python dev/fuzz/fuzz_mutants.py --replay 0:123

Mutant number N of seed S is always the same one. Each batch runs in a process of its own, under a
limit of memory, and of time for each mutant; if it crashes, that is a failure of the mutant that
was running. Mutants that fail are kept under --keep.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import mutant_seeds
import onnx
import straightline as sl
from mutations import mutate, mutate_bytes, names_in
from straightline.analysis.constants.evaluation import IterationBudget, bounded_loop
from straightline.reference import Workers
from straightline.reference.signature import Signature
from straightline.verification.runs.input_generator import Drawer, DrawError

BATCH = 2000
SECONDS = 20
BYTES = 3 << 29
ITERATIONS = 300
ROOT = Path(sl.__file__).parent

FOLDER = Path(tempfile.mkdtemp(prefix="mutants-"))
PATH = FOLDER / "mutant.onnx"
WORKERS = Workers()
LIMITS: dict[str, Any] = {"timeout": 3, "workers": WORKERS}


class Wrong(AssertionError):
    """A result is not what it must be."""


# What is done with a mutant -----------------------------------------------------------------------


def inspect(given: Mutant) -> None:
    str(sl.inspect(given.source, max_nodes=1000))


def rewrite(given: Mutant) -> None:
    given.require_same(sl.rewrite(given.source, max_nodes=1000))


def choose_passes(given: Mutant) -> None:
    """Rewrite it by a pipeline that is not the default one."""
    pipeline = PIPELINES[given.number // len(STAGES) % len(PIPELINES)]
    given.require_same(sl.rewrite(given.source, pipeline, max_nodes=1000))


def convert_down(given: Mutant) -> None:
    given.require_same(sl.convert_version(given.source, 11))


def convert_up(given: Mutant) -> None:
    given.require_same(sl.convert_version(given.source, 23))


def accelerate(given: Mutant) -> None:
    given.require_same(sl.rewrite(given.source, "accelerate", max_nodes=1000))


def fit(given: Mutant) -> None:
    """Fit it to a client."""
    target = TARGETS[given.number // len(STAGES) % len(TARGETS)]
    given.require_same(sl.rewrite(given.source, target=target, max_nodes=1000))


def report(given: Mutant) -> None:
    """Make the page of a report, and all that an outcome tells."""
    outcome = sl.transform(given.source, verify=False, max_nodes=1000)
    sl.report.page(sl.report.of_outcome(outcome))
    outcome.to_dict()
    str(outcome)


def keep(given: Mutant) -> None:
    """Save and print it as it is."""
    loaded = sl.ir.load(given.source)
    sl.ir.verify(loaded)
    sl.ir.to_text(loaded)
    sl.ir.save(loaded, FOLDER / "saved.onnx")
    again, wanted = sl.ir.to_proto(sl.ir.load(FOLDER / "saved.onnx")), given.proto
    for proto in (again, wanted):
        proto.DiscardUnknownFields()  # flipped bits make fields that ONNX does not have
    if given.valid and again != wanted:
        raise Wrong("saved and loaded, it is another model")


def run(given: Mutant) -> None:
    """Run it in the reference, no loop for long."""
    signature = Signature.of(given.proto)
    try:
        sample = next(Drawer(signature, signature, {}, 0).samples(1))
        feeds = next(sample.candidates, {})
    except DrawError:
        feeds = {}
    sl.reference.run(given.source, feeds, operators=[bounded_loop(IterationBudget(ITERATIONS))])


def compare(given: Mutant) -> None:
    """Compare it with itself; what a runtime makes of it is an answer."""
    faulthandler.cancel_dump_traceback_later()
    sl.verify(given.source, given.source, runtime="onnxruntime", samples=1, **LIMITS)


def prove(given: Mutant) -> None:
    """Ask whether it equals what it was made of, and itself, which no run helps to answer."""
    pairs = [(given.source, given.source)]
    if given.source is given.content:
        pairs += [(given.origin, given.content), (given.content, given.origin)]
    for before, after in pairs:
        sl.prove(before, after, search=False)


PIPELINES = (
    "selects",
    "inline-ifs,ifs-to-selects",
    "raise-recurrences",
    "straighten{exact=false}",
    "expand-recurrences",
    "lower-sequences,straighten",
    "inline-functions,predicate-loops",
)
STAGES: tuple[Callable[[Mutant], None], ...] = (
    rewrite,
    inspect,
    keep,
    convert_down,
    run,
    compare,
    prove,
    choose_passes,
    convert_up,
    accelerate,
    report,
    fit,
)
TARGETS = sl.targets.names()


@dataclass(frozen=True)
class Origin:
    """A model that is mutated."""

    name: str
    content: bytes

    @cached_property
    def proto(self) -> onnx.ModelProto:
        return onnx.ModelProto.FromString(self.content)

    @cached_property
    def names(self) -> list[str]:
        return names_in(self.proto)


class Mutant:
    """A model that was changed; `number` says what is done with it."""

    def __init__(self, name: str, content: bytes, number: int, origin: bytes = b"") -> None:
        self.name = name
        self.origin = origin or content
        self.content = content
        self.number = number
        self.source: Any = content
        if name == "external":
            PATH.write_bytes(content)
            self.source = PATH
        self._valid: bool | None = None

    @property
    def proto(self) -> onnx.ModelProto:
        return onnx.ModelProto.FromString(self.content)

    @property
    def valid(self) -> bool:
        """Whether the ONNX checker finds nothing."""
        if self._valid is None:
            self._valid = not fault_of(PATH if self.source is PATH else self.proto)
        return self._valid

    def require_same(self, result: Any) -> None:
        """Check what was made of a valid mutant: it is sound, and gives the same outputs.

        Its inferred shapes are not checked: what was hidden from inference may contradict what the
        mutant declares.
        """
        if not self.valid:
            return
        fault = fault_of(result, full=False)
        if fault:
            raise Wrong(f"the result is not valid: {fault}")
        before = sl.ir.load(self.source)
        faulthandler.cancel_dump_traceback_later()  # a runtime may hang, or need a new start
        verdict = sl.verify(before, result, runtime="onnxruntime", samples=1, **LIMITS)
        if verdict.status != "different":
            return
        # onnxruntime has faults of its own: the reference must agree, or not be able to tell.
        other = sl.verify(before, result, runtime="reference", samples=1, **LIMITS)
        if other.status != "equal":
            raise Wrong(f"the outputs differ: {verdict.reason}")


def mutant(seed: int, number: int, models: Sequence[Origin]) -> Mutant:
    """Mutant `number` of a seed, made from one of the models."""
    rng = random.Random(f"{seed}:{number}")
    origin = rng.choice(models)
    if rng.random() < 0.35:
        content = mutate_bytes(origin.content, rng)
    else:
        proto = onnx.ModelProto.FromString(origin.content)
        mutate(proto, rng, origin.names, rng.choice(models).proto)
        content = proto.SerializeToString()
    return Mutant(origin.name, content, number, origin.content)


def fault_of(model: Any, full: bool = True) -> str:
    """What the ONNX checker finds in a model; empty where it is valid."""
    try:
        onnx.checker.check_model(str(model) if isinstance(model, Path) else model, full_check=full)
    except Exception as error:  # noqa: BLE001 - whatever onnx raises says that it is not
        return f"{type(error).__name__} {error}"
    return ""


def load(given: Mutant) -> None:
    sl.ir.load(given.source)


def check(given: Mutant, only: str = "") -> tuple[str, BaseException] | None:
    """The stage at which a mutant fails, and with what; None where all is well.

    Args:
        given: the mutant.
        only: the one stage that is asked for; empty where its number chooses.
    """
    chosen = [stage for stage in STAGES if stage.__name__ == only]
    for stage in chosen[:1] or (load, STAGES[given.number % len(STAGES)]):
        try:
            stage(given)
        except sl.Error as error:
            return ("text", Wrong(repr(error)[:300])) if not str(error).strip() else None
        except (Exception, RecursionError) as error:  # noqa: BLE001 - this is what is looked for
            return stage.__name__, error
    return None


# Processes ----------------------------------------------------------------------------------------


def child(seed: int, first: int, count: int, only: str, folder: Path) -> None:
    """Check mutants one by one, and tell of each before it is checked."""
    warnings.simplefilter("ignore")
    models = read_models(folder)
    (FOLDER / "w.bin").write_bytes(mutant_seeds.DATA)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limit = used + BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    for number in range(first, first + count):
        print(json.dumps({"number": number}), flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        found = check(mutant(seed, number, models), only)
        if found is not None:
            stage, error = found
            print(json.dumps({"stage": stage, **described(error)}), flush=True)
    faulthandler.cancel_dump_traceback_later()
    WORKERS.__exit__(None, None, None)


def read_models(folder: Path) -> list[Origin]:
    return [Origin(path.stem, path.read_bytes()) for path in sorted(folder.glob("*.onnx"))]


def described(error: BaseException) -> dict[str, str]:
    """What is told of an error: its text, and the innermost lines that are straightline's own."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if Path(f.filename).is_relative_to(ROOT) and "tests" not in f.filename]
    where = " < ".join(
        f"{Path(f.filename).relative_to(ROOT)}:{f.lineno}" for f in reversed(own[-3:])
    )
    text = " ".join(str(error).split())[:200]
    return {"error": f"{type(error).__name__}: {text}", "where": where}


def batch(
    seed: int, first: int, count: int, folder: Path, only: str = ""
) -> Iterator[tuple[int, dict[str, str]]]:
    """Run a child on mutants, anew after one that ends it; each failure with its number."""
    last = first + count
    while first < last:
        numbers = f"{seed}:{first}:{last - first}:{only}:{folder}"
        command = [sys.executable, __file__, "--child", numbers]
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
            assert process.stdout is not None
            number = first
            for line in process.stdout:
                told = json.loads(line)
                if "number" in told:
                    number = told["number"]
                else:
                    yield number, told
            if process.wait() == 0:
                return
            errors.seek(0)
            lines = errors.read().splitlines()[:12]
            kind = "hang" if any("Timeout" in text for text in lines) else "crash"
            where = " | ".join(line.strip() for line in lines)
            yield number, {"stage": kind, "error": kind, "where": where[:700]}
        first = number + 1


def fuzz(mutants: int, seed: int, keep_in: Path, folder: Path, only: str = "") -> Counter[str]:
    """Counts of distinct failures."""
    counts: Counter[str] = Counter()
    models = read_models(folder)
    for first in range(0, mutants, BATCH):
        for number, told in batch(seed, first, min(BATCH, mutants - first), folder, only):
            key = f"{told['stage']}: {told['error'].partition(':')[0]} at {told['where']}"
            counts[key] += 1
            if counts[key] == 1:
                kept = mutant(seed, number, models)
                (keep_in / f"{seed}-{number}.onnx").write_bytes(kept.content)
                print(f"{seed}:{number} {kept.name}: {told['stage']}: {told['error']}", flush=True)
                print(f"    at {told['where']}", flush=True)
        print(f"{min(first + BATCH, mutants)} mutants", flush=True)
    return counts


def replay(name: str, folder: Path, only: str = "") -> int:
    """Check one mutant here, with the whole traceback."""
    seed, number = map(int, name.split(":"))
    (FOLDER / "w.bin").write_bytes(mutant_seeds.DATA)
    found = check(mutant(seed, number, read_models(folder)), only)
    if found is None:
        print("nothing is wrong")
        return 0
    traceback.print_exception(found[1])
    return 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, default=Path("build/mutants"))
    parser.add_argument("--replay", help="one mutant, as SEED:NUMBER")
    names = sorted({stage.__name__ for stage in STAGES})
    parser.add_argument("--stage", default="", choices=names, help="what is done with each mutant")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        seed, first, count, only, folder = arguments.child.split(":", 4)
        child(int(seed), int(first), int(count), only, Path(folder))
        return 0
    folder = arguments.keep / "seeds"
    if not arguments.replay or not folder.exists():
        mutant_seeds.write(folder)
    if arguments.replay:
        return replay(arguments.replay, folder, arguments.stage)
    begin = time.perf_counter()
    counts = fuzz(arguments.mutants, arguments.seed, arguments.keep, folder, arguments.stage)
    seconds = time.perf_counter() - begin
    print(f"{arguments.mutants} mutants in {seconds:.0f} s, {len(counts)} distinct failures")
    return int(bool(counts))


if __name__ == "__main__":
    sys.exit(main())
