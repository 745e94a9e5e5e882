import straightline as sl
from straightline.passes import Remark
from straightline.report.verdict_data import VerdictData
from straightline.verification.mismatch import MismatchError

HEAD = '<ir_version: 10, opset_import: ["" : 21]>\n'
BEFORE = HEAD + "g (float[2, 3] x) => (float[a, b] y) { t = Transpose (x) y = Transpose (t) }"
AFTER = HEAD + "g (float[2, 3] x) => (float[a, b] y) { y = Identity (x) }"


def told(before, after, mismatch=None, **options):
    return VerdictData.of(sl.verify(sl.ir.parse(before), sl.ir.parse(after), **options), mismatch)


def test_a_proof_is_told_in_words():
    found = told(BEFORE, AFTER)
    assert found.status == found.proof.status == "proved"
    assert found.proof.claim.startswith("The outputs are the same, bit for bit")
    assert "Two Transposes in a row are one." in found.proof.rules


def test_the_notion_of_a_weaker_proof_is_told():
    one = HEAD + "g (float[2] x) => (float[2] y) { a = Add (x, x) y = Add (a, x) }"
    other = HEAD + "g (float[2] x) => (float[2] y) <float t = {3}> { y = Mul (x, t) }"
    found = told(one, other, equality="reals", prove=True)
    assert "if floats were real numbers" in found.proof.claim and found.proof.assumptions


def test_an_open_proof_tells_the_first_terms_and_what_is_needed():
    found = told(BEFORE, BEFORE.replace("Transpose (x)", "Transpose <perm = [0, 1]> (x)"))
    assert found.status == "different" and found.proof.status == "open"
    assert found.proof.claim == "" and len(found.proof.first) == 2


def test_the_pass_at_fault_is_named_with_its_places():
    remarks = [Remark("unroll-loops", "Loop", f"l{n}", "rewritten", "unrolled") for n in range(7)]
    verdict = sl.verify(sl.ir.parse(AFTER), sl.ir.parse(AFTER.replace("Identity", "Neg")))
    found = VerdictData.of(verdict, MismatchError(verdict, "unroll-loops", remarks))
    assert found.fault.startswith("The outputs differ after the pass unroll-loops, where it ")
    assert found.fault.endswith("Loop 'l4', 2 more.")
    assert VerdictData.of(verdict).fault == ""
    assert "; first at [0, 0]: " in found.outputs[0].detail
