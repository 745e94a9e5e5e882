"""Each operator's story stands in one file, with each version's place in the specification."""

import pkgutil
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import onnx
import pytest
from straightline.ops.axes import REDUCTIONS
from straightline.version_converter import adapters
from straightline.version_converter.attribute_to_input import MOVES
from straightline.version_converter.bfloat16 import SINCE
from straightline.version_converter.negative_axes import AXES, NEGATIVE_AXES
from straightline.version_converter.registry import (
    ADDED_VALUES,
    DOWNGRADES,
    HARMLESS,
    LONGER_FORMS,
    UPGRADES,
)
from straightline.version_converter.schemas import OLDEST, REVIEWED
from straightline.version_converter.via_wider_type import DETOURS

FILES: list[ModuleType] = [
    sys.modules[f"{adapters.__name__}.{module.name}"]
    for module in pkgutil.iter_modules(adapters.__path__)
]
OF_BFLOAT16 = {(op_type, version) for version, names in SINCE.items() for op_type in names}
STEPS = {*UPGRADES, *DOWNGRADES, *LONGER_FORMS, *MOVES, *(DETOURS.keys() - OF_BFLOAT16)}
STEPS |= {(op_type, NEGATIVE_AXES) for op_type in AXES}
"""Operators with the opsets to and from which something is registered for them."""


def test_a_file_is_found_by_itself():
    there = {path.stem for path in Path(FILES[0].__file__ or "").parent.glob("*.py")} - {"__init__"}
    assert {f"{adapters.__name__}.{name}" for name in there} <= sys.modules.keys()
    assert len(FILES) == len(there) > 40


def told(file: ModuleType) -> list[str]:
    """The operators of which a file tells: those that its first line names."""
    names = re.findall(r"\b[A-Z]\w+", (file.__doc__ or "").partition(":")[0])
    return list(REDUCTIONS) if names == ["Reductions"] else names


def told_versions(file: ModuleType) -> set[int]:
    """The opsets of which a file tells."""
    steps = re.split(r"^- ", file.__doc__ or "", flags=re.M)[1:]
    found = [re.match(r"\d+((, | and )\d+)*: ", step) for step in steps]
    assert all(found), steps
    return {int(number) for match in found if match for number in re.findall(r"\d+", match[0])}


def versions(op_type: str) -> set[int]:
    """The opsets in which an operator changed."""
    return {
        schema.since_version
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.domain == "" and schema.name == op_type and schema.since_version <= REVIEWED
    }


def test_an_operator_is_told_in_one_file():
    counts = Counter(op_type for file in FILES for op_type in told(file))
    spoken_of = {op_type for op_type, _ in STEPS | HARMLESS} | ADDED_VALUES.keys()
    assert spoken_of <= counts.keys()
    assert set(counts.values()) == {1}


@pytest.mark.sample(37)
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.__name__.rpartition(".")[2])
def test_a_file_tells_of_each_version_after_opset_7_and_of_each_earlier_step(file):
    every = set().union(*[versions(op_type) for op_type in told(file)])
    steps = {version for op_type, version in STEPS if op_type in told(file)}
    needed = steps | {version for version in every if version > OLDEST}
    assert needed <= told_versions(file) <= every


@pytest.mark.sample(99)
@pytest.mark.parametrize(("op_type", "version"), sorted(STEPS))
def test_a_step_is_one_in_which_the_operator_changed(op_type, version):
    assert version in versions(op_type)


def test_the_file_of_a_function_is_that_of_its_operator():
    homes = {op_type: file.__name__ for file in FILES for op_type in told(file)}
    for table in (UPGRADES, DOWNGRADES):
        for (op_type, _), found in table.items():
            for adapter in found:
                shared = ("negative_axes", "attribute_broadcasting")
                assert adapter.__module__ in (
                    homes[op_type],
                    *[f"straightline.version_converter.{name}" for name in shared],
                )
    for (op_type, _), form in LONGER_FORMS.items():
        assert form.__module__ == homes[op_type]
