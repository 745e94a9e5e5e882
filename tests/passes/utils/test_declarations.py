import numpy as np
import onnx
import pytest
import straightline as sl
from harness import as_model, assert_equal_outputs, run_in_onnxruntime
from onnx import parser
from sessions import outputs
from straightline import ir
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.passes import Pipeline, parse_pipeline
from straightline.passes.utils.declarations import correct_type

HEAD = '<ir_version: 10, opset_import: ["" : 18, "l" : 1]>\n'
X = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}
# An If whose branches differ in rank gives out something of a rank that nobody knows.
HIDDEN = """
   z = If (yes) <
      then_branch = t () => (float[2,3] a) { a = Neg (x) },
      else_branch = e () => (float[1,2,3] b) <int64[1] first = {0}> { b = Unsqueeze (x, first) }>
"""
EXPOSED = {
    "behind it": """g (float[2,3] x) => (float[A,B] y)
        <bool yes = {1}, float[6] q, int64[2] flat = {-1, 1}> {"""
    + HIDDEN
    + "q = Neg (z) y = Reshape (q, flat) }",
    "a size": """g (float[2,3] x) => (float[A,B] y)
        <bool yes = {1}, float[2,5] q, int64[2] flat = {-1, 1}> {"""
    + HIDDEN
    + "q = Neg (z) y = Reshape (q, flat) }",
    "in a branch": """g (float[2,3] x, bool d) => (float[A,B] y)
        <bool yes = {1}, int64[2] flat = {-1, 1}> {"""
    + HIDDEN
    + """y = If (d) <then_branch = t2 () => (float[A,B] a2) <float[6] q> {
                        q = Neg (z)  a2 = Reshape (q, flat) },
                    else_branch = e2 () => (float[6] b2) { b2 = Neg (z) }> }""",
    "carried by a Loop": """g (float[2,3] x, int64 n) => (float[A,B] y) <bool yes = {1}> {"""
    + HIDDEN
    + """y = Loop (n, yes, z) <body = l (int64 i, bool c, float[6] k)
             => (bool d, float[6] m) <float[6] q> {
             d = Identity (c)  q = Neg (k)  m = Neg (q) }> }""",
    "scanned": """g (float[2,3] x) => (float[A] y) <bool yes = {1}> {"""
    + HIDDEN
    + """y = Scan <num_scan_inputs = 1, body = l (float[2,2] k) => (float m) {
             m = ReduceSum <keepdims = 0> (k) }> (z) }""",
    "given by a Loop": """g (float[2,3] x) => (float[A,B] y)
        <int64 two = {2}, bool yes = {1}, int64[2] flat = {-1, 1}, float[6] q> {
        z = Loop (two, yes, x) <body = l (int64 i, bool c, float[N,M] k) => (bool d, float[N,M] m) {
           d = Identity (c)  m = Neg (k) }>
        q = Neg (z)  y = Reshape (q, flat) }""",
    "the Loop's own": """g (float[2,3] x) => (float[A,B] y)
        <int64 two = {2}, bool yes = {1}, int64[2] flat = {-1, 1}, float[6] z> {
        z = Loop (two, yes, x) <body = l (int64 i, bool c, float[N,M] k) => (bool d, float[N,M] m) {
           d = Identity (c)  m = Neg (k) }>
        y = Reshape (z, flat) }""",
    "of a sequence": """g (float[2,3] x) => (float[A,B] y)
        <int64 one = {1}, float[6] z, int64[1] first = {0}, int64[2] flat = {-1, 1}> {
        u = Unsqueeze (x, first)
        s = SequenceConstruct (u, x)  z = SequenceAt (s, one)  y = Reshape (z, flat) }""",
}


def parse(text):
    model = onnx.parser.parse_model(HEAD + text)
    onnx.checker.check_model(model, full_check=True)
    return model


@pytest.mark.parametrize("case", EXPOSED)
def test_inferred_types_replace_false_declarations(case):
    model = parse(EXPOSED[case])
    result = parse_pipeline("straighten").run(model)
    assert result.changed
    onnx.checker.check_model(result.model, full_check=True)
    feeds = dict(X)
    for info in model.graph.input[1:]:
        feeds[info.name] = np.array(1, np.int64 if info.name == "n" else np.bool_)
    assert_equal_outputs(model, result.model, feeds)
    loaded = ir.load(result.model)
    assert not parse_pipeline("straighten").apply(loaded).changed


def test_sizes_and_symbols_that_are_not_false_stay():
    model = parse(
        """g (float[2,3] x, float[N,3] w) => (float[A,B] y)
        <bool yes = {1}, float[N,7] q, float[2,B] r, int64[2] flat = {-1, 1}> {"""
        + HIDDEN
        + """v = Concat <axis = 0> (z, w)  q = Neg (v)  s = Reshape (q, flat)
             r = Neg (z)  t = Reshape (r, flat)  y = Concat <axis = 0> (s, t) }"""
    )
    result = parse_pipeline("inline-ifs").run(model)
    onnx.checker.check_model(result.model, full_check=True)
    infos = {info.name: info.type for info in result.model.graph.value_info}
    dims = {
        name: [d.dim_value or d.dim_param for d in type_.tensor_type.shape.dim]
        for name, type_ in infos.items()
    }
    assert dims["q"] == ["N", 3]
    assert dims["r"] == [2, "B"]


@pytest.mark.parametrize("declared", ["float[6]", "float[2,5]", "float[2,3,1]"])
def test_a_false_output_declaration_is_corrected_with_a_remark(declared):
    text = f"g (float[2,3] x) => ({declared} y) <bool yes = {{1}}> {{ {HIDDEN} y = Neg (z) }}"
    model = parse(text)
    result = parse_pipeline("inline-ifs").run(model)
    assert not result.kept
    assert [str(remark) for remark in result.remarks if remark.action == "noted"] == [
        f"Neg 'y': noted, the output 'y' was declared as {declared}, but is float[2,3];"
        " which is declared now"
    ]
    onnx.checker.check_model(result.model, full_check=True)
    (info,) = result.model.graph.output
    assert info.name == "y" and [d.dim_value for d in info.type.tensor_type.shape.dim] == [2, 3]
    assert_equal_outputs(result.model, result.model, X)
    verdict = sl.verify(model, result.model)
    assert verdict.equal, verdict


def test_a_false_declaration_behind_a_loop_is_corrected():
    model = parse("""g (float[2,3] x) => (float[6] y) <int64 two = {2}, bool yes = {1}> {
        z = Loop (two, yes, x) <body = l (int64 i, bool c, float[N,M] k) => (bool d, float[N,M] m) {
           d = Identity (c)  m = Neg (k) }>
        y = Neg (z) }""")
    result = parse_pipeline("straighten").run(model)
    onnx.checker.check_model(result.model, full_check=True)
    assert "was declared as float[6]" in result.remarks[-1].reason


def test_a_scan_output_is_declared_as_it_is():
    """Without iterations it would have the sizes that the body declares: they were false, and full
    checking refuses them where what is inferred is plain to see."""
    text = (
        "g (float[2,3] x, int64 n) => (int64 y) <bool yes = {1}> {"
        + HIDDEN
        + """o = Loop (n, yes) <body = l (int64 i, bool c) => (bool d, float[6] m) {
             d = Identity (c)  m = Neg (z) }>
             y = Size (o) }"""
    )
    result = parse_pipeline("inline-ifs").run(parse(text))
    onnx.checker.check_model(result.model, full_check=True)
    (loop,) = [node for node in result.model.graph.node if node.op_type == "Loop"]
    dims = loop.attribute[0].g.output[1].type.tensor_type.shape.dim
    assert [d.dim_value for d in dims] == [2, 3]


def test_element_types_and_kinds_too():
    make = onnx.helper.make_tensor_type_proto
    fact = Fact(onnx.TensorProto.INT64, (Dimension.constant(2), Dimension.symbol("?0")))
    assert correct_type(make(onnx.TensorProto.FLOAT, (2, "N")), fact) == make(
        onnx.TensorProto.INT64, (2, "N")
    )
    sequence = onnx.helper.make_sequence_type_proto(make(onnx.TensorProto.INT64, None))
    assert correct_type(sequence, fact) == make(onnx.TensorProto.INT64, (2, None))
    assert correct_type(make(onnx.TensorProto.INT64, (2,)), Fact(other=sequence)) == sequence
    assert correct_type(sequence, Fact(other=sequence)) == sequence
    unknown = make(onnx.TensorProto.FLOAT, (2,))
    assert correct_type(unknown, Fact()) == unknown
    assert correct_type(onnx.TypeProto(), fact) == onnx.TypeProto()


def test_a_model_that_no_pass_changes_is_not_looked_at():
    text = "g (float[2,3] x) => (float[A,B] y) <float[2,4] q> { q = Neg (x)  y = Neg (q) }"
    model = onnx.parser.parse_model(HEAD + text)
    result = Pipeline([parse_pipeline("straighten").passes[0]]).run(model)
    assert not result.changed
    assert result.model == model


def test_a_function_whose_caller_decides_is_passed_over():
    text = (
        "g (float[2,3] x) => (float[A,B] y) <bool yes = {1}> {"
        + HIDDEN
        + """y = l.rows <count = 1> (z) }
        <opset_import: ["" : 18], domain: "l"> rows <count> (v) => (w) {
           w = Scan <num_scan_inputs : int = @count, body = r (k) => (m) { m = Neg (k) }> (v) }"""
    )
    loaded = ir.load(onnx.parser.parse_model(HEAD + text))
    parse_pipeline("inline-ifs").apply(loaded)
    ir.verify(loaded)


def test_facts_of_vectorizing_correct_other_declarations():
    left = """g (float[N,3] x, float[3] h) => (float[N,3] y, float[A] last) {
        last, y = Scan <num_scan_inputs = 1,
            body = b (float[5] k, float[3] e) => (float[6] m, float[3] r) {
            r = Exp (e) s = Add (k, r) m = Tanh (s) }> (h, x) }"""
    model = onnx.parser.parse_model(HEAD + left)
    result = parse_pipeline("vectorize-loops").run(model).model
    exp, scan = result.graph.node
    assert (exp.op_type, scan.op_type) == ("Exp", "Scan")
    body = next(attribute.g for attribute in scan.attribute if attribute.name == "body")
    declared = [info.type.tensor_type.shape.dim[0] for info in (*body.input, *body.output)]
    assert [dim.dim_value for dim in declared] == [3, 3, 3]
    x = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "h": np.zeros(3, np.float32)}
    assert_equal_outputs(result, result, x)


def test_an_output_of_a_scan_body_gets_its_rank():
    """onnxruntime refuses a Scan whose body has an output of a rank that it does not infer."""
    model = onnx.parser.parse_model(
        HEAD
        + """g (float[N,3] x, float[3] s0) => (float[3] s, y) <bool yes = {1}> {
        s, y = Scan <num_scan_inputs = 1, body = b (float[3] a, float[3] e) => (float[3] t, r) {
            t = Add (a, e)
            r = If (yes) <then_branch = p () => (u) { u = Neg (t) },
                else_branch = q () => (v) { v = Exp (t) }> }> (s0, x) }"""
    )
    result = parse_pipeline("inline-ifs").run(model).model
    (scan,) = [node for node in result.graph.node if node.op_type == "Scan"]
    state, row = (
        info.type.tensor_type
        for info in next(a.g for a in scan.attribute if a.name == "body").output
    )
    assert [dim.dim_value for dim in state.shape.dim] == [3]
    assert row.HasField("shape") and len(row.shape.dim) == 1 and row.elem_type == 1


def output_sizes(model):
    tensor = model.graph.output[0].type.tensor_type
    dims = [dim.dim_param or dim.dim_value for dim in tensor.shape.dim]
    return dims if tensor.HasField("shape") else None


@pytest.mark.parametrize(
    ("declared", "wanted"),
    {"float": ["N", 4], "float[N, 4]": ["N", 4], "float[A, B]": ["A", "B"],
     "float[?, ?]": [0, 4]}.items(),
)  # fmt: skip
def test_an_output_is_declared_as_far_as_it_is_known(declared, wanted):
    """OpenCV refuses an output without a shape, and compilers of static shapes an open one."""
    model = onnx.parser.parse_model(
        HEAD + f"g (float[N, 4] x) => ({declared} y) <int64 n = {{2}}, bool yes = {{1}}> {{"
        " y = Loop (n, yes, x) <body = b (int64 i, bool c, float[N, 4] s)"
        " => (bool d, float[N, 4] e) { d = Identity (c) e = Neg (s) }> }"
    )
    if declared == "float":
        model.graph.output[0].type.tensor_type.ClearField("shape")
    assert output_sizes(sl.rewrite(model)) == wanted


@pytest.mark.parametrize("options", [{"shapes": {"x": [3, 4]}}, {"dims": {"N": 3}}])
def test_a_flat_model_of_fixed_inputs_declares_the_sizes_of_its_outputs(options):
    model = onnx.parser.parse_model(HEAD + "g (float[N, 4] x) => (float[U, 4] y) { y = Neg (x) }")
    assert output_sizes(sl.rewrite(model, **options)) == [3, 4]
    assert output_sizes(sl.rewrite(model)) == ["U", 4]


def test_an_output_of_unknown_size_keeps_the_name_of_its_own():
    model = onnx.parser.parse_model(
        HEAD + "g (float[N] x) => (float[found] y) { c = Cast <to = 9> (x) y = Compress (x, c) }"
    )
    assert output_sizes(sl.rewrite(model, shapes={"x": [3]})) == ["found"]


MODEL = """<ir_version: 8, opset_import: ["" : 12]>
g (float[n, 1] x, bool p) => (float[n, 1] y, float[q, 1] z) <int64[1] s = {1},
    int64[1] e = {9223372036854775807}, int64[1] a = {0}, float k = {3}, bool[1] c = {1}> {
    t = Slice (x, s, e, a) w = Where (c, k, t) v = Sqrt (x) y = Sqrt (v)
    z = If (p) <then_branch = th () => (float[q1, 1] th1) { th1 = Neg (w) },
                else_branch = el () => (float[q2, 1] el1) { el1 = Abs (w) }> }"""
FEEDS = {"x": np.ones((3, 1), np.float32), "p": np.array(True)}


def declared(model):
    return {
        info.name: [dim.dim_param or dim.dim_value for dim in info.type.tensor_type.shape.dim]
        for info in model.graph.value_info
    }


@pytest.mark.parametrize("optimized", [False, True])
def test_a_converted_model_runs(optimized):
    model = sl.convert_version(parser.parse_model(MODEL), 10)
    assert declared(model) == {"t": ["sliced_1", 1]}
    expected = outputs(parser.parse_model(MODEL), FEEDS)
    for one, other in zip(outputs(model, FEEDS, optimized=optimized), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_other_opsets_and_static_sizes_need_none():
    for opset in (9, 11):
        assert not declared(sl.convert_version(parser.parse_model(MODEL), opset))
    static = MODEL.replace("float[n, 1]", "float[3, 1]").replace("[q,", "[m,")
    assert not declared(sl.convert_version(parser.parse_model(static), 10))


def test_a_name_that_is_taken_is_left_alone():
    model = sl.convert_version(parser.parse_model(MODEL.replace("[q,", "[sliced_1,")), 10)
    assert declared(model) == {"t": ["sliced_2", 1]}


def test_a_declaration_without_a_name_gets_one():
    """Two Slices of different lengths shared memory, and the run failed."""
    text = """<ir_version: 5, opset_import: ["" : 10]>
    g (float[N, 3] x, float[3] s0) => (float[3] last, float[T, 3] every)
            <float low = {-1}, float high = {1}> {
        last, every = Scan <num_scan_inputs = 1, body = b (float[3] s, float[3] e)
            => (float[3] t, float[3] r) {
            a = Add (s, e) c = Max (a, low) t = Min (c, high) r = Identity (t) }> (s0, x) }"""
    old = parser.parse_model(text)
    model = sl.transform(old, "accelerate", verify=False).model
    assert "Scan" not in [node.op_type for node in model.graph.node]
    for length in (1, 2, 7):
        x = np.random.default_rng(length).normal(size=(length, 3)).astype(np.float32)
        feeds = {"x": x, "s0": np.array([0.5, -3, 0], np.float32)}
        expected = outputs(old, feeds)
        for one, other in zip(outputs(model, feeds), expected, strict=True):
            np.testing.assert_allclose(one, other, 1e-5, 1e-5)


def test_an_inlined_body_of_a_map_has_types():
    """onnxruntime requires them in a graph, unlike in a function."""
    model = as_model("""<ir_version: 8, opset_import: ["" : 17, "d" : 1]>
        g (seq(float[N]) s) => (float[K] y) { t = d.f (s) y = ConcatFromSequence <axis = 0> (t) }
        <domain: "d", opset_import: ["" : 17]> f (s) => (t) {
            t = SequenceMap <body = b (e) => (o) { o = Neg (e) }> (s) }""")
    after = sl.transform(model, passes="inline-functions{always=true}").model
    assert not after.functions
    feeds = {"s": [np.ones(2, np.float32)] * 2}
    np.testing.assert_array_equal(run_in_onnxruntime(after, feeds)[0], -np.ones(4))
