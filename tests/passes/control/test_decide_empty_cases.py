import numpy as np
import onnx
from harness import as_model, op_types, run_in_onnxruntime, run_passes
from straightline.passes import DecideEmptyCases, InlineIfs
from tables import table

NONE = "count = Size (scores)  none = Equal (count, zero)"
NOTHING = "nothing = Constant <value = int64[0] {}> ()"
SUPPRESSION = """
    all_boxes = Unsqueeze (moved, axes)  all_scores = Unsqueeze (scores, two)
    selected = NonMaxSuppression (all_boxes, all_scores, top, limit)
    index = Gather <axis = 1> (selected, column)"""
BY_CLASS = "high = ReduceMax <keepdims = 0> (boxes)  moved = Mul (boxes, high)" + SUPPRESSION


def detector(test=NONE, then=NOTHING, other=BY_CLASS, branches=("then", "else"), scores="N"):
    """Model of an If around NonMaxSuppression, as torchvision writes it."""
    return as_model(f"""g (float[N, 4] boxes, float[{scores}] scores) => (int64[K] kept)
        <int64 zero = {{0}}, int64 one = {{1}}, int64 column = {{2}}, int64[1] axes = {{0}},
         int64[2] two = {{0, 1}}, int64[1] top = {{8}}, float[1] limit = {{0.5}}> {{
        {test}
        kept = If (none) <
            {branches[0]}_branch = a () => (int64[A] nothing) {{ {then} }},
            {branches[1]}_branch = b () => (int64[B] index) {{ {other} }}> }}""")


def feeds(count):
    rng = np.random.default_rng(count)
    low = rng.uniform(0, 4, (count, 2))
    boxes = np.concatenate([low, low + rng.uniform(1, 3, (count, 2))], 1).astype(np.float32)
    return {"boxes": boxes, "scores": rng.uniform(0, 1, count).astype(np.float32)}


def decided(model):
    return run_passes(model, DecideEmptyCases(), InlineIfs())


FOUND = "count = Size (scores)  none = Greater (count, zero)"


@table(
    ("the size", NONE, ("then", "else")),
    ("the other way round", "count = Size (scores)  none = Equal (zero, count)", ("then", "else")),
    ("an axis", "shape = Shape (boxes)  count = Gather (shape, zero)  none = Equal (count, zero)",
     ("then", "else")),
    ("a product, cast twice", "shape = Shape (boxes)  count = ReduceProd <keepdims = 0> (shape)"
     " equal = Equal (count, zero)  byte = Cast <to = 9> (equal)  none = Cast <to = 9> (byte)",
     ("then", "else")),
    ("more than none", FOUND, ("else", "then")),
    ("not more than none", FOUND.replace("none", "some") + "  none = Not (some)",
     ("then", "else")))  # fmt: skip
def test_the_branch_for_others_serves_both(name, test, branches):
    model = detector(test, branches=branches)
    result = decided(model)
    assert not result.kept and "If" not in op_types(result.model)
    onnx.checker.check_model(result.model, full_check=True)
    for count in (0, 1, 7):
        wanted = run_in_onnxruntime(model, feeds(count))
        np.testing.assert_array_equal(run_in_onnxruntime(result.model, feeds(count)), wanted)


@table(
    ("scores of another length", {"scores": "M"}, "boxes and scores may not fit each other"),
    ("a bound of run time", {"other": BY_CLASS.replace("top, limit", "top, high")},
     "'high' is known only at run time"),
    ("a position of nothing", {"other": BY_CLASS + " place = ArgMax <axis = 0> (scores)"},
     "ArgMax"))  # fmt: skip
def test_a_branch_that_may_fail_stays(name, options, why):
    result = run_passes(detector(**options), DecideEmptyCases())
    assert not result.changed
    (remark,) = result.kept
    assert "cannot serve a tensor without elements" in remark.reason and why in remark.reason


@table(
    {"test": NONE.replace("zero", "one")},
    {"then": "nothing = Constant <value = int64[1] {7}> ()"},
    {"test": "peak = ReduceMax <keepdims = 0> (scores)  none = Equal (peak, peak)"},
    {"then": "nothing = Range (zero, count, one)", "other": "index = Range (zero, count, one)"},
    ids=["another number", "elements in the empty case", "no size", "sizes without a number"],
)
def test_other_comparisons_stay(options):
    result = run_passes(detector(**options), DecideEmptyCases())
    expected = "Range" in str(options)
    assert result.changed == expected
