"""Element types that follow from schemas alone."""

import onnx
from harness import as_model
from straightline import ir
from straightline.ops import schema_queries
from straightline.ops.schema_queries import ElementTypes
from tables import table

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
