"""Run straightline on a small model in a terminal, and draw what it shows, for the README.

Run: python dev/tools/terminal_picture.py
"""

import io
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

import straightline as sl
from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
vad (float[1, 512] audio, int64 sr, float[1, 4] state, float[128, 4] w, float[4, 4] u)
        => (float[1, 4] speech) {
    [rate] wanted = Constant <value_int = 16000> ()
    [is_16k] wide = Equal (sr, wanted)
    [window] part = If (wide) <
        then_branch = full () => (float[1, 128] f) {
            a = Constant <value_ints = [0]> ()
            b = Constant <value_ints = [512]> ()
            axes = Constant <value_ints = [1]> ()
            four = Constant <value_ints = [4]> ()
            f = Slice (audio, a, b, axes, four)
        },
        else_branch = half () => (float[1, 128] g) {
            c = Constant <value_ints = [0]> ()
            d = Constant <value_ints = [256]> ()
            axes2 = Constant <value_ints = [1]> ()
            two = Constant <value_ints = [2]> ()
            g = Slice (audio, c, d, axes2, two)
        }
    >
    features = MatMul (part, w)
    steps = Constant <value_int = 3> ()
    [decode] speech = Loop (steps, , state) <
        body = step (int64 i, bool go, float[1, 4] h) => (bool same, float[1, 4] next) {
            same = Identity (go)
            [mix] mixed = MatMul (h, u)
            [add] summed = Add (mixed, features)
            [squash] next = Softmax (summed)
        }
    >
}"""
COMMANDS = (("inspect", "vad.onnx"), ("rewrite", "vad.onnx", "flat.onnx", "--set", "sr=16000"))
WIDTH = 92
FORMAT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px}}
.{unique_id}-title {{font-size: 18px; font-family: sans-serif}}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""
"""Rich's own, without fonts from elsewhere."""


def shown(folder: Path, command: tuple[str, ...]) -> str:
    """What a command writes to a terminal."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [sys.executable, "-m", "straightline", *command],
        cwd=folder,
        stdout=follower,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    os.close(follower)
    found = b""
    while True:
        try:
            more = os.read(leader, 4096)
        except OSError:  # so a terminal tells that nobody writes any more
            break
        if not more:
            break
        found += more
    os.close(leader)
    if process.wait():
        sys.exit(f"{' '.join(command)} failed")
    return found.decode().replace("\r\n", "\n").strip("\n") + "\n"


def picture() -> str:
    """Both commands with their output, as SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sl.ir.save(sl.ir.parse(MODEL), folder / "vad.onnx")
        for command in COMMANDS:
            console.print(Text.assemble(("$ ", "bold green"), f"straightline {' '.join(command)}"))
            console.print(Text.from_ansi(shown(folder, command)))
    return console.export_svg(
        title="straightline", theme=MONOKAI, code_format=FORMAT, unique_id="straightline"
    )


def main() -> None:
    """Write the picture into the docs."""
    path = Path(__file__).parents[2] / "docs" / "terminal.svg"
    lines = [line.rstrip() for line in picture().splitlines()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
