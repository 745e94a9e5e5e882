import dataclasses

import pytest
from straightline.passes import PassOptionError
from straightline.passes.costs.table import (
    LOAD_ITEMS,
    RUN_ITEMS,
    CostTable,
    cost_table,
    holds_costs,
)
from tables import table

TABLE = CostTable(
    dict.fromkeys(LOAD_ITEMS, 1.0),
    {**dict.fromkeys(RUN_ITEMS, 1.0), "scan slot": 0.0},
    {"GRU Sigmoid": 100},
    {"runtime": "some runtime"},
)


def test_a_written_table_reads_back(tmp_path):
    file = tmp_path / "costs.toml"
    file.write_text(TABLE.to_toml())
    assert cost_table(str(file)) == TABLE and holds_costs(file)


def test_the_shipped_table_is_named_after_the_runtime():
    table = cost_table("onnxruntime")
    assert table.about["runtime"].startswith("onnxruntime ") and cost_table("none") is None
    assert table.load["node"] > 0 and table.run["node"] > 0


@table(
    (None, "there is no table"),
    ("]", "cannot be read"),
    ("[load]\nnode = 'x'", "has no table 'load' of numbers"),
    ("[load]\nnode = -1", "has no table 'load' of numbers"),
    (TABLE.to_toml().replace("1048576.0", "'x'"), "has no table 'memory' of numbers"),
    ("[load]\nnode = 1", "lacks 'session' in 'load'; run straightline calibrate again"),
)
def test_a_file_that_is_no_table(text, told, tmp_path):
    file = tmp_path / "costs.toml"
    if text is not None:
        file.write_text(text)
    assert not holds_costs(file)
    with pytest.raises(PassOptionError, match=told):
        cost_table(str(file))


def test_an_unknown_name_is_an_error_that_tells_the_names():
    with pytest.raises(PassOptionError, match="no table 'openvino'; write 'none', 'onnxruntime'"):
        cost_table("openvino")


@pytest.mark.parametrize(("numbers", "pays"), [(100, True), (101, False), (None, False)])
def test_an_operator_pays_while_its_state_is_small(numbers, pays):
    assert TABLE.operator_pays("GRU", ["Sigmoid", "Tanh"], numbers) == pays


def test_an_unmeasured_operator_does_not_pay():
    assert not TABLE.operator_pays("RNN", ["Softsign"], 1)


@pytest.mark.parametrize(("scan", "least"), [(1, 1), (5.5, 1), (6, 2), (11, 3)])
def test_a_scan_pays_from_the_iteration_that_makes_up_for_its_start(scan, least):
    """An iteration costs 1 in it, and 6 in a Loop."""
    assert dataclasses.replace(TABLE, run={**TABLE.run, "Scan": scan}).least_scanned == least


def test_a_scan_that_is_slower_never_pays():
    assert dataclasses.replace(TABLE, run={**TABLE.run, "scan trip": 6}).least_scanned > 1 << 30


def test_a_table_without_memory_has_typical_blocks(tmp_path):
    file = tmp_path / "costs.toml"
    file.write_text(TABLE.to_toml().partition("[memory]")[0])
    assert cost_table(str(file)).block == 1 << 20
