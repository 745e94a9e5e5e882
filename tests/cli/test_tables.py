"""Tables at any width."""

import pytest
from straightline.cli import tables, terminal

ROWS = [
    ("Loop", "encoder/a-rather-long-path/of-a-loop", "kept", ["first reason", "second reason"]),
    ("If", "x", "rewritten", ""),
]
COLUMNS = ("Operator", "Where", "Outcome", "Why")


def shown(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    terminal.console().print(tables.table(COLUMNS, ROWS))
    found = capsys.readouterr().out
    assert max(map(len, found.splitlines())) <= width
    return found


def test_a_narrow_terminal_has_a_line_for_each_cell(monkeypatch, capsys):
    assert shown(59, monkeypatch, capsys).splitlines() == [
        "Operator: Loop",
        "Where: encoder/a-rather-long-path/of-a-loop",
        "Outcome: kept",
        "Why: first reason",
        "Why: second reason",
        "",
        "Operator: If",
        "Where: x",
        "Outcome: rewritten",
        "",
    ]


@pytest.mark.parametrize("width", [20, 40])
def test_what_is_longer_than_a_line_goes_on_in_the_next(width, monkeypatch, capsys):
    found = shown(width, monkeypatch, capsys)
    assert "encoder/a-rather-long-path/of-a-loop" in "".join(found.split())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_columns_where_there_is_room(width, monkeypatch, capsys):
    head, *_ = (line for line in shown(width, monkeypatch, capsys).splitlines() if line.strip())
    assert head.split() == list(COLUMNS)
