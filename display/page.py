"""Blocks as HTML, for notebooks: one piece that needs nothing else, for light and dark."""

import base64
from collections.abc import Iterable, Mapping
from html import escape

from .blocks import MEANT, Block, Cell, Code, Line, Table
from .plain import visible

_STYLE = """
.straightline{--text:#1f2328;--back:#fff;--line:#d0d7de;--soft:#656d76;--good:#1a7f37;
--open:#8a5a00;--bad:#c0162c;color:var(--text);background:var(--back);border:1px solid var(--line);
border-radius:6px;padding:8px 12px;font:13px/1.5 system-ui,sans-serif;max-width:100%;
overflow-x:auto;color-scheme:light dark}
@media (prefers-color-scheme:dark){.straightline{--text:#e6edf3;--back:#0d1117;--line:#30363d;
--soft:#9198a1;--good:#3fb950;--open:#d29922;--bad:#ff7b72}}
.straightline table{border-collapse:collapse;margin:6px 0;color:inherit}
.straightline th,.straightline td{text-align:left;vertical-align:top;padding:3px 12px 3px 0;
border-bottom:1px solid var(--line);overflow-wrap:break-word;background:transparent;color:inherit}
.straightline p{margin:4px 0}
.straightline pre{margin:4px 0;padding:4px 8px;border:1px solid var(--line);border-radius:4px;
white-space:pre-wrap;color:inherit;background:transparent}
.straightline .good{color:var(--good)}.straightline .open,.straightline .left{color:var(--open)}
.straightline .bad{color:var(--bad);font-weight:600}
.straightline .dim,.straightline .note{color:var(--soft)}
""".strip().replace("\n", "")


def as_html(title: str, blocks: Iterable[Block], pictures: Mapping[str, str] = {}) -> str:
    """Blocks below a title; all text is escaped, and nothing is loaded from elsewhere.

    Args:
        blocks: the content.
        pictures: SVG below it, by captions.
    """
    inner = "".join(map(_block, blocks))
    inner += "".join(_picture(caption, svg) for caption, svg in pictures.items())
    return (
        f'<div class="straightline"><style>{_STYLE}</style>'
        f"<p><strong>{_text(title)}</strong></p>{inner}</div>"
    )


def _picture(caption: str, svg: str) -> str:
    # As an image of its own: the styles of inline SVG would hold for the whole notebook.
    data = base64.b64encode(svg.encode()).decode()
    image = f'<img alt="{_text(caption)}" src="data:image/svg+xml;base64,{data}">'
    return f"<p>{_text(caption)}</p><p>{image}</p>"


def _text(text: str) -> str:
    return escape(visible(text))


def _block(block: Block) -> str:
    if isinstance(block, Line):
        return f"<p{_class(block.tone)}>{_status(block.status)}{_text(block.text)}</p>"
    if isinstance(block, Code):
        return f"<pre>{_text(block.text)}</pre>"
    return _table(block)


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _status(word: str) -> str:
    tone = MEANT.get(word, "")
    return f"<span{_class(tone)}>{_text(word)}</span>" if word else ""


def _table(table: Table) -> str:
    head = "".join(f"<th>{_text(name)}</th>" for name in table.columns)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(cell: Cell) -> str:
    if isinstance(cell, list):
        return f"<td>{'<br>'.join(map(_text, cell))}</td>"
    return f"<td{_class(MEANT.get(cell, ''))}>{_text(cell)}</td>"
