import math

import numpy as np
from harness import as_model, assert_equal_outputs, run_passes
from operator_facts import make_node
from straightline import ir, prove, reference
from straightline.analysis.shapes.inference import ShapeInference
from straightline.ops import rules_of
from straightline.passes import VectorizeLoops
from tables import table


@table("SwiGLU", "RotaryEmbedding", "MeanVarianceNormalization", "TensorScatter", "SequenceAt")
def test_steps_grow_with_the_elements(op_type):
    small, large = (work(op_type, np.zeros(size, np.float32)) for size in (1_000, 100_000))
    assert 50 * small < large < 1e10


def test_attention_takes_a_product_for_each_pair():
    small, large = (np.zeros((1, 1, size, 8), np.float32) for size in (10, 100))
    assert 90 * work("Attention", small, small) > work("Attention", large, large) > 1e8
    assert math.isinf(work("LinearAttention", small, small, small)), "new, and a loop"


def work(op_type, *arrays):
    node = make_node(op_type, arrays)
    return rules_of(node.op).work(node, arrays)


@table(
    "Scaler <offset = [1.0, 0.0, 2.0], scale = [2.0, 1.0, 0.5]>",
    'Normalizer <norm = "L2">',
    "Binarizer <threshold = 0.5>",
    "Imputer <imputed_value_floats = [0.0]>",
)
def test_distances_of_what_was_prepared(operator):
    """cdist of skl2onnx: without the rank the Scan would be written out row by row."""
    text = f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]>
    g (float[N, 3] x, float[5, 3] rows) => (float[5, N] d) {{
        p = ai.onnx.ml.{operator} (x)
        same, d = Scan <num_scan_inputs = 1, body = b (float[?, 3] a, float[3] row)
                => (float[?, 3] a2, float[?] r) {{
            a2 = Identity (a) s = Sub (a, row) r = ReduceSumSquare <axes = [1], keepdims = 0> (s)
        }}> (p, rows) }}"""
    made = run_passes(text, VectorizeLoops()).model
    assert "Scan" not in {node.op_type for node in made.graph.node}
    rows = np.arange(15, dtype=np.float32).reshape(5, 3)
    for size in (1, 4):  # the reference fails on no rows
        x = np.linspace(-1, 1, 3 * size, dtype=np.float32).reshape(size, 3)
        assert_equal_outputs(text, made, {"x": x, "rows": rows})


@table(
    ("float[7]", "int64[4]", (1, 4)),
    ("float[7]", "int64[1, 4]", (1, 4)),
    ("float[7]", "int64[3, 2]", (1, 6)),
    ("float[2, 7]", "int64[3, 2]", (2, 6)),
    ("float[5, 2, 7]", "int64[3]", (5, 2, 3)),
)
def test_array_feature_extraction(data, places, shape):
    text = f"""<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]>
    g ({data} x, {places} i) => (float y) {{ y = ai.onnx.ml.ArrayFeatureExtractor (x, i) }}"""
    model = ir.load(as_model(text.replace("(float y)", "(y)")))
    fact = ShapeInference(model).fact(model.graph.outputs[0])
    assert tuple(size.value for size in fact.shape) == shape
    feeds = {"x": _filled(data, np.float32), "i": _filled(places, np.int64) % 3}
    assert reference.run(model, feeds)[0].shape == shape


def _filled(type_, dtype):
    sizes = [int(size) for size in type_.split("[")[1][:-1].split(",")]
    return np.arange(np.prod(sizes)).reshape(sizes).astype(dtype)


def test_neighbours_are_proved():
    """The values behind them have sizes, so both models prove equal."""
    text = """<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 1]>
    g (float[N, 2] x, float[5, 2] rows, float[5] y) => (float[N, 3] near)
            <int64[1] three = {3}, int64[2] by = {-1, 3}> {
        same, d = Scan <num_scan_inputs = 1, body = b (float[?, 2] a, float[2] row)
                => (float[?, 2] a2, float[?] r) {
            a2 = Identity (a) s = Sub (a, row) r = ReduceSumSquare <axes = [1], keepdims = 0> (s)
        }> (x, rows)
        t = Transpose <perm = [1, 0]> (d)
        v, i = TopK <largest = 0> (t, three)
        f = Flatten (i)
        e = ai.onnx.ml.ArrayFeatureExtractor (y, f)
        near = Reshape (e, by) }"""
    made = run_passes(text, VectorizeLoops()).model
    assert "Scan" not in {node.op_type for node in made.graph.node}
    assert prove(as_model(text), made).status == "proved"


def growth(op_type, *texts, **attributes):
    arrays = [np.array(texts, object)] * (2 if op_type == "StringConcat" else 1)
    node = make_node(op_type, arrays, **attributes)
    return rules_of(node.op).growth(node, arrays)


def test_all_texts_are_split_into_as_many_parts_as_the_longest():
    assert growth("StringSplit", "a" * 1000, *["b"] * 999) >= 1_000_000
    assert growth("StringSplit", "ab", "c") < 10


def test_joined_texts_have_the_letters_of_both():
    assert growth("StringConcat", "a" * 1000, "b") >= 2000
    assert growth("StringConcat", "") >= 1


def test_a_pattern_is_matched_with_each_text():
    arrays = [np.array(["aa", "b"], object)]
    node = make_node("RegexFullMatch", arrays, pattern="a+")
    rules = rules_of(node.op)
    assert 0 < rules.work(node, arrays) < 1e6
    assert rules.work(make_node("RegexFullMatch", arrays, pattern="(a+)+"), arrays) > 1e18


def test_each_gram_of_each_token_is_looked_for():
    arrays = [np.arange(100)]
    given = {"ngram_indexes": [0, 1], "max_gram_length": 2, "max_skip_count": 1}
    short = make_node("TfIdfVectorizer", arrays, **given)
    long = make_node("TfIdfVectorizer", arrays, **{**given, "max_gram_length": 20})
    rules = rules_of(short.op)
    assert rules.work(long, arrays) > 5 * rules.work(short, arrays)
    assert rules.growth(short, arrays) == 2
