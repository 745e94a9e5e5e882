from harness import as_model
from straightline import ir
from straightline.analysis.shapes.inference import ShapeInference
from straightline.analysis.shapes.ranks import Ranks
from tables import table

HEAD = '<ir_version: 8, opset_import: ["" : {}, "other" : 1]>\n'
SIGNATURE = (
    "float s, float[3] v, float[2,3] x, float[2,3,3] c, float[1,2,4,4] image, int64[2] n, int64 i,"
    " bool[3] b, untyped"
)
CONSTANTS = (
    "int64[3] dims = {1, 2, 3}, int64[1] first = {0}, int64[2] both = {0, -1},"
    " int64[2] alike = {1, -1}, float[2,2,1,1] kernel = {1, 2, 3, 4}, int64[0] none = {}"
)


def ranks(nodes, opset=18, head=HEAD, functions=""):
    """The ranks of the values of a graph by name, with those of its inputs alone given, and what
    inference of shapes says of each."""
    text = f"g ({SIGNATURE}) => (y) <{CONSTANTS}> {{ {nodes} }} {functions}"
    model = ir.load(as_model(head.format(opset) + text))
    inference = ShapeInference(model)

    def inferred(value):
        shape = inference.fact(value).shape
        return None if shape is None else len(shape)

    found = Ranks(model, lambda value: inferred(value) if value.producer is None else None)
    values = [value for n in model.graph.nodes() for value in n.outputs if value]
    return {v.name: (found.of(v), inferred(v)) for v in reversed(values)}


@table(
        ("a = Neg (x) h = Exp (a) y = Softmax (h)", 2),
        ("y = Add (s, c)", 3),
        ("a = Cast <to = 1> (b) y = Where (b, a, x)", 2),
        ("y = Transpose (c)", 3),
        ("y = MatMul (v, v)", 0),
        ("y = MatMul (x, v)", 1),
        ("y = MatMul (v, c)", 2),
        ("y = MatMul (x, c)", 3),
        ("y = Gather (c, i)", 2),
        ("y = Gather (c, x)", 4),
        ("y = Reshape (x, dims)", 3),
        ("a = Shape (c) y = Reshape (c, a)", 3),
        ("a = Unsqueeze (i, first) h = Concat <axis = 0> (a, a, dims, n) y = Reshape (c, h)", None),
        ("a = Unsqueeze (i, first) h = Concat <axis = 0> (a, a, dims) y = Reshape (c, h)", 5),
        ("a = Shape (c) h = Cast <to = 7> (a) y = ConstantOfShape (h)", 3),
        ("y = Expand (v, dims)", 3),
        ("y = Expand (image, dims)", 4),
        ("y = Unsqueeze (x, both)", 4),
        ("y = Squeeze (c, first)", 2),
        ("y = Squeeze (x, alike)", 1),
        ("y = Squeeze (x)", None),
        ("y = ReduceSum (x, first)", 2),
        ("y = ReduceSum <keepdims = 0> (c, both)", 1),
        ("y = ReduceSum <keepdims = 0> (c)", 0),
        ("y = ReduceSum <keepdims = 0> (c, none)", 0),
        ("y = ReduceSum <keepdims = 0, noop_with_empty_axes = 1> (c)", 3),
        ("y = ReduceSum <keepdims = 0> (c, n)", None),
        ("y = ReduceMax <keepdims = 0, axes = [1]> (c)", 2),
        ("y = ArgMax <keepdims = 0> (c)", 2),
        ("y = Flatten (image)", 2),
        ("y = Conv (image, kernel)", 4),
        ("a, y = Split <axis = 1, num_outputs = 2> (image)", 4),
        ("y = OneHot (n, i, v)", 2),
        ("y = Size (x)", 0),
        ("y = Neg (untyped)", None),
        ("a, y = BatchNormalization <training_mode = 1> (image, n, n, n, n)", None),
        ("y = other.Softmax (x)", None),
        ("y = Unheard (x)", None),
        ("y = ai.onnx.Neg (x)", 2),
        ("y = Constant <value_ints = [3, 4]> ()", 1),
        ("y = If (b) <then_branch = t () => (p) { p = Neg (x) },"
         " else_branch = e () => (q) { q = Neg (x) }>", None))  # fmt: skip
def test_a_rank_follows_from_an_operator(nodes, rank):
    found, inferred = ranks(nodes)["y"]
    assert found == rank
    assert inferred in (rank, None) or rank is None


def test_axes_that_are_attributes():
    assert ranks("y = Squeeze <axes = [0, 1]> (c)", opset=11)["y"][0] == 1
    assert ranks("y = Unsqueeze <axes = [0, 1]> (c)", opset=11)["y"][0] == 5
    assert ranks("y = ReduceSum <keepdims = 0, axes = [0]> (c)", opset=11)["y"][0] == 2


def test_operands_that_meet_by_an_attribute_have_the_rank_of_the_first():
    assert ranks("y = Add <broadcast = 1, axis = 1> (image, v)", opset=6)["y"][0] == 4


def test_ranks_without_a_rule_are_asked_of_the_caller():
    model = ir.load(
        as_model(HEAD.format(18) + "g (x) => (y) { a = other.Strange (x) h = Neg (a) y = Exp (h) }")
    )
    asked = []

    def beyond(value):
        asked.append(value.name)
        return 3 if value.name == "a" else None

    found = Ranks(model, beyond)
    (y,) = model.graph.outputs
    assert (found.of(y), found.of(y)) == (3, 3)
    assert asked == ["a"]


def test_an_unknown_rank_is_asked_again_with_new_facts():
    model = ir.load(as_model(HEAD.format(18) + "g (x) => (y) { a = Neg (x) y = Add (a, a) }"))
    asked, known = [], {}

    def beyond(value):
        asked.append(value.name)
        return known.get(value.name)

    found = Ranks(model, beyond)
    (y,), (x,) = model.graph.outputs, model.graph.inputs
    assert (found.of(y), found.of(y)) == (None, None)
    assert asked == ["x", "a", "y"]
    known["x"] = 2
    found.forget(x)
    assert (found.of(x), found.of(y)) == (2, None)


def test_a_function_of_the_default_domain_hides_the_operator():
    functions = '<opset_import: ["" : 18], domain: "">\nNeg (p) => (q) { q = Flatten (p) }'
    assert ranks("y = Neg (c)", functions=functions)["y"][0] is None


def test_ladders_of_joins_take_linear_time():
    nodes = ["a0 = Neg (x)"]
    nodes += [f"a{n + 1} = Add (a{n}, a{n})" for n in range(2_000)]
    nodes += ["y = MatMul (a2000, a2000)"]
    assert ranks(" ".join(nodes))["y"][0] == 2
