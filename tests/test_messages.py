"""Remarks and reasons in the user's words: no name of straightline's own code is in them."""

import re

import onnx
import pytest
import straightline as sl
from backend import CASES
from cells import Spelling
from harness import as_model
from straightline.options.table import KEYWORDS
from straightline.passes.manager import registry
from undecided import MODELS

PIPELINES = (
    None,
    "selects",
    "accelerate",
    "straighten{exact=false}",
    "raise-recurrences,loops-to-scans,scans-to-loops",
    "expand-recurrences,ifs-to-selects,lower-sequences,inline-functions",
)
WORDS = {
    *KEYWORDS,
    *(name for kind in registry.PASSES for name, _ in kind().options()),
    *("then_branch", "else_branch", "sequence_lens"),
}
OPERATORS = {schema.name for schema in onnx.defs.get_all_schemas_with_history()}
OPERATORS |= {"ScaledTanh", "ULPs", "NaN"}
DRAWN = {str(seed): Spelling(seed).model for seed in range(3)}
TEXTS = {name: as_model(text) for name, (text, _) in MODELS.items()}
TAKEN = {
    case.name: case.model for case in CASES if re.match("test_(if|loop|scan|gru_d)", case.name)
}


def internal(text):
    """The words of a message that look like names of code and are no user's words."""
    plain = re.sub(r"'[^']*'|\[[^\]]*\]|--[\w-]+( \S+)?|\{[^}]*\}", " ", text)
    names = re.findall(r"\b\w*_\w*\b|\b[A-Za-z]+[a-z][A-Z]\w*\b|\b[A-Z][a-z]+[A-Z]\w*\b", plain)
    names = [name for name in names if name not in WORDS | OPERATORS]
    return names + re.findall(r"\bNone\b|object at|<class|\bTrue\b(?!\s)|is not known to be", plain)


def test_names_of_code_are_found():
    assert internal("it carries _Raising, fact.elem_type is None") == [
        "_Raising",
        "elem_type",
        "None",
    ]
    assert internal("final is not known to be choose") == ["is not known to be"]
    assert not internal("its else_branch holds SequenceAt 'my_value'; with --set my_n=4")


@pytest.mark.parametrize("corpus", [TEXTS, TAKEN, DRAWN], ids=["hints", "backend", "cells"])
@pytest.mark.parametrize("passes", PIPELINES)
def test_no_name_of_code_is_in_a_message(corpus, passes):
    for name, model in corpus.items():
        outcome = sl.transform(model, passes, verify=False, hints=passes is None)
        for remark in outcome.remarks:
            assert not internal(remark.reason), (name, remark)
