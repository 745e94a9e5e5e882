from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.passes.simplify.raising.attention_operands import (
    grouped_heads,
    heads_of,
    mask_of,
    sequences_of,
)
from straightline.passes.simplify.raising.replacement import Emitted, Site


def parts():
    text = """<ir_version: 10, opset_import: ["" : 23]>
    g (float[2, 5, 24] x, float[2, 3, 5, 8] k, float[1, 5] m)
        => (float[2, 3, 8, 5] y, float[2, 6, 5, 8] z)
        <int64[4] split = {0, 0, 3, 8}, int64[1] two = {2}, int64[5] times = {1, 1, 2, 1, 1},
        int64[4] all = {2, 6, 5, 8}> {
        r = Reshape (x, split) y = Transpose <perm = [0, 2, 3, 1]> (r)
        a = Unsqueeze (k, two) b = Expand (a, times) z = Reshape (b, all) }"""
    model = ir.parse(text)
    values = {node.output().name: node.output() for node in model.graph.nodes()}
    values |= {value.name: value for value in model.graph.inputs}
    return Site(model.graph, ShapeInference(model)), values


def test_keys_are_turned_back():
    site, values = parts()
    keys = heads_of(site, values["y"], is_turned=True)
    assert keys.source is values["r"] and keys.perm == (0, 2, 1, 3)
    assert [dim.value for dim in keys.shape] == [2, 3, 5, 8]
    assert keys.operand().op.op_type == "Transpose"
    assert sequences_of(site, keys) is values["x"]


def test_heads_of_groups():
    site, values = parts()
    heads = grouped_heads(site, heads_of(site, values["z"], is_turned=False))
    assert heads.source is values["k"] and heads.is_plain
    assert sequences_of(site, heads) is None


def test_a_mask_that_broadcasts_along_queries_is_expanded():
    site, values = parts()
    keys = heads_of(site, values["k"], is_turned=False)
    scores = (*keys.shape[:2], keys.shape[1], keys.shape[2])
    mask = mask_of(site, [values["m"]], scores, 1)
    assert isinstance(mask, Emitted) and mask.op.op_type == "Expand"
    assert mask_of(site, [values["m"]], scores, 10) is None, "another type"
    assert mask_of(site, [values["x"]], scores, 1) is None, "another shape"
