"""Each operator of ONNX, each type, several shapes of operands: converted to each opset and run.

    PYTHONPATH=tests/support python dev/fuzz/conversion_sweep.py [--only NAMES] [--every 3]

The cases come from onnx's backend tests: a few of each operator, in the first and the last opset of
each version of its schema. Each is varied: element types, operands of rank 0 and 1, without
elements, of one row, infinite ones, zeros, sizes that are open, operands that are constants. A
variant counts where it passes the full check and a runtime runs it. Its conversion must be refused
with a reason, or pass the full check and give the same outputs.
"""

import argparse
import collections
import dataclasses
import functools
import itertools
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import straightline as sl
from onnx import helper, numpy_helper
from sessions import outputs
from straightline import reference
from straightline.limits import governed

NEWEST = onnx.defs.onnx_opset_version()
TARGETS = tuple(range(7, NEWEST + 1))
MOST_SEEDS = 8
"""Of each operator so many backend tests are varied, those that differ most in form."""

SKIPPED = frozenset({"Loop", "If", "Scan", "SequenceMap", "Optional", "Bernoulli", "Multinomial"})
"""Operators with bodies, which have sweeps of their own, and those that draw."""

LOOSE = frozenset({"ArgMax", "ArgMin", "BatchNormalization", "Expand"})
"""Operators of which onnx's inference lets scalars pass where they are none."""

MEANS = frozenset({"LayerNormalization"})
"""Operators of which onnxruntime adds up means step by step: of an infinity they are NaN."""

ROUNDED = frozenset({"DFT"})
"""Operators of which onnxruntime computes angles in 32 bits; of an infinity all numbers are NaN."""

RANDOM = ("Random", "Dropout")


@dataclasses.dataclass(frozen=True)
class Variant:
    """One node with its operands, in one opset."""

    name: str
    model: onnx.ModelProto
    feeds: dict[str, Any]


@functools.cache
def seeds(pools: bool = True) -> dict[str, list[Any]]:
    """Backend tests of one node by operator: a few that differ in attributes, inputs and ranks."""
    from backend import collected

    chosen: dict[str, dict[Any, Any]] = collections.defaultdict(dict)
    for case in collected(pools):
        graph = case.model.graph
        node = graph.node[0]
        if len(graph.node) != 1 or node.domain or node.op_type in SKIPPED:
            continue
        if node.op_type.startswith(RANDOM) or any(
            i.type.WhichOneof("value") != "tensor_type" for i in graph.input
        ):
            continue
        ranks = tuple(np.ndim(v) for v in case.data_sets[0][0])
        key = (tuple(sorted(a.name for a in node.attribute)), tuple(map(bool, node.input)), ranks)
        chosen[node.op_type].setdefault(key, case)
    return {op_type: list(found.values())[:MOST_SEEDS] for op_type, found in sorted(chosen.items())}


def sources(node: onnx.NodeProto) -> list[int]:
    """The first and last opset, from 7 on, of each version of an operator."""
    since = sorted(
        {
            s.since_version
            for s in onnx.defs.get_all_schemas_with_history()
            if s.name == node.op_type and not s.domain
        }
    )
    ends = [*[version - 1 for version in since[1:]], NEWEST]
    return sorted(
        {max(v, 7) for pair in zip(since, ends, strict=True) if pair[1] >= 7 for v in pair}
    )


def variants(case: Any, opset: int) -> Iterator[Variant]:
    """A backend test in an opset, with other types and shapes."""
    node = case.model.graph.node[0]
    schema = onnx.defs.get_schema(node.op_type, opset)
    names = [name for name in node.input if name]
    given = dict(zip(names, map(np.asarray, case.data_sets[0][0]), strict=False))
    for text, typed in typings(node, schema, given):
        for shape, fed in shapings(typed):
            if shape == "infinite" and node.op_type == "Clip":
                continue  # onnxruntime takes an absent bound for the largest finite number
            for form in ("plain", "open", "constants"):
                name = f"{case.name} {opset} {text or 'own'} {shape} {form}"
                built = model_of(node, opset, fed, form)
                if built is not None:
                    yield Variant(name, *built)
    bare = onnx.NodeProto()
    bare.CopyFrom(node)
    del bare.attribute[:]
    built = model_of(bare, opset, given, "plain") if node.attribute else None
    if built is not None:
        yield Variant(f"{case.name} {opset} without attributes", *built)


def typings(
    node: onnx.NodeProto, schema: Any, given: dict[str, Any]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The operands in each type that each type variable of a schema takes."""
    yield "", given
    formal = (
        [schema.inputs[min(i, len(schema.inputs) - 1)] for i in range(len(node.input))]
        if node.input and schema.inputs
        else []
    )
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    for variable in dict.fromkeys(f.type_str for f in formal):
        bound = [
            n for n, f in zip(node.input, formal, strict=False) if n and f.type_str == variable
        ]
        for text in allowed.get(variable, ()) if bound else ():
            dtype = dtype_of(text)
            if (
                dtype is None
                or given[bound[0]].dtype == dtype
                or given[bound[0]].dtype.kind in "OUS"
            ):
                continue
            yield (
                f"{variable}={text[7:-1]}",
                {n: cast(v, dtype) if n in bound else v for n, v in given.items()},
            )


def dtype_of(text: str) -> Any:
    """The dtype of a tensor type; None for text, complex numbers and types below eight bits."""
    if not text.startswith("tensor("):
        return None
    elem_type = onnx.TensorProto.DataType.Value(text[7:-1].upper())
    small = text[7:-1] in ("int4", "uint4", "int2", "uint2", "float4e2m1", "string", "float8e8m0")
    return None if small or "complex" in text else helper.tensor_dtype_to_np_dtype(elem_type)


def cast(value: Any, dtype: Any) -> Any:
    """Numbers in another type, none of them beyond what it holds."""
    if value.dtype.kind in "OUSc":
        return value
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        low, high = max(info.min, -(2**31)), min(info.max, 2**31)
        return np.clip(np.nan_to_num(value.astype(np.float64)), low, high).astype(dtype)
    with np.errstate(all="ignore"):
        return value.astype(dtype)


def shapings(given: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Operands of other sizes: those that have the shape, or the first size, of the first."""
    yield "own", given
    if not given:
        return
    first = next(iter(given.values()))
    alike = [n for n, v in given.items() if v.shape == first.shape]
    counts = [n for n, v in given.items() if v is not first and v.dtype.kind in "iu" and v.ndim < 2]
    if counts:
        yield "zeros", {n: np.zeros_like(v) if n in counts else v for n, v in given.items()}
    if first.size and first.dtype.kind not in "OUSbiu":
        odd = first.copy()
        odd.reshape(-1)[0], odd.reshape(-1)[-1] = np.inf, -np.inf
        yield "infinite", {n: odd if v is first else v for n, v in given.items()}
    if first.size:
        yield (
            "scalar",
            {n: v.reshape(-1)[:1].reshape(()) if n in alike else v for n, v in given.items()},
        )
        yield (
            "single",
            {n: v.reshape(-1)[:1].reshape(()) if v.size else v for n, v in given.items()},
        )
    if first.ndim == 0:
        return
    rows = [n for n, v in given.items() if v.ndim and v.shape[0] == first.shape[0]]
    for label, count in (("one row", 1), ("no row", 0)):
        if first.shape[0] != count:
            yield label, {n: v[:count] if n in rows else v for n, v in given.items()}
            yield (
                f"{label} of the first",
                {n: v[:count] if v is first else v for n, v in given.items()},
            )
    if first.ndim > 1:
        yield "rank 1", {n: v.reshape(-1) if n in alike else v for n, v in given.items()}
        yield "last axis of 1", {n: v[..., :1] if n in alike else v for n, v in given.items()}
        yield "last axis of 0", {n: v[..., :0] if n in alike else v for n, v in given.items()}


def model_of(
    node: onnx.NodeProto, opset: int, given: dict[str, Any], form: str
) -> tuple[Any, Any] | None:
    """The node as a model and its feeds; None where it is none, or one of another form."""
    names = list(given)
    few = [n for n in names[1:] if given[n].ndim < 2 and given[n].dtype.kind in "iufbV"]
    held = set(few if form == "constants" else ())
    if form == "constants" and not held:
        return None
    inputs, constants = [], []
    for name, value in given.items():
        elem_type = (
            helper.np_dtype_to_tensor_dtype(value.dtype) if value.dtype.kind not in "OUS" else 8
        )
        if name in held:
            held_as = value.astype(object) if elem_type == onnx.TensorProto.STRING else value
            constants.append(numpy_helper.from_array(held_as, name))
            continue
        shape = [None] * value.ndim if form == "open" else list(value.shape)
        inputs.append(helper.make_tensor_value_info(name, elem_type, shape))
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    graph = helper.make_graph([node], "g", inputs, outputs, constants)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 20 else 10
    )
    try:
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    except Exception:  # noqa: BLE001  such a variant is no model
        return None
    return inferred, {n: v for n, v in given.items() if n not in held}


def senseless(variant: Variant) -> bool:
    """Whether only the loose checks of old opsets let operands of such shapes pass."""
    node = variant.model.graph.node[0]
    op_type = node.op_type
    if op_type == "Split" and len(node.input) > 1:  # onnxruntime takes no sizes for any
        sizes = variant.feeds.get(node.input[1])
        return sizes is not None and len(sizes) != len(node.output)
    if op_type == "AffineGrid":
        return " row " in variant.name  # of one operand, where the other is as long as before
    scalars = " scalar " in variant.name or " single " in variant.name
    return scalars and op_type in LOOSE


def needs_onnxruntime(variant: Variant) -> bool:
    """Whether the reference alone is no witness that a variant has a meaning."""
    return any(f" {word} " in variant.name for word in ("of the first", "infinite", "no row"))


def fault_of(model: onnx.ModelProto) -> str:
    """What the full check says of a model; empty where it is valid."""
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # noqa: BLE001
        return " ".join(str(error).split())[:200]
    return ""


def run_onnxruntime(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    wanted = {info.name for info in model.graph.input}
    kept = {name: np.asarray(array) for name, array in feeds.items() if name in wanted}
    return outputs(model, kept, optimized=False)


def run_reference(model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any]:
    with warnings.catch_warnings(), np.errstate(all="ignore"), governed():
        warnings.simplefilter("ignore")
        return list(reference.run(model, feeds))


RUNTIMES = {"onnxruntime": run_onnxruntime, "reference": run_reference}


def outputs_by(runtime: str, model: onnx.ModelProto, feeds: dict[str, Any]) -> list[Any] | str:
    """The outputs, or the error of a runtime."""
    try:
        return RUNTIMES[runtime](model, feeds)
    except Exception as error:  # noqa: BLE001  whatever a runtime raises is its answer
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def close(found: Any, wanted: Any) -> bool:
    """Whether an output is another one, but for a few units in the last place."""
    if isinstance(found, list):
        return len(found) == len(wanted) and all(map(close, found, wanted))
    if found is None or wanted is None:
        return found is wanted
    found, wanted = np.asarray(found), np.asarray(wanted)
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if found.dtype.kind in "OUSTbiu":
        return bool(np.array_equal(found, wanted))
    if found.dtype.kind == "c":
        return bool(np.allclose(found, wanted, 1e-4, 1e-5, equal_nan=True))
    eps = float(ml_dtypes.finfo(found.dtype).eps)
    with np.errstate(all="ignore"):
        f, w = found.astype(np.float64), wanted.astype(np.float64)
        finite = w[np.isfinite(w)]
        size = float(np.abs(finite).max()) if finite.size else 1.0
        return bool(np.allclose(f, w, 64 * eps, 64 * eps * max(size, 1e-3), equal_nan=True))


def verdict(variant: Variant, target: int, known: dict[str, Any]) -> tuple[str, str]:
    """What becomes of a variant in another opset: right, refused, or a fault."""
    try:
        converted = sl.convert_version(variant.model, target, verify=False)
    except sl.Error as error:
        return "refused", str(error)
    except Exception as error:  # noqa: BLE001  any other is a fault
        return "CRASH", repr(error)[:300]
    fault = fault_of(converted)
    if fault:
        return "INVALID", fault
    for runtime, wanted in known.items():
        found = outputs_by(runtime, converted, variant.feeds)
        if isinstance(found, str):
            unable = (
                "NOT_IMPLEMENTED" in found or "NotImplemented" in found or "not supported" in found
            )
            if unable or "guarantees support for models stamped with" in found:
                continue
            return "FAILS", f"{runtime}: {found}"
        if not close(found, wanted):
            first = next((f, w) for f, w in zip(found, wanted, strict=True) if not close(f, w))
            shown = " | ".join(
                f"{getattr(v, 'dtype', '')}{np.shape(v)} {np.asarray(v).reshape(-1)[:6]}"
                for v in first
            )
            return "WRONG", f"{runtime}: {shown}"
        return "right", ""
    return "not run", ""


def swept(
    case: Any, targets: Sequence[int], every: int, offset: int
) -> tuple[collections.Counter[str], list[str]]:
    """The verdicts on the variants of one backend test, and lines about faults."""
    counts: collections.Counter[str] = collections.Counter()
    lines: list[str] = []
    number = offset
    for opset in sources(case.model.graph.node[0]):
        for variant in variants(case, opset):
            wanted = [t for t in targets if t != opset and chosen(number := number + 1, every)]
            if not wanted or fault_of(variant.model) or senseless(variant):
                continue
            known = {
                r: out
                for r in RUNTIMES
                if not isinstance(out := outputs_by(r, variant.model, variant.feeds), str)
            }
            op_type = case.model.graph.node[0].op_type
            odd = (" infinite " in variant.name and op_type in MEANS) or op_type in ROUNDED
            if len(known) == 2 and not close(*known.values()):
                known.pop("onnxruntime" if odd else "reference")
            if not known or (needs_onnxruntime(variant) and not odd and "onnxruntime" not in known):
                continue
            for target in wanted:
                what, why = verdict(variant, target, known)
                counts[what] += 1
                if what.isupper():
                    lines.append(f"{what} {variant.name} -> {target}: {why}")
    return counts, lines


def chosen(number: int, every: int) -> bool:
    return (number * 2654435761 >> 7) % every == 0


def _task(
    task: tuple[Any, Sequence[int], int, int],
) -> tuple[str, collections.Counter[str], list[str]]:
    case, targets, every, offset = task
    return case.name, *swept(case, targets, every, offset)


def _results(tasks: Sequence[Any], processes: int) -> Iterator[Any]:
    """The results of tasks in order; a runtime that aborts its process loses one task only."""
    while tasks:
        with ProcessPoolExecutor(processes) as pool:
            futures = [pool.submit(_task, task) for task in tasks]
            count = 0
            for future in futures:
                try:
                    yield future.result()
                except BrokenProcessPool:
                    break
                count += 1
            else:
                return
        if processes > 1:
            yield from _results(tasks[count : count + 1], 1)
        else:
            yield tasks[count][0].name, collections.Counter(aborted=1), []
        tasks = tasks[count + 1 :]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="operators, separated by commas")
    parser.add_argument("--targets", default="", help="opsets, separated by commas")
    parser.add_argument("--every", type=int, default=1, help="take one conversion of so many")
    parser.add_argument("--offset", type=int, default=0, help="which of them")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    targets = [int(t) for t in options.targets.split(",") if t] or TARGETS
    cases = itertools.chain.from_iterable(c for op, c in seeds().items() if not only or op in only)
    tasks = [(case, targets, options.every, options.offset) for case in cases]
    total: collections.Counter[str] = collections.Counter()
    for name, counts, lines in _results(tasks, options.processes):
        total += counts
        print(f"# {name} {dict(counts)}", *lines, sep="\n", flush=True)
    print(dict(total))
    return 1 if any(what.isupper() for what in total) else 0


if __name__ == "__main__":
    sys.exit(main())
