import numpy as np
import onnx
import onnx_ir
import pytest
from harness import as_model, op_types
from straightline import ir, reference
from straightline.passes import (
    EliminateDeadNodes,
    FoldConstants,
    InlineIfs,
    Pipeline,
    StrictError,
    UnrollLoops,
    straighten,
)
from texts import LOOP_THEN_IF as TEXT


@pytest.mark.parametrize("passes", [[UnrollLoops(), InlineIfs()], straighten().passes])
def test_the_callers_model_is_not_changed(passes):
    proto = as_model(TEXT)
    before = proto.SerializeToString(deterministic=True)
    for source in (proto, ir.load(proto), onnx_ir.from_proto(proto), before):
        result = Pipeline(passes).run(source)
        assert result.changed
        if isinstance(source, bytes):
            assert isinstance(result.model, onnx.ModelProto)
            continue
        assert type(result.model) is type(source)
        assert result.model is not source
        assert op_types(ir.to_proto(source)) == ["Loop", "If"]
    assert proto.SerializeToString(deterministic=True) == before


def test_remarks_say_what_was_done_and_what_was_kept():
    result = straighten().run(as_model(TEXT))
    said = [(r.pass_name, r.op_type, r.path, r.action) for r in result.remarks]
    assert said == [("unroll-loops", "Loop", "z", "rewritten"), ("inline-ifs", "If", "y", "kept")]
    assert [str(remark) for remark in result.kept] == [
        "If 'y': kept, its condition depends on input 'q'; decide it with --set q=..."
        " (values= in Python)"
    ]
    assert result.kept[0].to_dict()["action"] == "kept"


def test_strict_mode_raises_for_what_is_kept():
    with pytest.raises(StrictError, match=r"If 'y': kept, .* input 'q'"):
        straighten().run(as_model(TEXT), strict=True)
    assert Pipeline([UnrollLoops()]).run(as_model(TEXT), strict=True).kept == ()


def test_strict_mode_counts_the_others():
    text = TEXT.replace("<int64 n = {2}>", "").replace("bool q)", "bool q, int64 n)")
    with pytest.raises(StrictError, match=r"and 1 more"):
        straighten().run(as_model(text), strict=True)


def test_progress_is_told():
    told = []
    text = TEXT.replace("int64 n = {2}", "int64 n = {300}")
    model = ir.load(as_model(text))
    Pipeline([UnrollLoops()]).apply(
        model, lambda what, done, total: told.append((what, done, total))
    )
    iterations = [("unrolling z", iteration, 300) for iteration in (0, 100, 200)]
    assert told == [("unroll-loops", 0, 1), *iterations]


def test_every_pass_leaves_the_invariants():
    model = ir.load(as_model(TEXT))
    for pass_ in straighten().passes:
        Pipeline([pass_]).apply(model)
        ir.verify(model)


def test_an_unchanged_model_comes_back_equal():
    proto = as_model("g (float[2] x) => (float[2] y) { y = Neg (x) }")
    result = Pipeline([FoldConstants(), EliminateDeadNodes()]).run(proto)
    assert not result.changed
    assert result.model == proto


def test_functions_keep_their_own_opset():
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n'
    text = (
        head
        + """g (float[2] x, bool q) => (float[2] y, float[K,2] s) { y, s = local.f (x) }
        <domain: "local", opset_import: ["" : 12]> f (x) => (y, s) {
            n = Constant <value = int64 {2}> ()
            y, s = Loop (n, , x) <body = b (i, c, a) => (c, r, r) { r = Neg (a) }> }"""
    )
    model = Pipeline([UnrollLoops()]).run(as_model(text)).model
    function = model.functions[0]
    assert [(o.domain, o.version) for o in function.opset_import] == [("", 12)]
    rows = [node for node in function.node if node.op_type == "Unsqueeze"]
    assert [len(node.input) for node in rows] == [1, 1]
    y, s = reference.run(model, {"x": np.array([1, -2], np.float32), "q": np.array(True)})
    np.testing.assert_array_equal(y, [1, -2])
    np.testing.assert_array_equal(s, [[-1, 2], [1, -2]])
