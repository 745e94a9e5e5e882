"""The worked examples of CONTRIBUTING.md and tests/README.md work, and are short."""

import re

import numpy as np
import pytest
from source_files import ROOT
from straightline.ops import rules
from straightline.targets.decompositions import DECOMPOSITIONS
from straightline.version_converter import registry


def examples(page):
    """The Python blocks of each section."""
    sections = (ROOT / page).read_text(encoding="utf-8").split("\n## ")[1:]
    return {
        (page, section.partition("\n")[0]): blocks
        for section in sections
        if (blocks := re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    }


SECTIONS = {**examples("CONTRIBUTING.md"), **examples("tests/README.md")}


@pytest.fixture(autouse=True)
def apart(monkeypatch):
    """What an example registers is forgotten after it."""
    monkeypatch.setattr(rules, "_DESCRIBED", dict(rules.described()))
    monkeypatch.setattr(registry, "DOWNGRADES", dict(registry.DOWNGRADES))
    known = dict(DECOMPOSITIONS)
    yield
    DECOMPOSITIONS.clear()
    DECOMPOSITIONS.update(known)


@pytest.mark.parametrize("section", SECTIONS)
def test_an_example_works(section):
    names = {"np": np}
    for block in SECTIONS[section]:
        exec(compile(block, ", ".join(section), "exec"), names)


@pytest.mark.parametrize("section", SECTIONS)
def test_an_example_is_short(section):
    assert all(block.count("\n") < 30 for block in SECTIONS[section])


def test_there_is_an_example_for_each_way_to_contribute():
    assert [section for _, section in SECTIONS] == [
        "Write a pass",
        "Describe an operator",
        "Carry an operator to another opset",
        "Add a target, or another form for those who lack an operator",
        "A pass",
        "An operator",
        "An adapter",
        "A proof rule",
    ]
