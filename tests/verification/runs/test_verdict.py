import json
import math

import numpy as np
import pytest
from straightline.verification.proof import Proof
from straightline.verification.runs.comparison import Difference, Tolerance, compare
from straightline.verification.runs.verdict import OutputDifference, Verdict


def difference(before, after):
    return compare(np.array(before), np.array(after), Tolerance())


def test_only_equal_is_true():
    assert Verdict("equal", "all agree") and Verdict("equal", "").equal
    assert not Verdict("different", "") and not Verdict("not verified", "")


def test_an_output_that_differs_says_where_and_how_much():
    text = str(OutputDifference("y", "different", difference([1.0, 2.0], [1.0, 2.5]), "sample 1"))
    assert text.startswith("y: different in values") and "(sample 1)" in text
    assert "at most 0.5 absolute, 0.25 relative" in text and text.endswith("ULPs")


def test_an_output_that_is_equal_says_how_close():
    small = OutputDifference("y", "equal", difference([1.0], [1.0 + 2**-52]))
    assert str(small) == "y: equal; at most 2.22e-16 absolute, 2.22e-16 relative, 1 ULPs"
    assert str(OutputDifference("y", "equal", difference([1.0], [1.0]))) == "y: equal"


def test_distances_of_what_is_drawn_at_random_are_not_shown():
    found = OutputDifference("y", "not deterministic", difference([1.0], [2.0]))
    assert str(found) == "y: not deterministic"


def test_the_whole_text():
    output = OutputDifference("y", "equal", Difference())
    odd = OutputDifference("z", "different", difference([1.0], [2.0]), "s")
    verdict = Verdict(
        "equal", "all agree", ("onnxruntime", "reference"), ("s",), (output,), (odd,), ("a note",)
    )
    lines = str(verdict).splitlines()
    assert lines[:2] == ["equal: all agree [onnxruntime, reference]", "  y: equal"]
    assert lines[2].startswith("  the runtimes disagree on the original: z: different in values")
    assert lines[3:] == ["  note: a note"]
    assert str(Verdict("not verified", "no input")) == "not verified: no input"


def test_the_first_words_tell_what_was_established():
    output = OutputDifference("y", "equal", Difference())
    fields = {"runtimes": ("onnxruntime",), "samples": ("sample 0", "limits"), "outputs": (output,)}
    cases = {
        "proved: equal for every input": Proof("proved", "", equality="bits"),
        "proved, not replayed: equal": Proof("proved", "", equality="bits", derivation="loops"),
        "open, equal": Proof("open", "no rule makes them one"),
        "equal": None,
    }
    for words, proof in cases.items():
        verdict = Verdict("equal", "all outputs agree on 2 samples", proof=proof, **fields)
        (first, *_) = [line.status + line.text for line in verdict.blocks()]
        assert first.startswith(words) and str(verdict).startswith(words)
        assert ("no rule" in first) == (words == "open, equal")
    assert first.startswith("equal on 1 sample and 1 edge case (onnxruntime, verified in")


@pytest.mark.parametrize("value", [math.inf, math.nan, 1 + 2j])
def test_scripts_get_what_json_has(value):
    output = OutputDifference("y", "different", Difference(kind="values", max_abs=value), "s")
    verdict = Verdict("different", "it differs", ("reference",), ("s",), (output,), notes=("n",))
    found = verdict.to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["equal"], found["status"], found["notes"]) == (False, "different", ["n"])
    assert found["outputs"][0]["difference"]["max_abs"] == str(value)
    assert found["outputs"][0]["name"] == "y"
