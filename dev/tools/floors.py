"""Draw the floors for docs/architecture.md: who stands above may import who is below.

Run: python dev/tools/floors.py
"""

from html import escape
from pathlib import Path

FLOORS = (
    (("cli", "the command line: commands, options, report"),),
    (("batch", "many models"), ("report", "two models as a page"),
     ("interop", "passes of onnx_ir")),
    (("driver", "the public functions: transform, rewrite, convert, fit to a target, inspect"),),
    (("targets", "clients as data: legality, legalization, decompositions"),),
    (("version_converter", "whole models from opset to opset; a file per operator"),),
    (("passes", "the rewrites: control, loops, vectorize, recurrences, scans, sequences, ..."),),
    (("verification", "the prover, which shares nothing with the passes; runs on samples"),),
    (("analysis", "facts of a model before run time: shapes, constants, iterations, safety"),),
    (("runtimes", "workers, onnxruntime"), ("ops", "a class per operator")),
    (("reference", "exact semantics"), ("facts", "sizes, shapes, bounds")),
    (("ir", "the graph: load, save, check"),),
    (("display", "results rendered"), ("limits", "the governor"), ("records", "dataclasses"),
     ("options", "one table")))  # fmt: skip
"""From the top; what stands side by side does not import each other."""
WIDTH, HEIGHT, GAP = 660, 46, 8
COLOUR, GREY = "#1d4ed8", "#555"


def main() -> None:
    """Write the picture into the docs."""
    path = Path(__file__).parents[2] / "docs" / "floors.svg"
    path.write_text(picture(), encoding="utf-8")


def picture() -> str:
    """All floors, one above the other, as SVG."""
    drawn = [line for index, rooms in enumerate(FLOORS) for line in floor(index, rooms)]
    width, height = WIDTH + 2 * GAP, len(FLOORS) * (HEIGHT + GAP) + GAP
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
            f'<rect width="{width}" height="{height}" fill="#fff"/>',
            *drawn,
            "</svg>\n",
        )
    )


def floor(index: int, rooms: tuple[tuple[str, str], ...]) -> list[str]:
    """The rooms of one floor, side by side."""
    top = GAP + index * (HEIGHT + GAP)
    width = (WIDTH - GAP * (len(rooms) - 1)) // len(rooms)
    return [
        line
        for place, (name, holds) in enumerate(rooms)
        for line in room(name, holds, GAP + place * (width + GAP), top, width)
    ]


def room(name: str, holds: str, left: int, top: int, width: int) -> list[str]:
    """A box with a name, and under it what the folder holds."""
    return [
        f'<rect x="{left}" y="{top}" width="{width}" height="{HEIGHT}" rx="5" fill="{COLOUR}"'
        f' fill-opacity="0.08" stroke="{COLOUR}"/>',
        f'<text x="{left + 12}" y="{top + 19}" fill="{COLOUR}" font-weight="bold">{name}</text>',
        f'<text x="{left + 12}" y="{top + 37}" fill="{GREY}">{escape(holds)}</text>',
    ]


if __name__ == "__main__":
    main()
