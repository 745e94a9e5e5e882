from harness import as_model
from straightline import ir
from straightline.ops.randomness import draws_random_numbers, find_random
from tables import table


def node_of(text, opset=17):
    head = f'<ir_version: 8, opset_import: ["" : {opset}, "com.microsoft" : 1, "other" : 1]>\n'
    return ir.load(
        as_model(
            f"{head}g (float[2] x, bool t) => (float[2] y)"
            f" <bool yes = {{1}}, bool no = {{0}}, float h = {{0.5}}> {{ {text} }}"
        )
    ).graph.nodes()[0]


@table(
    ("y = RandomNormal <shape = [2]> ()", 17, True),
    ("y = RandomUniformLike (x)", 17, True),
    ("y = Bernoulli (x)", 17, True),
    ("y = Multinomial (x)", 17, True),
    ("y = Dropout (x)", 17, False),
    ("y = Dropout (x, h, yes)", 17, True),
    ("y = Dropout (x, h, no)", 17, False),
    ("y = Dropout (x, h, t)", 17, True),
    ("y = Dropout <ratio = 0.5> (x)", 7, False),
    ("y = Dropout <ratio = 0.5> (x)", 6, True),
    ("y = Dropout <ratio = 0.5, is_test = 1> (x)", 6, False),
    ("y = com.microsoft.BiasDropout (x)", 17, True),
    ("y = other.Dropout (x)", 17, False),
    ("y = Neg (x)", 17, False),
)
def test_operators(text, opset, random):
    assert draws_random_numbers(node_of(text, opset)) == random


def test_functions_and_bodies_are_searched():
    text = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[2] x, bool q) => (float[2] y) {
        y = If (q) <then_branch = t () => (float[2] u) { u = local.outer (x) },
                    else_branch = e () => (float[2] v) { v = Neg (x) }> }
    <domain: "local", opset_import: ["" : 17, "local" : 1]> outer (p) => (q) { q = local.inner (p) }
    <domain: "local", opset_import: ["" : 17]> inner (p) => (q) { q = RandomNormalLike (p) }"""
    model = ir.load(as_model(text))
    assert find_random(model.graph, model.functions).op_type == "RandomNormalLike"
    assert find_random(model.graph, {}) is None


def test_functions_that_call_each_other_end():
    text = """<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[2] x) => (float[2] y) { a = local.f (x) y = local.f (a) }
    <domain: "local", opset_import: ["" : 17]> f (p) => (q) { q = Neg (p) }"""
    model = ir.load(as_model(text))
    assert find_random(model.graph, model.functions) is None


def test_functions_are_searched_however_deep_they_call_each_other():
    chain = [f"f{i} (p) => (q) {{ q = local.f{i - 1} (p) }}" for i in range(1, 1_000)]
    head = '\n<domain: "local", opset_import: ["" : 17, "local" : 1]> '
    functions = "".join(head + f for f in ["f0 (p) => (q) { q = RandomNormalLike (p) }", *chain])
    model = ir.load(
        as_model(
            '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>'
            " g (float[2] x) => (float[2] y) { y = local.f999 (x) }" + functions
        )
    )
    assert find_random(model.graph, model.functions).op_type == "RandomNormalLike"
