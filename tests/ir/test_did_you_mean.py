import numpy as np
import pytest
import straightline as sl
from harness import as_model
from straightline.ir.did_you_mean import instead, nearest, no_input
from tables import table

MODEL = as_model("""g (float[2] sample, bool go) => (float[2] y) {
        y = Loop (, go, sample) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
            d = Not (c)  e = Neg (a) }> }""")


@table(
    ("smaple", ["state", "sample"], "sample"),
    ("SAMPLE", ["state", "Sample"], "Sample"),
    ("unrol-loops", ["unroll-loops", "unroll-scans"], "unroll-loops"),
    ("q", ["n", "x"], None),
    ("ResizeBilinear", ["DequantizeLinear", "Resize"], None),
    ("n", [], None),
)
def test_the_nearest_name(name, known, found):
    assert nearest(name, known) == found


def test_suggestions_for_a_name():
    assert instead("smaple", ["sample", "n"]) == "did you mean 'sample'? there are 'sample', 'n'"
    assert instead("q", ["sample"], are="it has") == "it has 'sample'"
    assert no_input("q", {}) == "the model has no input 'q'; it has none"


def test_many_and_long_names_stay_a_line():
    many = [f"input_{n}" for n in range(5000)]
    assert instead("input_49999", many) == "did you mean 'input_4999', 'input_999' or 'input_499'?"
    assert instead("y", many).endswith("and 4970 more")
    long = "x" * 1_000_000
    assert nearest(long, [long, "y"]) is None


FEEDS = {"smaple": np.zeros(2, np.float32)}


@table(
    (lambda: sl.rewrite(MODEL, values=FEEDS), "no input 'smaple'; did you mean 'sample'?"),
    (lambda: sl.rewrite(MODEL, shapes={"smaple": (2,)}), "did you mean 'sample'?"),
    (lambda: sl.verify(MODEL, MODEL, feeds=FEEDS), "did you mean 'sample'?"),
    (lambda: sl.reference.run(MODEL, FEEDS), "no input 'smaple'; did you mean 'sample'?"),
    (
        lambda: sl.verify(MODEL, MODEL, prove=False, sample_shapes={"smaple": (2,)}),
        "mean 'sample'?",
    ),
    (lambda: sl.verify(MODEL, MODEL, runtime="onxruntime"), "mean 'onnxruntime'?"),
    (lambda: sl.rewrite(MODEL, verify={"sampels": 3}), "did you mean 'samples'?"),
    (lambda: sl.rewrite(MODEL, assume_max={"z": 3}), "no Loop 'z'; it has 'y'"),
    (lambda: sl.rewrite(MODEL, "inline-if"), "no pass 'inline-if'; did you mean 'inline-ifs'?"),
    (lambda: sl.rewrite(MODEL, "unroll-loops{max_trip=3}"), "did you mean 'max_trips'?"),
    (lambda: sl.rewrite(MODEL, max_node=3), "did you mean 'max_nodes'?"),
    (lambda: sl.rewrite(MODEL, "accelerate", max_node=3), "did you mean 'max_nodes'?"),
    (lambda: sl.rewrite(MODEL, "unroll-loops{absent_cond=onxruntime}"), "it is one of"),
)
def test_every_name_that_users_give_has_one(wrong, words):
    with pytest.raises(sl.Error) as caught:
        wrong()
    assert words in str(caught.value)


@table(
    lambda: sl.rewrite(MODEL, values=FEEDS),
    lambda: sl.inspect(MODEL, shapes={"smaple": (2,)}),
    lambda: sl.rewrite(MODEL, dims={"N": 2}),
    lambda: sl.verify(MODEL, MODEL, feeds=FEEDS),
    lambda: sl.verify(MODEL, MODEL, prove=False, sample_shapes={"smaple": (2,)}),
    lambda: sl.reference.run(MODEL, FEEDS),
)
def test_one_class_of_errors_holds_every_wrong_name_of_an_input(call):
    with pytest.raises(sl.BindingError, match=r"smaple|'N'"):
        call()
