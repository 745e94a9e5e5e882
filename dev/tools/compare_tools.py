"""Results of other tools on models with control flow: the tables of docs/benchmarks.md.

Run: python dev/tools/compare_tools.py [--write]

Each tool that is installed gets the same models, in a process of its own; what is not installed is
left out and named. Nothing is asserted: the table says what came out. To install all of them:

    pip install onnxsim onnxslim polygraphy onnx-graphsurgeon onnxscript onnx_ir onnxruntime
"""

import argparse
import importlib.metadata
import importlib.util
import multiprocessing
import queue
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"
CONTROL_FLOW = {"Loop", "Scan", "If"}
GIVEN: dict[str, dict[str, Any]] = {
    "model": {"values": {"sr": 16000}, "shapes": {"x": (1, 16)}},
    "squeeze": {"shapes": {"x": (1, 1, 512)}},
}
"""What is known of inputs. Tools that take shapes, but no values, are given the shapes."""
OPSETS = (9, 11, 13, 15, 18, 21)
SECONDS = 120


def shapes_of(name: str) -> dict[str, tuple[int, ...]]:
    return GIVEN.get(name, {}).get("shapes", {})


def with_shapes(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    """The model with the shapes written into it, for tools that read declarations."""
    for info in model.graph.input:
        dims = info.type.tensor_type.shape.dim
        for dim, size in zip(dims, shapes_of(name).get(info.name, ()), strict=False):
            dim.dim_value = size
    return model


# Tools: each makes a model of a model ------------------------------------------------------------


def by_straightline(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    import straightline as sl

    return sl.rewrite(model, "selects", **GIVEN.get(name, {}))


def by_onnxsim(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    import onnxsim

    shapes = {key: list(dims) for key, dims in shapes_of(name).items()}
    found, _ = onnxsim.simplify(model, overwrite_input_shapes=shapes or None)
    return found


def by_onnxslim(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    import onnxslim

    shapes = [f"{key}:{','.join(map(str, dims))}" for key, dims in shapes_of(name).items()]
    return onnxslim.slim(model, input_shapes=shapes or None)


def by_onnxscript(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    import onnxscript.optimizer

    return onnxscript.optimizer.optimize(with_shapes(model, name))


def by_onnx_ir(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    import onnx_ir as ir
    from onnx_ir.passes import common

    wanted = (
        *("InlinePass", "ShapeInferencePass", "LiftConstantsToInitializersPass"),
        *("CommonSubexpressionEliminationPass", "IdentityEliminationPass"),
        *("RemoveUnusedNodesPass", "RemoveUnusedFunctionsPass"),
    )
    passes = [getattr(common, kind)() for kind in wanted if hasattr(common, kind)]
    found = ir.passes.Sequential(*passes)(ir.from_proto(with_shapes(model, name)))
    return ir.to_proto(found.model)


def by_polygraphy(model: onnx.ModelProto, name: str) -> onnx.ModelProto:
    from polygraphy.backend.onnx import fold_constants

    return fold_constants(with_shapes(model, name))


TOOLS: dict[str, tuple[str, Callable[[onnx.ModelProto, str], onnx.ModelProto]]] = {
    "straightline": ("straightline", by_straightline),
    "onnxsim": ("onnxsim", by_onnxsim),
    "onnxslim": ("onnxslim", by_onnxslim),
    "onnxscript.optimizer": ("onnxscript", by_onnxscript),
    "onnx_ir passes": ("onnx_ir", by_onnx_ir),
    "polygraphy": ("polygraphy", by_polygraphy),
}
"""By the name in the table: the module that must be there, and the call."""


def to_opset_by_onnx(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    import onnx.version_converter

    return onnx.version_converter.convert_version(model, opset)


def to_opset_by_straightline(model: onnx.ModelProto, opset: int) -> onnx.ModelProto:
    import straightline as sl

    return sl.convert_version(model, opset)


# Cells: what is said of a result ------------------------------------------------------------------


def kinds(graph: onnx.GraphProto) -> list[str]:
    """The operators of a graph and of all graphs inside."""
    found = []
    for node in graph.node:
        found.append(node.op_type)
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                found += kinds(inner)
    return found


def verdict(before: onnx.ModelProto, after: onnx.ModelProto, bound: dict[str, Any]) -> str:
    """What comparing two models in onnxruntime says, beside a proof; "" where they are equal."""
    import straightline as sl
    from straightline.driver.specialize import typed_values

    found = sl.verify(before, after, bound=typed_values(before, bound), samples=2)
    return "" if found.equal else f", {found.status}"


def simplified(tool: str, name: str, folder: Path) -> str:
    """Control flow left, nodes, and whether the outputs are the original's."""
    before = onnx.load(folder / f"{name}.onnx")
    model = onnx.ModelProto()
    model.CopyFrom(before)
    after = TOOLS[tool][1](model, name)
    operators = kinds(after.graph)
    left = sum(operator in CONTROL_FLOW for operator in operators)
    named = {info.name for info in after.graph.input}
    values = GIVEN.get(name, {}).get("values", {})
    bound = {key: value for key, value in values.items() if key not in named}
    return f"{left} of {len(operators)}{verdict(before, after, bound)}"


def converted(tool: str, name: str, folder: Path) -> str:
    """The opsets that are reached with equal outputs."""
    before, reached = onnx.load(folder / f"{name}.onnx"), []
    convert = to_opset_by_straightline if tool == "straightline" else to_opset_by_onnx
    for opset in OPSETS:
        model = onnx.ModelProto()
        model.CopyFrom(before)
        try:
            after = convert(model, opset)
            onnx.checker.check_model(after)
            if not verdict(before, after, {}):
                reached.append(str(opset))
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its result
            print(f"{tool}, {name}, opset {opset}: {_first_line(error)}", file=sys.stderr)
    return ", ".join(reached) or "none"


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:150]}"


# Each cell in a process of its own ----------------------------------------------------------------


def _answer(answers: Any, cell: Callable[..., str], arguments: tuple[Any, ...]) -> None:
    try:
        answers.put((cell(*arguments), ""))
    except BaseException as error:  # noqa: BLE001 - whatever a tool raises is its result
        answers.put((type(error).__name__, _first_line(error)))


def measured(cell: Callable[..., str], *arguments: Any) -> str:
    """A cell of the table; what raises, crashes or takes long is told as such."""
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_answer, args=(answers, cell, arguments))
    process.start()
    try:
        found, detail = answers.get(timeout=SECONDS)
    except queue.Empty:
        found, detail = "no answer", f"exit code {process.exitcode}"
    process.kill()
    process.join()
    if detail:
        print(f"{arguments[:2]}: {detail}", file=sys.stderr)
    return found


def installed(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def version(module: str) -> str:
    return importlib.metadata.version({"onnx_ir": "onnx-ir"}.get(module, module))


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def tables(folder: Path) -> str:
    """Both tables, of the tools that are there."""
    models = example_models()
    there = [tool for tool, (module, _) in TOOLS.items() if installed(module)]
    first = [
        [name, str(sum(kind in CONTROL_FLOW for kind in original(folder, name)))]
        + [measured(simplified, tool, name, folder) for tool in there]
        for name in models
    ]
    converters = ["straightline", "onnx.version_converter"]
    second = [
        [name, *(measured(converted, tool, name, folder) for tool in converters)]
        for name in [*models, "new"]
    ]
    left_out = [tool for tool in TOOLS if tool not in there]
    lacking = f"\nNot installed: {', '.join(left_out)}.\n" if left_out else ""
    used = ", ".join(
        f"{module} {version(module)}"
        for module in (*dict.fromkeys(TOOLS[t][0] for t in there if t != "straightline"), "onnx")
    )
    return (
        f"Measured with {used}, {time.strftime('%Y-%m-%d')}.\n{lacking}\n"
        + table(["model", "before", *there], first)
        + "\n\n## Opsets that are reached\n\n"
        + f"Of {', '.join(map(str, OPSETS))}:\n\n"
        + table(["model", *converters], second)
        + "\n"
    )


def original(folder: Path, name: str) -> list[str]:
    return kinds(onnx.load(folder / f"{name}.onnx").graph)


def example_models() -> list[str]:
    sys.path.insert(0, str(ROOT / "examples"))
    import models

    return [name for name in models.MODELS if name != "parts"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    write = parser.parse_args().write
    import tempfile

    example_models()
    import models

    with tempfile.TemporaryDirectory() as folder:
        models.write(Path(folder))
        found = tables(Path(folder))
    if not write:
        print(found)
        return
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- made by dev/tools/compare_tools.py -->\n", "<!-- to here -->"
    head, _, rest = page.partition(begin)
    _, _, tail = rest.partition(end)
    PAGE.write_text(f"{head}{begin}\n{found}\n{end}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
