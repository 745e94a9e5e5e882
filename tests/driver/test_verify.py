import dataclasses
from typing import ClassVar

import numpy as np
import pytest
import straightline as sl
from harness import as_model, assert_equal_outputs
from straightline.driver import line
from straightline.driver import verify as module
from straightline.driver.job import Request
from straightline.driver.options import RewriteOptions
from straightline.driver.verify import verify
from straightline.ir import Operator
from straightline.passes import Pass
from straightline.verification.runs.options import VerifyOptions

TEXT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y) { a = Neg (x) y = Exp (a) }"""


@dataclasses.dataclass(frozen=True)
class SpoilAt(Pass):
    """Replace Neg by Abs in one opset."""

    name: ClassVar[str] = "spoil-at"
    opset: int = 18

    def run(self, model, context):
        found = [n for n in model.graph.nodes() if n.is_op("Neg") and model.opset() == self.opset]
        for node in found:
            context.rewritten(self, node, node.path, "spoiled")
            model.graph.set_operator(node, Operator("Abs"))
        return bool(found)


@pytest.mark.parametrize("opset", [17, 18])
def test_a_wrong_pass_is_undone_on_either_side_of_a_conversion(opset, monkeypatch):
    monkeypatch.delenv("STRAIGHTLINE_FAULTS")
    request = Request(as_model(TEXT), RewriteOptions([SpoilAt(opset)], opset=18))
    job = line.run(request)
    settled, verdict = verify(job, VerifyOptions(runtime="reference"))
    assert settled is not job and verdict.equal
    assert [node.op_type for node in settled.model.graph.nodes()] == ["Neg", "Exp"]
    assert settled.model.opset() == 18
    assert [place for v in settled.vetoes.entries for place in [v.place]] == [("Neg", "a")]


def test_a_strict_comparison_names_a_pass_that_ran_after_the_conversion():
    request = Request(as_model(TEXT), RewriteOptions([SpoilAt(18)], opset=18, strict=True))
    with pytest.raises(sl.MismatchError, match="spoil-at") as caught:
        verify(line.run(request), VerifyOptions(runtime="reference"))
    assert caught.value.culprit == "spoil-at"


def test_files_of_inputs_are_read_once(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.ones(2, np.float32))
    job = line.run(Request(as_model(TEXT), RewriteOptions(())))
    settled, verdict = verify(job, VerifyOptions(prove=False, feeds=tmp_path / "x.npz"))
    assert settled is job and verdict.equal
    assert_equal_outputs(as_model(TEXT), sl.ir.to_proto(job.model), {"x": np.ones(2, np.float32)})


def test_declarations_that_are_corrected_reach_the_message_of_a_conversion(monkeypatch):
    """The first comparison is made to refute what false sizes of a value alone could spoil."""
    false = TEXT.replace("(float[2] y) {", "(float[2] y) <float[3] a> {")
    verdicts, compare = [], module.compare

    def refuting(*args, **keywords):
        verdict = compare(*args, **keywords)
        verdicts.append(verdict if verdicts else dataclasses.replace(verdict, status="different"))
        return verdicts[-1]

    monkeypatch.setattr(module, "compare", refuting)
    converted = sl.convert_version(as_model(false), 18)
    (info,) = converted.graph.value_info
    assert [dim.dim_value for dim in info.type.tensor_type.shape.dim] == [2]
    assert len(verdicts) == 2 and converted.opset_import[0].version == 18
