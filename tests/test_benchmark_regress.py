"""The comparison with the last commit's table; `make regress` measures."""

import onnx
from straightline.dev.benchmarks import convert_joins, regress
from straightline.dev.benchmarks.regress import COMMANDS, Input, Row, Unit, changes, inputs, nearer
from tables import table

ROW = Row("gru", 2.0, 10.0, 21, "proved")


@table(
    ({}, []),
    ({"bare": 2.19, "default": 9.2}, []),
    ({"bare": 2.21}, ["gru, bare: 2 -> 2.21, 1.10 of it"]),
    ({"default": 9.0}, ["gru, default: 10 -> 9, 0.90 of it"]),
    ({"nodes": 22}, ["gru: 21 -> 22 nodes"]),
    ({"verdict": "open"}, ["gru: proved -> open"]),
)
def test_changes_above_a_tenth_are_printed(change, lines):
    assert changes(ROW, ROW._replace(**change)) == lines


def test_a_new_input_is_named():
    assert changes(None, ROW) == ["gru: not in the table"]


def test_a_second_measurement_takes_noise_away_and_no_change():
    noisy, again = ROW._replace(bare=3.0, default=5.0), ROW._replace(bare=2.1, default=5.2)
    row = nearer(ROW, noisy, again._replace(nodes=22))
    assert row == Row("gru", 2.1, 5.2, 22, "proved")
    assert len(changes(ROW, row)) == 2


def test_a_table_comes_back_as_it_was_written(tmp_path):
    regress.write(tmp_path / "table.csv", [ROW, Row("command", 12.345, 12.345, 0, "")])
    assert regress.read(tmp_path / "table.csv") == {
        "gru": ROW,
        "command": Row("command", 12.3, 12.3, 0, ""),
    }
    assert regress.read(tmp_path / "none.csv") == {}


def test_the_table_has_the_inputs():
    names = [one.name for one in inputs()] + list(COMMANDS)
    assert len(names) == len(set(names)) == 31
    assert list(regress.read(regress.TABLE)) == names


def test_an_input_is_measured_as_users_call_it(monkeypatch):
    monkeypatch.setattr(regress, "TURNS", range(1, 2))
    monkeypatch.setattr(regress, "UNIT_ITERATIONS", 2)
    (one,) = [one for one in inputs() if one.name == "fixed_point_until_converged"]
    row = regress.measure_model(Unit(), one)
    assert (row.nodes, row.verdict) == (7, "proved") and row.default > 0 < row.bare
    conversion = Input("conversion", lambda: convert_joins.model_of("layers", 5, 12), {"opset": 9})
    model = conversion.model()
    onnx.checker.check_model(model)
    assert conversion.call(model, verify=False).opset_import[0].version == 9


def test_rows_that_changed_are_written(monkeypatch, tmp_path, capsys):
    table = tmp_path / "table.csv"
    rows = [ROW, ROW._replace(name="flat"), ROW._replace(name="command")]
    regress.write(table, rows[:2])
    measured = [rows[0]._replace(bare=2.1), rows[1]._replace(nodes=20, bare=2.1), rows[2]]
    monkeypatch.setattr(regress, "TABLE", table)
    monkeypatch.setattr(
        regress, "measurements", lambda _: [lambda row=row: row for row in measured]
    )
    monkeypatch.setattr("sys.argv", ["regress", "--write"])
    regress.main()
    assert list(regress.read(table).values()) == [ROW, *measured[1:]]
    assert capsys.readouterr().out.splitlines() == [
        "gru: as before",
        "flat: 21 -> 20 nodes",
        "command: not in the table",
        "2 of 3 inputs changed",
    ]
