"""The worked examples of CONTRIBUTING.md work, and are short."""

import re

import numpy as np
import pytest
from source_files import ROOT
from straightline.ops import rules
from straightline.targets.decompositions import SPELLINGS
from straightline.version_converter import registry

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = {
    section.partition("\n")[0]: re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    for section in PAGE.split("\n## ")
}
WITH_EXAMPLES = [name for name, blocks in SECTIONS.items() if blocks]


@pytest.fixture(autouse=True)
def apart(monkeypatch):
    """What an example registers is forgotten after it."""
    monkeypatch.setattr(rules, "_DESCRIBED", dict(rules.described()))
    monkeypatch.setattr(registry, "DOWNGRADES", dict(registry.DOWNGRADES))
    known = dict(SPELLINGS)
    yield
    SPELLINGS.clear()
    SPELLINGS.update(known)


@pytest.mark.parametrize("section", WITH_EXAMPLES)
def test_an_example_works(section):
    names = {"np": np}
    for block in SECTIONS[section]:
        exec(compile(block, f"CONTRIBUTING.md, {section}", "exec"), names)


@pytest.mark.parametrize("section", WITH_EXAMPLES)
def test_an_example_is_short(section):
    assert all(block.count("\n") < 30 for block in SECTIONS[section])


def test_there_is_an_example_for_each_way_to_contribute():
    assert WITH_EXAMPLES == [
        "Write a pass",
        "Teach what is known of an operator",
        "Carry an operator to another opset",
        "Add a target, or another form for those who lack an operator",
    ]
