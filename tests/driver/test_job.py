import numpy as np
import onnx
import pytest
import straightline as sl
from straightline import ir
from straightline.driver.job import Request, count_all_nodes
from straightline.driver.line import run
from straightline.driver.options import RewriteOptions
from straightline.driver.verify import verify
from straightline.passes import FreezeInitializers, InlineIfs, PassContext, Pipeline, UnrollLoops
from straightline.verification.mismatch import MismatchError
from straightline.verification.runs.options import VerifyOptions
from tables import table
from wrong_passes import Negating

TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (float[2] x, int64 n) => (float[2] y) {
    z = Loop (n, , x) <body = b (int64 i, bool c, float[2] a) => (bool d, float[2] r) {
        d = Identity (c) r = Relu (a) }>
    y = Relu (z) }"""
PASSES = Pipeline([UnrollLoops(), InlineIfs()])


@pytest.fixture
def model():
    return onnx.parser.parse_model(TEXT)


def test_a_rewrite(model):
    done = run(Request(model, RewriteOptions(PASSES, values={"n": 2})))
    assert [node.op_type for node in done.model.graph.nodes()] == ["Relu"] * 3
    assert (done.nodes_before, count_all_nodes(done.model)) == (4, 3)
    assert done.bound["n"].dtype == np.int64
    assert verify(done, VerifyOptions(samples=1, runtime="reference"))[1].equal
    assert model == onnx.parser.parse_model(TEXT)


def test_a_file_is_read_once(model, tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    request = Request(path, RewriteOptions(PASSES, values={"n": 1}))
    assert request.original is request.original
    path.unlink()
    assert count_all_nodes(run(request).model) == 2


def test_defaults_that_are_frozen_count_as_bound():
    text = TEXT.replace("int64 n)", "int64 n)", 1).replace(
        "(float[2] y) {", "(float[2] y) <int64 n = {2}> {"
    )
    model = onnx.parser.parse_model(text)
    assert run(Request(model, RewriteOptions(PASSES))).bound == {}
    frozen = run(Request(model, RewriteOptions(Pipeline([FreezeInitializers(), *PASSES.passes]))))
    assert {name: array.item() for name, array in frozen.bound.items()} == {"n": 2}
    assert [value.name for value in frozen.model.graph.inputs] == ["x"]


@table((5, {}, "values must be a"), ({}, [1], "shapes must be a"), ({}, {"x": 2}, "'x' needs"))
def test_kinds_are_checked_at_once(values, shapes, words, model):
    with pytest.raises(sl.Error, match=words):
        Request(model, RewriteOptions(PASSES, values=values, shapes=shapes))


def test_the_first_pass_that_changes_the_outputs_is_named(model):
    passes = Pipeline([UnrollLoops(), Negating(), InlineIfs()])
    done = run(Request(model, RewriteOptions(passes, values={"n": 2})))
    with pytest.raises(
        MismatchError, match=r"pass negating .* when it rewrote Relu '\w+' \(and 2"
    ) as e:
        verify(done, VerifyOptions(runtime="reference"))
    assert e.value.culprit == "negating"
    assert {remark.pass_name for remark in e.value.remarks} == {"negating"}
    assert e.value.verdict.status == "different"


def test_a_watcher_sees_every_run_and_has_the_remarks(model):
    seen = []

    class Watcher:
        def before(self, pass_, model):
            pass

        def after(self, pass_, model, changed):
            seen.append((pass_.name, changed))

    context = PassContext()
    context.instrumentation.watcher = Watcher()
    loaded = Request(model, RewriteOptions(PASSES, values={"n": 2})).prepare()[0]
    result = PASSES.apply(loaded, run=context)
    assert seen == [("unroll-loops", True), ("inline-ifs", False)]
    assert result.changed and list(result.remarks) == list(context.remarks)
    assert [remark.action for remark in context.remarks] == ["rewritten"]


def test_a_pass_that_tries_others_can_be_watched():
    text = """<ir_version: 10, opset_import: ["" : 18, "local" : 1]>
    g (float[2] x) => (float[2] y) <bool yes = {1}> { y = local.f (x, yes) }
    <domain: "local", opset_import: ["" : 18]> f (a, c) => (r) {
        r = If (c) <then_branch = t () => (p) { p = Exp (a) },
                    else_branch = e () => (q) { q = Abs (a) }> }"""
    found = sl.inspect(onnx.parser.parse_model(text))
    assert [construct.outcome for construct in found.constructs] == ["rewritten"]


def test_all_nodes_are_counted(model):
    assert count_all_nodes(ir.load(model)) == 4


def test_message_of_an_unchanged_model_is_a_copy_of_the_original(model, tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    for source in (model, path):
        job = run(Request(source, RewriteOptions(PASSES)))
        message = job.message()
        assert job.is_original and message is not job.request.original
        assert message == model == ir.to_proto(job.model)
        message.graph.name = "other"
        assert job.message().graph.name == model.graph.name


@pytest.mark.parametrize("where", ["graph", "body"])
def test_message_of_a_model_out_of_order_is_sorted(model, where):
    graph = model.graph
    if where == "body":
        body = graph.node[0].attribute[0].g
        body.node.add(op_type="Relu", input=["r"], output=["last"])
        body.output[1].name = "last"
        graph = body
    nodes = list(graph.node)
    nodes.insert(0, nodes.pop())
    del graph.node[:]
    graph.node.extend(nodes)
    assert sl.rewrite(model, PASSES, verify=False) == ir.to_proto(ir.load(model)) != model


@table({"values": {"n": 2}}, {"shapes": {"x": (2,)}}, {"assume_max": {"z": 3}})
def test_message_of_a_bound_model_is_its_own(fixed, model):
    job = run(Request(model, RewriteOptions.of(passes="inline-ifs", **fixed)))
    assert not job.is_original and job.message() == ir.to_proto(job.model)


@table(
    ("y = Neg (x)", (13, 21), 8, True),
    ("y = Neg (x)", (13, 21), 3, False),  # initializers stop being inputs
    ("y = Reshape <allowzero = 0> (x, k)", (14, 13), 8, False),  # an attribute alone changes
    ("y = ReduceMax <axes = [0]> (x)", (13, 18), 8, False),
    ("y = Slice (x, k, k)", (13, 10), 8, False),  # a declaration comes
    ("y = own.F (x)", (13, 21), 8, False),  # a function has imports of its own
)
def test_a_conversion_that_changes_no_node_keeps_the_graph(nodes, opsets, ir_version, is_kept):
    text = f"""<ir_version: {ir_version}, opset_import: ["" : {opsets[0]}, "own" : 1]>
    g (float[2, N] x{", int64[1] k" if ir_version == 3 else ""}) => (float[P, Q] y)
    <int64[1] k = {{-1}}> {{ [name] {nodes.replace("y =", "t =")} [last] y = Identity (t) }}"""
    function = f"""<domain: "own", opset_import: ["" : {opsets[0]}]>
    F (a) => (b) {{ [one] b = Neg (a) }}"""
    model = onnx.parser.parse_model(text + (function if "own.F" in nodes else ""))
    job = run(Request(model, RewriteOptions.of(passes=(), opset=opsets[1])))
    assert job.is_original is is_kept and job.changed
    message = job.message()
    assert message == ir.to_proto(job.model)
    assert message.opset_import[0].version == opsets[1]


def test_a_conversion_of_the_ir_version_alone_changes_the_message(model):
    changed = sl.transform(model, (), opset=model.opset_import[0].version, ir_version=9)
    assert changed.changed and changed.model.ir_version == 9 != model.ir_version
