"""Conversion takes work in proportion to the nodes, however often paths join again."""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from counting import assert_linear
from straightline import convert_version

PATH = Path(__file__).parents[2] / "dev" / "benchmarks" / "convert_joins.py"
SPEC = importlib.util.spec_from_file_location("convert_joins", PATH)
assert SPEC is not None and SPEC.loader is not None
BENCHMARK = importlib.util.module_from_spec(SPEC)
sys.modules[SPEC.name] = BENCHMARK
SPEC.loader.exec_module(BENCHMARK)


@pytest.mark.sample(8)
@pytest.mark.parametrize("target", [21, 11])
@pytest.mark.parametrize("name", BENCHMARK.BLOCKS)
def test_a_model_of_joins_is_converted_with_linear_work(name: str, target: int) -> None:
    """A walk along each path would take 2 to the power of some hundreds."""

    def work(size: int) -> Callable[[], None]:
        proto = BENCHMARK.model_of(name, size)

        def run() -> None:
            converted = convert_version(proto, target, verify=False)
            assert converted.opset_import[0].version == target  # type: ignore[union-attr]

        return run

    assert_linear(work, 50, 4)
