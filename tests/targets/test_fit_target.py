import numpy as np
import onnx
import pytest
import straightline as sl
from depth import examples
from harness import as_model, assert_equal_outputs, op_types
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from straightline import ir
from straightline.driver.options import RewriteOptions
from straightline.passes import InlineIfs, PassContext, Remark, UnrollLoops
from straightline.passes.utils.trial import take_over
from straightline.targets import Form
from strategies import model_and_feeds
from undecided import MODELS

from targets import fitted, lacking, one_node, operators

X = np.arange(8, dtype=np.float32).reshape(2, 4) / 3
WHOLE = """<ir_version: 8, opset_import: ["" : 20]>
g (float[2, 4] x) => (float[2, 4] y, float[2, 2] w) <int64 three = {3}, bool yes = {1}> {
    u = Loop (three, yes, x) <body = b (int64 i, bool c, float[2, 4] a) => (bool d, float[2, 4] e) {
        d = Identity (c)
        e = Neg (a) }>
    y = Gelu (u)
    w = Einsum <equation = "ij,kj->ik"> (y, y) }"""
ON_DATA = """<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, bool c) => (float[2] y) {
    y = If (c) <
        then_branch = t () => (float[2] p) { p = Neg (x) },
        else_branch = e () => (float[2] q) { q = Exp (x) } > }"""
UNBOUNDED = """<ir_version: 8, opset_import: ["" : 17]>
g (int64 n, float[2] x) => (float[2] y) <bool yes = {1}> {
    y = Loop (n, yes, x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e) {
        d = Identity (c)
        e = HardSwish (a) }> }"""


def test_control_flow_goes_then_the_opset_then_operators():
    target = lacking("Loop", "Gelu", "Einsum", "CastLike", opsets=(13, 17))
    outcome = fitted(WHOLE, target, {"x": X})
    assert not {"Loop", "Gelu", "Einsum", "CastLike"} & set(operators(outcome))
    assert outcome.opset == (20, 17) and not outcome.untaken
    said = [(r.op_type, r.action) for r in outcome.remarks]
    assert said[:2] == [("Loop", "rewritten"), ("Model", "rewritten")]
    assert "opset 20 became 17, which npu reads; changed: Gelu 1" in str(outcome)
    assert "npu supports every node, according to its operator list" in str(outcome)
    assert outcome.to_dict()["target"] == {"name": "npu", "takes_all": True, "left": []}


def test_unsupported_operators_stay_and_are_reported():
    outcome = fitted(
        UNBOUNDED, lacking("Loop", "Scan", "HardSwish"), *[{"n": np.array(2), "x": X[0, :2]}]
    )
    assert [r.op_type for r in outcome.untaken] == ["Loop"]
    assert "HardSwish" not in operators(outcome)
    assert "npu does not support 1: Loop 1" in str(outcome)
    told = outcome.to_dict()["target"]
    assert not told["takes_all"] and "npu does not support Loop" in told["left"][0]["reason"]
    (left,) = outcome.left  # one line, with the reason of the pass that left it
    assert "trip count depends on input 'n'" in left.reason
    assert "npu does not support Loop" in left.reason
    with pytest.raises(sl.passes.StrictError):
        sl.transform(
            onnx.parser.parse_model(UNBOUNDED), target=lacking("Loop", "Scan"), strict=True
        )


def test_control_flow_that_no_pass_removes_stays_as_it_came():
    """OpenCV runs some Loops of exporters, and no Loop with constants that were moved into it."""
    text = UNBOUNDED.replace("e = HardSwish (a)", "k = Relu (x) s = HardSwish (a) e = Add (s, k)")
    feeds = {"n": np.array(2), "x": X[0, :2]}
    outcome = fitted(text, lacking("Loop", "Scan"), feeds)
    (loop,) = outcome.ir.graph.nodes_of("Loop")
    assert "Relu" in {node.op_type for node in loop.body("body").nodes()}
    (left,) = outcome.left
    assert "trip count depends on input 'n'" in left.reason
    plain = fitted(text, lacking("Relu6"), feeds).ir.graph.nodes_of("Loop")
    assert all("Relu" not in {n.op_type for n in one.body("body").nodes()} for one in plain)


def test_reasons_of_passes_are_reported():
    text = """g (float[2] x, int64 i) => (float[2] y) {
        s = SequenceConstruct (x, x)
        y = SequenceAt (s, i) }"""
    outcome = sl.transform(as_model(text), target=lacking("SequenceAt"), verify=False)
    (left,) = outcome.untaken
    assert "depends on input 'i'" in left.reason and "npu does not support" in left.reason


def test_a_construct_that_run_time_decides_becomes_a_select_only_where_it_must():
    feeds = [{"x": X[0, :2], "c": np.array(c)} for c in (True, False)]
    assert "If" not in operators(fitted(ON_DATA, lacking("If"), *feeds))
    assert "If" in operators(fitted(ON_DATA, lacking("Gelu"), *feeds))


def test_a_loop_becomes_a_scan_for_who_takes_only_that():
    text = (
        UNBOUNDED.replace("HardSwish (a)", "Neg (a)")
        .replace("int64 n, ", "")
        .replace("<bool yes = {1}>", "<bool yes = {1}, int64 n = {200}>")
    )
    outcome = fitted(text, lacking("Loop"), {"x": X[0, :2]}, max_nodes=20)
    assert "Scan" in operators(outcome) and not outcome.untaken


def test_a_lacking_operator_is_avoided():
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (float[4, 2] x) => (float[4, 2] y) <int64 n = {4}, bool yes = {1}, float[2] o = {0, 0}> {
        z, y = Loop (n, yes, o) <
            body = b (int64 i, bool c, float[2] a) => (bool d, float[2] e, float[2] f) {
                d = Identity (c)
                r = Gather (x, i)
                e = Add (a, r)
                f = Identity (e) } > }"""
    feed = {"x": X.reshape(4, 2)}
    assert "CumSum" in operators(fitted(text, lacking(), feed))
    outcome = fitted(text, lacking("CumSum", "Scan", "Loop"), feed)
    assert "CumSum" not in operators(outcome) and not outcome.untaken


NEG = '<ir_version: 8, opset_import: ["" : {}]> g (float[2] x) => (float[2] y) {{ y = Neg (x) }}'
STRINGS = """<ir_version: 10, opset_import: ["" : 20]>
g (string[2] x) => (string[2] y) { y = StringConcat (x, x) }"""


def test_the_opset_is_the_nearest_one_and_the_preferred_one_where_that_leaves_less():
    feed = {"x": X[0, :2]}
    made = [fitted(NEG.format(own), lacking(), feed).opset.after for own in (9, 15, 24)]
    assert made == [13, 15, 21]
    text = NEG.replace("Neg (x)", "ReduceMax <keepdims = 1> (x)").replace("[2] y", "[1] y")
    torch = sl.targets.find("onnx2torch")
    assert fitted(NEG.format(18), torch, feed).opset.after == 18
    assert fitted(text.format(18), torch, feed).opset.after == torch.preferred_opset == 17


def test_an_opset_that_is_asked_for_is_reached_or_refused():
    target = lacking("Gelu", opsets=(13, 21))
    assert fitted(WHOLE, target, {"x": X}, opset=18).opset.after == 18
    with pytest.raises(sl.TargetError, match="npu reads opsets 13 to 21, not 9"):
        sl.transform(onnx.parser.parse_model(WHOLE), target=target, opset=9)
    with pytest.raises(sl.ConversionError, match="StringConcat does not exist in opset 19"):
        sl.transform(onnx.parser.parse_model(STRINGS), target=target, opset=17)


def test_an_operator_without_an_opset_is_reported():
    model, target = onnx.parser.parse_model(STRINGS), lacking(opsets=(13, 17))
    outcome = sl.transform(model, target=target, verify=False)
    assert outcome.opset == (20, 20)
    (left,) = outcome.untaken
    assert left.reason.startswith("npu reads opsets 13 to 17: StringConcat does not exist")


def test_a_model_with_training_information_stays_and_says_so():
    model = onnx.parser.parse_model(NEG.format(17))
    model.training_info.add().algorithm.CopyFrom(onnx.parser.parse_graph("t () => () {}"))
    assert not sl.transform(model, target=lacking(), verify=False).untaken
    for target in (lacking("Neg"), lacking(opsets=(18, 20))):
        (left,) = sl.transform(model, target=target, verify=False).untaken
        assert "the model has training information, so it is not changed" in left.reason


def test_a_target_is_given_to_rewrite_inspect_and_transform_alike(tmp_path):
    model = onnx.parser.parse_model(WHOLE)
    target = lacking("Gelu", "CastLike")
    made = sl.rewrite(model, target=target, verify=True)
    assert "Gelu" not in {node.op_type for node in made.graph.node}
    assert sl.inspect(model, target=target).constructs[0].outcome == "rewritten"
    only = sl.transform(model, (), target=target, verify=False)
    assert {"Loop"} < set(operators(only)) and not only.untaken
    with pytest.raises(sl.PassOptionError, match="set it on the pass itself"):
        sl.transform(model, (), target=target, max_trips=3)


OPERATORS = ("Add", "Sub", "Mul", "Neg", "Concat", "Gather", "Reshape", "Slice", "Where", "Less")
LACKING = ("Loop", "If", "Scan", "Squeeze", "Split", "Size", "Sum", "Identity", "Max", "Range")


@settings(max_examples=examples(3), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    drawn=model_and_feeds(),
    lacks=st.sets(st.sampled_from((*OPERATORS, *LACKING))),
    first=st.sampled_from([9, 13, 17]),
    own=st.booleans(),
)
def test_random_models_for_random_targets(drawn, lacks, first, own):
    model, feeds = drawn
    target = lacking(*sorted(lacks), opsets=(first, first + 4), own_outputs=own)
    outcome = sl.transform(model, target=target, verify=False, hints=False)
    sl.ir.verify(outcome.ir)
    told = {remark.op_type for remark in outcome.untaken}
    assert lacks & set(operators(outcome)) <= told
    if not any("reads opsets" in remark.reason for remark in outcome.untaken):
        assert outcome.opset.after in target.opsets
    for feed in feeds if isinstance(feeds, list) else [feeds]:
        assert_equal_outputs(model, outcome.model, feed)


OLD = """<ir_version: 3, opset_import: ["" : 8]> g (float[2, 2] x, bool c, bool d) => (float[4] y) {
    z = If (c) <then_branch = t () => (float[4] a) { a = If (d) <
        then_branch = t2 (int64[1] w) => (float[4] a2) <int64[1] w = {-1}> { a2 = Reshape (x, w) },
        else_branch = t3 () => (float[4] a3) {
            k = Constant <value = float[4] {1, 2, 3, 4}> () a3 = Neg (k) }> },
    else_branch = e () => (float[4] e1) { e1 = Flatten <axis = 0> (x) }>
    y = Reciprocal (z) }"""


@pytest.mark.parametrize("ir_version", [None, 3])
def test_below_ir_version_4_no_constant_becomes_a_node(ir_version):
    """Those of bodies inside bodies would be Constants of doubles and Casts. They are no inputs,
    either, where nobody asks for version 3: onnx2torch waits to be fed them."""
    shown = "e0 = Constant <value = float[4] {1, 2, 3, 4}> () e1 = Exp (e0)"
    text = OLD.replace("e1 = Flatten <axis = 0> (x)", shown)
    target = lacking("Reciprocal", "Constant", "Cast", opsets=(7, 8))
    feeds = [
        {"x": np.ones((2, 2), np.float32), "c": np.array(c), "d": np.array(d)}
        for c, d in ((True, True), (True, False), (False, False))
    ]
    outcome = fitted(text, target, *feeds, passes=(), ir_version=ir_version)
    assert outcome.model.ir_version == (ir_version or 4) and not outcome.untaken
    graph = outcome.model.graph
    constants = {tensor.name for tensor in graph.initializer}
    assert constants and constants.isdisjoint(v.name for v in graph.input) == (ir_version is None)
    written = onnx.printer.to_text(outcome.model)
    assert "Constant" not in written and "Cast" not in written
    untouched = fitted(text, lacking("Sin", opsets=(7, 8)), passes=())
    assert not untouched.changed and untouched.model.ir_version == 3


def test_a_rewrite_goes_on_with_the_remarks_on_a_copy():
    context, other = PassContext(), PassContext()
    (node,) = ir.parse(ON_DATA).graph.nodes()
    context.kept(InlineIfs(), node, "before")
    before = list(context.remarks.entries)
    context.rewritten(UnrollLoops(), node, "y", "given up")
    other.remarks.add(Remark("unroll-loops", "Loop", "y", "kept", "why"))
    context.meter.seconds, other.meter.seconds = {"unroll-loops": 1.0}, {"unroll-loops": 2.0}
    take_over(context, other, before)
    assert [r.reason for r in context.remarks] == ["before", "why"]
    assert context.meter.seconds == {"unroll-loops": 3.0}


def test_options_of_the_target_s_own_passes():
    """Only `accelerate` has a goal and a class of exactness; the other ways have none."""
    text = """g (float[N, 2] x) => (float[N, 2] y)
        <float[2, 2] w = {1, 2, 3, 4}, float[2] b = {5, 6}> {
        t = MatMul (x, w) y = Add (t, b) }"""
    for exactness, nodes in (("bits", ["MatMul", "Add"]), ("reals", ["Gemm"])):
        options = {"exactness": exactness, "optimize_for": "load"}
        result = sl.rewrite(as_model(text), target="onnxruntime", **options)
        assert op_types(result) == nodes
    with pytest.raises(sl.Error, match="an option 'exactnes'"):
        sl.rewrite(as_model(text), target="onnxruntime", exactnes="bits")


@pytest.mark.parametrize(("passes", "notion"), [("accelerate", "reals"), ((), "bits")])
def test_the_notion_of_equality_is_that_of_the_passes(passes, notion):
    text = """g (float[n, 4] x, float[n, 1] z) => (float[n, 4] y) {
        r = Sqrt (z)
        m = Reciprocal (r)
        y = Mul (x, m) }"""
    outcome = sl.transform(as_model(text), passes, target=lacking("Loop"))
    assert outcome.verdict.proved and outcome.verdict.proof.equality == notion


@pytest.mark.parametrize("passes", ["accelerate", "simplify{exactness=reals}", "straighten"])
def test_a_fit_claims_what_its_passes_claim(passes):
    fitted = RewriteOptions(passes, target="onnx2torch").pipeline
    assert fitted.exactness == RewriteOptions(passes).pipeline.exactness


def test_all_values_are_declared_for_a_client_of_known_sizes():
    text = one_node("a = HardSwish (x) y = Neg (a)", "float[n, 4] x")
    target = lacking("HardSwish", anywhere=Form(static=("*",)))
    outcome = fitted(text, target, {"x": np.ones((3, 4), np.float32)}, shapes={"x": (3, 4)})
    inner = {v.name for node in outcome.ir.graph.nodes() for v in node.outputs} - {"y"}
    infos = outcome.model.graph.value_info
    sizes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in infos}
    assert inner <= sizes.keys() and sizes["a"] == [3, 4] and not outcome.untaken


@pytest.mark.parametrize(("lacks", "is_offered"), [("Loop", True), ("RNN", False)])
def test_a_recurrence_is_offered_only_to_a_target_that_has_it(lacks, is_offered):
    """An RNN that the target lacks would be left in the place of the Scan."""
    text, _ = MODELS["a Scan over rows that is an RNN"]
    model = as_model(text)
    outcome = sl.transform(model, target=lacking("Scan", "Loop", lacks), verify=False)
    hints = [" ".join(hint.options) for hint in outcome.hints]
    assert ("--passes straighten{exact=false}" in hints) is is_offered
    if is_offered:
        pasted = sl.transform(model, target=lacking("Scan", "Loop"), **outcome.hints[-1].arguments)
        assert operators(pasted) == ["RNN"] or not pasted.untaken
