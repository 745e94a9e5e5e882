"""A small GRU decoder, written as a Python loop with onnxscript, rewritten to straight-line code.

Run: python examples/demo.py [folder to keep the two models in]
"""

import inspect
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import straightline as sl
from onnxscript import FLOAT, script
from onnxscript import opset18 as op
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text
from straightline.cli import report

HIDDEN = 4
STEPS = 3
SHOWN = 26  # lines of a model's text

rng = np.random.default_rng(0)


def weight(*shape: int) -> onnx.TensorProto:
    return onnx.numpy_helper.from_array(rng.normal(0, 0.5, shape).astype(np.float32))


WZ, WR, WH = (weight(HIDDEN, HIDDEN) for _ in range(3))
UZ, UR, UH = (weight(HIDDEN, HIDDEN) for _ in range(3))
PROJECTION = weight(HIDDEN, HIDDEN)
NORMALISE = onnx.helper.make_tensor("normalise", onnx.TensorProto.BOOL, [], [True])


@script(default_opset=op)
def decoder(x: FLOAT[1, HIDDEN], h: FLOAT[1, HIDDEN]) -> FLOAT[1, HIDDEN]:
    """Three steps of a GRU, a normalisation if a setting asks for it, and two halvings."""
    for _ in range(STEPS):
        z = op.Sigmoid(op.MatMul(x, op.Constant(value=WZ)) + op.MatMul(h, op.Constant(value=UZ)))
        r = op.Sigmoid(op.MatMul(x, op.Constant(value=WR)) + op.MatMul(h, op.Constant(value=UR)))
        candidate = op.Tanh(
            op.MatMul(x, op.Constant(value=WH)) + op.MatMul(r * h, op.Constant(value=UH))
        )
        h = (1.0 - z) * candidate + z * h
        x = op.MatMul(h, op.Constant(value=PROJECTION))
    if op.Constant(value=NORMALISE):
        y = op.Softmax(h)
    else:
        y = op.Identity(h)
    count = op.Constant(value_int=0)
    go = count < 2
    while go:
        y = y * 0.5
        count = count + 1
        go = count < 2
    return y


def model_panel(title: str, model: sl.ir.Model) -> Panel:
    """A model's text, without node names and weights, cut to what fits a screen."""
    lines = []
    for line in sl.ir.to_text(model).splitlines()[5:]:
        line = re.sub(r"^( *)\[\w*\] ", r"\1", line)
        line = re.sub(r" <value\w*: [^{=]*= (\S+)[^{]*{(.{0,8})}>", r" <\1 {\2}>", line)
        line = re.sub(r" <value: tensor = (\S+)[^{]*{.*}>", r" <\1 {...}>", line)
        lines.append(line.replace(": graph = ", " = "))
    shown = Text("\n".join(lines[:SHOWN]), no_wrap=True, overflow="ellipsis")
    shown.highlight_regex(r"\b(Loop|If|Scan)\b", "bold red")
    shown.highlight_regex(r"\b(then_branch|else_branch|body)\b", "red")
    if len(lines) > SHOWN:
        shown.append(f"\n   ... {len(lines) - SHOWN} more lines", "dim")
    return Panel(shown, title=title, title_align="left")


def show_outputs(console: Console, before: onnx.ModelProto, after: sl.ir.Model) -> None:
    """Run both models on one input with the reference semantics."""
    feeds = {name: np.full((1, HIDDEN), 0.5, np.float32) for name in ("x", "h")}
    for name, model in (("before", before), ("after", after)):
        (found,) = sl.reference.run(model, feeds)
        console.print(f"  y {name:<7}{np.array2string(found[0], precision=8)}", highlight=False)


def show_timings(console: Console, outcome: sl.Outcome) -> None:
    """Where the time went, in milliseconds."""
    assert outcome.verdict is not None
    for timing in outcome.timings:
        console.print(f"  {timing.pass_name:<24}{timing.seconds * 1e3:8.2f} ms", highlight=False)
    verifying = outcome.verdict.seconds
    for name, seconds in (("rewriting in all", outcome.seconds), ("verifying", verifying)):
        console.print(f"  {name:<24}{seconds * 1e3:8.2f} ms", style="bold", highlight=False)


def main(folder: Path) -> None:
    console = Console(width=None if sys.stdout.isatty() else 100)
    before = decoder.to_model_proto()
    source = inspect.getsource(decoder.function)
    console.print(Panel(Syntax(source, "python"), title="1. Python", title_align="left"))
    console.print(model_panel("2. The model that onnxscript makes of it", sl.ir.load(before)))
    console.print("What straightline sees (straightline inspect):", style="bold")
    report.show(sl.inspect(before).blocks(brief=True))

    outcome = sl.transform(before)
    console.print(model_panel("3. The same model after straightline rewrite", outcome.ir))
    nodes = f"{outcome.nodes.before} nodes, 2 Loops and 1 If became {outcome.nodes.after} nodes"
    console.print(f"{nodes}, none of them control flow.\n", style="bold")

    console.print("The outputs:", style="bold")
    show_outputs(console, before, outcome.ir)
    report.show(outcome.verdict.blocks())
    console.print("\nThe time:", style="bold")
    show_timings(console, outcome)

    onnx.save(before, folder / "before.onnx")
    outcome.save(folder / "after.onnx")
    console.print(f"\nBoth models are in {folder}", highlight=False, soft_wrap=True)


def folder_of(arguments: list[str]) -> Path:
    """The folder that is named, made where it is not there; else a temporary one."""
    if not arguments:
        return Path(tempfile.mkdtemp(prefix="straightline-demo-"))
    folder = Path(arguments[0])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"error: the models cannot be kept in '{folder}': {error.strerror}")
    return folder


if __name__ == "__main__":
    main(folder_of(sys.argv[1:]))
