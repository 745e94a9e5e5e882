import onnx
import pytest
from harness import as_model
from onnx import helper
from straightline import ir
from straightline.passes.functions.binding import bind, inline_call, obstacle
from straightline.passes.functions.calls import CallGraph
from tables import table

HEAD = '<ir_version: 10, opset_import: ["" : 18, "local" : 1]>\n'
LOCAL = '\n<domain: "local", opset_import: ["" : 18, "local" : 1]>\n'


def loaded(main, *functions, head=HEAD):
    return ir.load(as_model(head + main + "".join(LOCAL + text for text in functions)))


def first_call(model, root=None):
    graph = (root or model).graph
    return next(n for n in graph.nodes() if model.functions.get(n.op.function_key))


def bound(model):
    call = first_call(model)
    return bind(model.functions[call.op.function_key], call)


def why(model, root=None):
    """What stands in the way of the first call."""
    call = first_call(model, root)
    return obstacle(model.functions[call.op.function_key], call, CallGraph(model.functions))


# What a call binds --------------------------------------------------------------------------------


def test_symbols_of_a_function_mean_nothing_outside():
    tensor = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ["N", 3, None])
    types = {
        "tensor": tensor,
        "sequence": helper.make_sequence_type_proto(tensor),
        "optional": helper.make_optional_type_proto(helper.make_sequence_type_proto(tensor)),
        "map": helper.make_map_type_proto(onnx.TensorProto.INT64, tensor),
    }
    model = loaded("g (float[2] x) => (y) { y = local.f (x) }", "f (a) => (r) { r = Neg (a) }")
    (function,) = model.functions.values()
    for kind, type_ in types.items():
        (node,) = function.graph.nodes()
        node.output().info = helper.make_value_info("r", type_)
        function.graph.output_infos = (node.output().info,)
        copy = bound(model)
        infos = [copy.graph.nodes()[0].output().info, *copy.graph.output_infos]
        for info in infos:
            found = info.type
            while not found.HasField("tensor_type"):
                found = getattr(found, found.WhichOneof("value"))
                found = found.value_type if hasattr(found, "value_type") else found.elem_type
            dims = [d.dim_param or d.dim_value for d in found.tensor_type.shape.dim]
            assert dims == (["N", 3, 0] if kind == "map" else [0, 3, 0]), kind
        assert node.output().info.type == type_, "the function itself keeps them"


def test_attributes_are_those_of_the_call_or_the_default_or_absent():
    text = """f <to, axes, k: int = 7> (a) => (r) {
        c = Cast <to: int = @to> (a)
        s = Squeeze <axes: ints = @axes> (c)
        r = Foo <left: int = @k, own = 2> (s)
    }"""
    head = HEAD.replace("18", "12")
    model = loaded("g (float[1] x) => (y) { y = local.f <to = 6> (x) }", text, head=head)
    cast, squeeze, foo = bound(model).graph.nodes()
    assert (cast.attribute("to"), squeeze.attribute("axes")) == (6, None)
    assert (foo.attribute("left"), foo.attribute("own")) == (7, 2)
    assert not any(node.op.references for node in (cast, squeeze, foo))
    (function,) = model.functions.values()
    assert [n.op.references for n in function.graph.nodes()] == [True, True, True]
    model = loaded("g (x) => (y) { y = local.f <to = 6, axes = [0], k = 1> (x) }", text, head=head)
    _, squeeze, foo = bound(model).graph.nodes()
    assert (squeeze.attribute("axes"), foo.attribute("left")) == ([0], 1)


def test_inputs_that_are_left_out_are_absent_for_whoever_read_them():
    text = """f (a, low, high) => (r) {
        yes = Constant <value = bool {1}> ()
        r = If (yes) <then_branch = t () => (p) { p = Clip (a, low, high) },
                      else_branch = e () => (q) { q = Clip (a, high, low) }> }"""
    node = bound(loaded("g (float[2] x) => (y) { y = local.f (x) }", text)).graph.nodes()[-1]
    for name in ("then_branch", "else_branch"):
        (clip,) = node.body(name).nodes()
        assert clip.inputs[1:] == (None, None)
    kept = bound(loaded("g (float[2] x) => (y) { y = local.f (x, x) }", text)).graph.nodes()[-1]
    (clip,) = kept.body("then_branch").nodes()
    assert clip.inputs[1] is not None and clip.inputs[2] is None


def test_domains_that_only_the_function_imports_are_imported():
    model = loaded(
        "g (float[2] x) => (float[2] y) { y = local.f (x) }", "f (a) => (r) { r = Neg (a) }"
    )
    call = first_call(model)
    copy = bound(model)
    copy.opset_imports = {"": 17, "other": 3}
    inline_call(call, copy)
    assert model.opset_imports == {"": 18, "local": 1, "other": 3}
    assert [node.op_type for node in model.graph.nodes()] == ["Neg"]
    ir.verify(model)


def test_an_output_that_the_call_leaves_out_goes():
    model = loaded(
        "g (float[2] x) => (float[2] y) { , y = local.f (x) }",
        "f (a) => (q, r) { q = Abs (a) r = Neg (a) }",
    )
    inline_call(first_call(model), bound(model))
    ir.verify(model)
    assert {node.op_type for node in model.graph.nodes()} == {"Abs", "Neg"}
    assert model.graph.outputs[0].producer.op_type == "Neg"


# What stands in the way ---------------------------------------------------------------------------

NEG = "f (a) => (r) { r = Neg (a) }"


def test_nothing_in_the_way():
    assert why(loaded("g (x) => (y) { y = local.f (x) }", NEG)) is None
    assert (
        why(
            loaded(
                "g (x) => (y) { y = local.f (x) }", "f (a, b) => (r, s) { r = Neg (a) s = Abs (a) }"
            )
        )
        is None
    )


@table(
    ("y = local.f (x)", ["f (a, b) => (b) { r = Neg (a) }"], "returns its input 'b', which"),
    ("y = local.f (x)",
     ["f (a, b) => (r) { n = Constant <value_int = 2> ()"
     " r = Loop (n, , a) <body = l (int64 i, bool c, v) => (bool d, w) {"
     " d = Identity (c) w = If (b) <then_branch = t () => (p) { p = Neg (v) },"
     " else_branch = e () => (q) { q = Abs (v) }> }> }"],
     "function 'local::f' decides by its input 'b', which the call leaves out"),
    ("y = local.f (, x)", ["f (a, b) => (a) { r = Neg (b) }"], "returns its input 'a', which"),
    ("y = local.f <k = g2 () => (u) { u = Constant <value_int = 1> () }> (x)",
     ["f <k> (a) => (r) { r = Neg (a) }"],
     "it hands a graph to function 'local::f' as an attribute"))  # fmt: skip
def test_obstacles_to_binding(main, functions, reason):
    found = why(loaded(f"g (float[2] x) => (y) {{ {main} }}", *functions))
    assert found is not None and reason in found


@pytest.mark.parametrize("other", ["f", "h"])
def test_functions_that_came_to_call_themselves(other):
    """A file that holds such ones is not loaded."""
    model = loaded(
        "g (x) => (y) { y = local.f (x) }",
        "f (a) => (r) { r = local.h (a) }",
        "h (a) => (r) { r = Neg (a) }",
    )
    (node,) = model.functions["local", "h", ""].graph.nodes()
    node.graph.set_operator(node, ir.Operator(other, domain="local"))
    assert "function 'local::f' calls itself" in why(model)


@pytest.mark.parametrize(("inputs", "outputs"), [(2, 1), (1, 2)])
def test_calls_of_more_than_a_function_has(inputs, outputs):
    model = loaded("g (x) => (y) { y = local.f (x) }", NEG)
    call = first_call(model)
    graph = model.graph
    more = graph.add_node(call.op, list(call.inputs) * inputs, ["p", "q"][:outputs])
    graph.replace_uses(call.output(), more.output())
    graph.remove(call)
    assert "it has more inputs or outputs than function 'local::f'" in why(model)


def test_an_output_that_is_named_from_outside_stays():
    model = loaded("g (x) => (y) { y = local.f (x) }", NEG)
    first_call(model).output().pinned = True
    assert "its output 'y' is named from outside the data flow" in why(model)


OUTER = "outer {} (a) => (r) {{ r = local.f <k: int = @n> (a) }}"


@table(
    ("<n>", "<k: int = 2>", True), ("<n: int = 1>", "<k: int = 2>", False), ("<n>", "<k>", False)
)
def test_attributes_passed_on_that_may_be_absent(outer, own, in_the_way):
    """Left out by the caller's caller, the attribute would have the default of the inner one."""
    text = f"f {own} (a) => (r) {{ r = Flatten <axis: int = @k> (a) }}"
    model = loaded("g (x) => (y) { y = local.outer (x) }", OUTER.format(outer), text)
    found = why(model, model.functions["local", "outer", ""])
    assert (found is not None) == in_the_way
    if in_the_way:
        assert "its attribute 'k' has a default, and comes from attribute 'n' of" in found


@table(
    ("Neg", 18, None),
    ("Neg", 17, None),
    ("Neg", 12, "written for opset 12 and its caller for 18, between which Neg changed"),
    ("Split", 17, "between which Split changed; bring both to one opset first"),
    ("Unheard", 17, "between which Unheard changed"),
    ("local.h", 17, None),
)
def test_operators_of_another_opset(op_type, own, reason):
    body = f"f (a) => (r) {{ r = {op_type} (a) }}"
    model = loaded("g (x) => (y) { y = local.f (x) }", body, "h (a) => (r) { r = Neg (a) }")
    model.functions["local", "f", ""].opset_imports[""] = own
    found = why(model)
    assert found is None if reason is None else reason in found


def test_operators_of_domains_in_another_version():
    model = loaded("g (x) => (y) { y = local.f (x) }", "f (a) => (r) { r = other.Strange (a) }")
    model.functions["local", "f", ""].opset_imports["other"] = 1
    assert why(model) is None, "the caller can import what it does not have"
    model.opset_imports["other"] = 2
    assert "opset 1 of 'other' and its caller for 2, between which Strange changed" in why(model)
    model.opset_imports["other"] = 1
    assert why(model) is None


def test_bodies_that_name_tensors_or_take_graphs_from_the_call():
    model = loaded("g (x) => (y) { y = local.f (x) }", NEG)
    (node,) = model.functions["local", "f", ""].graph.nodes()
    names = [helper.make_attribute("xs", ["a"]), helper.make_attribute("y", "r")]
    gradient = ir.Operator("Gradient", {m.name: m for m in names}, "ai.onnx.preview.training")
    node.graph.set_operator(node, gradient)
    assert "names tensors in its attributes, and copying renames them" in why(model)
    for kind in ("GRAPH", "GRAPHS", "INT"):
        type_ = getattr(onnx.AttributeProto, kind)
        message = onnx.AttributeProto(name="k", type=type_, ref_attr_name="given")
        node.graph.set_operator(node, ir.Operator("Foo", {"k": message}, "local"))
        found = why(model)
        assert (found is not None and "reads a graph from an attribute of" in found) == (
            kind != "INT"
        )


def test_an_argument_that_is_passed_through_names_the_output():
    """No Identity of opset 13 can name a sequence; the message names the caller's value."""
    model = loaded(
        "g (seq(float[2]) mine) => (seq(float[2]) y) { y = local.f (mine) }",
        "f (own) => (own) { }",
        head=HEAD.replace("18", "13", 1),
    )
    assert (why(model) or "").startswith("its output 'mine' is a sequence")
