"""The table of batching rules holds every operator of the default domain."""

import importlib.util
from pathlib import Path

from straightline.dev.tools import data_files

TOOL = Path(__file__).parent.parent / "dev" / "tools" / "batching_table.py"


def _tool():
    spec = importlib.util.spec_from_file_location("batching_table", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLE = _tool()


def test_the_data_is_up_to_date():
    assert data_files.read("batching") == [list(row) for row in TABLE.rows()]


def test_each_operator_without_a_rule_has_one_reason():
    without = [name for names in TABLE.REASONS.values() for name in names.split()]
    assert sorted(without) == sorted(set(TABLE.operators()) - set(TABLE.with_rule()))
