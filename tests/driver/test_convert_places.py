"""Longer forms in every place: the data has all of them, and none is wrong."""

import importlib.util
import sys
from pathlib import Path

import pytest
from straightline.dev.tools import data_files
from straightline.version_converter import adapters  # noqa: F401  (they register the longer forms)
from straightline.version_converter.registry import LONGER_FORMS

TOOLS = Path(__file__).parents[2] / "dev" / "tools"


@pytest.fixture(scope="module")
def places():
    pytest.importorskip("onnxruntime")
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location(
            "conversion_places", TOOLS / "conversion_places.py"
        )
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(TOOLS))


def test_there_is_a_case_for_each_longer_form(places):
    written = {
        node.op_type for case in places.CASES for node in places.nodes_of(case, case.since).node
    }
    assert {op_type for op_type, _ in LONGER_FORMS} <= written


def test_the_data_has_every_case_in_every_place_and_none_is_wrong(places):
    table, reasons = places.written()
    assert list(table) == [(case.name, place) for case in places.CASES for place in places.PLACES]
    assert not any("x" in cell for row in table.values() for cell in row[3:])
    assert {name for name, _ in reasons} == {
        name for (name, _), row in table.items() if any("-" in cell for cell in row[3:])
    }
    page = (TOOLS.parents[1] / "docs" / "tables.md").read_text(encoding="utf-8")
    assert places.counted(table.values()) in page


@pytest.mark.sample(1)
@pytest.mark.parametrize("place", ["graph", "branch", "Loop", "function"])
def test_a_case_is_converted_between_all_opsets(places, place):
    (case,) = [case for case in places.CASES if case.name == "TopK, smallest"]
    row = places.row_of(case, place, {opset: places.nodes_of(case, opset) for opset in (11, 21)})
    assert set(row.signs) == set(places.OPSETS)
    signs = {sign for signs in row.signs.values() for sign in signs}
    assert {"="} <= signs <= {"=", "r"}  # of NaNs onnxruntime before 1.32 says something else
    assert sum(row.back.values()) == len(range(7, 21))


def test_a_different_result_is_noticed(places):
    """A result that computes something else."""
    (case,) = [case for case in places.CASES if case.name == "Where"]
    before = places.model_of(places.nodes_of(case, 21), "graph", 21)
    after = places.convert_version(before, 13)
    after.graph.node[0].op_type = "Abs"
    samples = places.samples_of(case, before)
    assert places.compare(places.Runner(), before, after, samples) == "x"


def test_runs_of_opsets(places):
    assert places.spans([9, 7, 8, 12]) == "7 to 9, 12"


def test_changes_of_a_line_are_counted(places):
    cells = ["-", "-", "2 - 1 =", *["="] * (len(places.OPSETS) - 3)]
    line = ["Name", "graph", "8 to 10, 12", *cells, "="]
    # In opsets 8 and 10, 12 one less: a model is not converted to its own.
    assert places.counted([line]) == f"{4 + 3 + 2:,} -, {1 + 4 * 18 - 2:,} ="
    assert places.cell({"=": 3}) == "="
    assert places.cell({"r": 1, "=": 19}) == "19 = 1 r"
    assert places.numbers("8 to 10, 12") == {8, 9, 10, 12}


def test_rows_of_other_cases_are_kept(places, monkeypatch, tmp_path):
    files = sorted(data_files.DATA.glob("conversion-*s.csv"))
    before = {path.name: path.read_bytes() for path in files}
    monkeypatch.setattr(data_files, "DATA", tmp_path)
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    places.refresh([])
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
