"""Write the lists of installed clients again.

    python dev/tools/targets.py onnx2torch     the operators of targets/shipped/onnx2torch.toml
    python dev/tools/targets.py onnxruntime    the same of onnxruntime

The version and date of a list that is made anew are to be changed by hand.
"""

import importlib
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import onnx

ROOT = Path(__file__).parents[2]
NO_END = 10**6

Spans = list[list[int]]


def of_onnx2torch() -> list[str]:
    """The operators of its registry, in the opsets whose schemas they are registered for, but for
    NonZero, which gives its indices transposed."""
    importlib.import_module("onnx2torch")
    registry = importlib.import_module("onnx2torch.node_converters.registry")
    since: dict[str, set[int]] = defaultdict(set)
    for known in registry._CONVERTER_REGISTRY:
        if not known.domain and known.operation_type != "NonZero":
            since[known.operation_type].add(known.version)
    found = []
    for name, versions in since.items():
        own = sorted(schema.since_version for schema in schemas(name))
        ends = dict(zip(own, [*(version - 1 for version in own[1:]), NO_END], strict=True))
        found.append(written(name, [[v, ends[v]] for v in sorted(versions) if v in ends]))
    return found


def of_onnxruntime() -> list[str]:
    """The kernels of its CPU provider, and what ONNX defines by functions, which it inlines."""
    state = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    kernels: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for kernel in state.get_all_opkernel_def():
        if not kernel.domain and "CPU" in kernel.provider:
            kernels[kernel.op_name].add(tuple(kernel.version_range))
    found = ["Constant"]  # which becomes an initializer
    for name in {s.name for s in onnx.defs.get_all_schemas_with_history() if not s.domain}:
        if any(s.has_function or s.has_context_dependent_function for s in schemas(name)):
            found.append(name)
        elif name in kernels:
            found.append(written(name, [[a, min(b, NO_END)] for a, b in sorted(kernels[name])]))
    return found


CLIENTS: dict[str, Callable[[], list[str]]] = {
    "onnx2torch": of_onnx2torch,
    "onnxruntime": of_onnxruntime,
}


def schemas(name: str) -> list[onnx.defs.OpSchema]:
    """All versions of an operator."""
    known = onnx.defs.get_all_schemas_with_history()
    return [schema for schema in known if schema.name == name and not schema.domain]


def written(name: str, spans: Spans) -> str:
    """An operator with its ranges of opsets, those that adjoin made one."""
    joined: Spans = []
    for first, last in spans:
        if joined and first <= joined[-1][1] + 1:
            joined[-1][1] = max(last, joined[-1][1])
        else:
            joined.append([first, last])
    ends = ["" if last == NO_END else str(last) for _, last in joined]
    told = [
        f"{a}-{end}" if end != str(a) else end for (a, _), end in zip(joined, ends, strict=True)
    ]
    return " ".join([name, *told])


def listing(items: Iterable[str]) -> str:
    """A list as it is written in a file, sorted and folded."""
    lines = ["operators = [", " "]
    for item in sorted(items):
        if len(lines[-1]) + len(item) > 96:
            lines.append(" ")
        lines[-1] += f' "{item}",'
    return "\n".join([*lines, "]"])


def main() -> None:
    """Write what is asked for."""
    for name in sys.argv[1:]:
        file = ROOT / "targets" / "shipped" / f"{name}.toml"
        text = file.read_text(encoding="utf-8")
        made = listing(CLIENTS[name]())
        file.write_text(re.sub(r"operators = \[.*?\n\]", made, text, count=1, flags=re.S))


if __name__ == "__main__":
    main()
