"""Draw a model before and after `straightline.rewrite`, for the README.

Run: python dev/tools/picture.py
"""

import dataclasses
from html import escape
from pathlib import Path

import straightline as sl
from straightline.ir import Graph, Node

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
decoder (float[1, 4] x, float[1, 4] h) => (float[1, 4] y) {
    steps = Constant <value_int = 3> ()
    state = Loop (steps, , h) <
        body = step (int64 i, bool go, float[1, 4] h0) => (bool same, float[1, 4] h1) {
            same = Identity (go)
            mixed = Add (x, h0)
            h1 = Tanh (mixed)
        }
    >
    normalise = Constant <value = bool {1}> ()
    y = If (normalise) <
        then_branch = yes () => (float[1, 4] s) { s = Softmax (state) },
        else_branch = no () => (float[1, 4] r) { r = Relu (state) }
    >
}"""

ROW, GAP, PAD, WIDTH = 26, 8, 10, 200
COLOURS = {"Loop": "#c2410c", "If": "#7c3aed", "": "#1d4ed8"}


@dataclasses.dataclass
class Box:
    """A node: its text, its size, and the boxes inside it by attribute."""

    text: str
    kind: str
    width: int
    height: int
    columns: "list[tuple[str, list[Box]]]"

    def draw(self, x: int, y: int) -> list[str]:
        """The SVG elements of the box with its upper left corner at a point."""
        colour = COLOURS.get(self.kind, COLOURS[""])
        drawn = [
            f'<rect x="{x}" y="{y}" width="{self.width}" height="{self.height}" rx="5"'
            f' fill="{colour}" fill-opacity="0.08" stroke="{colour}"/>',
            text(x + PAD, y + 17, self.text, colour),
        ]
        left = x + PAD
        for name, boxes in self.columns:
            drawn.append(text(left, y + ROW + 14, name, "#666"))
            drawn += stack(boxes, left, y + ROW + 22)
            left += max(box.width for box in boxes) + PAD
        return drawn


def text(x: int, y: int, content: str, colour: str, size: int = 12) -> str:
    """A line of text."""
    style = f'font-family="monospace" font-size="{size}" fill="{colour}"'
    return f'<text x="{x}" y="{y}" {style}>{escape(content)}</text>'


def box_of(node: Node) -> Box:
    """The box of a node, with those of its bodies inside."""
    names = [value.name if value is not None else '""' for value in node.inputs]
    label = f"{node.output().name} = {node.op_type} ({', '.join(names)})"
    columns = [(name, boxes_of(graphs[0])) for name, graphs in node.bodies.items()]
    if not columns:
        return Box(label, node.op_type, WIDTH, ROW, [])
    width = sum(max(box.width for box in boxes) + PAD for _, boxes in columns) + PAD
    height = ROW + 22 + PAD + max(height_of(boxes) for _, boxes in columns)
    return Box(label, node.op_type, width, height, columns)


def boxes_of(graph: Graph) -> list[Box]:
    """The boxes of a graph's nodes, in order."""
    return [box_of(node) for node in graph.nodes()]


def height_of(boxes: list[Box]) -> int:
    """The height of boxes below each other."""
    return sum(box.height + GAP for box in boxes) - GAP


def stack(boxes: list[Box], x: int, y: int) -> list[str]:
    """Draw boxes below each other."""
    drawn = []
    for box in boxes:
        drawn += box.draw(x, y)
        y += box.height + GAP
    return drawn


def picture(before: sl.ir.Model, after: sl.ir.Model) -> str:
    """Both models side by side, as SVG."""
    left, right = boxes_of(before.graph), boxes_of(after.graph)
    middle = PAD + max(box.width for box in left)
    start = middle + 70
    width = start + max(box.width for box in right) + PAD
    height = 34 + max(height_of(left), height_of(right)) + PAD
    arrow_y = 34 + height_of(right) // 2
    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        text(PAD, 20, "before", "#111", 14),
        text(start, 20, "after", "#111", 14),
        *stack(left, PAD, 34),
        text(middle + 22, arrow_y, "→", "#111", 28),
        *stack(right, start, 34),
        "</svg>",
    ]
    return "\n".join(drawn) + "\n"


def main() -> None:
    """Write the picture beside this file."""
    before = sl.ir.parse(MODEL)
    after = sl.ir.load(sl.rewrite(before, verify=True))
    path = Path(__file__).parents[2] / "docs" / "before-after.svg"
    path.write_text(picture(before, after), encoding="utf-8")


if __name__ == "__main__":
    main()
