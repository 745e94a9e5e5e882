"""A part of onnx's backend tests, converted; dev/tools/check_conversions.py does them all."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from depth import DEEP


@pytest.fixture(scope="module")
def checks() -> ModuleType:
    path = Path(__file__).parents[2] / "dev" / "tools" / "check_conversions.py"
    spec = importlib.util.spec_from_file_location("check_conversions", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_no_conversion_gives_other_outputs_or_fails_where_onnx_is_right(checks: ModuleType) -> None:
    pytest.importorskip("onnxruntime")
    cases = checks.cases()
    with_bodies = [case for case in cases if checks.has_control_flow(case.model)]
    chosen = cases[7 :: 40 if DEEP else 240] + with_bodies[:: 5 if DEEP else 20]
    rows = [row for case in chosen for row in checks.check((case, (9, 13, 18, 21), True))]
    assert sum(row.ours.verdict == "right" for row in rows) > len(rows) / 2
    faults = [
        row
        for row in rows
        if row.ours.verdict in ("wrong", "crashed")
        or (row.ours.verdict in ("invalid", "not run") and row.theirs.verdict == "right")
    ]
    assert not faults
