"""Conversion takes time in proportion to the nodes, however often paths join again."""

import importlib.util
import sys
import time
from pathlib import Path

import pytest
from straightline import convert_version

PATH = Path(__file__).parents[2] / "benchmarks" / "convert_joins.py"
SPEC = importlib.util.spec_from_file_location("convert_joins", PATH)
assert SPEC is not None and SPEC.loader is not None
BENCHMARK = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = BENCHMARK
SPEC.loader.exec_module(BENCHMARK)


@pytest.mark.parametrize("target", [21, 11])
@pytest.mark.parametrize("name", BENCHMARK.BLOCKS)
def test_a_model_of_joins_is_converted_in_linear_time(name: str, target: int) -> None:
    """A walk along each path would take 2 to the power of some hundreds."""
    proto = BENCHMARK.model_of(name, 600)
    start = time.perf_counter()
    converted = convert_version(proto, target)
    assert time.perf_counter() - start < 5
    assert converted.opset_import[0].version == target
