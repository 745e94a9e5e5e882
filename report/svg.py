"""Pictures of control flow: nested boxes, in light and dark."""

import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from ..ir import BaseDir, Model, ModelSource, load
from ..ir.io.files import replacing
from ..ir.kinds import PATH, takes
from ..records import record
from .constructs import ConstructData, constructs_of
from .model_data import GraphData, ModelData, Place, describe
from .places import marked_place
from .texts import cut

MOST_BOXES = 300
"""The most boxes in a picture."""

_MARK = "straightline control flow"
_LINE, _PAD, _GAP, _CHAR = 20, 10, 8, 7.3
_MOST_KINDS = 6
_MOST_TEXT = 90
_KINDS = {"Loop": "loop", "Scan": "loop", "SequenceMap": "loop", "If": "if"}
_STYLE = """
text{font:12px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#1c2024}
.soft{fill:#5c6670}rect{fill:#fff;stroke:#9aa5b0}.paper{fill:#fff;stroke:none}
.loop{stroke:#b45309;stroke-width:2}.if{stroke:#6d28d9;stroke-width:2}
.call{stroke:#0f766e;stroke-width:2}.graph{fill:#f7f7f5;stroke-dasharray:4 3}
@media (prefers-color-scheme:dark){
text{fill:#e7eaed}.soft{fill:#9aa5b0}rect{fill:#1d2125;stroke:#5c6670}.paper{fill:#14171a;stroke:none}
.loop{stroke:#f0a44b}.if{stroke:#b794f6}.call{stroke:#4fd1c5}.graph{fill:#14171a}}
"""


@record(frozen=True)
class _Box:
    """A box: lines of text and the boxes below them."""

    kind: str
    lines: tuple[str, ...]
    inside: "tuple[_Box, ...]"
    width: int
    height: int

    @classmethod
    def of(cls, kind: str, lines: Sequence[str], inside: "Sequence[_Box]") -> "_Box":
        text = max((_width(line) for line in lines), default=0)
        width = max([text, *(box.width for box in inside)]) + 2 * _PAD
        height = len(lines) * _LINE + sum(box.height + _GAP for box in inside) + _PAD
        return cls(kind, tuple(lines), tuple(inside), width, height)

    def draw(self, x: int, y: int, width: int) -> list[str]:
        """Draw the box with its upper left corner at a point, of a width."""
        size = f'x="{x}" y="{y}" width="{width}" height="{self.height}"'
        elements = [f'<rect {size} rx="6" class="{self.kind}"/>']
        for number, line in enumerate(self.lines):
            style = ' class="soft"' if number else ""
            at = f'x="{x + _PAD}" y="{y + 16 + number * _LINE}"'
            elements.append(f"<text {at}{style}>{_escape(line)}</text>")
        y += len(self.lines) * _LINE + _GAP // 2
        for box in self.inside:
            elements += box.draw(x + _PAD, y, width - 2 * _PAD)
            y += box.height + _GAP
        return elements


def control_flow_svg(model: ModelSource, base_dir: BaseDir = None) -> str:
    """Draw the control flow of a model as SVG. It shows every Loop, Scan and If with trip counts,
    loop-carried state and bodies, then calls and functions.

    Args:
        model: the model; unchanged.
        base_dir: the base folder of external data of a model in memory.

    Raises:
        LoadError: the model cannot be read or is not a model.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> sl.report.control_flow_svg(model)[:4]
        '<svg'
    """
    read = model if isinstance(model, Model) else load(model, base_dir)
    box = _Drawing(describe(read), constructs_of(read)[0]).whole()
    width, height = box.width + 2 * _PAD, box.height + 2 * _PAD
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}">',
            f"<!-- {_MARK} -->",
            f"<style>{_STYLE}</style>",
            '<rect width="100%" height="100%" class="paper"/>',
            *box.draw(_PAD, _PAD, box.width),
            "</svg>\n",
        )
    )


@takes(path=PATH)
def write_svg(
    path: str | os.PathLike[str],
    model: ModelSource,
    taken: Iterable[Path] = (),
    *,
    force: bool = False,
) -> None:
    """Write the picture, whole or not at all.

    Args:
        path: the path of the file.
        model: the model; unchanged.
        taken: files that must stay.
        force: overwrite also a file with other content.

    Raises:
        SaveError: the file cannot be written, is one of `taken`, or has other content than such a
            picture (unless `force` is set).

    Examples:
        >>> import os, tempfile
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sl.report.write_svg(os.path.join(folder, "exp.svg"), model)
        ...     os.listdir(folder)
        ['exp.svg']
    """
    place = marked_place(Path(path), taken, _MARK, "picture of control flow", force)
    with replacing(place) as (temporary,):
        temporary.write_text(control_flow_svg(model), encoding="utf-8")


class _Drawing:
    """The boxes of one model."""

    def __init__(self, model: ModelData, constructs: Sequence[ConstructData]) -> None:
        self.model = model
        self.constructs = {construct.place: construct for construct in constructs}
        self.room = MOST_BOXES

    def whole(self) -> _Box:
        """The main graph, and the functions below it."""
        functions = [number for number, graph in enumerate(self.model.graphs) if graph.is_function]
        boxes = [self.graph(number) for number in (0, *functions) if self.room > 0]
        lines = [] if self.room > 0 else [f"more than {MOST_BOXES} boxes; the rest is not drawn"]
        return _Box.of("paper", lines, boxes) if len(boxes) > 1 or lines else boxes[0]

    def graph(self, number: int) -> _Box:
        """A graph with its constructs."""
        graph = self.model.graphs[number]
        inside = []
        for index, node in enumerate(graph.nodes):
            if node.graphs and self.room > 0:
                self.room -= 1
                inside.append(self.construct((number, index)))
        return _Box.of("graph", [graph.title, self._census(graph)], inside)

    def construct(self, place: Place) -> _Box:
        """A Loop, an If, or a call of a function, which has its own box."""
        node = self.model.graphs[place[0]].nodes[place[1]]
        operator = self.model.operators[node.operator].name
        data = self.constructs.get(place)
        lines = [f"{operator} {cut(node.label)}"]
        if data is not None:
            lines += [cut(data.runs, _MOST_TEXT), *_states(data)]
        bodies = [n for n in node.graphs if not self.model.graphs[n].is_function]
        kind = _KINDS.get(operator, "call")
        return _Box.of(kind, lines, [self.graph(body) for body in bodies])

    def _census(self, graph: GraphData) -> str:
        counts = Counter(self.model.operators[node.operator].name for node in graph.nodes)
        kinds = [f"{n} {op}" if n > 1 else op for op, n in counts.most_common(_MOST_KINDS)]
        more = " ..." if len(counts) > _MOST_KINDS else ""
        nodes = "1 node" if graph.count == 1 else f"{graph.count} nodes"
        return cut(f"{nodes}: {', '.join(kinds)}{more}" if kinds else nodes, _MOST_TEXT)


def _states(data: ConstructData) -> list[str]:
    """Describe loop-carried state, scanned inputs and scan outputs, in a line each."""
    carried = [f"{c.inside} ({c.initial or 'none'} first)" for c in data.carried]
    rows = (
        ("carries", carried),
        ("reads", [whole for whole, _ in data.read]),
        ("stacks", [whole for whole, _ in data.stacked if whole]),
    )
    return [cut(f"{what} {', '.join(names)}", _MOST_TEXT) for what, names in rows if names]


def _width(line: str) -> int:
    """Estimate the width of a line; wide characters count twice."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
    return round((len(line) + wide) * _CHAR)


def _escape(line: str) -> str:
    """Escape text for XML, without characters that XML forbids."""
    valid = "".join(c if unicodedata.category(c) not in ("Cc", "Cs", "Cn") else "�" for c in line)
    return escape(valid)
