import pytest
from straightline.cli import tables

ROWS = [
    ("Loop", "encoder/a-rather-long-path/of-a-loop", "kept", ["first reason", "second reason"]),
    ("If", "x", "rewritten", ""),
]
COLUMNS = ("Operator", "Where", "Outcome", "Why")


def shown(width, monkeypatch, capsys, rows=ROWS):
    monkeypatch.setenv("COLUMNS", str(width))
    tables.console().print(tables.table(COLUMNS, rows))
    found = capsys.readouterr().out
    assert max(map(len, found.splitlines())) <= width
    return found


def test_a_narrow_terminal_has_a_line_for_each_cell(monkeypatch, capsys):
    assert shown(59, monkeypatch, capsys).splitlines() == [
        "Operator: Loop",
        "  Where: encoder/a-rather-long-path/of-a-loop",
        "  Outcome: kept",
        "  Why: first reason",
        "    second reason",
        "",
        "Operator: If",
        "  Where: x",
        "  Outcome: rewritten",
        "",
    ]


@pytest.mark.parametrize("width", [20, 40])
def test_long_cells_wrap(width, monkeypatch, capsys):
    found = shown(width, monkeypatch, capsys)
    assert "encoder/a-rather-long-path/of-a-loop" in "".join(found.split())


@pytest.mark.parametrize("width", [68, 80, 120])
def test_columns_where_there_is_room(width, monkeypatch, capsys):
    head, *_ = (line for line in shown(width, monkeypatch, capsys).splitlines() if line.strip())
    assert head.split() == list(COLUMNS)


@pytest.mark.parametrize("width", range(20, 130, 7))
def test_no_column_is_squeezed_and_no_word_is_lost(width, monkeypatch, capsys):
    """Long text has 24 columns at least, or the whole line."""
    rows = [("Loop", "encoder/" + "a" * 60, "kept", "word " * 30)] * 2
    lines = shown(width, monkeypatch, capsys, rows).splitlines()
    lines = [line for line in lines if line.strip()]
    text = "".join(lines)
    assert text.count("word") == 60 and text.count("a") >= 120
    assert len(lines) <= 2 * (4 + 210 // min(24, width - 4) + 3)


def test_a_short_table_stays_one_at_any_width(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "30")
    tables.console().print(tables.table(("Item", "Cost"), [("loop trip", "0.157")]))
    head = next(line for line in capsys.readouterr().out.splitlines() if line.strip())
    assert head.split() == ["Item", "Cost"]
