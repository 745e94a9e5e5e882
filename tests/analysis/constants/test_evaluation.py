import numpy as np
from harness import as_model, op_types
from straightline import ir
from straightline.analysis.constants.evaluation import (
    MAX_ALL_ITERATIONS,
    MAX_ITERATIONS,
    construct_evaluator,
    single_node_model,
)
from straightline.ir import Tensor
from tables import table


def construct(nodes, function=""):
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1, "com.microsoft" : 1]>\n'
    text = f"{head}g (float x, int64 n, bool q, float w) => (float y) {{ {nodes} }}\n{function}"
    model = ir.load(as_model(text))
    return model.graph.nodes()[-1], model


def run(nodes, function="", **values):
    evaluator = construct_evaluator(*construct(nodes, function))
    known = {v: Tensor(array=np.array(values[v.name])) for v in evaluator.reads}
    results = evaluator.evaluate(known)
    return None if results is None else [r.numpy().item() for r in results]


IF = """y = If (q) <then_branch = t () => (float u) { u = Add (x, w) },
                    else_branch = e () => (float v) { v = Sub (x, w) }>"""
LOOP = """y = Loop (n, , x) <body = b (int64 i, bool c, float a) => (bool c2, float r) {
    c2 = Identity (c) r = Add (a, w)
}>"""
X, W = np.float32(5), np.float32(2)


def test_inputs_and_captured_values_are_fed():
    assert run(IF, x=X, w=W, q=True) == [7]
    assert run(IF, x=X, w=W, q=False) == [3]
    assert run(LOOP, x=X, w=W, n=3) == [11]


def test_calls_of_functions():
    function = '<domain: "local", opset_import: ["" : 17]> f (a, b) => (c) { c = Mul (a, b) }'
    assert run("y = local.f (x, w)", function, x=X, w=W) == [10]


def test_a_long_run_is_given_up_and_the_next_starts_afresh():
    evaluator = construct_evaluator(*construct(LOOP))
    known = {v.name: v for v in evaluator.reads}

    def evaluate(n):
        given = {"x": X, "w": W, "n": n}
        return evaluator.evaluate({v: Tensor(array=np.array(given[k])) for k, v in known.items()})

    assert evaluate(MAX_ITERATIONS + 1) is None
    assert evaluate(MAX_ITERATIONS) is not None
    assert evaluate(MAX_ITERATIONS) is not None
    left = MAX_ALL_ITERATIONS - 3 * MAX_ITERATIONS
    assert evaluate(left - MAX_ITERATIONS - 1) is not None
    assert evaluate(MAX_ITERATIONS) is not None
    assert evaluate(2) is None
    assert evaluate(1) is None and evaluate(0) is not None


@table(
    "y = Add (x, w)",
    IF.replace("Add (x, w)", "RandomUniformLike (x)"),
    IF.replace("Add (x, w)", "com.microsoft.Strange (x)"),
)
def test_refused_expressions(nodes):
    assert construct_evaluator(*construct(nodes)) is None


def test_a_construct_alone_reads_its_captures_as_inputs():
    proto = single_node_model(*construct(LOOP))
    assert len(proto.graph.input) == 3
    assert op_types(proto) == ["Loop"]
