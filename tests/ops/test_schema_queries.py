"""No pass makes a node that the opset has not: every element type, in every opset where the
operators that passes write with take fewer types than the constructs that they take apart."""

import numpy as np
import onnx
import pytest
from harness import as_model, assert_equal_outputs
from straightline import ir
from straightline.ops import schema_queries
from straightline.ops.builder import Builder
from straightline.ops.schema_queries import ElementTypes, formals, schema_at, type_fault, type_text
from straightline.passes import RewriteError, parse_pipeline
from tables import table

OPSETS = (1, 3, 4, 7, 8, 9, 10, 11, 12, 13, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 26)
ELEMENT_TYPES = [
    onnx.TensorProto.DataType.Name(number).lower()
    for number in onnx.TensorProto.DataType.values()
    if number
]
FIRST_TYPES = ELEMENT_TYPES[:15]
"""Those that there are in every opset."""
LOOP = """g (T[2] x) => (T[2] s, T[N,2] y) <int64 m = {ITERATIONS}, bool yes = {1}> {
   s, y = Loop (m, yes, x) <body = b (int64 i, bool c, T[2] a) => (bool d, T[2] n, T[2] w) {
      d = Identity (c)  n = Identity (a)  w = Identity (a) }> }"""
SCAN = """g (T[2] s, T[ITERATIONS,2] x) => (T[2] f, T[ITERATIONS,2] y) {
   f, y = Scan <num_scan_inputs = 1, body = b (T[2] a, T[2] e) => (T[2] n, T[2] w) {
      n = Identity (e)  w = Identity (e) }> (s, x) }"""
SCAN_8 = """g (T[B,2] s, T[B,ITERATIONS,2] x GIVEN) => (T[B,2] f, T[B,ITERATIONS,2] y) LENGTHS {
   f, y = Scan <num_scan_inputs = 1, body = b (T[2] a, T[2] e) => (T[2] n, T[2] w) {
      n = Identity (e)  w = Identity (e) }> (ROWS, s, x) }"""
SEQUENCE = """g (T[2,2] x, T[2] z) => (T[3,2] y, T[2] p, T[4] q)
<int64 one = {1}, int64[2] sizes = {1, 1}> {
   s = SplitToSequence <axis = 0, keepdims = 0> (x)
   u = SequenceInsert (s, z)
   y = ConcatFromSequence <axis = 0, new_axis = 1> (u)
   p = SequenceAt (u, one)
   t = SplitToSequence <axis = -1> (x, sizes)
   v = ConcatFromSequence <axis = -1> (t)
   o = SequenceConstruct (p, z)
   q = ConcatFromSequence <axis = -1> (o) }"""
WHILE = """g (T[2] x, bool[8] l) => (T[2] s, T[N,2] y) <int64 m = {2}, bool yes = {1}> {
   s, y = Loop (m, yes, x) <body = b (int64 i, bool c, T[2] a) => (bool d, T[2] n, T[2] w) {
      d = Gather (l, i)  n = Identity (a)  w = Identity (a) }> }"""
CARRYING = (
    WHILE.replace(", T[N,2] y) ", ") ").replace("s, y =", "s =").replace(", T[2] w) {", ") {")
)
CARRYING = CARRYING.replace("  w = Identity (a)", "")
CHOICE = """g (bool c, T[2] x, T[2] z) => (T[2] y) {
   y = If (c) <then_branch = t () => (T[2] a) { a = Identity (x) },
               else_branch = e () => (T[2] b) { b = Identity (z) }> }"""
KNOWN_CHOICE = CHOICE.replace("bool c, ", "").replace("{", "<bool c = {1}> {", 1)
ROWS = """g (T[2] x, bool[8] l) => (T[N,2] y) <int64 iterations = {2}, bool yes = {1}> {
   y = Loop (iterations, yes) <body = b (int64 i, bool c) => (bool d, T[2] w) {
      d = Gather (l, i)  w = Identity (x) }> }"""
INVARIANT = """g (T[2] x, bool[8] l) => (T[2] s, T[2] r) <int64 iterations = {2}, bool yes = {1}> {
   s, r = Loop (iterations, yes, x, x) <body = b (int64 i, bool c, T[2] a, T[2] k)
      => (bool d, T[2] n, T[2] m) { d = Gather (l, i)  n = Identity (k)  m = Identity (k) }> }"""
LIKE = """g (T[1] x) => (T[1] y, T[1] z) <float[1] one = {1.0}> {
   y = CastLike (one, x)
   z = Identity (x) }"""


def batch(size, given="", lengths="", rows=""):
    text = SCAN_8.replace("B", str(size)).replace("GIVEN", given).replace("LENGTHS", lengths)
    return text.replace("ROWS", rows).replace("ITERATIONS", "2")


def valid(model):
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
        return False
    return True


@pytest.mark.sample(2)
@table(
    ("one iteration", "unroll-loops", LOOP.replace("ITERATIONS", "1")),
    ("two iterations", "unroll-loops", LOOP.replace("ITERATIONS", "2")),
    ("no iterations", "unroll-loops", LOOP.replace("ITERATIONS", "0")),
    ("one element", "unroll-scans", SCAN.replace("ITERATIONS", "1")),
    ("two elements", "unroll-scans", SCAN.replace("ITERATIONS", "2")),
    ("a batch", "unroll-scans", batch(2)),
    ("short rows", "unroll-scans", batch(2, lengths="<int64[2] l = {1, 2}>", rows="l")),
    ("sequences", "lower-sequences,eliminate-dead-nodes", SEQUENCE),
    ("an end at run time", "predicate-loops", WHILE),
    ("rows to an end", "predicate-loops", ROWS),
    ("carried to an end", "predicate-loops", CARRYING),
    ("a choice at run time", "ifs-to-selects", CHOICE),
    ("a known choice", "inline-ifs", KNOWN_CHOICE),
    ("an invariant", "forward-invariants", INVARIANT),
    ("like another", "fold-constants", LIKE),
    ("straightened", "straighten", LOOP.replace("ITERATIONS", "2")),
)
def test_emitted_nodes_fit_each_opset(case, pipeline, text):
    tried = 0
    for opset in OPSETS:
        for elem_type in ELEMENT_TYPES:
            model = parse(opset, text.replace("T[", f"{elem_type}["))
            if not valid(model):
                continue
            tried += 1
            result = rewritten(model, pipeline)
            assert result.changed or result.kept, (opset, elem_type)
    assert tried >= len(FIRST_TYPES)


def parse(opset, text):
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')


def rewritten(model, pipeline):
    loaded = ir.load(model)
    result = parse_pipeline(pipeline).apply(loaded)
    ir.verify(loaded)
    onnx.checker.check_model(ir.to_proto(loaded), full_check=True)
    return result


def reasons(opset, text, pipeline):
    return [remark.reason for remark in rewritten(parse(opset, text), pipeline).kept]


def test_the_remark_names_the_type_and_the_operator():
    text = LOOP.replace("ITERATIONS", "2")
    assert reasons(20, text.replace("T[", "float8e5m2["), "unroll-loops") == [
        "its scan output 'y' is of type float8e5m2, which Unsqueeze does not support in opset 20"
    ]
    assert any(
        one.endswith("'y' is of type int64, which Concat does not support in opset 3")
        for one in reasons(3, text.replace("T[", "int64["), "straighten")
    )


def test_an_output_that_nothing_reads_is_no_obstacle():
    text = """g (float8e5m2[2] x) => (float8e5m2[2] s) <int64 two = {2}, bool yes = {1}> {
       s, y = Loop (two, yes, x) <body = b (int64 i, bool c, float8e5m2[2] a)
          => (bool d, float8e5m2[2] n, float8e5m2[2] w) {
          d = Identity (c)  n = Identity (a)  w = Identity (a) }> }"""
    assert reasons(21, text, "unroll-loops") == []
    assert reasons(
        21,
        text.replace("two, yes", "two, c").replace("[2] x)", "[2] x, bool c)"),
        "predicate-loops",
    )


# The type of `w` does not follow: the operator that gives it is nobody's.
UNTYPED = """<ir_version: 10, opset_import: ["" : OPSET, "their" : 1]>
g (float[2] x) => (float[N,2] y) <int64 two = {2}, bool yes = {1}> {
   x_, y_ = Loop (two, yes, x) <body = b (int64 i, bool c, float[2] v) => (bool d, float[2] u, w) {
      d = Identity (c)  u = Neg (v)  w = their.own (x) }>
   y = their.other (y_) }"""


def test_a_type_that_is_not_known_is_taken_for_one_that_may_not_do():
    for opset, wanted in ((18, []), (21, ["Concat"]), (3, ["Concat"]), (19, ["Unsqueeze"])):
        model = onnx.parser.parse_model(UNTYPED.replace("OPSET", str(opset)))
        kept = parse_pipeline("unroll-loops").run(model).kept
        assert [remark.reason for remark in kept] == [
            f"its scan output 'y_' is of unknown type, and {name} does not support all"
            f" types in opset {opset}; declare it"
            for name in wanted
        ]


@pytest.mark.parametrize("inner", ["w = Identity (x)", "w = Shape (x)", "w = Identity (i)"])
def test_a_type_that_follows_need_not_be_declared(inner):
    text = UNTYPED.replace("OPSET", "21").replace("w = their.own (x)", inner)
    loaded = ir.load(onnx.parser.parse_model(text))
    assert not parse_pipeline("unroll-loops").apply(loaded).kept


NEGATIVE = """g (float[3,2] x) => (float[3,2] y) {
   y = Scan <num_scan_inputs = 1, scan_input_axes = [-1], scan_output_axes = [-1],
             body = b (float[3] e) => (float[3] w) { w = Neg (e) }> (x) }"""


@pytest.mark.parametrize("opset", [9, 10, 11, 12, 13])
def test_axes_are_counted_from_the_front_where_they_must_be(opset):
    model = parse(opset, NEGATIVE)
    loaded = ir.load(model)
    assert parse_pipeline("unroll-scans").apply(loaded).changed
    assert_equal_outputs(
        model, ir.to_proto(loaded), {"x": np.arange(6, dtype=np.float32).reshape(3, 2)}
    )
    axes = [n.attribute("axis") for n in loaded.graph.nodes() if n.is_op("Split", "Concat")]
    assert axes == ([1, 1] if opset < 11 else [-1, -1])


@pytest.mark.parametrize("opset, why", [(9, "axis -1 of 'e' counts from the end"), (11, None)])
def test_an_axis_of_a_rank_that_is_not_known(opset, why):
    text = f"""<ir_version: 8, opset_import: ["" : {opset}, "their" : 1]>
    g (float[3,2] x) => (float[N] y) {{
       e = their.own (x)
       z = Scan <num_scan_inputs = 2, scan_input_axes = [0, -1],
                 body = b (float[2] a, c) => (float[2] w) {{ w = their.mix (a, c) }}> (x, e)
       y = their.own (z) }}"""
    kept = parse_pipeline("unroll-scans").run(onnx.parser.parse_model(text)).kept
    found = [remark.reason for remark in kept]
    assert found == [] if why is None else why in found[0]


def test_a_cast_keeps_what_its_like_says_of_rounding():
    text = """<ir_version: 12, opset_import: ["" : 24]>
    g (float8e8m0[1] x) => (float8e8m0[1] y) <float[1] three = {3.0}> {
       y = CastLike <round_mode = "down", saturate = 0> (three, x) }"""
    loaded = ir.load(onnx.parser.parse_model(text))
    parse_pipeline("fold-constants").apply(loaded)
    (constant,) = [v.constant for v in loaded.graph.initializers if v.name != "three"]
    assert float(constant.numpy()[0]) == 2


def test_an_unchecked_element_type_is_refused():
    model = ir.load(parse(19, LOOP.replace("ITERATIONS", "2").replace("T[", "float8e5m2[")))
    emitter = Builder(model.graph)
    with pytest.raises(RewriteError, match=r"Unsqueeze of value .*float8e5m2 it does not"):
        emitter.unsqueeze(model.graph.inputs[0], 0, "row")
    old = ir.load(parse(9, NEGATIVE))
    with pytest.raises(RewriteError, match=r"Concat with axes \[-1\], which opset 9"):
        Builder(old.graph).concat([old.graph.inputs[0]] * 2, -1, "twice")
    with pytest.raises(RewriteError, match="needs Where, which opset 8"):
        Builder(ir.load(parse(8, CHOICE.replace("T[", "float["))).graph).add("Where", [], "none")


FLOAT, INT, NOTHING = ("x", ["tensor(float)"]), ("n", ["tensor(int64)"]), ("u", [])


@table(
    ("Add", [FLOAT, FLOAT], None),
    ("Add", [FLOAT, INT], "A is a tensor(float) and B a tensor(int64)"),
    ("Add", [FLOAT, NOTHING], None),
    ("Relu", [INT], "'n' is a tensor(int64), which Relu does not support in opset 13"),
    ("Constant", [None], None),  # absent inputs at the end may be written
    ("NoSuchOperator", [FLOAT], None),
)
def test_types_of_inputs(op_type, inputs, fault):
    found = type_fault(op_type, 13, inputs, [])
    assert (found is None) if fault is None else found is not None and fault in found


def test_an_operator_before_its_time_has_no_schema():
    assert schema_at("Gelu", 19) is None and schema_at("Gelu", 20) is not None
    assert [formal.name for formal in formals(schema_at("Gelu", 20))[0]] == ["X"]


def test_a_type_of_which_nothing_is_known_has_no_text():
    import onnx

    assert type_text(onnx.TypeProto()) == ""


FLOAT16, INT64, BOOL = onnx.TensorProto.FLOAT16, onnx.TensorProto.INT64, onnx.TensorProto.BOOL
HEAD = '<ir_version: 8, opset_import: ["" : 18, "other" : 1]>\n'


def types(nodes, signature="float16[2] x, int64[2] n, bool c, untyped", head=HEAD):
    """The element type of every value of a graph, by name."""
    model = ir.load(
        as_model(f"{head} g ({signature}) => (y) <float16[2] w = {{1, 2}}> {{ {nodes} }}")
    )
    found = ElementTypes()
    values = [*model.graph.inputs, *(v for n in model.graph.nodes() for v in n.outputs if v)]
    return {value.name: found.of(value) for value in reversed(values)}


@table(
    ("y = Neg (x)", FLOAT16),
    ("a = Neg (x) b = Exp (a) y = Abs (b)", FLOAT16),
    ("y = Neg (w)", FLOAT16),
    ("y = Cast <to = 10> (n)", FLOAT16),
    ("a = Cast <to = 7> (untyped) y = Neg (a)", INT64),
    ("y = Where (c, x, untyped)", FLOAT16),
    ("y = Where (c, n, n)", INT64),
    ("y = Gather (x, n)", FLOAT16),
    ("a, y = Split (n)", INT64),
    ("y = Expand (x, n)", FLOAT16),
    ("a, y = TopK (x, n)", INT64),
    ("y = Less (x, x)", BOOL),
    ("y = Neg (untyped)", None),
    ("y = other.Strange (x)", None),
    ("y = Unheard (x)", None),
    ("y = ai.onnx.Neg (x)", FLOAT16),
    ("y = Constant <value_int = 3> ()", INT64),
    ("y = ConstantOfShape (n)", onnx.TensorProto.FLOAT),
    ("y = ConstantOfShape <value = int64[1] {3}> (n)", INT64),
    ("y = If (c) <then_branch = t () => (p) { p = Neg (x) },"
     " else_branch = e () => (q) { q = Neg (x) }>", FLOAT16))  # fmt: skip
def test_types_follow_from_an_input_of_the_same_type(nodes, elem_type):
    assert types(nodes)["y"] == elem_type


def test_element_types_are_cached_on_the_way():
    found = types("a = Neg (x) b = Exp (a) y = Abs (b) z = Cast <to = 9> (b) u = Not (z)")
    assert (found["a"], found["b"], found["y"]) == (FLOAT16,) * 3
    assert (found["z"], found["u"]) == (BOOL, BOOL)


def test_an_operator_that_the_version_lacks_tells_nothing():
    head = HEAD.replace("18", "7")
    assert types("y = Where (c, x, x)", head=head)["y"] is None
    assert types("y = Neg (x)", head=head)["y"] == FLOAT16


def test_both_names_of_the_default_domain():
    assert types("y = Neg (x)", head=HEAD.replace('"" : 18', '"ai.onnx" : 18'))["y"] == FLOAT16


def test_facts_hold_in_all_opsets():
    always = 0
    for op_type in sorted({schema.name for schema in onnx.defs.get_all_schemas()}):
        for position in range(3):
            lasting = schema_queries._lasting_output_type(op_type, "", position)
            if lasting is not None:
                always += 1
                each = [schema_queries._output_type(op_type, "", v, position) for v in range(1, 29)]
                assert set(each) == {lasting}
    assert always > 100


def test_several_values_at_once():
    model = ir.load(
        as_model(f"{HEAD} g (float16[2] x, untyped) => (y) {{ y = Clip (x, , untyped) }}")
    )
    found = ElementTypes()
    (node,) = model.graph.nodes()
    assert found.of_each(node.inputs) == found.of_each(node.inputs) == (FLOAT16, None, 0)
