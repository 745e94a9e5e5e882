import pytest
from harness import as_model
from straightline import ir
from straightline.version_converter import engine as engine_module
from straightline.version_converter import worklist
from straightline.version_converter.engine import Engine, drop_unused
from straightline.version_converter.errors import Refused

HEAD = '<ir_version: 10, opset_import: ["" : 17]>\n'
OF_12 = '<ir_version: 7, opset_import: ["" : 12]>\n'


def engine(text, head=HEAD):
    model = ir.load(as_model(head + text))
    return Engine(model), model


def test_a_node_that_only_gets_another_version_is_the_same_node():
    carrier, model = engine("g (float[N] x) => (y) { y = Identity (x) }")
    before = model.graph.nodes()
    operators = [node.op for node in before]
    carrier.convert(model, 21)
    assert model.graph.nodes() == before
    assert [node.op for node in before] == operators
    assert (model.opset(), carrier.failures) == (21, [])


def test_axes_become_an_input_on_the_way_up_and_an_attribute_again():
    carrier, model = engine("g (float[N,3] x) => (y) { y = ReduceMax <axes = [1]> (x) }")
    carrier.convert(model, 18)
    (node,) = model.graph.nodes()
    assert node.inputs[1].constant.numpy().tolist() == [1]
    assert node.attribute("axes") is None
    Engine(model).convert(model, 17)
    assert node.attribute("axes") == [1]
    assert len(node.inputs) == 1 and not model.graph.initializers


def test_nodes_that_shared_an_operator_and_say_the_same_afterwards_share_one_again():
    carrier, model = engine(
        """g (float[2,3] x, float[2,3,4] w) => (e) {
            a = Softmax <axis = -1> (x)
            b = Softmax <axis = -1> (a)
            c = Softmax <axis = -1> (w)
            d = Add (b, x)
            e = Add (c, w) }""",
        '<ir_version: 8, opset_import: ["" : 12]>\n',
    )
    a, b, c = (node for node in model.graph.nodes() if node.op_type == "Softmax")
    assert a.op is b.op is c.op
    carrier.convert(model, 10)
    assert [node.attribute("axis") for node in (a, b, c)] == [1, 1, 2]
    assert a.op is b.op and a.op is not c.op


def test_failures_name_every_node_once():
    carrier, model = engine(
        "g (float16[1,1,4,4] x, float16[1,2,2,2] p) => (y, z)"
        '{ y = GridSample (x, p) z = GridSample <mode = "bicubic"> (x, p) }'
    )
    carrier.convert(model, 15)
    assert [failure.op_type for failure in carrier.failures] == ["GridSample"] * 2
    assert len({failure.path for failure in carrier.failures}) == 2


def test_facts_of_a_value_pass_to_its_replacement():
    """LayerNormalization goes as a function; the rank of what it gave is asked for below it."""
    text = "g (float[N,4] x, float[4] s) => (y) { m = LayerNormalization (x, s) y = Softmax (m) }"
    carrier, model = engine(text)
    carrier.convert(model, 12)
    assert carrier.failures == []
    (softmax,) = [node for node in model.graph.nodes() if node.op_type == "Softmax"]
    assert carrier.types.rank(softmax.inputs[0]) == 2


@pytest.mark.parametrize("pinned", [False, True])
def test_unused_constants_go_unless_something_names_them(pinned):
    _, model = engine("g (float[N] x) => (y) <float[1] c = {1}> { y = Identity (x) }")
    (constant,) = model.graph.initializers
    constant.pinned = pinned
    drop_unused([constant, None, constant, model.graph.inputs[0]])
    assert list(model.graph.initializers) == ([constant] if pinned else [])


def test_scans_that_wait_for_others_in_vain_stay_as_they_are_written():
    """What stands behind one is still looked at, and a Scan of opset 8 has one input more."""
    carrier, model = engine(
        """g (float[2,3] x, float[2,3] y) => (z, w) {
            q = NoSuchOperator (x)
            p, z = Scan <num_scan_inputs = 1, body = b (float a, float e) => (float s, float r) {
                s = Add (a, e) r = Identity (a) }> (, q, y)
            w = Hardmax (z) }""",
        '<ir_version: 3, opset_import: ["" : 8]>',
    )
    carrier.convert(model, 23)
    assert [failure.op_type for failure in carrier.failures] == ["NoSuchOperator"]
    (scan,) = [node for node in model.graph.nodes() if node.op_type == "Scan"]
    assert carrier.types.version_of(scan) == 8 and len(scan.inputs) == 3
    assert carrier.types.texts(scan.body("body").inputs[1]) == ["tensor(float)"]


def test_a_node_is_said_in_other_words_of_its_own_version():
    carrier, model = engine("g (float[N] x) => (y) { y = HardSwish (x) }")
    (node,) = model.graph.nodes()
    carrier.expand_node(node, 17)
    assert [n.op_type for n in model.graph.nodes()] == ["HardSigmoid", "Mul"]
    carrier, model = engine("g (float[N] x) => (y) { y = Neg (x) }")
    (node,) = model.graph.nodes()
    with pytest.raises(Refused):
        carrier.expand_node(node, 17)
    assert model.graph.nodes() == [node]


def test_a_node_is_said_by_a_form_in_its_own_version():
    carrier, model = engine("g (float[N] x) => (y) { y = Neg (x) }")
    (node,) = model.graph.nodes()
    carrier.expand_node(node, 17, lambda draft: [draft.emit("Abs", [draft.input(0)])])
    assert [n.op_type for n in model.graph.nodes()] == ["Abs"]
    assert model.graph.outputs[0].name == "y"


def test_changes_of_unreviewed_steps_are_refused(monkeypatch):
    for module in (engine_module, worklist):
        monkeypatch.setattr(module, "REVIEWED", 12)
    carrier, model = engine("g (float[N,3] x) => (y) { s = Softmax (x) y = Sin (s) }", OF_12)
    carrier.convert(model, 13)
    assert [failure.op_type for failure in carrier.failures] == ["Softmax"]
    assert "opset 13 is newer" in carrier.failures[0].reason
