import numpy as np
from harness import as_model, assert_rewrites, op_types, run_passes
from straightline.passes import EliminateDeadNodes, Pipeline


def test_nodes_and_constants_that_nothing_uses():
    x = {"x": np.array([1, -2], np.float32)}
    assert_rewrites(
        EliminateDeadNodes(),
        """g (float[2] x) => (float[2] y) <float[2] w = {1, 2}, float[2] v = {1, 2}> {
            y = Add (x, v) a = Exp (x) b = Mul (a, w) }""",
        "g (float[2] x) => (float[2] y) <float[2] v = {1, 2}> { y = Add (x, v) }",
        [x],
    )


def test_a_value_that_only_an_inner_body_reads_is_used():
    text = """g (float[2] x, int64 n) => (float[2] y) <float[2] w = {1, 2}> {
        a = Neg (w)
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] r) {
            c2 = Identity (c)
            r = If (c) <then_branch = t () => (float[2] u) { u = Add (s, a) },
                        else_branch = e () => (float[2] v) { v = Relu (s) }> }> }"""
    assert not run_passes(text, EliminateDeadNodes()).changed


def test_dead_inner_nodes_keep_nothing_alive():
    text = """g (float[2] x, int64 n) => (float[2] y) <float[2] w = {1, 2}> {
        a = Neg (w)
        y = Loop (n, , x) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] r) {
            c2 = Identity (c) dead = Add (s, a) r = Neg (s) }> }"""
    result = run_passes(text, EliminateDeadNodes())
    assert op_types(result.model) == ["Loop"]
    assert list(result.model.graph.initializer) == []


def test_inputs_and_their_defaults_stay():
    text = "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> { y = Neg (x) }"
    assert not run_passes(text, EliminateDeadNodes()).changed


def test_annotated_nodes_stay():
    model = as_model("g (float[2] x) => (float[2] y) { y = Neg (x) z = Exp (x) }")
    annotation = model.graph.quantization_annotation.add(tensor_name="z")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="x")
    assert not run_passes(model, EliminateDeadNodes()).changed


def test_in_functions():
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>\n'
    text = (
        head
        + """g (float[2] x) => (float[2] y) { y = local.f (x) }
        <domain: "local", opset_import: ["" : 17]> f (x) => (y) { y = Neg (x) z = Exp (x) }"""
    )
    result = run_passes(text, EliminateDeadNodes())
    assert [n.op_type for n in result.model.functions[0].node] == ["Neg"]


def test_removals_are_reported():
    head = '<ir_version: 8, opset_import: ["" : 17, "local" : 1]>'
    function = '<domain: "local", opset_import: ["" : 17]> f (a) => (r) { %s r = Neg (a) }'
    main = "g (float[2] x) => (float[2] y) { %s y = local.f (x) }"
    dead = "d = Abs (x)", "d = Abs (a)"
    for here, there in ((0, 0), (1, 0), (0, 1), (1, 1)):
        text = head + main % (dead[0] * here) + function % (dead[1] * there)
        result = Pipeline([EliminateDeadNodes()]).run(as_model(text))
        assert result.changed == bool(here or there)


def test_operands_of_pinned_nodes_stay():
    nodes = "y = Neg (x) a = Abs (x) z = Exp (a) u = Sin (z)"
    model = as_model(f"g (float[2] x) => (float[2] y) {{ {nodes} }}")
    annotation = model.graph.quantization_annotation.add(tensor_name="z")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="x")
    assert op_types(run_passes(model, EliminateDeadNodes()).model) == ["Neg", "Abs", "Exp"]
